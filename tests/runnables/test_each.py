"""A runnable for each item of a list."""

import pytest

from dragoman.runnables import RunnableLambda


async def test_each_item_is_done_in_order(colour):
    step = RunnableLambda(lambda x: x + 1).map()

    assert await colour.invoke(step, [1, 2, 3]) == [2, 3, 4]
    assert await colour.invoke(step, []) == []
    assert await colour.invoke(step.map(), [[1], [2, 3]]) == [[2], [3, 4]]


async def test_a_failure_of_one_is_raised(colour):
    with pytest.raises(ZeroDivisionError):
        await colour.invoke(RunnableLambda(lambda x: 1 / x).map(), [1, 0])


async def test_bind_and_config_go_to_the_runnable(colour):
    def show(x, config, n=0):
        return x + n, config["tags"]

    step = RunnableLambda(show).map().bind(n=1).with_config(tags=["t"])
    assert await colour.invoke(step, [1, 2]) == [(2, ["t"]), (3, ["t"])]


async def test_handlers_hear_of_each_item(colour, log):
    step = RunnableLambda(lambda x: x, name="one").map()
    await colour.invoke(step, [1, 2], {"callbacks": [log]})

    starts = [(name, value) for what, name, value, _ in log.told if what == "start"]
    assert starts[0] == ("RunnableEach<one>", [1, 2])
    assert sorted(starts[1:]) == [("one", 1), ("one", 2)]


def test_types_are_lists():
    def typed(x: int) -> str:
        return str(x)

    step = RunnableLambda(typed).map()
    assert (step.InputType, step.OutputType) == (list[int], list[str])
    assert step.get_input_jsonschema()["type"] == "array"
