"""Native JSON: a list of flat objects, `{"type": "human", "content": "hi"}`, one msgspec pass each way.

Fields with their default value are left out. What JSON has no form for (datetime, bytes, tuple ...)
carries a type tag, or fails at writing with its path; unknown keys survive. The format has a version
and is described in `docs/format.md`.
"""

import json
from collections.abc import Sequence
from typing import Any, cast

import msgspec
from msgspec import UNSET

from dragoman._json import TAG, from_plain, is_plain, to_plain
from dragoman.errors import DecodeError, EncodeError, MessageError, short
from dragoman.messages.ai import AIMessage, AIMessageChunk
from dragoman.messages.base import BaseMessage
from dragoman.messages.calls import are_plain_calls
from dragoman.messages.dicts import read_fields
from dragoman.messages.fields import field_names
from dragoman.messages.partial_json import decode_json
from dragoman.messages.registry import CLASSES, PLAIN_CLASSES, AnyMessage, nearest_class
from dragoman.messages.tool import ToolMessage

__all__ = ["FORMAT_VERSION", "messages_from_json", "messages_to_json"]

FORMAT_VERSION = 1
"""Grows when an older reader would misread what is written."""

_encoder = msgspec.json.Encoder()
_decoder: msgspec.json.Decoder[list[Any]] | None = None
_TAG_TEXT = b'"' + TAG.encode() + b'"'


def _is_flat(message: Any) -> bool:
    """Return whether msgspec can encode the message as it is, losing nothing."""
    cls = message.__class__
    if cls not in PLAIN_CLASSES or message.__dict__:
        return False
    try:
        content = message._raw_content
        if content.__class__ is not str and not is_plain(content):
            return False
        value = message._raw_additional_kwargs
        if value is not UNSET and not is_plain(value):
            return False
        value = message._raw_response_metadata
        if value is not UNSET and not is_plain(value):
            return False
        if cls is AIMessage:
            calls, usage = message._raw_tool_calls, message.usage_metadata
            return (calls is UNSET or are_plain_calls(calls, is_plain)) and (
                usage is None or is_plain(usage)
            )
        return cls is not ToolMessage or message.artifact is None or is_plain(message.artifact)
    except RecursionError:  # the slow path says so
        return False


def _as_plain(message: Any, path: str) -> Any:
    """Return what msgspec can encode in place of a message that is not flat."""
    if not isinstance(message, BaseMessage):
        text = f"expected a message, got {type(message).__name__}"
        raise EncodeError(text, path=path)
    try:
        return _as_dict(message, path)
    except RecursionError:
        text = "the message nests too deeply, or holds itself"
        raise EncodeError(text, path=path) from None


def _as_dict(message: BaseMessage, path: str) -> dict[str, Any]:
    cls = nearest_class(type(message))
    kind = message.type if cls is BaseMessage else cls._default_type
    written: dict[str, Any] = {"type": kind}
    for name in field_names(type(message)):
        value = message._value(name)
        if name == "type":
            if value != kind:
                written["@type"] = value
        elif value is not None and not (name in message._lazy and not value):
            written[name] = to_plain(value, f"{path}.{name}")
    if isinstance(message, AIMessageChunk):
        raw = message._raw_fragments()
        if raw:  # as they came; the calls are read from them again
            written["tool_call_chunks"] = to_plain(raw, f"{path}.tool_call_chunks")
            written.pop("tool_calls", None)
            written.pop("invalid_tool_calls", None)
    if cls is not type(message) or cls is BaseMessage:
        written.setdefault("@class", type(message).__name__)
    if message.__dict__:
        known = field_names(type(message))
        for name, value in message._items():
            if name not in known:
                written.setdefault(name, to_plain(value, f"{path}.{name}"))
    return written


