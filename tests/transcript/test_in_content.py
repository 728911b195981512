"""Calls and results that stand in content only are paired like any others."""

import pytest

from dragoman.codecs import SUPPORTED, ChatRequest, get_codec
from dragoman.messages import (
    AIMessage,
    AIMessageChunk,
    ChatMessage,
    HumanMessage,
    ToolMessage,
)
from dragoman.transcript import repair_messages, validate_messages
from dragoman.transcript.in_content import calls_of

CALL = {"name": "f", "args": {}, "id": "u1"}
USE = {"type": "tool_use", "id": "u1", "name": "f", "input": {}}
RESULT = {"type": "tool_result", "tool_use_id": "u1", "content": "r"}
MORE = {"type": "text", "text": "more"}
Q = HumanMessage("q")


def codes(messages, target="anthropic"):
    return [issue.code for issue in validate_messages(messages, target)]


@pytest.mark.parametrize("target", [None, *SUPPORTED])
@pytest.mark.parametrize("call", [AIMessage([USE], tool_calls=[CALL]), AIMessage([USE])])
@pytest.mark.parametrize(
    "result",
    [HumanMessage([RESULT, MORE]), HumanMessage([RESULT]), ToolMessage("r", tool_call_id="u1")],
)
def test_a_call_that_is_answered_in_either_form_is_left_alone(call, result, target):
    history = [Q, call, result]

    repair = repair_messages(history, target)

    assert repair.changes == []
    assert all(a is b for a, b in zip(repair.messages, history, strict=True))


def test_a_call_in_content_only_is_answered():
    history = [Q, AIMessage([USE]), HumanMessage("go on")]

    assert codes(history) == ["unanswered_call"]
    repaired = repair_messages(history, "anthropic").messages
    assert repaired[2].tool_call_id == "u1"
    assert (repaired[1], repaired[3]) == (history[1], history[2])
    assert codes(repaired) == []


def test_a_late_result_of_a_user_moves_and_what_was_said_with_it_stays():
    late = HumanMessage([MORE, RESULT])
    history = [Q, AIMessage([USE]), HumanMessage("x"), late]

    repair = repair_messages(history, "openai_chat")

    assert [(c.path, c.code, c.lossy) for c in repair.changes] == [("$[3]", "late_result", False)]
    assert [m.type for m in repair.messages] == ["human", "ai", "tool", "human", "human"]
    assert repair.messages[4].content == [MORE]
    assert late.content == [MORE, RESULT]


@pytest.mark.parametrize("cls", [HumanMessage, lambda c: ChatMessage(c, role="user")])
def test_a_result_in_content_that_answers_nothing_goes_and_the_text_stays(cls):
    repair = repair_messages([Q, cls([RESULT, MORE])], "anthropic")

    assert [(c.code, c.lossy) for c in repair.changes] == [("orphan_result", True)]
    assert [m.text for m in repair.messages] == ["q", "more"]


def test_positions_are_those_of_the_history_that_was_given():
    history = [
        Q,
        AIMessage([USE]),
        HumanMessage([RESULT, MORE]),
        ToolMessage("x", tool_call_id="z"),
    ]

    assert [issue.index for issue in validate_messages(history)] == [3]


def test_calls_are_told_once():
    both = AIMessage([USE], tool_calls=[CALL])
    by_item = AIMessage(
        [{"type": "tool_call", "id": "fc_1", "name": "f", "args": {}}], tool_calls=[CALL]
    )

    assert [c["id"] for c in calls_of(both)] == ["u1"]
    assert [c["id"] for c in calls_of(by_item)] == ["u1"]
    assert [c["id"] for c in calls_of(AIMessage([USE]))] == ["u1"]


REPLIES = [
    Q,
    AIMessage("", tool_calls=[{"name": "f", "args": {}, "id": "a"}]),
    AIMessage("", tool_calls=[{"name": "f", "args": {}, "id": "b"}]),
    ToolMessage("ra", tool_call_id="a"),
    ToolMessage("rb", tool_call_id="b"),
]


@pytest.mark.parametrize("target", [None, "openai", "gemini", "mistral", "cohere"])
def test_replies_that_follow_each_other_get_their_results_directly(target):
    repair = repair_messages(REPLIES, target)

    assert [m.type for m in repair.messages] == ["human", "ai", "tool", "ai", "tool"]
    assert [m.text for m in repair.messages] == ["q", "", "ra", "", "rb"]
    assert {(c.code, c.lossy) for c in repair.changes} == {("late_result", False)}
    assert validate_messages(repair.messages, target) == []


