"""The base of templates that give messages."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

from dragoman.load.serializable import Serializable
from dragoman.messages.base import BaseMessage

if TYPE_CHECKING:
    from dragoman.prompts.chat import ChatPromptTemplate

__all__ = ["BaseMessagePromptTemplate"]


class BaseMessagePromptTemplate(Serializable, ABC):
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

    def check_safe(self) -> None:
        """Raise unless every template inside can be rendered safely."""

    @classmethod
    def model_construct(cls, _fields_set: set[str] | None = None, **values: Any) -> Self:
        """Return a template whose fields were not validated, but which is safe."""
        template = super().model_construct(_fields_set, **values)
        template.check_safe()
        return template

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Return a copy with the fields of `update` replaced; it is safe."""
        template = super().model_copy(update=update, deep=deep)
        template.check_safe()
        return template

    def __setstate__(self, state: dict[Any, Any]) -> None:
        super().__setstate__(state)
        self.check_safe()

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