def messages_to_json(messages: Sequence[BaseMessage]) -> bytes:
    """Return messages as UTF-8 JSON text: a list of flat objects.

    Raises:
        EncodeError: If a message holds something that JSON and type tags cannot; names the path.

    >>> from dragoman.messages import HumanMessage
    >>> messages_to_json([HumanMessage("hi")])
    b'[{"type":"human","content":"hi"}]'
    """
    flat: list[Any] = list(messages)
    if not all(map(_is_flat, flat)):
        flat = [m if _is_flat(m) else _as_plain(m, f"$[{i}]") for i, m in enumerate(flat)]
    try:
        return _encoder.encode(flat)
    except (UnicodeEncodeError, TypeError, ValueError, RecursionError):
        pass
    # Lone surrogates have no UTF-8 form; the standard library writes them as escapes.
    dicts = [
        _as_dict(item, f"$[{i}]") if isinstance(item, BaseMessage) else item
        for i, item in enumerate(flat)
    ]
    try:
        return json.dumps(dicts, ensure_ascii=True, separators=(",", ":"), allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError) as error:
        text = f"a message cannot be written as JSON: {short(str(error))}"
        raise EncodeError(text) from error


def messages_from_json(
    data: bytes | bytearray | str, classes: Sequence[type[BaseMessage]] = ()
) -> list[AnyMessage]:
    """Return the messages that `messages_to_json` was given; unknown keys become attributes.

    Args:
        data: The JSON text.
        classes: Subclasses of your own to read as themselves; others are read as the class of
            this package they are made from.

    Raises:
        DecodeError: If the text is not such JSON; names the path.

    >>> messages_from_json('[{"type":"human","content":"hi"}]')
    [HumanMessage(content='hi', additional_kwargs={}, response_metadata={})]
    """
    if isinstance(data, str):
        data = data.encode("utf-8", "surrogatepass")
    if not isinstance(data, bytes | bytearray):
        text = f"expected JSON text, got {type(data).__name__}"
        raise DecodeError(text)
    if not classes and _TAG_TEXT not in data:
        try:
            return _fast_decoder().decode(data)
        except (msgspec.MsgspecError, MessageError, UnicodeError, RecursionError):
            pass  # the slow path says what is wrong, or keeps what is unknown
    return cast("list[AnyMessage]", _read(data, classes))


def _fast_decoder() -> msgspec.json.Decoder[list[Any]]:
    global _decoder  # noqa: PLW0603 - made once, when first needed
    if _decoder is None:
        union: Any = None
        for cls in CLASSES.values():
            union = cls if union is None else union | cls
        _decoder = msgspec.json.Decoder(list[union])  # pyright: ignore[reportInvalidTypeForm]
    return _decoder


def _read(data: bytes | bytearray, classes: Sequence[type[BaseMessage]]) -> list[BaseMessage]:
    try:
        parsed: Any = json.loads(data)
    except (ValueError, RecursionError):
        parsed = decode_json(bytes(data).decode("utf-8", "replace"))
    if not isinstance(parsed, list):
        text = f"expected a list of messages, got {type(parsed).__name__}"
        raise DecodeError(text, path="$")
    items = cast("list[Any]", parsed)
    return [_read_one(item, f"$[{i}]", classes) for i, item in enumerate(items)]


def _read_one(item: Any, path: str, classes: Sequence[type[BaseMessage]]) -> BaseMessage:
    if not isinstance(item, dict):
        text = f"expected an object, got {type(item).__name__}"
        raise DecodeError(text, path=path)
    kind: Any = item.get("type")
    cls = CLASSES.get(kind) if isinstance(kind, str) else None
    if cls is None and isinstance(kind, str) and "@class" in item:
        cls = BaseMessage  # a subclass of nothing but the base
        item = {**item, "@type": kind}
    if cls is None:
        text = f"unknown message type {short(kind)}"
        raise DecodeError(text, path=f"{path}.type", hint=f"one of {', '.join(CLASSES)}")
    fields = {key: from_plain(value) for key, value in item.items() if key not in ("type", "@type")}
    if "@type" in item:
        fields["type"] = item["@type"]
    named = fields.get("@class")
    for own in classes:
        if issubclass(own, cls) and own.__name__ == named:
            del fields["@class"]
            return read_fields(own, fields, path)
    if cls is not BaseMessage and fields.get("type", cls._default_type) != cls._default_type:
        fields["@type"] = fields.pop("type")  # a subclass's word; kept for who knows the class
    return read_fields(cls, fields, path)
