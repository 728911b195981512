"""A history as text, with prefixes or as XML: all that is said, no payload, nothing unescaped."""

import pytest

from dragoman.errors import MessageError
from dragoman.messages import (
    AIMessage,
    ChatMessage,
    HumanMessage,
    RemoveMessage,
    ToolMessage,
    get_buffer_string,
)

CALL = {"name": "f", "args": {"q": "<&>"}, "id": 'a"b', "type": "tool_call"}
LEGACY = {"function_call": {"name": "f", "arguments": '{"a": 1}'}}


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (HumanMessage("hi"), "Human: hi"),
        (AIMessage("a", tool_calls=[CALL]), f"AI: a{[CALL]}"),
        (AIMessage("a", additional_kwargs=LEGACY), f"AI: a{LEGACY['function_call']}"),
        (ToolMessage("r", tool_call_id="c"), "Tool: r"),
        (ChatMessage("x", role="critic"), "critic: x"),
    ],
)
def test_prefixes(message, expected):
    assert get_buffer_string([message]) == expected


BLOCKS = [
    ({"type": "text", "text": "a<b"}, "a&lt;b"),
    ({"type": "reasoning", "reasoning": "hm & hm"}, "<reasoning>hm &amp; hm</reasoning>"),
    ({"type": "image", "url": "https://e.org/a?b&c"}, '<image url="https://e.org/a?b&amp;c" />'),
    ({"type": "image", "file_id": "f1"}, '<image file_id="f1" />'),
    ({"type": "image", "base64": "aGk=", "mime_type": "image/png"}, ""),
    ({"type": "image", "url": "data:image/png;base64,aGk="}, ""),
    ({"type": "image_url", "image_url": {"url": "https://e.org/a"}}, '<image url="https://e.org/a" />'),
    ({"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}}, ""),
    ({"type": "text-plain", "text": "x" * 600}, "x" * 500 + "..."),
    (
        {"type": "server_tool_call", "id": "1", "name": "web", "args": {"q": 1}},
        '<server_tool_call id="1" name="web">{"q": 1}</server_tool_call>',
    ),
    (
        {"type": "server_tool_result", "tool_call_id": "1", "status": "success", "output": [1]},
        '<server_tool_result tool_call_id="1" status="success">[1]</server_tool_result>',
    ),
    ({"type": "of tomorrow"}, ""),
]  # fmt: skip


@pytest.mark.parametrize(("block", "expected"), BLOCKS)
def test_blocks_in_xml(block, expected):
    text = get_buffer_string([HumanMessage([block])], format="xml")
    assert text == f'<message type="human">{expected}</message>'


def test_calls_in_xml():
    text = get_buffer_string([AIMessage("a", tool_calls=[CALL])], format="xml")
    assert text.split("\n") == [
        '<message type="ai">',
        "  <content>a</content>",
        """  <tool_call id='a"b' name="f">{"q": "&lt;&amp;&gt;"}</tool_call>""",
        "</message>",
    ]
    legacy = get_buffer_string([AIMessage("", additional_kwargs=LEGACY)], format="xml")
    assert '  <function_call name="f">{"a": 1}</function_call>' in legacy


def test_what_nobody_said_is_refused():
    with pytest.raises(MessageError, match="unsupported message type: RemoveMessage"):
        get_buffer_string([RemoveMessage("1")])
