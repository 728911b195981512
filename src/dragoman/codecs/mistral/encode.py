"""Canonical requests as bodies of Mistral's chat completions.

Done without telling: call ids of nine letters and digits (injective), results in call order, media of
results in a user message behind them, empty assistant turns left out, `prefix` on a last assistant
message.
"""

from typing import Any

from dragoman.codecs.arguments import dump_arguments, read_arguments
from dragoman.codecs.contract import Change, ChatRequest
from dragoman.codecs.explained import explained
from dragoman.codecs.mistral.tables import API, CALL_ID
from dragoman.codecs.mistral.wire import write_chunk, write_thinking
from dragoman.codecs.notes import note
from dragoman.codecs.origin import is_from, provider_of
from dragoman.codecs.pairing import UNNAMED, WireIds
from dragoman.codecs.schemas import encode_schema
from dragoman.codecs.shapes import as_dict, as_str, is_only_text
from dragoman.codecs.tools import function_tool, json_schema_of, tool_choice_of, without_marks
from dragoman.codecs.turns import OPENED, PLACEHOLDER, Turn, blocks_of, turns
from dragoman.errors import short
from dragoman.messages import AIMessage, ToolMessage

__all__ = ["Encoder", "encode_request"]

_MEDIA = {"image", "file", "audio", "video"}


@explained
def encode_request(
    request: ChatRequest, provider: str, changes: list[Change] | None = None
) -> dict[str, Any]:
    """Return the body of a request; shares payloads with `request`, changes nothing of it.

    Raises:
        EncodeError: For a message or block that this wire cannot carry.
    """
    body: dict[str, Any] = {}
    if request.model is not None:
        body["model"] = request.model
    messages = body["messages"] = Encoder(provider, changes).messages(request)
    if messages and all(message["role"] == "system" for message in messages):
        note(changes, "$.messages", "no_turn", OPENED, lossy=False)
        messages.append({"role": "user", "content": PLACEHOLDER})
    scalars = {
        "max_tokens": request.max_tokens,
        "temperature": request.temperature,
        "top_p": request.top_p,
        "stop": request.stop,
        "stream": request.stream,
    }
    body.update((key, value) for key, value in scalars.items() if value is not None)
    tools = [
        tool
        for n, given in enumerate(request.tools)
        if (tool := _write_tool(given, f"$.tools[{n}]", changes)) is not None
    ]
    if tools:
        body["tools"] = tools
    choice = _write_choice(request.tool_choice, changes)
    if choice is not None:
        body["tool_choice"] = choice
    if request.response_format is not None:
        body["response_format"] = _write_format(request.response_format, changes)
    for key, value in request.extra.items():
        body.setdefault(key, value)
    return body


