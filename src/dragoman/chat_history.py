"""Chat histories as objects with `add_message` and `messages`.

These classes are LangChain's older way; both count as deprecated. New code keeps a list, or a
thread of `dragoman.threads`.
"""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import cast

from pydantic import BaseModel, Field

from dragoman.messages import AIMessage, AnyMessage, HumanMessage, get_buffer_string
from dragoman.messages.base import BaseMessage

__all__ = ["BaseChatMessageHistory", "InMemoryChatMessageHistory"]


class BaseChatMessageHistory(ABC):
    """The base of chat histories (deprecated: keep a list, or a thread of `dragoman.threads`).

    A subclass has `messages` and writes `clear` and one of `add_message` and `add_messages`.
    """

    messages: list[BaseMessage]

    async def aget_messages(self) -> list[BaseMessage]:
        """Return the messages; the property is read in a thread."""
        return await asyncio.to_thread(lambda: self.messages)

    def add_user_message(self, message: HumanMessage | str) -> None:
        """Add a human message."""
        self.add_message(HumanMessage(message) if isinstance(message, str) else message)

    def add_ai_message(self, message: AIMessage | str) -> None:
        """Add an AI message."""
        self.add_message(AIMessage(message) if isinstance(message, str) else message)

    def add_message(self, message: BaseMessage) -> None:
        """Add a message.

        Raises:
            NotImplementedError: If the class has neither this nor `add_messages`.
        """
        if type(self).add_messages is BaseChatMessageHistory.add_messages:
            text = (
                "add_message is not implemented for this class. "
                "Please implement add_message or add_messages."
            )
            raise NotImplementedError(text)
        self.add_messages([message])

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Add messages in order."""
        for message in messages:
            self.add_message(message)

    async def aadd_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Add messages in order; the sync method runs in a thread."""
        await asyncio.to_thread(self.add_messages, messages)

    @abstractmethod
    def clear(self) -> None:
        """Remove all messages."""

    async def aclear(self) -> None:
        """Remove all messages; the sync method runs in a thread."""
        await asyncio.to_thread(self.clear)

    def __str__(self) -> str:
        return get_buffer_string(self.messages)


class InMemoryChatMessageHistory(BaseChatMessageHistory, BaseModel):
    """A chat history in a list (deprecated: keep the list, or a thread of `dragoman.threads`).

    >>> history = InMemoryChatMessageHistory()
    >>> history.add_user_message("hi")
    >>> str(history)
    'Human: hi'
    """

    messages: list[AnyMessage] = Field(default_factory=list)

    async def aget_messages(self) -> list[BaseMessage]:
        """Return the messages."""
        return cast("list[BaseMessage]", self.messages)

    def add_message(self, message: BaseMessage) -> None:
        """Add a message."""
        self.messages.append(cast("AnyMessage", message))

    async def aadd_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Add messages in order."""
        self.add_messages(messages)

    def clear(self) -> None:
        """Remove all messages."""
        self.messages = []  # pyright: ignore[reportIncompatibleVariableOverride] - narrower than the base

    async def aclear(self) -> None:
        """Remove all messages."""
        self.clear()
