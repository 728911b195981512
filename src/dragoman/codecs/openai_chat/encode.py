"""`ChatRequest`s as request bodies of Chat Completions, in one speaker's dialect.

Results stand behind their turn in call order; media in results, which the tool role cannot hold,
follows in a user message of its own; plain reasoning goes back where the dialect wants it, signed
reasoning only to who signed it. Nothing given is changed, payload strings are shared.
"""

from collections.abc import Callable, Sequence
from typing import Any

from msgspec import UNSET

from dragoman.codecs.arguments import dump_arguments
from dragoman.codecs.contract import Change, ChatRequest
from dragoman.codecs.explained import explained
from dragoman.codecs.notes import note
from dragoman.codecs.openai_chat.assistant import AssistantWriter
from dragoman.codecs.openai_chat.parts import API, encode_parts
from dragoman.codecs.openai_chat.tables import Dialect
from dragoman.codecs.pairing import WireIds, in_call_order
from dragoman.codecs.schemas import encode_schema
from dragoman.codecs.shapes import as_dicts
from dragoman.codecs.tools import function_tool, json_schema_of, tool_choice_of, without_marks
from dragoman.codecs.turns import with_results_split
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

__all__ = ["Encoder", "encode_request"]

_ROLES = {
    "user": "user", "human": "user", "assistant": "assistant", "ai": "assistant",
    "system": "system", "developer": "developer",
}  # fmt: skip
_LIMITS = ("max_tokens", "max_completion_tokens")
_TOOL_KEYS = {"name", "description", "parameters", "strict"}
_CHOICE: dict[str, Any] = {"auto": "auto", "none": "none", "any": "required"}


@explained
def encode_request(
    request: ChatRequest, dialect: Dialect, changes: list[Change] | None
) -> dict[str, Any]:
    """Return the body for a request.

    Raises:
        EncodeError: If a message holds what the wire cannot carry.
    """
    extra = dict(request.extra)
    body: dict[str, Any] = {}
    if request.model is not None:
        body["model"] = request.model
    body["messages"] = Encoder(dialect, changes).messages(request.messages)
    if request.tools:
        body["tools"] = [
            t for k, tool in enumerate(request.tools) if (t := _tool(tool, changes, k)) is not None
        ]
    if request.tool_choice is not None:
        choice = _tool_choice(request.tool_choice)
        if choice is None:
            note(changes, "$.tool_choice", "dropped_parameter", "the choice is not of this wire")
        else:
            body["tool_choice"] = choice
    if request.response_format is not None:
        body["response_format"] = _response_format(without_marks(request.response_format), changes)
    if request.max_tokens is not None and not any(
        extra.get(k) == request.max_tokens for k in _LIMITS
    ):
        extra = {k: v for k, v in extra.items() if k not in _LIMITS}
        body[dialect.max_tokens] = request.max_tokens
    for key in ("temperature", "top_p", "stream"):
        if (value := getattr(request, key)) is not None:
            body[key] = value
    if request.stop is not None and extra.get("stop") not in request.stop[:1]:
        body["stop"] = request.stop
        extra.pop("stop", None)
    body.update(extra)
    return body


def _tool(tool: dict[str, Any], changes: list[Change] | None, k: int) -> dict[str, Any] | None:
    if tool.get("type") in ("function", "custom") and ("function" in tool or "custom" in tool):
        return tool
    function = tool if tool.keys() <= _TOOL_KEYS and "name" in tool else function_tool(tool)
    if function is not None:
        schema = function.get("parameters")
        if isinstance(schema, dict):
            dialect = "openai_strict" if function.get("strict") else "openai"
            path = f"$.tools[{k}].parameters"
            written = encode_schema(schema, dialect, changes=changes, path=path)
            if written is not schema:
                function = {**function, "parameters": written}
        return {"type": "function", "function": function}
    kind = tool.get("type")
    if isinstance(kind, str) and not kind[-8:].isdecimal():
        return tool  # a server tool of this wire's speakers (`openrouter:web_search`)
    note(changes, f"$.tools[{k}]", "dropped_tool", "the tool belongs to another provider")
    return None


