import json

import pytest

from dragoman.cli.documents import Document
from dragoman.cli.report import Finding, as_github, as_json, as_text, line_of, place_of, says
from dragoman.transcript.repair import Issue
from dragoman.transcript.rules import RULES


def finding(
    item, code="orphan_result", message="a tool result answers no call", lossy=True, **more
) -> Finding:
    issue = Issue(3, code, message, "drop it", lossy)
    fields = {"file": "a.json", "line": 7, "path": "$.messages[3]", "says": "no call found"}
    return Finding(issue=issue, item=item, **(fields | more))


def test_people_see_where_what_a_caret_the_providers_words_and_the_fix():
    item = {"role": "tool", "content": "r", "tool_call_id": "x"}
    assert as_text(finding(item)).splitlines() == [
        "a.json:7: $.messages[3]: orphan_result: a tool result answers no call",
        '    {"role": "tool", "content": "r", "tool_call_id": "x"}',
        "                                     ^^^^^^^^^^^^^^^^^^^",
        "  provider: no call found",
        "  fix: drop it (loses it)",
    ]


@pytest.mark.parametrize(
    ("item", "code", "message", "pointed"),
    [
        (
            {"tool_calls": [{"id": "a"}, {"id": "b"}]},
            "unanswered_call",
            "a tool call has no result (call 'b')",
            '"b"',
        ),
        ({"content": [{"type": "text", "text": "  "}]}, "empty_content", "x", '"text": "  "'),
        (
            {"pad": "p" * 39, "q": "q" * 39, "r": "r" * 39, "tool_use_id": "t"},
            "orphan_result",
            "x",
            '"tool_use_id": "t"',
        ),
        ({"role": "user"}, "some_new_rule", "x", '{"role": "user"}'),
    ],
)
def test_the_caret_stands_under_what_is_meant(item, code, message, pointed):
    _, shown, carets, *_ = as_text(finding(item, code, message)).splitlines()
    start = carets.index("^")
    assert shown[start : carets.rindex("^") + 1] == pointed


def test_no_payload_and_no_escape_is_shown():
    item = {"role": "tool", "content": "A" * 100_000 + "\x1b[31m", "tool_call_id": "\x1b[2Jx"}
    text = as_text(finding(item))
    assert len(text) < 600
    assert "\x1b" not in text


def test_json_holds_every_field():
    assert json.loads(as_json(finding({}))) == {
        "file": "a.json",
        "line": 7,
        "path": "$.messages[3]",
        "index": 3,
        "code": "orphan_result",
        "message": "a tool result answers no call",
        "provider": "no call found",
        "fix": "drop it",
        "lossy": True,
        "source": RULES["orphan_result"].source,
    }


def test_github_commands_are_escaped():
    one = finding({}, message="50%\nof, it", file="a:b,c.json")
    assert as_github(one) == (
        "::error file=a%3Ab%2Cc.json,line=7,title=orphan_result::"
        "$.messages[3]: 50%25%0Aof, it; drop it (loses it)"
    )


@pytest.mark.parametrize("code", RULES)
@pytest.mark.parametrize("api", [None, "openai_chat", "anthropic", "gemini", "bedrock_converse"])
def test_the_providers_words_are_words(code, api):
    text = says(RULES[code], api)
    for mark in ("\\", ".*", "(?", "|"):
        assert text is None or mark not in text


@pytest.mark.parametrize(
    ("code", "api", "part"),
    [
        ("unanswered_call", "anthropic", "`tool_use` ids were found without `tool_result` blocks"),
        ("unanswered_call", "openai_responses", "No tool output found for function call"),
        ("late_result", "anthropic", "`tool_use` ids were found without `tool_result` blocks"),
        ("orphan_result", "openai_chat", "messages with role 'tool' must be a response"),
    ],
)
def test_the_words_are_those_of_the_provider_asked(code, api, part):
    assert part in str(says(RULES[code], api))


TEXT = """{
  "a": [1, {"messages": [9]}, "],"],
  "messages": [
    {"role": "user",
     "content": "[}\\""},

    {"role": "user"}, {"role": "tool"}
  ]
}"""


@pytest.mark.parametrize(("index", "line"), [(0, 4), (1, 7), (2, 7), (9, 7)])
def test_the_line_of_a_message_is_found_in_its_text(index, line):
    document = Document(name="x", value=json.loads(TEXT), text=TEXT, is_indented=True)
    assert line_of(document, "$.messages", index) == line
    assert place_of(document, f"$.messages[{index}].content[0]") == f"x:{line}"


def test_the_line_of_a_message_deeper_in_and_of_none():
    text = '{"id": 1,\n"body": {"x": {},\n"messages": [\n1,\n2]}}'
    document = Document(name="x", value=json.loads(text), text=text, is_indented=True)
    assert line_of(document, "$.body.messages", 1) == 5
    assert line_of(document, "$.missing.messages", 1) == 1
    bare = Document(name="x", value=[1, 2], text="[\n1,\n2\n]", is_indented=True)
    assert line_of(bare, "$", 1) == 3
    assert line_of(Document(name="x", item_lines=[2, 4]), "$", 1) == 4
    assert line_of(Document(name="x", line=9), "$.messages", 1) == 9
    assert place_of(Document(name="x", line=9), "$.temperature") == "x:9"
