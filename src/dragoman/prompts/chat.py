"""`ChatPromptTemplate`: a list of message templates; invoked with a dict, it gives messages.

The templates themselves stand in `role_templates` and `placeholder`, what a list may hold in
`likes`; all are importable from here.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast, overload

from pydantic import SerializeAsAny

from dragoman.messages import AnyMessage
from dragoman.messages.base import BaseMessage
from dragoman.prompt_values import ChatPromptValue, ImageURL, PromptValue
from dragoman.prompts.base import BasePromptTemplate
from dragoman.prompts.dict import DictPromptTemplate
from dragoman.prompts.image import ImagePromptTemplate
from dragoman.prompts.likes import as_template
from dragoman.prompts.message import BaseMessagePromptTemplate
from dragoman.prompts.placeholder import MessagesPlaceholder
from dragoman.prompts.prompt import PromptTemplate
from dragoman.prompts.role_templates import (
    AIMessagePromptTemplate,
    BaseStringMessagePromptTemplate,
    ChatMessagePromptTemplate,
    HumanMessagePromptTemplate,
    SystemMessagePromptTemplate,
    _StringImageMessagePromptTemplate,
    fill,
)
from dragoman.prompts.string import PromptTemplateFormat, StringPromptTemplate

__all__ = [
    "AIMessagePromptTemplate",
    "BaseChatPromptTemplate",
    "BaseMessagePromptTemplate",
    "BaseStringMessagePromptTemplate",
    "ChatMessagePromptTemplate",
    "ChatPromptTemplate",
    "DictPromptTemplate",
    "HumanMessagePromptTemplate",
    "ImagePromptTemplate",
    "ImageURL",
    "MessageLike",
    "MessageLikeRepresentation",
    "MessagesPlaceholder",
    "PromptTemplate",
    "StringPromptTemplate",
    "SystemMessagePromptTemplate",
    "_StringImageMessagePromptTemplate",
]


_EMPTY = ChatPromptValue(messages=())


def _value(messages: list[BaseMessage]) -> ChatPromptValue:
    """Return messages as a prompt value; they are not looked at a second time."""
    value = _EMPTY.__copy__()  # pyright: ignore[reportAttributeAccessIssue] - structs have it; a copy is not checked
    value.messages = messages
    return value


class BaseChatPromptTemplate(BasePromptTemplate[str], ABC):
    """The base of prompts that give messages."""

    @property
    def lc_attributes(self) -> dict[str, Any]:
        """The variables are always stored."""
        return {"input_variables": self.input_variables}

    def format(self, **kwargs: Any) -> str:
        """Return the messages as lines of text."""
        return self.format_prompt(**kwargs).to_string()

    async def aformat(self, **kwargs: Any) -> str:
        """Return the messages as lines of text."""
        return (await self.aformat_prompt(**kwargs)).to_string()

    def format_prompt(self, **kwargs: Any) -> ChatPromptValue:
        """Return the messages as a prompt value."""
        return _value(self.format_messages(**kwargs))

    async def aformat_prompt(self, **kwargs: Any) -> ChatPromptValue:
        """Return the messages as a prompt value."""
        return _value(await self.aformat_messages(**kwargs))

    @abstractmethod
    def format_messages(self, **kwargs: Any) -> list[BaseMessage]:
        """Return the messages for these variables."""

    async def aformat_messages(self, **kwargs: Any) -> list[BaseMessage]:
        """Return the messages for these variables."""
        return self.format_messages(**kwargs)

    def pretty_repr(self, html: bool = False) -> str:
        """Return the prompt as people read it, `{name}` for each variable."""
        raise NotImplementedError

    def pretty_print(self) -> None:
        """Print `pretty_repr()`."""
        print(self.pretty_repr(html=False))  # noqa: T201 - what it is for


_ROLE_MESSAGES = {
    kind: kind._msg_class
    for kind in (HumanMessagePromptTemplate, AIMessagePromptTemplate, SystemMessagePromptTemplate)
}
"""Exactly these templates have no `format` of a user's, and take the short way to their message."""

MessageLike = BaseMessagePromptTemplate | BaseMessage | BaseChatPromptTemplate
MessageLikeRepresentation = (
    MessageLike | tuple[str | type, str | Sequence[Any]] | str | dict[str, Any]
)


