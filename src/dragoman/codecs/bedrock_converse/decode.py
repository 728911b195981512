"""Bedrock Converse JSON -> canonical form: blocks, requests.

A block is an object with one key, which names its kind; one reader a kind, in a table. What is
unknown travels whole as `non_standard`. A cache point becomes the `cache_control` mark of the block
before it, as Anthropic writes it, and goes back to its place.

Source: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html, read
2026-11, and recorded traffic.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from dragoman.codecs.arguments import dump_arguments
from dragoman.codecs.bedrock_converse.tables import API, BESIDE, CALL_KEYS, Kind
from dragoman.codecs.bedrock_converse.tools import read_format, read_tools
from dragoman.codecs.bedrock_converse.wire import (
    cache_control,
    joined_text,
    read_citation,
    read_media,
)
from dragoman.codecs.contract import ChatRequest
from dragoman.codecs.origin import non_standard
from dragoman.codecs.shapes import as_dict, as_dicts, as_int, require_dict, usage_of
from dragoman.codecs.turns import history_message
from dragoman.errors import DecodeError, short
from dragoman.messages import BaseMessage, HumanMessage, SystemMessage, ToolMessage

__all__ = ["API", "decode_block", "decode_request", "read_usage"]


_DOCUMENT = frozenset({"name", "context", "citations"})


def _bag(**fields: Any) -> dict[str, Any]:
    """Return extras that only this codec sends: the block is written from them."""
    return {"extras": {API: fields}}


def _text(value: Any) -> dict[str, Any] | None:
    return {"type": "text", "text": value} if isinstance(value, str) else None


def _media(kind: Kind, value: Any) -> dict[str, Any] | None:
    found = read_media(kind, value)
    if found is None:
        return None
    extras: dict[str, Any] = {}
    bag: dict[str, Any] = {"document": True} if found["type"] == "text-plain" else {}
    if "source" in found:
        bag["source"] = found.pop("source")
    for key, field in value.items():
        if key not in {"format", "source"} and field is not None:
            (extras if kind == "document" and key in _DOCUMENT else bag)[key] = field
    if found["type"] == "text-plain" and value.get("format") is not None:
        bag["format"] = value["format"]
    if bag:
        extras[API] = bag
    return {**found, "extras": extras} if extras else found


def _tool_use(value: Any) -> dict[str, Any] | None:
    value = as_dict(value)
    id, name, args = value.get("toolUseId"), value.get("name"), value.get("input")
    if not isinstance(id, str) or not isinstance(name, str):
        return None
    if value.get("type") == "server_tool_use":
        args = args if isinstance(args, dict) else {}
        return {"type": "server_tool_call", "id": id, "name": name, "args": args}
    # Claude's calls come with `type: tool_use`, which requests may not have.
    found = {"type": "tool_call", "id": id, "name": name, "args": args}
    rest = {k: v for k, v in value.items() if k not in CALL_KEYS and v is not None}
    if value.get("type") not in (None, "tool_use"):
        rest["type"] = value["type"]
    return {**found, **_bag(**rest)} if rest else found


def _tool_result(value: Any) -> dict[str, Any] | None:
    """Read the result of a tool the provider ran; those of users' tools are messages."""
    value = as_dict(value)
    if not isinstance(value.get("toolUseId"), str):
        return None
    found: dict[str, Any] = {
        "type": "server_tool_result",
        "tool_call_id": value["toolUseId"],
        "status": "error" if value.get("status") == "error" else "success",
    }
    if value.get("content") is not None:
        found["output"] = value["content"]
    rest = {k: v for k, v in value.items() if k not in {"toolUseId", "content", "type"}}
    extras: dict[str, Any] = {"block_type": value["type"]} if "type" in value else {}
    if rest:
        extras[API] = rest
    return {**found, "extras": extras} if extras else found


def _reasoning(value: Any) -> dict[str, Any] | None:
    value = as_dict(value)
    said = as_dict(value.get("reasoningText"))
    beside = {k: v for k, v in value.items() if k != "reasoningText" and v is not None}
    if not isinstance(said.get("text"), str) or "redactedContent" in beside:
        return None
    found = {"type": "reasoning", "reasoning": said["text"]}
    rest = {k: v for k, v in said.items() if k not in {"text", "signature"} and v is not None}
    signature = said.get("signature")
    extras: dict[str, Any] = {"signature": signature} if signature is not None else {}
    if rest:
        extras[API] = rest
    if beside:
        extras[BESIDE] = {"reasoningContent": beside}
    return {**found, "extras": extras} if extras else found


def _citations(value: Any) -> dict[str, Any] | None:
    value = as_dict(value)
    content = value.get("content")
    text = joined_text(content) if content else ""
    notes = value.get("citations")
    if text is None or not isinstance(notes, list):
        return None
    found: dict[str, Any] = {"type": "text", "text": text}
    found["annotations"] = [read_citation(c) for c in notes]
    if not notes or len(content or ()) != 1 or value.keys() != {"content", "citations"}:
        found.update(_bag(citationsContent=value))
    return found


