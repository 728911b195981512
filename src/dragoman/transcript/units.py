"""Units: an assistant turn with calls, and all its results, belong together.

Every verb asks here which results belong to which calls; none splits a unit.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import UNSET

from dragoman.messages.ai import AIMessage
from dragoman.messages.base import BaseMessage
from dragoman.messages.human import HumanMessage
from dragoman.messages.tool import ToolMessage

__all__ = ["call_ids", "open_calls", "without_orphans"]


def call_ids(message: Any) -> list[str]:
    """Return the ids of a message's calls, invalid ones included, in order."""
    if message.__class__ is AIMessage:
        calls, invalid = message._raw_tool_calls, message._raw_invalid_tool_calls
        if invalid is UNSET or not invalid:
            return [] if calls is UNSET else [call["id"] for call in calls if call["id"]]
    if not isinstance(message, AIMessage):
        return []
    both: Iterable[Any] = [*message.tool_calls, *message.invalid_tool_calls]
    return [call["id"] for call in both if call["id"]]


def open_calls(messages: Iterable[BaseMessage]) -> dict[str, int]:
    """Return the ids of calls that no later result answers, with the position of their turn."""
    waiting: dict[str, int] = {}
    message: Any
    for position, message in enumerate(messages):
        cls: Any = message.__class__  # as below
        if cls is HumanMessage:
            continue
        if cls is AIMessage and message._raw_invalid_tool_calls is UNSET:
            if message._raw_tool_calls is not UNSET:
                for call in message._raw_tool_calls:
                    if call["id"]:
                        waiting[call["id"]] = position
        elif isinstance(message, ToolMessage):
            waiting.pop(message.tool_call_id, None)
        else:
            for id_val in call_ids(message):
                waiting[id_val] = position
    return waiting


def without_orphans(messages: Sequence[BaseMessage]) -> list[BaseMessage]:
    """Return messages without results whose call is not in front of them."""
    known: set[str | None] = set()
    kept: list[BaseMessage] = []
    message: Any
    for message in messages:
        cls: Any = message.__class__  # the four common classes are told apart without isinstance
        if cls is ToolMessage or (cls is not HumanMessage and isinstance(message, ToolMessage)):
            if message.tool_call_id not in known:
                continue
        elif cls is AIMessage and message._raw_invalid_tool_calls is UNSET:
            if message._raw_tool_calls is not UNSET:
                for call in message._raw_tool_calls:
                    known.add(call["id"] or None)
        elif cls is not HumanMessage:
            known.update(call_ids(message))
        kept.append(message)
    return kept
