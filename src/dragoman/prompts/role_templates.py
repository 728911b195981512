"""Templates for one message of a role: human, AI, system, or a role of the user's.

The template is one string, or a list of parts: texts, images, and blocks of any other form, whose
strings are templates themselves.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Self, cast

from pydantic import Field, SerializeAsAny

from dragoman.messages import AIMessage, ChatMessage, HumanMessage, SystemMessage
from dragoman.messages.base import BaseMessage, get_msg_title_repr
from dragoman.prompts.dict import DictPromptTemplate
from dragoman.prompts.image import ImagePromptTemplate
from dragoman.prompts.message import BaseMessagePromptTemplate
from dragoman.prompts.prompt import PromptTemplate
from dragoman.prompts.string import (
    PromptTemplateFormat,
    StringPromptTemplate,
    get_template_variables,
)
from dragoman.utils.formatting import compile_f_string

__all__ = [
    "AIMessagePromptTemplate",
    "BaseStringMessagePromptTemplate",
    "ChatMessagePromptTemplate",
    "HumanMessagePromptTemplate",
    "SystemMessagePromptTemplate",
    "_StringImageMessagePromptTemplate",
]

Part = StringPromptTemplate | ImagePromptTemplate | DictPromptTemplate


class BaseStringMessagePromptTemplate(BaseMessagePromptTemplate):
    """The base of templates for a message whose content is one string.

    Attributes:
        prompt: The template of the content.
        additional_kwargs: Copied into each message.
    """

    prompt: SerializeAsAny[StringPromptTemplate]
    additional_kwargs: dict[str, Any] = Field(default_factory=dict)

    @classmethod
    def from_template(
        cls,
        template: str,
        template_format: PromptTemplateFormat = "f-string",
        partial_variables: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> Self:
        """Return a message template for a string."""
        prompt = PromptTemplate.from_template(
            template, template_format=template_format, partial_variables=partial_variables
        )
        return cls(prompt=prompt, **kwargs)

    @classmethod
    def from_template_file(cls, template_file: str | Path, **kwargs: Any) -> Self:
        """Return a message template for the text of a file."""
        return cls(prompt=PromptTemplate.from_file(template_file), **kwargs)

    def format(self, **kwargs: Any) -> BaseMessage:
        """Return the message."""
        raise NotImplementedError

    async def aformat(self, **kwargs: Any) -> BaseMessage:
        """Return the message."""
        return self.format(**kwargs)

    def format_messages(self, **kwargs: Any) -> list[BaseMessage]:
        """Return the message in a list."""
        return [self.format(**kwargs)]

    async def aformat_messages(self, **kwargs: Any) -> list[BaseMessage]:
        """Return the message in a list."""
        return [await self.aformat(**kwargs)]

    def check_safe(self) -> None:
        """Raise unless the template can be rendered safely."""
        _check_parts(self.prompt)

    @property
    def input_variables(self) -> list[str]:
        """The names of the template's variables."""
        return self.prompt.input_variables

    def pretty_repr(self, html: bool = False) -> str:
        """Return a title and the template."""
        title = type(self).__name__.replace("MessagePromptTemplate", " Message")
        return f"{get_msg_title_repr(title, bold=html)}\n\n{self.prompt.pretty_repr(html=html)}"


class ChatMessagePromptTemplate(BaseStringMessagePromptTemplate):
    """A template for a message with a role of the user's.

    >>> ChatMessagePromptTemplate.from_template("{a}!", role="critic").format(a="No").role
    'critic'
    """

    role: str

    def format(self, **kwargs: Any) -> BaseMessage:
        """Return the message."""
        return ChatMessage(
            self.prompt.format(**kwargs),
            role=self.role,
            additional_kwargs=dict(self.additional_kwargs),
        )

    async def aformat(self, **kwargs: Any) -> BaseMessage:
        """Return the message."""
        return ChatMessage(
            await self.prompt.aformat(**kwargs),
            role=self.role,
            additional_kwargs=dict(self.additional_kwargs),
        )


