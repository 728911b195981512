"""Calls of a reply and their results in a history: which are open, and in what order answers stand."""

from collections import Counter
from collections.abc import Container, Sequence
from itertools import count, pairwise, takewhile
from typing import Any, cast
from uuid import uuid4

from dragoman.messages import (
    REMOVE_ALL_MESSAGES,
    AIMessage,
    BaseMessage,
    InvalidToolCall,
    RemoveMessage,
    ToolCall,
    ToolMessage,
)

__all__ = [
    "closed",
    "failed",
    "in_call_order",
    "is_idempotent",
    "last_reply",
    "malformed",
    "open_calls",
    "open_invalid_calls",
    "turn_of",
    "with_own_call_ids",
]


def last_reply(messages: Sequence[BaseMessage]) -> AIMessage | None:
    """Return the newest reply of the model, or None."""
    return next((m for m in reversed(messages) if isinstance(m, AIMessage)), None)


def turn_of(messages: Sequence[BaseMessage], reply: AIMessage | None = None) -> list[BaseMessage]:
    """Return a reply, the newest by default, and what stands behind it up to the next one.

    Ids of calls may be used again in later turns. A reply is found by its id.
    """
    found: list[BaseMessage] = []
    for message in reversed(messages):
        found.append(message)
        if isinstance(message, AIMessage):
            if reply is None or message.id == reply.id:
                return found[::-1]
            found.clear()
    return []


def open_calls(messages: Sequence[BaseMessage]) -> list[ToolCall]:
    """Return the calls of the newest reply that have no result yet, in their order."""
    turn = turn_of(messages)
    calls = cast("AIMessage", turn[0]).tool_calls if turn else []
    if not calls:
        return []
    answered = Counter(m.tool_call_id for m in turn if isinstance(m, ToolMessage))
    found: list[ToolCall] = []
    for call in calls:
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


def closed(
    messages: Sequence[BaseMessage], text: str, known: Container[str | None] = ()
) -> list[BaseMessage]:
    """Return a history with an error result for every open call, behind the results of its turn.

    Replies with a known id are left alone: their results stand elsewhere.
    """
    starts = [at for at, message in enumerate(messages) if isinstance(message, AIMessage)]
    found = list(messages[: starts[0]] if starts else messages)
    for start, end in pairwise([*starts, len(messages)]):
        reply, *behind = messages[start:end]
        missing: list[BaseMessage] = []
        if reply.id not in known:
            missing += [failed(call, text) for call in open_calls([reply, *behind])]
            missing += [malformed(call) for call in open_invalid_calls([reply, *behind])]
        results = list(takewhile(lambda m: isinstance(m, ToolMessage), behind))
        found += [reply, *results, *missing, *behind[len(results) :]]
    return found


def in_call_order(
    messages: Sequence[BaseMessage], new: Sequence[BaseMessage]
) -> Sequence[BaseMessage]:
    """Return new messages so that, once added, the results of the newest reply follow it in call order.

    Messages that stand already but belong behind new ones are removed and added again, as copies
    under new ids (an id that is removed and added in one update would keep its old place).
    """
    turn = turn_of(messages)
    ids = [m.id for m in new if isinstance(m, RemoveMessage)]
    if not turn or REMOVE_ALL_MESSAGES in ids:
        return new
    reply = cast("AIMessage", turn[0])
    calls = [*reply.tool_calls, *reply.invalid_tool_calls]
    ranks = {call["id"] or "": rank for rank, call in enumerate(calls)}

    def rank(message: BaseMessage) -> int:
        is_result = isinstance(message, ToolMessage)
        return ranks.get(message.tool_call_id, len(ranks)) if is_result else len(ranks) + 1

    standing = [message for message in turn[1:] if message.id not in ids]
    unsorted = [*standing, *new]
    ordered = sorted(unsorted, key=rank)
    if all(a is b for a, b in zip(ordered, unsorted, strict=True)):
        return new
    displaced = (at for at, message in enumerate(standing) if message is not ordered[at])
    n_kept = next(displaced, len(standing))
    late = standing[n_kept:]
    moved = {id(message) for message in late}
    return [
        *(RemoveMessage(str(message.id)) for message in late),
        *(m.model_copy(update={"id": None}) if id(m) in moved else m for m in ordered[n_kept:]),
    ]


def with_own_call_ids(reply: AIMessage) -> AIMessage:
    """Return a reply in which every call has an id, and no other call has it.

    Some servers send one id, or none, for all calls; results and decisions could not be told apart.
    """
    ids = [call["id"] for call in (*reply.tool_calls, *reply.invalid_tool_calls) if call["id"]]
    if len(set(ids)) == len(reply.tool_calls) + len(reply.invalid_tool_calls):
        return reply
    taken: set[str | None] = set()
    update: dict[str, Any] = {}
    for field in ("tool_calls", "invalid_tool_calls"):
        named: list[Any] = []
        for call in getattr(reply, field):
            id_val = call["id"]
            if not id_val and field == "tool_calls":
                id_val = f"call_{uuid4().hex}"
            if id_val and id_val in taken:
                numbered = (f"{id_val}-{n}" for n in count(2))
                id_val = next(name for name in numbered if name not in taken and name not in ids)
            taken.add(id_val)
            named.append({**call, "id": id_val})
        update[field] = named
    return reply.model_copy(update=update)


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
