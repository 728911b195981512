"""Mistral's requests and replies to canonical form."""

from typing import Any

from dragoman.codecs.contract import ChatRequest
from dragoman.codecs.mistral.stream import ReplyReader
from dragoman.codecs.mistral.tables import API
from dragoman.codecs.mistral.wire import read_content
from dragoman.codecs.origin import non_standard
from dragoman.codecs.schemas import is_in_dialect
from dragoman.codecs.shapes import as_dict, as_str, require_dict
from dragoman.codecs.turns import history_message
from dragoman.errors import DecodeError
from dragoman.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

__all__ = ["decode_request", "decode_response"]


def decode_response(body: dict[str, Any], provider: str) -> AIMessage:
    """Return the reply of a response body.

    Raises:
        ModelError: If the body is an error.
        DecodeError: If it is no JSON object.
    """
    reader = ReplyReader(provider)
    reader.read(require_dict(body, "a response"))
    return reader.message()


def decode_request(body: dict[str, Any], provider: str) -> ChatRequest:
    """Return a request body in canonical form; what has no place of its own stands in `extra`.

    Raises:
        DecodeError: If the body, its messages or their content have the wrong type.
    """
    extra = dict(require_dict(body, "a request"))
    request = ChatRequest(extra=extra)
    for key, kinds in (
        ("model", str),
        ("max_tokens", int),
        ("temperature", (int, float)),
        ("top_p", (int, float)),
        ("stream", bool),
        ("response_format", dict),
    ):
        value = extra.get(key)
        if isinstance(value, kinds) and (kinds is bool or not isinstance(value, bool)):
            setattr(request, key, extra.pop(key))
    request.response_format = _read_format(request.response_format)
    stop = extra.get("stop")
    if isinstance(stop, list) and all(isinstance(s, str) for s in stop):
        request.stop = extra.pop("stop")
    given = extra.pop("messages", None)
    if given is not None and not isinstance(given, list):
        message = f"Expected a list of messages, got {type(given).__name__}"
        raise DecodeError(message, path="$.messages")
    for n, item in enumerate(given or ()):
        path = f"$.messages[{n}]"
        if not isinstance(item, dict):
            message = f"Expected a JSON object as a message, got {type(item).__name__}"
            raise DecodeError(message, path=path)
        request.messages.append(_read_message(item, path, provider))
    tools = extra.get("tools")
    if isinstance(tools, list) and tools and all(isinstance(t, dict) for t in tools):
        request.tools = [_read_tool(t) for t in extra.pop("tools")]
    choice = extra.get("tool_choice")
    if isinstance(choice, (str, dict)) and choice:
        request.tool_choice = _read_choice(extra.pop("tool_choice"))
    return request


def _read_format(asked: dict[str, Any] | None) -> dict[str, Any] | None:
    inner = None if asked is None else asked.get("json_schema")
    if asked is None or not isinstance(inner, dict) or "api" in asked:
        return asked
    dialect = "openai_strict" if inner.get("strict") is True else "openai"
    if is_in_dialect(inner.get("schema"), dialect):
        return asked
    return {**asked, "api": API}  # this wire took the schema as it is


def _read_message(item: dict[str, Any], path: str, provider: str) -> BaseMessage:
    role = item.get("role")
    if role == "assistant":
        return _assistant(item, path, provider)
    content = read_content(item.get("content"), f"{path}.content")
    known = {"role", "content"}
    if role == "tool":
        rest = _rest(item, known | {"tool_call_id", "name"})
        id = item.get("tool_call_id")
        return ToolMessage(
            content,
            tool_call_id=id if isinstance(id, str) else "",
            name=as_str(item.get("name")),
            additional_kwargs=rest,
        )
    rest = _rest(item, known)
    if role == "user":
        return HumanMessage(content, additional_kwargs=rest)
    if role in ("system", "developer"):
        if role == "developer":
            rest["__openai_role__"] = role
        return SystemMessage(content, additional_kwargs=rest)
    message = "a message has one of the roles system, user, assistant and tool"
    raise DecodeError(message, path=f"{path}.role")


def _rest(item: dict[str, Any], known: set[str]) -> dict[str, Any]:
    rest = {k: v for k, v in item.items() if k not in known and v is not None}
    return {API: rest} if rest else {}


def _assistant(item: dict[str, Any], path: str, provider: str) -> AIMessage:
    content = read_content(item.get("content"), f"{path}.content")
    blocks: list[dict[str, Any]] = []
    if isinstance(content, str):
        blocks += [{"type": "text", "text": content}] if content else []
    else:
        blocks += [b for b in content if isinstance(b, dict)]
    rest = {k: v for k, v in item.items() if k not in ("role", "content", "tool_calls")}
    calls = item.get("tool_calls")
    if not isinstance(calls, list | None):
        rest["tool_calls"] = calls
        calls = None
    for call in calls or ():
        blocks.append(_read_call(call))
    kwargs: dict[str, Any] = {}
    rest = {k: v for k, v in rest.items() if v is not None}
    if rest.pop("prefix", False) is True:
        kwargs["prefix"] = True
    if rest:
        kwargs[API] = rest
    return history_message(blocks, provider=provider, api=API, additional_kwargs=kwargs)


def _read_call(call: Any) -> dict[str, Any]:
    function = as_dict(as_dict(call).get("function"))
    if not isinstance(call, dict) or not isinstance(function.get("name"), str):
        return {**non_standard({"call": call}, API), "part": "call"}
    block = {
        "type": "tool_call", "id": as_str(call.get("id")), "name": function["name"],
        "args": function.get("arguments"),
    }  # fmt: skip
    rest = {
        k: v
        for k, v in call.items()
        if k not in ("id", "function") and v is not None and (k, v) != ("type", "function")
    }
    more = {k: v for k, v in function.items() if k not in ("name", "arguments") and v is not None}
    if more:
        rest["function"] = more
    raw = function.get("arguments")
    if not isinstance(raw, str) or raw.lstrip()[:1] != "{":
        rest["arguments"] = raw
    return {**block, "extras": {API: rest}} if rest else block


def _read_tool(tool: dict[str, Any]) -> dict[str, Any]:
    """Return a function tool in canonical form; any other tool, or one with more fields, verbatim."""
    given = {k: v for k, v in tool.items() if v is not None}
    function = given.pop("function", None)
    if given not in ({}, {"type": "function"}) or not isinstance(function, dict):
        return tool
    fields = {k: v for k, v in function.items() if v is not None}
    if not fields.keys() <= {"name", "description", "parameters", "strict"}:
        return tool
    if not isinstance(fields.get("name"), str) or not isinstance(
        fields.get("description", ""), str
    ):
        return tool
    strict = fields.get("strict", False)
    dialect = "openai_strict" if strict else "openai"
    if "parameters" in fields and not is_in_dialect(fields["parameters"], dialect):
        return tool
    return fields if isinstance(strict, bool) else tool


def _read_choice(choice: Any) -> Any:
    if choice == "required":
        return "any"
    if isinstance(choice, dict) and choice.keys() == {"type", "function"}:
        function = as_dict(choice["function"])
        if choice["type"] == "function" and function.keys() == {"name"}:
            name = function["name"]
            if isinstance(name, str) and name not in ("", "auto", "none", "any", "required"):
                return name
    if isinstance(choice, str) and choice not in ("auto", "none", "any"):
        return {"choice": choice}
    return choice
