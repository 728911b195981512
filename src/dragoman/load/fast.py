"""The short way for lists of messages: one msgspec pass, where that loses nothing.

A message goes the short way when it is of a class of this package, has no keys beyond its fields,
and its data is plain JSON that cannot be mistaken for a marker. Reading does so when the text holds
no marker but those of the messages themselves. Everything else is left to `dump` and `load`: both
functions here then return None.
"""

import codecs
import json
import math
import re
from collections.abc import Callable
from functools import cache
from typing import Any, Literal, cast

import msgspec
from msgspec import UNSET

from dragoman._json import TAG
from dragoman.errors import MessageError
from dragoman.load.mapping import PLAIN_MESSAGES
from dragoman.messages.ai import AIMessage
from dragoman.messages.base import BaseMessage
from dragoman.messages.calls import are_plain_calls
from dragoman.messages.human import HumanMessage
from dragoman.messages.registry import CLASSES, nearest_class
from dragoman.messages.system import SystemMessage
from dragoman.messages.tool import ToolMessage

__all__ = ["dump_messages", "id_of", "load_messages"]

_SCALARS = frozenset({str, int, bool, type(None)})
_RESERVED = frozenset({"lc", "__lc_escaped__", TAG})
_MAX_DEPTH = 100


class _Kwargs(msgspec.Struct, omit_defaults=True, gc=False):
    content: Any
    type: str
    name: Any = None
    id: Any = None
    additional_kwargs: Any = UNSET
    response_metadata: Any = UNSET


class _AIKwargs(msgspec.Struct, omit_defaults=True, gc=False):
    content: Any
    type: str
    tool_calls: Any
    invalid_tool_calls: Any
    name: Any = None
    id: Any = None
    additional_kwargs: Any = UNSET
    response_metadata: Any = UNSET
    usage_metadata: Any = None


class _ToolKwargs(msgspec.Struct, omit_defaults=True, gc=False):
    content: Any
    type: str
    tool_call_id: str
    status: str
    name: Any = None
    id: Any = None
    additional_kwargs: Any = UNSET
    response_metadata: Any = UNSET
    artifact: Any = None


class _Stored(msgspec.Struct, tag_field="lc", tag=1, gc=False):
    id: msgspec.Raw
    kwargs: Any
    type: str = "constructor"


@cache
def id_of(cls: type[BaseMessage]) -> list[str]:
    """Return the id a message class is stored under; a user's subclass has that of its parent.

    >>> id_of(AIMessage)
    ['langchain', 'schema', 'messages', 'AIMessage']
    """
    if cls.lc_id.__func__ is not BaseMessage.lc_id.__func__:
        return cls.lc_id()
    if cls.get_lc_namespace.__func__ is not BaseMessage.get_lc_namespace.__func__:
        return cls.lc_id()
    return nearest_class(cls).lc_id()


def _is_flat(value: Any, depth: int = 0) -> bool:
    """Return whether a dict or list is plain JSON without anything that looks like a marker."""
    if value.__class__ is dict:
        members: Any = value.values()
        for key in value:
            if key.__class__ is not str or key in _RESERVED:
                return False
    elif value.__class__ is list:
        members = value
    else:
        return value.__class__ in _SCALARS or (value.__class__ is float and math.isfinite(value))
    for member in members:
        if member.__class__ in _SCALARS:
            continue
        if depth > _MAX_DEPTH or not _is_flat(member, depth + 1):
            return False
    return True


def _simple(message: Any) -> Any:
    """Return the keywords of a human or system message, or None.

    Where no dict was touched, the message's own encoding is that of its keywords.
    """
    content = message._raw_content
    if content.__class__ is not str and not _is_flat(content):
        return None
    more, meta = message._raw_additional_kwargs, message._raw_response_metadata
    if more is UNSET and meta is UNSET:
        return message
    if not (_is_dict(more) and _is_dict(meta)):
        return None
    return _Kwargs(content, message.type, message.name, message.id, more or UNSET, meta or UNSET)


def _ai(message: Any) -> Any:
    """Return the keywords of an AI message, or None."""
    more, meta = message._raw_additional_kwargs, message._raw_response_metadata
    if not (more is UNSET and meta is UNSET) and not (_is_dict(more) and _is_dict(meta)):
        return None
    content = message._raw_content
    if content.__class__ is not str and not _is_flat(content):
        return None
    calls, invalid = message._raw_tool_calls, message._raw_invalid_tool_calls
    if calls is UNSET:
        calls = _NONE
    elif not are_plain_calls(calls, _is_flat):
        return None
    if invalid is UNSET:
        invalid = _NONE
    elif not _is_flat(invalid):
        return None
    usage = message.usage_metadata
    if usage is not None and not _is_flat(usage):
        return None
    name, own = message.name, message.id
    return _AIKwargs(
        content, "ai", calls, invalid, name, own, more or UNSET, meta or UNSET, usage or None
    )


