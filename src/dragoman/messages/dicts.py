"""Messages as dicts: LangChain's `{"type", "data"}` form, dumps, and tolerant reading.

Reading keeps keys it does not know: they become attributes of the message, part of `==`, and are
written back.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from operator import attrgetter
from typing import Any, TypeVar, cast

from msgspec import UNSET

from dragoman.errors import DecodeError, EncodeError, MessageError, short
from dragoman.messages.ai import AIMessageChunk
from dragoman.messages.base import BaseMessage
from dragoman.messages.fields import ASIDE, field_names
from dragoman.messages.fragments import marked_fragments
from dragoman.messages.registry import CLASSES, PLAIN_CLASSES, nearest_class

__all__ = [
    "_message_from_dict",
    "dump",
    "message_to_dict",
    "messages_from_dict",
    "messages_to_dict",
    "read_fields",
]

M = TypeVar("M", bound=BaseMessage)
_SCALARS = frozenset({str, int, bool, float, type(None)})


def _plain(value: Any) -> Any:
    """Return a deep copy of dicts and lists; everything else as it is."""
    kind = value.__class__
    if kind in _SCALARS:
        return value
    try:
        if kind is dict:
            return {
                key: item if item.__class__ in _SCALARS else _plain(item)
                for key, item in value.items()
            }
        if kind is list:
            return [item if item.__class__ in _SCALARS else _plain(item) for item in value]
    except RecursionError:
        return _plain_deep(value)
    if isinstance(value, BaseMessage):
        return dump(value)
    return value


def _plain_deep(value: Any) -> Any:
    """Do the same with a stack of its own, for what nests deeper than Python calls may."""
    done: dict[int, Any] = {}  # what stands for a container, also inside itself
    root: list[Any] = [None]
    stack: list[tuple[Any, Any, Any]] = [(root, 0, value)]
    while stack:
        into, key, item = stack.pop()
        if item.__class__ is not dict and item.__class__ is not list:
            into[key] = dump(item) if isinstance(item, BaseMessage) else item
            continue
        copied = done.get(id(item))
        if copied is None:
            places: Any = item.items() if item.__class__ is dict else enumerate(item)
            copied = done[id(item)] = dict(item) if item.__class__ is dict else list(item)
            stack += [(copied, place, inner) for place, inner in places]
        into[key] = copied
    return root[0]


@cache
def _plan(cls: type) -> tuple[tuple[str, ...], Any, tuple[tuple[str, Any], ...]]:
    """Return the names of a class's fields, a getter of their slots, and its lazy fields."""
    names = field_names(cls)
    lazy = cast("dict[str, Any]", getattr(cls, "_lazy", {}))
    slots = ["_raw_" + name if name in lazy else name for name in names]
    return names, attrgetter(*slots), tuple(lazy.items())


def _dump_all(message: BaseMessage) -> dict[str, Any]:
    """Return every field, for classes whose slots hold what their fields show."""
    names, get, lazy = _plan(message.__class__)
    fields = dict(zip(names, get(message), strict=True))
    for name, make in lazy:
        value = fields[name]
        fields[name] = make() if value is UNSET else _plain(value)
    for name in _CONTAINERS:
        value = fields.get(name)
        if value.__class__ not in _SCALARS:
            fields[name] = _plain(value)
    if message.__dict__:
        fields.update(
            (name, _plain(value)) for name, value in message._items() if name not in fields
        )
    return fields


_CONTAINERS = ("content", "artifact", "usage_metadata")


def dump(
    message: BaseMessage,
    *,
    mode: str = "python",
    include: Any = None,
    exclude: Any = None,
    exclude_none: bool = False,
    exclude_defaults: bool = False,
    exclude_unset: bool = False,
    **_: Any,
) -> dict[str, Any]:
    """Return every field of a message in order, extra attributes last; containers are copied."""
    fields: dict[str, Any] = {}
    for name, value in message._items():
        if (include is not None and name not in include) or (
            exclude is not None and name in exclude
        ):
            continue
        if exclude_none and value is None:
            continue
        if (exclude_defaults or exclude_unset) and name not in ("content", "type") and not value:
            continue
        fields[name] = value if value.__class__ in _SCALARS else _plain(value)
    if mode == "json":
        from dragoman._json import to_plain

        try:
            return cast("dict[str, Any]", to_plain(fields))
        except RecursionError:
            message_text = "the message nests too deeply, or holds itself"
            raise EncodeError(message_text) from None
    return fields


def dump_json(message: BaseMessage, *, indent: int | None = None, **options: Any) -> str:
    """Return `dump` as JSON text."""
    import json

    options["mode"] = "json"
    separators = None if indent is not None else (",", ":")
    return json.dumps(
        dump(message, **options), ensure_ascii=False, indent=indent, separators=separators
    )


def message_to_dict(message: BaseMessage) -> dict[str, Any]:
    """Return `{"type": ..., "data": {every field}}`; the message is not changed.

    >>> from dragoman.messages import HumanMessage
    >>> message_to_dict(HumanMessage("hi"))["data"]["content"]
    'hi'
    """
    flat = message.__class__ in PLAIN_CLASSES
    return {"type": message.type, "data": _dump_all(message) if flat else dump(message)}


def messages_to_dict(messages: Sequence[BaseMessage]) -> list[dict[str, Any]]:
    """Return `message_to_dict` of each."""
    return [message_to_dict(message) for message in messages]