class Encoder:
    """Writes the messages of one request (or, on the server side, of one reply)."""

    def __init__(
        self, provider: str, changes: list[Change] | None, *, is_reply: bool = False
    ) -> None:
        self._provider = provider
        self._is_reply = is_reply  # a server's own reply holds reasoning, whoever made it
        self._changes = changes
        self._ids = WireIds(CALL_ID, length=9)
        self._media: list[dict[str, Any]] = []  # of the results of the turn being written

    def messages(self, request: ChatRequest) -> list[dict[str, Any]]:
        """Return the wire messages of a request."""
        out: list[dict[str, Any]] = []
        for turn in turns(request.messages):
            message = turn.message
            if self._media and turn.role != "tool":
                out.append(self._media_message())
            if message.name and turn.role != "tool":
                text = "Mistral has no names of speakers"
                note(self._changes, f"{turn.path}.name", "dropped_name", text)
            if isinstance(message, ToolMessage):
                out.append(self._result(message, turn.path))
            elif turn.role == "assistant":
                if not isinstance(message, AIMessage):
                    message = AIMessage(message.content)
                written = self.assistant(message, turn.path)
                if written["content"] or "tool_calls" in written or written.keys() > _PLAIN:
                    out.append(written)
            else:
                out.append(self._prompt(turn))
        if self._media:
            out.append(self._media_message())
        last = out[-1] if out else {}
        if last.get("role") == "assistant" and "tool_calls" not in last:
            # 400 "Expected last role User or Tool (or Assistant with prefix True)".
            last.setdefault("prefix", True)
        return out

    def _media_message(self) -> dict[str, Any]:
        parts, self._media = self._media, []
        return {"role": "user", "content": parts}

    def _prompt(self, turn: Turn) -> dict[str, Any]:
        message = turn.message
        rest = as_dict(message.additional_kwargs.get(API))
        return {"role": turn.role, "content": self._chunks(message, turn.path), **rest}

    def _chunks(self, message: Any, path: str) -> Any:
        if isinstance(message.content, str):
            return message.content
        parts = [
            part
            for n, block in enumerate(message.content_blocks)
            if (part := write_chunk(dict(block), f"{path}.content[{n}]", changes=self._changes))
            is not None
        ]
        return parts or ""

    def _result(self, message: ToolMessage, path: str) -> dict[str, Any]:
        content: Any = message.content
        if not isinstance(content, str):
            texts: list[dict[str, Any]] = []
            for n, block in enumerate(message.content_blocks):
                part = write_chunk(dict(block), f"{path}.content[{n}]", changes=self._changes)
                if part is not None:
                    (self._media if block["type"] in _MEDIA else texts).append(part)
            content = texts or ""
            if all(is_only_text(t) for t in texts):
                content = "\n".join(t["text"] for t in texts)
        written: dict[str, Any] = {"role": "tool", "content": content}
        written["tool_call_id"] = self._ids.result(message.tool_call_id)
        if message.name:
            written["name"] = message.name
        if message.status == "error":
            text = "Mistral has no mark for results that are errors"
            note(self._changes, f"{path}.status", "dropped_status", text, lossy=False)
        return {**written, **as_dict(message.additional_kwargs.get(API))}

    def assistant(self, message: AIMessage, path: str) -> dict[str, Any]:
        """Return an assistant message; `content` is "" if there is none."""
        own = is_from(message, self._provider, API)
        is_theirs = self._is_reply or (own and provider_of(message) is not None)
        parts: list[dict[str, Any]] = []
        calls: list[dict[str, Any]] = []
        for n, block in enumerate(blocks_of(message)):
            kind = block.get("type")
            where = f"{path}.content[{n}]"
            if kind in ("tool_call", "invalid_tool_call"):
                calls.append(self._call(block, own=own))
            elif kind == "reasoning":
                if is_theirs:
                    parts.append(write_thinking(block))
                else:
                    text = "reasoning of another provider is left out"
                    lossy = bool(block.get("reasoning"))
                    note(self._changes, where, "dropped_reasoning", text, lossy=lossy)
            elif kind == "non_standard" and block.get("part") == "call" and own:
                calls.append(as_dict(block.get("value")).get("call"))  # type: ignore[arg-type]
            else:
                part = write_chunk(block, where, changes=self._changes, said_by_model=True)
                if part is not None:
                    parts.append(part)
        content: Any = parts
        if all(p.keys() == {"type", "text"} for p in parts) and len(parts) < 2:
            content = parts[0]["text"] if parts else ""
        written: dict[str, Any] = {"role": "assistant", "content": content}
        if calls:
            written["tool_calls"] = calls
        if message.additional_kwargs.get("prefix") is True:
            written["prefix"] = True
        return {**written, **(as_dict(message.additional_kwargs.get(API)) if own else {})}

    def _call(self, block: dict[str, Any], *, own: bool) -> dict[str, Any]:
        args = block.get("args")
        if block["type"] == "invalid_tool_call":
            args = args if isinstance(args, str) else ""
        bag = dict(as_dict(as_dict(block.get("extras")).get(API))) if own else {}
        if "arguments" in bag:
            raw = bag.pop("arguments")
            same = read_arguments(raw) == args
            bag["function"] = {
                **as_dict(bag.get("function")),
                **({"arguments": raw} if same else {}),
            }
        function = {
            "name": block.get("name") or UNNAMED,
            "arguments": args if isinstance(args, str) else dump_arguments(args),
        }
        function.update(as_dict(bag.pop("function", None)))
        id = self._ids.call(as_str(block.get("id")))
        return {"id": id, "type": "function", "function": function, **bag}


_PLAIN = {"role", "content"}


def _write_tool(
    tool: dict[str, Any], path: str, changes: list[Change] | None
) -> dict[str, Any] | None:
    if isinstance(tool.get("function"), dict) and tool.get("type") in (None, "function"):
        return tool
    found = function_tool(tool)
    if found is None:
        kind = tool.get("type")
        if isinstance(kind, str) and kind in _SERVER_TOOLS:
            return tool
        text = f"the tool {short(kind or next(iter(tool), None))} is not of this wire"
        note(changes, path, "dropped_tool", text)
        return None
    schema = found.get("parameters")
    if isinstance(schema, dict):
        dialect = "openai_strict" if found.get("strict") else "openai"
        where = f"{path}.parameters"
        found["parameters"] = encode_schema(schema, dialect, changes=changes, path=where)
    return {"type": "function", "function": found}


_SERVER_TOOLS = {
    "web_search", "web_search_premium", "code_interpreter", "image_generation", "document_library",
    "connector",
}  # fmt: skip


def _write_choice(choice: Any, changes: list[Change] | None) -> Any:
    if choice is None:
        return None
    if isinstance(choice, dict):
        if choice.keys() == {"choice"}:
            return choice["choice"]
        if choice.get("type") == "function" and "function" in choice:
            return choice
    word = tool_choice_of(choice)
    if word is None:
        note(changes, "$.tool_choice", "dropped_parameter", "the choice is not of this wire")
    elif word not in ("auto", "none", "any"):
        return {"type": "function", "function": {"name": word}}
    return word


def _write_format(asked: dict[str, Any], changes: list[Change] | None) -> dict[str, Any]:
    inner = asked.get("json_schema")
    found = json_schema_of(asked)
    if found is None or (isinstance(inner, dict) and asked.get("api") == API):
        return without_marks(asked)
    given: dict[str, Any] = dict(inner) if isinstance(inner, dict) else {"name": found.name}
    if not isinstance(inner, dict):
        if found.description is not None:
            given["description"] = found.description
        if found.strict is not None:
            given["strict"] = found.strict
    dialect = "openai_strict" if found.strict else "openai"
    path = "$.response_format.json_schema.schema"
    given["schema"] = encode_schema(found.schema, dialect, changes=changes, path=path)
    outer = without_marks(asked) if isinstance(inner, dict) else {}
    return {**outer, "type": "json_schema", "json_schema": given}
