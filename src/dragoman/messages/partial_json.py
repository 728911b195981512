"""JSON text that may be unfinished or slightly broken.

Three readers, from strict to lenient:

- `decode_json` reads complete JSON; control characters inside strings are allowed, NaN is not.
- `parse_growing` reads what has arrived of one JSON value, so that what is shown only grows: an
  unfinished number, literal or escape at the end is left out, half a surrogate pair is held back,
  and a repeated key counts once its value is complete.
- `parse_partial_json` is LangChain's helper of that name.

The fast paths are C code (msgspec; jiter, which leaves out unfinished escapes as `scan` does since
0.11); what they refuse goes to `scanner`, which is loaded when first needed.
"""

from typing import Any

import jiter
import msgspec

from dragoman.errors import DecodeError

__all__ = ["decode_json", "parse_growing", "parse_partial_json"]

_decode = msgspec.json.decode
_from_json = jiter.from_json
_SPACE = " \t\n\r"
_SCALAR_BYTES = b"-+._0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def decode_json(text: str) -> Any:
    """Return the value of complete JSON text.

    Control characters inside strings are kept; a lone surrogate escape becomes U+FFFD; of
    repeated keys the last counts; whole numbers of any size are exact.

    Raises:
        DecodeError: If the text is not one complete JSON value, or nests too deeply.

    >>> decode_json('{"a": [1, null]}')
    {'a': [1, None]}
    """
    try:
        return _decode(text)
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        pass
    from dragoman.messages.scanner import BrokenJSONError, scan

    try:
        value, end, complete = scan(text, closed=True)
    except BrokenJSONError as error:
        message = f"not JSON: {error}"
        raise DecodeError(message) from None
    if not complete:
        message = "the JSON text is cut off"
        raise DecodeError(message)
    if text[end:].strip(_SPACE):
        message = f"more text after the JSON value, at character {end}"
        raise DecodeError(message)
    return value


def parse_growing(data: bytes, in_string: bool) -> Any:
    """Return what has arrived of one JSON value; it only grows as `data` does.

    Args:
        data: UTF-8 text from the start of the value.
        in_string: Whether `data` ends inside a string.

    Raises:
        ValueError: If `data` is not the beginning of JSON.
    """
    if not in_string:
        data = data.rstrip(_SCALAR_BYTES)
    try:
        return _from_json(data, partial_mode="trailing-strings", catch_duplicate_keys=True)
    except ValueError:
        return _grown(data)


def _grown(data: bytes) -> Any:
    from dragoman.messages.scanner import BrokenJSONError, scan

    try:
        return scan(data.decode("utf-8", "replace"))[0]
    except BrokenJSONError as error:
        raise ValueError(str(error)) from None


def parse_partial_json(s: str, *, strict: bool = False) -> Any:
    """Return the value of JSON text that may be cut off anywhere or followed by junk.

    Open strings and brackets are closed, a dangling key or backslash is dropped, raw newlines in
    strings are kept. A stray closing bracket gives None. Text whose brackets are all closed is
    whole, not cut off: if it is no JSON, nothing of it is returned.

    Args:
        s: The text.
        strict: Whether control characters but newlines are refused inside strings.

    Raises:
        json.JSONDecodeError: If no beginning of the text is JSON.

    >>> parse_partial_json('{"a": "b", "c": [1, "d')
    {'a': 'b', 'c': [1, 'd']}
    """
    try:
        return _decode(s)
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        pass
    from dragoman.messages.scanner import BrokenJSONError, StrayBracketError, brackets, scan

    try:
        value, end, complete = scan(s, keep_numbers=True, strict=strict)
    except StrayBracketError:
        return None
    except BrokenJSONError as error:
        raise _as_json_error(s, str(error)) from None
    if end < len(s):  # something follows, or stands in the way
        state = brackets(s)
        if state == "stray":
            return None
        if state == "closed" and not complete:
            raise _as_json_error(s, f"unexpected text at character {end}")
    return value


def _as_json_error(text: str, reason: str) -> ValueError:
    """Return the standard library's error for `text`, else one that gives `reason`."""
    import json

    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        return error
    except RecursionError:
        pass
    return json.JSONDecodeError(reason, text[:80], 0)
