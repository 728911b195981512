"""Gemini JSON -> canonical form: parts, requests, usage.

A part has one data field and fields beside it (`thought`, `thoughtSignature`, `videoMetadata` ...).
One reader a data field, in a table; what is unknown travels whole as `non_standard`. Calls without
an id get one that says so, and that is not sent back. Neighbouring contents of one role stay
neighbours.

Source: https://ai.google.dev/api/generate-content, read 2026-11, and recorded traffic.
"""

from collections.abc import Callable, Iterator
from typing import Any

from dragoman.codecs.contract import ChatRequest
from dragoman.codecs.gemini.tables import API, MADE_ID, SIDE_FIELDS
from dragoman.codecs.gemini.tools import read_choice, read_generation, read_tools
from dragoman.codecs.gemini.wire import camel_keys, read_media, read_response
from dragoman.codecs.origin import non_standard
from dragoman.codecs.shapes import (
    as_dict,
    as_dicts,
    as_int,
    as_list,
    as_str,
    require_dict,
    usage_of,
)
from dragoman.codecs.turns import history_message
from dragoman.errors import DecodeError, short
from dragoman.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

__all__ = ["decode_part", "decode_request", "read_usage"]

_LANGUAGES = {"PYTHON": "python"}


def _text(part: dict[str, Any]) -> dict[str, Any] | None:
    if not isinstance(part["text"], str):
        return None
    if part.get("thought") is True:
        return {"type": "reasoning", "reasoning": part["text"]}
    return {"type": "text", "text": part["text"]}


def _call(part: dict[str, Any]) -> dict[str, Any] | None:
    call = as_dict(part["functionCall"])
    name, id = call.get("name"), call.get("id")
    if not isinstance(name, str) or not (id is None or isinstance(id, str)):
        return None
    found = {"type": "tool_call", "id": id or None, "name": name, "args": call.get("args")}
    rest = {k: v for k, v in call.items() if k not in {"name", "id", "args"} and v is not None}
    if "args" not in call:
        rest["args"] = None  # says that there were none, not even {}
    return {**found, "extras": {API: {"functionCall": rest}}} if rest else found


def _code(part: dict[str, Any]) -> dict[str, Any] | None:
    code = as_dict(part["executableCode"])
    if not isinstance(code.get("code"), str) or not code.keys() <= {"code", "language", "id"}:
        return None
    language = code.get("language")
    if language is not None and not isinstance(language, str):
        return None
    language = str(language)
    args = {"code": code["code"], "language": _LANGUAGES.get(language, language)}
    found: dict[str, Any] = {"type": "server_tool_call", "id": as_str(code.get("id"))}
    return {**found, "name": "code_interpreter", "args": args}


def _code_result(part: dict[str, Any]) -> dict[str, Any] | None:
    result = as_dict(part["codeExecutionResult"])
    outcome = result.get("outcome")
    if not result.keys() <= {"outcome", "output", "id"} or not isinstance(outcome, str):
        return None
    found: dict[str, Any] = {
        "type": "server_tool_result",
        "tool_call_id": as_str(result.get("id")),
        "status": "success" if outcome == "OUTCOME_OK" else "error",
    }
    if "output" in result:
        found["output"] = result["output"]
    return {**found, "extras": {"block_type": "codeExecutionResult", "outcome": outcome}}


def _server_call(part: dict[str, Any]) -> dict[str, Any] | None:
    call = camel_keys(as_dict(part["toolCall"]))
    name, args = call.get("toolType"), call.get("args")
    if not isinstance(name, str) or not (args is None or isinstance(args, dict)):
        return None
    if not call.keys() <= {"toolType", "id", "args"}:
        return None
    extras: dict[str, Any] = {"block_type": "toolCall", "tool_type": name}
    if args is None:
        extras[API] = {"args": None}
    found: dict[str, Any] = {"type": "server_tool_call", "id": as_str(call.get("id"))}
    return {**found, "name": name.lower(), "args": args or {}, "extras": extras}


def _server_result(part: dict[str, Any]) -> dict[str, Any] | None:
    result = camel_keys(as_dict(part["toolResponse"]))
    name = result.get("toolType")
    if not isinstance(name, str) or not result.keys() <= {"toolType", "id", "response"}:
        return None
    found: dict[str, Any] = {
        "type": "server_tool_result",
        "tool_call_id": as_str(result.get("id")),
        "status": "success",
    }
    if result.get("response") is not None:
        found["output"] = result["response"]
    return {**found, "extras": {"block_type": "toolResponse", "tool_type": name}}


READERS: dict[str, Callable[[dict[str, Any]], dict[str, Any] | None]] = {
    "text": _text,
    "inlineData": lambda part: read_media("inlineData", part["inlineData"]),
    "fileData": lambda part: read_media("fileData", part["fileData"]),
    "functionCall": _call,
    "executableCode": _code,
    "codeExecutionResult": _code_result,
    "toolCall": _server_call,
    "toolResponse": _server_result,
}


