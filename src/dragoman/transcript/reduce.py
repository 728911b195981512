"""A list of messages as state: adding, replacing and removing by id."""

from collections.abc import Callable
from functools import partial
from operator import attrgetter
from typing import Annotated, Any, Literal
from uuid import uuid4

from typing_extensions import TypedDict

from dragoman.errors import MessageError, short
from dragoman.messages.base import BaseMessage
from dragoman.messages.coerce import convert_to_messages
from dragoman.messages.convert import message_chunk_to_message
from dragoman.messages.modifier import REMOVE_ALL_MESSAGES, RemoveMessage
from dragoman.messages.registry import PLAIN_CLASSES, AnyMessage

__all__ = ["REMOVE_ALL_MESSAGES", "MessagesState", "add_messages"]

_id = attrgetter("id")
_KNOWN = PLAIN_CLASSES


def _taken(given: Any) -> tuple[list[BaseMessage], list[Any]]:
    """Return one side as messages that all have ids, and those ids; callers' objects stay as they are."""
    items: Any = given if given.__class__ is list else [given]
    if not _KNOWN.issuperset(map(type, items)):
        if isinstance(given, str | dict | BaseMessage) or (
            isinstance(given, tuple) and len(given) == 2 and isinstance(given[0], str)
        ):
            items = convert_to_messages([given])
        else:
            items = convert_to_messages(given if not isinstance(given, list) else items)
        items = [message_chunk_to_message(message) for message in items]
    ids: list[Any] = list(map(_id, items))
    if not all(ids):
        items = list(items)
        for position, id_val in enumerate(ids):
            if not id_val:
                ids[position] = str(uuid4())
                items[position] = items[position].model_copy(update={"id": ids[position]})
    return items, ids


def add_messages(
    left: Any = None,
    right: Any = None,
    *,
    format: Literal["langchain-openai"] | None = None,
) -> Any:
    """Return `left` with `right` added, as a new list; neither is changed.

    A message with a known id takes the place of the one that has it; a new id is appended; a message
    without id is a copy with a new uuid4. `RemoveMessage(id)` removes; after
    `RemoveMessage(REMOVE_ALL_MESSAGES)` only what follows it is left. Adding an id again after its
    removal, in the same `right`, keeps it. Older copies of one id in `left` go when it is replaced.

    Args:
        left: Messages so far, or one.
        right: What to add, or one.
        format: `langchain-openai` to give the result content in OpenAI's form.

    Returns:
        The messages; without `left` and `right` a function that takes them.

    Raises:
        MessageError: If only one side is given, or an id to remove is not there.

    >>> from dragoman.messages import HumanMessage
    >>> [m.content for m in add_messages([HumanMessage("a", id="1")], HumanMessage("b", id="1"))]
    ['b']
    """
    if format not in (None, "langchain-openai"):
        message = f"Unrecognized format={short(format)}. Expected one of 'langchain-openai', None."
        raise MessageError(message)
    if left is None and right is None:
        reducer: Callable[..., Any] = partial(add_messages, format=format)
        return reducer
    if left is None or right is None:
        message = f"Must specify non-null arguments for both 'left' and 'right', got {'right' if left is None else 'left'} only"
        raise MessageError(message)
    messages, ids = _taken(left)
    added, added_ids = _taken(right)
    if REMOVE_ALL_MESSAGES in added_ids:
        last = max(i for i, value in enumerate(added_ids) if value == REMOVE_ALL_MESSAGES)
        return _shaped(_added([], [], added[last + 1 :], added_ids[last + 1 :]), format)
    if len(added) == 1 and not isinstance(added[0], RemoveMessage):
        return _shaped(_added_one(messages, ids, added[0], added_ids[0]), format)
    return _shaped(_added(messages, ids, added, added_ids), format)


def _added_one(
    messages: list[BaseMessage], ids: list[Any], message: BaseMessage, id_val: str
) -> list[BaseMessage]:
    """Add one message: two scans at C speed, no index."""
    result = list(messages)
    try:
        at = ids.index(id_val)
    except ValueError:
        result.append(message)
        return result
    result[at] = message
    if id_val in ids[at + 1 :]:
        result = [m for i, m in enumerate(result) if i <= at or ids[i] != id_val]
    return result


def _added(
    messages: list[BaseMessage], ids: list[Any], added: list[BaseMessage], added_ids: list[Any]
) -> list[BaseMessage]:
    places: dict[str, int] = {}
    stale: set[int] = set()
    for position, id_val in enumerate(ids):
        if id_val in places:
            stale.add(position)
        else:
            places[id_val] = position
    result: list[BaseMessage | None] = list(messages)
    touched: set[str] = set()
    removed: set[str] = set()
    for message, id_val in zip(added, added_ids, strict=True):
        at = places.get(id_val)
        if isinstance(message, RemoveMessage):
            if at is None:
                text = f"Attempting to delete a message with an ID that doesn't exist ('{id_val}')"
                raise MessageError(text)
            removed.add(id_val)
            touched.add(id_val)
        elif at is None:
            places[id_val] = len(result)
            result.append(message)
        else:
            result[at] = message
            removed.discard(id_val)
            touched.add(id_val)
    for id_val in removed:
        result[places[id_val]] = None
    for position in stale:
        if ids[position] in touched:
            result[position] = None
    return [message for message in result if message is not None]


def _shaped(messages: list[BaseMessage], format: str | None) -> list[BaseMessage]:
    if format is None:
        return messages
    from dragoman.codecs.openai_chat import convert_to_openai_messages

    shaped = convert_to_openai_messages(messages, include_id=True)
    return convert_to_messages(shaped)


class MessagesState(TypedDict):
    """State with a list of messages, reduced by `add_messages`."""

    messages: Annotated[list[AnyMessage], add_messages]
