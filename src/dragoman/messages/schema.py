"""Messages as pydantic v2 field types, made when pydantic first asks.

An instance passes as it is; a dict of fields (or a `{"type", "data"}` envelope) is read with unknown
keys kept. JSON schemas stand inline, without definitions, so that any host may embed them.
"""

from functools import cache
from typing import Any

from dragoman.errors import DecodeError
from dragoman.messages.base import BaseMessage
from dragoman.messages.dicts import dump, validate
from dragoman.messages.fields import field_names
from dragoman.messages.registry import CHUNK_CLASSES, CLASSES, MESSAGE_CLASSES, nearest_class

__all__ = ["any_json_schema", "any_message_schema", "core_schema_of", "json_schema"]

_CONTENT = {
    "anyOf": [
        {"type": "string"},
        {"type": "array", "items": {"anyOf": [{"type": "string"}, {"type": "object"}]}},
    ],
    "title": "Content",
}
_OPTIONAL_TEXT = {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None}
_OBJECT = {"type": "object", "additionalProperties": True}
_OBJECTS = {"type": "array", "items": _OBJECT}
_FIELDS: dict[str, dict[str, Any]] = {
    "content": _CONTENT,
    "additional_kwargs": _OBJECT,
    "response_metadata": _OBJECT,
    "name": _OPTIONAL_TEXT,
    "id": _OPTIONAL_TEXT,
    "tool_calls": _OBJECTS,
    "invalid_tool_calls": _OBJECTS,
    "tool_call_chunks": _OBJECTS,
    "usage_metadata": {"anyOf": [_OBJECT, {"type": "null"}], "default": None},
    "chunk_position": {
        "anyOf": [{"const": "last", "type": "string"}, {"type": "null"}],
        "default": None,
    },
    "tool_call_id": {"type": "string"},
    "artifact": {"default": None},
    "status": {"enum": ["success", "error"], "type": "string", "default": "success"},
    "role": {"type": "string"},
}
_REQUIRED = ("tool_call_id", "role")


def json_schema(cls: type[BaseMessage]) -> dict[str, Any]:
    """Return the JSON schema of a message class, without definitions."""
    properties: dict[str, Any] = {}
    for name in field_names(cls):
        if name == "type":
            kind = cls._default_type
            properties[name] = {"const": kind, "default": kind, "type": "string"}
        else:
            properties[name] = dict(_FIELDS.get(name, {}))
    required = ["content", *(name for name in _REQUIRED if name in properties)]
    if cls._default_type in ("function", "FunctionMessageChunk"):
        required.append("name")
    if cls._default_type == "remove":
        required = ["id"]
    return {
        "title": cls.__name__,
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": True,
    }


def _core(read: Any, cls: type[BaseMessage], schema: Any) -> Any:
    from pydantic_core import core_schema

    def as_json_schema(_core_schema: Any, _handler: Any) -> dict[str, Any]:
        return schema()

    instance = core_schema.is_instance_schema(cls)
    from_data = core_schema.no_info_plain_validator_function(read)
    return core_schema.union_schema(
        [instance, from_data],
        mode="left_to_right",
        serialization=core_schema.plain_serializer_function_ser_schema(
            _serialize, info_arg=True, return_schema=core_schema.any_schema()
        ),
        metadata={"pydantic_js_functions": [as_json_schema]},
    )


def _serialize(value: Any, info: Any) -> Any:
    return dump(value, mode=info.mode) if isinstance(value, BaseMessage) else value


def core_schema_of(cls: type[BaseMessage]) -> Any:
    """Return pydantic's core schema of one message class; `BaseMessage` takes every class."""
    if nearest_class(cls) is BaseMessage:
        return _core(_read_any, BaseMessage, any_json_schema)

    def read(data: Any) -> BaseMessage:
        return validate(cls, data)

    return _core(read, cls, lambda: json_schema(cls))


@cache
def _known() -> tuple[type[BaseMessage], ...]:
    return (*MESSAGE_CLASSES, *CHUNK_CLASSES)


def _read_any(data: Any) -> BaseMessage:
    if isinstance(data, BaseMessage):
        return data
    if not isinstance(data, dict):
        message = f"expected a message or a dict with a type, got {type(data).__name__}"
        raise DecodeError(message)
    if "type" not in data:
        message = "a message dict needs the key 'type'"
        raise TypeError(message)
    return validate(CLASSES.get(data["type"], BaseMessage), data)


def any_message_schema() -> Any:
    """Return pydantic's core schema of `AnyMessage`."""
    return _core(_read_any, BaseMessage, any_json_schema)


def any_json_schema() -> dict[str, Any]:
    """Return the JSON schema of `AnyMessage`."""
    return {"oneOf": [json_schema(cls) for cls in _known()]}