def messages_from_dict(messages: Sequence[dict[str, Any]]) -> list[BaseMessage]:
    """Return the messages that `messages_to_dict` was given; unknown keys are kept.

    Raises:
        DecodeError: If an item is no such dict, or its type is unknown (it is a ValueError).
    """
    return [_from_dict(item, f"$[{i}]") for i, item in enumerate(messages)]


def _message_from_dict(message: dict[str, Any]) -> BaseMessage:
    """Return the message that `message_to_dict` was given."""
    return _from_dict(message, "$")


# Fields that are empty without being given: the constructor is fastest without them.
_LEFT_OUT_IF_EMPTY = frozenset(
    {
        "additional_kwargs",
        "response_metadata",
        "name",
        "id",
        "tool_calls",
        "invalid_tool_calls",
        "usage_metadata",
        "tool_call_chunks",
        "chunk_position",
    }
)


def _from_dict(item: Any, path: str) -> BaseMessage:
    try:
        kind, data = item["type"], item["data"]
    except (TypeError, KeyError, IndexError):
        message = "expected a dict with the keys type and data"
        raise DecodeError(message, path=path) from None
    cls = CLASSES.get(kind) if isinstance(kind, str) else None
    if cls is AIMessageChunk:
        return read_fields(cls, data, f"{path}.data")
    if cls is None:
        message = f"Got unexpected message type: {short(kind)}"
        raise DecodeError(message, path=path, hint=f"one of {', '.join(CLASSES)}")
    try:
        given: dict[str, Any] = {
            k: v for k, v in data.items() if v or v == "" or k not in _LEFT_OUT_IF_EMPTY
        }
        return cls(**given)
    except (TypeError, AttributeError):
        return read_fields(cls, data, f"{path}.data")
    except MessageError as error:
        raise _at(error, f"{path}.data") from error


def _at(error: MessageError, path: str) -> DecodeError:
    inner = "" if error.path is None else f".{error.path}"
    return DecodeError(error.message, path=path + inner, hint=error.hint)


def read_fields(cls: type[M], data: Any, path: str = "$") -> M:
    """Return a message of `cls` made of a dict of fields; keys it does not have become attributes.

    Raises:
        DecodeError: If `data` is no dict or a field has the wrong form.
    """
    if not isinstance(data, Mapping):
        message = f"expected a dict of fields, got {type(data).__name__}"
        raise DecodeError(message, path=path)
    names = field_names(cls)
    known: dict[str, Any] = {}
    extra: dict[str, Any] = {}
    for key, value in data.items():
        if not isinstance(key, str):
            message = f"the key {short(key)} is not text"
            raise DecodeError(message, path=path)
        if key in names or key == "content_blocks":
            if value is not None or key not in cls._lazy:
                known[key] = value
        elif hasattr(cls, key):
            extra.setdefault(ASIDE, {})[key] = value
        else:
            extra[key] = value
    if "tool_call_chunks" in known and "invalid_tool_calls" in known:
        known["tool_call_chunks"] = marked_fragments(
            known["tool_call_chunks"], known["invalid_tool_calls"]
        )
    try:
        made = cls(**known)
    except MessageError as error:
        raise _at(error, path) from error
    except TypeError as error:
        message = f"not a {cls.__name__}: {error}"
        raise DecodeError(message, path=path) from error
    if extra:
        vars(made).update(extra)
    return made


def restore(cls: type[M], fields: dict[str, Any]) -> M:
    """Return the message that pickle was given."""
    return read_fields(cls, fields)


def validate(cls: type[M], obj: Any) -> M:
    """Return `obj` if it is a `cls`, else a message made of a dict of fields or an envelope.

    Raises:
        DecodeError: If it is neither.
    """
    if isinstance(obj, cls):
        return obj
    if isinstance(obj, BaseMessage):
        message = f"expected a {cls.__name__}, got a {type(obj).__name__}"
        raise DecodeError(message)
    if not isinstance(obj, Mapping):
        message = f"expected a {cls.__name__} or a dict of its fields, got {type(obj).__name__}"
        raise DecodeError(message)
    kind = obj.get("type")
    if "data" in obj and isinstance(obj["data"], Mapping) and "content" not in obj:
        obj = {"type": kind, **obj["data"]}
    target = _target(cls, kind)
    return cast("M", read_fields(target, obj))


def _target(cls: type[BaseMessage], kind: Any) -> type[BaseMessage]:
    """Return the class to read a dict as: `cls`, or the class of its `type` if that is a subclass."""
    own = nearest_class(cls)
    if kind is None:
        if cls in set(CLASSES.values()) or own is not BaseMessage:
            return cls
        message = "a message dict needs a type"
        raise DecodeError(message, hint=f"one of {', '.join(CLASSES)}")
    named = CLASSES.get(kind) if isinstance(kind, str) else None
    if named is not None and (own is BaseMessage or issubclass(named, cls)):
        return named
    if named is None and cls is BaseMessage:
        message = f"unknown message type {short(kind)}"
        raise DecodeError(message, path="type", hint=f"one of {', '.join(CLASSES)}")
    if named is None or named is own:
        return cls
    message = f"the type of {cls.__name__} is {own._default_type!r}, not {short(kind)}"
    raise DecodeError(message, path="type")


def validate_json(cls: type[M], data: str | bytes) -> M:
    """Return a message read from JSON text.

    Raises:
        DecodeError: If it is not JSON of such a message.
    """
    from dragoman._json import from_plain
    from dragoman.messages.partial_json import decode_json

    text = data.decode("utf-8", "replace") if isinstance(data, bytes | bytearray) else data
    return validate(cls, from_plain(decode_json(text)))
