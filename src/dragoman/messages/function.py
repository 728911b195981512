"""The result of a call in the oldest form, before tool calls had ids."""

from typing import Self

import msgspec

from dragoman.errors import MergeError, MessageError
from dragoman.messages.base import BaseMessage, BaseMessageChunk

__all__ = ["FunctionMessage", "FunctionMessageChunk"]


class FunctionMessage(BaseMessage, kw_only=True, dict=True, tag="function"):
    """The result of a function call without id.

    Attributes:
        name: The function's name; required.
    """

    type: str = msgspec.field(default="function", name="@type")
    _default_type = "function"
    _role = "function"

    def __post_init__(self) -> None:
        self._check()

    def _check(self) -> None:
        super()._check()
        if self.name is None:
            message = f"{type(self).__name__} needs a name"
            raise MessageError(message, path="name")


class FunctionMessageChunk(
    FunctionMessage, BaseMessageChunk, kw_only=True, dict=True, tag="FunctionMessageChunk"
):
    """A piece of a `FunctionMessage`."""

    type: str = msgspec.field(default="FunctionMessageChunk", name="@type")
    _default_type = "FunctionMessageChunk"

    def _plus(self, others: tuple[BaseMessageChunk, ...]) -> Self:
        for other in others:
            if isinstance(other, FunctionMessageChunk) and other.name != self.name:
                message = "Cannot concatenate FunctionMessageChunks with different names"
                raise MergeError(message, path="name")
        return super()._plus(others)
