"""Functions as steps."""

import asyncio
import contextvars
import functools
import threading

import pytest

from dragoman.callbacks.runs import (
    AsyncCallbackManagerForChainRun,
    CallbackManagerForChainRun,
)
from dragoman.runnables import Runnable, RunnableLambda, RunnablePassthrough, chain, ensure_config


def add_one(x):
    return x + 1


async def aadd_one(x):
    return x + 1


class Callable:
    def __call__(self, x):
        return x + 1


class AsyncCallable:
    async def __call__(self, x):
        return x + 1


@pytest.mark.parametrize(
    "function",
    [add_one, Callable(), functools.partial(lambda n, x: x + n, 1), (1).__add__],
    ids=["function", "callable", "partial", "method"],
)
async def test_a_sync_function_is_a_step_in_both_colours(colour, function):
    assert await colour.invoke(RunnableLambda(function), 1) == 2
    assert await colour.batch(RunnableLambda(function), [1, 2]) == [2, 3]
    assert await colour.stream(RunnableLambda(function), 1) == [2]


@pytest.mark.parametrize(
    "function",
    [aadd_one, AsyncCallable(), functools.partial(aadd_one)],
    ids=["def", "call", "partial"],
)
async def test_an_async_function_is_a_step_under_async_only(function):
    step = RunnableLambda(function)

    assert await step.ainvoke(1) == 2
    assert [piece async for piece in step.astream(1)] == [2]
    for call in (lambda: step.invoke(1), lambda: list(step.stream(1)), lambda: step.batch([1, 2])):
        with pytest.raises(TypeError, match="Use `ainvoke` instead"):
            call()


async def test_of_two_functions_each_colour_takes_its_own(colour):
    async def asynchronous(x):
        return "async"

    step = RunnableLambda(lambda x: "sync", afunc=asynchronous)

    assert await colour.invoke(step, 1) == ("async" if colour.is_async else "sync")


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: RunnableLambda(1), "Expected a callable type for `func`"),
        (lambda: RunnableLambda(aadd_one, afunc=aadd_one), "avoid ambiguity"),
    ],
)
def test_what_is_no_function_is_refused(make, text):
    with pytest.raises(TypeError, match=text):
        make()


async def test_a_function_may_take_the_config(colour):
    def show(x, config):
        return config

    given = {"tags": ["t"], "metadata": {"m": 1}, "configurable": {"c": 2}, "mine": 3}
    config = await colour.invoke(RunnableLambda(show), 1, given)

    assert config["tags"] == ["t"]
    assert config["metadata"] == {"m": 1}
    assert config["configurable"] == {"c": 2, "mine": 3}
    assert config["recursion_limit"] == 25
    assert (await colour.invoke(RunnableLambda(show), 1))["configurable"] == {}


async def test_a_function_may_take_the_run_manager(colour):
    def show(x, run_manager):
        return run_manager

    kind = AsyncCallbackManagerForChainRun if colour.is_async else CallbackManagerForChainRun
    assert isinstance(await colour.invoke(RunnableLambda(show), 1), kind)


async def test_a_runnable_that_is_returned_is_called_with_the_same_input(colour):
    step = RunnableLambda(lambda x: RunnableLambda(add_one) if x > 0 else "no")

    assert await colour.invoke(step, 1) == 2
    assert await colour.invoke(step, 0) == "no"
    assert await colour.stream(step, 1) == [2]


async def test_returning_runnables_for_ever_ends_at_the_recursion_limit(colour):
    calls = []

    def again(x):
        calls.append(x)
        return step

    step = RunnableLambda(again)

    with pytest.raises(RecursionError, match="Recursion limit reached when invoking"):
        await colour.invoke(step, 1, {"recursion_limit": 7})
    assert len(calls) == 8  # as many returned runnables as the limit says, and the first call


def numbers(x):
    for n in range(3):
        yield str(n)


async def anumbers(x):
    for n in range(3):
        yield str(n)


async def test_a_generator_function_streams_its_pieces_and_is_added_up(colour):
    step = RunnableLambda(numbers)

    assert await colour.invoke(step, 1) == "012"
    if not colour.is_async:
        assert await colour.stream(step, 1) == ["0", "1", "2"]


