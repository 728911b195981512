"""Adding the pieces of a stream up: dicts that add per key, and a linear accumulator."""

from collections.abc import AsyncIterable, Iterable
from typing import Any, Protocol, TypeVar

from typing_extensions import override

__all__ = ["Accumulator", "Addable", "AddableDict", "SupportsAdd", "aadd", "add"]

_L_contra = TypeVar("_L_contra", contravariant=True)
_R_co = TypeVar("_R_co", covariant=True)


class SupportsAdd(Protocol[_L_contra, _R_co]):
    """Something with `+`."""

    def __add__(self, x: _L_contra, /) -> _R_co:
        """Return the sum."""
        ...


Addable = TypeVar("Addable", bound=SupportsAdd[Any, Any])


class AddableDict(dict[str, Any]):
    """A dict whose `+` merges key by key; None gives way, values of a common key are added.

    >>> AddableDict(a="x") + AddableDict(a="y", b=1)
    {'a': 'xy', 'b': 1}

    Raises:
        TypeError: In `+`, if two values of a key do not add.
    """

    def __add__(self, other: Any) -> "AddableDict":
        merged = AddableDict(self)
        for key, value in other.items():
            merged[key] = _plus(key, merged.get(key), value)
        return merged

    def __radd__(self, other: Any) -> "AddableDict":
        return AddableDict(other) + self


def _plus(key: str, ours: Any, theirs: Any) -> Any:
    if ours is None or theirs is None:
        return theirs if ours is None else ours
    try:
        return ours + theirs
    except TypeError as error:
        kinds = f"'{type(ours).__name__}' and '{type(theirs).__name__}'"
        text = f"Cannot add incompatible types for key '{key}': {kinds}."
        raise TypeError(text) from error


class Accumulator:
    """Adds chunks up in linear time: `feed` each, then read `value`.

    What does not add is replaced: the last chunk wins, as a step that cannot stream gives whole
    values one after the other.
    """

    __slots__ = ("_has", "_kind", "_parts", "_value")

    def __init__(self) -> None:
        self._has = False
        self._kind: type[Any] | None = None
        self._value: Any = None
        self._parts: Any = None

    @property
    def is_empty(self) -> bool:
        """Whether nothing was fed yet."""
        return not self._has

    def feed(self, chunk: Any) -> None:
        """Add `chunk`."""
        kind: type[Any] = type(chunk)
        if not self._has:
            self._has = True
            self._start(kind, chunk)
        elif kind is self._kind and kind is str:
            self._parts.append(chunk)
        elif kind is self._kind and kind is AddableDict:
            for key, value in chunk.items():
                if value is not None or key not in self._parts:
                    self._parts.setdefault(key, Accumulator()).feed_value(key, value)
        else:
            total = self.value
            try:
                total = total + chunk
            except TypeError:
                total = chunk
            self._start(type(total), total)

    def _start(self, kind: type[Any], value: Any) -> None:
        self._kind, self._value, self._parts = kind, None, None
        if kind is str:
            self._parts = [value]
        elif kind is AddableDict:
            self._parts = {}
            for key, one in value.items():
                self._parts[key] = Accumulator()
                self._parts[key].feed_value(key, one)
        else:
            self._value = value

    def feed_value(self, key: str, value: Any) -> None:
        """Add the value of a dict's key: None gives way.

        Raises:
            TypeError: If the value does not add.
        """
        if not self._has or (self._kind is type(value) and self._kind in (str, AddableDict)):
            self.feed(value)
        else:
            total = _plus(key, self.value, value)
            self._start(type(total), total)

    @property
    def value(self) -> Any:
        """The sum so far; None when nothing was fed."""
        if self._kind is str:
            if len(self._parts) > 1:
                self._parts = ["".join(self._parts)]
            return self._parts[0]
        if self._kind is AddableDict:
            return AddableDict({key: part.value for key, part in self._parts.items()})
        return self._value

    @override
    def __repr__(self) -> str:
        return f"Accumulator({self.value!r})"


def add(addables: Iterable[Any]) -> Any:
    """Return the sum of all, or None if there are none.

    >>> add(["a", "b"])
    'ab'
    """
    total: Any = None
    for piece in addables:
        total = piece if total is None else total + piece
    return total


async def aadd(addables: AsyncIterable[Any]) -> Any:
    """Return the sum of all, or None if there are none."""
    total: Any = None
    async for piece in addables:
        total = piece if total is None else total + piece
    return total
