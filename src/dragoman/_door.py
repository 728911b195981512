"""One body for sync and async: the door.

A body is an `async def` that awaits nothing but the door it is given. Entered through `SYNC`, no
await ever suspends, so one `send(None)` finishes it; entered through `ASYNC` it is an ordinary
coroutine. This file alone knows both worlds.

The rule of `gather`, on both doors: results keep the order of the bodies, and at most `limit` run
at a time. When one fails, bodies not started yet never start, those running are cancelled (async)
or waited for (threads cannot be cancelled), and the failure of the first body in order is raised.
A cancelled caller cancels its bodies and stays cancelled. Each body sees a copy of the caller's
context variables.
"""

import asyncio
import contextvars
import threading
import time
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator, Iterable, Sequence
from typing import Any, Protocol, TypeVar

__all__ = ["ASYNC", "SYNC", "Door", "Step", "finish", "iterate", "run"]

T = TypeVar("T")

MAX_THREADS = 32
"""How many threads a sync `gather` without a limit starts at most."""


class Step(Protocol):
    """What `Door.invoke` can call: a runnable, by shape."""

    def invoke(self, input: Any, config: Any = None, **kwargs: Any) -> Any:
        """Return the output."""
        ...

    async def ainvoke(self, input: Any, config: Any = None, **kwargs: Any) -> Any:
        """Return the output."""
        ...


