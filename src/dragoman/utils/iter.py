"""Iterables in batches."""

from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator
from itertools import islice
from typing import TypeVar

__all__ = ["abatch_iterate", "batch_iterate"]

T = TypeVar("T")


def batch_iterate(size: int | None, iterable: Iterable[T]) -> Iterator[list[T]]:
    """Yield lists of at most `size` items in order; None for one list of all.

    >>> list(batch_iterate(2, "abc"))
    [['a', 'b'], ['c']]
    """
    items = iter(iterable)
    while batch := list(islice(items, size)):
        yield batch


async def abatch_iterate(size: int, iterable: AsyncIterable[T]) -> AsyncIterator[list[T]]:
    """Yield lists of at most `size` items in order."""
    batch: list[T] = []
    async for item in iterable:
        batch.append(item)
        if len(batch) >= size:
            yield batch
            batch = []
    if batch:
        yield batch