def _tool_choice(choice: str | dict[str, Any]) -> Any:
    if isinstance(choice, dict):
        kind = choice.get("type")
        if kind == "allowed_tools" and "tools" in choice:  # as the Responses API has it
            allowed = {k: v for k, v in choice.items() if k != "type"}
            allowed["tools"] = [_named(t) for t in as_dicts(choice["tools"])]
            return {"type": kind, kind: allowed}
        if kind == "custom" and "custom" not in choice and "name" in choice:
            return {"type": kind, "custom": {"name": choice["name"]}}
        if kind in ("allowed_tools", "custom") or (kind == "function" and "function" in choice):
            return choice
        word = tool_choice_of(choice)
        if word is None:
            is_own = isinstance(kind, str) and ("custom" in choice or "function" in choice)
            is_flat = isinstance(kind, str) and kind in _FLAT
            return choice if is_own or (not is_flat and _is_of_no_other(choice)) else None
        choice = word
    if choice in _CHOICE:
        return _CHOICE[choice]
    if choice == "required":
        return choice
    return {"type": "function", "function": {"name": choice}}


_FLAT = frozenset(("mcp", "web_search", "web_search_preview", "file_search", "code_interpreter",
                   "image_generation", "computer_use_preview", "apply_patch", "shell"))  # fmt: skip
"""Tools of the Responses API that a choice there names by type."""


def _is_of_no_other(choice: dict[str, Any]) -> bool:
    """Return whether a choice of unknown form can be this wire's: no other's key is in it."""
    return choice.keys().isdisjoint(
        ("functionCallingConfig", "function_calling_config", "includeServerSideToolInvocations",
         "include_server_side_tool_invocations", "retrievalConfig", "auto", "any", "tool")
    )  # fmt: skip


def _named(tool: dict[str, Any]) -> dict[str, Any]:
    """Return one allowed tool in this wire's nested form."""
    kind = tool.get("type")
    if isinstance(kind, str) and kind in ("function", "custom") and kind not in tool:
        return {"type": kind, kind: {k: v for k, v in tool.items() if k != "type"}}
    return tool


def _response_format(given: dict[str, Any], changes: list[Change] | None) -> dict[str, Any]:
    if given.get("type") in ("json_object", "text") or "json_schema" in given:
        return given
    schema = json_schema_of(given)
    if schema is None:
        return given
    dialect = "openai_strict" if schema.strict else "openai"
    path = "$.response_format.json_schema.schema"
    written = encode_schema(schema.schema, dialect, changes=changes, path=path)
    inner: dict[str, Any] = {"name": schema.name, "schema": written}
    if schema.description is not None:
        inner["description"] = schema.description
    if schema.strict is not None:
        inner["strict"] = schema.strict
    return {"type": "json_schema", "json_schema": inner}


def _joined(before: dict[str, Any], last: dict[str, Any]) -> dict[str, Any]:
    """Return two assistant turns as one; what only one of them has is kept."""
    one, two = before.get("content") or "", last.get("content") or ""
    if isinstance(one, list) or isinstance(two, list):
        parts = (
            c if isinstance(c, list) else [{"type": "text", "text": c}] for c in (one, two) if c
        )
        content: Any = [part for some in parts for part in some]
    else:
        content = f"{one}\n{two}" if one and two else one or two
    joined = {**before, **last, "content": content}
    if calls := [*before.get("tool_calls", ()), *last.get("tool_calls", ())]:
        joined["tool_calls"] = calls
    for key in ("reasoning_content", "reasoning"):
        if isinstance(before.get(key), str) and isinstance(last.get(key), str):
            joined[key] = f"{before[key]}\n{last[key]}"
    return joined


