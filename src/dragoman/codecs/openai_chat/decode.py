"""Requests of Chat Completions as `ChatRequest`s: nothing is lost, nothing is changed or copied.

What the canonical form cannot say stays in `additional_kwargs["openai_chat"]` of its message (the
fields beyond role, content, name and calls, as they came) or in `ChatRequest.extra`. Messages of
plain text and well-formed calls, which are nearly all, become plain messages without any of that.
"""

from collections.abc import Callable
from typing import Any

import msgspec

from dragoman.codecs.arguments import dump_arguments, read_arguments
from dragoman.codecs.contract import ChatRequest
from dragoman.codecs.openai_chat.parts import API, decode_content
from dragoman.codecs.openai_chat.tables import Dialect
from dragoman.codecs.schemas import is_in_dialect
from dragoman.codecs.shapes import as_dicts, as_str, require_dict
from dragoman.errors import DecodeError, short
from dragoman.messages import (
    AIMessage,
    BaseMessage,
    FunctionMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)
from dragoman.messages.arguments import make_call

__all__ = ["decode_messages", "decode_request"]

_FIELDS = frozenset(
    ("model", "messages", "tools", "tool_choice", "response_format", "temperature", "top_p", "stop",
     "stream")
)  # fmt: skip
_LIMITS = ("max_completion_tokens", "max_tokens")
_CHOICE = {"auto": "auto", "none": "none", "required": "any"}


def decode_request(body: Any, dialect: Dialect) -> ChatRequest:
    """Return the request in canonical form.

    Raises:
        DecodeError: If the body, a message or its content is of a wrong kind.
    """
    body = require_dict(body, "the request")
    extra: dict[str, Any] = {k: v for k, v in body.items() if k not in _FIELDS}
    request = ChatRequest(
        messages=decode_messages(body.get("messages"), dialect),
        tools=_decode_tools(body.get("tools"), extra),
        tool_choice=_decode_choice(body.get("tool_choice"), extra),
        extra=extra,
    )
    for key, kind in _SCALARS:
        value = body.get(key)
        if value is None:
            continue
        if isinstance(value, kind) and not (isinstance(value, bool) and kind is not bool):
            setattr(request, key, value)
        else:
            extra[key] = value
    _decode_stop(body.get("stop"), request)
    _decode_limit(request, dialect)
    return request


_SCALARS: tuple[tuple[str, Any], ...] = (
    ("model", str),
    ("response_format", dict),
    ("temperature", (int, float)),
    ("top_p", (int, float)),
    ("stream", bool),
)


def _decode_stop(stop: Any, request: ChatRequest) -> None:
    if isinstance(stop, str):
        request.stop = [stop]
        request.extra["stop"] = stop  # remembered: one string is not a list of one on this wire
    elif isinstance(stop, list) and all(isinstance(s, str) for s in stop):
        request.stop = stop
    elif stop is not None:
        request.extra["stop"] = stop


def _decode_limit(request: ChatRequest, dialect: Dialect) -> None:
    """Set `max_tokens`; a spelling that is not the dialect's own stays in `extra` as well."""
    given = [
        (key, n)
        for key in _LIMITS
        if isinstance(n := request.extra.get(key), int) and not isinstance(n, bool)
    ]
    if given:
        request.max_tokens = given[0][1]
        if len(given) == 1 and given[0][0] == dialect.max_tokens:
            del request.extra[dialect.max_tokens]


def _decode_tools(tools: Any, extra: dict[str, Any]) -> list[dict[str, Any]]:
    if tools is None:
        return []
    if not isinstance(tools, list) or not all(isinstance(t, dict) for t in tools):
        extra["tools"] = tools
        return []
    return [_decode_tool(t) for t in tools]


def _decode_tool(tool: dict[str, Any]) -> dict[str, Any]:
    """Return `{name, description, parameters, strict}` if that says everything, else the tool."""
    function = tool.get("function")
    if (
        len(tool) == 2
        and tool.get("type") == "function"
        and isinstance(function, dict)
        and isinstance(function.get("name"), str)
        and function.keys() <= _TOOL_KEYS
    ):
        dialect = "openai_strict" if function.get("strict") else "openai"
        if "parameters" not in function or is_in_dialect(function["parameters"], dialect):
            return function
    return tool


_TOOL_KEYS = {"name", "description", "parameters", "strict"}


def _decode_choice(choice: Any, extra: dict[str, Any]) -> str | dict[str, Any] | None:
    if choice is None:
        return None
    if isinstance(choice, str) and choice in _CHOICE:
        return _CHOICE[choice]
    if isinstance(choice, dict):
        function = choice.get("function")
        if (
            choice.keys() == {"type", "function"}
            and choice["type"] == "function"
            and isinstance(function, dict)
            and function.keys() == {"name"}
            and isinstance(name := function["name"], str)
            and name not in ("auto", "none", "any")
        ):
            return name
        return choice
    extra["tool_choice"] = choice
    return None


