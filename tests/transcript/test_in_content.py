"""Calls and results that stand in content only are paired like any others."""

import pytest

from dragoman.codecs import SUPPORTED, ChatRequest, get_codec
from dragoman.codecs.turns import split_results
from dragoman.messages import (
    AIMessage,
    AIMessageChunk,
    ChatMessage,
    HumanMessage,
    ToolMessage,
)
from dragoman.transcript import (
    filter_messages,
    repair_messages,
    trim_messages,
    validate_messages,
)
from dragoman.transcript.in_content import calls_of
from dragoman.transcript.units import result_ids, says

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


TURN = [AIMessage([USE]), HumanMessage([RESULT])]
HISTORY = [Q, *TURN, AIMessage("done"), HumanMessage("bye")]


@pytest.mark.parametrize(
    ("strategy", "max_tokens", "kept"),
    [
        ("last", 2, [3, 4]),
        ("last", 3, [3, 4]),
        ("last", 4, [1, 2, 3, 4]),
        ("first", 2, [0]),
        ("first", 3, [0, 1, 2]),
    ],
)
def test_trimming_parts_no_call_from_a_result_in_content(strategy, max_tokens, kept):
    trimmed = trim_messages(HISTORY, max_tokens=max_tokens, token_counter=len, strategy=strategy)
    assert list(map(id, trimmed)) == [id(HISTORY[position]) for position in kept]


def test_a_message_that_only_brings_results_is_not_the_last_human_one():
    history = [Q, *TURN]
    assert trim_messages(history, max_tokens=1, token_counter=len) == [Q]
    assert trim_messages(history, max_tokens=3, token_counter=len) == history


def test_what_a_human_said_beside_a_result_is_kept_without_it():
    history = [Q, AIMessage([USE]), HumanMessage([RESULT, MORE])]
    trimmed = trim_messages(history, max_tokens=1, token_counter=len)
    assert trimmed == [HumanMessage([MORE])]
    assert history[2].content == [RESULT, MORE]


def test_a_start_on_a_human_is_not_on_a_result():
    trimmed = trim_messages(HISTORY, max_tokens=4, token_counter=len, start_on="human")
    assert trimmed == HISTORY[4:]


def test_an_end_before_the_results_drops_their_turn():
    history = [Q, AIMessage("a"), *TURN]
    assert trim_messages(history, max_tokens=9, token_counter=len, end_on="ai") == history[:2]


@pytest.mark.parametrize(
    ("options", "kept"),
    [
        ({"exclude_tool_calls": True}, [Q, HISTORY[3], HISTORY[4]]),
        ({"exclude_tool_calls": ["u1"]}, [Q, HISTORY[3], HISTORY[4]]),
        ({"exclude_tool_calls": ["u2"]}, HISTORY),
        ({"include_types": ["human"]}, [Q, HISTORY[4]]),
        ({"include_types": ["ai"]}, [HISTORY[3]]),
    ],
)
def test_filtering_parts_no_call_from_a_result_in_content(options, kept):
    assert filter_messages(HISTORY, **options) == kept


def test_filtering_keeps_what_a_human_said_beside_a_result():
    history = [Q, AIMessage([USE]), HumanMessage([RESULT, MORE])]
    assert filter_messages(history, exclude_tool_calls=True) == [Q, HumanMessage([MORE])]
    assert filter_messages(history, exclude_tool_calls=["u1"]) == [Q, HumanMessage([MORE])]


@pytest.mark.parametrize(
    "block",
    [
        RESULT,
        {"toolResult": {"toolUseId": "u1", "content": []}},
        {"toolResult": {"toolUseId": 5}},
        {"toolResult": {"toolUseId": "u1"}, "x": 1},
        {"type": "tool_result"},
        {"type": "tool_result", "tool_use_id": 5},
        MORE,
        "text",
    ],
)
def test_encoders_and_verbs_agree_on_what_a_result_is(block):
    message = HumanMessage([block])
    is_result = [part.type for part in split_results(message)] == ["tool"]
    assert bool(result_ids(message)) is is_result
    assert says(message) is not is_result
