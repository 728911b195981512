"""Steps at the same time."""

import asyncio
import contextvars
import threading
import time

import pytest

from dragoman.runnables import (
    RunnableGenerator,
    RunnableLambda,
    RunnableMap,
    RunnableParallel,
    RunnablePassthrough,
)


@pytest.mark.parametrize(
    "make",
    [
        lambda: RunnableParallel(a=lambda x: x + 1, b=RunnablePassthrough()),
        lambda: RunnableParallel({"a": lambda x: x + 1, "b": RunnablePassthrough()}),
        lambda: RunnableParallel({"a": lambda x: x + 1}, b=RunnablePassthrough()),
        lambda: RunnableMap(a=lambda x: x + 1, b=lambda x: x),
        lambda: RunnablePassthrough() | {"a": lambda x: x + 1, "b": lambda x: x},
        lambda: {"a": lambda x: x + 1, "b": lambda x: x} | RunnablePassthrough(),
    ],
)
async def test_all_ways_to_write_a_parallel(colour, make):
    output = await colour.invoke(make(), 1)

    assert output == {"a": 2, "b": 1}
    assert list(output) == ["a", "b"]


async def test_steps_run_at_the_same_time(colour):
    meeting = threading.Barrier(3, timeout=5)

    def meet(x):
        return meeting.wait() >= 0

    assert await colour.invoke(RunnableParallel(a=meet, b=meet, c=meet), 1) == dict.fromkeys(
        "abc", True
    )


async def test_max_concurrency_holds_for_a_parallel(colour):
    running, most, lock = 0, 0, threading.Lock()

    def work(x):
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        time.sleep(0.01)
        with lock:
            running -= 1

    await colour.invoke(RunnableParallel(dict.fromkeys("abcdef", work)), 1, {"max_concurrency": 2})
    assert most == 2


async def test_steps_see_the_callers_context_variables_and_keep_their_own(colour):
    variable = contextvars.ContextVar("variable", default="none")
    variable.set("outer")

    def step(x):
        seen = variable.get()
        variable.set(x)
        return seen

    output = await colour.invoke(RunnableParallel(a=step, b=step), "inner")

    assert output == {"a": "outer", "b": "outer"}
    assert variable.get() == "outer"


async def test_the_first_failure_in_order_is_raised(colour):
    def fail(text):
        def raise_it(x):
            raise ValueError(text)

        return raise_it

    with pytest.raises(ValueError, match="first"):
        await colour.invoke(RunnableParallel(a=fail("first"), b=fail("second")), 1)


async def test_a_stream_yields_the_pieces_of_each_key_as_they_come(colour):
    def letters(pieces):
        for piece in pieces:
            yield from piece

    pieces = await colour.stream(
        RunnableParallel(a=RunnableGenerator(letters), b=lambda x: x * 2), "xy"
    )

    assert sorted(map(str, pieces)) == ["{'a': 'x'}", "{'a': 'y'}", "{'b': 'xyxy'}"]
    total = pieces[0] + pieces[1] + pieces[2]
    assert total == {"a": "xy", "b": "xyxy"}


async def test_a_slow_key_does_not_hold_up_a_fast_one():
    gate = asyncio.Event()

    async def slow(x):
        await gate.wait()
        return "slow"

    async def fast(x):
        return "fast"

    stream = RunnableParallel(slow=slow, fast=fast).astream(1)
    assert await anext(stream) == {"fast": "fast"}
    gate.set()
    assert await anext(stream) == {"slow": "slow"}


async def test_a_failure_in_a_stream_is_raised_and_the_others_are_closed(colour):
    closed = []

    def endless(pieces):
        try:
            while True:
                yield 1
        finally:
            closed.append("sync")

    async def aendless(pieces):
        try:
            while True:
                yield 1
                await asyncio.sleep(0)
        finally:
            closed.append("async")

    def fail(x):
        raise ValueError("no")

    chain = RunnableParallel(a=RunnableGenerator(endless, aendless), b=fail)
    with pytest.raises(ValueError, match="no"):
        await colour.stream(chain, 1)
    assert closed == ["async" if colour.is_async else "sync"]


async def test_cancelling_a_parallel_cancels_its_steps():
    cancelled = []

    async def wait(x):
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            cancelled.append(x)
            raise

    task = asyncio.create_task(RunnableParallel(a=wait, b=wait).ainvoke("x"))
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert cancelled == ["x", "x"]


async def test_handlers_hear_the_key_of_each_step(colour, log):
    chain = RunnableParallel(a=RunnableLambda(lambda x: x, name="one"))
    await colour.invoke(chain, 1, {"callbacks": [log]})

    assert ("start", "one", 1, ["map:key:a"]) in log.told
    assert log.parent_of("one") == "RunnableParallel<a>"


def test_it_shows_its_steps():
    def first(x): ...

    assert repr(RunnableParallel(a=first, b=RunnablePassthrough())) == (
        "{\n  a: RunnableLambda(first),\n  b: RunnablePassthrough()\n}"
    )
    assert RunnableParallel(a=first, b=first).get_name() == "RunnableParallel<a,b>"
