"""Anthropic JSON -> canonical form: blocks, requests, whole replies.

Every block type has one reader, in a table. A block that is unknown, or whose known fields have
unexpected types, travels whole as `non_standard` and goes back untouched. A whole reply is read by
the same machine as a stream (`stream.Reading`).

Source: https://docs.anthropic.com/en/api/messages, read 2026-11, and recorded traffic.
"""

from collections.abc import Callable, Iterator
from typing import Any

from dragoman.codecs.anthropic.plain import read_plain
from dragoman.codecs.anthropic.tables import BLOCK_FIELDS, RESULT_TOOLS, SERVER_TOOLS
from dragoman.codecs.anthropic.wire import joined_text, read_citation, read_document, read_image
from dragoman.codecs.contract import ChatRequest
from dragoman.codecs.origin import non_standard
from dragoman.codecs.schemas import encode_schema
from dragoman.codecs.shapes import as_int, require_dict, usage_of
from dragoman.codecs.tools import function_tool
from dragoman.codecs.turns import history_message
from dragoman.errors import DecodeError, short
from dragoman.messages import BaseMessage, HumanMessage, SystemMessage, ToolMessage

__all__ = ["API", "decode_block", "decode_request", "read_usage"]

API = "anthropic"


def _rest(block: dict[str, Any], kind: str, taken: set[str]) -> dict[str, Any]:
    """Return `{"extras": ...}` with what a reader did not take, or nothing.

    Documented fields stand under their own names, unknown ones in the bag `anthropic`, which only
    this codec sends.
    """
    known = BLOCK_FIELDS.get(kind, frozenset())
    extras: dict[str, Any] = {}
    bag: dict[str, Any] = {}
    for key, value in block.items():
        if key not in taken and key != "type" and value is not None:
            (extras if key in known else bag)[key] = value
    if bag:
        extras[API] = bag
    return {"extras": extras} if extras else {}


def _text(block: dict[str, Any]) -> dict[str, Any] | None:
    if not isinstance(block.get("text"), str):
        return None
    found: dict[str, Any] = {"type": "text", "text": block["text"]}
    citations = block.get("citations")
    if isinstance(citations, list) and citations:
        if not all(isinstance(c, dict) for c in citations):
            return None
        found["annotations"] = [read_citation(c) for c in citations]
    taken = {"text", "citations"} if isinstance(citations, list) else {"text"}
    return {**found, **_rest(block, "text", taken)}


def _image(block: dict[str, Any]) -> dict[str, Any] | None:
    found = read_image(block)
    return None if found is None else {**found, **_rest(block, "image", {"source"})}


def _document(block: dict[str, Any]) -> dict[str, Any] | None:
    found = read_document(block)
    if found is None:
        return None
    rest = _rest(block, "document", {"source"})
    if found["type"] == "text-plain":
        # Says that this text is a document: text that users give in this form is sent as text.
        source = block["source"]
        own = (
            {"type": "document"}
            if source["type"] == "text"
            else {"type": "document", "source": source}
        )
        extras = rest.get("extras", {})
        rest = {"extras": {**extras, API: {**own, **extras.get(API, {})}}}
    return {**found, **rest}


def _search_result(block: dict[str, Any]) -> dict[str, Any] | None:
    text = joined_text(block.get("content"))
    if text is None or not isinstance(block.get("title"), str):
        return None
    found = {"type": "text-plain", "text": text, "mime_type": "text/plain", "title": block["title"]}
    return {**found, "extras": {API: block}}


def _thinking(block: dict[str, Any]) -> dict[str, Any] | None:
    if not isinstance(block.get("thinking"), str):
        return None
    found = {"type": "reasoning", "reasoning": block["thinking"]}
    rest = _rest(block, "thinking", {"thinking", "signature"})
    signature = block.get("signature")
    if isinstance(signature, str) and signature:
        rest = {"extras": {"signature": signature, **rest.get("extras", {})}}
    elif signature is not None and signature != "":
        return None
    return {**found, **rest}


def _tool_use(block: dict[str, Any]) -> dict[str, Any] | None:
    if not isinstance(block.get("name"), str) or not isinstance(block.get("id"), str):
        return None
    found = {
        "type": "tool_call", "id": block["id"], "name": block["name"], "args": block.get("input")
    }  # fmt: skip
    return {**found, **_rest(block, "tool_use", {"id", "name", "input"})}


def _server_tool_use(block: dict[str, Any]) -> dict[str, Any] | None:
    name, id, args = block.get("name"), block.get("id"), block.get("input")
    if not isinstance(name, str) or not isinstance(id, str) or not isinstance(args, dict):
        return None
    name = SERVER_TOOLS.get(name, name)
    found = {"type": "server_tool_call", "id": id, "name": name, "args": args}
    return {**found, **_rest(block, "server_tool_use", {"id", "name", "input"})}


