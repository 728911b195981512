"""`with_structured_output`: objects out of replies, or typed errors."""

import asyncio
from dataclasses import dataclass
from typing import Annotated, Any, TypedDict

import pytest
from pydantic import BaseModel
from tests.language_models.models import Tooled, TooledStreaming

from dragoman.errors import ModelRefusalError, OutputParserException
from dragoman.language_models import FakeChatModel
from dragoman.messages import AIMessage, AIMessageChunk


class City(BaseModel):
    """A city."""

    name: str
    people: int


@dataclass
class Town:
    """A town."""

    name: str
    people: int = 1


class Village(TypedDict):
    """A village."""

    name: Annotated[str, ..., "its name"]


SCHEMA = {"title": "Place", "type": "object", "properties": {"name": {"type": "string"}}}


def call(name: str, args: dict[str, Any], **fields: Any) -> AIMessage:
    return AIMessage("", tool_calls=[{"name": name, "args": args, "id": "1"}], **fields)


@pytest.mark.parametrize(
    ("schema", "name", "args", "answer"),
    [
        (City, "City", {"name": "Bursa", "people": "3"}, City(name="Bursa", people=3)),
        (Town, "Town", {"name": "Iznik"}, Town("Iznik")),
        (Village, "Village", {"name": "x"}, {"name": "x"}),
        (SCHEMA, "Place", {"name": "x"}, {"name": "x"}),
        ({"name": "f", "parameters": SCHEMA}, "f", {"name": "x"}, {"name": "x"}),
    ],
)
def test_the_arguments_of_the_call_become_the_answer(schema, name, args, answer):
    model = Tooled(reply=call(name, args)).with_structured_output(schema)
    assert model.invoke("x") == answer
    assert asyncio.run(model.ainvoke("x")) == answer


def test_the_schema_is_bound_as_the_tool_that_must_be_called():
    model = Tooled(reply=call("City", {"name": "a", "people": 1}), seen=[])
    model.with_structured_output(City, strict=True).invoke("x")
    kwargs = model.seen[0][2]
    assert kwargs["tool_choice"] == "any"
    assert kwargs["tools"][0]["function"]["name"] == "City"
    assert kwargs["tools"][0]["function"]["strict"] is True
    assert "ls_structured_output_format" not in kwargs


def test_json_schema_binds_a_response_format_and_reads_the_text():
    model = Tooled(reply='{"name": "a", "people": 1}', seen=[])
    answer = model.with_structured_output(City, method="json_schema", strict=True).invoke("x")
    assert answer == City(name="a", people=1)
    form = model.seen[0][2]["response_format"]
    assert form["type"] == "json_schema"
    assert form["json_schema"]["name"] == "City"
    assert form["json_schema"]["strict"] is True
    assert form["json_schema"]["schema"]["additionalProperties"] is False


@pytest.mark.parametrize("text", ['{"name": "a"}', '```json\n{"name": "a"}\n```', ' {"name":"a"} '])
def test_json_mode_reads_plain_and_fenced_json(text):
    model = Tooled(reply=text, seen=[])
    assert model.with_structured_output(SCHEMA, method="json_mode").invoke("x") == {"name": "a"}
    assert model.seen[0][2]["response_format"] == {"type": "json_object"}


REFUSED = AIMessage([{"type": "refusal", "refusal": "no", "extras": {"category": "bio"}}])
CUT = AIMessage("", response_metadata={"finish_reason": "length"})


@pytest.mark.parametrize(
    ("reply", "error", "words"),
    [
        (REFUSED, ModelRefusalError, r"\(category='bio'\): no"),
        (AIMessage("", additional_kwargs={"refusal": "no"}), ModelRefusalError, ": no"),
        (
            AIMessage("", response_metadata={"finish_reason": "content_filter"}),
            ModelRefusalError,
            "refused",
        ),
        (CUT, OutputParserException, "cut off"),
        (AIMessage(""), OutputParserException, "no structured output"),
        (AIMessage("hello"), OutputParserException, "called no tool"),
        (call("other", {}), OutputParserException, "called `other` instead"),
        (call("City", {"name": "a"}), OutputParserException, "does not fit `City`"),
        (
            AIMessage(
                "",
                invalid_tool_calls=[
                    {"name": "City", "args": "{", "id": "1", "error": "broken"},
                ],
            ),
            OutputParserException,
            "cannot be read: 'broken'",
        ),
    ],
)
def test_a_reply_without_an_answer_is_a_typed_error(reply, error, words):
    with pytest.raises(error, match=words):
        Tooled(reply=reply).with_structured_output(City).invoke("x")
    raw = Tooled(reply=reply).with_structured_output(City, include_raw=True).invoke("x")
    assert raw["raw"].content == reply.content
    assert raw["parsed"] is None
    assert isinstance(raw["parsing_error"], error)


