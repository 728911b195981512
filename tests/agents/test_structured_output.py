"""Structured answers: strategies, errors, bounded retries."""

from dataclasses import dataclass
from typing import Any

import pytest
from pydantic import BaseModel, Field, field_validator
from tests.agents.support import HI, add, call, calls, kinds, model, results
from typing_extensions import TypedDict

from dragoman.agents import create_agent
from dragoman.agents.middleware import ModelResponse, wrap_model_call
from dragoman.agents.structured_output import (
    AutoStrategy,
    MultipleStructuredOutputsError,
    ProviderStrategy,
    StructuredOutputError,
    StructuredOutputValidationError,
    ToolStrategy,
)
from dragoman.messages import AIMessage
from dragoman.transcript import validate_messages


class Out(BaseModel):
    """An answer."""

    n: int = Field(description="a number")


class Other(BaseModel):
    """Another answer."""

    text: str


@dataclass
class Data:
    """A record."""

    n: int


class Typed(TypedDict):
    """A typed dict."""

    n: int


JSON = {
    "title": "Out",
    "description": "d",
    "type": "object",
    "properties": {"n": {"type": "integer"}},
    "required": ["n"],
}


@pytest.mark.parametrize(
    ("schema", "name", "expected"),
    [
        (Out, "Out", Out(n=3)),
        (Data, "Data", Data(3)),
        (Typed, "Typed", {"n": 3}),
        (JSON, "Out", {"n": 3}),
    ],
)
@pytest.mark.parametrize("strategy", [ToolStrategy, AutoStrategy, lambda schema: schema])
def test_a_tool_of_the_schema_gives_the_answer(schema, name, expected, strategy):
    fake = model(calls(call(name, n=3)))
    state = create_agent(fake, response_format=strategy(schema)).invoke(HI)
    assert state["structured_response"] == expected
    assert type(state["structured_response"]) is type(expected)
    assert kinds(state["messages"]) == ["human", "ai", "tool"]
    assert results(state)[0][1] == f"Returning structured response: {expected}"
    (bound,) = fake.bound
    assert bound["tool_choice"] == "any"
    assert bound["tools"][0]["function"]["name"] == name


@pytest.mark.parametrize(
    ("schema", "expected"), [(Out, Out(n=3)), (Data, Data(3)), (Typed, {"n": 3}), (JSON, {"n": 3})]
)
@pytest.mark.parametrize(
    "content", ['{"n": 3}', [{"type": "text", "text": '{"n":'}, {"type": "text", "text": " 3}"}]]
)
def test_the_provider_s_own_way_reads_the_text(schema, expected, content):
    fake = model(AIMessage(content))
    state = create_agent(fake, response_format=ProviderStrategy(schema)).invoke(HI)
    assert state["structured_response"] == expected
    assert kinds(state["messages"]) == ["human", "ai"]
    form = fake.bound[0]["response_format"]
    assert form["type"] == "json_schema"
    assert set(form["json_schema"]) == {"name", "schema"}


def test_strict_is_told_to_the_provider():
    fake = model('{"n": 1}')
    create_agent(fake, response_format=ProviderStrategy(Out, strict=True)).invoke(HI)
    assert fake.bound[0]["response_format"]["json_schema"]["strict"] is True


@pytest.mark.parametrize(
    ("fields", "is_provider"),
    [
        ({"profile": {"structured_output": True}}, True),
        ({"profile": {"structured_output": False}}, False),
        ({"profile": {}}, False),
        ({"profile": None}, False),
        ({"model_name": "gpt-4.1-mini"}, True),
        ({"model_name": "gpt-5"}, True),
        ({"model_name": "some-model"}, False),
        ({"model_name": "gemini-2.5-pro", "profile": {"structured_output": True}}, False),
        ({"model_name": "gemini-3-pro", "profile": {"structured_output": True}}, True),
    ],
)
def test_auto_takes_the_provider_s_way_where_there_is_one(fields, is_provider):
    fake = model('{"n": 1}' if is_provider else calls(call("Out", n=1)), **fields)
    state = create_agent(fake, [add], response_format=Out).invoke(HI)
    assert state["structured_response"] == Out(n=1)
    assert ("response_format" in fake.bound[0]) is is_provider


def test_gemini_before_3_without_tools_takes_the_provider_s_way():
    fake = model('{"n": 1}', model_name="gemini-2.5-pro", profile={"structured_output": True})
    assert create_agent(fake, response_format=Out).invoke(HI)["structured_response"] == Out(n=1)


@pytest.mark.parametrize(
    ("schema", "reply", "expected"),
    [
        (Out | Other, call("Other", text="x"), Other(text="x")),
        (Out | Other, call("Out", n=1), Out(n=1)),
        ({"oneOf": [JSON, {**JSON, "title": "Two"}]}, call("Two", n=1), {"n": 1}),
    ],
)
def test_a_union_is_several_tools(schema, reply, expected):
    fake = model(calls(reply))
    state = create_agent(fake, response_format=ToolStrategy(schema)).invoke(HI)
    assert state["structured_response"] == expected
    assert len(fake.bound[0]["tools"]) == 2


