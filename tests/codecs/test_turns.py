"""Histories as turns: roles, results inside user content, calls once, messages of read requests."""

import copy

import pytest

from dragoman.codecs.turns import blocks_of, history_message, turns, with_results_split
from dragoman.errors import EncodeError
from dragoman.messages import (
    AIMessage,
    AIMessageChunk,
    ChatMessage,
    FunctionMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
)


def tc(name="f", id="1", **args):
    return {"type": "tool_call", "name": name, "args": args, "id": id}


def shape(messages):
    return [(t.role, t.message.text, t.path) for t in turns(messages)]


def test_every_message_has_a_role_and_its_place():
    messages = [SystemMessage("s"), HumanMessage("h"), AIMessage("a"), ChatMessage("c", role="AI")]
    assert shape(messages) == [
        ("system", "s", "$[0]"), ("user", "h", "$[1]"), ("assistant", "a", "$[2]"),
        ("assistant", "c", "$[3]"),
    ]  # fmt: skip


def test_results_stand_in_call_order_over_neighbouring_assistant_messages():
    messages = [
        AIMessage("", tool_calls=[tc(id="1"), tc(id="2")]),
        AIMessage("", tool_calls=[tc(id="3")]),
        ToolMessage("r3", tool_call_id="3"),
        ToolMessage("r2", tool_call_id="2"),
        ToolMessage("r1", tool_call_id="1"),
    ]
    before = copy.deepcopy(messages)
    assert [t[1:] for t in shape(messages)[2:]] == [("r1", "$[4]"), ("r2", "$[3]"), ("r3", "$[2]")]
    assert messages == before


@pytest.mark.parametrize(
    "block",
    [
        {"type": "tool_result", "tool_use_id": "1", "content": "r", "is_error": True},
        {"toolResult": {"toolUseId": "1", "content": [{"text": "r"}], "status": "error"}},
    ],
)
def test_results_that_users_wrote_into_content_are_turns_of_their_own(block):
    human = HumanMessage([{"type": "text", "text": "more"}, block])
    _, result, rest = turns([AIMessage("", tool_calls=[tc()]), human])
    assert (result.role, result.message.status) == ("tool", "error")
    assert [b["text"] for b in blocks_of(result.message)] == ["r"]
    assert (rest.role, rest.message.text, rest.path) == ("user", "more", "$[1]")
    assert len(human.content) == 2
    only = turns([AIMessage("", tool_calls=[tc()]), HumanMessage([block])])
    assert [t.role for t in only] == ["assistant", "tool"]


def test_the_oldest_form_of_calls_is_a_call_with_its_result():
    messages = [
        AIMessage("", additional_kwargs={"function_call": {"name": "f", "arguments": '{"a":1}'}}),
        FunctionMessage("r", name="f"),
    ]
    call, result = turns(messages)
    assert call.message.tool_calls == [
        {"type": "tool_call", "name": "f", "args": {"a": 1}, "id": None}
    ]
    assert (result.role, result.message.name, result.message.tool_call_id) == ("tool", "f", "")


def test_function_messages_answer_the_nearest_unanswered_call_of_their_name():
    messages = [
        AIMessage("", tool_calls=[tc("f", "1"), tc("g", "2"), tc("f", "3")]),
        FunctionMessage("r", name="f"),
        FunctionMessage("s", name="f"),
    ]
    assert [t.message.tool_call_id for t in turns(messages)[1:]] == ["1", "3"]


@pytest.mark.parametrize("message", [ChatMessage("x", role="critic"), RemoveMessage(id="1")])
def test_what_is_no_turn_raises_with_its_place(message):
    with pytest.raises(EncodeError, match=r"\$\[1\]"):
        turns([HumanMessage("q"), message])


def test_chunks_become_messages():
    chunk = AIMessageChunk(
        "", tool_call_chunks=[{"name": "f", "args": '{"a"', "id": "1", "index": 0}]
    )
    (turn,) = turns([chunk])
    assert type(turn.message) is AIMessage
    assert turn.message.tool_calls == []
    assert turn.message.invalid_tool_calls[0]["args"] == '{"a"'


def test_every_call_stands_once_with_the_arguments_of_tool_calls():
    shown = {
        "type": "tool_call",
        "id": "1",
        "name": "old",
        "args": {},
        "extras": {"signature": "s"},
    }
    message = AIMessage(
        [{"type": "text", "text": "a"}, shown, {"type": "text", "text": "b"}],
        tool_calls=[tc("f", "1", x=1), tc("g", "2")],
        invalid_tool_calls=[{"name": "h", "args": "{", "id": "3", "error": "no"}],
    )
    found = [(b["type"], b.get("name"), b.get("args")) for b in blocks_of(message)]
    assert found == [
        ("text", None, None), ("tool_call", "f", {"x": 1}), ("text", None, None),
        ("tool_call", "g", {}), ("invalid_tool_call", "h", "{"),
    ]  # fmt: skip


def test_a_refusal_that_only_the_metadata_tells_is_not_said_again():
    meta = {"stop_reason": "refusal", "stop_details": {"explanation": "because"}}
    told = AIMessage("I", response_metadata={**meta, "model_provider": "anthropic"})
    assert [b["type"] for b in blocks_of(told)] == ["text"]
    said = AIMessage("", additional_kwargs={"refusal": "no"})
    assert [b["type"] for b in blocks_of(said)] == ["refusal"]


def test_messages_of_read_requests_are_strings_where_nothing_is_lost():
    text = {"type": "text", "text": "a"}
    assert history_message([text], provider="p") == AIMessage("a")
    assert history_message([text, tc(x=1)], provider="p") == AIMessage("a", tool_calls=[tc(x=1)])
    assert history_message([text, text], provider="p") == AIMessage([text, text])
    signed = {"type": "reasoning", "reasoning": "", "extras": {"signature": "s"}}
    bound = history_message([signed, text], provider="p")
    assert bound.content == [signed, text]
    assert bound.response_metadata == {"model_provider": "p"}


def test_arguments_that_are_no_object_are_an_invalid_call():
    (call,) = history_message([{**tc(), "args": [1, 2]}]).invalid_tool_calls
    assert (call["args"], call["id"], call["name"]) == ("[1,2]", "1", "f")


def test_results_inside_a_user_message_become_messages_before_its_text():
    text = {"type": "text", "text": "more"}
    result = {"type": "tool_result", "tool_use_id": "a", "content": "r", "is_error": True}
    message = HumanMessage([text, result])
    out = with_results_split(
        [AIMessage("", tool_calls=[{"name": "f", "args": {}, "id": "a"}]), message]
    )
    assert [type(m).__name__ for m in out] == ["AIMessage", "ToolMessage", "HumanMessage"]
    assert (out[1].content, out[1].tool_call_id, out[1].status) == ("r", "a", "error")
    assert out[2].content == [text]
    assert message.content == [text, result]
    plain = [HumanMessage("q")]
    assert with_results_split(plain) is plain
