"""Choosing messages by name, type, id or call."""

from collections.abc import Iterable, Sequence
from typing import Any

from dragoman.messages.ai import AIMessage
from dragoman.messages.base import BaseMessage
from dragoman.messages.coerce import convert_to_messages
from dragoman.transcript.units import call_ids, result_ids, says, without_results
from dragoman.transcript.verb import verb

__all__ = ["filter_messages"]


def _is_type(message: BaseMessage, wanted: Any) -> bool:
    items: Any = [wanted] if isinstance(wanted, str | type) else wanted
    words = {item for item in items if isinstance(item, str)}
    classes = tuple(item for item in items if isinstance(item, type))
    return message.type in words or isinstance(message, classes)


def _listed(words: Sequence[str] | None) -> Sequence[str] | None:
    """Return one word as a list of it: its letters and its pieces are not what is meant."""
    return [words] if isinstance(words, str) and words else words


@verb
def filter_messages(
    messages: Iterable[Any],
    *,
    include_names: Sequence[str] | None = None,
    exclude_names: Sequence[str] | None = None,
    include_types: Sequence[Any] | None = None,
    exclude_types: Sequence[Any] | None = None,
    include_ids: Sequence[str] | None = None,
    exclude_ids: Sequence[str] | None = None,
    exclude_tool_calls: Sequence[str] | bool | None = None,
) -> list[BaseMessage]:
    """Return the messages that are included (all, if nothing is said) and not excluded.

    Messages are the same objects, except for replies that lose a call: these are copies. A result
    whose call is filtered out goes with it, and so does a call whose result is filtered out: no
    unit is split. The input is not changed.

    Args:
        messages: Anything `convert_to_messages` takes. Left out: a runnable comes back.
        include_names: Names to keep. Here and below a single word is as good as a list of it.
        exclude_names: Names to drop.
        include_types: Type words or classes to keep.
        exclude_types: Type words or classes to drop.
        include_ids: Ids to keep.
        exclude_ids: Ids to drop.
        exclude_tool_calls: True to drop replies with calls and all results; or the ids of calls to
            drop, with their results.

    >>> from dragoman.messages import AIMessage, HumanMessage
    >>> filter_messages([HumanMessage("a"), AIMessage("b")], include_types=["human"])[0].content
    'a'
    """
    given = convert_to_messages(messages)
    include_names, exclude_names = _listed(include_names), _listed(exclude_names)
    include_ids, exclude_ids = _listed(include_ids), _listed(exclude_ids)
    if not isinstance(exclude_tool_calls, bool):
        exclude_tool_calls = _listed(exclude_tool_calls)
    includes = bool(include_names or include_types or include_ids)
    kept: list[BaseMessage] = []
    gone_results: set[str] = set()
    gone_calls: set[str] = set()
    for message in given:
        dropped = bool(
            (exclude_names and message.name in exclude_names)
            or (exclude_types and _is_type(message, exclude_types))
            or (exclude_ids and message.id in exclude_ids)
            or (exclude_tool_calls is True and _has_calls(message))
        )
        if not dropped and includes:
            dropped = not (
                (include_names and message.name in include_names)
                or (include_types and _is_type(message, include_types))
                or (include_ids and message.id in include_ids)
            )
        if not dropped:
            kept.append(message)
        else:
            gone_results.update(result_ids(message))
            gone_calls.update(call_ids(message))
    if exclude_tool_calls and not isinstance(exclude_tool_calls, bool):
        gone_results |= set(exclude_tool_calls)
        gone_calls |= set(exclude_tool_calls)
    if not gone_results and not gone_calls:
        return kept
    return _whole_units(kept, gone_results, gone_calls)


def _has_calls(message: BaseMessage) -> bool:
    if isinstance(message, AIMessage):
        return bool(message.tool_calls or message.invalid_tool_calls or call_ids(message))
    return bool(result_ids(message)) and not says(message)


def _whole_units(
    messages: list[BaseMessage], gone_results: set[str], gone_calls: set[str]
) -> list[BaseMessage]:
    """Return messages without calls whose result is gone, and results whose call is gone.

    What a user says beside a result in the same message stays.
    """
    gone = gone_calls | gone_results
    whole: list[BaseMessage] = []
    for message in messages:
        if answered := result_ids(message):
            if gone.isdisjoint(answered):
                whole.append(message)
            elif says(message) or not gone.issuperset(answered):
                whole.append(without_results(message, gone))
        elif gone_results.isdisjoint(call_ids(message)):
            whole.append(message)
        elif isinstance(message, AIMessage):
            left = without_calls(message, gone_results)
            if left is not None:
                whole.append(left)
    return whole


# Blocks that show a call, in every spelling, and the key that holds its id.
_CALL_BLOCKS = {
    "tool_call": "id",
    "tool_call_chunk": "id",
    "invalid_tool_call": "id",
    "tool_use": "id",
    "function_call": "call_id",
}


def without_calls(message: AIMessage, ids: set[str]) -> AIMessage | None:
    """Return a copy of a reply without some of its calls, or None if no call is left."""
    calls = [call for call in message.tool_calls if call["id"] not in ids]
    invalid = [call for call in message.invalid_tool_calls if call["id"] not in ids]
    if not calls and not invalid and ids.issuperset(call_ids(message)):
        return None
    update: dict[str, Any] = {"tool_calls": calls, "invalid_tool_calls": invalid}
    content = message.content
    if isinstance(content, list):
        update["content"] = [
            block
            for block in content
            if not isinstance(block, dict)
            or block.get(_CALL_BLOCKS.get(str(block.get("type")), ""), "") not in ids
        ]
    raw = message.additional_kwargs.get("tool_calls")
    if isinstance(raw, list):
        left = [c for c in raw if not isinstance(c, dict) or c.get("id") not in ids]
        update["additional_kwargs"] = {**message.additional_kwargs, "tool_calls": left}
    if hasattr(message, "tool_call_chunks"):
        chunks: list[Any] = message.tool_call_chunks  # pyright: ignore[reportAttributeAccessIssue]
        kept = [chunk for chunk in chunks if chunk.get("id") not in ids]
        update = {"tool_call_chunks": kept, **update}
    return message.model_copy(update=update)
