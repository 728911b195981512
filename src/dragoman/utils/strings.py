"""Plain data as short readable text."""

from collections.abc import Iterable
from typing import Any

__all__ = ["comma_list", "sanitize_for_postgres", "stringify_dict", "stringify_value"]


def stringify_value(val: Any) -> str:
    r"""Return `val` as text; a dict or list on lines of its own.

    >>> stringify_value({"a": 1})
    '\na: 1\n'
    """
    if isinstance(val, str):
        return val
    if isinstance(val, dict):
        return "\n" + stringify_dict(val)
    if isinstance(val, list):
        return "\n".join(stringify_value(member) for member in val)
    return str(val)


def stringify_dict(data: dict[Any, Any]) -> str:
    r"""Return one line `key: value` for each entry.

    >>> stringify_dict({"a": 1, "b": 2})
    'a: 1\nb: 2\n'
    """
    return "".join(f"{key}: {stringify_value(value)}\n" for key, value in data.items())


def comma_list(items: Iterable[Any]) -> str:
    """Return the items with commas between.

    >>> comma_list([1, "b"])
    '1, b'
    """
    return ", ".join(str(item) for item in items)


def sanitize_for_postgres(text: str, replacement: str = "") -> str:
    r"""Return `text` with NUL characters, which Postgres refuses, replaced.

    >>> sanitize_for_postgres("a\x00b")
    'ab'
    """
    return text.replace("\x00", replacement)