@pytest.mark.parametrize("target", ["anthropic", "bedrock_converse", "openai_responses"])
def test_replies_that_are_one_turn_on_the_wire_are_left_alone(target):
    assert repair_messages(REPLIES, target).changes == []


@pytest.mark.parametrize("api", SUPPORTED)
def test_a_chunk_without_an_id_is_answered_by_the_id_it_is_sent_with(api):
    fragment = {"name": "f", "args": "{}", "id": None, "index": 0}
    history = [Q, AIMessageChunk("", tool_call_chunks=[fragment])]

    repaired = repair_messages(history, api).messages
    codec = get_codec(api)
    body = codec.encode_request(ChatRequest(model="m", messages=repaired))

    assert validate_messages(codec.decode_request(body).messages, api) == []


@pytest.mark.parametrize("api", ["gemini", "ollama"])
def test_a_result_is_sent_under_the_name_of_its_call(api):
    call = {"name": "g", "args": {}, "id": "c"}
    history = [Q, AIMessage("", tool_calls=[call]), ToolMessage("r", tool_call_id="zz", name="f")]

    repaired = repair_messages(history, api).messages
    body = get_codec(api).encode_request(ChatRequest(model="m", messages=repaired))

    assert "'name': 'f'" not in str(body)
    assert "'tool_name': 'f'" not in str(body)


@pytest.mark.parametrize("api", SUPPORTED)
def test_a_call_without_a_name_is_sent_with_one_and_keeps_its_result(api):
    broken = {"name": None, "args": "", "id": "c", "error": "e"}
    history = [Q, AIMessage("", invalid_tool_calls=[broken]), ToolMessage("r", tool_call_id="c")]
    codec = get_codec(api)

    body = codec.encode_request(ChatRequest(model="m", messages=history))

    assert "unknown" in str(body)
    assert validate_messages(codec.decode_request(body).messages, api) == []


def test_a_nameless_call_of_a_body_is_no_reason_to_lose_its_result():
    function = {"name": "", "arguments": '{"a"'}
    body = {
        "model": "m",
        "messages": [
            {"role": "user", "content": "q"},
            {
                "role": "assistant",
                "tool_calls": [{"id": "c", "type": "function", "function": function}],
            },
            {"role": "tool", "tool_call_id": "c", "content": "r"},
        ],
    }
    request = get_codec("openai_chat").decode_request(body)

    assert request.messages[1].invalid_tool_calls[0]["args"] == '{"a"'
    assert validate_messages(request.messages, "openai") == []
    sent = get_codec("openai_chat").encode_request(request)["messages"]
    assert sent[1] == {**body["messages"][1], "content": None}
    assert sent[2] == body["messages"][2]


@pytest.mark.parametrize(
    ("calls", "results", "answers"),
    [
        (["f", "f"], [None, None], ["r0", "r1"]),
        (["f", "f"], ["f", "f"], ["r0", "r1"]),
        (["f", "g"], ["g", "f"], ["r1", "r0"]),
    ],
)
def test_results_without_an_id_answer_the_calls_without_one_in_their_order(calls, results, answers):
    history = [Q, AIMessage("", tool_calls=[{"name": n, "args": {}, "id": None} for n in calls])]
    history += [ToolMessage(f"r{i}", tool_call_id="", name=n) for i, n in enumerate(results)]

    repair = repair_messages(history, "anthropic")

    by_id = {m.tool_call_id: m.text for m in repair.messages[2:]}
    assert [by_id[call["id"]] for call in repair.messages[1].tool_calls] == answers
    assert not any(change.lossy for change in repair.changes)
    assert validate_messages(repair.messages, "anthropic") == []


def test_a_result_without_an_id_leaves_the_calls_that_have_one():
    calls = [{"name": "f", "args": {}, "id": "a"}, {"name": "f", "args": {}, "id": None}]
    history = [Q, AIMessage("", tool_calls=calls), ToolMessage("r", tool_call_id="")]

    repaired = repair_messages(history, "anthropic").messages

    assert [(m.tool_call_id, m.status) for m in repaired[2:]] == [
        (repaired[1].tool_calls[1]["id"], "success"),
        ("a", "error"),
    ]
