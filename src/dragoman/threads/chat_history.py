"""A thread as the chat history that LangChain's components take."""

from collections.abc import Sequence

from dragoman.chat_history import BaseChatMessageHistory
from dragoman.messages import REMOVE_ALL_MESSAGES, BaseMessage, RemoveMessage
from dragoman.threads.store import ThreadStore

__all__ = ["ThreadChatHistory"]


class ThreadChatHistory(BaseChatMessageHistory):
    """The messages of one thread; what is added is durable at once."""

    def __init__(self, store: ThreadStore, thread_id: str) -> None:
        self._thread = store.thread(thread_id)

    @property
    def messages(self) -> list[BaseMessage]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The messages so far, oldest first."""
        return self._thread.load().messages

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Append messages in one piece."""
        self._thread.append(list(messages))

    def clear(self) -> None:
        """Remove every message."""
        self._thread.append([RemoveMessage(REMOVE_ALL_MESSAGES)])
