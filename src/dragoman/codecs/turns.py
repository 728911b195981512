"""Histories between messages and the turns a wire has.

Encoding: `turns` gives every message a role that every wire knows, `blocks_of` its content as
standard blocks. Decoding: `history_message` makes the assistant message of a decoded *request*,
where (unlike in a reply) the division of the text into blocks is kept.
"""

from collections.abc import Sequence
from operator import is_
from typing import Any, Literal, NamedTuple

from dragoman.codecs.arguments import dump_arguments, read_arguments
from dragoman.codecs.pairing import in_call_order
from dragoman.errors import EncodeError, short
from dragoman.messages import (
    AIMessage,
    BaseMessage,
    BaseMessageChunk,
    ChatMessage,
    FunctionMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
    message_chunk_to_message,
)

__all__ = [
    "OPENED",
    "PLACEHOLDER",
    "Turn",
    "blocks_of",
    "history_message",
    "split_results",
    "transcript_of",
    "turns",
    "with_results_split",
]

PLACEHOLDER = "(empty message)"
"""What a user turn without anything says, where a wire takes neither empty nor blank text."""

OPENED = "the provider wants a turn of the user's in front; one was added that says it is empty"

Role = Literal["system", "user", "assistant", "tool"]

_CHAT_ROLES: dict[str, Role] = {
    "user": "user", "human": "user", "assistant": "assistant", "ai": "assistant", "model":
    "assistant", "system": "system", "developer": "system",
}  # fmt: skip


class Turn(NamedTuple):
    """One message on its way to a wire.

    Attributes:
        role: What kind of turn it is; a `tool` turn's message is a `ToolMessage`.
        message: The message itself, or one made from it.
        path: Where it stands in the history, in the manner of `$[3]`.
    """

    role: Role
    message: BaseMessage
    path: str


def turns(messages: Sequence[BaseMessage]) -> list[Turn]:
    """Return the history as turns, results in the order of their calls. Nothing is changed.

    Chunks become messages; a `ChatMessage` has the role it names; a `FunctionMessage` is the result
    of the nearest unanswered call of that name; a call that stands in `additional_kwargs` in the
    oldest form (`function_call`) is shown as a tool call.

    Raises:
        EncodeError: For a role no wire knows, and for a `RemoveMessage`.
    """
    waiting: list[tuple[str, str | None]] = []
    positions: dict[int, int] = {}
    whole: list[BaseMessage] = []
    for n, message in enumerate(messages):
        if isinstance(message, BaseMessageChunk):
            message = message_chunk_to_message(message)
        if isinstance(message, AIMessage):
            message = _with_function_call(message)
            waiting += [(c["name"], c["id"]) for c in message.tool_calls]
        elif isinstance(message, FunctionMessage):
            message = _paired(message, waiting)
        elif isinstance(message, ToolMessage):
            waiting = [w for w in waiting if w[1] != message.tool_call_id]
        for part in split_results(message):
            positions[id(part)] = n
            whole.append(part)
    found: list[Turn] = []
    for message in in_call_order(whole):
        path = f"$[{positions[id(message)]}]"
        found.append(Turn(_role(message, path), message, path))
    return found


def split_results(message: BaseMessage) -> list[BaseMessage]:
    """Return a user message as results and the rest, where a user wrote results into its content.

    Results come first: no provider takes anything between a call and its result.
    """
    content = message.content
    if isinstance(content, str) or isinstance(message, (AIMessage, ToolMessage, SystemMessage)):
        return [message]
    results = [_result_of(block) for block in content]
    if not any(results):
        return [message]
    rest = [block for block, result in zip(content, results, strict=True) if result is None]
    found: list[BaseMessage] = [result for result in results if result is not None]
    return [*found, message.model_copy(update={"content": rest})] if rest else found


