"""Tool calls as the constructor of a message takes them: checked, and rebuilt in one form."""

from collections.abc import Callable
from typing import Any, cast

from dragoman.errors import MessageError, UnknownFieldError, short
from dragoman.messages.arguments import make_call, raw_text
from dragoman.messages.content import InvalidToolCall, ToolCall, ToolCallChunk

__all__ = [
    "are_plain_calls",
    "raw_calls",
    "raw_fragments",
    "rebuilt_calls",
    "rebuilt_invalid_calls",
]

_USUAL_KEYS = {"name", "args", "id", "type"}
_CALL_KEYS = frozenset({"name", "args", "id", "type", "extras", "index"})
_INVALID_KEYS = frozenset({"name", "args", "id", "error", "type", "extras", "index"})


def rebuilt_calls(given: Any) -> list[ToolCall]:
    """Return calls with exactly the keys name, args, id and type; the input is not changed.

    Raises:
        MessageError: If a call is not a dict, lacks a key, or a value has the wrong type.
        UnknownFieldError: If a call has another key (it is a TypeError too).
    """
    if given.__class__ is not list and not isinstance(given, list | tuple):
        message = f"tool_calls has to be a list, not {type(given).__name__}"
        raise MessageError(message, path="tool_calls")
    rebuilt: list[ToolCall] = []
    for call in given:
        try:
            name, args, id_val = call["name"], call["args"], call["id"]
        except (KeyError, TypeError, IndexError):
            raise _incomplete(call, ("name", "args", "id"), f"tool_calls[{len(rebuilt)}]") from None
        size = len(call)
        if (
            name.__class__ is not str
            or args.__class__ is not dict
            or (size > 3 and (size > 4 or "type" not in call))
        ):
            name, args = _checked(call, name, args, f"tool_calls[{len(rebuilt)}]")
        if id_val is not None and id_val.__class__ is not str:
            id_val = _text_or_none(id_val, f"tool_calls[{len(rebuilt)}].id")
        rebuilt.append({"name": name, "args": args, "id": id_val, "type": "tool_call"})
    return rebuilt


def _checked(call: Any, name: Any, args: Any, path: str) -> tuple[str, dict[str, Any]]:
    unknown = call.keys() - _CALL_KEYS
    if unknown:
        message = f"unknown key {short(min(unknown, key=str))} in a tool call"
        raise UnknownFieldError(message, path=path)
    if not isinstance(name, str):
        message = f"the name has to be text, not {type(name).__name__}"
        raise MessageError(message, path=f"{path}.name")
    if not isinstance(args, dict):
        hint = "parse the JSON text first" if isinstance(args, str) else None
        message = f"the arguments have to be a dict, not {type(args).__name__}"
        raise MessageError(message, path=f"{path}.args", hint=hint)
    return str.__str__(name), args


class _MissingKeyError(MessageError, TypeError):
    """A call without a key that it needs; also a TypeError, as in LangChain."""


def _incomplete(call: Any, keys: tuple[str, ...], path: str) -> MessageError:
    if not isinstance(call, dict):
        return MessageError(f"a call has to be a dict, not {type(call).__name__}", path=path)
    missing = [key for key in keys if key not in call]
    return _MissingKeyError(f"a call needs {' and '.join(missing)}", path=path)


def _text_or_none(value: Any, path: str) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    message = f"expected text or None, got {short(value)}"
    raise MessageError(message, path=path)


