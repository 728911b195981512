"""`dumpd` and `dumps`: objects as LangChain's JSON.

    {"lc": 1, "type": "constructor", "id": [..., "AIMessage"], "kwargs": {...}}
    {"lc": 1, "type": "not_implemented", "id": [...], "repr": "..."}   what cannot be stored
    {"lc": 1, "type": "secret", "id": ["OPENAI_API_KEY"]}              in the place of a key
    {"__lc_escaped__": {...}}                                          a user's dict that looks like these
    {"__type__": "datetime", "value": "..."}                           a value JSON lacks (see `tags`)

Two manners. The data of messages, generations and documents is *kept*: tuples, sets, int keys and
the like are tagged, and what cannot be stored is an `EncodeError` that names the path, before
anything is lost. Everything around them (plain containers, fields of components) is written as
LangChain does: tuples become lists, foreign objects become `not_implemented`.
"""

import json
import math
from enum import Enum
from typing import Any, cast

import msgspec
from pydantic import BaseModel

from dragoman.errors import EncodeError
from dragoman.load import fast
from dragoman.load.serializable import Secret, Serializable, to_json_not_implemented
from dragoman.load.tags import CONTAINERS, SCALARS, is_tag, tag
from dragoman.messages.base import BaseMessage
from dragoman.messages.fields import field_names

__all__ = ["ESCAPED", "MAX_DEPTH", "default", "dumpd", "dumps"]

ESCAPED = "__lc_escaped__"
MAX_DEPTH = 200
"""Levels of JSON that `load` reads; deeper data is refused when it is dumped."""

Path = tuple[Any, ...]

_PLAIN = (str, int, bool, type(None))
_PLAIN_KEYS = (str, int, float, bool, type(None))
_ALWAYS = {"content", "type", "tool_calls", "invalid_tool_calls"}


def dumpd(obj: Any) -> Any:
    """Return the stored form of `obj` as dicts, lists and scalars; `obj` is not changed.

    Raises:
        EncodeError: If a message, generation or document holds something that could not be
            read back, or the data is nested more than 200 levels deep.

    >>> from dragoman.messages import HumanMessage
    >>> dumpd(HumanMessage("hi"))["kwargs"]
    {'content': 'hi', 'type': 'human'}
    """
    return _encode(obj, (), keep=False)


def dumps(obj: Any, *, pretty: bool = False, **kwargs: Any) -> str:
    """Return the stored form of `obj` as JSON text.

    Args:
        obj: Anything; what cannot be stored leaves a `not_implemented` marker.
        pretty: Indent by two spaces (or by `indent=`).
        kwargs: Passed on to `json.dumps`.

    Raises:
        ValueError: If `default` is passed.
        EncodeError: As `dumpd`.

    >>> dumps({"a": (1, 2)})
    '{"a": [1, 2]}'
    """
    if "default" in kwargs:
        message = "`default` should not be passed to dumps"
        raise ValueError(message)
    if not kwargs and not pretty and (text := fast.dump_messages(obj)) is not None:
        return text
    if pretty:
        kwargs.setdefault("indent", 2)
    return json.dumps(dumpd(obj), **kwargs)


def default(obj: Any) -> Any:
    """Return the stored form of one object, for use as `json.dumps(..., default=default)`."""
    return dumpd(obj)


def _error(problem: str, path: Path, hint: str) -> EncodeError:
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return EncodeError(problem, path="$" + "".join(steps), hint=hint)


def _check_depth(depth: int, path: Path) -> None:
    if depth > MAX_DEPTH:
        problem = f"data nested more than {MAX_DEPTH} levels, or a cycle"
        raise _error(problem, path[:20], "flatten it")


def _encode(value: Any, path: Path, *, keep: bool, depth: int = 0) -> Any:
    kind: type = type(value)
    if kind in _PLAIN:
        return value
    if kind is float and (math.isfinite(value) or not keep):
        return value
    _check_depth(depth, path)
    if kind is float:
        return tag("float", repr(value))
    if isinstance(value, dict):
        return _encode_dict(cast("dict[Any, Any]", value), path, keep=keep, depth=depth)
    if kind is list:
        return [
            _encode(member, (*path, index), keep=keep, depth=depth + 1)
            for index, member in enumerate(value)
        ]
    if isinstance(value, BaseMessage):
        return _encode_message(value, path, depth)
    if isinstance(value, Serializable):
        return _encode_component(value, path, depth)
    if isinstance(value, msgspec.Struct) and hasattr(value, "is_lc_serializable"):
        return _encode_struct(value, path, depth)
    return _encode_other(value, kind, path, keep=keep, depth=depth)


