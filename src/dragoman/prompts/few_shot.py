"""Few-shot prompts: examples between a prefix and a suffix, as text or as messages.

An example is data: its text is put in as it is, and braces in it mean nothing (LangChain formats
it a second time).
"""

from pathlib import Path
from typing import Any, ClassVar, Literal, Self

from pydantic import ConfigDict, Field, SerializeAsAny, model_validator

from dragoman.messages.base import BaseMessage
from dragoman.prompts.chat import BaseChatPromptTemplate
from dragoman.prompts.examples import ExampleSource, only_named
from dragoman.prompts.message import BaseMessagePromptTemplate
from dragoman.prompts.prompt import PromptTemplate
from dragoman.prompts.string import (
    StringPromptTemplate,
    check_valid_template,
    get_template_variables,
    render_template,
)

__all__ = ["FewShotChatMessagePromptTemplate", "FewShotPromptTemplate"]


class FewShotPromptTemplate(ExampleSource, StringPromptTemplate):
    """A string prompt with examples.

    >>> prompt = FewShotPromptTemplate(
    ...     examples=[{"q": "1+1", "a": "2"}],
    ...     example_prompt=PromptTemplate.from_template("{q}={a}"),
    ...     suffix="{q}=",
    ...     example_separator="; ",
    ... )
    >>> prompt.format(q="2+2")
    '1+1=2; 2+2='
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(
        arbitrary_types_allowed=True, extra="forbid", protected_namespaces=()
    )

    _waits: ClassVar[bool] = True  # a selector may ask a store

    validate_template: bool = False
    example_prompt: PromptTemplate
    suffix: str
    example_separator: str = "\n\n"
    prefix: str = ""
    template_format: Literal["f-string", "jinja2"] = "f-string"

    def __init__(self, **kwargs: Any) -> None:
        """Build from keywords; templates that cannot be rendered safely are refused here."""
        template_format = kwargs.get("template_format", "f-string")
        if template_format in ("f-string", "jinja2"):
            for key in ("prefix", "suffix"):
                if isinstance(kwargs.get(key), str):
                    get_template_variables(kwargs[key], template_format)
        kwargs.setdefault("input_variables", [])
        super().__init__(**kwargs)

    @model_validator(mode="after")
    def template_is_valid(self) -> Self:
        """Compute the input variables from prefix and suffix, or compare them if asked to."""
        template = self.prefix + self.suffix
        if self.validate_template:
            check_valid_template(
                template, self.template_format, [*self.input_variables, *self.partial_variables]
            )
        self.input_variables: list[str] = [
            name
            for name in get_template_variables(template, self.template_format)
            if name not in self.partial_variables
        ]
        return self

    @classmethod
    def is_lc_serializable(cls) -> bool:
        """Return False: a selector cannot be stored."""
        return False

    def check_safe(self) -> None:
        """Raise unless every template inside can be rendered safely."""
        for template in (self.prefix, self.suffix):
            get_template_variables(template, self.template_format)
        self.example_prompt.check_safe()

    def format(self, **kwargs: Any) -> str:
        """Return prefix, examples and suffix, those that are not empty, with separators between."""
        values = self._merge_partial_and_user_variables(**kwargs)
        names = self.example_prompt.input_variables
        texts = [
            self.example_prompt.format(**only_named(example, names))
            for example in self._get_examples(values)
        ]
        return self._join(texts, values)

    async def aformat(self, **kwargs: Any) -> str:
        """Return the same text as `format`; a selector is awaited."""
        values = self._merge_partial_and_user_variables(**kwargs)
        names = self.example_prompt.input_variables
        texts = [
            await self.example_prompt.aformat(**only_named(example, names))
            for example in await self._aget_examples(values)
        ]
        return self._join(texts, values)

    def _join(self, examples: list[str], values: dict[str, Any]) -> str:
        prefix, suffix = (
            render_template(template, self.template_format, values) if template else ""
            for template in (self.prefix, self.suffix)
        )
        return self.example_separator.join(text for text in (prefix, *examples, suffix) if text)

    @property
    def _prompt_type(self) -> str:
        return "few_shot"

    def save(self, file_path: Path | str) -> None:
        """Write the prompt to a file.

        Raises:
            ValueError: If the examples come from a selector.
        """
        if self.example_selector:
            message = "Saving an example selector is not currently supported"
            raise ValueError(message)
        super().save(file_path)


class FewShotChatMessagePromptTemplate(ExampleSource, BaseChatPromptTemplate):
    r"""A chat prompt of examples; it usually stands inside another chat prompt.

    >>> from dragoman.prompts import ChatPromptTemplate
    >>> one = ChatPromptTemplate([("human", "{q}"), ("ai", "{a}")])
    >>> FewShotChatMessagePromptTemplate(
    ...     examples=[{"q": "1+1", "a": "2"}], example_prompt=one
    ... ).format()
    'Human: 1+1\nAI: 2'
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(
        arbitrary_types_allowed=True, extra="forbid", protected_namespaces=()
    )

    _waits: ClassVar[bool] = True  # a selector may ask a store

    input_variables: list[str] = Field(default_factory=list)
    example_prompt: SerializeAsAny[BaseMessagePromptTemplate | BaseChatPromptTemplate]

    @classmethod
    def is_lc_serializable(cls) -> bool:
        """Return False: a selector cannot be stored."""
        return False

    def check_safe(self) -> None:
        """Raise unless every template inside can be rendered safely."""
        self.example_prompt.check_safe()

    def format_messages(self, **kwargs: Any) -> list[BaseMessage]:
        """Return the messages of all examples."""
        names = self.example_prompt.input_variables
        values = self._merge_partial_and_user_variables(**kwargs)
        return [
            message
            for example in self._get_examples(values)
            for message in self.example_prompt.format_messages(**only_named(example, names))
        ]

    async def aformat_messages(self, **kwargs: Any) -> list[BaseMessage]:
        """Return the messages of all examples; a selector is awaited."""
        names = self.example_prompt.input_variables
        values = self._merge_partial_and_user_variables(**kwargs)
        return [
            message
            for example in await self._aget_examples(values)
            for message in await self.example_prompt.aformat_messages(**only_named(example, names))
        ]
