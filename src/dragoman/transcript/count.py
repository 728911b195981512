"""An estimate of a history's tokens, without a tokenizer.

Four characters make a token, and each message costs three more. What is binary (images, sound, video,
files) costs by kind: the length of its base64 or data URL never counts, in whatever provider's
spelling it stands. Kept: LangChain's figures for text, calls and images.
"""

from collections.abc import Callable, Iterable, Sequence
from math import ceil
from typing import Any

from msgspec import UNSET

from dragoman.errors import MessageError, short
from dragoman.messages.ai import AIMessage
from dragoman.messages.base import BaseMessage
from dragoman.messages.chat import ChatMessage
from dragoman.messages.coerce import convert_to_messages
from dragoman.messages.human import HumanMessage
from dragoman.messages.system import SystemMessage
from dragoman.messages.tool import ToolMessage

__all__ = ["count_tokens_approximately", "message_counter"]

TOKENS_PER_IMAGE = 85
# Keys whose strings are payloads when they are long, in every wire's spelling.
_PAYLOAD_KEYS = frozenset({"data", "base64", "bytes", "file_data", "b64_json", "image_url", "url"})
_PAYLOAD_LENGTH = 200
_IMAGES = frozenset({"image", "image_url", "input_image"})
_MEDIA = frozenset({"audio", "video", "file", "input_audio", "input_file", "document", "media"})


# What the role costs, by class; others are asked.
_ROLE_LENGTH: dict[type, int] = {
    cls: len(cls._role)
    for cls in (HumanMessage, AIMessage, SystemMessage, ToolMessage)
    if cls._role is not None
}


def _role_length(message: BaseMessage) -> int:
    if isinstance(message, ChatMessage):
        return len(message.role)
    if message._raw_additional_kwargs is UNSET:
        return len(message.role)
    return len(str(message.additional_kwargs.get("__openai_role__") or message.role))


def _strip(value: Any, depth: int = 0) -> tuple[Any, int]:
    """Return `value` without payloads, and how many payloads it held."""
    if isinstance(value, str):
        return ("", 1) if value[:5].lower() == "data:" and ";base64," in value[:200] else (value, 0)
    if isinstance(value, bytes | bytearray):
        return "", 1
    if depth > 50 or not isinstance(value, dict | list | tuple):
        return value, 0
    found = 0
    if isinstance(value, dict):
        kept: dict[Any, Any] = {}
        for key, item in value.items():
            if key in _PAYLOAD_KEYS and isinstance(item, str) and _is_payload(key, item):
                kept[key], found = "", found + 1
            else:
                kept[key], more = _strip(item, depth + 1)
                found += more
        return kept, found
    items: list[Any] = []
    for item in value:
        stripped, more = _strip(item, depth + 1)
        items.append(stripped)
        found += more
    return items, found


def _is_payload(key: str, text: str) -> bool:
    if text[:5].lower() == "data:":
        return True
    return (
        len(text) > _PAYLOAD_LENGTH
        and key not in ("url", "image_url")
        and " " not in text[:_PAYLOAD_LENGTH]
    )


def _length(value: Any) -> int:
    """Return the length of a value's `repr`, or about that if it nests too deeply to be shown."""
    try:
        return len(repr(value))
    except RecursionError:
        pass
    length, stack = 0, [value]
    while stack:
        item = stack.pop()
        if isinstance(item, dict):
            length += 2 + 4 * len(item)
            stack += [*item, *item.values()]
        elif isinstance(item, list | tuple):
            length += 2 + 2 * len(item)
            stack += item
        else:
            length += len(repr(item))
    return length


def _block(block: Any, per_image: float) -> tuple[float, float]:
    """Return the characters and the tokens that a block costs."""
    if block.__class__ is str:
        return len(block), 0
    kind = block.get("type")
    if kind == "text" and isinstance(block.get("text"), str):
        return len(block["text"]), 0
    if not isinstance(kind, str):
        kind = None
    if kind in _IMAGES:
        return 0, per_image
    if kind == "text-plain" and isinstance(block.get("text"), str):
        return len(block["text"]), 0
    stripped, payloads = _strip(block)
    if not payloads:
        return _length(block), 0
    return (0 if kind in _MEDIA else _length(stripped)), per_image * payloads