def decode_messages(messages: Any, dialect: Dialect) -> list[BaseMessage]:
    """Return the messages of a request.

    Raises:
        DecodeError: With the path of what is no message.
    """
    if messages is None:
        return []
    if not isinstance(messages, list):
        message = f"messages are a list, not {type(messages).__name__}"
        raise DecodeError(message, path="$.messages")
    out: list[BaseMessage] = []
    for k, raw in enumerate(messages):
        if raw.__class__ is dict and (message := _plain(raw)) is not None:
            out.append(message)
            continue
        path = f"$.messages[{k}]"
        if not isinstance(raw, dict):
            text = f"a message is an object, not {type(raw).__name__}"
            raise DecodeError(text, path=path)
        role = raw.get("role")
        read = _READ.get(role) if isinstance(role, str) else None
        if read is None:
            text = f"unknown role {short(role)}"
            raise DecodeError(text, path=f"{path}.role", hint=f"one of {', '.join(_READ)}")
        out.append(read(raw, path, dialect))
    return out


def _plain(raw: dict[str, Any]) -> BaseMessage | None:
    """Return a message of text and plain calls, which nearly all are; None for any other."""
    role: Any = raw.get("role")
    content: Any = raw.get("content")
    n_keys = len(raw)
    if content.__class__ is str:
        if n_keys == 2:
            kind = _PLAIN.get(role) if role.__class__ is str else None
            return None if kind is None else kind(content=content)
        if role == "tool" and n_keys == 3:
            call_id: Any = raw.get("tool_call_id")
            if call_id.__class__ is str:
                return ToolMessage(content=content, tool_call_id=call_id)
            return None
    elif content is not None:
        return None
    if role != "assistant" or not (calls := raw.get("tool_calls")):
        return None
    if n_keys != 2 + ("content" in raw):
        return None
    plain = _plain_calls(calls)
    return AIMessage(content=content or "", tool_calls=plain) if plain else None


_PLAIN: dict[Any, type[BaseMessage]] = {
    "user": HumanMessage,
    "assistant": AIMessage,
    "system": SystemMessage,
}


def _rest(raw: dict[str, Any], *used: str) -> dict[str, Any]:
    """Return `additional_kwargs` for the fields that no message field takes."""
    rest = {k: v for k, v in raw.items() if k not in used and v is not None}
    name = raw.get("name")
    if name is not None and not isinstance(name, str):
        rest["name"] = name
    return {API: rest} if rest else {}


def _name(raw: dict[str, Any]) -> str | None:
    name = raw.get("name")
    return name if isinstance(name, str) else None


def _decode_user(raw: dict[str, Any], path: str, _dialect: Dialect) -> HumanMessage:
    content = decode_content(raw.get("content"), f"{path}.content")
    rest = _rest(raw, "role", "content", "name")
    return HumanMessage(content=content, name=_name(raw), additional_kwargs=rest)


def _decode_system(raw: dict[str, Any], path: str, _dialect: Dialect) -> SystemMessage:
    content = decode_content(raw.get("content"), f"{path}.content")
    kwargs = _rest(raw, "role", "content", "name") if len(raw) > 2 else {}
    if raw["role"] == "developer":
        kwargs["__openai_role__"] = "developer"
    return SystemMessage(content=content, name=_name(raw), additional_kwargs=kwargs)


def _decode_tool_result(raw: dict[str, Any], path: str, _dialect: Dialect) -> ToolMessage:
    call_id = raw.get("tool_call_id")
    kwargs = _rest(raw, "role", "content", "tool_call_id") if len(raw) > 3 else {}
    if not isinstance(call_id, str):
        if call_id is not None:
            kwargs.setdefault(API, {})["tool_call_id"] = call_id
        call_id = ""
    return ToolMessage(
        content=decode_content(raw.get("content"), f"{path}.content"),
        tool_call_id=call_id,
        name=_name(raw),
        additional_kwargs=kwargs,
    )


def _decode_function(raw: dict[str, Any], path: str, _dialect: Dialect) -> FunctionMessage:
    return FunctionMessage(
        content=decode_content(raw.get("content"), f"{path}.content"),
        name=_name(raw) or "",
        additional_kwargs=_rest(raw, "role", "content", "name"),
    )


_PLAIN_KEYS = {"role", "content", "tool_calls"}


