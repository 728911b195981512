"""Cohere's requests and replies to canonical form."""

from typing import Any

from dragoman.codecs.cohere.stream import ReplyReader
from dragoman.codecs.cohere.tables import API, CHOICES
from dragoman.codecs.cohere.wire import read_citations, read_content
from dragoman.codecs.contract import ChatRequest
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
    for key, field, kinds in (
        ("model", "model", str),
        ("max_tokens", "max_tokens", int),
        ("temperature", "temperature", (int, float)),
        ("p", "top_p", (int, float)),
        ("stream", "stream", bool),
        ("response_format", "response_format", dict),
    ):
        value = extra.get(key)
        if isinstance(value, kinds) and (kinds is bool or not isinstance(value, bool)):
            setattr(request, field, extra.pop(key))
    stop = extra.get("stop_sequences")
    if isinstance(stop, list) and all(isinstance(s, str) for s in stop):
        request.stop = extra.pop("stop_sequences")
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
    if isinstance(choice, str) and choice in CHOICES:
        request.tool_choice = CHOICES[extra.pop("tool_choice")]
    return request


def _read_message(item: dict[str, Any], path: str, provider: str) -> BaseMessage:
    role = item.get("role")
    if role == "assistant":
        return _assistant(item, path, provider)
    content = read_content(item.get("content"), f"{path}.content")
    known = {"role", "content", "tool_call_id"} if role == "tool" else {"role", "content"}
    rest = {k: v for k, v in item.items() if k not in known and v is not None}
    kwargs: dict[str, Any] = {API: rest} if rest else {}
    if role == "tool":
        id = item.get("tool_call_id")
        id = id if isinstance(id, str) else ""
        return ToolMessage(content, tool_call_id=id, additional_kwargs=kwargs)
    if role == "user":
        return HumanMessage(content, additional_kwargs=kwargs)
    if role in ("system", "developer"):
        if role == "developer":
            kwargs["__openai_role__"] = role
        return SystemMessage(content, additional_kwargs=kwargs)
    message = "a message has one of the roles system, user, assistant and tool"
    raise DecodeError(message, path=f"{path}.role")


def _assistant(item: dict[str, Any], path: str, provider: str) -> AIMessage:
    content = read_content(item.get("content"), f"{path}.content")
    blocks: list[dict[str, Any]] = []
    rest = {
        k: v
        for k, v in item.items()
        if k not in ("role", "content", "tool_calls", "tool_plan", "citations") and v is not None
    }
    plan = item.get("tool_plan")
    if isinstance(plan, str):
        extras = {API: {"field": "tool_plan"}}
        blocks.append({"type": "reasoning", "reasoning": plan, "extras": extras})
    elif plan is not None:
        rest["tool_plan"] = plan
    if isinstance(content, str):
        blocks += [{"type": "text", "text": content}] if content else []
    else:
        blocks += [b for b in content if isinstance(b, dict)]
    if (citations := item.get("citations")) is not None:
        text = next((b for b in blocks if b["type"] == "text"), None)
        shown = read_citations(citations)
        if text is not None and isinstance(citations, list) and len(shown) == len(citations):
            text["annotations"] = shown
        else:
            rest["citations"] = citations
    calls = item.get("tool_calls")
    if not isinstance(calls, list | None):
        rest["tool_calls"] = calls
        calls = None
    blocks += [_read_call(call) for call in calls or ()]
    kwargs = {API: rest} if rest else {}
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
    function = tool.get("function")
    if tool.get("type") != "function" or tool.keys() != {"type", "function"}:
        return tool
    if not isinstance(function, dict) or not isinstance(function.get("name"), str):
        return tool
    fields = {k: v for k, v in function.items() if v is not None}
    if not fields.keys() <= {"name", "description", "parameters"}:
        return tool
    if "parameters" in fields and not is_in_dialect(fields["parameters"], "openai"):
        return tool
    return fields if isinstance(fields.get("description", ""), str) else tool
