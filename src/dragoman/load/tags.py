"""Values that JSON lacks, as tagged objects: `{"__type__": "datetime", "value": "2026-01-02T00:00:00"}`.

The tags are those of `dragoman._json`. What differs is the reading: members of a container are
revived before it, and a dict that only resembles a tag (LangChain writes such user data as it is)
stays a dict. Whatever hostile text spells, nothing but builtin values is built.

A named time zone becomes its offset: the instant is kept, the name is not.
"""

from collections.abc import Callable
from typing import Any

from dragoman import _json
from dragoman.errors import DecodeError

__all__ = ["CONTAINERS", "SCALARS", "decode_tag", "is_tag", "tag"]

SCALARS = _json._WRITERS
"""Exact type -> its tag, and what writes its value."""

CONTAINERS: dict[type, str] = {tuple: "tuple", set: "set", frozenset: "frozenset"}
"""Exact type -> its tag; the value is the list of the encoded members."""

_DECODE: dict[str, Callable[[Any], Any]] = {
    **_json._READERS,
    "tuple": tuple,
    "set": set,
    "frozenset": frozenset,
    "dict": lambda pairs: {key: value for key, value in pairs},  # noqa: C416 - refuses what is no pair
}
_LISTS = {"timedelta", "complex", "tuple", "set", "frozenset", "dict"}


def tag(name: str, value: Any) -> dict[str, Any]:
    """Return the tagged object.

    >>> tag("decimal", "1.50")
    {'__type__': 'decimal', 'value': '1.50'}
    """
    return {_json.TAG: name, "value": value}


def is_tag(value: dict[Any, Any]) -> bool:
    """Return whether a dict has the shape of a tag."""
    if len(value) != 2 or "value" not in value:
        return False
    name = value.get(_json.TAG)
    if not isinstance(name, str) or name not in _DECODE:
        return False
    return isinstance(value["value"], list if name in _LISTS else str)


def decode_tag(value: dict[str, Any]) -> Any:
    """Return the value a tagged object stands for; members of containers are decoded already.

    Raises:
        DecodeError: If the text is not that of such a value.

    >>> decode_tag({"__type__": "tuple", "value": [1, 2]})
    (1, 2)
    """
    name, content = value[_json.TAG], value["value"]
    try:
        return _DECODE[name](content)
    except (ArithmeticError, TypeError, ValueError) as error:
        message = f"malformed {name} value ({type(error).__name__})"
        raise DecodeError(message) from error
