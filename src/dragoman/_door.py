"""One body for sync and async: the door.

A body is an `async def` that awaits nothing but the door it is given. Entered through `SYNC`, no
await ever suspends, so one `send(None)` finishes it; entered through `ASYNC` it is an ordinary
coroutine. This file alone knows both worlds.

The rule of `gather`, on both doors: results keep the order of the bodies. When one fails, bodies
not started yet never start, those running are cancelled (async) or waited for (threads cannot be
cancelled), and the failure of the first body in order is raised. Each body sees a copy of the
caller's context variables.
"""

import asyncio
import contextvars
import time
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Protocol, TypeVar

__all__ = ["ASYNC", "SYNC", "Door", "iterate", "run"]

T = TypeVar("T")


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

    async def sleep(self, seconds: float) -> None:
        time.sleep(seconds)

    async def gather(
        self, bodies: Sequence[Callable[[], Coroutine[Any, Any, T]]], limit: int | None = None
    ) -> list[T]:
        workers = min(len(bodies), limit or len(bodies))
        if workers <= 1:
            return [run(body()) for body in bodies]
        failed = False

        def work(body: Callable[[], Coroutine[Any, Any, T]]) -> T:
            nonlocal failed
            if failed:
                raise _NotStarted
            try:
                return run(body())
            except BaseException:
                failed = True
                raise

        with ThreadPoolExecutor(max_workers=workers) as pool:
            futures: list[Future[T]] = [
                pool.submit(contextvars.copy_context().run, work, body) for body in bodies
            ]
        errors = [e for e in (f.exception() for f in futures) if e is not None]
        for error in errors:
            if not isinstance(error, _NotStarted):
                raise error
        return [future.result() for future in futures]


class _AsyncDoor:
    is_async = True

    async def either(
        self, sync: Callable[[], T], asynchronous: Callable[[], Coroutine[Any, Any, T]]
    ) -> T:
        return await asynchronous()

    async def call(self, function: Callable[..., T], *args: Any) -> T:
        return await asyncio.to_thread(function, *args)

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
        try:
            await asyncio.gather(*tasks)
        except BaseException:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            for task in tasks:
                if not task.cancelled() and (error := task.exception()) is not None:
                    raise error  # noqa: B904 - the failure of the first body in order
            raise
        return [task.result() for task in tasks]


class _NotStarted(Exception):  # noqa: N818 - a signal between threads, never seen outside
    """Marks a body that was skipped because an earlier one failed."""


SYNC: Door = _SyncDoor()
ASYNC: Door = _AsyncDoor()


def run(body: Coroutine[Any, Any, T]) -> T:
    """Return the value of a body entered through `SYNC`.

    Raises:
        RuntimeError: If the body awaited something that suspends.
    """
    try:
        body.send(None)
    except StopIteration as stop:
        value: T = stop.value
        return value
    body.close()
    message = "a sync call awaited something that suspends; await only the door, or use the async method"
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
