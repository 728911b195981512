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


@pytest.mark.parametrize("body", [None, [], "x", 5])
def test_what_is_no_body_is_refused(body):
    with pytest.raises(DragomanError, match=r"expected a request body as a dict|\$"):
        check_body(body, "anthropic")
