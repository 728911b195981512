"""What a thread holds at one moment, folded from the entries of its log."""

from collections.abc import Iterable
from typing import Any

import msgspec

from dragoman.messages import REMOVE_ALL_MESSAGES, BaseMessage, RemoveMessage

__all__ = ["Entry", "Snapshot", "fold_entries"]


class Entry(msgspec.Struct, frozen=True):
    """One append to a thread.

    Attributes:
        head: The name of the thread's state after this append.
        parent: The head it was appended to, or None for the first.
        depth: How many entries lead here, this one included.
        key: The key that makes a retried append happen once, or None.
        created: Seconds since the epoch.
        messages: What was appended; a RemoveMessage is an entry too.
        state: What else the writer keeps; of equal keys the later counts.
    """

    head: str
    parent: str | None
    depth: int
    key: str | None
    created: float
    messages: list[BaseMessage]
    state: dict[str, Any]


class Snapshot(msgspec.Struct, frozen=True):
    """A thread's messages, and the name of this state.

    Attributes:
        messages: The history: removals carried out, replaced messages in the place of the old ones.
        head: The state's name; pass it as `expect` to append only if nobody else did. None if
            the thread is empty.
        depth: How many appends led here.
        state: What else the writer keeps.
    """

    messages: list[BaseMessage]
    head: str | None
    depth: int
    state: dict[str, Any]


def fold_entries(entries: Iterable[Entry]) -> tuple[list[BaseMessage], dict[str, Any]]:
    """Return the messages and the state that entries, oldest first, lead to; one pass.

    Each entry counts as one `add_messages`: an id that it removes and adds again keeps its place.
    """
    messages: list[BaseMessage | None] = []
    places: dict[str, int] = {}
    state: dict[str, Any] = {}
    for entry in entries:
        state.update(entry.state)
        removed: dict[str, None] = {}
        for message in entry.messages:
            id_val = message.id
            if isinstance(message, RemoveMessage):
                if id_val == REMOVE_ALL_MESSAGES:
                    messages, places, removed = [], {}, {}
                elif id_val in places:
                    removed[id_val] = None
            elif id_val is not None and id_val in places:
                messages[places[id_val]] = message
                removed.pop(id_val, None)
            else:
                if id_val is not None:
                    places[id_val] = len(messages)
                messages.append(message)
        for id_val in removed:
            messages[places.pop(id_val)] = None
    return [message for message in messages if message is not None], state