def with_results_split(messages: Sequence[BaseMessage]) -> Sequence[BaseMessage]:
    """Return the messages as `split_results` gives them; the same sequence if it splits none."""
    if not any(m.content.__class__ is list for m in messages):
        return messages
    parts = [part for message in messages for part in split_results(message)]
    return messages if len(parts) == len(messages) and all(map(is_, parts, messages)) else parts


def _result_of(block: Any) -> ToolMessage | None:
    """Return a result in Anthropic's or Bedrock's form as a message, None for any other block."""
    if not isinstance(block, dict):
        return None
    kwargs: dict[str, Any] = {}
    if block.get("type") == "tool_result":
        id, failed, content = block.get("tool_use_id"), block.get("is_error"), block.get("content")
        kwargs = {k: block[k] for k in ("cache_control",) if block.get(k) is not None}
    elif len(block) == 1 and isinstance(inner := block.get("toolResult"), dict):
        id, failed, content = inner.get("toolUseId"), inner.get("status"), inner.get("content")
        failed = failed == "error"
    else:
        return None
    if not isinstance(id, str):
        return None
    if not isinstance(content, (str, list)):
        content = [] if content is None else dump_arguments(content)
    return ToolMessage(
        content=content,
        tool_call_id=id,
        status="error" if failed is True else "success",
        additional_kwargs=kwargs,
    )


def _role(message: BaseMessage, path: str) -> Role:
    if isinstance(message, AIMessage):
        return "assistant"
    if isinstance(message, ToolMessage):
        return "tool"
    if isinstance(message, SystemMessage):
        return "system"
    if isinstance(message, ChatMessage):
        role = _CHAT_ROLES.get(message.role.lower())
        if role is None:
            problem = f"no provider knows the role {short(message.role)}"
            hint = "use user, assistant, system or developer"
            raise EncodeError(problem, path=f"{path}.role", hint=hint)
        return role
    if isinstance(message, RemoveMessage):
        problem = "a RemoveMessage is an instruction for `add_messages`, not a turn"
        raise EncodeError(problem, path=path, hint="apply it before the history is sent")
    return "user"


def _with_function_call(message: AIMessage) -> AIMessage:
    """Return the message with its `function_call` of the oldest form as a tool call."""
    legacy = message.additional_kwargs.get("function_call")
    if not isinstance(legacy, dict) or not isinstance(legacy.get("name"), str):
        return message
    if message.tool_calls or message.invalid_tool_calls or not legacy["name"]:
        return message
    args = read_arguments(legacy.get("arguments"))
    call: Any = {"name": legacy["name"], "args": args or {}, "id": None, "type": "tool_call"}
    return AIMessage(
        content=message.content,
        additional_kwargs=message.additional_kwargs,
        response_metadata=message.response_metadata,
        tool_calls=[call],
    )


def _paired(message: FunctionMessage, waiting: list[tuple[str, str | None]]) -> ToolMessage:
    match = next((w for w in reversed(waiting) if w[0] == message.name), None)
    if match is not None:
        waiting.remove(match)
    return ToolMessage(
        content=message.content,
        name=message.name,
        tool_call_id=(match[1] if match else None) or "",
        additional_kwargs=message.additional_kwargs,
        response_metadata=message.response_metadata,
    )


def blocks_of(message: BaseMessage) -> list[dict[str, Any]]:
    """Return the content as standard blocks: for an AI message with every call once, in place.

    Invalid calls are `invalid_tool_call` blocks with their raw text.
    """
    content = message.content
    if not isinstance(message, AIMessage):
        if isinstance(content, str):
            return [{"type": "text", "text": content}] if content else []
        return message.content_blocks
    kwargs = message.additional_kwargs
    # Calls are dicts; the types of messages say more of them than is needed here.
    calls: list[Any] = list(message.tool_calls)
    invalid: list[Any] = list(message.invalid_tool_calls)
    blocks: list[dict[str, Any]]
    if isinstance(content, str) and not kwargs.keys() & {"reasoning_content", "refusal"}:
        blocks = [{"type": "text", "text": content}, *calls] if content else calls
    else:
        view: list[Any] = list(message.content_blocks)
        blocks = [b for b in view if not _is_told(b, message)]
        shown = {b.get("id") for b in blocks if b.get("type") == "tool_call" and b.get("id")}
        anonymous = sum(1 for b in blocks if b.get("type") == "tool_call" and not b.get("id"))
        for call in calls:
            if call["id"] and call["id"] not in shown:
                blocks.append(call)
            elif not call["id"]:
                anonymous -= 1
                if anonymous < 0:
                    blocks.append(call)
    for call in invalid:
        if not any(_is_call(b, call) for b in blocks):
            blocks.append(call)
    return blocks


