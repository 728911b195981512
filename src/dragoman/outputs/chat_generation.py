"""`ChatGeneration` and `ChatGenerationChunk`: the message a chat model gave.

`text` is derived from the message whenever it is read: a merged chunk shares its text with its
parts, and joining it on every `+` would make a stream quadratic.
"""

from collections.abc import Sequence
from typing import Any

import msgspec

from dragoman.errors import MessageError, short
from dragoman.messages import BaseMessage, BaseMessageChunk
from dragoman.outputs.face import merge_info
from dragoman.outputs.generation import Generation

__all__ = ["ChatGeneration", "ChatGenerationChunk"]


class ChatGeneration(Generation):
    """One message that a model gave.

    Attributes:
        message: The message; required.
        text: Its text, all text blocks joined.
        generation_info: What the provider says about it, or None.
    """

    text: str = msgspec.UNSET  # pyright: ignore[reportAssignmentType]
    type: str = "ChatGeneration"
    message: BaseMessage = msgspec.field(default=msgspec.UNSET)  # pyright: ignore[reportAssignmentType]

    def __post_init__(self) -> None:
        if _SLOT.__get__(self) is not msgspec.UNSET:
            _SLOT.__set__(self, msgspec.UNSET)
        if not isinstance(self.message, BaseMessage):
            self.message = _message(self.message, type(self).__name__)
        if self.type != (own := _TYPES.get(type(self).__name__, self.type)):
            raise MessageError(f"`type` is {own!r} and cannot be {short(self.type)}")


class ChatGenerationChunk(ChatGeneration):
    """A piece of a streamed message; pieces add up, in time linear in the new piece."""

    type: str = "ChatGenerationChunk"
    message: BaseMessageChunk = msgspec.field(default=msgspec.UNSET)  # pyright: ignore[reportAssignmentType, reportIncompatibleVariableOverride]

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.message, BaseMessageChunk):
            message = f"ChatGenerationChunk: `message` must be a chunk, got `{type(self.message).__name__}`"
            raise MessageError(message, hint="use its chunk class, such as AIMessageChunk")

    def __add__(
        self, other: "ChatGenerationChunk | Sequence[ChatGenerationChunk]"
    ) -> "ChatGenerationChunk":
        """Return the sum of this chunk and `other`, which may be a list of chunks.

        Raises:
            TypeError: If `other` is neither.
        """
        others: list[Any] = list(other) if isinstance(other, (list, tuple)) else [other]
        if not all(isinstance(item, ChatGenerationChunk) for item in others):
            message = f"unsupported operand type(s) for +: '{type(self)}' and '{type(other)}'"
            raise TypeError(message)
        info = self.generation_info
        for item in others:
            info = merge_info(info, item.generation_info)
        total: Any = self.message
        total = total + [item.message for item in others]
        return ChatGenerationChunk(message=total, generation_info=info or None)


_TYPES = {"ChatGeneration": "ChatGeneration", "ChatGenerationChunk": "ChatGenerationChunk"}


def _message(value: Any, owner: str) -> BaseMessage:
    if isinstance(value, dict):
        from dragoman.messages import convert_to_messages

        return convert_to_messages([value])[0]
    what = (
        "is missing"
        if value is msgspec.UNSET
        else f"must be a message, got `{type(value).__name__}`"
    )
    raise MessageError(f"{owner}: `message` {what}")


# The slot behind `text`: constructors fill it, nobody reads it.
_SLOT: Any = Generation.__dict__["text"]


def _text(self: ChatGeneration) -> str:
    message = self.message
    content = message.content
    if type(content) is str:
        return content
    # Stored messages of old have text blocks without a type; `message.text` leaves those out.
    parts = (
        item
        if isinstance(item, str)
        else item.get("text")
        if item.get("type", "text") == "text"
        else None
        for item in content
    )
    return "".join(part for part in parts if isinstance(part, str))


def _ignore(self: ChatGeneration, value: Any) -> None:
    """Do nothing: the text belongs to the message."""


ChatGeneration.text = property(_text, _ignore)  # pyright: ignore[reportAttributeAccessIssue]
