"""Others to try when a runnable fails."""

import pytest

from dragoman.runnables import (
    Runnable,
    RunnableGenerator,
    RunnableLambda,
    RunnableWithFallbacks,
)


def fail(text="no"):
    def raise_it(x):
        raise ValueError(f"{text} {x}")

    return RunnableLambda(raise_it)


good = RunnableLambda(lambda x: ("good", x))


async def test_the_first_that_works_answers(colour):
    step = fail("a").with_fallbacks([fail("b"), good])

    assert await colour.invoke(step, 1) == ("good", 1)
    assert await colour.batch(step, [1, 2]) == [("good", 1), ("good", 2)]
    assert await colour.stream(step, 1) == [("good", 1)]


async def test_if_all_fail_the_first_error_is_raised(colour):
    step = fail("a").with_fallbacks([fail("b"), RunnableLambda(lambda x: 1 / 0)])

    for call in (colour.invoke(step, 1), colour.batch(step, [1]), colour.stream(step, 1)):
        with pytest.raises(ValueError, match="a 1"):
            await call
    outcome = await colour.batch(step, [1, 2], return_exceptions=True)
    assert [str(error) for error in outcome] == ["a 1", "a 2"]


async def test_other_errors_are_not_handled(colour):
    step = fail().with_fallbacks([good], exceptions_to_handle=(KeyError,))

    for call in (colour.invoke(step, 1), colour.batch(step, [1]), colour.stream(step, 1)):
        with pytest.raises(ValueError, match="no 1"):
            await call
    (outcome,) = await colour.batch(step, [1], return_exceptions=True)
    assert isinstance(outcome, ValueError)


async def test_only_what_failed_falls_back(colour):
    tried = []

    def odd(x):
        if x % 2:
            raise ValueError(x)
        return x

    def note(x):
        tried.append(x)
        return -x

    step = RunnableLambda(odd).with_fallbacks([RunnableLambda(note)])
    assert await colour.batch(step, [0, 1, 2, 3]) == [0, -1, 2, -3]
    assert sorted(tried) == [1, 3]


async def test_the_exception_can_be_handed_on(colour):
    step = fail().with_fallbacks([RunnableLambda(lambda x: x)], exception_key="error")

    given = {"a": 1}
    output = await colour.invoke(step, given)
    assert (output["a"], str(output["error"])) == (1, "no {'a': 1}")
    assert given == {"a": 1}
    (output,) = await colour.batch(step, [{"a": 1}])
    assert isinstance(output["error"], ValueError)
    for call in (colour.invoke(step, 1), colour.batch(step, [1]), colour.stream(step, 1)):
        with pytest.raises(ValueError, match="input must be a dictionary"):
            await call


async def test_a_stream_falls_back_only_before_its_first_piece(colour):
    def late(pieces):
        yield 1
        raise ValueError("late")

    def early(pieces):
        raise ValueError("early")
        yield

    assert await colour.stream(RunnableGenerator(early).with_fallbacks([good]), 1) == [("good", 1)]
    with pytest.raises(ValueError, match="late"):
        await colour.stream(RunnableGenerator(late).with_fallbacks([good]), 1)


class Model(Runnable):
    """Has an attribute, a method, and a method that gives a runnable."""

    foo = 3

    def __init__(self, name):
        self.name = name

    def invoke(self, input, config=None, **kwargs):
        if self.name == "bad":
            raise ValueError("bad")
        return self.name, kwargs

    def count(self, text):
        return len(text)

    def bind_tools(self, tools):
        return self.bind(tools=tools)


def test_the_first_runnables_own_things_are_there():
    step = Model("bad").with_fallbacks([Model("good")])

    assert step.foo == 3
    assert step.count("abc") == 3
    with_tools = step.bind_tools([1])
    assert isinstance(with_tools, RunnableWithFallbacks)
    assert with_tools.runnable.kwargs == {"tools": [1]}
    assert with_tools.invoke("x") == ("good", {"tools": [1]})
    with pytest.raises(AttributeError):
        _ = step.nothing


async def test_handlers_hear_of_each_try(colour, log):
    step = fail().with_fallbacks([good])
    await colour.invoke(step, 1, {"callbacks": [log]})

    assert [(what, name) for what, name, *_ in log.told] == [
        ("start", "RunnableWithFallbacks"),
        ("start", "raise_it"),
        ("error", "raise_it"),
        ("start", "RunnableLambda"),
        ("end", "RunnableLambda"),
        ("end", "RunnableWithFallbacks"),
    ]
