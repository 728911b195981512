"""Runnables with something given in advance."""

import pytest

from dragoman.runnables import Runnable, RunnableBinding, RunnableLambda, RunnableSequence
from dragoman.runnables.base import RunnableBindingBase


def show(x, config, **kwargs):
    return {**kwargs, "tags": config["tags"], "configurable": config["configurable"]}


class Words(Runnable):
    """Has a method and an attribute of its own."""

    answer = 42

    def invoke(self, input, config=None, **kwargs):
        return input, kwargs

    def count(self, text):
        return len(text.split())

    def tags_of(self, text, config=None):
        return (config or {}).get("tags")


async def test_bound_arguments_reach_every_call_and_later_ones_win(colour):
    step = RunnableLambda(lambda x, a=0, b=0: (x, a, b)).bind(a=1, b=2).bind(b=3)

    assert await colour.invoke(step, 0) == (0, 1, 3)
    assert await colour.invoke(step, 0, a=9) == (0, 9, 3)
    assert await colour.batch(step, [0, 1]) == [(0, 1, 3), (1, 1, 3)]
    assert await colour.stream(step, 0) == [(0, 1, 3)]
    assert await colour.transform(step, [0]) == [(0, 1, 3)]
    assert sorted(await colour.as_completed(step, [0, 1])) == [(0, (0, 1, 3)), (1, (1, 1, 3))]


async def test_a_config_given_in_advance_is_merged_under_the_calls(colour):
    step = RunnableLambda(show).with_config(tags=["b"], configurable={"x": 1, "y": 1})
    given = await colour.invoke(step, 0, {"tags": ["a"], "configurable": {"y": 2}})

    assert given == {"tags": ["a", "b"], "configurable": {"x": 1, "y": 2}}
    assert step.with_config({"tags": ["c"]}).config == {**step.config, "tags": ["c"]}


async def test_a_list_of_configs_is_merged_one_by_one(colour):
    step = RunnableLambda(show).with_config(tags=["all"])
    given = await colour.batch(step, [0, 0], [{"tags": ["one"]}, {}])

    assert [one["tags"] for one in given] == [["all", "one"], ["all"]]


async def test_a_run_name_names_this_run_only(colour, log):
    inner = RunnableLambda(lambda x: x, name="inner")
    step = RunnableSequence(inner, inner).with_config(run_name="outer")
    await colour.invoke(step, 1, {"callbacks": [log]})

    assert [name for what, name, *_ in log.told if what == "start"] == ["outer", "inner", "inner"]


def test_what_it_does_not_know_is_asked_of_the_bound_object():
    bound = Words().bind(a=1)

    assert isinstance(bound, RunnableBinding)
    assert isinstance(bound, RunnableBindingBase)
    assert bound.answer == 42
    assert bound.count("a b c") == 3
    assert bound.with_config(tags=["t"]).tags_of("x") == ["t"]
    with pytest.raises(AttributeError, match="nothing"):
        _ = bound.nothing


def test_types_given_in_advance_are_its_schemas():
    step = RunnableLambda(lambda x: x).with_types(input_type=int).with_types(output_type=str)

    assert (step.InputType, step.OutputType) == (int, str)
    assert step.get_input_jsonschema()["type"] == "integer"
    assert step.get_output_jsonschema()["type"] == "string"
    assert step.invoke("still any") == "still any"


def test_it_shows_what_is_given_in_advance():
    def f(x): ...

    assert repr(RunnableLambda(f).bind(a=1)) == (
        "RunnableBinding(bound=RunnableLambda(f), kwargs={'a': 1}, config={}, config_factories=[])"
    )
    assert RunnableLambda(f).bind(a=1).get_name() == "f"


def test_retrying_a_binding_keeps_the_binding():
    step = Words().bind(a=1).with_retry(stop_after_attempt=1)

    assert isinstance(step, RunnableBinding)
    assert step.invoke("x") == ("x", {"a": 1})
