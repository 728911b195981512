"""Odd but legal values, through the constructor and every form of a message and back."""

import copy
import decimal
import json
import pickle

import pytest

from dragoman.errors import DecodeError, EncodeError, MessageError
from dragoman.load import dumps, loads
from dragoman.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    ChatMessageChunk,
    FunctionMessage,
    HumanMessage,
    RemoveMessage,
    ToolMessage,
    message_to_dict,
    messages_from_dict,
    messages_from_json,
    messages_to_json,
)

CALL = {"name": "f", "args": {}, "id": "1"}


@pytest.mark.parametrize(
    "message",
    [
        HumanMessage([]),
        AIMessage([]),
        ToolMessage([], tool_call_id="1"),
        ToolMessage("", tool_call_id="", artifact=0),
        ToolMessage("x", tool_call_id="1", artifact=[]),
        FunctionMessage("", name=""),
        ChatMessageChunk("", role=""),
        AIMessageChunk([], chunk_position="last"),
        RemoveMessage(""),
    ],
)
def test_empty_values_survive_every_form(message):
    assert messages_from_dict([message_to_dict(message)]) == [message]
    assert messages_from_json(messages_to_json([message])) == [message]
    assert type(message).model_validate(message.model_dump()) == message


USAGE = {"input_tokens": 3, "output_tokens": 1, "total_tokens": 4}


@pytest.mark.parametrize("cls", [AIMessage, AIMessageChunk])
@pytest.mark.parametrize(
    "more",
    [
        {"input_token_details": {"cache_creation": 2, "ephemeral_5m_input_tokens": 2}},
        {"output_token_details": {"reasoning": 1, "accepted_prediction_tokens": 0}},
        {"cost": 0.5, "server_tool_use": {"web_search_requests": 1}},
        {"cost": decimal.Decimal("0.1"), "parts": (1, 2)},
    ],
)
def test_what_a_provider_adds_to_usage_survives_every_form(cls, more):
    message = cls("x", usage_metadata={**USAGE, **more})

    assert messages_from_json(messages_to_json([message]))[0].usage_metadata == {**USAGE, **more}
    assert loads(dumps([message]))[0].usage_metadata == {**USAGE, **more}
    assert messages_from_dict([message_to_dict(message)]) == [message]


@pytest.mark.parametrize("usage", [5, {"input_tokens": 1}, {**USAGE, "input_tokens": "1"}])
def test_stored_usage_that_is_none_is_refused_with_its_place(usage):
    text = json.dumps([{"type": "ai", "content": "", "usage_metadata": usage}])

    with pytest.raises(DecodeError, match=r"\$\[0\]\.usage_metadata"):
        messages_from_json(text)


def test_unknown_fields_are_kept_whatever_their_value_and_name():
    data = {"content": "x", "foo": None, "bar": [], "zoo": 0, "role": "r", "text": "t", "copy": 1}
    message = messages_from_dict([{"type": "human", "data": data}])[0]

    assert message.foo is None
    assert message.role == "user"
    assert message.text == "x"
    assert data.items() <= message.model_dump().items()
    assert data.items() <= message_to_dict(message)["data"].items()
    assert messages_from_json(messages_to_json([message])) == [message]
    assert b'"role":"r"' in messages_to_json([message])
    for made in (copy.deepcopy(message), pickle.loads(pickle.dumps(message))):
        assert made == message
    assert message != HumanMessage("x")


@pytest.mark.parametrize("content", [[1], [None], [b"x"], [["a"]], None, 5, b"x", ("a",), {"a": 1}])
@pytest.mark.parametrize("cls", [HumanMessage, AIMessage, AIMessageChunk])
@pytest.mark.parametrize("more", [{}, {"id": "1"}, {"response_metadata": {"a": 1}}])
def test_wrong_content_is_refused_by_every_class(cls, content, more):
    with pytest.raises(MessageError, match="content"):
        cls(content, **more)
    if cls is not HumanMessage:
        with pytest.raises(MessageError, match="content"):
            cls(content, tool_calls=[CALL], **more)


@pytest.mark.parametrize("call", [{**CALL, "zzz": 1}, {**CALL, "type": "tool_call", "zzz": 1}])
def test_an_unknown_key_of_a_call_is_a_type_error(call):
    with pytest.raises(TypeError, match="zzz"):
        AIMessage("", tool_calls=[call])


