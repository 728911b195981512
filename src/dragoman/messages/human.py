"""What a person says."""

import msgspec

from dragoman.messages.base import BaseMessage, BaseMessageChunk

__all__ = ["HumanMessage", "HumanMessageChunk"]


class HumanMessage(BaseMessage, kw_only=True, dict=True, tag="human"):
    """A message of the user.

    >>> HumanMessage("hi")
    HumanMessage(content='hi', additional_kwargs={}, response_metadata={})
    """

    type: str = msgspec.field(default="human", name="@type")
    _default_type = "human"
    _role = "user"


class HumanMessageChunk(
    HumanMessage, BaseMessageChunk, kw_only=True, dict=True, tag="HumanMessageChunk"
):
    """A piece of a `HumanMessage`."""

    type: str = msgspec.field(default="HumanMessageChunk", name="@type")
    _default_type = "HumanMessageChunk"