def rebuilt_invalid_calls(given: Any) -> list[InvalidToolCall]:
    """Return invalid calls with exactly the keys type, id, name, args and error.

    Raises:
        MessageError: If a call is not a dict or a value is not text.
        UnknownFieldError: If a call has another key.
    """
    if not isinstance(given, list | tuple):
        message = f"invalid_tool_calls has to be a list, not {type(given).__name__}"
        raise MessageError(message, path="invalid_tool_calls")
    rebuilt: list[InvalidToolCall] = []
    for position, call in enumerate(given):
        path = f"invalid_tool_calls[{position}]"
        if not isinstance(call, dict):
            raise _incomplete(call, (), path)
        unknown = call.keys() - _INVALID_KEYS
        if unknown:
            message = f"unknown key {short(min(unknown, key=str))} in an invalid tool call"
            raise UnknownFieldError(message, path=path)
        rebuilt.append(
            {
                "type": "invalid_tool_call",
                "id": _text_or_none(call.get("id"), f"{path}.id"),
                "name": _text_or_none(call.get("name"), f"{path}.name"),
                "args": _text_or_none(call.get("args"), f"{path}.args"),
                "error": _text_or_none(call.get("error"), f"{path}.error"),
            }
        )
    return rebuilt


def raw_calls(given: Any) -> tuple[list[ToolCall], list[InvalidToolCall]]:
    """Return the valid and invalid calls of OpenAI's raw form, as `additional_kwargs` holds it.

    Entries without `function` are passed over; a malformed one becomes an invalid call with its raw
    text and the reason, never nothing.
    """
    valid: list[ToolCall] = []
    invalid: list[InvalidToolCall] = []
    for entry in given if isinstance(given, list | tuple) else [given]:
        if not isinstance(entry, dict):
            invalid.append(_malformed(None, str(entry)[:200], None, "the call is no object"))
            continue
        if "function" not in entry:
            continue
        function = entry["function"]
        id_val = entry.get("id")
        id_val = id_val if isinstance(id_val, str) else None if id_val is None else str(id_val)
        if not isinstance(function, dict):
            invalid.append(_malformed(None, str(function)[:200], id_val, "`function` is no object"))
            continue
        name = function.get("name")
        if name is not None and not isinstance(name, str):
            name = str(name)
        call = make_call(name, function.get("arguments"), id_val)
        if call.get("type") == "tool_call":
            valid.append(cast("ToolCall", call))
        else:
            invalid.append(cast("InvalidToolCall", call))
    return valid, invalid


def raw_fragments(given: Any) -> list[ToolCallChunk]:
    """Return the fragments of calls in OpenAI's raw form, as `additional_kwargs` of a chunk holds it.

    An entry without `function` has no name and args; a malformed one is marked as invalid.
    """
    fragments: list[Any] = []
    for entry in given if isinstance(given, list | tuple) else [given]:
        function: Any = entry.get("function", {}) if isinstance(entry, dict) else None
        if not isinstance(function, dict):
            why = "the call is no object" if function is None else "`function` is no object"
            raw = str(entry if function is None else function)[:200]
            call = _malformed(None, raw, None, why)
            fragments.append({**call, "index": None, "type": "tool_call_chunk"})
            continue
        index = entry.get("index")
        name, id_val = function.get("name"), entry.get("id")
        fragments.append(
            {
                "name": name if name is None or isinstance(name, str) else str(name),
                "args": raw_text(function.get("arguments")),
                "id": id_val if id_val is None or isinstance(id_val, str) else str(id_val),
                "index": index
                if isinstance(index, int | str) and index.__class__ is not bool
                else None,
                "type": "tool_call_chunk",
            }
        )
    return fragments


def _malformed(name: str | None, args: str, id_val: str | None, error: str) -> InvalidToolCall:
    return {
        "type": "invalid_tool_call",
        "id": id_val,
        "name": name,
        "args": args,
        "error": error,
    }


def are_plain_calls(calls: Any, is_plain: Callable[[Any], bool]) -> bool:
    """Return `is_plain(calls)`, for calls as a message holds them with half of the questions."""
    if calls.__class__ is not list:
        return False
    for call in calls:
        if (
            call.__class__ is not dict
            or call.keys() != _USUAL_KEYS
            or call["name"].__class__ is not str
            or (call["id"].__class__ is not str and call["id"] is not None)
            or call["type"].__class__ is not str
        ):
            return is_plain(calls)
        if not is_plain(call["args"]):
            return False
    return True
