"""The guards ask for the class; a chunk is a message of its class too."""

import pytest

from dragoman.messages import (
    AIMessage,
    AIMessageChunk,
    ChatMessage,
    ChatMessageChunk,
    FunctionMessage,
    FunctionMessageChunk,
    HumanMessage,
    HumanMessageChunk,
    RemoveMessage,
    SystemMessage,
    SystemMessageChunk,
    ToolMessage,
    ToolMessageChunk,
    guards,
)
from dragoman.messages.notification import (
    add_notification_metadata,
    get_notification_metadata,
)

MESSAGES = {
    "ai": (AIMessage("a"), AIMessageChunk("a")),
    "chat": (ChatMessage("a", role="r"), ChatMessageChunk("a", role="r")),
    "function": (FunctionMessage("a", name="f"), FunctionMessageChunk("a", name="f")),
    "human": (HumanMessage("a"), HumanMessageChunk("a")),
    "system": (SystemMessage("a"), SystemMessageChunk("a")),
    "tool": (ToolMessage("a", tool_call_id="1"), ToolMessageChunk("a", tool_call_id="1")),
}


@pytest.mark.parametrize("kind", MESSAGES)
def test_a_guard_knows_its_own_kind_only(kind):
    for other, (message, chunk) in MESSAGES.items():
        is_kind = getattr(guards, f"is_{kind}_message")
        is_chunk = getattr(guards, f"is_{kind}_message_chunk")
        assert (is_kind(message), is_kind(chunk)) == (kind == other, kind == other)
        assert (is_chunk(message), is_chunk(chunk)) == (False, kind == other)
        assert (guards.is_message_chunk(message), guards.is_message_chunk(chunk)) == (False, True)
        assert guards.is_message(message)
    assert guards.is_remove_message(RemoveMessage("1"))
    for value in ("a", None, {"role": "user", "content": "a"}):
        assert not guards.is_message(value)
        assert not guards.is_remove_message(value)


def test_a_notification_is_marked_on_a_copy():
    plain = HumanMessage("done", additional_kwargs={"mine": 1, "lc_data": {"old": 1}})
    data = {"job": 7}
    marked = add_notification_metadata(plain, source="queue", data=data)
    data["job"] = 8
    assert get_notification_metadata(plain) is None
    assert get_notification_metadata(marked) == {"source": "queue", "data": {"job": 7}}
    assert marked.additional_kwargs["mine"] == 1
    again = add_notification_metadata(marked, source="clock")
    assert get_notification_metadata(again) == {"source": "clock"}