def transcript_of(block: dict[str, Any]) -> str | None:
    """Return the words of a sound that a model made, where the block tells them."""
    extras = block.get("extras")
    words = extras.get("transcript") if isinstance(extras, dict) else None
    return words if isinstance(words, str) and words.strip() else None


def _is_told(block: Any, message: AIMessage) -> bool:
    """Return whether a refusal was only told in the metadata: the model did not say it."""
    if block["type"] != "refusal" or message.additional_kwargs.get("refusal"):
        return False
    content = message.content
    return isinstance(content, str) or not any(
        isinstance(b, dict) and b.get("type") == "refusal" for b in content
    )


def _is_call(block: dict[str, Any], call: Any) -> bool:
    if block.get("type") != "invalid_tool_call":
        return False
    if call.get("id"):
        return block.get("id") == call["id"]
    return block.get("name") == call.get("name") and block.get("args") == call.get("args")


def history_message(
    blocks: list[dict[str, Any]],
    *,
    provider: str | None = None,
    api: str | None = None,
    **fields: Any,
) -> AIMessage:
    """Return the assistant message of a decoded request.

    Args:
        blocks: Standard blocks in wire order; calls as `tool_call` blocks (with `args` of any type:
            what is no object becomes an invalid call).
        provider: Goes into `response_metadata["model_provider"]` if the message holds something
            that belongs to a provider: reasoning, extras, server tools, blocks of its own.
        api: The codec's name, which goes with it.
        fields: More fields of the message.
    """
    valid: list[Any] = []
    invalid: list[Any] = []
    shown: list[dict[str, Any]] = []
    for block in blocks:
        if block["type"] != "tool_call":
            shown.append(block)
            continue
        args = read_arguments(block["args"])
        if args is not None:
            valid.append(
                {"type": "tool_call", "name": block["name"], "args": args, "id": block["id"]}
            )
        else:
            raw = block["args"]
            raw = raw if isinstance(raw, str) else dump_arguments(raw)
            error = "the arguments are not a JSON object"
            invalid.append(
                {
                    "type": "invalid_tool_call", "name": block["name"], "args": raw,
                    "id": block["id"], "error": error,
                }
            )  # fmt: skip
        shown.append({**block, "args": args or {}})
    content: Any = shown
    text = shown[0] if shown and shown[0]["type"] == "text" else None
    calls = shown if text is None else shown[1:]
    if all(b.keys() == {"type", "id", "name", "args"} for b in calls) and (
        text is None or text.keys() == {"type", "text"}
    ):
        content = "" if text is None else text["text"]
    if provider is not None and any(_is_bound(b) for b in shown):
        made = (
            {"model_provider": provider}
            if api is None
            else {"model_provider": provider, "api": api}
        )
        fields["response_metadata"] = {**made, **fields.get("response_metadata", {})}
    return AIMessage(content=content, tool_calls=valid, invalid_tool_calls=invalid, **fields)


def _is_bound(block: dict[str, Any]) -> bool:
    kind = block["type"]
    return bool(block.get("extras") or block.get("annotations")) or kind in {
        "reasoning", "non_standard", "server_tool_call", "server_tool_result",
    }  # fmt: skip