class ChatPromptTemplate(BaseChatPromptTemplate):
    r"""A chat prompt.

    Attributes:
        messages: Messages (given as they are), message templates, and chat prompts.
        validate_template: Whether `input_variables`, if given, must be the right ones.

    >>> prompt = ChatPromptTemplate([("system", "Be {tone}."), ("placeholder", "{history}"), "{q}"])
    >>> prompt.invoke({"tone": "kind", "q": "Why?"}).to_string()
    'System: Be kind.\nHuman: Why?'
    """

    messages: list[SerializeAsAny[MessageLike]]
    validate_template: bool = False

    def __init__(
        self,
        messages: Sequence[MessageLikeRepresentation],
        *,
        template_format: PromptTemplateFormat = "f-string",
        **kwargs: Any,
    ) -> None:
        """Build from what a list may hold (`prompts.likes`)."""
        templates = [as_template(item, template_format) for item in messages]
        optional: set[str] = set(kwargs.get("optional_variables") or ())
        wanted, absent, types = _variables(templates, optional)
        partials = {name: [] for name in absent} | dict(kwargs.get("partial_variables") or {})
        wanted -= set(partials)
        given = kwargs.get("input_variables")
        if kwargs.get("validate_template") and given is not None and wanted != set(given):
            message = f"Got mismatched input_variables. Expected: {wanted}. Got: {given}"
            raise ValueError(message)
        fields = {
            **kwargs,
            "input_variables": sorted(wanted),
            "optional_variables": sorted(absent),
            "partial_variables": partials,
            "input_types": types | (kwargs.get("input_types") or {}),
        }
        super().__init__(messages=templates, **fields)  # pyright: ignore[reportCallIssue] - pydantic's keywords

    @classmethod
    def get_lc_namespace(cls) -> list[str]:
        """Return LangChain's namespace of this class."""
        return ["langchain", "prompts", "chat"]

    @classmethod
    def from_template(cls, template: str, **kwargs: Any) -> "ChatPromptTemplate":
        """Return a prompt of one human message."""
        return cls.from_messages([HumanMessagePromptTemplate.from_template(template, **kwargs)])

    @classmethod
    def from_messages(
        cls,
        messages: Sequence[MessageLikeRepresentation],
        template_format: PromptTemplateFormat = "f-string",
    ) -> "ChatPromptTemplate":
        """Return a prompt of what a list may hold."""
        return cls(messages, template_format=template_format)

    def check_safe(self) -> None:
        """Raise unless every template inside can be rendered safely."""
        for item in self.messages:
            if not isinstance(item, BaseMessage):
                item.check_safe()

    def format_messages(self, **kwargs: Any) -> list[BaseMessage]:
        """Return the messages; those given as messages are the same objects.

        Raises:
            KeyError: If a variable is missing.
            ValueError: If a placeholder's value is no list.
        """
        values = (
            self._merge_partial_and_user_variables(**kwargs) if self.partial_variables else kwargs
        )
        return _filled(self.messages, values) or [
            message
            for item in self.messages
            for message in (
                [item] if isinstance(item, BaseMessage) else item.format_messages(**values)
            )
        ]

    async def aformat_messages(self, **kwargs: Any) -> list[BaseMessage]:
        """Return the messages, as `format_messages`."""
        values = (
            self._merge_partial_and_user_variables(**kwargs) if self.partial_variables else kwargs
        )
        return _filled(self.messages, values) or [
            message
            for item in self.messages
            for message in (
                [item] if isinstance(item, BaseMessage) else await item.aformat_messages(**values)
            )
        ]

    def _fill(self, value: dict[str, Any]) -> PromptValue:
        return self._filled_value(value) or super()._fill(value)

    async def _afill(self, value: dict[str, Any]) -> PromptValue:
        return self._filled_value(value) or await super()._afill(value)

    def _filled_value(self, value: dict[str, Any]) -> ChatPromptValue | None:
        """Return the prompt value if no method of a user's stands between, else None.

        `format_prompt` and `format_messages` would copy the values on the way.
        """
        if self.__class__ is not ChatPromptTemplate or self.partial_variables:
            return None
        messages = _filled(self.messages, self._named(value))
        return None if messages is None else _value(messages)

    def partial(self, **kwargs: Any) -> "ChatPromptTemplate":
        """Return a new prompt in which these variables are filled already."""
        fields = {name: getattr(self, name) for name in type(self).model_fields}
        fields["input_variables"] = [n for n in self.input_variables if n not in kwargs]
        fields["partial_variables"] = {**self.partial_variables, **kwargs}
        return type(self)(**fields)

    def __add__(self, other: Any) -> "ChatPromptTemplate":
        """Return a prompt with the messages of `other` behind: a prompt, message, template, list or string.

        Raises:
            NotImplementedError: If `other` is none of these.
        """
        partials = dict(self.partial_variables)
        if isinstance(other, ChatPromptTemplate):
            partials.update(other.partial_variables)
            added: Sequence[Any] = other.messages
        elif isinstance(other, (list, tuple)):
            added = ChatPromptTemplate.from_messages(cast("Sequence[Any]", other)).messages
        elif isinstance(
            other, (BaseMessagePromptTemplate, BaseMessage, BaseChatPromptTemplate, str)
        ):
            added = [as_template(other, "f-string")]
        else:
            message = f"Unsupported operand type for +: {type(other)}"
            raise NotImplementedError(message)
        return ChatPromptTemplate([*self.messages, *added], partial_variables=partials)

    def append(self, message: MessageLikeRepresentation) -> None:
        """Add one item at the end; strings are f-strings."""
        self._become([*self.messages, as_template(message, "f-string")])

    def extend(self, messages: Sequence[MessageLikeRepresentation]) -> None:
        """Add items at the end; strings are f-strings."""
        self._become([*self.messages, *(as_template(item, "f-string") for item in messages)])

    def _become(self, templates: list[Any]) -> None:
        """Take these templates, and the variables they have; all or nothing."""
        longer = ChatPromptTemplate(templates, partial_variables=self.partial_variables)
        self.messages[:] = templates
        self.input_variables: list[str] = longer.input_variables
        self.optional_variables: list[str] = longer.optional_variables
        self.partial_variables: Mapping[str, Any] = longer.partial_variables
        self.input_types: dict[str, Any] = {**longer.input_types, **self.input_types}

    @overload
    def __getitem__(self, index: int) -> MessageLike: ...
    @overload
    def __getitem__(self, index: slice) -> "ChatPromptTemplate": ...
    def __getitem__(self, index: int | slice) -> "MessageLike | ChatPromptTemplate":
        """Return one item, or for a slice a prompt of some."""
        if isinstance(index, slice):
            return ChatPromptTemplate.from_messages(self.messages[index])
        return self.messages[index]

    def __len__(self) -> int:
        return len(self.messages)

    @property
    def _prompt_type(self) -> str:
        return "chat"

    def save(self, file_path: Path | str) -> None:
        """Raise NotImplementedError: use `dumps` of `dragoman.load`."""
        message = "a chat prompt is not saved to a file; use dragoman.load.dumps"
        raise NotImplementedError(message)

    def pretty_repr(self, html: bool = False) -> str:
        """Return all items as people read them, blank lines between."""
        return "\n\n".join(item.pretty_repr(html=html) for item in self.messages)