def _tool(message: Any) -> Any:
    """Return the keywords of a tool message, or None."""
    more, meta = message._raw_additional_kwargs, message._raw_response_metadata
    if not (more is UNSET and meta is UNSET) and not (_is_dict(more) and _is_dict(meta)):
        return None
    content = message._raw_content
    if content.__class__ is not str and not _is_flat(content):
        return None
    artifact = message.artifact
    if artifact is not None:
        if not _is_flat(artifact):
            return None
        if artifact in ({}, []):
            artifact = None
    call, status, name, own = message.tool_call_id, message.status, message.name, message.id
    return _ToolKwargs(
        content, "tool", call, status, name, own, more or UNSET, meta or UNSET, artifact
    )


def _is_dict(value: Any) -> bool:
    return value is UNSET or _is_flat(value)


_NONE: list[Any] = []
_KWARGS: dict[type, tuple[msgspec.Raw, Callable[[Any], Any]]] = {
    cls: (msgspec.Raw(msgspec.json.encode(id_of(cls))), make)
    for cls, make in (
        (HumanMessage, _simple),
        (SystemMessage, _simple),
        (AIMessage, _ai),
        (ToolMessage, _tool),
    )
}
"""Class -> its id as JSON, and what makes the structs of its keywords."""


def _escape(error: UnicodeError) -> tuple[str, int]:
    """Return the JSON escapes of characters that ASCII lacks; a codec's error handler."""
    assert isinstance(error, UnicodeEncodeError)
    return json.dumps(error.object[error.start : error.end])[1:-1], error.end


codecs.register_error("dragoman.json", _escape)


def dump_messages(obj: Any) -> str | None:
    """Return the stored form of a list of messages as JSON text without blanks, or None.

    >>> from dragoman.messages import HumanMessage
    >>> dump_messages([HumanMessage("hi")])
    '[{"lc":1,"id":["langchain","schema","messages","HumanMessage"],"kwargs":{"type":"human","content":"hi"},"type":"constructor"}]'
    """
    if obj.__class__ is not list or not obj:
        return None
    stored: list[_Stored] = []
    for message in cast("list[Any]", obj):
        row = _KWARGS.get(message.__class__)
        if row is None or message.__dict__:
            return None
        kwargs = row[1](message)
        if kwargs is None:
            return None
        stored.append(_Stored(row[0], kwargs))
    try:
        text = msgspec.json.encode(stored).decode()
    except (UnicodeEncodeError, RecursionError, TypeError):
        return None
    return text if text.isascii() else text.encode("ascii", "dragoman.json").decode("ascii")


_LETTER = re.compile(r"\\u00[2-7]")
"""An escaped ASCII character: a marker could be spelled with it."""

_BY_ID = {tuple(id_of(cls)): cls for cls in CLASSES.values()}
_UNTRUSTED = {identifier: cls for identifier, cls in _BY_ID.items() if identifier in PLAIN_MESSAGES}
_NAMES = tuple(cls.__name__ for cls in CLASSES.values())


@cache
def _decode() -> Callable[[str], list[Any]]:
    union: Any = None
    for cls in CLASSES.values():
        union = cls if union is None else union | cls
    # Literals are looked up, not built: a third of the time of plain strings.
    identifier = tuple[
        Literal["langchain"],
        Literal["schema"],
        Literal["messages"],
        Literal[_NAMES],
    ]
    envelope: Any = msgspec.defstruct(
        "Envelope",
        [
            ("lc", Literal[1]),
            ("type", Literal["constructor"]),
            ("id", identifier),
            ("kwargs", union),
        ],
        forbid_unknown_fields=True,
        gc=False,
    )
    return msgspec.json.Decoder(list.__class_getitem__(envelope)).decode


def load_messages(text: Any, *, legacy: bool = True) -> list[BaseMessage] | None:
    """Return the messages of a stored list, or None where the text holds anything else.

    Args:
        text: The JSON text.
        legacy: Whether ChatMessage and FunctionMessage are allowed.
    """
    if text.__class__ is not str or not text.startswith('[{"lc"'):
        return None
    # Long needles and single signs are found fastest; the exact question is asked only after them.
    if "__lc_escaped__" in text or TAG in text:
        return None
    if "\\" in text and "\\u00" in text and _LETTER.search(text):
        return None
    try:
        envelopes = _decode()(text)
    except (msgspec.MsgspecError, MessageError, UnicodeError, RecursionError):
        return None
    if text.count('"lc') != len(envelopes) and text.count('"lc"') != len(envelopes):
        return None
    classes = _BY_ID if legacy else _UNTRUSTED
    for envelope in envelopes:
        if classes.get(envelope.id) is not envelope.kwargs.__class__:
            return None
    return [envelope.kwargs for envelope in envelopes]
