"""An instruction to a message list: remove a message."""

from typing import Any

import msgspec
from msgspec import UNSET

from dragoman.errors import MessageError
from dragoman.messages.base import BaseMessage

__all__ = ["REMOVE_ALL_MESSAGES", "RemoveMessage"]

REMOVE_ALL_MESSAGES = "__remove_all__"
"""The id of a `RemoveMessage` that removes every message before it."""


class _MissingIdError(MessageError, TypeError):
    """No id was given; also a TypeError, as in LangChain."""


class _NoPosition(BaseMessage, kw_only=True, dict=True):
    """Moves the content fields out of the way, so that `id` can be given by position."""

    content: Any = UNSET
    content_blocks: Any = UNSET
    type: str = msgspec.field(default="remove", name="@type")


class RemoveMessage(_NoPosition, dict=True, tag="remove"):
    """Removes the message with this `id` from a list, through `add_messages`.

    >>> RemoveMessage("msg_3").type
    'remove'
    """

    id: Any = UNSET
    _default_type = "remove"

    def __post_init__(self) -> None:
        if self.id is UNSET or self.id is None:
            message = "RemoveMessage needs the id of a message"
            raise _MissingIdError(message, path="id")
        if self.content is UNSET:
            self.content = ""
        elif self.content:
            message = "RemoveMessage does not support 'content' field"
            raise MessageError(message, path="content")
        self._check()
