"""The scanner of JSON text that C code refuses: unfinished, slightly broken, or very deep.

It keeps its own stack: depth costs memory, never a RecursionError.
"""

import re
from typing import Any

import msgspec

__all__ = ["MAX_DEPTH", "BrokenJSONError", "StrayBracketError", "brackets", "scan"]

MAX_DEPTH = 2000
"""How deep JSON may nest; beyond it is refused."""

_decode = msgspec.json.decode
_SPACE = " \t\n\r"
_STRING_END = re.compile(r'["\\]')
_BRACKET = re.compile(r'[][{}]|"(?:[^"\\]|\\.)*(?P<end>"?)', re.DOTALL)
_SCALAR = re.compile(r"[-+.0-9a-zA-Z_]+")
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?\Z")
_LITERALS = {"true": True, "false": False, "null": None}
_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_HEX = re.compile(r"[0-9a-fA-F]{4}")


class BrokenJSONError(Exception):
    """The text is not the beginning of JSON."""


class StrayBracketError(BrokenJSONError):
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
                    raise BrokenJSONError(message)
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
                        kind = StrayBracketError if char in "}]" else BrokenJSONError
                        message = f"unexpected {char!r} at character {position}"
                        raise kind(message)
                    if char in "}]" and char != ("}" if isinstance(container, dict) else "]"):
                        message = f"stray {char!r} at character {position}"
                        raise StrayBracketError(message)
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
                    raise BrokenJSONError(message)
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
                raise BrokenJSONError(message)
            elif char == "]":
                message = f"stray ']' at character {position}"
                raise StrayBracketError(message)
            else:
                length = position
                break
        elif expect == "colon":
            if char != ":":
                if closed:
                    message = f"expected ':' at character {position}"
                    raise BrokenJSONError(message)
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
                raise StrayBracketError(message)
            value, position = container, position + 1
            container, key = stack.pop()
        elif closed:
            message = f"expected ',' or the end of a container at character {position}"
            raise BrokenJSONError(message)
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
        raise BrokenJSONError(message)
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
            raise BrokenJSONError(message)
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


def brackets(text: str) -> str:
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
