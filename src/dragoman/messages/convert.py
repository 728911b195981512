"""From a chunk to the whole message."""

from typing import Any

from dragoman.messages.ai import AIMessageChunk
from dragoman.messages.base import BaseMessage
from dragoman.messages.fields import field_names
from dragoman.messages.fragments import read_calls
from dragoman.messages.registry import CHUNK_PARENT, nearest_class

__all__ = ["message_chunk_to_message"]


def message_chunk_to_message(chunk: BaseMessage) -> BaseMessage:
    """Return the whole message of a chunk, with the same fields; other messages as they are.

    A call whose arguments are incomplete becomes an invalid call that says why. The chunk is not
    changed.

    >>> from dragoman.messages import AIMessageChunk
    >>> message_chunk_to_message(AIMessageChunk("hi")).type
    'ai'
    """
    parent = CHUNK_PARENT.get(nearest_class(type(chunk)))
    if parent is None:
        return chunk
    fields: dict[str, Any] = {}
    for name in field_names(parent):
        value = chunk._value(name)
        if name != "type" and value is not None and not (name in parent._lazy and not value):
            fields[name] = value
    if isinstance(chunk, AIMessageChunk) and chunk._raw_tool_call_chunks:
        valid, invalid = read_calls(chunk._assembled(), True, chunk._is_cut_off())
        fields["tool_calls"], fields["invalid_tool_calls"] = valid, invalid
    message = parent(**fields)
    if vars(chunk):
        vars(message).update(vars(chunk))
    return message
