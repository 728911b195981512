"""The names that LangChain users import from `messages.utils`; each lives where its noun lives."""

from typing import TYPE_CHECKING, Any

from dragoman.messages.buffer import get_buffer_string
from dragoman.messages.coerce import MessageLikeRepresentation, convert_to_messages
from dragoman.messages.convert import message_chunk_to_message
from dragoman.messages.dicts import _message_from_dict, messages_from_dict
from dragoman.messages.registry import AnyMessage

if TYPE_CHECKING:
    from dragoman.codecs.openai_chat import convert_to_openai_messages
    from dragoman.transcript import (
        count_tokens_approximately,
        filter_messages,
        merge_message_runs,
        trim_messages,
    )

__all__ = [
    "AnyMessage",
    "MessageLikeRepresentation",
    "_message_from_dict",
    "convert_to_messages",
    "convert_to_openai_messages",
    "count_tokens_approximately",
    "filter_messages",
    "get_buffer_string",
    "merge_message_runs",
    "message_chunk_to_message",
    "messages_from_dict",
    "trim_messages",
]

_ELSEWHERE = {
    "convert_to_openai_messages": "dragoman.codecs.openai_chat",
    "count_tokens_approximately": "dragoman.transcript",
    "filter_messages": "dragoman.transcript",
    "merge_message_runs": "dragoman.transcript",
    "trim_messages": "dragoman.transcript",
}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name in _ELSEWHERE:
        return getattr(import_module(_ELSEWHERE[name]), name)
    from dragoman.messages import registry, tool

    # LangChain's module shows every message class too.
    for where in (registry, tool):
        if name[:1].isupper() and hasattr(where, name):
            return getattr(where, name)
    message = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(message)
