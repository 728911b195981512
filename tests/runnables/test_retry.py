"""Runnables that are tried again."""

import asyncio

import pytest

from dragoman.runnables import RunnableLambda
from dragoman.runnables.retry import RunnableRetry


class Flaky:
    """Fails for an input the first `n` times."""

    def __init__(self, n, error=ValueError):
        self.n, self.error, self.calls = n, error, []

    def __call__(self, x):
        self.calls.append(x)
        if self.calls.count(x) <= self.n:
            raise self.error(f"{x}:{self.calls.count(x)}")
        return x


def retried(function, **options):
    return RunnableLambda(function).with_retry(**{"wait_exponential_jitter": False, **options})


async def test_it_is_tried_until_it_works(colour):
    flaky = Flaky(2)

    assert await colour.invoke(retried(flaky), 1) == 1
    assert flaky.calls == [1, 1, 1]


async def test_the_last_error_is_raised(colour):
    flaky = Flaky(9)

    with pytest.raises(ValueError, match="1:2"):
        await colour.invoke(retried(flaky, stop_after_attempt=2), 1)
    assert flaky.calls == [1, 1]


@pytest.mark.parametrize(
    ("kinds", "n_calls"),
    [
        ((ValueError,), 3),
        ((KeyError, ValueError), 3),
        ((KeyError,), 1),
        (lambda e: "1:1" in str(e), 2),
    ],
)
async def test_which_errors_are_tried_again(colour, kinds, n_calls):
    flaky = Flaky(9)

    with pytest.raises(ValueError, match="1:"):
        await colour.invoke(retried(flaky, retry_if_exception_type=kinds), 1)
    assert len(flaky.calls) == n_calls


async def test_a_batch_tries_only_what_failed_and_keeps_the_order(colour):
    calls = []

    def odd_fails_twice(x):
        calls.append(x)
        if x % 2 and calls.count(x) < 3:
            raise ValueError(x)
        return x * 10

    assert await colour.batch(retried(odd_fails_twice), [0, 1, 2, 3]) == [0, 10, 20, 30]
    assert sorted(calls) == [0, 1, 1, 1, 2, 3, 3, 3]


async def test_a_batch_gives_up_with_the_last_errors(colour):
    def odd_fails(x):
        if x % 2:
            raise ValueError(x)
        return x

    step = retried(odd_fails, stop_after_attempt=2)
    outcome = await colour.batch(step, [0, 1, 2], return_exceptions=True)
    assert (outcome[0], outcome[2]) == (0, 2)
    assert isinstance(outcome[1], ValueError)
    with pytest.raises(ValueError, match="1"):
        await colour.batch(step, [0, 1, 2])


async def test_an_error_that_is_not_tried_again_ends_a_batch_at_once(colour):
    flaky = Flaky(9, KeyError)

    with pytest.raises(KeyError):
        await colour.batch(retried(flaky, retry_if_exception_type=(ValueError,)), [1, 2])
    assert sorted(flaky.calls) == [1, 2]


@pytest.mark.parametrize(
    ("parameters", "attempt", "shortest", "longest"),
    [
        (None, 1, 1.0, 2.0),
        (None, 3, 4.0, 5.0),
        ({"initial": 0.5, "jitter": 0}, 2, 1.0, 1.0),
        ({"exp_base": 3, "jitter": 0}, 3, 9.0, 9.0),
        ({"max": 5}, 10, 5.0, 5.0),
        ({"max": 5}, 10**6, 5.0, 5.0),
    ],
)
def test_waits_grow_exponentially_with_jitter(parameters, attempt, shortest, longest):
    step = RunnableRetry(bound=RunnableLambda(len), exponential_jitter_params=parameters)

    assert shortest <= step._wait_s(attempt) <= longest


async def test_waiting_does_not_block_the_loop_and_can_be_cancelled():
    step = RunnableLambda(Flaky(9)).with_retry(exponential_jitter_params={"initial": 60})
    task = asyncio.create_task(step.ainvoke(1))
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_cancellation_is_never_tried_again():
    calls = []

    async def wait(x):
        calls.append(x)
        await asyncio.sleep(60)

    step = retried(wait, retry_if_exception_type=lambda error: True)
    task = asyncio.create_task(step.ainvoke(1))
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert calls == [1]


async def test_handlers_hear_of_each_attempt(colour, log):
    await colour.invoke(retried(Flaky(1)), 1, {"callbacks": [log]})

    assert [(what, tags) for what, _, _, tags in log.told] == [
        ("start", []),
        ("start", []),
        ("error", []),
        ("start", ["retry:attempt:2"]),
        ("end", ["retry:attempt:2"]),
        ("end", []),
    ]


def test_it_shows_how_it_retries():
    def f(x): ...

    step = RunnableLambda(f).with_retry(
        retry_if_exception_type=(ValueError,), exponential_jitter_params={"initial": 0.1}
    )
    assert repr(step) == (
        "RunnableRetry(bound=RunnableLambda(f), kwargs={}, config={}, config_factories=[], "
        "retry_exception_types=(<class 'ValueError'>,), exponential_jitter_params={'initial': 0.1})"
    )


async def test_bound_arguments_and_config_are_kept(colour):
    def show(x, config, n=0):
        return n, config["tags"]

    step = RunnableLambda(show).bind(n=1).with_config(tags=["t"]).with_retry()
    assert await colour.invoke(step, 0) == (1, ["t"])