@pytest.mark.parametrize("missing", ["name", "args", "id"])
def test_a_missing_key_of_a_call_is_both_errors(missing):
    call = {key: value for key, value in CALL.items() if key != missing}
    for kind in (TypeError, ValueError):
        with pytest.raises(kind, match=missing):
            AIMessage("", tool_calls=[call])


def test_remove_message_without_id_is_both_errors():
    for kind in (TypeError, ValueError):
        with pytest.raises(kind, match="id"):
            RemoveMessage()


def test_pretty_repr_of_replies_is_stripped():
    assert AIMessage("").pretty_repr() == "=" * 34 + " Ai Message " + "=" * 34
    assert AIMessage(" x \n").pretty_repr().endswith("\n\n x")
    assert HumanMessage(" x ").pretty_repr().endswith("\n\n x ")
    call = {"name": "f", "args": None, "id": None, "error": None}
    shown = AIMessage("", invalid_tool_calls=[call]).pretty_repr()
    assert shown.endswith("Invalid Tool Calls:\n  f (None)\n Call ID: None\n  Args:")


INVALID = {"name": "f", "args": "{", "id": "1", "error": "e", "type": "invalid_tool_call"}


def _forms(chunk):
    yield chunk
    yield pickle.loads(pickle.dumps(chunk))
    yield copy.copy(chunk)
    yield copy.deepcopy(chunk)
    yield chunk.model_copy()
    yield messages_from_json(messages_to_json([chunk]))[0]
    yield messages_from_dict([message_to_dict(chunk)])[0]
    yield chunk + AIMessageChunk("")
    yield AIMessageChunk("") + chunk
    yield sum([AIMessageChunk(""), chunk, AIMessageChunk("")])


def test_a_call_given_to_a_chunk_as_invalid_stays_invalid():
    chunk = AIMessageChunk("", tool_calls=[CALL], invalid_tool_calls=[INVALID])
    fragment = {"name": "f", "args": "{", "id": "1", "index": None, "type": "tool_call_chunk"}
    assert chunk.tool_call_chunks[1] == fragment
    for made in _forms(chunk):
        assert made == chunk
        assert made.invalid_tool_calls == [INVALID]
        assert made.tool_calls == [{**CALL, "type": "tool_call"}]


def test_two_invalid_calls_without_ids_are_not_glued():
    given = [{"name": "f", "args": raw, "id": None, "error": None} for raw in ("{", "[", "{}")]
    chunk = AIMessageChunk("", invalid_tool_calls=given)
    assert [call["args"] for call in chunk.invalid_tool_calls] == ["{", "[", "{}"]
    assert chunk.tool_calls == []


def _raw(args, **more):
    return {"tool_calls": [{"function": {"arguments": args, "name": None}, **more}]}


def test_raw_calls_of_chunks_keep_their_index_and_meet():
    one = AIMessageChunk("", additional_kwargs=_raw('{"a"', index=0, id="c"))
    two = AIMessageChunk("", additional_kwargs=_raw(":1}", index=0))
    assert one.tool_call_chunks[0]["index"] == 0
    assert (one + two).tool_calls == [
        {"name": "", "args": {"a": 1}, "id": "c", "type": "tool_call"}
    ]


def test_malformed_raw_calls_of_chunks_are_invalid_calls():
    raw = {"tool_calls": [5, {"id": "a"}, {"id": "b", "function": "x"}]}
    chunk = AIMessageChunk("", additional_kwargs=raw)
    assert [c["error"] for c in chunk.invalid_tool_calls] == [
        "the call is no object",
        "`function` is no object",
    ]
    assert chunk.tool_calls == [{"name": "", "args": {}, "id": "a", "type": "tool_call"}]


V1 = {"output_version": "v1"}


@pytest.mark.parametrize("parts", [1, 2, 3])
def test_standard_content_holds_whole_calls_once_the_stream_has_ended(parts):
    text = '{"a": 1}'
    cuts = (
        [text] if parts == 1 else [text[:3], text[3:]] if parts == 2 else [text[:3], "", text[3:]]
    )
    chunks = []
    for number, piece in enumerate(cuts):
        fragment = {
            "type": "tool_call_chunk",
            "name": None if number else "f",
            "args": piece,
            "id": None if number else "c",
            "index": 0,
        }
        server = {**fragment, "type": "server_tool_call_chunk", "index": 1}
        server["id"] = None if number else "s"
        block = {**fragment, "extras": {"k": 1}} if number == 0 else fragment
        chunks.append(
            AIMessageChunk(
                [block, server],
                tool_call_chunks=[fragment],
                response_metadata=V1 if number == 0 else {},
            )
        )
    running = sum(chunks)
    assert running.content[0]["type"] == "tool_call_chunk"
    for whole in (
        running + AIMessageChunk("", chunk_position="last"),
        sum([*chunks, AIMessageChunk("", chunk_position="last")]),
    ):
        call = {"type": "tool_call", "name": "f", "args": {"a": 1}, "id": "c", "extras": {"k": 1}}
        assert whole.content[0] == call
        assert whole.content[1]["type"] == "server_tool_call"
        assert whole.content[1]["args"] == {"a": 1}
        assert whole.content_blocks == whole.content
    assert running.content[0]["type"] == "tool_call_chunk"


