"""Units: an assistant turn with calls, and all its results, belong together.

Every verb asks here which results belong to which calls; none splits a unit. Calls and results that
only content shows, as in histories written in Anthropic's form, count like any others.
"""

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from msgspec import UNSET

from dragoman.messages.ai import AIMessage
from dragoman.messages.base import BaseMessage
from dragoman.messages.human import HumanMessage
from dragoman.messages.tool import ToolMessage

__all__ = [
    "call_ids",
    "open_calls",
    "result_ids",
    "says",
    "without_orphans",
    "without_results",
]

# Blocks in which a call may stand that the message's fields do not tell.
_CALL_BLOCKS = frozenset({"tool_use", "tool_call", "function_call"})


def call_ids(message: Any) -> list[str]:
    """Return the ids of a message's calls, invalid ones and those in content included, in order."""
    if message.__class__ is AIMessage and message._raw_content.__class__ is str:
        calls, invalid = message._raw_tool_calls, message._raw_invalid_tool_calls
        if invalid is UNSET or not invalid:
            return [] if calls is UNSET else [call["id"] for call in calls if call["id"]]
    if not isinstance(message, AIMessage):
        return []
    both: Iterable[Any] = [*message.tool_calls, *message.invalid_tool_calls]
    if message.content.__class__ is list and _has_call_block(message.content):
        from dragoman.transcript.in_content import calls_of  # loads translations nothing else needs

        both = calls_of(message)
    return [call["id"] for call in both if call["id"]]


def _has_call_block(content: Any) -> bool:
    return any(b.__class__ is dict and b.get("type") in _CALL_BLOCKS for b in content)


def _answered(block: Any) -> str | None:
    """Return the id of the call that a block in Anthropic's or Bedrock's form is the result of."""
    if not isinstance(block, dict):
        return None
    if block.get("type") == "tool_result":
        id_val = block.get("tool_use_id")
    else:
        inner = block.get("toolResult") if len(block) == 1 else None
        id_val = inner.get("toolUseId") if isinstance(inner, dict) else None
    return id_val if isinstance(id_val, str) else None


def result_ids(message: Any) -> Collection[str]:
    """Return the ids of the calls that a message answers; a user's content may hold results too."""
    if isinstance(message, ToolMessage):
        return (message.tool_call_id,)
    if not isinstance(message, HumanMessage) or message.content.__class__ is not list:
        return ()
    return [id_val for block in message.content if (id_val := _answered(block)) is not None]


def says(message: Any) -> bool:
    """Return whether a message is a human's, and not only one that brings results."""
    if not isinstance(message, HumanMessage):
        return False
    content = message.content
    return content.__class__ is str or not content or None in map(_answered, content)


def without_results(message: BaseMessage, ids: Collection[str] | None = None) -> BaseMessage:
    """Return a user's message without the results in it, all or those of some calls."""
    if not result_ids(message):
        return message
    left = [
        block
        for block in message.content
        if (id_val := _answered(block)) is None or (ids is not None and id_val not in ids)
    ]
    return message.model_copy(update={"content": left})


def open_calls(messages: Iterable[BaseMessage]) -> dict[str, int]:
    """Return the ids of calls that no later result answers, with the position of their turn."""
    waiting: dict[str, int] = {}
    message: Any
    for position, message in enumerate(messages):
        cls: Any = message.__class__  # as below
        if cls is ToolMessage:
            waiting.pop(message.tool_call_id, None)
            continue
        is_plain = message._raw_content.__class__ is str
        if cls is HumanMessage and is_plain:
            continue
        if cls is AIMessage and is_plain and message._raw_invalid_tool_calls is UNSET:
            if message._raw_tool_calls is not UNSET:
                for call in message._raw_tool_calls:
                    if call["id"]:
                        waiting[call["id"]] = position
            continue
        for id_val in result_ids(message):
            waiting.pop(id_val, None)
        for id_val in call_ids(message):
            waiting[id_val] = position
    return waiting


def without_orphans(messages: Sequence[BaseMessage]) -> list[BaseMessage]:
    """Return messages without those that bring a result whose call is not in front of them."""
    known: set[str | None] = set()
    kept: list[BaseMessage] = []
    message: Any
    for message in messages:
        cls: Any = message.__class__  # the three common classes are told apart without isinstance
        if cls is ToolMessage:
            if message.tool_call_id not in known:
                continue
        elif cls is HumanMessage and message._raw_content.__class__ is str:
            pass
        elif (
            cls is AIMessage
            and message._raw_invalid_tool_calls is UNSET
            and message._raw_content.__class__ is str
        ):
            if message._raw_tool_calls is not UNSET:
                for call in message._raw_tool_calls:
                    known.add(call["id"] or None)
        else:
            if not known.issuperset(result_ids(message)):
                continue
            known.update(call_ids(message))
        kept.append(message)
    return kept
