"""Canonical requests as bodies of Cohere's chat (v2).

Done without telling: results in call order, `tool_choice` left out for auto, pictures of results in a
user message behind them, empty assistant turns left out.
"""

from typing import Any

from dragoman.codecs.arguments import dump_arguments, read_arguments
from dragoman.codecs.cohere.tables import API
from dragoman.codecs.cohere.wire import write_citations, write_part
from dragoman.codecs.contract import Change, ChatRequest
from dragoman.codecs.explained import explained
from dragoman.codecs.notes import note
from dragoman.codecs.origin import is_from, provider_of
from dragoman.codecs.pairing import UNNAMED, WireIds
from dragoman.codecs.schemas import encode_schema
from dragoman.codecs.shapes import as_dict, as_str
from dragoman.codecs.tools import function_tool, json_schema_of, tool_choice_of, without_marks
from dragoman.codecs.turns import blocks_of, turns
from dragoman.errors import short
from dragoman.messages import AIMessage, BaseMessage, ToolMessage

__all__ = ["Encoder", "encode_request"]


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
    body["messages"] = Encoder(provider, changes).messages(request)
    scalars = {
        "max_tokens": request.max_tokens,
        "temperature": request.temperature,
        "p": request.top_p,
        "stop_sequences": request.stop,
        "stream": request.stream,
    }
    body.update((key, value) for key, value in scalars.items() if value is not None)
    tools = [
        tool
        for n, given in enumerate(request.tools)
        if (tool := _write_tool(given, f"$.tools[{n}]", changes)) is not None
    ]
    choice = None if request.tool_choice is None else tool_choice_of(request.tool_choice)
    if choice not in (None, "auto", "none", "any"):
        # There is no way to name a tool: only that one is offered, and some tool is forced.
        tools = [t for t in tools if as_dict(t.get("function")).get("name") == choice] or tools
        text = "Cohere cannot be told which tool to call; the others are left out"
        note(changes, "$.tool_choice", "narrowed_tools", text, lossy=False)
        choice = "any"
    if tools:
        body["tools"] = tools
    if choice in ("none", "any"):
        body["tool_choice"] = "NONE" if choice == "none" else "REQUIRED"
    elif request.tool_choice is not None and choice is None:
        note(changes, "$.tool_choice", "dropped_parameter", "the choice is not of this wire")
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
        self._ids = WireIds()
        self._media: list[dict[str, Any]] = []  # of the results of the turn being written

    def messages(self, request: ChatRequest) -> list[dict[str, Any]]:
        """Return the wire messages of a request."""
        out: list[dict[str, Any]] = []
        for turn in turns(request.messages):
            message = turn.message
            if self._media and turn.role != "tool":
                out.append(self._media_message())
            if message.name and turn.role != "tool":
                note(self._changes, f"{turn.path}.name", "dropped_name", "Cohere has no names")
            if isinstance(message, ToolMessage):
                out.append(self._result(message, turn.path))
            elif turn.role == "assistant":
                if not isinstance(message, AIMessage):
                    message = AIMessage(message.content)
                written = self.assistant(message, turn.path)
                if len(written) > 1:
                    out.append(written)
            else:
                rest = as_dict(message.additional_kwargs.get(API))
                content = self._parts(message, turn.path)
                out.append({"role": turn.role, "content": content, **rest})
        if self._media:
            out.append(self._media_message())
        return out

    def _media_message(self) -> dict[str, Any]:
        parts, self._media = self._media, []
        return {"role": "user", "content": parts}

    def _parts(self, message: BaseMessage, path: str) -> Any:
        if isinstance(message.content, str):
            return message.content
        parts = [
            part
            for n, block in enumerate(message.content_blocks)
            if (part := write_part(dict(block), f"{path}.content[{n}]", changes=self._changes))
            is not None
        ]
        return parts or ""

    def _result(self, message: ToolMessage, path: str) -> dict[str, Any]:
        content: Any = message.content
        if not isinstance(content, str):
            texts: list[dict[str, Any]] = []
            for n, block in enumerate(message.content_blocks):
                part = write_part(dict(block), f"{path}.content[{n}]", changes=self._changes)
                if part is not None:
                    (self._media if block["type"] == "image" else texts).append(part)
            content = texts or ""
        if message.status == "error":
            text = "Cohere has no mark for results that are errors"
            note(self._changes, f"{path}.status", "dropped_status", text, lossy=False)
        id = self._ids.result(message.tool_call_id)
        rest = as_dict(message.additional_kwargs.get(API))
        return {"role": "tool", "tool_call_id": id, "content": content, **rest}

    def assistant(self, message: AIMessage, path: str) -> dict[str, Any]:
        """Return an assistant message; one that says nothing has its role only."""
        own = is_from(message, self._provider, API)
        is_theirs = self._is_reply or (own and provider_of(message) is not None)
        parts: list[dict[str, Any]] = []
        calls: list[dict[str, Any]] = []
        citations: list[dict[str, Any]] = []
        written: dict[str, Any] = {"role": "assistant"}
        blocks = blocks_of(message)
        has_calls = any(b.get("type") in ("tool_call", "invalid_tool_call") for b in blocks)
        for n, block in enumerate(blocks):
            kind = block.get("type")
            where = f"{path}.content[{n}]"
            if kind in ("tool_call", "invalid_tool_call"):
                calls.append(self._call(block, own=own))
            elif kind == "reasoning":
                if not is_theirs:
                    text = "reasoning of another provider is left out"
                    lossy = bool(block.get("reasoning"))
                    note(self._changes, where, "dropped_reasoning", text, lossy=lossy)
                else:
                    self._reasoning(block, written, parts, has_calls=has_calls)
            elif kind == "non_standard" and block.get("part") == "call" and own:
                calls.append(as_dict(block.get("value"))["call"])
            else:
                part = write_part(block, where, changes=self._changes, said_by_model=True)
                if part is not None:
                    parts.append(part)
                if own and kind == "text":
                    citations += write_citations(block.get("annotations"))
        plain = len(parts) == 1 and parts[0].keys() == {"type", "text"}
        content: Any = parts[0]["text"] if plain else parts
        if plain or parts:
            written["content"] = content
        rest = {"tool_calls": calls, "citations": citations}
        written.update((key, value) for key, value in rest.items() if value)
        return {**written, **(as_dict(message.additional_kwargs.get(API)) if own else {})}

    @staticmethod
    def _reasoning(
        block: dict[str, Any],
        written: dict[str, Any],
        parts: list[dict[str, Any]],
        *,
        has_calls: bool,
    ) -> None:
        """Write reasoning where it came from: what a tool turn thinks aloud is its `tool_plan`."""
        text = block.get("reasoning")
        text = text if isinstance(text, str) else ""
        own = as_dict(as_dict(block.get("extras")).get(API))
        is_plan = own.get("field") == "tool_plan" or ("extras" not in block and has_calls)
        if is_plan and "tool_plan" not in written:
            written["tool_plan"] = text
        else:
            rest = {k: v for k, v in own.items() if k != "field"}
            parts.append({"type": "thinking", "thinking": text, **rest})

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


def _write_tool(
    tool: dict[str, Any], path: str, changes: list[Change] | None
) -> dict[str, Any] | None:
    if tool.get("type") == "function" and isinstance(tool.get("function"), dict):
        return tool
    found = function_tool(tool)
    if found is None:
        text = f"the tool {short(tool.get('type') or next(iter(tool), None))} is not of this wire"
        note(changes, path, "dropped_tool", text)
        return None
    if found.pop("strict", None):
        text = "Cohere has one `strict_tools` for all tools"
        note(changes, f"{path}.strict", "dropped_parameter", text, lossy=False)
    if isinstance(schema := found.get("parameters"), dict):
        where = f"{path}.parameters"
        found["parameters"] = encode_schema(schema, "openai", changes=changes, path=where)
    return {"type": "function", "function": found}


def _write_format(asked: dict[str, Any], changes: list[Change] | None) -> dict[str, Any]:
    asked = without_marks(asked)
    found = json_schema_of(asked)
    if found is None:
        return asked
    if asked.get("type") == "json_object":
        return asked
    path = "$.response_format"
    schema = encode_schema(found.schema, "openai", changes=changes, path=path)
    return {"type": "json_object", "schema": schema}
