"""Prompt values: what a template gives, readable as a string or as messages.

They are structs, like messages: a chain makes one for each call. A model takes any of them; which
face it reads depends on the model.
"""

from collections.abc import Sequence
from typing import Any, ClassVar, Literal, TypedDict, cast

import msgspec

from dragoman.errors import MessageError, short
from dragoman.messages import (
    AnyMessage,
    BaseMessage,
    HumanMessage,
    convert_to_messages,
    get_buffer_string,
)
from dragoman.outputs.face import OutputModel

__all__ = [
    "ChatPromptValue",
    "ChatPromptValueConcrete",
    "ImagePromptValue",
    "ImageURL",
    "PromptValue",
    "StringPromptValue",
]


class ImageURL(TypedDict, total=False):
    """The `image_url` of an OpenAI image block."""

    detail: Literal["auto", "low", "high"]
    url: str


class PromptValue(OutputModel):
    """A filled template; subclasses say what it is as a string and as messages."""

    show_defaults: ClassVar[bool] = False

    @classmethod
    def is_lc_serializable(cls) -> bool:
        """Return True."""
        return True

    @classmethod
    def get_lc_namespace(cls) -> list[str]:
        """Return LangChain's namespace of prompt values."""
        return ["langchain", "schema", "prompt"]

    @classmethod
    def lc_id(cls) -> list[str]:
        """Return the namespace and the class name."""
        return [*cls.get_lc_namespace(), cls.__name__]

    def to_string(self) -> str:
        """Return the prompt as text."""
        raise NotImplementedError(f"{type(self).__name__}.to_string")

    def to_messages(self) -> list[BaseMessage]:
        """Return the prompt as a new list of messages."""
        raise NotImplementedError(f"{type(self).__name__}.to_messages")


def _require(value: Any, kind: type | tuple[type, ...], where: str) -> None:
    if value is msgspec.UNSET:
        message = f"{where} is missing"
        raise MessageError(message)
    if not isinstance(value, kind):
        message = f"{where}: unexpected {type(value).__name__} {short(value)}"
        raise MessageError(message)


class StringPromptValue(PromptValue):
    """Text.

    >>> StringPromptValue(text="hi").to_messages()
    [HumanMessage(content='hi', additional_kwargs={}, response_metadata={})]
    """

    text: str = msgspec.UNSET  # type: ignore[assignment]
    type: str = "StringPromptValue"

    def __post_init__(self) -> None:
        if type(self.text) is not str:
            _require(self.text, str, "StringPromptValue.text")

    @classmethod
    def get_lc_namespace(cls) -> list[str]:
        """Return LangChain's namespace of this class."""
        return ["langchain", "prompts", "base"]

    def to_string(self) -> str:
        """Return the text."""
        return self.text

    def to_messages(self) -> list[BaseMessage]:
        """Return one human message."""
        return [HumanMessage(self.text)]

    def _shown(self) -> list[str]:
        return [f"text={self.text!r}"]


class ChatPromptValue(PromptValue):
    """Messages.

    >>> ChatPromptValue(messages=[HumanMessage("hi")]).to_string()
    'Human: hi'
    """

    messages: Sequence[BaseMessage] = msgspec.UNSET  # type: ignore[assignment]

    def __post_init__(self) -> None:
        kinds = set(map(type, self.messages)) if isinstance(self.messages, (list, tuple)) else None
        if kinds is None or not all(issubclass(kind, BaseMessage) for kind in kinds):
            _require(self.messages, (list, tuple), f"{type(self).__name__}.messages")
            self.messages = convert_to_messages(cast("Any", self.messages))

    @classmethod
    def get_lc_namespace(cls) -> list[str]:
        """Return LangChain's namespace of this class."""
        return ["langchain", "prompts", "chat"]

    def to_string(self) -> str:
        """Return the messages as lines of text."""
        return get_buffer_string(self.messages)

    def to_messages(self) -> list[BaseMessage]:
        """Return the messages in a new list."""
        return list(self.messages)

    def _shown(self) -> list[str]:
        return [f"messages={self.messages!r}"]


class ChatPromptValueConcrete(ChatPromptValue):
    """Messages, for schemas that name the message classes."""

    messages: Sequence[AnyMessage] = msgspec.UNSET  # type: ignore[assignment]
    type: Literal["ChatPromptValueConcrete"] = "ChatPromptValueConcrete"


class ImagePromptValue(PromptValue):
    """An image."""

    image_url: ImageURL = msgspec.UNSET  # type: ignore[assignment]
    type: str = "ImagePromptValue"

    def __post_init__(self) -> None:
        _require(self.image_url, dict, "ImagePromptValue.image_url")

    def to_string(self) -> str:
        """Return the URL, or ""."""
        return self.image_url.get("url", "")

    def to_messages(self) -> list[BaseMessage]:
        """Return one human message with the image."""
        return [HumanMessage([cast("Any", self.image_url)])]
