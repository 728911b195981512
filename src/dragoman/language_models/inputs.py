"""What a model may be given, as messages it can take.

Pure functions: strings, prompt values and lists of message-likes become a list of messages, and
blocks of older shapes become standard ones. The caller's messages are never changed.
"""

from collections.abc import Sequence
from typing import Any

from dragoman.messages import BaseMessage, HumanMessage, convert_to_messages
from dragoman.messages.translate import standard_blocks

__all__ = ["is_openai_data_block", "standard_inputs", "to_messages"]


def to_messages(given: Any) -> list[BaseMessage]:
    """Return the messages that a model's input means.

    Raises:
        ValueError: If it is no string, prompt value or sequence of message-likes.

    >>> to_messages("Hi")
    [HumanMessage(content='Hi', additional_kwargs={}, response_metadata={})]
    """
    if given.__class__ is list:
        return convert_to_messages(given)
    if given.__class__ is str:
        return [HumanMessage(given)]
    if hasattr(given, "to_messages"):
        return given.to_messages()
    if isinstance(given, str):
        return [HumanMessage(str(given))]
    if isinstance(given, Sequence) and not isinstance(given, (bytes, bytearray)):
        return convert_to_messages(given)
    message = (
        f"Invalid input type {type(given)}. Must be a PromptValue, str, or list of BaseMessages."
    )
    if isinstance(given, BaseMessage):
        message += " Put a single message into a list."
    raise ValueError(message)


def standard_inputs(messages: list[BaseMessage]) -> list[BaseMessage]:
    """Return the messages with audio and file blocks of older shapes made standard.

    OpenAI's `input_audio` and `file`, and blocks with a `source_type`; `image_url` blocks stay, as
    every codec reads them. Messages without such blocks are the same objects.
    """
    result: list[BaseMessage] | None = None
    for index, message in enumerate(messages):
        content: Any = message.content
        if content.__class__ is str or not any(_is_old(block) for block in content):
            continue
        if result is None:
            result = list(messages)
        blocks = [_standard(block) if _is_old(block) else block for block in content]
        result[index] = message.model_copy(update={"content": blocks})
    return messages if result is None else result


def is_openai_data_block(block: dict[str, Any], filter_: str | None = None) -> bool:
    """Return whether a block is an image, audio or file in OpenAI's chat form.

    Args:
        block: A content block.
        filter_: `image`, `audio` or `file`: only that kind counts.

    >>> is_openai_data_block({"type": "image_url", "image_url": {"url": "https://e.org/a.png"}})
    True
    """
    kind = _OPENAI_KINDS.get(block.get("type") or "")
    if kind is None or filter_ not in (None, kind):
        return False
    value = block.get(block["type"])
    return isinstance(value, dict) and any(
        isinstance(value.get(key), str) for key in ("url", "data", "file_data", "file_id")
    )


_OPENAI_KINDS = {"image_url": "image", "input_audio": "audio", "file": "file"}


def _is_old(block: Any) -> bool:
    if not isinstance(block, dict):
        return False
    return (
        "source_type" in block
        or (block.get("type") == "input_audio" and isinstance(block.get("input_audio"), dict))
        or (block.get("type") == "file" and isinstance(block.get("file"), dict))
    )


def _standard(block: dict[str, Any]) -> Any:
    """Return the block in standard form, or as it is where there is none."""
    made = standard_blocks([block])
    return block if len(made) != 1 or made[0]["type"] == "non_standard" else made[0]