def _decode_assistant(raw: dict[str, Any], path: str, dialect: Dialect) -> AIMessage:
    content = decode_content(raw.get("content"), f"{path}.content")
    if raw.keys() <= _PLAIN_KEYS:
        calls = raw.get("tool_calls")
        plain = _plain_calls(calls) if calls is not None else []
        if plain or (plain is not None and raw.get("content") is not None):
            return AIMessage(content=content, tool_calls=plain)
    return _full_assistant(raw, dialect, content)


def _plain_calls(calls: Any) -> list[Any] | None:
    """Return the calls if all are well-formed and nothing about them needs remembering."""
    if not isinstance(calls, list):
        return None
    out: list[dict[str, Any]] = []
    for raw in calls:
        try:
            function, id = raw["function"], raw["id"]
            name, text = function["name"], function["arguments"]
            is_plain = (
                raw["type"] == "function"
                and len(raw) == 3
                and len(function) == 2
                and name.__class__ is id.__class__ is text.__class__ is str
                and text[:1] == "{"
                and id
            )
        except (TypeError, KeyError):
            return None
        if not is_plain or (args := _object(text)) is None:
            return None
        out.append({"name": name, "args": args, "id": id, "type": "tool_call"})
    return out


_load = msgspec.json.Decoder(dict[str, Any]).decode


def _object(text: str) -> dict[str, Any] | None:
    try:
        return _load(text)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return read_arguments(text)


def _full_assistant(
    raw: dict[str, Any], dialect: Dialect, content: str | list[str | dict[str, Any]]
) -> AIMessage:
    """Return an assistant message that has more than text and plain calls.

    What no field says as it came stays in `kept`, and goes back from there on this wire; calls,
    refusal and reasoning are shown in canonical form beside it.
    """
    kept = _rest(raw, "role", "content", "name").get(API, {})
    kwargs: dict[str, Any] = {}
    calls = raw.get("tool_calls")
    valid, invalid = _read_calls(calls)
    refusal = raw.get("refusal")
    if isinstance(refusal, str) and refusal:
        kept["content"] = raw.get("content")
        text = [content] if isinstance(content, str) and content else content or []
        content = [*text, {"type": "refusal", "refusal": refusal}]
    elif raw.get("content") is None and not calls:
        kept["content"] = None  # null is not "" where nothing else is said
    if "function_call" in kept:
        kwargs["function_call"] = kept.pop("function_call")
    if (reasoning := _reasoning(kept)) is not None:
        kwargs["reasoning_content"] = reasoning
    if kept:
        kwargs[API] = kept
    return AIMessage(
        content=content,
        name=_name(raw),
        tool_calls=valid,
        invalid_tool_calls=invalid,
        additional_kwargs=kwargs,
        response_metadata={"model_provider": dialect.provider, "api": API} if kept else {},
    )


def _reasoning(kept: dict[str, Any]) -> str | None:
    """Return the plain reasoning of a history message in any of its spellings."""
    for key in ("reasoning_content", "reasoning"):
        if isinstance(text := kept.get(key), str) and text:
            return text
    details = as_dicts(kept.get("reasoning_details"))
    texts = [d.get("text") or d.get("summary") for d in details]
    return "".join(t for t in texts if isinstance(t, str)) or None


def _read_calls(calls: Any) -> tuple[list[Any], list[Any]]:
    """Return the valid and the invalid calls that can be read from a list of any shape."""
    valid: list[Any] = []
    invalid: list[Any] = []
    for raw in as_dicts(calls):
        function, custom = raw.get("function"), raw.get("custom")
        name: Any
        args: Any
        if isinstance(function, dict) and as_str(function.get("name")):
            name, args = function["name"], function.get("arguments")
        elif isinstance(custom, dict) and as_str(custom.get("name")):
            name, args = custom["name"], {"input": custom.get("input")}
        elif isinstance(function, dict):
            invalid.append(_nameless(function.get("arguments"), as_str(raw.get("id"))))
            continue
        else:
            continue
        call = make_call(name, args, as_str(raw.get("id")))
        (valid if call.get("type") == "tool_call" else invalid).append(call)
    return valid, invalid


def _nameless(arguments: Any, id: str | None) -> dict[str, Any]:
    """Return a call without a name as an invalid one: a result may answer it all the same."""
    text = arguments if isinstance(arguments, str) else dump_arguments(arguments)
    error = "the call has no name"
    return {"type": "invalid_tool_call", "id": id, "name": None, "args": text, "error": error}


_READ: dict[str, Callable[[dict[str, Any], str, Dialect], BaseMessage]] = {
    "user": _decode_user,
    "assistant": _decode_assistant,
    "tool": _decode_tool_result,
    "system": _decode_system,
    "developer": _decode_system,
    "function": _decode_function,
}
