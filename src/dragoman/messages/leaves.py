"""Shared append-only buffers behind the fields of streamed chunks.

A chunk made by `+` holds a *run*: a tuple of a buffer and how many of its leaves the chunk may see.
Adding to the newest chunk appends one leaf; adding to an older one copies the part it sees. So `a + b`
costs as much as `b`, and never changes what `a` shows. Reading folds the leaves once and remembers the
result for the next reader; appending never throws leaves away, so how a sum was bracketed does not
matter.

A buffer has no JSON form on purpose: whoever encodes a chunk has to read its fields first.
"""

from collections.abc import Callable
from typing import Any, TypeAlias

__all__ = ["Leaves", "Run", "append", "fold", "seen"]


class Leaves:
    """The buffer: its leaves, and the fold of the first `folded_to` of them."""

    __slots__ = ("folded", "folded_to", "items")

    def __init__(self, items: list[Any]) -> None:
        self.items: list[Any] = items
        self.folded: Any = None
        self.folded_to: int = 0


Run: TypeAlias = tuple[Leaves, int]


def append(run: Any, leaves: list[Any]) -> Run:
    """Return a run that sees `leaves` behind what `run` (a run, or one leaf) sees."""
    if run.__class__ is not tuple:
        return Leaves([run, *leaves]), 1 + len(leaves)
    buffer, length = run
    if len(buffer.items) != length:  # somebody else went on from here
        buffer = Leaves(buffer.items[:length])
    buffer.items.extend(leaves)
    return buffer, length + len(leaves)


def seen(run: Any) -> list[Any]:
    """Return the leaves that `run` (a run, or one leaf) sees."""
    if run.__class__ is tuple:
        return run[0].items[: run[1]]
    return [run]


def fold(run: Run, together: Callable[[list[Any]], Any]) -> Any:
    """Return the fold of what `run` sees, going on from what was folded before."""
    buffer, length = run
    done = buffer.folded_to
    if done == length:
        return buffer.folded
    if 0 < done < length:
        value = together([buffer.folded, *buffer.items[done:length]])
    else:
        value = together(buffer.items[:length])
    if length > done:
        buffer.folded, buffer.folded_to = value, length
    return value