def _encode_other(value: Any, kind: type, path: Path, *, keep: bool, depth: int) -> Any:
    if kind in SCALARS:
        _check_depth(depth + 1, path)
        name, write = SCALARS[kind]
        return tag(name, write(value))
    if kind in CONTAINERS:
        _check_depth(depth + 1, path)
        ordered = value if kind is tuple else sorted(value, key=repr)
        inner = depth + 2 if keep or kind is not tuple else depth + 1
        members = [
            _encode(member, (*path, index), keep=keep, depth=inner)
            for index, member in enumerate(ordered)
        ]
        return members if kind is tuple and not keep else tag(CONTAINERS[kind], members)
    if not (keep and isinstance(value, Enum)):
        if isinstance(value, Enum) and isinstance(value, (str, int, float)):
            return value.value
        for base in (str, int, float):  # a subclass, such as the text of a message
            if isinstance(value, base) and not isinstance(value, Enum):
                return _encode(base(value), path, keep=keep, depth=depth)
        if isinstance(value, (list, tuple)):
            return _encode(list(value), path, keep=keep, depth=depth)
    if keep:
        problem = f"a {kind.__module__}.{kind.__qualname__} cannot be stored"
        hint = "model_dump() it first" if isinstance(value, BaseModel) else "store plain data"
        raise _error(problem, path, hint)
    return _named(value, cast("dict[str, Any]", to_json_not_implemented(value)))


def _encode_dict(value: dict[Any, Any], path: Path, *, keep: bool, depth: int) -> Any:
    if type(value) is Secret:
        return dict(value)
    if "lc" in value or (len(value) == 1 and ESCAPED in value) or is_tag(value):
        if _is_json(value, MAX_DEPTH - depth - 1):
            return {ESCAPED: value}
        return _encode_pairs(value, path, keep=keep, depth=depth)
    if any(type(key) is not str for key in value):
        if keep:
            return _encode_pairs(value, path, keep=keep, depth=depth)
        if not all(isinstance(key, _PLAIN_KEYS) for key in value):
            return to_json_not_implemented(value)
    return {
        key: _encode(member, (*path, key), keep=keep, depth=depth + 1)
        for key, member in value.items()
    }


def _encode_pairs(value: dict[Any, Any], path: Path, *, keep: bool, depth: int) -> Any:
    _check_depth(depth + 2, path)
    pairs = [
        [
            _encode(key, (*path, key), keep=keep, depth=depth + 3),
            _encode(member, (*path, key), keep=keep, depth=depth + 3),
        ]
        for key, member in value.items()
    ]
    return tag("dict", pairs)


def _is_json(value: Any, levels: int) -> bool:
    """Return whether `value` reads back equal from JSON, within so many levels."""
    kind: type = type(value)
    if kind in _PLAIN:
        return True
    if kind is float:
        return math.isfinite(value)
    if levels < 0:
        return False
    if kind is list:
        return all(_is_json(member, levels - 1) for member in value)
    if kind is dict:
        return all(type(k) is str and _is_json(v, levels - 1) for k, v in value.items())
    return False


def _encode_message(message: BaseMessage, path: Path, depth: int) -> Any:
    cls = type(message)
    declared = field_names(cls)
    kwargs: dict[str, Any] = {}
    for key, value in message.model_dump().items():
        if key in declared and key not in _ALWAYS and (value is None or value in ({}, [])):
            continue
        where = (*path, key)
        if key == "additional_kwargs" and isinstance(value, dict):
            value = _with_parsed(message, cast("dict[str, Any]", value))
        if key == "artifact":
            value = getattr(message, "artifact", value)  # as it is, not as model_dump shows it
        kwargs[key] = _encode(value, where, keep=True, depth=depth + 2)
    return {"lc": 1, "type": "constructor", "id": fast.id_of(cls), "kwargs": kwargs}


def _with_parsed(message: BaseMessage, shown: dict[str, Any]) -> dict[str, Any]:
    """Return additional_kwargs with a pydantic `parsed` (OpenAI's SDK puts it there) as its dict."""
    own = message.additional_kwargs
    parsed = own.get("parsed")
    if isinstance(parsed, BaseModel) and not isinstance(parsed, Serializable):
        return {**own, "parsed": parsed.model_dump(mode="json")}
    return own or shown


def _encode_component(value: Serializable, path: Path, depth: int) -> Any:
    stored = cast("dict[str, Any]", value.to_json())
    if stored["type"] == "constructor":
        keep = value.lc_keeps_data
        stored["kwargs"] = {
            key: _encode(member, (*path, key), keep=keep, depth=depth + 2)
            for key, member in stored["kwargs"].items()
        }
    return _named(value, stored)


def _encode_struct(value: Any, path: Path, depth: int) -> Any:
    if not value.is_lc_serializable():
        return to_json_not_implemented(value)
    kwargs: dict[str, Any] = {}
    for key in type(value).__struct_fields__:
        member = getattr(value, key)
        if key == "type" or not (member is None or member in ({}, [])):
            kwargs[key] = _encode(member, (*path, key), keep=True, depth=depth + 2)
    return {"lc": 1, "type": "constructor", "id": value.lc_id(), "kwargs": kwargs}


def _named(value: Any, stored: dict[str, Any]) -> dict[str, Any]:
    """Return `stored` with the name a runnable has; LangChain's graphs and traces show it."""
    get_name = getattr(value, "get_name", None)
    if "name" not in stored and isinstance(value, Serializable) and callable(get_name):
        stored["name"] = get_name()
    return stored
