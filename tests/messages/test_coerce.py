"""Whatever people write as a message becomes that message, or an error with its place."""

import pytest

from dragoman.errors import MessageError
from dragoman.messages import (
    AIMessage,
    FunctionMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
    convert_to_messages,
)

CALL = {"name": "f", "args": {"a": 1}, "id": "c", "type": "tool_call"}
RAW = {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("hi", HumanMessage("hi")),
        (("system", "s"), SystemMessage("s")),
        (["ai", "a"], AIMessage("a")),
        ({"role": "user", "content": "u", "name": "ada"}, HumanMessage("u", name="ada")),
        ({"type": "human", "content": "u"}, HumanMessage("u")),
        ({"role": "assistant", "content": None, "tool_calls": [RAW]}, AIMessage("", tool_calls=[CALL])),
        ({"role": "assistant", "content": "a", "tool_calls": [CALL]}, AIMessage("a", tool_calls=[CALL])),
        (
            {"role": "assistant", "content": "a", "tool_calls": [{"name": "f", "args": {}}]},
            AIMessage("a", tool_calls=[{"name": "f", "args": {}, "id": None}]),
        ),
        (
            {"role": "tool", "content": "r", "tool_call_id": "c", "artifact": 5, "status": "error"},
            ToolMessage("r", tool_call_id="c", artifact=5, status="error"),
        ),
        ({"role": "function", "content": "r", "name": "f"}, FunctionMessage("r", name="f")),
        ({"role": "remove", "id": "1"}, RemoveMessage("1")),
        (
            {"role": "developer", "content": "s"},
            SystemMessage("s", additional_kwargs={"__openai_role__": "developer"}),
        ),
        (
            {"role": "user", "content": "u", "cache": True, "additional_kwargs": {"x": 1}},
            HumanMessage("u", additional_kwargs={"cache": True, "x": 1}),
        ),
        (
            {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", "AIMessage"],
             "kwargs": {"content": "a", "tool_calls": [CALL], "type": "ai"}},
            AIMessage("a", tool_calls=[CALL]),
        ),
    ],
)  # fmt: skip
def test_a_message_in_any_form(given, expected):
    before = repr(given)
    assert convert_to_messages([given]) == [expected]
    assert repr(given) == before


@pytest.mark.parametrize("arguments", ['{"a": 1', "[1]", '"x"'])
def test_a_call_with_broken_arguments_is_kept_as_invalid(arguments):
    raw = {"id": "c", "type": "function", "function": {"name": "f", "arguments": arguments}}
    for item in (
        {"role": "assistant", "content": "", "tool_calls": [raw]},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"name": "f", "args": arguments, "id": "c"}],
        },
    ):
        (message,) = convert_to_messages([item])
        assert message.tool_calls == []
        (bad,) = message.invalid_tool_calls
        assert (bad["name"], bad["args"], bad["id"]) == ("f", arguments, "c")


@pytest.mark.parametrize(
    ("given", "path", "text"),
    [
        (5, "$[1]", "Unsupported message type"),
        (("a", "b", "c"), "$[1]", "got length 3"),
        ((5, "b"), "$[1]", "role string"),
        (("user", None), "$[1][1]", "content has to be a string or a list of blocks"),
        ({"content": "x"}, "$[1]", "must contain 'role' and 'content'"),
        ({"role": "user"}, "$[1]", "must contain 'role' and 'content'"),
        ({"role": 5, "content": "x"}, "$[1]", "the role has to be text"),
        ({"role": "nobody", "content": "x"}, "$[1]", "Unexpected message type: 'nobody'"),
        ({"role": "assistant", "content": "x", "tool_calls": 5}, "$[1].tool_calls", "expected a list"),
        (
            {"role": "assistant", "content": "x", "tool_calls": [5]},
            "$[1].tool_calls[0]", "a call has to be a dict",
        ),
        (
            {"role": "user", "content": "x", "additional_kwargs": 5, "y": 1},
            "$[1].additional_kwargs", "expected a dict",
        ),
    ],
)  # fmt: skip
def test_what_is_no_message_is_an_error_with_its_place(given, path, text):
    with pytest.raises(MessageError) as caught:
        convert_to_messages(["first", given])
    assert text in str(caught.value)
    assert caught.value.path == path


@pytest.mark.parametrize("given", [5, None, {"role": "user", "content": "x"}])
def test_what_is_no_list_is_an_error(given):
    with pytest.raises(MessageError, match="wrap a single message in a list"):
        convert_to_messages(given)
