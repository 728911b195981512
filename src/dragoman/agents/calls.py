"""Calls of a reply and their results in a history: which are open, and in what order answers stand."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from dragoman.messages import (
    AIMessage,
    BaseMessage,
    InvalidToolCall,
    RemoveMessage,
    ToolCall,
    ToolMessage,
)

__all__ = [
    "failed",
    "in_call_order",
    "is_idempotent",
    "last_reply",
    "malformed",
    "open_calls",
    "open_invalid_calls",
]


def last_reply(messages: Sequence[BaseMessage]) -> AIMessage | None:
    """Return the newest reply of the model, or None."""
    return next((m for m in reversed(messages) if isinstance(m, AIMessage)), None)


def _after_last_reply(messages: Sequence[BaseMessage]) -> list[ToolMessage]:
    """Return the results behind the newest reply; ids may be used again in later turns."""
    found: list[ToolMessage] = []
    for message in reversed(messages):
        if isinstance(message, AIMessage):
            break
        if isinstance(message, ToolMessage):
            found.append(message)
    return found[::-1]


def open_calls(messages: Sequence[BaseMessage]) -> list[ToolCall]:
    """Return the calls of the newest reply that have no result yet, in their order."""
    last = last_reply(messages)
    if last is None or not last.tool_calls:
        return []
    answered = Counter(m.tool_call_id for m in _after_last_reply(messages))
    found: list[ToolCall] = []
    for call in last.tool_calls:
        if answered[call["id"] or ""] > 0:
            answered[call["id"] or ""] -= 1
        else:
            found.append(call)
    return found


def open_invalid_calls(messages: Sequence[BaseMessage]) -> list[InvalidToolCall]:
    """Return the invalid calls with an id that no later result answers, of all replies."""
    found: list[InvalidToolCall] = []
    later: set[str] = set()
    for message in reversed(messages):
        if isinstance(message, ToolMessage):
            later.add(message.tool_call_id)
        elif isinstance(message, AIMessage):
            found[:0] = [c for c in message.invalid_tool_calls if c["id"] and c["id"] not in later]
    return found


def in_call_order(
    messages: Sequence[BaseMessage], new: Sequence[BaseMessage]
) -> Sequence[BaseMessage]:
    """Return new results so that, once added, all results of the newest reply are in call order.

    Results that stand already but belong behind new ones are removed and added again, as copies
    under new ids (an id that is removed and added in one update would keep its old place).
    """
    last = last_reply(messages)
    standing = _after_last_reply(messages)
    if last is None or not standing or not new:
        return new
    ranks = {call["id"] or "": rank for rank, call in enumerate(last.tool_calls)}

    def rank(message: BaseMessage) -> int:
        is_result = isinstance(message, ToolMessage)
        return ranks.get(message.tool_call_id, len(ranks)) if is_result else len(ranks)

    first = min(map(rank, new))
    late = [m for m in standing if first < rank(m) < len(ranks)]
    if not late:
        return new
    moved = [m.model_copy(update={"id": None}) for m in late]
    return [*(RemoveMessage(str(m.id)) for m in late), *sorted([*new, *moved], key=rank)]


def malformed(call: InvalidToolCall) -> ToolMessage:
    """Return the result of an invalid call."""
    text = (
        f"Tool call {call['name']} with id {call['id']} could not be executed - "
        "arguments were malformed or truncated."
    )
    return failed(call, text)


def failed(call: ToolCall | InvalidToolCall, text: str) -> ToolMessage:
    """Return an error result."""
    return ToolMessage(text, tool_call_id=call["id"] or "", name=call["name"], status="error")


def is_idempotent(tool: Any) -> bool:
    """Return whether a tool is marked `{"idempotent": True}` in its metadata or extras."""
    marks = (getattr(tool, "metadata", None) or {}, getattr(tool, "extras", None) or {})
    return any(mark.get("idempotent") is True for mark in marks)