def _filled(items: list[Any], values: dict[str, Any]) -> list[BaseMessage] | None:
    """Return the messages of items that need no method called on them, else None.

    Such are texts in f-string form, placeholders and messages: nearly all prompts, in both colours.
    """
    result: list[BaseMessage] = []
    for item in items:
        kind = item.__class__
        if kind in _ROLE_MESSAGES:
            text = fill(item, values)
            if text is None:
                return None
            result.append(_ROLE_MESSAGES[kind](text))
        elif kind is MessagesPlaceholder:
            result += item.take(values)
        elif isinstance(item, BaseMessage):
            result.append(item)
        else:
            return None
    return result


def _variables(
    templates: list[Any], optional: set[str]
) -> tuple[set[str], set[str], dict[str, Any]]:
    """Return the names that templates want, those they can do without, and types of placeholders.

    A placeholder is optional if it says so, or if its name is in `optional`; it is then made so.
    """
    wanted: set[str] = set()
    absent: set[str] = set()
    types: dict[str, Any] = {}
    for index, item in enumerate(templates):
        if isinstance(item, MessagesPlaceholder):
            name = item.variable_name
            types[name] = list[AnyMessage]
            if name in optional and not item.optional:
                item = item.model_copy(update={"optional": True})
                templates[index] = item
            if item.optional:
                absent.add(name)
        if not isinstance(item, BaseMessage):
            wanted.update(item.input_variables)
    return wanted, absent - wanted, types
