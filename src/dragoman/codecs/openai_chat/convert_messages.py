"""Messages as OpenAI dicts: `convert_to_openai_messages`, compatible with LangChain's.

Content that is a string goes one short way. Blocks go by a table keyed by their type; blocks of
other providers that users hold (Anthropic, Bedrock Converse, Google) are rewritten, what nobody
knows is passed through or refused as asked. Differences on purpose: tool results stand before the
user's text of the same message (OpenAI demands them right behind the calls), `tool_call` blocks are
not repeated in content, invalid calls are sent, and errors show no content.
"""

from collections.abc import Sequence
from typing import Any, Literal, overload

import msgspec
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


_encode = msgspec.json.Encoder().encode
_format = msgspec.json.format
_split = msgspec.json.Decoder(list[msgspec.Raw]).decode


def _arguments(args: Any) -> str:
    """Return arguments as JSON text in the manner of `json.dumps(args, ensure_ascii=False)`."""
    if args.__class__ is str:
        return args
    try:
        return _format(_encode(args), indent=0).decode()
    except (TypeError, ValueError, RecursionError):
        return dump_arguments(args)


def _fill_arguments(functions: list[dict[str, Any]], args: list[Any]) -> None:
    """Set the `arguments` of many functions: one encoding for all costs half of one for each."""
    if not args:
        return
    try:
        texts = _split(_format(_encode(args), indent=0))
    except (TypeError, ValueError, RecursionError):  # one of them is no JSON: each by itself
        for function, given in zip(functions, args, strict=True):
            function["arguments"] = _arguments(given)
        return
    for function, text in zip(functions, texts, strict=True):
        function["arguments"] = str(text, "utf-8")


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
    if text_format == "string" and not include_id:
        try:
            out = _short(given, pass_through=pass_through_unknown_blocks)
        except AttributeError:  # not all are messages yet
            given = convert_to_messages(given)
            out = _short(given, pass_through=pass_through_unknown_blocks)
    else:
        form = _Form(text_format, include_id, pass_through_unknown_blocks)
        out = [wire for k, message in enumerate(given) for wire in form.write(message, k)]
    return out[0] if is_one and len(out) == 1 else out


def _short(messages: Sequence[Any], *, pass_through: bool) -> list[dict[str, Any]]:
    """Return the dicts of messages, of which most are strings and calls and nothing else."""
    form = _Form("string", False, pass_through)
    out: list[dict[str, Any]] = []
    functions: list[dict[str, Any]] = []
    args: list[Any] = []
    add = out.append
    human, ai, tool, unset, text = HumanMessage, AIMessage, ToolMessage, UNSET, str
    for position, message in enumerate(messages):
        kind = message.__class__
        content = message.content
        if message.name is None and message._raw_additional_kwargs is unset:
            if content.__class__ is text:
                if kind is human:
                    add({"role": "user", "content": content})
                    continue
                if kind is tool:
                    call_id = message.tool_call_id
                    add({"role": "tool", "tool_call_id": call_id, "content": content})
                    continue
                if kind is ai and message._raw_invalid_tool_calls is unset:
                    calls = message._raw_tool_calls
                    if calls is unset or not calls:
                        add({"role": "assistant", "content": content})
                        continue
                    wires: list[dict[str, Any]] = []
                    for call in calls:
                        function = {"name": call["name"]}
                        functions.append(function)
                        args.append(call["args"])
                        wires.append({"type": "function", "id": call["id"], "function": function})
                    add({"role": "assistant", "tool_calls": wires, "content": content})
                    continue
            elif (kind is human or kind is ai) and _short_blocks(
                message, content, out, functions, args
            ):
                continue
        out += form.write(message, position)
    _fill_arguments(functions, args)
    return out


def _short_blocks(
    message: Any,
    content: list[Any],
    out: list[dict[str, Any]],
    functions: list[dict[str, Any]],
    args: list[Any],
) -> bool:
    """Add the dicts of a message whose blocks are text, `tool_use` and text `tool_result`s.

    Returns:
        Whether it was one; nothing is added if not.
    """
    is_ai = message.__class__ is AIMessage
    if is_ai and (message.tool_calls or message.invalid_tool_calls):
        return False
    texts: list[str] = []
    calls: list[dict[str, Any]] = []
    inputs: list[Any] = []
    results: list[dict[str, Any]] = []
    try:
        for block in content:
            kind = block["type"]
            if kind == "text":
                texts.append(block["text"])
            elif kind == "tool_use" and is_ai:
                function = {"name": block["name"]}
                inputs.append(block["input"])
                calls.append({"type": "function", "id": block["id"], "function": function})
            elif kind == "tool_result" and not is_ai:
                result = {"tool_call_id": block["tool_use_id"], "content": block["content"]}
                results.append({"role": "tool", **result})
            else:
                return False
        text = "\n".join(texts)
    except (TypeError, KeyError):  # a key is missing, or not what it is called: the long way tells
        return False
    if results:
        if not all(r["tool_call_id"].__class__ is r["content"].__class__ is str for r in results):
            return False
        out += results
    if calls:
        if set(map(type, inputs)) != {dict} or not _are_different(calls):
            return False
        args += inputs
        functions += [call["function"] for call in calls]
        out.append({"role": "assistant", "tool_calls": calls, "content": text})
    elif texts or not results:
        out.append({"role": "assistant" if is_ai else "user", "content": text})
    return True


def _are_different(calls: list[dict[str, Any]]) -> bool:
    """Return whether the calls have ids that are text, each its own."""
    ids = [call["id"] for call in calls]
    return set(map(type, ids)) == {str} and len(set(ids)) == len(ids)


def _calls(message: AIMessage) -> list[dict[str, Any]]:
    calls = [
        {
            "type": "function",
            "id": call["id"],
            "function": {"name": call["name"], "arguments": _arguments(call["args"])},
        }
        for call in message.tool_calls
    ]
    return calls + [
        {
            "type": "function",
            "id": call["id"],
            "function": {"name": call["name"] or "", "arguments": call["args"] or ""},
        }
        for call in message.invalid_tool_calls
    ]


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
