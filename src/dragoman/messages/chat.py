"""A message with a role of its own."""

from typing import TYPE_CHECKING, Any, Self, TypeAlias

import msgspec
from msgspec import UNSET

from dragoman.errors import MergeError, MessageError, short
from dragoman.messages.base import BaseMessage, BaseMessageChunk
from dragoman.messages.fields import NOT_GIVEN

if TYPE_CHECKING:
    Text: TypeAlias = str
else:
    Text = Any

__all__ = ["ChatMessage", "ChatMessageChunk"]


class ChatMessage(BaseMessage, kw_only=True, dict=True, tag="chat"):
    """A message whose role is any word.

    Attributes:
        role: The role; required.
    """

    type: str = msgspec.field(default="chat", name="@type")
    role: Text = NOT_GIVEN  # pyright: ignore[reportIncompatibleMethodOverride] - a field here
    _default_type = "chat"

    def __post_init__(self) -> None:
        self._check()

    def _check(self) -> None:
        super()._check()
        if not isinstance(self.role, str):
            given = "nothing" if self.role is UNSET else short(self.role)
            message = f"{type(self).__name__} needs a role as text, got {given}"
            raise MessageError(message, path="role")


class ChatMessageChunk(  # pyright: ignore[reportIncompatibleVariableOverride]
    ChatMessage, BaseMessageChunk, kw_only=True, dict=True, tag="ChatMessageChunk"
):
    """A piece of a `ChatMessage`."""

    type: str = msgspec.field(default="ChatMessageChunk", name="@type")
    _default_type = "ChatMessageChunk"

    def _plus(self, others: tuple[BaseMessageChunk, ...]) -> Self:
        for other in others:
            if isinstance(other, ChatMessageChunk) and other.role != self.role:
                message = "Cannot concatenate ChatMessageChunks with different roles"
                raise MergeError(message, path="role")
        return super()._plus(others)
