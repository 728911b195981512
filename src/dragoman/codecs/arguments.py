"""The arguments of tool calls between JSON text and dicts, by the rules every wire shares.

What counts as arguments is decided in `dragoman.messages.arguments`; here stands what codecs need
beside it: writing them, and telling whether a growing text is whole.
"""

import json
import math
import re
from typing import Any

import msgspec

from dragoman.messages.arguments import read_arguments as _read

__all__ = ["Completeness", "dump_arguments", "read_arguments"]

_encode = msgspec.json.Encoder().encode
_MARK = re.compile(r'[{}\[\]"]')
_IN_STRING = re.compile(r'["\\]')


def read_arguments(raw: Any) -> dict[str, Any] | None:
    """Return the arguments as a dict; None if `raw` is not one whole JSON object.

    >>> read_arguments('{"a": 1}'), read_arguments(" "), read_arguments('{"a": 1')
    ({'a': 1}, {}, None)
    """
    return _read(raw)[0]


def dump_arguments(value: Any) -> str:
    """Return `value` as JSON text, non-ASCII kept, in the order of its keys.

    What JSON cannot say (NaN, infinities, foreign objects) becomes null or its `str`.

    >>> dump_arguments({"city": "Zürich"})
    '{"city":"Zürich"}'
    """
    try:
        return _encode(value).decode()
    except (TypeError, ValueError, RecursionError):
        pass
    try:
        return json.dumps(_plain(value), ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return "{}"


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_plain(v) for v in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, (str, int, float)):
        return value
    return str(value)


class Completeness:
    """Tells whether growing JSON text is a whole object; looks at each character once."""

    def __init__(self) -> None:
        self._n_seen = 0
        self._depth = 0
        self._in_string = False
        self._after_backslash = False
        self._is_whole = False

    def of(self, parts: list[str]) -> bool:
        """Return whether the joined `parts` hold one whole object; `parts` may only grow."""
        while self._n_seen < len(parts):
            self._read(parts[self._n_seen])
            self._n_seen += 1
        return self._is_whole

    def _read(self, text: str) -> None:
        at = 1 if self._after_backslash and text else 0
        if text:
            self._after_backslash = False
        while at < len(text):
            match = (_IN_STRING if self._in_string else _MARK).search(text, at)
            if match is None:
                return
            at = match.end()
            mark = match[0]
            if mark == '"':
                self._in_string = not self._in_string
            elif mark == "\\":
                self._after_backslash = at == len(text)
                at += 1
            else:
                self._depth += 1 if mark in "{[" else -1
                self._is_whole = self._depth == 0 and mark in "}]"
