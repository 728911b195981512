"""JSON text that may be unfinished or slightly broken.

Three readers, from strict to lenient:

- `decode_json` reads complete JSON; control characters inside strings are allowed, NaN is not.
- `parse_growing` reads what has arrived of one JSON value, so that what is shown only grows: an
  unfinished number, literal or escape at the end is left out, half a surrogate pair is held back,
  and a repeated key counts once its value is complete.
- `parse_partial_json` is LangChain's helper of that name.

The fast paths are C code (msgspec; jiter, which leaves out unfinished escapes as `scan` does since
0.11); what they refuse goes through one scanner of our own,
`scan`, which keeps its own stack: depth costs memory, never a RecursionError.
"""

import re
from typing import Any

import jiter
import msgspec

from dragoman.errors import DecodeError

__all__ = ["MAX_DEPTH", "decode_json", "parse_growing", "parse_partial_json", "scan"]

MAX_DEPTH = 2000
"""How deep JSON may nest; beyond it is refused."""

_decode = msgspec.json.decode
_from_json = jiter.from_json
_SPACE = " \t\n\r"
_STRING_END = re.compile(r'["\\]')
_BRACKET = re.compile(r'[][{}]|"(?:[^"\\]|\\.)*(?P<end>"?)', re.DOTALL)
_SCALAR = re.compile(r"[-+.0-9a-zA-Z_]+")
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?\Z")
_LITERALS = {"true": True, "false": False, "null": None}
_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_HEX = re.compile(r"[0-9a-fA-F]{4}")
_SCALAR_BYTES = b"-+._0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


class _Broken(Exception):  # noqa: N818 - a signal inside this module
    """The text is not the beginning of JSON."""


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
    try:
        value, end, complete = scan(text, closed=True)
    except _Broken as error:
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
    try:
        return scan(data.decode("utf-8", "replace"))[0]
    except _Broken as error:
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
    try:
        value, end, complete = scan(s, keep_numbers=True, strict=strict)
    except _Stray:
        return None
    except _Broken as error:
        raise _as_json_error(s, str(error)) from None
    if end < len(s):  # something follows, or stands in the way
        state = _brackets(s)
        if state == "stray":
            return None
        if state == "closed" and not complete:
            raise _as_json_error(s, f"unexpected text at character {end}")
    return value


def _brackets(text: str) -> str:
    """Return whether the brackets of `text` are "closed" or "open", or one is "stray"."""
    waiting: list[str] = []
    for match in _BRACKET.finditer(text):
        token = match.group()
        if token in "{[":
            waiting.append("}" if token == "{" else "]")
        elif token in "}]":
            if not waiting or waiting.pop() != token:
                return "stray"
        elif match.group("end") == "":
            return "open"
    return "open" if waiting else "closed"


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


class _Stray(_Broken):
    """A closing bracket that closes nothing."""


_MISSING: Any = object()


