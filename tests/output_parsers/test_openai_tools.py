"""Parsers of tool calls."""

import logging

import pytest
from pydantic import BaseModel, ConfigDict, ValidationError

from dragoman.errors import OutputParserException
from dragoman.messages import AIMessage, AIMessageChunk
from dragoman.output_parsers import (
    JsonOutputKeyToolsParser,
    JsonOutputToolsParser,
    PydanticToolsParser,
)
from dragoman.output_parsers.openai_tools import (
    make_invalid_tool_call,
    parse_tool_call,
    parse_tool_calls,
)

CALLS = AIMessage(
    "",
    tool_calls=[
        {"name": "f", "args": {"a": 1}, "id": "1"},
        {"name": "g", "args": {"b": 2}, "id": "2"},
    ],
)
RAW = AIMessage(
    "",
    additional_kwargs={
        "tool_calls": [{"id": "1", "function": {"name": "f", "arguments": '{"a": 1}'}}]
    },
)
NONE = AIMessage("text")


class f(BaseModel):
    a: int


class Titled(BaseModel):
    model_config = ConfigDict(title="g")
    b: int


def raw(arguments):
    return {"id": "1", "function": {"name": "f", "arguments": arguments}}


@pytest.mark.parametrize(
    ("arguments", "args"),
    [('{"a": 1}', {"a": 1}), ("", {}), (None, {}), ("null", {}), ('{"a": "x\ny"}', {"a": "x\ny"})],
)
def test_one_call(arguments, args):
    assert parse_tool_call(raw(arguments)) == {
        "name": "f", "args": args, "id": "1", "type": "tool_call",
    }  # fmt: skip
    assert parse_tool_call(raw(arguments), return_id=False) == {"name": "f", "args": args}


def test_calls_that_cannot_be_read():
    for arguments, strict in (("{", False), ("[1]", False), ('{"a": "x\ny"}', True)):
        with pytest.raises(OutputParserException) as one:
            parse_tool_call(raw(arguments), strict=strict)
        assert "Function f arguments:" in str(one.value)
        assert "are not valid JSON" in str(one.value)
    with pytest.raises(OutputParserException) as caught:
        parse_tool_calls([raw("zz"), raw("{}"), raw("yy")])
    assert str(caught.value).count("are not valid JSON") == 2
    assert parse_tool_call({"id": "1"}) is None
    assert parse_tool_calls([{"id": "1"}, raw("{}")]) == [parse_tool_call(raw("{}"))]


def test_partial_calls():
    assert parse_tool_call(raw('{"a": [1'), partial=True)["args"] == {"a": [1]}
    for arguments in ("", None, "zz"):
        assert parse_tool_call(raw(arguments), partial=True) is None


def test_invalid_calls_keep_their_text():
    assert make_invalid_tool_call(raw("{"), "cut off") == {
        "type": "invalid_tool_call", "name": "f", "args": "{", "id": "1", "error": "cut off",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("options", "message", "value"),
    [
        ({}, CALLS, [{"type": "f", "args": {"a": 1}}, {"type": "g", "args": {"b": 2}}]),
        ({"return_id": True}, RAW, [{"type": "f", "args": {"a": 1}, "id": "1"}]),
        ({"first_tool_only": True}, CALLS, {"type": "f", "args": {"a": 1}}),
        ({}, NONE, []),
        ({"first_tool_only": True}, NONE, []),
    ],
)
def test_all_calls(options, message, value):
    assert JsonOutputToolsParser(**options).invoke(message) == value