def test_ordinary_tools_come_first_and_are_bound_beside():
    fake = model(calls(call("add", "1", a=1, b=2)), calls(call("Out", "2", n=3)))
    state = create_agent(fake, [add], response_format=ToolStrategy(Out)).invoke(HI)
    assert state["structured_response"] == Out(n=3)
    assert [r[0] for r in results(state)] == ["1", "2"]
    assert len(fake.bound[0]["tools"]) == 2


def test_the_result_s_text_can_be_chosen():
    fake = model(calls(call("Out", n=1)))
    strategy = ToolStrategy(Out, tool_message_content="thanks")
    assert results(create_agent(fake, response_format=strategy).invoke(HI)) == [
        ("1", "thanks", "success")
    ]


def test_an_ordinary_call_beside_the_answer_is_run_and_then_the_run_ends():
    fake = model(calls(call("add", "a", a=1, b=2), call("Out", "b", n=3)), "never")
    state = create_agent(fake, [add], response_format=ToolStrategy(Out)).invoke(HI)
    assert state["structured_response"] == Out(n=3)
    assert len(fake.asked) == 1
    assert [r[0] for r in results(state)] == ["a", "b"]
    assert validate_messages(state["messages"]) == []


# ---------------------------------------------------------------- failures


def test_a_wrong_answer_is_told_and_the_model_asked_again():
    fake = model(calls(call("Out", "1", n="x")), calls(call("Out", "2", n=1)))
    state = create_agent(fake, response_format=ToolStrategy(Out)).invoke(HI)
    assert state["structured_response"] == Out(n=1)
    (id_val, text, status), _ = results(state)
    assert (id_val, status) == ("1", "error")
    assert text.startswith("Error: Failed to parse structured output for tool 'Out':")
    assert text.endswith("\n Please fix your mistakes.")


def test_several_answers_are_all_told_so():  # B106
    fake = model(calls(call("Out", "1", n=1), call("Out", "2", n=2)), calls(call("Out", "3", n=1)))
    state = create_agent(fake, response_format=ToolStrategy(Out)).invoke(HI)
    assert [(r[0], r[2]) for r in results(state)] == [
        ("1", "error"),
        ("2", "error"),
        ("3", "success"),
    ]
    assert "multiple structured responses" in results(state)[0][1]


def test_a_wrong_answer_beside_an_ordinary_call_is_answered_and_asked_again():  # B105
    ran = []

    def slow(x: int) -> str:
        """Slow."""
        ran.append(x)
        return "slow"

    fake = model(
        calls(call("slow", "a", x=1), call("Out", "b", n="x")), calls(call("Out", "c", n=1))
    )
    state = create_agent(fake, [slow], response_format=ToolStrategy(Out)).invoke(HI)
    assert state["structured_response"] == Out(n=1)
    assert ran == [1]
    assert [(r[0], r[2]) for r in results(state)] == [
        ("a", "success"),
        ("b", "error"),
        ("c", "success"),
    ]
    assert len(fake.asked) == 2


@pytest.mark.parametrize(
    "reply", [calls(call("Out", n="x")), calls(call("Out", "1", n=1), call("Out", "2", n=2))]
)
@pytest.mark.parametrize("how", ["invoke", "ainvoke"])
async def test_wrong_answers_for_ever_end_in_a_typed_error_with_the_reply(reply, how):  # B106
    fake = model(reply)
    agent = create_agent(fake, [add], response_format=ToolStrategy(Out))
    with pytest.raises(StructuredOutputError) as caught:
        _ = agent.invoke(HI) if how == "invoke" else await agent.ainvoke(HI)
    assert caught.value.ai_message.tool_calls == reply.tool_calls
    assert len(fake.asked) == 3


def broken(*ids: str | None) -> AIMessage:
    invalid = [
        {"name": "Out", "args": "{", "id": i, "error": "cut off", "type": "invalid_tool_call"}
        for i in ids
    ]
    return AIMessage("", invalid_tool_calls=invalid)


@pytest.mark.parametrize("ids", [["2"], [None], ["1", "2"]])
def test_answers_that_are_no_json_are_wrong_answers(ids):  # B106
    fake = model(broken(*ids))
    with pytest.raises(StructuredOutputError):
        create_agent(fake, [add], response_format=ToolStrategy(Out)).invoke(HI)
    assert len(fake.asked) == 3
    fake = model(broken(*ids), calls(call("Out", "9", n=1)))
    state = create_agent(fake, [add], response_format=ToolStrategy(Out)).invoke(HI)
    assert state["structured_response"] == Out(n=1)
    told = [(r[0], r[2]) for r in results(state)]
    assert told == [*((i, "error") for i in ids if i), ("9", "success")]


def test_an_answer_that_is_no_json_raises_if_asked_for():
    strategy = ToolStrategy(Out, handle_errors=False)
    with pytest.raises(StructuredOutputValidationError, match="cut off"):
        create_agent(model(broken("1")), response_format=strategy).invoke(HI)