def decode_part(part: Any, path: str) -> dict[str, Any]:
    """Return a part as a standard block; what has no standard form is `non_standard`.

    Ids that Gemini did not send are None: the caller numbers them.

    Raises:
        DecodeError: If it is not an object.
    """
    if not isinstance(part, dict):
        message = f"Expected a part, got {short(part)}"
        raise DecodeError(message, path=path, hint="a part is an object such as {'text': ...}")
    given = {k: v for k, v in camel_keys(part).items() if v is not None}
    kinds = [key for key in given if key in READERS]
    found = READERS[kinds[0]](given) if len(kinds) == 1 else None
    if found is None:
        return non_standard(part, API)
    extras: dict[str, Any] = dict(found.get("extras", {}))
    signature = given.get("thoughtSignature")
    if isinstance(signature, str):
        extras["signature"] = signature
    bag: dict[str, Any] = dict(extras.get(API, {}))
    for key, value in given.items():
        is_read = key == kinds[0] or key in SIDE_FIELDS
        if not is_read or (key == "thoughtSignature" and not isinstance(value, str)):
            bag.setdefault("part", {})[key] = value
    if "thought" in given and not (found["type"] == "reasoning" and given["thought"] is True):
        bag.setdefault("part", {})["thought"] = given["thought"]
    if bag:
        extras[API] = bag
    return {**found, "extras": extras} if extras else found


class _Ids:
    """Gives calls without an id one, and finds the call that a response without an id answers."""

    def __init__(self) -> None:
        self._n_made = 0
        self._waiting: list[tuple[str | None, str]] = []

    def call(self, id: str | None, name: str | None) -> str:
        """Return the id of a call."""
        if not id:
            id = f"{MADE_ID}{self._n_made}"
            self._n_made += 1
        self._waiting.append((name, id))
        return id

    def result(self, id: Any, name: Any) -> str:
        """Return the id of the call that a response answers: its own, else by name and order."""
        match = next((w for w in self._waiting if w[1] == id), None)
        if not isinstance(id, str) or not id:
            made = [w for w in self._waiting if w[1].startswith(MADE_ID)]
            match = next((w for w in made if w[0] == name), None)
            id = match[1] if match is not None else self.call(None, None)
        if match is not None:
            self._waiting.remove(match)
        return id


def _parts(content: dict[str, Any], path: str) -> list[Any]:
    parts = content.get("parts")
    if isinstance(parts, dict):
        return [parts]
    if parts is None:
        return []
    if not isinstance(parts, list):
        message = f"Expected a list of parts, got {short(parts)}"
        raise DecodeError(message, path=f"{path}.parts")
    return parts


def _plain(blocks: list[dict[str, Any]]) -> str | list[Any]:
    """Return one plain text as a string, else the blocks."""
    if len(blocks) == 1 and blocks[0].keys() == {"type", "text"}:
        return blocks[0]["text"]
    return list(blocks)


def _number(blocks: list[dict[str, Any]], ids: _Ids) -> list[dict[str, Any]]:
    """Return blocks of a model's content with ids for the calls that have none."""
    found: list[dict[str, Any]] = []
    last = ""
    for block in blocks:
        if block["type"] == "tool_call":
            block = {**block, "id": ids.call(block["id"], block["name"])}
        elif block["type"] == "server_tool_call":
            last = block["id"] or f"{MADE_ID}s{len(found)}"
            block = {**block, "id": last}
        elif block["type"] == "server_tool_result" and not block["tool_call_id"]:
            block = {**block, "tool_call_id": last or f"{MADE_ID}s{len(found)}"}
        found.append(block)
    return found


def _result(part: Any, ids: _Ids, path: str) -> ToolMessage | None:
    part = camel_keys(part) if isinstance(part, dict) else {}
    given = part.get("functionResponse")
    if not isinstance(given, dict) or len([k for k, v in part.items() if v is not None]) != 1:
        return None
    given = camel_keys(given)
    name, id = given.get("name"), given.get("id")
    response = given.get("response")
    if not isinstance(name, str) or not isinstance(response, dict):
        return None
    text, is_error = read_response(response)
    content: Any = text
    media = given.get("parts")
    if isinstance(media, list):
        blocks = [decode_part(p, f"{path}.parts[{n}]") for n, p in enumerate(media)]
        content = [{"type": "text", "text": text}, *blocks]
    known = {"name", "id", "response", "parts"}
    bag = {k: v for k, v in given.items() if k not in known and v is not None}
    if not isinstance(id, str) or not id:
        bag["id"] = None  # says that there was none
    return ToolMessage(
        content=content,
        tool_call_id=ids.result(id, name),
        name=name,
        status="error" if is_error else "success",
        additional_kwargs={API: bag} if bag else {},
    )


def _content(content: Any, path: str, ids: _Ids, provider: str) -> Iterator[BaseMessage]:
    if isinstance(content, str):
        content = {"role": "user", "parts": [{"text": content}]}
    content = require_dict(content, f"`{path}`")
    role = content.get("role")
    bag = {k: v for k, v in content.items() if k not in {"role", "parts"} and v is not None}
    parts = _parts(content, path)
    if role == "model":
        blocks = [decode_part(p, f"{path}.parts[{n}]") for n, p in enumerate(parts)]
        yield _model(_number(blocks, ids), bag, provider)
        return
    if role not in ("user", "function", None, ""):
        problem = f"unknown role {short(role)}"
        raise DecodeError(problem, path=f"{path}.role", hint="user or model")
    if role != "user":
        bag["role"] = role
    yield from _user(parts, path, ids, bag)


