"""What surrounds a run: the caller's context, the store, the stream."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Generic

from typing_extensions import TypeVar

__all__ = ["InMemoryStore", "Item", "Runtime"]

ContextT = TypeVar("ContextT", default=Any)


def _no_writer(_: Any) -> None:
    """Drop what is written where nobody reads."""


@dataclass(frozen=True)
class Runtime(Generic[ContextT]):
    """What hooks get beside the state.

    Attributes:
        context: What `invoke(context=...)` was given.
        store: The agent's store, or None.
        stream_writer: Writes to the stream of mode `custom`.
        config: The config of the run.
    """

    context: ContextT = None  # pyright: ignore[reportAssignmentType] - None when nothing was given
    store: Any = None
    stream_writer: Callable[[Any], None] = _no_writer
    config: dict[str, Any] = field(default_factory=dict[str, Any])

    def override(self, **changes: Any) -> "Runtime[ContextT]":
        """Return a runtime with some fields replaced."""
        return replace(self, **changes)


@dataclass(frozen=True)
class Item:
    """One value of a store."""

    namespace: tuple[str, ...]
    key: str
    value: dict[str, Any]


class InMemoryStore:
    """Values by namespace and key, in memory; what agents take as `store=`.

    >>> store = InMemoryStore()
    >>> store.put(("users", "1"), "name", {"value": "Ada"})
    >>> store.get(("users", "1"), "name").value
    {'value': 'Ada'}
    """

    def __init__(self) -> None:
        self._items: dict[tuple[str, ...], dict[str, Item]] = {}

    def put(self, namespace: tuple[str, ...], key: str, value: dict[str, Any]) -> None:
        """Keep a value; it takes the place of the one before."""
        place = tuple(namespace)
        self._items.setdefault(place, {})[key] = Item(place, key, value)

    def get(self, namespace: tuple[str, ...], key: str) -> Item | None:
        """Return a value, or None."""
        return self._items.get(tuple(namespace), {}).get(key)

    def delete(self, namespace: tuple[str, ...], key: str) -> None:
        """Forget a value."""
        self._items.get(tuple(namespace), {}).pop(key, None)

    def search(
        self,
        namespace_prefix: tuple[str, ...],
        *,
        filter: dict[str, Any] | None = None,
        limit: int = 10,
    ) -> list[Item]:
        """Return values below a namespace whose fields equal those of `filter`."""
        prefix = tuple(namespace_prefix)
        found = [
            item
            for namespace, items in self._items.items()
            if namespace[: len(prefix)] == prefix
            for item in items.values()
            if all(item.value.get(key) == value for key, value in (filter or {}).items())
        ]
        return found[:limit]

    async def aput(self, namespace: tuple[str, ...], key: str, value: dict[str, Any]) -> None:
        """Async `put`."""
        self.put(namespace, key, value)

    async def aget(self, namespace: tuple[str, ...], key: str) -> Item | None:
        """Async `get`."""
        return self.get(namespace, key)

    async def adelete(self, namespace: tuple[str, ...], key: str) -> None:
        """Async `delete`."""
        self.delete(namespace, key)

    async def asearch(
        self,
        namespace_prefix: tuple[str, ...],
        *,
        filter: dict[str, Any] | None = None,
        limit: int = 10,
    ) -> list[Item]:
        """Async `search`."""
        return self.search(namespace_prefix, filter=filter, limit=limit)