def message_counter(
    *,
    chars_per_token: float = 4.0,
    extra_tokens_per_message: float = 3.0,
    count_name: bool = True,
    tokens_per_image: float = TOKENS_PER_IMAGE,
) -> Callable[[BaseMessage], float]:
    """Return a function that estimates the tokens of one message."""
    if not chars_per_token > 0:
        message = f"chars_per_token has to be positive, got {short(chars_per_token)}"
        raise MessageError(message)

    role_length = _ROLE_LENGTH.get

    def plain(message: Any) -> float:
        """Count a message of text, the shape of nearly all; others go the long way."""
        cls: Any = message.__class__
        chars = role_length(cls)
        content = message.content
        if (
            chars is None
            or content.__class__ is not str
            or message._raw_additional_kwargs is not UNSET
            or message.name is not None
        ):
            return count(message)
        if cls is AIMessage:
            calls = message._raw_tool_calls
            if calls is not UNSET and calls:
                chars += _length(calls)
        elif cls is ToolMessage:
            chars += len(message.tool_call_id)
        return -(-(chars + len(content)) // chars_per_token) + extra_tokens_per_message

    def count(message: Any) -> float:
        content = message.content
        tokens = extra_tokens_per_message
        if content.__class__ is str:
            chars: float = len(content)
            if isinstance(message, AIMessage) and message.tool_calls:
                chars += _length(message.tool_calls)
        else:
            chars = 0
            for block in content:
                more, cost = _block(block, tokens_per_image)
                chars += more
                tokens += cost
        if isinstance(message, ToolMessage):
            chars += len(message.tool_call_id)
        chars += _role_length(message)
        if count_name and message.name:
            chars += len(message.name)
        return -(-chars // chars_per_token) + tokens

    return plain


def count_tokens_approximately(
    messages: Iterable[Any],
    *,
    chars_per_token: float = 4.0,
    extra_tokens_per_message: float = 3.0,
    count_name: bool = True,
    tokens_per_image: int = TOKENS_PER_IMAGE,
    use_usage_metadata_scaling: bool = False,
    tools: Sequence[Any] | None = None,
) -> int:
    """Return an estimate of the tokens of messages (and tools); 0 for none.

    Args:
        messages: Anything `convert_to_messages` takes.
        chars_per_token: Characters that make one token.
        extra_tokens_per_message: What a message costs beside its text.
        count_name: Whether names count.
        tokens_per_image: What one image, sound, video or file costs, whatever its size.
        use_usage_metadata_scaling: Whether the last reply's reported total scales the estimate,
            by 1 to 1.25; only if all replies are one provider's.
        tools: Tools whose schemas are sent too.

    Raises:
        MessageError: If `chars_per_token` is not positive.

    >>> from dragoman.messages import HumanMessage
    >>> count_tokens_approximately([HumanMessage("hello")])
    6
    """
    converted = convert_to_messages([messages] if isinstance(messages, str) else messages)
    count = message_counter(
        chars_per_token=chars_per_token,
        extra_tokens_per_message=extra_tokens_per_message,
        count_name=count_name,
        tokens_per_image=tokens_per_image,
    )
    total = float(ceil(_tools_length(tools) / chars_per_token)) if tools else 0.0
    last_reply: tuple[float, int] | None = None
    providers: set[Any] = set()
    for message in converted:
        total += count(message)
        if use_usage_metadata_scaling and isinstance(message, AIMessage):
            providers.add(message.response_metadata.get("model_provider"))
            usage: Any = message.usage_metadata
            if usage and usage.get("total_tokens"):
                last_reply = total, usage["total_tokens"]
    if (
        last_reply is not None
        and len(converted) > 1
        and len(providers) == 1
        and None not in providers
    ):
        estimated, reported = last_reply
        if estimated > 0:
            total *= min(max(reported / estimated, 1.0), 1.25)
    return ceil(total)


def _tools_length(tools: Sequence[Any]) -> int:
    import json

    total = 0
    for tool in tools:
        if isinstance(tool, dict):
            shown: Any = tool
        else:
            from dragoman.utils.function_calling import convert_to_openai_tool

            function = convert_to_openai_tool(tool)["function"]
            schema = function.get("parameters", {})
            shown = {
                "name": function["name"],
                "description": function.get("description", ""),
                "parameters": {
                    k: v for k, v in schema.items() if k not in ("title", "description")
                },
            }
        total += len(json.dumps(shown, default=str))
    return total
