"""Messages as OpenAI dicts: `convert_to_openai_messages`, compatible with LangChain's.

Content that is a string goes one short way. Blocks go by a table keyed by their type; blocks of
other providers that users hold (Anthropic, Bedrock Converse, Google) are rewritten, what nobody
knows is passed through or refused as asked. Differences on purpose: tool results stand before the
user's text of the same message (OpenAI demands them right behind the calls), `tool_call` blocks are
not repeated in content, invalid calls are sent, and errors show no content.
"""

from collections.abc import Callable, Sequence
from json.encoder import c_make_encoder, encode_basestring  # pyright: ignore[reportAttributeAccessIssue]
from typing import Any, Literal, overload

from msgspec import UNSET

from dragoman.codecs.arguments import dump_arguments
from dragoman.codecs.openai_chat.convert_blocks import convert_block
from dragoman.errors import MessageError
from dragoman.messages import (
    AIMessage,
    BaseMessage,
    ChatMessage,
    FunctionMessage,
    HumanMessage,
    MessageLikeRepresentation,
    SystemMessage,
    ToolMessage,
    convert_to_messages,
)

__all__ = ["convert_to_openai_messages"]

Form = Literal["string", "block"]


def _no_default(value: object) -> Any:
    message = f"{type(value).__name__} is not JSON"
    raise TypeError(message)


_spaced: Callable[[Any, int], Sequence[str]] | None = (
    None
    if c_make_encoder is None
    else c_make_encoder(None, _no_default, encode_basestring, None, ": ", ", ", False, False, False)
)


def _arguments(args: Any) -> str:
    """Return arguments as JSON text in the manner of `json.dumps(args, ensure_ascii=False)`."""
    if args.__class__ is str:
        return args
    if _spaced is not None:
        try:
            return "".join(_spaced(args, 0))
        except (TypeError, ValueError, RecursionError):
            pass
    return dump_arguments(args)


@overload
def convert_to_openai_messages(
    messages: MessageLikeRepresentation,
    *,
    text_format: Form = "string",
    include_id: bool = False,
    pass_through_unknown_blocks: bool = True,
) -> dict[str, Any]: ...
@overload
def convert_to_openai_messages(
    messages: Sequence[MessageLikeRepresentation],
    *,
    text_format: Form = "string",
    include_id: bool = False,
    pass_through_unknown_blocks: bool = True,
) -> list[dict[str, Any]]: ...
def convert_to_openai_messages(
    messages: Any,
    *,
    text_format: Form = "string",
    include_id: bool = False,
    pass_through_unknown_blocks: bool = True,
) -> dict[str, Any] | list[dict[str, Any]]:
    """Return the messages as dicts in the format of OpenAI's chat API.

    Args:
        messages: One message (also as a string or a dict), or a sequence of messages.
        text_format: `string` gives text as a string where there is nothing but text, `block` always
            as a list of blocks.
        include_id: Whether a message's id is included.
        pass_through_unknown_blocks: Whether blocks that nothing is known about are kept; otherwise
            they raise.

    Returns:
        One dict for one message (a list if the message held tool results beside other content), a
        list for a sequence.

    Raises:
        ValueError: If `text_format` is unknown, or a block cannot be converted; with its place.

    >>> convert_to_openai_messages([("human", "hi")])
    [{'role': 'user', 'content': 'hi'}]
    """
    if text_format not in ("string", "block"):
        message = f"Unrecognized text_format={text_format!r}, expected one of 'string' or 'block'."
        raise MessageError(message)
    is_one = isinstance(messages, (str, dict, BaseMessage))
    if is_one:
        messages = [messages]
    given: Any = messages if messages.__class__ is list else convert_to_messages(messages)
    out: list[dict[str, Any]] = []
    if text_format == "string" and not include_id:
        for position, message in enumerate(given):
            write = _SHORT.get(message.__class__)
            if (
                write is not None
                and message.content.__class__ is str
                and message.name is None
                and (message._raw_additional_kwargs is UNSET or not message.additional_kwargs)
            ):
                out.append(write(message))
            else:
                form = _Form(text_format, include_id, pass_through_unknown_blocks)
                out += form.write(message, position)
    else:
        form = _Form(text_format, include_id, pass_through_unknown_blocks)
        for position, message in enumerate(given):
            out += form.write(message, position)
    return out[0] if is_one and len(out) == 1 else out


def _short_ai(message: AIMessage) -> dict[str, Any]:
    if message._raw_tool_calls is UNSET and message._raw_invalid_tool_calls is UNSET:
        return {"role": "assistant", "content": message.content}
    wire: dict[str, Any] = {"role": "assistant"}
    if calls := _calls(message):
        wire["tool_calls"] = calls
    wire["content"] = message.content
    return wire