def scan(
    text: str, *, closed: bool = False, keep_numbers: bool = False, strict: bool = False
) -> tuple[Any, int, bool]:
    """Return `(value, end, complete)` of the JSON value at the start of `text`.

    Args:
        text: The text.
        closed: Whether the text is all there is: then nothing is forgiven but control
            characters, bad escapes and lone surrogates.
        keep_numbers: Whether a number at the very end counts although it may go on.
        strict: Whether control characters but newlines are refused inside strings.
    """
    position, length = 0, len(text)
    stack: list[tuple[Any, Any]] = []  # (container, key waiting for its value)
    container: Any = None
    key: Any = _MISSING
    value: Any = _MISSING
    expect = "value"
    while True:
        while position < length and text[position] in _SPACE:
            position += 1
        if position >= length:
            break
        char = text[position]
        if expect == "value" or (expect == "value_or_end" and char != "]"):
            if char in "{[":
                if len(stack) >= MAX_DEPTH:
                    message = f"nested more than {MAX_DEPTH} levels"
                    raise _Broken(message)
                stack.append((container, key))
                container, key = ({} if char == "{" else []), _MISSING
                expect = "key_or_end" if char == "{" else "value_or_end"
                position += 1
                continue
            if char == '"':
                value, position, whole = _string(text, position + 1, closed=closed, strict=strict)
                if not whole:
                    break
            else:
                match = _SCALAR.match(text, position)
                if match is None:
                    if closed or not stack:
                        kind = _Stray if char in "}]" else _Broken
                        message = f"unexpected {char!r} at character {position}"
                        raise kind(message)
                    if char in "}]" and char != ("}" if isinstance(container, dict) else "]"):
                        message = f"stray {char!r} at character {position}"
                        raise _Stray(message)
                    if char == "}":  # a key without a value, then the end: drop the key
                        key, expect = _MISSING, "comma_or_end"
                        continue
                    if char == "]":  # a comma, then the end
                        expect = "comma_or_end"
                        continue
                    length = position
                    break
                at_end = match.end() == length and not closed
                value = _scalar(match.group())
                if value is _MISSING:
                    if at_end and (stack or _could_be_scalar(match.group())):
                        break
                    if stack and not closed:
                        length = position
                        break
                    message = f"unexpected text at character {position}"
                    raise _Broken(message)
                if at_end and stack and not keep_numbers:
                    value = _MISSING
                    break
                position = match.end()
        elif expect in ("key", "key_or_end"):
            if char == '"':
                name, position, whole = _string(text, position + 1, closed=closed, strict=strict)
                if not whole:
                    break
                key, expect = name, "colon"
                continue
            if char == "}" and (expect == "key_or_end" or not closed):
                value, position = container, position + 1
                container, key = stack.pop()
            elif closed:
                message = f"expected a key at character {position}"
                raise _Broken(message)
            elif char == "]":
                message = f"stray ']' at character {position}"
                raise _Stray(message)
            else:
                length = position
                break
        elif expect == "colon":
            if char != ":":
                if closed:
                    message = f"expected ':' at character {position}"
                    raise _Broken(message)
                if char == "}":
                    key, expect = _MISSING, "comma_or_end"
                    continue
                length = position
                break
            position, expect = position + 1, "value"
            continue
        elif char == ",":
            position += 1
            expect = "key" if isinstance(container, dict) else "value"
            continue
        elif char in "}]":
            if char != ("}" if isinstance(container, dict) else "]"):
                message = f"stray {char!r} at character {position}"
                raise _Stray(message)
            value, position = container, position + 1
            container, key = stack.pop()
        elif closed:
            message = f"expected ',' or the end of a container at character {position}"
            raise _Broken(message)
        else:
            length = position
            break
        # a value is complete
        if container is None:
            return value, position, True
        if isinstance(container, dict):
            container[key] = value
        else:
            container.append(value)
        key, value, expect = _MISSING, _MISSING, "comma_or_end"
    if closed:
        return None, position, False
    if container is None and value is _MISSING:
        message = "no JSON value"
        raise _Broken(message)
    # Close what is open, from the inside out. A value that is not complete does not replace the
    # complete one of an earlier equal key.
    while True:
        if isinstance(container, dict):
            if value is not _MISSING and key is not _MISSING:
                container.setdefault(key, value)
        elif isinstance(container, list):
            if value is not _MISSING:
                container.append(value)
        else:
            return value, length, False
        value = container
        container, key = stack.pop()


def _could_be_scalar(text: str) -> bool:
    return any(word.startswith(text) for word in _LITERALS) or text in ("-",)


def _scalar(text: str) -> Any:
    if text in _LITERALS:
        return _LITERALS[text]
    if _NUMBER.match(text):
        try:
            return _decode(text)
        except msgspec.DecodeError:
            return _MISSING
    return _MISSING


def _string(text: str, start: int, *, closed: bool, strict: bool) -> tuple[str, int, bool]:
    """Return `(string, position behind it, whether it was closed)`."""
    parts: list[str] = []
    position = start
    while True:
        match = _STRING_END.search(text, position)
        stop = match.start() if match else len(text)
        piece = text[position:stop]
        if strict and any(char < " " and char != "\n" for char in piece):
            message = "control character in a string"
            raise _Broken(message)
        parts.append(piece)
        if match is None:
            return "".join(parts), stop, False
        if match.group() == '"':
            return "".join(parts), stop + 1, True
        escape = text[stop + 1 : stop + 2]
        if not escape:
            return "".join(parts), stop, False
        if escape in _ESCAPES:
            parts.append(_ESCAPES[escape])
            position = stop + 2
        elif escape == "u":
            hexed = _HEX.match(text, stop + 2)
            if hexed is None:
                if len(text) - stop < 6 and not closed:
                    return "".join(parts), stop, False
                parts.append("\\u")  # a bad escape stays as it is written
                position = stop + 2
                continue
            code, position = int(hexed.group(), 16), stop + 6
            if 0xD800 <= code < 0xDC00:
                low = _HEX.match(text, position + 2) if text.startswith("\\u", position) else None
                if low is not None and 0xDC00 <= int(low.group(), 16) < 0xE000:
                    code = 0x10000 + ((code - 0xD800) << 10) + int(low.group(), 16) - 0xDC00
                    position += 6
                elif (
                    not closed
                    and low is None
                    and len(text) - position < 6
                    and ("\\u".startswith(text[position : position + 2]))
                ):
                    return "".join(parts), stop, False  # its other half may follow
                else:
                    code = 0xFFFD
            elif 0xDC00 <= code < 0xE000:
                code = 0xFFFD
            parts.append(chr(code))
        else:
            parts.append("\\" + escape)  # a bad escape stays as it is written
            position = stop + 2
