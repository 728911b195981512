"""What the application tells the model before anybody speaks."""

import msgspec

from dragoman.messages.base import BaseMessage, BaseMessageChunk

__all__ = ["SystemMessage", "SystemMessageChunk"]


class SystemMessage(BaseMessage, kw_only=True, dict=True, tag="system"):
    """Instructions for the model."""

    type: str = msgspec.field(default="system", name="@type")
    _default_type = "system"
    _role = "system"


class SystemMessageChunk(
    SystemMessage, BaseMessageChunk, kw_only=True, dict=True, tag="SystemMessageChunk"
):
    """A piece of a `SystemMessage`."""

    type: str = msgspec.field(default="SystemMessageChunk", name="@type")
    _default_type = "SystemMessageChunk"
