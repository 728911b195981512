"""One body, two doors: the rule of `gather`, and what must never hang or leak."""

import asyncio
import contextvars
import threading
import time

import pytest

from dragoman._door import ASYNC, SYNC, finish, iterate, run


class Both:
    """Runs a body through either door."""

    def __init__(self, door):
        self.door = door

    async def __call__(self, body):
        return await body(self.door) if self.door.is_async else run(body(self.door))


@pytest.fixture(params=[SYNC, ASYNC], ids=["sync", "async"])
def enter(request):
    return Both(request.param)


async def test_a_body_returns_through_either_door(enter):
    async def body(door):
        await door.sleep(0)
        return await door.call(lambda x: x + 1, 1)

    assert await enter(body) == 2


async def test_each_door_takes_its_own_colour(enter):
    async def asynchronous():
        return "async"

    async def told(x):
        return x

    async def body(door):
        method = told if door.is_async else (lambda x: x)
        return await door.either(lambda: "sync", asynchronous), await door.tell(method, 1)

    assert await enter(body) == ("async" if enter.door.is_async else "sync", 1)


def job(value, log=None, wait=0.0):
    async def body(door):
        await door.sleep(wait)
        if log is not None:
            log.append(value)
        return value

    return body


async def test_gather_keeps_the_order(enter):
    async def body(door):
        jobs = [job(n, wait=0.002 * (5 - n)) for n in range(5)]
        return await door.gather([lambda one=one: one(door) for one in jobs])

    assert await enter(body) == [0, 1, 2, 3, 4]


async def test_gather_of_nothing_is_nothing(enter):
    assert await enter(lambda door: door.gather([])) == []


@pytest.mark.parametrize("limit", [1, 3])
async def test_gather_runs_at_most_so_many_at_a_time(enter, limit):
    running, most, lock = 0, 0, threading.Lock()

    async def body(door):
        async def one():
            nonlocal running, most
            with lock:
                running += 1
                most = max(most, running)
            await door.sleep(0.003)
            with lock:
                running -= 1

        await door.gather([one] * 9, limit)

    await enter(body)
    assert most == limit


async def test_when_one_fails_those_not_started_never_start(enter):
    started = []

    async def body(door):
        async def one(n):
            started.append(n)
            if n == 1:
                raise ValueError(n)
            await door.sleep(0.001)

        await door.gather([lambda n=n: one(n) for n in range(50)], 2)

    with pytest.raises(ValueError, match="1"):
        await enter(body)
    assert len(started) < 10


async def test_the_failure_of_the_first_body_in_order_is_raised(enter):
    meet = threading.Barrier(2, timeout=5)

    async def body(door):
        async def fail(n):
            await door.call(meet.wait)
            raise ValueError(n)

        await door.gather([lambda n=n: fail(n) for n in range(2)])

    with pytest.raises(ValueError, match=r"^[01]$") as caught:
        await enter(body)
    if not enter.door.is_async:
        assert str(caught.value) == "0"


async def test_each_body_has_a_copy_of_the_context(enter):
    variable = contextvars.ContextVar("variable", default="none")
    variable.set("outer")

    async def body(door):
        async def one(n):
            seen = variable.get()
            variable.set(n)
            await door.sleep(0)
            return seen, variable.get()

        return await door.gather([lambda n=n: one(n) for n in range(8)], 2)

    assert await enter(body) == [("outer", n) for n in range(8)]
    assert variable.get() == "outer"


async def test_a_cancelled_gather_cancels_its_bodies_and_stays_cancelled():
    cancelled = []

    async def wait(n):
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            cancelled.append(n)
            if n == 0:
                raise ValueError("on the way out") from None
            raise

    task = asyncio.create_task(ASYNC.gather([lambda n=n: wait(n) for n in range(3)]))
    await asyncio.sleep(0.005)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert sorted(cancelled) == [0, 1, 2]


async def test_a_failure_cancels_those_that_run():
    cancelled = asyncio.Event()

    async def wait():
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            cancelled.set()
            raise

    async def fail():
        await asyncio.sleep(0)
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        await ASYNC.gather([wait, fail])
    assert cancelled.is_set()


def test_a_thousand_bodies_do_not_need_a_thousand_threads():
    seen = set()

    async def one():
        seen.add(threading.get_ident())
        time.sleep(0.0001)

    run(SYNC.gather([one] * 1000))
    assert 1 < len(seen) <= 32


def test_a_body_that_suspends_is_refused_and_closed():
    closed = []

    async def body():
        try:
            await asyncio.sleep(0)
        finally:
            closed.append(True)

    with pytest.raises(RuntimeError, match="await only the door"):
        run(body())
    assert closed == [True]


@pytest.mark.parametrize("error", [StopIteration, GeneratorExit])
async def test_what_no_await_hands_on_comes_from_a_thread_as_a_runtime_error(error):
    def stop():
        raise error

    with pytest.raises(RuntimeError, match=error.__name__):
        await asyncio.wait_for(ASYNC.call(stop), 5)


def test_iterating_a_body_and_leaving_it_closes_it():
    closed = []

    async def body():
        try:
            while True:
                yield await SYNC.call(lambda: 1)
        finally:
            closed.append(True)

    items = iterate(body())
    assert [next(items), next(items)] == [1, 1]
    items.close()
    assert closed == [True]

    async def two():
        yield 1
        yield 2

    assert list(iterate(two())) == [1, 2]


@pytest.mark.parametrize("inside_a_loop", [True, False])
def test_coroutines_are_finished_from_sync_code(inside_a_loop):
    variable = contextvars.ContextVar("variable", default="none")
    variable.set("here")
    seen = []

    async def note(n):
        await asyncio.sleep(0)
        seen.append((n, variable.get()))

    async def fail():
        raise ValueError("no")

    async def inside():
        finish([note(1), note(2)])
        with pytest.raises(ValueError, match="no"):
            finish([fail()])

    if inside_a_loop:
        asyncio.run(inside())
    else:
        finish([note(1), note(2)])
        with pytest.raises(ValueError, match="no"):
            finish([fail()])
    assert seen == [(1, "here"), (2, "here")]


def test_a_step_is_invoked_through_either_door():
    class Step:
        def invoke(self, input, config=None, **kwargs):
            return "sync", input, config, kwargs

        async def ainvoke(self, input, config=None, **kwargs):
            return "async", input, config, kwargs

    assert run(SYNC.invoke(Step(), 1, {}, a=2)) == ("sync", 1, {}, {"a": 2})
    assert asyncio.run(ASYNC.invoke(Step(), 1, {}, a=2)) == ("async", 1, {}, {"a": 2})


def test_a_stop_iteration_leaves_a_sync_body_as_it_was_raised():
    async def body():
        return next(iter(()))

    with pytest.raises(StopIteration):
        run(body())


def test_a_runtime_error_about_another_stop_iteration_stays():
    async def body():
        raise RuntimeError("mine") from StopIteration()

    with pytest.raises(RuntimeError, match="mine"):
        run(body())