class Door(Protocol):
    """What a body may await."""

    is_async: bool

    async def either(
        self, sync: Callable[[], T], asynchronous: Callable[[], Coroutine[Any, Any, T]]
    ) -> T:
        """Return what the callable of this door's colour gives."""
        ...

    async def call(self, function: Callable[..., T], *args: Any) -> T:
        """Return `function(*args)`; under async it runs in a worker thread."""
        ...

    async def invoke(self, step: Step, value: Any, config: Any, **kwargs: Any) -> Any:
        """Return the output of `step.invoke` or `step.ainvoke`."""
        ...

    async def tell(self, method: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Return what `method` gives, awaited under async: a method of this door's colour."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        ...

    async def gather(
        self, bodies: Sequence[Callable[[], Coroutine[Any, Any, T]]], limit: int | None = None
    ) -> list[T]:
        """Return the values of all bodies in order, at most `limit` of them running at a time."""
        ...


class _SyncDoor:
    is_async = False

    async def either(
        self, sync: Callable[[], T], asynchronous: Callable[[], Coroutine[Any, Any, T]]
    ) -> T:
        return sync()

    async def call(self, function: Callable[..., T], *args: Any) -> T:
        return function(*args)

    async def invoke(self, step: Step, value: Any, config: Any, **kwargs: Any) -> Any:
        return step.invoke(value, config, **kwargs)

    async def tell(self, method: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        return method(*args, **kwargs)

    async def sleep(self, seconds: float) -> None:
        time.sleep(seconds)  # noqa: ASYNC251 - the sync door's awaits never suspend

    async def gather(
        self, bodies: Sequence[Callable[[], Coroutine[Any, Any, T]]], limit: int | None = None
    ) -> list[T]:
        n_threads = min(len(bodies), limit or MAX_THREADS)
        if n_threads <= 1:
            return [run(body()) for body in bodies]
        return _Crew(bodies).work(n_threads)


class _Crew:
    """Threads that take bodies from one list; a thread costs its start once, not once a body."""

    def __init__(self, bodies: Sequence[Callable[[], Coroutine[Any, Any, Any]]]) -> None:
        self.bodies = bodies
        self.values: list[Any] = [None] * len(bodies)
        self.errors: dict[int, BaseException] = {}
        self.order = iter(range(len(bodies)))  # `next` on it is atomic under the GIL
        self.lock = threading.Lock()
        self.context = contextvars.copy_context()

    def take(self) -> int | None:
        with self.lock:
            return None if self.errors else next(self.order, None)

    def one_by_one(self) -> None:
        while (index := self.take()) is not None:
            try:
                self.values[index] = self.context.copy().run(run, self.bodies[index]())
            except BaseException as error:  # noqa: BLE001 - handed to the caller below
                with self.lock:
                    self.errors[index] = error

    def work(self, n_threads: int) -> list[Any]:
        threads = [threading.Thread(target=self.one_by_one, daemon=True) for _ in range(n_threads)]
        started: list[threading.Thread] = []
        try:
            for thread in threads:
                thread.start()
                started.append(thread)
            for thread in started:
                thread.join()
        except BaseException:
            # Ctrl-C while waiting: no body that has not started starts.
            with self.lock:
                self.errors.setdefault(len(self.bodies), KeyboardInterrupt())
            raise
        if self.errors:
            raise self.errors[min(self.errors)]
        return self.values


class _AsyncDoor:
    is_async = True

    async def either(
        self, sync: Callable[[], T], asynchronous: Callable[[], Coroutine[Any, Any, T]]
    ) -> T:
        return await asynchronous()

    async def call(self, function: Callable[..., T], *args: Any) -> T:
        return await asyncio.to_thread(_without_stop, function, *args)

    async def invoke(self, step: Step, value: Any, config: Any, **kwargs: Any) -> Any:
        return await step.ainvoke(value, config, **kwargs)

    async def tell(self, method: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        return await method(*args, **kwargs)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    async def gather(
        self, bodies: Sequence[Callable[[], Coroutine[Any, Any, T]]], limit: int | None = None
    ) -> list[T]:
        gate = asyncio.Semaphore(limit or max(len(bodies), 1))

        async def work(body: Callable[[], Coroutine[Any, Any, T]]) -> T:
            async with gate:
                return await body()

        tasks = [asyncio.create_task(work(body)) for body in bodies]
        if not tasks:
            return []
        try:
            # Unlike `asyncio.gather`, this raises only if the caller is cancelled.
            await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
        finally:
            if any(not task.done() for task in tasks):
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
        # Every task is asked, so that none complains later of an error that nobody took.
        errors = [task.exception() for task in tasks if not task.cancelled()]
        for error in errors:
            if error is not None:
                raise error
        return [task.result() for task in tasks]


def _without_stop(function: Callable[..., T], *args: Any) -> T:
    """Return `function(*args)`; what no await can hand on becomes a RuntimeError.

    A future cannot hold a StopIteration, and a GeneratorExit closes the coroutines that wait for it.
    """
    try:
        return function(*args)
    except (StopIteration, GeneratorExit) as error:
        name = type(error).__name__
        raise RuntimeError(f"a function that ran in a thread raised {name}") from error


_STOPPED = ("coroutine raised StopIteration",)
"""What Python says in place of a StopIteration that leaves a coroutine."""

SYNC: Door = _SyncDoor()
ASYNC: Door = _AsyncDoor()


def run(body: Coroutine[Any, Any, T]) -> T:
    """Return the value of a body entered through `SYNC`.

    Raises:
        RuntimeError: If the body awaited something that suspends.
        StopIteration: If the body's work raised one, such as a `next` on what is used up.
    """
    try:
        body.send(None)
    except StopIteration as stop:
        value: T = stop.value
        return value
    except RuntimeError as error:
        # No coroutine lets a StopIteration through; the caller of a sync step is given it as raised.
        if error.args == _STOPPED and isinstance(error.__cause__, StopIteration):
            raise error.__cause__ from None
        raise
    body.close()
    message = (
        "a sync call awaited something that suspends; await only the door, or use the async method"
    )
    raise RuntimeError(message)


def iterate(body: AsyncGenerator[T, None]) -> Generator[T, None, None]:
    """Yield the items of a body entered through `SYNC`; closing this closes the body."""
    try:
        while True:
            try:
                item = run(body.__anext__())
            except StopAsyncIteration:
                return
            yield item
    finally:
        run(body.aclose())


def finish(coroutines: Iterable[Coroutine[Any, Any, Any]]) -> None:
    """Run coroutines one after the other to their end, from sync code.

    Under a running event loop this happens on a loop of its own in another thread, which the caller
    waits for; context variables are copied.
    """

    async def one_by_one() -> None:
        for coroutine in coroutines:
            await coroutine

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        asyncio.run(one_by_one())
        return
    errors: list[BaseException] = []

    def elsewhere() -> None:
        try:
            asyncio.run(one_by_one())
        except BaseException as error:  # noqa: BLE001 - handed to the caller below
            errors.append(error)

    thread = threading.Thread(target=contextvars.copy_context().run, args=(elsewhere,), daemon=True)
    thread.start()
    thread.join()
    if errors:
        raise errors[0]
