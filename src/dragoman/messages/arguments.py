"""The one rule for the arguments of a tool call, wherever they come from.

Empty, blank and null arguments are `{}`. A dict is taken as it is. A JSON text of an object is
parsed; a JSON text of a string that holds an object is unwrapped once, because some servers encode
twice. Anything else makes an invalid call with its raw text: one bad call never makes a history
unreadable, and two objects in one text are never halved in silence.
"""

from typing import Any

import msgspec

from dragoman.errors import DecodeError, short
from dragoman.messages.content import InvalidToolCall, ToolCall
from dragoman.messages.partial_json import decode_json

__all__ = ["make_call", "raw_text", "read_arguments"]


def read_arguments(raw: Any) -> tuple[dict[str, Any] | None, str | None]:
    """Return `(arguments, None)`, or `(None, why)` if `raw` is no set of arguments.

    >>> read_arguments('{"a": 1}')
    ({'a': 1}, None)
    >>> read_arguments(" ")
    ({}, None)
    """
    if raw is None:
        return {}, None
    if isinstance(raw, dict):
        return raw, None
    if not isinstance(raw, str):
        return None, f"arguments have to be a JSON object, not {type(raw).__name__}"
    if not raw or raw.isspace():
        return {}, None
    try:
        value = decode_json(raw)
        if isinstance(value, str) and value:
            value = decode_json(value)
    except DecodeError as error:
        return None, error.message
    if value is None:
        return {}, None
    if isinstance(value, dict):
        return value, None
    return None, f"arguments have to be a JSON object, not {type(value).__name__}"


def raw_text(raw: Any) -> str | None:
    """Return arguments as the text an invalid call keeps; what is not text becomes JSON."""
    if raw is None or isinstance(raw, str):
        return raw
    try:
        return msgspec.json.encode(raw).decode()
    except (TypeError, ValueError, RecursionError):
        return short(raw, 1000)


def make_call(
    name: str | None,
    raw: Any,
    id: str | None,
) -> ToolCall | InvalidToolCall:
    """Return a `tool_call`, or an `invalid_tool_call` that keeps the raw text and says why.

    >>> make_call("f", '{"a": 1}', "c")
    {'name': 'f', 'args': {'a': 1}, 'id': 'c', 'type': 'tool_call'}
    """
    args, error = read_arguments(raw)
    if args is None:
        return {
            "type": "invalid_tool_call",
            "id": id,
            "name": name,
            "args": raw_text(raw),
            "error": error,
        }
    return {"name": name or "", "args": args, "id": id, "type": "tool_call"}