def _model(blocks: list[dict[str, Any]], bag: dict[str, Any], provider: str) -> BaseMessage:
    kwargs = {API: bag} if bag else {}
    if not blocks:
        return history_message([], additional_kwargs={API: {**bag, "parts": []}})
    message = history_message(blocks, provider=provider, api=API, additional_kwargs=kwargs)
    if message.tool_calls or message.invalid_tool_calls:
        # Tells calls that Gemini made itself from those that need a stand-in for its signature.
        message.response_metadata = {"model_provider": provider, "api": API}
    return message


def _user(parts: list[Any], path: str, ids: _Ids, bag: dict[str, Any]) -> Iterator[BaseMessage]:
    """Yield one content as messages: each function response its own, what stands between human.

    What stands behind something else says that it continues the content, so that it is put
    together again (results of one run are, without saying so).
    """
    runs: list[ToolMessage | list[dict[str, Any]]] = []
    for n, part in enumerate(parts):
        where = f"{path}.parts[{n}]"
        result = _result(part, ids, where)
        if result is not None:
            runs.append(result)
        elif runs and isinstance(runs[-1], list):
            runs[-1].append(decode_part(part, where))
        else:
            runs.append([decode_part(part, where)])
    previous: Any = None
    for run in runs or [[]]:
        own = dict(bag) if previous is None else {}
        if isinstance(run, list):
            own.update({"continues": True} if previous is not None else {})
            message: BaseMessage = HumanMessage(_plain(run))
        else:
            own = {**run.additional_kwargs.get(API, {}), **({"turn": own} if own else {})}
            own.update({"continues": True} if isinstance(previous, list) else {})
            message = run
        if own:
            message.additional_kwargs[API] = own
        yield message
        previous = run


# The encoder puts neighbours of these kinds into one content, unless one says that it begins another.
_JOINED = (ToolMessage, AIMessage)


def decode_request(body: dict[str, Any], provider: str) -> ChatRequest:
    """Return a request body as a `ChatRequest`; what has no field stays in `extra`.

    Raises:
        DecodeError: If there are no contents, or one of them cannot be read.
    """
    body = camel_keys(require_dict(body, "the request"))
    given = body.get("contents")
    if isinstance(given, (dict, str)):
        given = [given]
    if not isinstance(given, list):
        raise DecodeError("Expected a list of contents", path="$.contents")
    request = ChatRequest()
    extra = dict(body)
    del extra["contents"]
    if isinstance(body.get("model"), str):
        request.model = body["model"]
    system = body.get("systemInstruction")
    if isinstance(system, (dict, str)):
        del extra["systemInstruction"]
        content = {"parts": [{"text": system}]} if isinstance(system, str) else system
        path = "$.systemInstruction"
        blocks = [decode_part(p, path) for p in _parts(content, path)]
        rest = {k: v for k, v in content.items() if k not in {"parts", "role"} and v is not None}
        kwargs = {API: rest} if rest else {}
        request.messages.append(SystemMessage(_plain(blocks), additional_kwargs=kwargs))
    ids = _Ids()
    for n, content in enumerate(given):
        found = list(_content(content, f"$.contents[{n}]", ids, provider))
        last = request.messages[-1] if request.messages else None
        if any(isinstance(last, kind) and isinstance(found[0], kind) for kind in _JOINED):
            own = found[0].additional_kwargs.get(API, {})
            found[0].additional_kwargs = {API: {**own, "begins": True}}
        request.messages += found
    read_tools(request, extra)
    read_choice(request, extra)
    read_generation(request, extra)
    request.extra = extra
    return request


def read_usage(usage: dict[str, Any]) -> dict[str, Any] | None:
    """Return `usageMetadata` as totals.

    Google counts thoughts beside the answer and prompts of server tools beside the prompt; here
    they are part of output and input, so that input + output = total.
    """
    n_in = as_int(usage.get("promptTokenCount"))
    n_out = as_int(usage.get("candidatesTokenCount"))
    total = as_int(usage.get("totalTokenCount"))
    if n_in is None and n_out is None and total is None:
        return None
    thoughts = as_int(usage.get("thoughtsTokenCount"))
    used = as_int(usage.get("toolUsePromptTokenCount"))
    return usage_of(
        (n_in or 0) + (used or 0),
        (n_out or 0) + (thoughts or 0),
        total,
        input_details={
            "cache_read": as_int(usage.get("cachedContentTokenCount")),
            "audio": _audio(usage.get("promptTokensDetails")),
        },
        output_details={
            "reasoning": thoughts,
            "audio": _audio(usage.get("candidatesTokensDetails")),
        },
    )


def _audio(details: Any) -> int | None:
    counts = [
        as_int(d.get("tokenCount")) for d in as_dicts(details) if d.get("modality") == "AUDIO"
    ]
    known = [n for n in as_list(counts) if n is not None]
    return sum(known) if known else None