class _StringImageMessagePromptTemplate(BaseMessagePromptTemplate):
    """The base of templates for a message whose content is one string, or a list of parts.

    Attributes:
        prompt: The template of the content, or those of its parts.
        additional_kwargs: Copied into each message.
    """

    prompt: SerializeAsAny[StringPromptTemplate] | list[SerializeAsAny[Part]]
    additional_kwargs: dict[str, Any] = Field(default_factory=dict)

    _msg_class: ClassVar[type[BaseMessage]] = HumanMessage

    @classmethod
    def from_template(
        cls,
        template: str | Sequence[str | dict[str, Any]],
        template_format: PromptTemplateFormat = "f-string",
        *,
        partial_variables: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> Self:
        """Return a message template for a string, or for a list of parts.

        Raises:
            ValueError: If a part is no template, cannot be rendered safely, or partial variables
                come with a list.

        >>> parts = ["{q}", {"type": "image_url", "image_url": "https://e.org/{n}.png"}]
        >>> HumanMessagePromptTemplate.from_template(parts).input_variables
        ['q', 'n']
        """
        if isinstance(template, str):
            prompt: Any = PromptTemplate.from_template(
                template, template_format=template_format, partial_variables=partial_variables
            )
            return cls(prompt=prompt, **kwargs)
        if not isinstance(template, Sequence):
            message = f"Invalid template: {template}"
            raise ValueError(message)
        if partial_variables:
            message = "Partial variables are not supported for list of templates."
            raise ValueError(message)
        return cls(prompt=[_part(part, template_format) for part in template], **kwargs)

    @classmethod
    def from_template_file(
        cls, template_file: str | Path, input_variables: list[str] | None = None, **kwargs: Any
    ) -> Self:
        """Return a message template for the text of a file; its variables are found in it."""
        template = Path(template_file).read_text(encoding="utf-8")
        return cls.from_template(template, **kwargs)

    def format(self, **kwargs: Any) -> BaseMessage:
        """Return the message; text parts that come out empty are left out."""
        prompt = self.prompt
        if isinstance(prompt, StringPromptTemplate):
            return self._message(prompt.format(**kwargs))
        content: list[Any] = []
        for part in prompt:
            values = {name: kwargs[name] for name in part.input_variables}
            _append(content, part, part.format(**values))
        return self._message(content)

    async def aformat(self, **kwargs: Any) -> BaseMessage:
        """Return the message, as `format`."""
        prompt = self.prompt
        if isinstance(prompt, StringPromptTemplate):
            return self._message(await prompt.aformat(**kwargs))
        content: list[Any] = []
        for part in prompt:
            values = {name: kwargs[name] for name in part.input_variables}
            _append(content, part, await part.aformat(**values))
        return self._message(content)

    def _message(self, content: Any) -> BaseMessage:
        if self.additional_kwargs:
            return self._msg_class(content, additional_kwargs=dict(self.additional_kwargs))
        return self._msg_class(content)

    def format_messages(self, **kwargs: Any) -> list[BaseMessage]:
        """Return the message in a list."""
        return [self.format(**kwargs)]

    async def aformat_messages(self, **kwargs: Any) -> list[BaseMessage]:
        """Return the message in a list."""
        return [await self.aformat(**kwargs)]

    def check_safe(self) -> None:
        """Raise unless every template inside can be rendered safely."""
        _check_parts(self.prompt)

    @property
    def input_variables(self) -> list[str]:
        """The names of the variables, in order of the parts."""
        if isinstance(self.prompt, StringPromptTemplate):
            return self.prompt.input_variables
        return list(dict.fromkeys(name for part in self.prompt for name in part.input_variables))

    def pretty_repr(self, html: bool = False) -> str:
        """Return a title and the templates."""
        title = type(self).__name__.replace("MessagePromptTemplate", " Message")
        prompts = [self.prompt] if not isinstance(self.prompt, list) else self.prompt
        bodies = "\n\n".join(prompt.pretty_repr(html=html) for prompt in prompts)
        return f"{get_msg_title_repr(title, bold=html)}\n\n{bodies}"


class HumanMessagePromptTemplate(_StringImageMessagePromptTemplate):
    """A template for a human message."""

    _msg_class: ClassVar[type[BaseMessage]] = HumanMessage


class AIMessagePromptTemplate(_StringImageMessagePromptTemplate):
    """A template for an AI message."""

    _msg_class: ClassVar[type[BaseMessage]] = AIMessage


class SystemMessagePromptTemplate(_StringImageMessagePromptTemplate):
    """A template for a system message."""

    _msg_class: ClassVar[type[BaseMessage]] = SystemMessage


def fill(template: Any, values: dict[str, Any]) -> str | None:
    """Return the content that a human, AI or system template gives, or None if that takes its detours."""
    prompt = template.prompt
    if (
        prompt.__class__ is not PromptTemplate
        or prompt.partial_variables
        or prompt.template_format != "f-string"
        or template.additional_kwargs
    ):
        return None
    text: str = prompt.template
    compile_f_string(text)  # refuses what is not safe; the answer is remembered
    return text.format_map(values)


def _append(content: list[Any], part: Part, filled: Any) -> None:
    if isinstance(part, ImagePromptTemplate):
        content.append({"type": "image_url", "image_url": filled})
    elif isinstance(part, DictPromptTemplate):
        content.append(filled)
    elif filled != "":
        content.append({"type": "text", "text": filled})


def _check_parts(prompt: Any) -> None:
    for part in cast("list[Any]", prompt) if isinstance(prompt, list) else [prompt]:
        if isinstance(part, (StringPromptTemplate, ImagePromptTemplate, DictPromptTemplate)):
            part.check_safe()


def _part(part: Any, template_format: PromptTemplateFormat) -> Part:
    """Return the template of one part of a list.

    Raises:
        ValueError: If it is none.
    """
    if isinstance(part, (StringPromptTemplate, ImagePromptTemplate, DictPromptTemplate)):
        return part
    if isinstance(part, str):
        return PromptTemplate.from_template(part, template_format=template_format)
    if not isinstance(part, Mapping):
        message = f"Invalid template: {part}"
        raise ValueError(message)
    block = dict(cast("Mapping[str, Any]", part))
    keys = set(block) - {"type"}
    if keys == {"text"} and block.get("type", "text") == "text":
        text = block["text"]
        if not isinstance(text, str):
            message = f"Invalid template: {part}"
            raise ValueError(message)
        return PromptTemplate.from_template(text, template_format=template_format)
    if keys == {"image_url"} and block.get("type", "image_url") == "image_url":
        return _image(block, template_format)
    if template_format == "jinja2":
        message = (
            "jinja2 is unsafe and is not supported for templates expressed as dicts. "
            "Please use 'f-string' or 'mustache' format."
        )
        raise ValueError(message)
    return DictPromptTemplate(template=block, template_format=template_format)


def _image(block: dict[str, Any], template_format: PromptTemplateFormat) -> ImagePromptTemplate:
    image = block["image_url"]
    if isinstance(image, str):
        names = get_template_variables(image, template_format)
        if len(names) > 1:
            message = (
                f"Only one format variable allowed per image template.\nGot: {names}\nFrom: {block}"
            )
            raise ValueError(message)
        fields: dict[str, Any] = {"url": image}
    elif isinstance(image, dict):
        fields = cast("dict[str, Any]", dict(image))
        texts = [
            fields[key] for key in ("url", "path", "detail") if isinstance(fields.get(key), str)
        ]
        found = (name for text in texts for name in get_template_variables(text, template_format))
        names = list(dict.fromkeys(found))
    else:
        message = f"Invalid image template: {block}"
        raise ValueError(message)
    return ImagePromptTemplate(
        input_variables=names, template=fields, template_format=template_format
    )