async def test_an_async_generator_function_streams_its_pieces_and_is_added_up():
    step = RunnableLambda(anumbers)

    assert await step.ainvoke(1) == "012"
    assert [piece async for piece in step.astream(1)] == ["0", "1", "2"]


async def test_a_blocking_function_does_not_block_the_loop():
    """B109: a ticker keeps going while a sync function sleeps."""
    release, ticks = threading.Event(), 0
    task = asyncio.create_task(RunnableLambda(lambda x: release.wait(5)).ainvoke(1))
    for _ in range(5):
        await asyncio.sleep(0.001)
        ticks += 1
    assert not task.done()
    release.set()
    assert await task is True
    assert ticks == 5


async def test_a_function_in_a_thread_sees_the_callers_context_variables():
    """B109: context variables are kept."""
    variable = contextvars.ContextVar("variable")
    variable.set("here")

    assert await RunnableLambda(lambda x: variable.get()).ainvoke(1) == "here"


async def test_runnables_called_inside_inherit_the_config(colour, log):
    inner = RunnableLambda(lambda x, config: (config["tags"], config["metadata"]), name="inner")

    def outer(x):
        return inner.invoke(x)

    async def aouter(x):
        return await inner.ainvoke(x)

    step = RunnableLambda(outer, aouter)
    assert await colour.invoke(step, 1, {"tags": ["t"], "metadata": {"m": 1}}) == (["t"], {"m": 1})

    await colour.invoke(step, 1, {"callbacks": [log], "run_name": "mine"})
    assert log.parent_of("inner") == "mine"
    assert ensure_config()["tags"] == []


def test_a_function_of_another_thread_without_context_inherits_nothing():
    seen = []

    def outer(x):
        inner = RunnableLambda(lambda y, config: seen.append(config["tags"]))
        thread = threading.Thread(target=inner.invoke, args=(x,))
        thread.start()
        thread.join()

    RunnableLambda(outer).invoke(1, {"tags": ["t"]})
    assert seen == [[]]


async def test_the_chain_decorator_names_a_function(colour, log):
    @chain
    def my_chain(x):
        return x + 1

    assert isinstance(my_chain, Runnable)
    assert my_chain.get_name() == "my_chain"
    assert await colour.invoke(my_chain, 1) == 2


def test_names_and_reprs():
    double = RunnableLambda(lambda x: x * 2)

    assert RunnableLambda(add_one).get_name() == "add_one"
    assert RunnableLambda(add_one, name="other").get_name() == "other"
    assert RunnableLambda(lambda x: x).get_name() == "RunnableLambda"
    assert repr(RunnableLambda(add_one)) == "RunnableLambda(add_one)"
    assert repr(double) == "RunnableLambda(lambda x: x * 2)"


def test_lambdas_of_the_same_function_are_equal():
    assert RunnableLambda(add_one) == RunnableLambda(add_one)
    assert RunnableLambda(add_one) != RunnableLambda(lambda x: x)
    assert RunnableLambda(add_one) != add_one
    assert len({RunnableLambda(add_one), RunnableLambda(add_one)}) == 1


def test_types_come_from_annotations():
    def typed(x: int) -> str:
        return str(x)

    step = RunnableLambda(typed)

    assert (step.InputType, step.OutputType) == (int, str)
    assert step.get_input_jsonschema() == {"title": "typed_input", "type": "integer"}
    assert step.get_output_jsonschema() == {"title": "typed_output", "type": "string"}


def test_the_keys_a_function_reads_are_its_input_schema():
    def reads(x):
        return x["b"] + x.get("a", "") + x["b"]

    schema = RunnableLambda(reads).get_input_jsonschema()

    assert list(schema["properties"]) == ["a", "b"]
    assert schema["required"] == ["a", "b"]


def test_runnables_a_function_refers_to_are_known():
    inner = RunnablePassthrough()

    def outer(x):
        return inner.invoke(x)

    assert RunnableLambda(outer).deps == [inner]
    assert RunnableLambda(add_one).deps == []
