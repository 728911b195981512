"""Functions in threads of their own, which nobody has to wait for.

A sync tool may hang for ever. Its thread is a daemon and belongs to no pool: it keeps neither the
event loop nor the process from ending, and takes nobody else's place.
"""

import asyncio
import contextvars
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

__all__ = ["LateError", "call_in_thread", "call_in_time"]

T = TypeVar("T")


class LateError(Exception):
    """A function took longer than it may; not a TimeoutError, which it may raise itself."""


def call_in_time(function: Callable[[], T], timeout_s: float) -> T:
    """Return `function()`, called in a thread with the caller's context variables.

    Raises:
        LateError: If it takes longer; it goes on, and its result is dropped.
    """
    outcomes: list[tuple[Any, BaseException | None]] = []

    def tell(value: Any, error: BaseException | None) -> None:
        outcomes.append((value, error))

    thread = _started(function, tell)
    thread.join(timeout_s)
    if not outcomes:
        raise LateError
    value, error = outcomes[0]
    if error is not None:
        raise error
    return value


async def call_in_thread(function: Callable[[], T]) -> T:
    """Return `function()`, called in a thread with the caller's context variables.

    Cancelling this stops the waiting, not the thread.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()

    def settle(value: Any, error: BaseException | None) -> None:
        if future.done():
            return
        if isinstance(error, (StopIteration, GeneratorExit)):
            # No future can hold the one; the other closes the coroutines that wait for it.
            cause, name = error, type(error).__name__
            error = RuntimeError(f"a function that ran in a thread raised {name}")
            error.__cause__ = cause
        if error is None:
            future.set_result(value)
        else:
            future.set_exception(error)

    def tell(value: Any, error: BaseException | None) -> None:
        with suppress(RuntimeError):  # the loop has ended: nobody waits any more
            loop.call_soon_threadsafe(settle, value, error)

    _started(function, tell)
    return await future


def _started(
    function: Callable[[], Any], tell: Callable[[Any, BaseException | None], None]
) -> threading.Thread:
    """Start a thread that calls `function` and tells value and error."""
    context = contextvars.copy_context()

    def work() -> None:
        try:
            value = context.run(function)
        except BaseException as error:  # noqa: BLE001 - raised again where the caller waits
            tell(None, error)
        else:
            tell(value, None)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread
