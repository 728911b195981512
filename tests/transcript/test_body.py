"""What only the body of one wire shows: ids, marks, empty blocks, order of roles."""

import pytest

from dragoman.errors import DragomanError
from dragoman.transcript import check_body, repair_body

USER = {"role": "user", "content": "hi"}


def call_of(id_val):
    return {"id": id_val, "type": "function", "function": {"name": "f", "arguments": "{}"}}


def asked(id_val):
    return [
        USER,
        {"role": "assistant", "content": "", "tool_calls": [call_of(id_val)]},
        {"role": "tool", "tool_call_id": id_val, "name": "f", "content": "r"},
    ]


TEXT = {"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}}
USE = [
    USER,
    {"role": "assistant", "content": [{"type": "tool_use", "id": "a.b", "name": "f", "input": {}}]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a.b", "content": "r"}]},
]


def used(n):
    """Two calls of one id in one turn, or one in each of two turns, answered; Anthropic's form."""
    uses = [{"type": "tool_use", "id": "u", "name": "f", "input": {"n": i}} for i in range(n)]
    results = [{"type": "tool_result", "tool_use_id": "u", "content": str(i)} for i in range(n)]
    return [{"role": "assistant", "content": uses}, {"role": "user", "content": results}]


CALLED_TWICE = [
    USER,
    {"role": "assistant", "content": "", "tool_calls": [call_of("u"), call_of("u")]},
    *[{"role": "tool", "tool_call_id": "u", "content": text} for text in ("0", "1")],
]
USED_TWICE = [
    {"role": "user", "content": [{"text": "hi"}]},
    {
        "role": "assistant",
        "content": [{"toolUse": {"toolUseId": "u", "name": "f", "input": {}}}] * 2,
    },
    {
        "role": "user",
        "content": [{"toolResult": {"toolUseId": "u", "content": [{"text": "0"}]}}] * 2,
    },
]

CASES = [
    ("anthropic", [{"role": "user", "content": [TEXT] * 5}], "too_many_cache_marks", 0),
    ("anthropic", [{"role": "user", "content": " "}], "empty_content", 0),
    ("anthropic", [{"role": "user", "content": [{"type": "text", "text": ""}]}], "empty_content", 0),
    ("anthropic", USE, "bad_call_id", 1),
    ("anthropic", [{"role": "system", "content": "s"}, USER], "misplaced_system", 0),
    ("mistral", asked("call_1"), "bad_call_id", 1),
    ("mistral", [USER, {"role": "assistant", "content": "a"}], "last_role", 1),
    ("bedrock_converse", [{"role": "user", "content": [{"text": " "}]}], "empty_content", 0),
    (
        "bedrock_converse",
        [{"role": "user", "content": [{"text": "a"}]}] * 2,
        "role_order",
        1,
    ),
    ("openai_chat", asked("c" * 65), "bad_call_id", 1),
    ("anthropic", [USER, *used(2)], "duplicate_call_id", 1),
    ("anthropic", [USER, *used(1), *used(1)], "duplicate_call_id", 3),
    ("bedrock_converse", USED_TWICE, "duplicate_call_id", 1),
    ("openai_chat", CALLED_TWICE, "duplicate_call_id", 1),
]  # fmt: skip


@pytest.mark.parametrize(("api", "messages", "code", "index"), CASES)
def test_a_fault_of_the_body_is_found_at_its_place_and_repaired(api, messages, code, index):
    body = {"model": "m", "max_tokens": 9, "messages": messages}
    before = repr(body)
    found = check_body(body, api)
    assert (index, code) in [(issue.index, issue.code) for issue in found]
    assert all(issue.message and issue.fix for issue in found)
    repaired = repair_body(body, api)
    assert code not in [issue.code for issue in check_body(repaired.body, api)]
    assert repr(body) == before


def test_calls_of_one_id_get_ids_of_their_own_and_keep_their_results():
    body = {"model": "m", "max_tokens": 9, "messages": [USER, *used(2)]}
    repaired = repair_body(body, "anthropic")
    (_, asking, answering) = repaired.body["messages"]
    ids = [block["id"] for block in asking["content"]]
    assert ids[0] == "u"
    assert len(set(ids)) == 2
    assert [(b["tool_use_id"], b["content"]) for b in answering["content"]] == [
        (ids[0], "0"),
        (ids[1], "1"),
    ]
    assert [(change.code, change.lossy) for change in repaired.changes] == [
        ("duplicate_call_id", False)
    ]


def test_an_id_that_comes_again_in_a_later_turn_is_no_fault_for_openai():
    body = {"model": "m", "messages": [*asked("u"), *asked("u")]}
    assert check_body(body, "openai_chat") == []


@pytest.mark.parametrize("body", [None, [], "x", 5])
def test_what_is_no_body_is_refused(body):
    with pytest.raises(DragomanError, match=r"expected a request body as a dict|\$"):
        check_body(body, "anthropic")