class Encoder:
    """Writes the messages of one request."""

    def __init__(self, dialect: Dialect, changes: list[Change] | None) -> None:
        self._dialect = dialect
        self._changes = changes
        self._ids = WireIds(max_length=dialect.id_limit)
        self._turns = AssistantWriter(dialect, self._ids, changes)
        self._media: list[dict[str, Any]] = []  # of the results of the turn being written
        self._loop_from = 0  # where the current tool loop starts

    def messages(self, messages: Sequence[BaseMessage]) -> list[dict[str, Any]]:
        """Return the wire messages."""
        ordered = in_call_order(with_results_split(messages))
        if (plain := self._plain_history(ordered)) is not None:
            return self._ended(plain)
        self._ids = WireIds(max_length=self._dialect.id_limit)
        self._turns = AssistantWriter(self._dialect, self._ids, self._changes)
        self._loop_from = max(
            (k for k, m in enumerate(ordered) if isinstance(m, HumanMessage)), default=0
        )
        out: list[dict[str, Any]] = []
        for k, message in enumerate(ordered):
            path = f"$[{k}]"
            write = _WRITE.get(type(message)) or _writer_of(message)
            if self._media and not isinstance(message, ToolMessage):
                self._flush_media(out)
            if write is None:
                text = f"{type(message).__name__} cannot be sent to a model"
                raise EncodeError(text, path=path)
            out.append(write(self, message, path, k))
        self._flush_media(out)
        return self._ended(out)

    def _ended(self, out: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return wire messages whose assistant turns at the end are one, where several are refused."""
        if not self._dialect.one_ending:
            return out
        while len(out) > 1 and out[-1]["role"] == out[-2]["role"] == "assistant":
            last, before = out.pop(), out.pop()
            out.append(_joined(before, last))
        return out

    def _plain_history(self, messages: Sequence[BaseMessage]) -> list[dict[str, Any]] | None:
        """Return the wire messages of a history of text and plain calls; None if it has more."""
        out: list[dict[str, Any]] = []
        call_id, result_id = self._ids.call, self._ids.result
        human, ai, tool, empty = HumanMessage, AIMessage, ToolMessage, self._dialect.empty
        message: Any
        for message in messages:
            kind, content = message.__class__, message.content
            if (
                content.__class__ is not str
                or message.name is not None
                or message._raw_additional_kwargs is not UNSET
            ):
                return None
            if kind is human:
                out.append({"role": "user", "content": content})
            elif kind is ai:
                if message._raw_invalid_tool_calls is not UNSET:
                    return None
                wire: dict[str, Any] = {"role": "assistant"}
                if message._raw_tool_calls is not UNSET and message.tool_calls:
                    wire["tool_calls"] = [
                        {
                            "id": call_id(c["id"]),
                            "type": "function",
                            "function": {"name": c["name"], "arguments": dump_arguments(c["args"])},
                        }
                        for c in message.tool_calls
                    ]
                    content = content or empty
                wire["content"] = content
                out.append(wire)
            elif kind is tool and message.status == "success":
                id = result_id(message.tool_call_id)
                out.append({"role": "tool", "tool_call_id": id, "content": content})
            elif kind is SystemMessage:
                out.append({"role": "system", "content": content})
            else:
                return None
        return out

    def _flush_media(self, out: list[dict[str, Any]]) -> None:
        if self._media:
            out.append({"role": "user", "content": self._media})
            self._media = []

    def _content(self, message: BaseMessage, path: str) -> str | list[dict[str, Any]]:
        """Return the content of a user, system or function message."""
        content = message.content
        if isinstance(content, str):
            return content
        parts = encode_parts(
            standard_blocks(content), self._dialect, self._changes, f"{path}.content"
        )
        return _shortest(parts)

    def _finish(self, wire: dict[str, Any], message: BaseMessage) -> dict[str, Any]:
        """Return `wire` with the message's name and what a decoded request had beside it."""
        if message.name:
            wire["name"] = message.name
        kept = message.additional_kwargs.get(API)
        if isinstance(kept, dict):
            wire.update(kept)
        return wire

    def _plain(self, message: BaseMessage, path: str, role: str) -> dict[str, Any]:
        """Return a message that is a role and its content."""
        wire = {"role": role, "content": self._content(message, path)}
        return self._finish(wire, message) if message.name or message.additional_kwargs else wire

    def _user(self, message: BaseMessage, path: str, _k: int) -> dict[str, Any]:
        return self._plain(message, path, "user")

    def _system(self, message: BaseMessage, path: str, _k: int) -> dict[str, Any]:
        role = message.additional_kwargs.get("__openai_role__")
        return self._plain(message, path, "developer" if role == "developer" else "system")

    def _chat(self, message: BaseMessage, path: str, _k: int) -> dict[str, Any]:
        assert isinstance(message, ChatMessage)
        role = _ROLES.get(message.role)
        if role is None:
            text = f"Chat Completions knows no role {message.role[:80]!r}"
            raise EncodeError(text, path=path, hint="use user, assistant, system or developer")
        return self._plain(message, path, role)

    def _function(self, message: BaseMessage, path: str, _k: int) -> dict[str, Any]:
        return self._plain(message, path, "function")

    def _result(self, message: BaseMessage, path: str, _k: int) -> dict[str, Any]:
        """Return a tool result; media waits for the user message behind the results."""
        assert isinstance(message, ToolMessage)
        content: Any = message.content
        if not isinstance(content, str):
            parts = encode_parts(
                standard_blocks(content), self._dialect, self._changes, f"{path}.content"
            )
            content = [p for p in parts if p.get("type") not in _MEDIA_PARTS]
            media = [p for p in parts if p.get("type") in _MEDIA_PARTS]
            if media:
                self._media += media
                text = "media of a tool result was moved to a user message behind the results"
                note(self._changes, f"{path}.content", "moved_media", text, lossy=False)
                content = content or "The result follows in the next message."
            content = _shortest(content)
        wire = {
            "role": "tool",
            "tool_call_id": self._ids.result(message.tool_call_id),
            "content": content,
        }
        if message.status == "error" and not message.additional_kwargs.get(API):
            text = (
                "Chat Completions has no mark for a failed tool; its text says so or nothing does"
            )
            note(self._changes, path, "dropped_status", text)
        kept = message.additional_kwargs.get(API)
        if isinstance(kept, dict):
            wire.update(kept)
        if message.name and self._dialect.provider == "google":
            wire["name"] = message.name
        return wire

    def _assistant(self, message: BaseMessage, path: str, k: int) -> dict[str, Any]:
        assert isinstance(message, AIMessage)
        return self._turns.write(message, path, is_current=k > self._loop_from)


_MEDIA_PARTS = ("image_url", "input_audio", "file", "video_url")


def _shortest(parts: Any) -> Any:
    """Return one plain text part as the string it is shorthand for; every server reads strings."""
    if len(parts) == 1 and parts[0].__class__ is dict and parts[0].keys() == {"type", "text"}:
        return parts[0]["text"] if parts[0]["type"] == "text" else parts
    return parts


def _writer_of(message: BaseMessage) -> Callable[..., dict[str, Any]] | None:
    """Return the writer for a subclass or chunk."""
    return next((w for kind, w in _WRITE.items() if isinstance(message, kind)), None)


_WRITE: dict[type[BaseMessage], Callable[[Encoder, Any, str, int], dict[str, Any]]] = {
    HumanMessage: Encoder._user,
    AIMessage: Encoder._assistant,
    ToolMessage: Encoder._result,
    SystemMessage: Encoder._system,
    FunctionMessage: Encoder._function,
    ChatMessage: Encoder._chat,
}
