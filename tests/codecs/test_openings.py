"""Wires that want a turn of the user's in front, or no call before one, get what they want."""

import json

import pytest

from dragoman.codecs import ChatRequest, get_codec
from dragoman.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from dragoman.transcript import check_body, repair_body
from dragoman.transcript.rules import rules_of_error

EMPTY = "(empty message)"
SYSTEM = SystemMessage("Be brief.")
CALL = AIMessage("", tool_calls=[{"name": "f", "args": {}, "id": "1"}])
RESULT = ToolMessage("r", tool_call_id="1")


def sent(api: str, messages: list[BaseMessage]) -> tuple[dict, list[str]]:
    changes = []
    body = get_codec(api).encode_request(ChatRequest(model="m", messages=messages), changes)
    assert not any(change.lossy for change in changes)
    return body, [change.code for change in changes]


def shape(body: dict) -> list[tuple[str, list[str]]]:
    """Return the role of each turn with the keys of its parts."""
    return [
        (turn["role"], [next(iter(part)) for part in turn.get("parts", turn.get("content"))])
        for turn in body.get("contents", body.get("messages"))
    ]


@pytest.mark.parametrize(
    ("api", "turns"),
    [
        ("anthropic", [{"role": "user", "content": EMPTY}]),
        ("bedrock_converse", [{"role": "user", "content": [{"text": EMPTY}]}]),
        ("gemini", [{"role": "user", "parts": [{"text": EMPTY}]}]),
        (
            "mistral",
            [{"role": "system", "content": "Be brief."}, {"role": "user", "content": EMPTY}],
        ),
    ],
)
def test_a_system_prompt_alone_gets_a_turn_of_the_users(api, turns):
    body, codes = sent(api, [SYSTEM])
    assert body.get("contents", body.get("messages")) == turns
    assert "Be brief." in json.dumps(body)
    assert codes == ["no_turn"]


@pytest.mark.parametrize("api", ["openai_chat", "openai_responses", "ollama"])
def test_who_takes_a_system_prompt_alone_gets_no_more(api):
    body, codes = sent(api, [SYSTEM])
    assert EMPTY not in json.dumps(body)
    assert codes == []


def test_bedrock_begins_with_the_user():
    body, codes = sent("bedrock_converse", [AIMessage("Hello!"), HumanMessage("Hi")])
    assert shape(body) == [("user", ["text"]), ("assistant", ["text"]), ("user", ["text"])]
    assert codes == ["role_order"]


def test_a_greeting_in_front_is_taken_as_it_is_where_it_may():
    for api in ("anthropic", "gemini", "openai_chat", "mistral"):
        body, codes = sent(api, [AIMessage("Hello!"), HumanMessage("Hi")])
        assert EMPTY not in json.dumps(body)
        assert codes == []


def test_gemini_gets_no_call_in_front_and_none_behind_another_turn_of_the_model():
    body, _ = sent("gemini", [CALL, RESULT])
    assert shape(body) == [
        ("user", ["text"]),
        ("model", ["functionCall"]),
        ("user", ["functionResponse"]),
    ]
    body, codes = sent("gemini", [HumanMessage("q"), AIMessage("Let me look."), CALL, RESULT])
    assert shape(body)[1:] == [
        ("model", ["text", "functionCall"]),
        ("user", ["functionResponse"]),
    ]
    assert codes == []


def test_gemini_s_calls_of_two_turns_stand_before_the_results_of_both():
    other = AIMessage("", tool_calls=[{"name": "g", "args": {}, "id": "2"}])
    results = [RESULT, ToolMessage("s", tool_call_id="2")]
    body, _ = sent("gemini", [HumanMessage("q"), CALL, other, *results])
    assert shape(body)[1:] == [
        ("model", ["functionCall", "functionCall"]),
        ("user", ["functionResponse", "functionResponse"]),
    ]


@pytest.mark.parametrize(
    ("api", "body", "code"),
    [
        ("anthropic", {"max_tokens": 9, "system": "s", "messages": []}, "no_turn"),
        ("bedrock_converse", {"system": [{"text": "s"}], "messages": []}, "no_turn"),
        ("gemini", {"systemInstruction": {"parts": [{"text": "s"}]}, "contents": []}, "no_turn"),
        ("anthropic", {"max_tokens": 9, "messages": []}, "no_turn"),
        ("bedrock_converse", {"messages": []}, "no_turn"),
        ("gemini", {"contents": []}, "no_turn"),
        (
            "bedrock_converse",
            {"messages": [{"role": r, "content": [{"text": "x"}]} for r in ("assistant", "user")]},
            "role_order",
        ),
        (
            "gemini",
            {
                "contents": [
                    {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}]},
                    {
                        "role": "user",
                        "parts": [{"functionResponse": {"name": "f", "response": {}}}],
                    },
                ]
            },
            "role_order",
        ),
    ],
)
def test_bodies_that_would_be_refused_for_it_are_found_and_mended(api, body, code):
    assert [issue.code for issue in check_body(body, api)] == [code]
    repaired = repair_body(body, api)
    assert check_body(repaired.body, api) == []
    assert [change.code for change in repaired.changes if change.code != "declared_tools"] == [code]
    assert not any(change.lossy for change in repaired.changes)
    assert EMPTY in json.dumps(repaired.body)


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ("messages: at least one message is required", "no_turn"),
        ("* GenerateContentRequest.contents: contents is not specified", "no_turn"),
        (
            "Please ensure that function call turn comes immediately after a user turn",
            "role_order",
        ),
        ("A conversation must start with a user message. Try again", "role_order"),
    ],
)
def test_the_providers_words_name_the_rule(said, code):
    assert code in [rule.code for rule in rules_of_error(said)]