def _mcp_tool_use(block: dict[str, Any]) -> dict[str, Any] | None:
    found = _server_tool_use(block)
    if found is None:
        return None
    extras: dict[str, Any] = {"tool_name": block["name"]}
    server = block.get("server_name")
    if isinstance(server, str):
        extras["server_name"] = server
    elif server is not None:
        return None
    rest = _rest(block, "server_tool_use", {"id", "name", "input", "server_name"})
    return {**found, "name": "remote_mcp", "extras": {**extras, **rest.get("extras", {})}}


def _tool_result(block: dict[str, Any]) -> dict[str, Any] | None:
    """Read the result of a tool the provider ran (`*_tool_result`)."""
    if not isinstance(block.get("tool_use_id"), str):
        return None
    content = block.get("content")
    failed = block.get("is_error") is True or (
        isinstance(content, dict) and "error_code" in content
    )
    found: dict[str, Any] = {
        "type": "server_tool_result",
        "tool_call_id": block["tool_use_id"],
        "status": "error" if failed else "success",
    }
    if content is not None:
        found["output"] = content
    rest = _rest(block, "server_tool_use", {"tool_use_id", "content"})
    found["extras"] = {"block_type": block["type"], **rest.get("extras", {})}
    return found


READERS: dict[str, Callable[[dict[str, Any]], dict[str, Any] | None]] = {
    "text": _text,
    "image": _image,
    "document": _document,
    "search_result": _search_result,
    "thinking": _thinking,
    "tool_use": _tool_use,
    "server_tool_use": _server_tool_use,
    "mcp_tool_use": _mcp_tool_use,
}


def decode_block(block: Any, path: str) -> dict[str, Any]:
    """Return a block as a standard one; what has no standard form is `non_standard`.

    Raises:
        DecodeError: If it is neither an object nor a string.
    """
    if isinstance(block, str):
        return {"type": "text", "text": block}
    if not isinstance(block, dict):
        message = f"Expected a content block, got {short(block)}"
        raise DecodeError(message, path=path, hint="a block is an object with a `type`")
    kind = block.get("type")
    if isinstance(kind, str):
        reader = READERS.get(kind)
        if reader is None and kind.endswith(RESULT_TOOLS):
            reader = _tool_result
        if reader is not None and (found := reader(block)) is not None:
            return found
    return non_standard(block, API)


def _content(content: Any, path: str) -> str | list[Any]:
    """Return the content of a user message, system prompt or tool result."""
    if isinstance(content, str):
        return content
    if content is None:
        return []
    if isinstance(content, dict):
        content = [content]
    if not isinstance(content, list):
        message = f"Expected text or a list of blocks, got {short(content)}"
        raise DecodeError(message, path=path)
    return [decode_block(block, f"{path}[{n}]") for n, block in enumerate(content)]


def _bag(message: dict[str, Any], taken: set[str]) -> dict[str, Any]:
    """Return `additional_kwargs` with the fields of a message that are not understood."""
    bag = {k: v for k, v in message.items() if k not in taken and v is not None}
    return {API: bag} if bag else {}


def _user(message: dict[str, Any], path: str) -> Iterator[BaseMessage]:
    """Yield a user turn as messages: each tool result its own, what stands between them human."""
    content = message.get("content")
    bag = _bag(message, {"role", "content"})
    if not isinstance(content, list):
        yield HumanMessage(_content(content, f"{path}.content"), additional_kwargs=bag)
        return
    rest: list[Any] = []
    n_sent = 0
    for n, block in enumerate(content):
        where = f"{path}.content[{n}]"
        result = _result(block, where)
        if result is None:
            rest.append(decode_block(block, where))
            continue
        if rest:
            yield HumanMessage(rest, additional_kwargs=bag)
            rest, bag = [], {}
        elif bag:
            own = {**result.additional_kwargs.get(API, {}), "turn": bag[API]}
            result.additional_kwargs, bag = {**result.additional_kwargs, API: own}, {}
        yield result
        n_sent += 1
    if rest or not n_sent:
        yield HumanMessage(rest, additional_kwargs=bag)


def _result(block: Any, path: str) -> ToolMessage | None:
    if not isinstance(block, dict) or block.get("type") != "tool_result":
        return None
    call, failed = block.get("tool_use_id"), block.get("is_error")
    if not isinstance(call, str) or not (failed is None or isinstance(failed, bool)):
        return None
    kwargs = _bag(block, {"type", "tool_use_id", "content", "is_error", "cache_control"})
    if block.get("content") == []:
        kwargs[API] = {**kwargs.get(API, {}), "content": []}  # absent content is also empty
    if block.get("cache_control") is not None:
        kwargs["cache_control"] = block["cache_control"]
    return ToolMessage(
        content=_content(block.get("content"), f"{path}.content"),
        tool_call_id=call,
        status="error" if failed else "success",
        additional_kwargs=kwargs,
    )


