"""Functions in threads of their own: nobody has to wait for them."""

import asyncio
import contextvars
import threading
from typing import Any

import pytest

from dragoman.tools.threads import LateError, call_in_thread, call_in_time

var: contextvars.ContextVar[str] = contextvars.ContextVar("var")


def where() -> tuple[str, bool]:
    return var.get(), threading.current_thread().daemon


async def test_the_thread_is_a_daemon_with_the_callers_context():
    var.set("mine")
    assert call_in_time(where, 5) == ("mine", True)
    assert await call_in_thread(where) == ("mine", True)


def raising(error: BaseException) -> Any:
    def function() -> None:
        raise error

    return function


async def test_errors_arrive_and_those_that_no_await_hands_on_are_told():
    for error in (ValueError("v"), SystemExit(3), TimeoutError()):
        with pytest.raises(type(error)) as caught:
            await call_in_thread(raising(error))
        assert caught.value is error
        with pytest.raises(type(error)):
            call_in_time(raising(error), 5)
    for error in (StopIteration(), GeneratorExit()):
        with pytest.raises(RuntimeError, match=f"raised {type(error).__name__}"):
            await call_in_thread(raising(error))


def test_what_takes_too_long_is_late_and_goes_on():
    go, done = threading.Event(), threading.Event()

    def hang() -> None:
        go.wait()
        done.set()

    with pytest.raises(LateError):
        call_in_time(hang, 0.01)
    go.set()
    assert done.wait(5)


def test_an_event_loop_ends_while_a_function_hangs_and_nobody_complains_when_it_ends():
    go = threading.Event()
    threads: list[threading.Thread] = []

    def hang() -> None:
        threads.append(threading.current_thread())
        go.wait()

    async def give_up() -> str:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await call_in_thread(hang)
        return "ended"

    assert asyncio.run(give_up()) == "ended"
    go.set()
    threads[0].join(5)
    assert not threads[0].is_alive()
