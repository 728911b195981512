"""Total readers of JSON values: what has the wrong type counts as absent, never as an exception.

Providers send null, "" or another type where the documentation promises a value; codecs read every
field through these.
"""

import json
from typing import Any

import msgspec

from dragoman.errors import DecodeError

__all__ = [
    "as_dict", "as_dicts", "as_int", "as_list", "as_str", "is_only_text", "parse_event", "require_dict", "usage_of",
]  # fmt: skip

_decode = msgspec.json.Decoder().decode


def as_str(value: Any) -> str | None:
    """Return a non-empty string, else None."""
    return value if isinstance(value, str) and value else None


def as_int(value: Any) -> int | None:
    """Return a counter as an int (`"35"` and `35.0` too), else None."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, str) and len(value) < 20 and value.isdecimal():
        return int(value)
    return None


def is_only_text(part: dict[str, Any]) -> bool:
    """Return whether a part is a text and nothing else; one that came from the wire may hold null."""
    return (
        part.keys() == {"type", "text"} and part["type"] == "text" and isinstance(part["text"], str)
    )


def as_dict(value: Any) -> dict[str, Any]:
    """Return a dict as it is, anything else as an empty one."""
    return value if isinstance(value, dict) else {}


def as_list(value: Any) -> list[Any]:
    """Return a list as it is, anything else as an empty one."""
    return value if isinstance(value, list) else []


def as_dicts(value: Any) -> list[dict[str, Any]]:
    """Return the dicts of a list."""
    return [v for v in value if isinstance(v, dict)] if isinstance(value, list) else []


def require_dict(value: Any, what: str) -> dict[str, Any]:
    """Return `value`, which must be a JSON object.

    Raises:
        DecodeError: If it is not.
    """
    if isinstance(value, dict):
        return value
    message = f"Expected a JSON object as {what}, got {type(value).__name__}"
    raise DecodeError(message, path="$")


def parse_event(data: Any) -> Any:
    """Return the JSON value of a stream event's data (text, bytes, or already parsed).

    Raises:
        DecodeError: If it is not JSON.
    """
    if not isinstance(data, (str, bytes, bytearray)):
        return data
    try:
        return _decode(data)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        pass
    try:  # lone surrogates, which msgspec refuses
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        message = "an event of the stream is not JSON"
        raise DecodeError(message, path="$") from error


def usage_of(
    input_tokens: Any,
    output_tokens: Any,
    total_tokens: Any = None,
    *,
    input_details: dict[str, Any] | None = None,
    output_details: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Return a `UsageMetadata` dict; details that are no counters are left out.

    >>> usage_of(3, 4, input_details={"cache_read": 2, "audio": None})
    {'input_tokens': 3, 'output_tokens': 4, 'total_tokens': 7, 'input_token_details': {'cache_read': 2}}
    """
    n_in, n_out, total = as_int(input_tokens) or 0, as_int(output_tokens) or 0, as_int(total_tokens)
    usage: dict[str, Any] = {
        "input_tokens": n_in,
        "output_tokens": n_out,
        "total_tokens": n_in + n_out if total is None else total,
    }
    for name, given in (
        ("input_token_details", input_details),
        ("output_token_details", output_details),
    ):
        kept = {k: n for k, v in (given or {}).items() if (n := as_int(v)) is not None}
        if kept:
            usage[name] = kept
    return usage
