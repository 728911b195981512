"""Anything people write for a message, as a message.

`convert_to_messages` takes messages, strings, `(role, content)` pairs, role dicts, LangChain's envelopes
and prompt values. One broken tool call never makes a history unreadable: it becomes an invalid call.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias, cast

from dragoman.errors import ErrorCode, MessageError, create_message, short
from dragoman.messages.ai import AIMessage
from dragoman.messages.arguments import make_call, read_arguments
from dragoman.messages.base import BaseMessage
from dragoman.messages.chat import ChatMessage
from dragoman.messages.dicts import read_fields
from dragoman.messages.function import FunctionMessage
from dragoman.messages.human import HumanMessage
from dragoman.messages.modifier import RemoveMessage
from dragoman.messages.registry import CHUNK_PARENT, CLASSES
from dragoman.messages.system import SystemMessage
from dragoman.messages.tool import ToolMessage

__all__ = ["MessageLikeRepresentation", "convert_to_messages"]

MessageLikeRepresentation: TypeAlias = (
    BaseMessage | list[str] | tuple[str, str] | str | dict[str, Any]
)

_ROLES: dict[str, type[BaseMessage]] = {
    "human": HumanMessage,
    "user": HumanMessage,
    "ai": AIMessage,
    "assistant": AIMessage,
    "system": SystemMessage,
    "developer": SystemMessage,
    "function": FunctionMessage,
    "tool": ToolMessage,
    "remove": RemoveMessage,
}
_KNOWN = set(CLASSES.values())
_FIELDS = ("name", "id", "response_metadata", "tool_call_id")


def _error(text: str) -> str:
    return create_message(message=text, error_code=ErrorCode.MESSAGE_COERCION_FAILURE)


class _NotAMessageError(MessageError, NotImplementedError):
    """Something that no rule makes a message of; also a NotImplementedError, as in LangChain."""


def convert_to_messages(messages: Iterable[Any] | Any) -> list[BaseMessage]:
    """Return a new list of messages; those that are messages already are the same objects.

    Args:
        messages: A prompt value, or an iterable of messages, strings, `(role, content)` pairs, dicts
            with `role` (or `type`) and `content`, or envelopes. A bare string is iterated by
            character: wrap it in a list.

    Raises:
        MessageError: If an item cannot become a message; names its position.

    >>> convert_to_messages([("user", "Hello"), {"role": "assistant", "content": "Hi"}])[1].content
    'Hi'
    """
    if messages.__class__ is list and _KNOWN.issuperset(map(type, messages)):
        return list(messages)
    to_messages = getattr(messages, "to_messages", None)
    if to_messages is not None and not isinstance(messages, Sequence):
        return to_messages()
    if isinstance(messages, BaseMessage):
        return [messages]
    if isinstance(messages, Mapping) or not isinstance(messages, Iterable):
        text = f"expected messages, got {type(messages).__name__}"
        raise MessageError(text, hint="wrap a single message in a list")
    return [_common(item) or _convert(item, position) for position, item in enumerate(messages)]


def _convert(item: Any, position: int) -> BaseMessage:
    if isinstance(item, BaseMessage):
        return item
    path = f"$[{position}]"
    if item.__class__ is dict or isinstance(item, Mapping):
        return _from_dict(item, path)
    if isinstance(item, str):
        return HumanMessage(item)
    if isinstance(item, Sequence) and not isinstance(item, bytes | bytearray):
        pair = cast("Sequence[Any]", item)
        if len(pair) != 2:
            text = f"Message as a sequence must be (role string, template), got length {len(pair)}"
            raise _NotAMessageError(_error(text), path=path)
        role, content = pair
        if not isinstance(role, str):
            text = f"Message as a sequence must be (role string, template), got {short(role)}"
            raise _NotAMessageError(_error(text), path=path)
        if content is None:
            text = "content has to be a string or a list of blocks, not NoneType"
            raise MessageError(text, path=f"{path}[1]")
        return _build(role, {"content": content}, path)
    text = f"Unsupported message type: {type(item)}"
    raise _NotAMessageError(_error(text), path=path)


_SIMPLE: dict[Any, type[BaseMessage]] = {
    "user": HumanMessage,
    "human": HumanMessage,
    "assistant": AIMessage,
    "ai": AIMessage,
    "system": SystemMessage,
}


def _common(item: Any) -> BaseMessage | None:
    """Return the message of a dict in one of the three commonest shapes, else None."""
    if item.__class__ is not dict:
        return None
    try:
        role, content = item["role"], item["content"] or ""
        size = len(item)
        if size == 2:
            return _SIMPLE[role](content)
        if size == 3:
            if role == "tool":
                return ToolMessage(content, tool_call_id=item["tool_call_id"])
            if role == "assistant":
                calls: list[Any] = []
                for call in item["tool_calls"]:
                    function = call["function"]
                    args, _ = read_arguments(function["arguments"])
                    if args is None:
                        return None
                    calls.append({"name": function["name"], "args": args, "id": call["id"]})
                return AIMessage(content, tool_calls=calls)
    except (KeyError, TypeError, MessageError):
        pass  # another shape, or an error to be told with its place
    return None


def _from_dict(item: Mapping[str, Any], path: str) -> BaseMessage:
    if item.get("lc") == 1 and (made := _from_envelope(item)) is not None:
        return made
    role: Any = item.get("role", item.get("type"))
    if role is None or ("content" not in item and not _may_lack_content(item)):
        text = f"Message dict must contain 'role' and 'content' keys, got keys {short(list(item))}"
        raise MessageError(_error(text), path=path)
    if not isinstance(role, str):
        text = f"the role has to be text, got {short(role)}"
        raise MessageError(_error(text), path=path)
    fields = {key: value for key, value in item.items() if key != "role"}
    if "role" not in item or fields.get("type") == role or fields.get("type") in CLASSES:
        del fields["type"]
    return _build(role, fields, path)


def _may_lack_content(item: Mapping[str, Any]) -> bool:
    return bool(item.get("tool_calls") or item.get("function_call")) or (
        item.get("role", item.get("type")) == "remove"
    )


def _from_envelope(item: Mapping[str, Any]) -> BaseMessage | None:
    ids, fields = item.get("id"), item.get("kwargs")
    if item.get("type") != "constructor" or not isinstance(fields, Mapping):
        return None
    if not isinstance(ids, list | tuple) or not ids:
        return None
    name: Any = ids[-1]
    cls = next((c for c in CLASSES.values() if c.__name__ == name), None)
    if cls is None or cls.__name__.startswith("Chat"):
        return None
    cls = CHUNK_PARENT.get(cls, cls)
    kept = {key: value for key, value in fields.items() if key != "type"}
    for key in ("tool_call_chunks", "chunk_position"):
        if issubclass(cls, AIMessage):
            kept.pop(key, None)
    return read_fields(cls, kept)


def _build(role: str, fields: dict[str, Any], path: str) -> BaseMessage:
    cls = _ROLES.get(role)
    if cls is None:
        whole = CLASSES.get(role)
        if whole is None or (whole is not ChatMessage and "role" in fields):
            text = (
                f"Unexpected message type: '{role}'. Use one of 'human', 'user', 'ai', 'assistant', "
                "'function', 'tool', 'system', or 'developer'."
            )
            raise MessageError(_error(text), path=path)
        return read_fields(whole, fields, path)
    content: Any = fields.pop("content", None)
    known: dict[str, Any] = {"content": content or ""}
    extra = _take_fields(cls, known, fields, path) if fields else {}
    if role == "developer":
        extra["__openai_role__"] = "developer"
    if extra:
        known["additional_kwargs"] = extra
    if cls is RemoveMessage:
        known.pop("content")
    return _made(cls, known, path)


# Keys of a role dict that are fields of one class only.
_OWN_FIELDS: dict[type[BaseMessage], tuple[str, ...]] = {
    AIMessage: ("invalid_tool_calls", "usage_metadata"),
    ToolMessage: ("artifact", "status"),
}


def _take_fields(
    cls: type[BaseMessage], known: dict[str, Any], fields: dict[str, Any], path: str
) -> dict[str, Any]:
    """Move what are fields of `cls` to `known`; return the rest, for `additional_kwargs`."""
    for key in (*_FIELDS, *_OWN_FIELDS.get(cls, ())):
        value = fields.pop(key, None)
        if value is not None:
            known[key] = value
    calls = fields.pop("tool_calls", None)
    if cls is AIMessage:
        _take_calls(known, calls, path)
    elif calls:
        fields["tool_calls"] = calls
    given: Any = fields.pop("additional_kwargs", None)
    if cls in (HumanMessage, AIMessage) and fields.pop("example", None):
        known["example"] = True
    if given is not None:
        if not isinstance(given, Mapping):
            text = f"expected a dict, got {type(given).__name__}"
            raise MessageError(text, path=f"{path}.additional_kwargs")
        fields.update(given)
    return fields


def _made(cls: type[BaseMessage], known: dict[str, Any], path: str) -> BaseMessage:
    make: Callable[..., BaseMessage] = cls
    try:
        return make(**known)
    except TypeError:
        return read_fields(cls, known, path)
    except MessageError as error:
        inner = path if error.path is None else f"{path}.{error.path}"
        raise MessageError(error.message, path=inner, hint=error.hint) from error


def _take_calls(known: dict[str, Any], calls: Any, path: str) -> None:
    if not calls:
        return
    if not isinstance(calls, list | tuple):
        text = f"expected a list, got {type(calls).__name__}"
        raise MessageError(text, path=f"{path}.tool_calls")
    valid: list[Any] = []
    invalid: list[Any] = []
    for position, call in enumerate(calls):
        if not isinstance(call, Mapping):
            text = f"a call has to be a dict, not {type(call).__name__}"
            raise MessageError(text, path=f"{path}.tool_calls[{position}]")
        function: Any = call.get("function")
        if isinstance(function, Mapping):
            made = make_call(function.get("name"), function.get("arguments"), call.get("id"))
        elif call.get("type") == "invalid_tool_call":
            made = dict(call)
        elif "args" in call and not isinstance(call["args"], dict):
            made = make_call(call.get("name"), call["args"], call.get("id"))
        else:
            made = {"id": None, **call} if "id" not in call else dict(call)
        (invalid if made.get("type") == "invalid_tool_call" else valid).append(made)
    if valid:
        known["tool_calls"] = valid
    if invalid:
        known["invalid_tool_calls"] = invalid