def _calls(message: AIMessage) -> list[dict[str, Any]]:
    calls = [
        {
            "type": "function",
            "id": call["id"],
            "function": {"name": call["name"], "arguments": _arguments(call["args"])},
        }
        for call in message.tool_calls
    ]
    if message._raw_invalid_tool_calls is not UNSET:
        calls += [
            {
                "type": "function",
                "id": call["id"],
                "function": {"name": call["name"] or "", "arguments": call["args"] or ""},
            }
            for call in message.invalid_tool_calls
        ]
    return calls


_SHORT: dict[type, Callable[[Any], dict[str, Any]]] = {
    HumanMessage: lambda m: {"role": "user", "content": m.content},
    SystemMessage: lambda m: {"role": "system", "content": m.content},
    ToolMessage: lambda m: {
        "role": "tool", "tool_call_id": m.tool_call_id, "content": m.content
    },
    AIMessage: _short_ai,
}  # fmt: skip


def _role(message: BaseMessage) -> str:
    if isinstance(message, SystemMessage):
        return str(message.additional_kwargs.get("__openai_role__") or "system")
    if isinstance(message, ChatMessage):
        return message.role
    for kind, role in _ROLES:
        if isinstance(message, kind):
            return role
    text = f"Unknown BaseMessage type {type(message)}."
    raise MessageError(text)


_ROLES: tuple[tuple[type[BaseMessage], str], ...] = (
    (AIMessage, "assistant"),
    (HumanMessage, "user"),
    (ToolMessage, "tool"),
    (FunctionMessage, "function"),
)


class _Form:
    """Writes messages of any kind in the form that was asked for."""

    def __init__(self, text_format: str, include_id: bool, pass_through: bool) -> None:
        self._is_string = text_format == "string"
        self._include_id = include_id
        self._pass_through = pass_through

    def write(self, given: Any, position: int) -> list[dict[str, Any]]:
        """Return the dicts of one message: itself, and the tool results it held."""
        message: BaseMessage = (
            given if isinstance(given, BaseMessage) else convert_to_messages([given])[0]
        )
        role = _role(message)
        wire: dict[str, Any] = {"role": role}
        if message.name:
            wire["name"] = message.name
        kwargs = message.additional_kwargs
        if isinstance(message, AIMessage):
            if calls := _calls(message):
                wire["tool_calls"] = calls
            elif kwargs.get("function_call"):
                wire["function_call"] = kwargs["function_call"]
        if kwargs.get("refusal"):
            wire["refusal"] = kwargs["refusal"]
        if isinstance(message, ToolMessage):
            wire["tool_call_id"] = message.tool_call_id
        if self._include_id and message.id:
            wire["id"] = message.id
        results: list[dict[str, Any]] = []
        content = self._content(message, wire, results, f"messages[{position}]")
        if results and not content and "tool_calls" not in wire and not message.text:
            return results
        wire["content"] = content
        return [wire, *results] if role == "assistant" else [*results, wire]

    def _content(
        self,
        message: BaseMessage,
        wire: dict[str, Any],
        results: list[dict[str, Any]],
        path: str,
    ) -> str | list[Any]:
        content: Any = message.content
        if not content:
            return "" if self._is_string else []
        if isinstance(content, str):
            return content if self._is_string else [{"type": "text", "text": content}]
        out: list[dict[str, Any]] = []
        known = {c["id"] for c in wire.get("tool_calls", ())}
        for k, block in enumerate(content):
            where = f"{path}.content[{k}]"
            for kind, value in convert_block(block, where, pass_through=self._pass_through):
                if kind == "content":
                    out.append(value)
                elif kind == "call":
                    if value["id"] not in known:
                        args = _arguments(value["function"]["arguments"])
                        value["function"]["arguments"] = args
                        wire.setdefault("tool_calls", []).append(value)
                        known.add(value["id"])
                else:
                    results.append(self._result(value, path))
        if self._is_string and all(b.get("type") == "text" for b in out):
            return "\n".join(b["text"] for b in out)
        return out

    def _result(self, block: dict[str, Any], path: str) -> dict[str, Any]:
        """Return the tool message of an Anthropic `tool_result`."""
        content: Any = block["content"]
        result = ToolMessage(
            content=content if isinstance(content, (str, list)) else str(content),
            tool_call_id=str(block["tool_use_id"]),
            status="error" if block.get("is_error") else "success",
        )
        wire: dict[str, Any] = {"role": "tool", "tool_call_id": result.tool_call_id}
        wire["content"] = self._content(result, wire, [], path)
        return wire