def test_an_answer_that_does_not_fit_is_told_without_its_values():
    model = Tooled(reply=call("City", {"name": ["secret"]})).with_structured_output(City)
    with pytest.raises(OutputParserException) as caught:
        model.invoke("x")
    assert "does not fit `City`: name: Input should be a valid string" in str(caught.value)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        ("", "no text"),
        ("no json", "not JSON"),
        ('{"name": "a"', "not JSON"),
        ("[1]", "does not fit"),
        (AIMessage('{"name": "a', response_metadata={"finish_reason": "length"}), "cut off"),
    ],
)
def test_a_text_without_an_answer_is_a_typed_error(reply, words):
    model = Tooled(reply=reply).with_structured_output(SCHEMA, method="json_mode")
    with pytest.raises(OutputParserException, match=words):
        model.invoke("x")


def test_refusals_carry_the_message():
    with pytest.raises(ModelRefusalError) as caught:
        Tooled(reply=REFUSED).with_structured_output(City).invoke("x")
    assert caught.value.raw_message.content == REFUSED.content


def test_include_raw_gives_all_three():
    reply = call("City", {"name": "a", "people": 1})
    found = Tooled(reply=reply).with_structured_output(City, include_raw=True).invoke("x")
    assert found["parsed"] == City(name="a", people=1)
    assert found["parsing_error"] is None
    assert found["raw"].tool_calls == reply.tool_calls


# Streams


def fragments(*args: str, name: str = "City") -> list[AIMessageChunk]:
    chunks = []
    for number, text in enumerate(args):
        piece = {
            "name": name if number == 0 else None,
            "args": text,
            "id": "1" if number == 0 else None,
            "index": 0,
            "type": "tool_call_chunk",
        }
        chunks.append(AIMessageChunk("", tool_call_chunks=[piece]))
    return chunks


def streamed(model) -> list[Any]:
    async def drain():
        return [piece async for piece in model.astream("x")]

    pieces = list(model.stream("x"))
    assert asyncio.run(drain()) == pieces
    return pieces


def test_dicts_are_streamed_as_they_grow():
    pieces = fragments('{"na', 'me": "B', 'ursa"}', name="Place")
    model = TooledStreaming(pieces=pieces).with_structured_output(SCHEMA)
    assert streamed(model) == [{}, {"name": "B"}, {"name": "Bursa"}]


def test_text_answers_are_streamed_as_they_grow():
    model = TooledStreaming(pieces=['{"name": "B', 'ursa"}'])
    parsed = streamed(model.with_structured_output(SCHEMA, method="json_schema"))
    assert parsed == [{"name": "B"}, {"name": "Bursa"}]


def test_objects_are_streamed_once_whole():
    pieces = fragments('{"name": "B', 'ursa", "people": 3}')
    model = TooledStreaming(pieces=pieces).with_structured_output(City)
    assert streamed(model) == [City(name="Bursa", people=3)]


def test_include_raw_streams_chunks_and_then_the_answer():
    pieces = fragments('{"name": "B"', ', "people": 3}')
    model = TooledStreaming(pieces=pieces).with_structured_output(City, include_raw=True)
    found = list(model.stream("x"))
    assert [set(piece) for piece in found[:-1]] == [{"raw"}] * 3
    assert found[-1] == {"parsed": City(name="B", people=3), "parsing_error": None}


@pytest.mark.parametrize(
    ("pieces", "error"),
    [
        ([REFUSED.content], ModelRefusalError),
        (["hello"], OutputParserException),
        (fragments('{"name": "B"'), OutputParserException),
    ],
)
def test_streams_end_in_the_same_typed_errors(pieces, error):
    pieces = [AIMessageChunk(p) if isinstance(p, list) else p for p in pieces]
    model = TooledStreaming(pieces=pieces).with_structured_output(City)
    with pytest.raises(error):
        list(model.stream("x"))
    raw = TooledStreaming(pieces=pieces).with_structured_output(City, include_raw=True)
    assert isinstance(list(raw.stream("x"))[-1]["parsing_error"], error)


# Misuse


def test_models_without_tools_refuse():
    with pytest.raises(NotImplementedError, match="with_structured_output is not implemented"):
        FakeChatModel().with_structured_output(City)
    with pytest.raises(NotImplementedError, match="bind_tools"):
        FakeChatModel().bind_tools([])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"banana": 1}, "Received unsupported arguments"),
        ({"method": "magic"}, "Unknown method 'magic'"),
    ],
)
def test_unknown_options_are_refused(options, words):
    with pytest.raises(ValueError, match=words):
        Tooled().with_structured_output(City, **options)


@pytest.mark.parametrize("schema", [3, "x", {"type": "object"}])
def test_what_is_no_schema_is_refused(schema):
    with pytest.raises(ValueError, match="Unsupported function"):
        Tooled().with_structured_output(schema)
