"""A model that declines to answer is an error of its own for parsers that expect data."""

from collections.abc import Sequence
from typing import Any, cast

from dragoman.errors import ModelRefusalError
from dragoman.messages.base import BaseMessage

__all__ = ["raise_if_refused", "refusal_of"]


def refusal_of(message: BaseMessage) -> dict[str, Any] | None:
    """Return the refusal block of a message, or None; text that sounds like one is none.

    >>> from dragoman.messages import AIMessage
    >>> refusal_of(AIMessage([{"type": "refusal", "refusal": "No."}]))
    {'type': 'refusal', 'refusal': 'No.'}
    """
    if (
        isinstance(message.content, str)
        and not message.additional_kwargs
        and not message.response_metadata
    ):
        return None  # nothing but text: no blocks to look through
    for block in cast("list[Any]", message.content_blocks):
        if block.get("type") == "refusal":
            return block
    return None


def raise_if_refused(result: Sequence[Any]) -> None:
    """Raise if the first generation of `result` holds a refusal.

    Raises:
        ModelRefusalError: With the message as `raw_message`.
    """
    message = getattr(result[0], "message", None) if result else None
    if isinstance(message, BaseMessage) and (block := refusal_of(message)) is not None:
        raise ModelRefusalError.from_refusal(block, raw_message=message)
