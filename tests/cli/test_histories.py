import copy

import pytest

from dragoman.cli.histories import Body, Messages, is_history, open_history
from dragoman.errors import DragomanError
from dragoman.load import dumpd
from dragoman.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage, messages_to_dict

CALL = {"name": "f", "args": {"x": 1}, "id": "c1", "type": "tool_call"}
BROKEN = [
    SystemMessage("s"),
    HumanMessage("q"),
    AIMessage("", tool_calls=[CALL]),
    HumanMessage("next"),
]
OPENAI_CALL = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"x": 1}'}}
OPENAI = [
    {"role": "system", "content": "s"},
    {"role": "user", "content": "q"},
    {"role": "assistant", "content": None, "tool_calls": [OPENAI_CALL]},
    {"role": "user", "content": "next"},
]
ANTHROPIC = [
    {"role": "user", "content": "q"},
    {
        "role": "assistant",
        "content": [{"type": "tool_use", "id": "c1", "name": "f", "input": {"x": 1}}],
    },
    {"role": "user", "content": "next"},
]
NATIVE = [
    {"type": "system", "content": "s"},
    {"type": "human", "content": "q", "mine": 1},
    {"type": "ai", "content": "", "tool_calls": [CALL]},
    {"type": "human", "content": "next"},
]
GEMINI = [
    {"role": "user", "parts": [{"text": "q"}]},
    {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {"x": 1}}}]},
    {"role": "user", "parts": [{"text": "next"}]},
]
RESPONSES = [
    {"role": "user", "content": "q"},
    {"type": "function_call", "call_id": "c1", "name": "f", "arguments": '{"x": 1}'},
    {"role": "user", "content": "next"},
]
FORMS = {
    "native": (NATIVE, "$[2]"),
    "native in a state": ({"messages": NATIVE, "step": 3}, "$.messages[2]"),
    "LangChain's dicts": (messages_to_dict(BROKEN), "$[2]"),
    "LangChain's objects": ([dumpd(m) for m in BROKEN], "$[2]"),
    "openai body": ({"model": "gpt-5", "messages": OPENAI}, "$.messages[2]"),
    "openai list": (OPENAI, "$[2]"),
    "anthropic body": (
        {"model": "c", "max_tokens": 9, "system": "s", "messages": ANTHROPIC},
        "$.messages[1]",
    ),
    "anthropic list": (ANTHROPIC, "$[1]"),
    "gemini body": ({"contents": GEMINI}, "$.contents[1]"),
    "gemini list": (GEMINI, "$[1]"),
    "responses body": ({"model": "gpt-5", "input": RESPONSES}, "$.input[1]"),
    "responses list": (RESPONSES, "$[1]"),
    "openai batch": (
        {"custom_id": "1", "url": "/v1", "body": {"model": "m", "messages": OPENAI}},
        "$.body.messages[2]",
    ),
    "anthropic batch": (
        {"custom_id": "1", "params": {"max_tokens": 9, "messages": ANTHROPIC}},
        "$.params.messages[1]",
    ),
    "loose": (
        [["system", "s"], "q", {"role": "assistant", "content": "", "tool_calls": [CALL]}, "next"],
        "$[2]",
    ),
}


@pytest.mark.parametrize("name", FORMS)
def test_every_form_is_checked_and_repaired_in_its_own_form(name):
    value, place = FORMS[name]
    before = copy.deepcopy(value)
    history = open_history(value)
    (issue,) = history.check(None)
    assert issue.code == "unanswered_call"
    assert f"{history.path}[{issue.index}]" == place
    repaired, changes = history.repair(None)
    assert [(c.path, c.code, c.lossy) for c in changes] == [(place, "unanswered_call", False)]
    assert value == before
    again = open_history(repaired)
    assert type(again) is type(history)
    assert again.check(None) == []
    assert again.repair(None) == (repaired, [])


@pytest.mark.parametrize("name", FORMS)
def test_a_sound_history_comes_back_as_it_was(name):
    value, _ = FORMS[name]
    repaired, _ = open_history(value).repair(None)
    assert open_history(repaired).repair(None) == (repaired, [])


def test_what_is_not_changed_keeps_what_we_do_not_know():
    repaired, _ = open_history({"messages": NATIVE, "step": 3}).repair("anthropic")
    assert repaired["step"] == 3
    assert repaired["messages"][:3] == NATIVE[:3]
    assert repaired["messages"][4] == NATIVE[3]


def test_a_body_may_be_checked_for_another_provider():
    image = {"type": "image_url", "image_url": {"url": "https://e.org/x.png"}}
    body = {
        "model": "gpt-5",
        "messages": [{"role": "system", "content": "s"}, {"role": "user", "content": [image]}],
    }
    history = open_history(body)
    assert history.check(None) == []
    assert [(i.index, i.code) for i in history.check("deepseek")] == [(1, "unsupported_media")]
    repaired, changes = history.repair("ollama")
    assert (repaired, changes) == (body, [])


def test_a_verb_is_done_to_the_messages():
    for name in ("native", "openai body", "anthropic list"):
        history = open_history(FORMS[name][0])
        kept = open_history(history.edit(lambda messages: messages[-1:]))
        assert [m.content for m in kept.messages] == ["next"]


def test_a_bare_list_that_needs_more_than_a_list_becomes_a_body():
    history = open_history([{"role": "user", "content": "q"}], "anthropic")
    assert isinstance(history, Body)
    edited = history.edit(lambda messages: [SystemMessage("s"), *messages])
    assert edited["system"] == "s" or edited["system"][0]["text"] == "s"


@pytest.mark.parametrize(
    "value",
    [
        {"a": 1},
        {},
        [1],
        [None],
        [{"role": "user"}, 3],
        {"messages": 3},
        [{"type": "nope"}],
        [{"x": 1}],
    ],
)
def test_what_is_no_history_is_our_error(value):
    with pytest.raises(DragomanError):
        open_history(value).check(None)


def test_an_empty_list_is_an_empty_history():
    history = open_history([])
    assert isinstance(history, Messages)
    assert history.check("anthropic") == []


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ([], True),
        ({"messages": []}, True),
        ({"input": "hi"}, True),
        ({"body": {}}, True),
        ({"choices": []}, False),
        ({"content": [], "role": "assistant"}, False),
    ],
)
def test_a_reply_is_no_history(value, expected):
    assert is_history(value) is expected


def test_a_result_without_its_call_is_lossy_in_every_form():
    orphan = [HumanMessage("q"), ToolMessage("r", tool_call_id="x")]
    for value in (messages_to_dict(orphan), [dumpd(m) for m in orphan]):
        repaired, changes = open_history(value).repair(None)
        assert [c.lossy for c in changes] == [True]
        assert repaired == value[:1]