def _guarded(value: Any) -> dict[str, Any] | None:
    text = as_dict(as_dict(value).get("text")).get("text")
    if not isinstance(text, str):
        return None
    return {"type": "text", "text": text, **_bag(guardContent=value)}


def _search_result(value: Any) -> dict[str, Any] | None:
    value = as_dict(value)
    text = joined_text(value.get("content"))
    if text is None:
        return None
    found: dict[str, Any] = {"type": "text-plain", "text": text, "mime_type": "text/plain"}
    if isinstance(value.get("title"), str):
        found["title"] = value["title"]
    return {**found, **_bag(searchResult=value)}


def _json(value: Any) -> dict[str, Any] | None:
    return {"type": "text", "text": dump_arguments(value), **_bag(json=value)}


READERS: dict[str, Callable[[Any], dict[str, Any] | None]] = {
    "text": _text,
    "image": partial(_media, "image"),
    "video": partial(_media, "video"),
    "audio": partial(_media, "audio"),
    "document": partial(_media, "document"),
    "toolUse": _tool_use,
    "toolResult": _tool_result,
    "reasoningContent": _reasoning,
    "citationsContent": _citations,
    "guardContent": _guarded,
    "searchResult": _search_result,
    "json": _json,
}


def decode_block(block: Any, path: str) -> dict[str, Any]:
    """Return a block as a standard one; what has no standard form is `non_standard`.

    Raises:
        DecodeError: If it is not an object.
    """
    if not isinstance(block, dict):
        message = f"Expected a content block, got {short(block)}"
        raise DecodeError(message, path=path, hint="a block is an object with one key")
    given = {k: v for k, v in block.items() if v is not None}
    kinds = given.keys() & READERS.keys()
    if len(kinds) == 1:
        (kind,) = kinds
        found = READERS[kind](given.pop(kind))
        if found is not None:
            # A member that is not known here must not hide the one that is.
            return _beside(found, given) if given else found
    return non_standard(block, API)


def _beside(found: dict[str, Any], rest: dict[str, Any]) -> dict[str, Any]:
    extras = found.get("extras", {})
    return {**found, "extras": {**extras, BESIDE: {**extras.get(BESIDE, {}), **rest}}}


def _blocks(content: Any, path: str) -> list[dict[str, Any]]:
    """Return standard blocks, cache points as marks of the block before them."""
    if not isinstance(content, list):
        message = f"Expected a list of blocks, got {short(content)}"
        raise DecodeError(message, path=path)
    found: list[dict[str, Any]] = []
    for n, raw in enumerate(content):
        mark = cache_control(raw.get("cachePoint")) if isinstance(raw, dict) else None
        if mark is not None and len(raw) == 1 and found and _may_be_marked(found[-1]):
            extras = found[-1].get("extras", {})
            found[-1] = {**found[-1], "extras": {**extras, "cache_control": mark}}
        else:
            found.append(decode_block(raw, f"{path}[{n}]"))
    return found


def _may_be_marked(block: dict[str, Any]) -> bool:
    return block["type"] not in {"reasoning", "non_standard"} and "cache_control" not in block.get(
        "extras", {}
    )


def _plain(blocks: list[dict[str, Any]]) -> str | list[Any]:
    """Return one plain text as a string, else the blocks."""
    if len(blocks) == 1 and blocks[0].keys() == {"type", "text"} and blocks[0]["type"] == "text":
        return blocks[0]["text"]
    return list(blocks)


def _user(message: dict[str, Any], path: str, bag: dict[str, Any]) -> Iterator[BaseMessage]:
    """Yield a user turn as messages: each tool result its own, what stands between them human."""
    content = message.get("content")
    if not isinstance(content, list):
        yield HumanMessage(_plain(_blocks(content, f"{path}.content")), additional_kwargs=bag)
        return
    rest: list[Any] = []
    last: ToolMessage | None = None
    n_sent = 0
    for n, block in enumerate(content):
        where = f"{path}.content[{n}]"
        result = _result(block, where)
        mark = cache_control(block.get("cachePoint")) if isinstance(block, dict) else None
        if result is None and mark is not None and last is not None and not rest:
            last.additional_kwargs["cache_control"] = mark
            last = None
        elif result is None:
            rest.append((n, block))
        else:
            if rest:
                yield _human(rest, path, bag)
                rest, bag = [], {}
            elif bag:
                own = {**result.additional_kwargs.get(API, {}), "turn": bag[API]}
                result.additional_kwargs[API], bag = own, {}
            yield result
            last = result
            n_sent += 1
    if rest or not n_sent:
        yield _human(rest, path, bag)


