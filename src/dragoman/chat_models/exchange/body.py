"""JSON bodies: to bytes and back."""

import json
from typing import Any

import msgspec

from dragoman.errors import DecodeError, EncodeError

__all__ = ["read_json", "write_json"]

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder().decode


def write_json(body: Any) -> bytes:
    """Return `body` as JSON; a lone surrogate becomes U+FFFD, since no server reads one.

    Raises:
        EncodeError: If it holds what JSON cannot carry.
    """
    try:
        return _encode(body)
    except UnicodeEncodeError:
        return _encode(_without_surrogates(body))
    except (TypeError, RecursionError) as error:
        message = f"the request holds a value that JSON cannot carry: {error}"
        raise EncodeError(
            message, hint="look at tools, model_kwargs and tool call arguments"
        ) from error


def read_json(data: bytes) -> Any:
    """Return the value; bytes that are no UTF-8 and lone surrogates become U+FFFD.

    Raises:
        DecodeError: If it is not JSON.
    """
    try:
        return _decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        pass
    try:
        return _without_surrogates(json.loads(data.decode("utf-8", "replace")))
    except (ValueError, RecursionError) as error:
        message = "the body is not JSON"
        raise DecodeError(message) from error


def _without_surrogates(value: Any) -> Any:
    match value:
        case str():
            return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        case dict():
            return {_without_surrogates(k): _without_surrogates(v) for k, v in value.items()}
        case list() | tuple():
            return [_without_surrogates(item) for item in value]
        case _:
            return value
