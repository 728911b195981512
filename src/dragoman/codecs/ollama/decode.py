"""Requests of Ollama's `/api/chat` as `ChatRequest`s: nothing is lost, nothing is changed.

The wire has no call ids: calls get ids of their place in the history, and a result answers the
first open call of its tool's name. `options` that `ChatRequest` has fields for go there; the rest
of `options` stays in `extra["options"]`.
"""

from typing import Any

from dragoman.codecs.contract import ChatRequest
from dragoman.codecs.ollama.tables import API, OPTIONS
from dragoman.codecs.shapes import as_str, require_dict
from dragoman.errors import DecodeError, short
from dragoman.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

__all__ = ["decode_request"]

_FIELDS = frozenset(("model", "messages", "tools", "format", "stream", "options"))
_ROLES = ("user", "assistant", "system", "tool")
_USED = frozenset(("role", "content", "images", "thinking", "tool_calls", "tool_name"))


def decode_request(body: Any, provider: str) -> ChatRequest:
    """Return the request in canonical form.

    Raises:
        DecodeError: If the body or a message is of a wrong kind.
    """
    body = require_dict(body, "the request")
    extra = {k: v for k, v in body.items() if k not in _FIELDS}
    request = ChatRequest(extra=extra, messages=_Messages(provider).read(body.get("messages")))
    for key, kind in (("model", str), ("stream", bool)):
        value = body.get(key)
        if isinstance(value, kind):
            setattr(request, key, value)
        elif value is not None:
            extra[key] = value
    _decode_options(body.get("options"), request)
    _decode_tools(body.get("tools"), request)
    _decode_format(body.get("format"), request)
    return request


def _decode_options(options: Any, request: ChatRequest) -> None:
    if not isinstance(options, dict):
        if options is not None:
            request.extra["options"] = options
        return
    rest = dict(options)
    for ours, theirs in OPTIONS.items():
        value = rest.get(theirs)
        is_stop = isinstance(value, list) and all(isinstance(s, str) for s in value)
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if ours == "max_tokens":
            is_number = is_number and isinstance(value, int)
        if is_stop if ours == "stop" else is_number:
            setattr(request, ours, rest.pop(theirs))
    if rest or not options:
        request.extra["options"] = rest


def _decode_tools(tools: Any, request: ChatRequest) -> None:
    if isinstance(tools, list) and all(isinstance(t, dict) for t in tools):
        request.tools = [_decode_tool(t) for t in tools]
    elif tools is not None:
        request.extra["tools"] = tools


def _decode_tool(tool: dict[str, Any]) -> dict[str, Any]:
    function = tool.get("function")
    known = {"name", "description", "parameters", "strict"}
    if (
        tool.keys() == {"type", "function"}
        and tool["type"] == "function"
        and isinstance(function, dict)
        and isinstance(function.get("name"), str)
        and function.keys() <= known
    ):
        return function
    return tool


def _decode_format(form: Any, request: ChatRequest) -> None:
    if form == "json":
        request.response_format = {"type": "json_object"}
    elif isinstance(form, dict):
        schema = {"name": "response", "schema": form}
        request.response_format = {"type": "json_schema", "json_schema": schema}
    elif form is not None:
        request.extra["format"] = form