def _human(rest: list[tuple[int, Any]], path: str, bag: dict[str, Any]) -> HumanMessage:
    start = rest[0][0] if rest else 0
    blocks = _blocks([block for _, block in rest], f"{path}.content[{start}:]")
    return HumanMessage(_plain(blocks), additional_kwargs=bag)


def _result(block: Any, path: str) -> ToolMessage | None:
    given = {k: v for k, v in block.items() if v is not None} if isinstance(block, dict) else {}
    value = given.pop("toolResult", None)
    if given.keys() & READERS.keys():
        return None
    if not isinstance(value, dict) or not isinstance(value.get("toolUseId"), str):
        return None
    content = value.get("content")
    if not isinstance(content, list):
        return None
    blocks = [decode_block(b, f"{path}.content[{n}]") for n, b in enumerate(content)]
    known = {"toolUseId", "content", "status"}
    bag = {k: v for k, v in value.items() if k not in known and v is not None}
    if value.get("status") not in (None, "success", "error"):
        bag["status"] = value["status"]
    kept: dict[str, Any] = {API: bag} if bag else {}
    if given:
        kept[BESIDE] = given
    return ToolMessage(
        content=_plain(blocks) if blocks else "",
        tool_call_id=value["toolUseId"],
        status="error" if value.get("status") == "error" else "success",
        additional_kwargs=kept,
    )


def _message(message: Any, path: str, provider: str) -> Iterator[BaseMessage]:
    message = require_dict(message, f"`{path}`")
    rest = {k: v for k, v in message.items() if k not in {"role", "content"} and v is not None}
    bag: dict[str, Any] = {API: rest} if rest else {}
    role = message.get("role")
    if role == "user":
        yield from _user(message, path, bag)
    elif role == "assistant":
        blocks = _blocks(message.get("content"), f"{path}.content")
        yield history_message(blocks, provider=provider, api=API, additional_kwargs=bag)
    elif role == "system":
        # Says that it stood inside the list: there it goes back, whatever comes before it.
        bag = {API: {"role": "system", **rest}}
        content = _plain(_blocks(message.get("content"), f"{path}.content"))
        yield SystemMessage(content, additional_kwargs=bag)
    else:
        problem = f"unknown role {short(role)}"
        raise DecodeError(problem, path=f"{path}.role", hint="user or assistant")


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
    if isinstance(body.get("system"), list):
        blocks = _blocks(extra.pop("system"), "$.system")
        if blocks:
            request.messages.append(SystemMessage(_plain(blocks)))
    for n, message in enumerate(given):
        request.messages.extend(_message(message, f"$.messages[{n}]", provider))
    if isinstance(body.get("modelId"), str):
        request.model = body["modelId"]
    _inference(request, extra)
    if isinstance(body.get("toolConfig"), dict):
        rest = read_tools(request, body["toolConfig"])
        _replace(extra, "toolConfig", rest)
    output = body.get("outputConfig")
    if isinstance(output, dict) and (found := read_format(output)) is not None:
        request.response_format = found
        _replace(extra, "outputConfig", {k: v for k, v in output.items() if k != "textFormat"})
    request.extra = extra
    return request


def _replace(extra: dict[str, Any], key: str, rest: dict[str, Any]) -> None:
    if rest:
        extra[key] = rest
    else:
        del extra[key]


def _inference(request: ChatRequest, extra: dict[str, Any]) -> None:
    config = extra.get("inferenceConfig")
    if not isinstance(config, dict):
        return
    rest = dict(config)
    if type(config.get("maxTokens")) is int:
        request.max_tokens = rest.pop("maxTokens")
    if type(config.get("temperature")) in {int, float}:
        request.temperature = rest.pop("temperature")
    if type(config.get("topP")) in {int, float}:
        request.top_p = rest.pop("topP")
    stop = config.get("stopSequences")
    if isinstance(stop, list) and all(isinstance(s, str) for s in stop):
        request.stop = rest.pop("stopSequences")
    _replace(extra, "inferenceConfig", rest)


def read_usage(usage: dict[str, Any]) -> dict[str, Any] | None:
    """Return a `usage` object as totals: input tokens include those read from and put into caches."""
    if as_int(usage.get("outputTokens")) is None and as_int(usage.get("inputTokens")) is None:
        return None
    read = as_int(usage.get("cacheReadInputTokens"))
    made = as_int(usage.get("cacheWriteInputTokens"))
    details: dict[str, Any] = {"cache_read": read, "cache_creation": made}
    for part in as_dicts(usage.get("cacheDetails")):
        if isinstance(part.get("ttl"), str):
            details[f"ephemeral_{part['ttl']}_input_tokens"] = part.get("inputTokens")
    return usage_of(
        (as_int(usage.get("inputTokens")) or 0) + (read or 0) + (made or 0),
        usage.get("outputTokens"),
        usage.get("totalTokens"),
        input_details=details,
    )
