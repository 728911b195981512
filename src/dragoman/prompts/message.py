"""The base of templates that give messages."""

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from dragoman.load.serializable import Serializable
from dragoman.messages.base import BaseMessage
from dragoman.prompts.checked import Checked

if TYPE_CHECKING:
    from dragoman.prompts.chat import ChatPromptTemplate

__all__ = ["BaseMessagePromptTemplate"]


class BaseMessagePromptTemplate(Checked, Serializable, ABC):
    """A template that gives messages; part of a chat prompt."""

    @classmethod
    def is_lc_serializable(cls) -> bool:
        """Return True."""
        return True

    @classmethod
    def get_lc_namespace(cls) -> list[str]:
        """Return LangChain's namespace of this class."""
        return ["langchain", "prompts", "chat"]

    @abstractmethod
    def format_messages(self, **kwargs: Any) -> list[BaseMessage]:
        """Return the messages for these variables."""

    async def aformat_messages(self, **kwargs: Any) -> list[BaseMessage]:
        """Return the messages for these variables."""
        return self.format_messages(**kwargs)

    @property
    @abstractmethod
    def input_variables(self) -> list[str]:
        """The names of the variables."""

    def pretty_repr(self, html: bool = False) -> str:
        """Return the template as people read it, `{name}` for each variable."""
        raise NotImplementedError

    def pretty_print(self) -> None:
        """Print `pretty_repr()`."""
        print(self.pretty_repr(html=False))  # noqa: T201 - what it is for

    def __add__(self, other: Any) -> "ChatPromptTemplate":
        """Return a chat prompt of this template and `other`."""
        from dragoman.prompts.chat import ChatPromptTemplate

        return ChatPromptTemplate(messages=[self]) + other
