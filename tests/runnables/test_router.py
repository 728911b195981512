"""The step that the input names."""

import pytest

from dragoman.runnables import RouterRunnable, RunnableLambda


@pytest.fixture
def router():
    return RouterRunnable({"add": RunnableLambda(lambda x: x + 1), "double": lambda x: x * 2})


async def test_the_key_names_the_step(colour, router):
    assert await colour.invoke(router, {"key": "add", "input": 2}) == 3
    assert await colour.stream(router, {"key": "double", "input": 2}) == [4]
    assert await colour.batch(
        router, [{"key": "add", "input": 2}, {"key": "double", "input": 2}]
    ) == [3, 4]


async def test_an_unknown_key_is_an_error(colour, router):
    with pytest.raises(ValueError, match="No runnable associated with key 'nope'"):
        await colour.invoke(router, {"key": "nope", "input": 1})
    with pytest.raises(ValueError, match="No runnable associated with key 'nope'"):
        await colour.batch(router, [{"key": "add", "input": 1}, {"key": "nope", "input": 1}])


async def test_a_failure_can_stand_in_its_place(colour):
    router = RouterRunnable({"fail": lambda x: 1 / x})
    one, two = await colour.batch(
        router, [{"key": "fail", "input": 0}, {"key": "fail", "input": 1}], return_exceptions=True
    )
    assert isinstance(one, ZeroDivisionError)
    assert two == 1
    with pytest.raises(ZeroDivisionError):
        await colour.batch(router, [{"key": "fail", "input": 0}])