class _Messages:
    """Reads the messages of one request, inventing call ids by their place."""

    def __init__(self, provider: str) -> None:
        self._provider = provider
        self._n_calls = 0
        self._open: list[tuple[str, str]] = []  # (tool name, id) of calls without a result

    def read(self, messages: Any) -> list[BaseMessage]:
        if messages is None:
            return []
        if not isinstance(messages, list):
            text = f"messages are a list, not {type(messages).__name__}"
            raise DecodeError(text, path="$.messages")
        return [self._message(m, f"$.messages[{k}]") for k, m in enumerate(messages)]

    def _message(self, raw: Any, path: str) -> BaseMessage:
        if not isinstance(raw, dict):
            text = f"a message is an object, not {type(raw).__name__}"
            raise DecodeError(text, path=path)
        role = raw.get("role")
        if role not in _ROLES:
            text = f"unknown role {short(role)}"
            raise DecodeError(text, path=f"{path}.role", hint=f"one of {', '.join(_ROLES)}")
        kept = {k: v for k, v in raw.items() if k not in _USED and v is not None}
        content: Any = self._content(raw, kept, path)
        if role == "assistant":
            return self._assistant(raw, content, kept)
        for key in ("thinking", "tool_calls"):
            if raw.get(key) is not None:
                kept[key] = raw[key]
        if role == "tool":
            return self._result(raw, content, kept)
        if raw.get("tool_name") is not None:
            kept["tool_name"] = raw["tool_name"]
        kwargs = {API: kept} if kept else {}
        kind = HumanMessage if role == "user" else SystemMessage
        return kind(content=content, additional_kwargs=kwargs)

    def _content(self, raw: dict[str, Any], kept: dict[str, Any], path: str) -> Any:
        text, images = raw.get("content"), raw.get("images")
        if not isinstance(text, str):
            if text is not None:
                message = f"content is text, not {type(text).__name__}"
                raise DecodeError(message, path=f"{path}.content")
            kept["content"] = None
            text = ""
        if images is None:
            return text
        if not (isinstance(images, list) and all(isinstance(i, str) and i for i in images)):
            kept["images"] = images
            return text
        blocks: list[dict[str, Any]] = [{"type": "text", "text": text}] if text else []
        return blocks + [{"type": "image", "base64": i} for i in images]

    def _assistant(self, raw: dict[str, Any], content: Any, kept: dict[str, Any]) -> AIMessage:
        kwargs: dict[str, Any] = {}
        thinking = raw.get("thinking")
        if isinstance(thinking, str):
            kept["thinking"] = thinking
            if thinking:
                kwargs["reasoning_content"] = thinking
        elif thinking is not None:
            kept["thinking"] = thinking
        if raw.get("tool_name") is not None:
            kept["tool_name"] = raw["tool_name"]
        calls, has_more = self._calls(raw.get("tool_calls"))
        if has_more:
            kept["tool_calls"] = raw["tool_calls"]
        if calls:
            kept.pop("content", None)
        if kept:
            kwargs[API] = kept
        return AIMessage(
            content=content,
            tool_calls=calls,
            additional_kwargs=kwargs,
            response_metadata={"model_provider": self._provider, "api": API} if kept else {},
        )

    def _calls(self, calls: Any) -> tuple[list[Any], bool]:
        """Return the calls, and whether they say more than name and arguments."""
        if calls is None:
            return [], False
        if not isinstance(calls, list):
            return [], True
        out: list[Any] = []
        has_more = False
        for raw in calls:
            function = raw.get("function") if isinstance(raw, dict) else None
            name = as_str(function.get("name")) if isinstance(function, dict) else None
            if name is None or not isinstance(function, dict):
                has_more = True
                continue
            args = function.get("arguments")
            has_more = has_more or raw.keys() != {"function"} or not isinstance(args, dict)
            has_more = has_more or function.keys() != {"name", "arguments"}
            id = as_str(raw.get("id")) or f"call_{self._n_calls}"
            self._n_calls += 1
            self._open.append((name, id))
            given = args if isinstance(args, dict) else {}
            out.append({"name": name, "args": given, "id": id, "type": "tool_call"})
        return out, has_more

    def _result(self, raw: dict[str, Any], content: Any, kept: dict[str, Any]) -> ToolMessage:
        name = raw.get("tool_name")
        if name is not None and not isinstance(name, str):
            kept["tool_name"] = name
            name = None
        id = as_str(raw.get("tool_call_id"))
        if id is None:
            matches = [n for n, (tool, _) in enumerate(self._open) if name in (None, tool)]
            id = self._open.pop(matches[0])[1] if matches else ""
        return ToolMessage(
            content=content,
            tool_call_id=id,
            name=name,
            additional_kwargs={API: kept} if kept else {},
        )