def _message(message: Any, path: str, provider: str) -> Iterator[BaseMessage]:
    message = require_dict(message, f"`{path}`")
    role = message.get("role")
    if role == "user":
        yield from _user(message, path)
        return
    content = _content(message.get("content"), f"{path}.content")
    bag = _bag(message, {"role", "content"})
    if role == "assistant":
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        blocks = [b for b in blocks if b != {"type": "text", "text": ""}]
        yield history_message(blocks, provider=provider, api=API, additional_kwargs=bag)
    elif role == "system":
        # Says that it stood inside the list: there it goes back, whatever comes before it.
        bag = {API: {"role": "system", **bag.get(API, {})}}
        yield SystemMessage(content, additional_kwargs=bag)
    else:
        problem = f"unknown role {short(role)}"
        raise DecodeError(problem, path=f"{path}.role", hint="user, assistant or system")


def decode_tool(tool: dict[str, Any]) -> dict[str, Any]:
    """Return a tool in canonical form if that says all of it, else as it is."""
    if tool.keys() <= {"name", "description", "input_schema", "strict", "type"}:
        found = function_tool(tool)
        if found is not None and "input_schema" in tool and "parameters" in found:
            given = {k for k, v in tool.items() if v is not None and k != "type"}
            dialect = "anthropic_strict" if found.get("strict") else "anthropic"
            schema = found["parameters"]
            # A schema that would be written otherwise has to stay as it was read.
            if len(found) == len(given) and encode_schema(schema, dialect) is schema:
                return found
    return tool


def _decode_choice(choice: Any) -> Any:
    """Return a tool choice as a word or name if that says all of it, else as it is."""
    kind = choice.get("type") if isinstance(choice, dict) else None
    if kind in ("auto", "any", "none") and len(choice) == 1:
        return kind
    name = choice.get("name") if isinstance(choice, dict) else None
    if kind == "tool" and choice.keys() == {"type", "name"} and isinstance(name, str):
        return choice if name in {"auto", "any", "none", ""} else name
    return choice


def decode_request(body: dict[str, Any], provider: str) -> ChatRequest:
    """Return a request body as a `ChatRequest`; what has no field stays in `extra`.

    Raises:
        DecodeError: If there is no list of messages, or one of them cannot be read.
    """
    body = require_dict(body, "the request")
    given = body.get("messages")
    if not isinstance(given, list):
        raise DecodeError("Expected a list of messages", path="$.messages")
    request = ChatRequest()
    extra = dict(body)
    del extra["messages"]
    system = body.get("system")
    # A blank prompt is no message; it goes back as it is.
    if system is not None and not (isinstance(system, str) and not system.strip()):
        request.messages.append(SystemMessage(_content(extra.pop("system"), "$.system")))
    for n, message in enumerate(given):
        if not read_plain(message, request.messages):
            request.messages.extend(_message(message, f"$.messages[{n}]", provider))
    _take_sampling(request, extra)
    tools = body.get("tools")
    if isinstance(tools, list) and all(isinstance(t, dict) for t in tools):
        request.tools = [decode_tool(t) for t in extra.pop("tools")]
    if isinstance(body.get("tool_choice"), dict):
        request.tool_choice = _decode_choice(extra.pop("tool_choice"))
    config = body.get("output_config")
    if isinstance(config, dict) and isinstance(config.get("format"), dict):
        request.response_format = config["format"]
        rest = {k: v for k, v in config.items() if k != "format"}
        if rest:
            extra["output_config"] = rest
        else:
            del extra["output_config"]
    request.extra = extra
    return request


def _take_sampling(request: ChatRequest, body: dict[str, Any]) -> None:
    """Move the plain parameters from the body into their fields; a wrong type stays behind."""
    if isinstance(body.get("model"), str):
        request.model = body.pop("model")
    if type(body.get("max_tokens")) is int:
        request.max_tokens = body.pop("max_tokens")
    for field in ("temperature", "top_p"):
        if type(body.get(field)) in {int, float}:
            setattr(request, field, body.pop(field))
    if isinstance(body.get("stream"), bool):
        request.stream = body.pop("stream")
    stop = body.get("stop_sequences")
    if isinstance(stop, list) and all(isinstance(s, str) for s in stop):
        request.stop = body.pop("stop_sequences")


def read_usage(usage: dict[str, Any]) -> dict[str, Any] | None:
    """Return a `usage` object as totals: input tokens include those read from and put into caches."""
    if as_int(usage.get("output_tokens")) is None and as_int(usage.get("input_tokens")) is None:
        return None
    read = as_int(usage.get("cache_read_input_tokens"))
    made = as_int(usage.get("cache_creation_input_tokens"))
    details = {"cache_read": read, "cache_creation": made}
    split = usage.get("cache_creation")
    if isinstance(split, dict):
        details.update(split)
    counted = usage.get("output_tokens_details")
    reasoning = counted.get("thinking_tokens") if isinstance(counted, dict) else None
    return usage_of(
        (as_int(usage.get("input_tokens")) or 0) + (read or 0) + (made or 0),
        usage.get("output_tokens"),
        input_details=details,
        output_details={"reasoning": reasoning},
    )
