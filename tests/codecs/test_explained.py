"""A block with a value of a wrong type: an error of ours that says where, on every wire."""

import json
import re

import pytest

from dragoman.codecs import SUPPORTED, ChatRequest, get_codec
from dragoman.errors import DragomanError, EncodeError
from dragoman.messages import (
    AIMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
    convert_to_openai_messages,
    count_tokens_approximately,
)

CALL = {"name": "f", "args": {}, "id": "c1"}
WRONG = [
    {"type": "text", "text": 5},
    {"type": "text", "text": ["x"]},
    {"type": [], "text": "x"},
    {"type": "text", "text": "x", "annotations": [{"type": []}]},
    {"type": "text", "text": "x", "id": []},
    {"type": "reasoning", "reasoning": 5},
    {"type": "tool_call", "id": ["x"], "name": "f", "args": {}},
    {"type": "tool_call", "id": "c1"},
    {"type": "tool_call", "id": "c1", "name": ["x"], "args": {}},
    {"type": "invalid_tool_call", "id": [], "name": "f", "args": "{", "error": "e"},
    {"type": "function_call", "call_id": ["x"], "name": "f", "arguments": "{}"},
    {"type": "web_search_call", "id": "w", "action": {"query": "q"}, "status": []},
    {"type": "image", "base64": "iVBORw0KGgo", "mime_type": 5},
    {"type": "image", "source_type": "base64"},
    {"type": "file", "source_type": "id"},
    {"type": "media", "mime_type": "image/png", "data": None},
    {"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "text", "text": 5}]},
    {"type": "non_standard", "value": {"type": []}},
    {"type": "non_standard", "value": {"type": "text", "text": None}},
    {"text": None},
]


def outcome(call, *args):
    """Return what a call gives, or the error of ours that it raises."""
    try:
        return call(*args)
    except DragomanError as error:
        return error


def is_told(error):
    """Return whether an error says in which block the wrong value stands."""
    return re.match(r"(\$|messages)\[\d\]\.content\[0\]", str(error.path)) is not None


def histories(block):
    text = {"type": "text", "text": "z"}
    yield [SystemMessage([block]), HumanMessage("x")]
    yield [HumanMessage([block])]
    yield [HumanMessage("x"), AIMessage([block, text]), HumanMessage("y")]
    call, result = AIMessage([block], tool_calls=[CALL]), ToolMessage([block], tool_call_id="c1")
    yield [HumanMessage("x"), call, result]


@pytest.mark.parametrize("block", WRONG, ids=repr)
@pytest.mark.parametrize("api", SUPPORTED)
def test_a_wrong_value_gives_a_body_or_an_error_of_ours(api, block):
    for messages in histories(block):
        request = ChatRequest(model="m", messages=messages)
        found = outcome(get_codec(api).encode_request, request)
        assert is_told(found) if isinstance(found, DragomanError) else json.dumps(found)


@pytest.mark.parametrize("block", WRONG, ids=repr)
def test_views_of_a_wrong_value_do_not_fail(block):
    for messages in histories(block):
        assert count_tokens_approximately(messages) > 0
        assert all(isinstance(m.content_blocks, list) for m in messages)
        found = outcome(convert_to_openai_messages, messages)
        assert is_told(found) if isinstance(found, DragomanError) else found


def test_the_error_names_the_field_and_what_it_should_hold():
    messages = [HumanMessage("x"), AIMessage([{"type": "text", "text": 5}])]

    with pytest.raises(EncodeError, match=r"expected a string, got int") as raised:
        get_codec("ollama").encode_request(ChatRequest(model="m", messages=messages))

    assert raised.value.path == "$[1].content[0].text"


def test_nested_content_is_looked_at():
    with pytest.raises(EncodeError) as raised:
        get_codec("ollama").encode_request(
            ChatRequest(model="m", messages=[HumanMessage([WRONG[16]])])
        )

    assert raised.value.path == "$[0].content[0].content[0].text"


def test_a_fault_of_the_encoder_itself_stays_what_it_is(monkeypatch):
    from dragoman.codecs.ollama import encode

    def broken(*_, **__):
        raise KeyError("ours")

    monkeypatch.setattr(encode, "_Encoder", broken)
    with pytest.raises(KeyError, match="ours"):
        encode.encode_request(ChatRequest(model="m", messages=[HumanMessage([{}])]), "ollama", None)


@pytest.mark.parametrize(
    ("block", "text"),
    [
        ({"type": "video", "url": "https://e.org/v.mp4"}, "Block of type video is not supported."),
        ({"type": "file", "url": "https://e.org/f.pdf"}, "does not support file URLs"),
        ({"type": "image", "file_id": "f"}, "Unsupported source type"),
        ({"type": "text", "text": None}, "expected a string, got NoneType"),
    ],
)
def test_conversion_to_openai_says_which_block(block, text):
    with pytest.raises(ValueError, match=text) as raised:
        convert_to_openai_messages([HumanMessage("x"), HumanMessage(["a", block])])

    assert "messages[1].content[1]" in str(raised.value)