def test_incomplete_calls_stay_pieces_at_the_end_of_standard_content():
    fragment = {"type": "tool_call_chunk", "name": "f", "args": '{"a', "id": "c", "index": 0}
    server = {"type": "server_tool_call", "name": "g", "args": '{"a', "id": "s"}
    chunk = AIMessageChunk(
        [fragment, server],
        tool_call_chunks=[fragment],
        response_metadata=V1,
        chunk_position="last",
    )
    assert [block["type"] for block in chunk.content] == ["tool_call_chunk", "server_tool_call"]
    assert chunk.invalid_tool_calls[0]["args"] == '{"a'


def test_langchains_modules_show_the_names_it_shows():
    from dragoman.messages import ai, base, content, dicts, merge, tool, utils

    assert ai.ToolCall is content.ToolCall
    assert ai.default_tool_parser is tool.default_tool_parser
    assert ai.merge_content is merge.merge_content
    assert base.message_to_dict is dicts.message_to_dict
    assert utils.AIMessage is AIMessage
    assert utils.ToolCall is content.ToolCall
    for module in (ai, base, utils):
        assert not hasattr(module, "nothing_of_that_name")


class AnyText(str):
    """Equal to every text, as tests of others use it."""

    __slots__ = ()
    __hash__ = str.__hash__

    def __eq__(self, other):
        return isinstance(other, str)


def test_equality_asks_the_values_themselves():
    given, assigned = HumanMessage("x", id=AnyText()), HumanMessage("x")
    assigned.id = AnyText()
    for message in (given, assigned):
        assert message == HumanMessage("x", id="q")
        assert HumanMessage("x", id="q") == message
        assert message != HumanMessage("x")
        assert message != HumanMessage("y", id="q")
    assert HumanMessage("x") not in [None, 5, "x", AIMessage("x")]


def _deep(levels):
    value = {}
    for _ in range(levels):
        value = {"a": [value]}
    return value


@pytest.mark.parametrize("levels", [300, 5_000, 20_000])
def test_deep_values_are_dumped_or_refused_with_a_reason(levels):
    message = HumanMessage([{"type": "x", "value": _deep(levels)}], additional_kwargs=_deep(levels))
    data = message_to_dict(message)["data"]
    assert data["additional_kwargs"] is not message.additional_kwargs
    inner, depth = data["additional_kwargs"], 0
    while inner:
        inner, depth = inner["a"][0], depth + 1
    assert depth == levels
    assert message.model_dump()["content"][0]["type"] == "x"
    assert len(message.content_blocks) == 1
    if levels > 300:
        for write in (lambda: messages_to_json([message]), message.model_dump_json):
            with pytest.raises(EncodeError, match="nest"):
                write()


def test_a_message_that_holds_itself_is_refused():
    kwargs = {}
    kwargs["self"] = kwargs
    message = HumanMessage("x", additional_kwargs=kwargs)
    with pytest.raises(EncodeError):
        messages_to_json([message])
    dumped = message.model_dump()["additional_kwargs"]
    assert dumped is not kwargs


class Own(BaseMessage):
    """A user's message of no known kind."""

    type: str = "own"
    score: int = 0


def test_the_base_class_takes_any_type_and_needs_one():
    message = BaseMessage(content="x", type="foo")
    assert message.type == message.role == "foo"
    assert repr(message).endswith("type='foo')")
    with pytest.raises(MessageError, match="type"):
        BaseMessage("x")
    assert messages_from_json(messages_to_json([message]))[0].type == "foo"


def test_users_messages_of_no_known_kind_are_written_and_read():
    message = Own("x", score=3)
    data = messages_to_json([message])
    assert messages_from_json(data, classes=[Own]) == [message]
    plain = messages_from_json(data)[0]
    assert (plain.type, plain.content, plain.score) == ("own", "x", 3)
