"""Schemas of composites, beside langchain-core's where it has them right."""

import importlib

import pytest

from dragoman.runnables import RunnableLambda, RunnablePassthrough
from dragoman.runnables._schemas import fields_model, model_of

EXPRESSIONS = [
    "typed.with_retry().get_input_jsonschema()",
    "typed.with_retry().get_output_jsonschema()",
    "typed.with_fallbacks([typed]).get_input_jsonschema()",
    "typed.with_fallbacks([typed]).get_output_jsonschema()",
    "(typed.with_fallbacks([typed]).InputType, typed.with_fallbacks([typed]).OutputType)",
    "RunnableBranch((typed, typed), typed).get_input_jsonschema()",
    "(typed | typed).get_input_jsonschema()",
    "(typed | typed).get_output_jsonschema()",
    "((typed | typed).InputType, (typed | typed).OutputType)",
    "RunnableParallel(a=typed, b=typed).get_output_jsonschema()",
    "RunnablePassthrough(input_type=int).get_input_jsonschema()",
    "RunnablePassthrough.assign(a=keys).get_input_jsonschema()",
    "RunnablePassthrough.assign(a=keys).get_output_jsonschema()",
    "RunnableParallel(a=keys, b=keys).get_input_jsonschema()",
    "RunnableParallel(a=keys).get_name()",
    "typed.map().get_output_jsonschema()",
    "[spec.id for spec in RouterRunnable({'a': typed}).config_specs]",
    "[spec.id for spec in RunnableBranch((typed, typed), typed).config_specs]",
    "[spec.id for spec in typed.with_fallbacks([typed]).config_specs]",
    "[spec.id for spec in typed.map().config_specs]",
    "RunnableLambda(len).get_input_jsonschema()",
    "RunnableBranch((typed, typed), typed).get_name()",
    "typed.bind().get_graph().draw_mermaid()",
    "typed.map().get_graph().draw_mermaid()",
]


def evaluated(root, expression):
    runnables = importlib.import_module(f"{root}.runnables")

    def typed(x: int) -> int:
        return x

    def keys(x):
        return x["first"] + x["second"]

    names = {name: getattr(runnables, name) for name in runnables.__all__}
    names |= {
        "typed": runnables.RunnableLambda(typed),
        "keys": runnables.RunnableLambda(keys),
    }
    return eval(expression, names)


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_the_same_as_langchain(expression):
    assert evaluated("dragoman", expression) == evaluated("langchain_core", expression)


def test_names_that_a_model_cannot_have_stand_under_an_alias():
    model = fields_model(
        "M", {"_a": (int, ...), "copy": (str, "x"), "model_config": (int, 1), "b": (int, 2)}
    )

    assert sorted(model.model_json_schema()["properties"]) == ["_a", "b", "copy", "model_config"]
    assert model.model_validate({"_a": 1}).model_dump(by_alias=True) == {
        "_a": 1,
        "copy": "x",
        "model_config": 1,
        "b": 2,
    }


def test_a_model_is_its_own_schema():
    model = fields_model("M", {"a": (int, ...)})

    assert model_of("Other", model) is model
    assert model_of("Root", list[int]) is model_of("Root", list[int])
    assert model_of("Root", list[int]).schema()["title"] == "Root"
    unhashable = model_of("Root", dict[str, int] | None)
    assert unhashable.model_json_schema()["title"] == "Root"


def test_an_assignment_before_a_step_takes_only_what_is_missing():
    def wants(x):
        return x["made"] + x["given"]

    chain = RunnablePassthrough.assign(made=lambda x: 1) | RunnableLambda(wants)
    assert list(chain.get_input_jsonschema()["properties"]) == ["given"]