class Picky(BaseModel):
    """A class whose validator fails oddly."""

    n: int

    @field_validator("n")
    @classmethod
    def known(cls, n: int) -> int:
        """Look n up."""
        return {7: 7}[n]


@pytest.mark.parametrize(
    ("strategy", "reply"),
    [
        (ToolStrategy(Picky), calls(call("Picky", n=1))),
        (ProviderStrategy(Picky), AIMessage('{"n": 1}')),
    ],
)
def test_a_validator_that_fails_oddly_is_a_wrong_answer(strategy, reply):
    fake = model(reply)
    with pytest.raises(StructuredOutputValidationError, match="KeyError: 1") as caught:
        create_agent(fake, response_format=strategy).invoke(HI)
    assert isinstance(caught.value.source, KeyError)
    assert len(fake.asked) == (3 if isinstance(strategy, ToolStrategy) else 1)


def test_a_good_turn_starts_the_count_again():
    wrong, work = calls(call("Out", n="x")), calls(call("add", a=1, b=1))
    fake = model(wrong, wrong, work, wrong, wrong, calls(call("Out", n=1)))
    state = create_agent(fake, [add], response_format=ToolStrategy(Out)).invoke(HI)
    assert state["structured_response"] == Out(n=1)


def _told(error: Exception) -> str:
    return f"own: {type(error).__name__}"


@pytest.mark.parametrize(
    ("handle", "text"),
    [
        ("do better", "do better"),
        (_told, "own: StructuredOutputValidationError"),
        (ValueError, None),
        ((KeyError, ValueError), None),
        (StructuredOutputValidationError, None),
        (True, None),
    ],
)
def test_what_the_model_is_told_can_be_chosen(handle: Any, text):
    fake = model(calls(call("Out", "1", n="x")), calls(call("Out", "2", n=1)))
    state = create_agent(fake, response_format=ToolStrategy(Out, handle_errors=handle)).invoke(HI)
    told = results(state)[0][1]
    assert told == text if text else told.startswith("Error: ")


@pytest.mark.parametrize(
    "handle", [False, KeyError, (KeyError, TypeError), MultipleStructuredOutputsError]
)
def test_other_failures_are_raised(handle: Any):
    fake = model(calls(call("Out", n="x")))
    with pytest.raises(StructuredOutputValidationError) as caught:
        create_agent(fake, response_format=ToolStrategy(Out, handle_errors=handle)).invoke(HI)
    assert caught.value.tool_name == "Out"
    assert isinstance(caught.value.source, ValueError)
    assert caught.value.ai_message.tool_calls[0]["name"] == "Out"


def test_several_answers_raise_with_their_names():
    fake = model(calls(call("Out", "1", n=1), call("Other", "2", text="x")))
    with pytest.raises(MultipleStructuredOutputsError) as caught:
        create_agent(fake, response_format=ToolStrategy(Out | Other, handle_errors=False)).invoke(
            HI
        )
    assert caught.value.tool_names == ["Out", "Other"]


@pytest.mark.parametrize("text", ["no json", '{"n": "x"}', "[]", "", "3"])
def test_a_text_that_does_not_fit_is_a_typed_error(text):
    with pytest.raises(StructuredOutputValidationError, match="Failed to parse"):
        create_agent(model(text), response_format=ProviderStrategy(Out)).invoke(HI)


def test_values_stand_in_no_error_text():
    fake = model(calls(call("Out", n="s3cret")))
    with pytest.raises(StructuredOutputValidationError) as caught:
        create_agent(fake, response_format=ToolStrategy(Out, handle_errors=False)).invoke(HI)
    assert "s3cret" not in str(caught.value)


def test_a_turn_without_answer_resets_it():
    fake = model(calls(call("Out", n=1)), "plain")
    agent = create_agent(fake, response_format=ToolStrategy(Out))
    assert agent.invoke(HI)["structured_response"] == Out(n=1)
    assert agent.invoke(HI).get("structured_response") is None


def test_a_hook_may_choose_the_format():
    hook = wrap_model_call(
        lambda r, h: h(r.override(response_format=ToolStrategy(Other))), name="h"
    )
    fake = model(calls(call("Other", text="x")))
    state = create_agent(fake, response_format=ToolStrategy(Out), middleware=[hook]).invoke(HI)
    assert state["structured_response"] == Other(text="x")


def test_a_hook_may_give_the_answer():
    given = ModelResponse(result=[AIMessage("x")], structured_response=Out(n=9))
    hook = wrap_model_call(lambda r, h: given, name="h")
    state = create_agent(
        model("never"), response_format=ToolStrategy(Out), middleware=[hook]
    ).invoke(HI)
    assert state["structured_response"] == Out(n=9)


def test_a_wrong_schema_is_refused_when_the_strategy_is_made():
    with pytest.raises((TypeError, ValueError)):
        ToolStrategy(3)
