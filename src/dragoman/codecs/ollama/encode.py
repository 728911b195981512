"""`ChatRequest`s as bodies of Ollama's `/api/chat`.

Content is one string; images are bare base64 beside it; arguments are objects; results name their
tool and stand in call order, for there are no ids. What the wire cannot hold is reported, media
other than images raises.
"""

from collections.abc import Sequence
from typing import Any

from dragoman.codecs.contract import Change, ChatRequest
from dragoman.codecs.explained import explained
from dragoman.codecs.media import media_of
from dragoman.codecs.notes import note
from dragoman.codecs.ollama.tables import API, OPTIONS
from dragoman.codecs.origin import is_from
from dragoman.codecs.pairing import UNNAMED, in_call_order
from dragoman.codecs.shapes import as_dict
from dragoman.codecs.tools import function_tool, json_schema_of
from dragoman.codecs.turns import blocks_of, with_results_split
from dragoman.errors import EncodeError
from dragoman.messages import (
    AIMessage,
    BaseMessage,
    ChatMessage,
    FunctionMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)
from dragoman.messages.translate import standard_blocks

__all__ = ["encode_request"]

_ROLES = {
    "user": "user", "human": "user", "assistant": "assistant", "ai": "assistant",
    "system": "system", "developer": "system",
}  # fmt: skip


@explained
def encode_request(
    request: ChatRequest, provider: str, changes: list[Change] | None
) -> dict[str, Any]:
    """Return the body for a request.

    Raises:
        EncodeError: If a message holds what the wire cannot carry.
    """
    body: dict[str, Any] = {}
    if request.model is not None:
        body["model"] = request.model
    body["messages"] = _Encoder(provider, changes).messages(request.messages)
    tools = _tools(request, changes)
    if tools:
        body["tools"] = tools
    if request.response_format is not None:
        _format(request.response_format, body, changes)
    if request.stream is not None:
        body["stream"] = request.stream
    extra = dict(request.extra)
    options: Any = extra.pop("options", None)
    given = {
        theirs: value
        for ours, theirs in OPTIONS.items()
        if (value := getattr(request, ours)) is not None
    }
    if isinstance(options, dict) or options is None:
        if given or options is not None:
            body["options"] = {**given, **(options or {})}
    else:
        body["options"] = options
    body.update(extra)
    return body


def _tools(request: ChatRequest, changes: list[Change] | None) -> list[dict[str, Any]]:
    choice = request.tool_choice
    tools: list[dict[str, Any]] = []
    for k, tool in enumerate(request.tools):
        function = function_tool(tool)
        if function is None:
            note(changes, f"$.tools[{k}]", "dropped_tool", "Ollama knows function tools only")
        elif choice == "none":
            continue
        elif "function" in tool:
            tools.append(tool)
        else:
            tools.append({"type": "function", "function": function})
    if choice == "none":
        text = "Ollama has no tool choice; for `none` the tools were left out"
        note(changes, "$.tool_choice", "dropped_tools", text, lossy=False)
    elif choice not in (None, "auto"):
        named = [t for t in tools if t["function"].get("name") == choice]
        tools = named or tools
        text = "Ollama has no tool choice; the model may answer without a call"
        note(changes, "$.tool_choice", "dropped_tool_choice", text)
    return tools


def _format(form: dict[str, Any], body: dict[str, Any], changes: list[Change] | None) -> None:
    schema = json_schema_of(form)
    if schema is not None:
        body["format"] = schema.schema
    elif form.get("type") == "json_object":
        body["format"] = "json"
    elif form.get("type") != "text":
        note(changes, "$.response_format", "dropped_response_format", "Ollama takes a JSON schema")


