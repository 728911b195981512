"""JSON of user data that loses nothing.

Plain JSON values go through unchanged. What JSON has no form for gets a tag,
`{"__type__": "datetime", "value": "..."}`; a dict of the user's that has the key `__type__` itself is
wrapped in the same way, so that reading never guesses. Anything else is an `EncodeError` that names
the path: nothing that is written fails to be read.
"""

import math
from base64 import b64decode, b64encode
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from decimal import Decimal, InvalidOperation
from typing import Any
from uuid import UUID

from dragoman.errors import DecodeError, EncodeError

__all__ = ["MAX_DEPTH", "TAG", "from_plain", "is_plain", "to_plain"]

TAG = "__type__"
MAX_DEPTH = 500
_SCALARS = frozenset({str, int, bool, type(None)})

_WRITERS: dict[type, tuple[str, Callable[[Any], Any]]] = {
    datetime: ("datetime", datetime.isoformat),
    date: ("date", date.isoformat),
    time: ("time", time.isoformat),
    timedelta: ("timedelta", lambda value: [value.days, value.seconds, value.microseconds]),
    bytes: ("bytes", lambda value: b64encode(value).decode("ascii")),
    bytearray: ("bytearray", lambda value: b64encode(value).decode("ascii")),
    Decimal: ("decimal", str),
    UUID: ("uuid", str),
    complex: ("complex", lambda value: [value.real, value.imag]),
}
_READERS: dict[str, Callable[[Any], Any]] = {
    "datetime": datetime.fromisoformat,
    "date": date.fromisoformat,
    "time": time.fromisoformat,
    "timedelta": lambda value: timedelta(*value),
    "bytes": lambda value: b64decode(value, validate=True),
    "bytearray": lambda value: bytearray(b64decode(value, validate=True)),
    "decimal": Decimal,
    "uuid": UUID,
    "complex": lambda value: complex(*value),
    "float": float,
    "tuple": lambda value: tuple(map(from_plain, value)),
    "set": lambda value: set(map(from_plain, value)),
    "frozenset": lambda value: frozenset(map(from_plain, value)),
    "dict": lambda value: {from_plain(key): from_plain(item) for key, item in value},
}


def is_plain(value: Any, depth: int = 0) -> bool:
    """Return whether JSON text holds `value` exactly: nothing tagged, escaped or changed."""
    kind = value.__class__
    if kind is dict:
        if depth > MAX_DEPTH or TAG in value:
            return False
        for key, item in value.items():
            if key.__class__ is not str:
                return False
            if item.__class__ not in _SCALARS and not is_plain(item, depth + 1):
                return False
        return True
    if kind is list:
        if depth > MAX_DEPTH:
            return False
        for item in value:
            if item.__class__ not in _SCALARS and not is_plain(item, depth + 1):
                return False
        return True
    return kind in _SCALARS or (kind is float and math.isfinite(value))


def to_plain(value: Any, path: str = "$") -> Any:
    """Return `value` as plain JSON data, with tags where JSON has no form of its own.

    Values that are plain already are returned as they are, not copied.

    Args:
        value: Any value made of JSON types, datetime, date, time, timedelta, bytes, Decimal, UUID,
            complex, tuples, sets, and dicts with any keys among these.
        path: Where the value stands, for the error.

    Raises:
        EncodeError: If some part is none of these, or nests too deeply.

    >>> to_plain({"a": (1, 2)})
    {'a': {'__type__': 'tuple', 'value': [1, 2]}}
    """
    try:
        return _to_plain(value, path, 0)
    except RecursionError:  # the caller may stand deep already
        message = f"nested too deeply, more than {MAX_DEPTH} levels"
        raise EncodeError(message, path=path[:200]) from None


def _to_plain(value: Any, path: str, depth: int) -> Any:
    if is_plain(value):
        return value
    if depth > MAX_DEPTH:
        message = f"nested too deeply, more than {MAX_DEPTH} levels"
        raise EncodeError(message, path=path[:200])
    kind = value.__class__
    if kind is float:
        return {TAG: "float", "value": repr(value)}
    if kind in _WRITERS:
        name, write = _WRITERS[kind]
        return {TAG: name, "value": write(value)}
    if kind is dict:
        return _dict_to_plain(value, path, depth)
    if kind is list or kind in (tuple, set, frozenset):
        items = [_to_plain(item, f"{path}[{i}]", depth + 1) for i, item in enumerate(value)]
        return items if kind is list else {TAG: kind.__name__, "value": items}
    if isinstance(value, str):  # a subclass: an enum member, a text accessor
        return str.__str__(value)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, dict):
        return _to_plain(dict(value), path, depth)
    message = f"{type(value).__name__} has no JSON form"
    raise EncodeError(message, path=path, hint="convert it to plain data first")


def _dict_to_plain(value: dict[Any, Any], path: str, depth: int) -> Any:
    if TAG not in value and all(key.__class__ is str for key in value):
        return {key: _to_plain(item, f"{path}.{key}", depth + 1) for key, item in value.items()}
    pairs = [
        [_to_plain(key, f"{path}.<key>", depth + 1), _to_plain(item, f"{path}.{key}", depth + 1)]
        for key, item in value.items()
    ]
    return {TAG: "dict", "value": pairs}


def from_plain(value: Any) -> Any:
    """Return what `to_plain` was given; data without tags is returned as it is, not copied.

    Raises:
        DecodeError: If a tag is unknown or its value malformed.
    """
    kind = value.__class__
    if kind is dict:
        name: Any = value.get(TAG)
        if name is not None:
            return _untag(name, value)
        for item in value.values():
            if item.__class__ not in _SCALARS:
                return {key: from_plain(item) for key, item in value.items()}
        return value
    if kind is list:
        for item in value:
            if item.__class__ not in _SCALARS:
                return [from_plain(item) for item in value]
    return value


def _untag(name: Any, tagged: dict[str, Any]) -> Any:
    read = _READERS.get(name) if isinstance(name, str) else None
    if read is None or "value" not in tagged:
        message = f"unknown type tag {name!r:.40}"
        raise DecodeError(message, hint="written by a newer dragoman?")
    try:
        return read(tagged["value"])
    except (ValueError, TypeError, AttributeError, InvalidOperation) as error:
        message = f"malformed {name} value"
        raise DecodeError(message) from error