@pytest.mark.parametrize(
    ("options", "message", "value"),
    [
        ({}, CALLS, [{"b": 2}]),
        ({"return_id": True}, CALLS, [{"type": "g", "args": {"b": 2}, "id": "2"}]),
        ({"first_tool_only": True}, CALLS, {"b": 2}),
        (
            {"first_tool_only": True, "return_id": True},
            CALLS,
            {"type": "g", "args": {"b": 2}, "id": "2"},
        ),
        ({}, NONE, []),
        ({"first_tool_only": True}, NONE, None),
        ({"first_tool_only": True, "return_id": True}, RAW, None),
    ],
)
def test_calls_of_one_tool(options, message, value):
    assert JsonOutputKeyToolsParser(key_name="g", **options).invoke(message) == value


def test_instances():
    parser = PydanticToolsParser(tools=[f, Titled])

    assert parser.invoke(CALLS) == [f(a=1), Titled(b=2)]
    first = PydanticToolsParser(tools=[f, Titled], first_tool_only=True)
    assert first.invoke(CALLS) == f(a=1)
    assert first.invoke(NONE) is None
    with pytest.raises(
        OutputParserException, match=r"Unknown tool type: 'h'\. Available tools: f, g"
    ):
        parser.invoke(AIMessage("", tool_calls=[{"name": "h", "args": {}, "id": "1"}]))


def test_wrong_arguments_are_validation_errors_and_a_cut_reply_is_logged(caplog):
    wrong = [{"name": "f", "args": {"a": "x"}, "id": "1"}]
    parser = PydanticToolsParser(tools=[f])

    with pytest.raises(ValidationError), caplog.at_level(logging.ERROR):
        parser.invoke(AIMessage("", tool_calls=wrong))
    assert caplog.text == ""
    with pytest.raises(ValidationError), caplog.at_level(logging.ERROR):
        parser.invoke(
            AIMessage("", tool_calls=wrong, response_metadata={"stop_reason": "max_tokens"})
        )
    assert "`max_tokens` stop reason" in caplog.text


def test_only_messages_have_calls():
    for parser in (JsonOutputToolsParser(), PydanticToolsParser(tools=[f])):
        with pytest.raises(OutputParserException, match="can only be used with a chat generation"):
            parser.invoke("text")
    with pytest.raises(NotImplementedError):
        JsonOutputToolsParser().parse("text")


def test_b30_a_message_whose_calls_are_all_invalid_is_an_error():
    message = AIMessage(
        "", invalid_tool_calls=[{"name": "f", "args": '{"a"', "id": "1", "error": "cut off"}]
    )

    with pytest.raises(OutputParserException, match="cut off"):
        JsonOutputToolsParser().invoke(message)


def chunks(last):
    pieces = [("f", "", "1"), (None, '{"a"', None), (None, ": 1", None), (None, "2}", None)]
    for number, (name, args, call_id) in enumerate(pieces):
        yield AIMessageChunk(
            "",
            tool_call_chunks=[{"name": name, "args": args, "id": call_id, "index": 0}],
            chunk_position="last" if last and number == 3 else None,
        )


@pytest.mark.parametrize("last", [True, False])
def test_streams_only_grow_and_end_at_the_whole(last):
    values = list(JsonOutputToolsParser().transform(chunks(last)))

    assert values[0] == [{"type": "f", "args": {}}]
    assert values[-1] == [{"type": "f", "args": {"a": 12}}]
    assert list(PydanticToolsParser(tools=[f]).transform(chunks(last)))[-1] == [f(a=12)]
    first = JsonOutputKeyToolsParser(key_name="f", first_tool_only=True)
    assert list(first.transform(chunks(last)))[-1] == {"a": 12}


@pytest.mark.parametrize("raw", [{"a": [], "b": 1}, [5, "x", None], 5, "text", [{"function": 5}]])
@pytest.mark.parametrize(
    "parser",
    [JsonOutputToolsParser(), JsonOutputKeyToolsParser(key_name="f", first_tool_only=True)],
)
def test_raw_calls_of_any_shape_are_no_calls(parser, raw):
    message = AIMessage("x", additional_kwargs={"tool_calls": raw})

    assert not parser.invoke(message.model_copy(update={"invalid_tool_calls": []}))