class _Encoder:
    def __init__(self, provider: str, changes: list[Change] | None) -> None:
        self._provider = provider
        self._changes = changes
        self._names: dict[str | None, str] = {}  # call id -> tool name

    def messages(self, messages: Sequence[BaseMessage]) -> list[dict[str, Any]]:
        """Return the wire messages."""
        ordered = in_call_order(with_results_split(messages))
        return [self._message(m, f"$[{k}]") for k, m in enumerate(ordered)]

    def _message(self, message: BaseMessage, path: str) -> dict[str, Any]:
        role = _role_of(message)
        if role is None:
            text = f"Ollama knows no role for a {type(message).__name__}"
            raise EncodeError(text, path=path, hint="use user, assistant, system or tool")
        wire: dict[str, Any] = {"role": role}
        self._content(wire, message, path)
        if isinstance(message, AIMessage):
            self._assistant(wire, message, path)
        elif isinstance(message, (ToolMessage, FunctionMessage)):
            call_id = message.tool_call_id if isinstance(message, ToolMessage) else None
            if name := self._names.get(call_id) or message.name:
                wire["tool_name"] = name
        elif message.name:
            note(self._changes, path, "dropped_name", "Ollama has no place for a name")
        kept = message.additional_kwargs.get(API)
        if isinstance(kept, dict) and is_from(message, self._provider, API):
            wire.update(kept)
        return wire

    def _content(self, wire: dict[str, Any], message: BaseMessage, path: str) -> None:
        content: Any = message.content
        if isinstance(content, str):
            wire["content"] = content
            return
        texts: list[str] = []
        images: list[str] = []
        is_answer = isinstance(message, AIMessage)
        for k, block in enumerate(standard_blocks(content)):
            kind = block.get("type")
            where = f"{path}.content[{k}]"
            if kind in ("text", "refusal"):
                texts.append(block.get(kind) or "")
            elif kind == "text-plain" and (text := media_of(block).text) is not None:
                texts.append(text)
            elif (kind in _MEDIA and not is_answer) or (kind == "image" and media_of(block).base64):
                images.append(_image(block, where))
            elif kind not in ("tool_call", "invalid_tool_call", "tool_call_chunk", "reasoning"):
                text = f"Ollama has no place for a `{kind}` block"
                note(self._changes, where, "dropped_block", text)
        wire["content"] = ("" if is_answer else "\n").join(texts)
        if images:
            wire["images"] = images

    def _assistant(self, wire: dict[str, Any], message: AIMessage, path: str) -> None:
        calls: list[dict[str, Any]] = []
        valid: list[Any] = message.tool_calls
        if not isinstance(message.content, str):
            valid = [b for b in blocks_of(message) if b["type"] == "tool_call"]
        for call in valid:
            name, args = call.get("name") or UNNAMED, call.get("args") or {}
            self._names[call.get("id")] = name
            calls.append({"function": {"name": name, "arguments": args}})
        for call in message.invalid_tool_calls:
            name = call.get("name") or UNNAMED
            self._names[call.get("id")] = name
            function = {"name": name, "arguments": {}}
            calls.append({"function": function})
            text = "the arguments of an invalid call are no object and were left out"
            note(self._changes, path, "dropped_arguments", text)
        if calls:
            wire["tool_calls"] = calls
        reasoning = _reasoning(message)
        kept = as_dict(message.additional_kwargs.get(API))
        if reasoning and "thinking" not in kept:
            if is_from(message, self._provider):
                wire["thinking"] = reasoning
            else:
                note(self._changes, path, "dropped_reasoning", "another provider's reasoning")
        if sealed := _sealed(message):
            # A seal without words is nothing that a model or a person would have read.
            text = "signed reasoning is not for this wire"
            note(self._changes, path, "dropped_reasoning", text, lossy=any(sealed))


_MEDIA = ("image", "audio", "video", "file", "text-plain")


def _role_of(message: BaseMessage) -> str | None:
    if isinstance(message, ChatMessage):
        return _ROLES.get(message.role)
    for kind, role in (
        (HumanMessage, "user"),
        (AIMessage, "assistant"),
        (ToolMessage, "tool"),
        (SystemMessage, "system"),
        (FunctionMessage, "tool"),
    ):
        if isinstance(message, kind):
            return role
    return None


def _image(block: dict[str, Any], path: str) -> str:
    media = media_of(block)
    if media.kind != "image" or media.base64 is None:
        text = f"Ollama cannot carry a `{media.kind}` block" + (
            " given by address" if media.kind == "image" else ""
        )
        raise EncodeError(text, path=path, hint="it takes images as base64")
    return media.base64


def _sealed(message: AIMessage) -> list[str]:
    """Return the texts of signed and encrypted reasoning."""
    if isinstance(message.content, str):
        return []
    return [
        str(b.get("reasoning") or "")
        for b in message.content
        if isinstance(b, dict) and b.get("type") == "reasoning" and b.get("extras")
    ]


def _reasoning(message: AIMessage) -> str:
    """Return the message's plain reasoning; signed reasoning is not for this wire."""
    if isinstance(message.content, list):
        texts = [
            b.get("reasoning") or ""
            for b in message.content
            if isinstance(b, dict) and b.get("type") == "reasoning" and not b.get("extras")
        ]
        if "".join(texts):
            return "".join(texts)
    text = message.additional_kwargs.get("reasoning_content")
    return text if isinstance(text, str) else ""
