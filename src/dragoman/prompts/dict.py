"""`DictPromptTemplate`: a block of any form, whose strings at any depth are templates."""

import warnings
from collections.abc import Iterator
from typing import Any, ClassVar, Literal, Self, cast

from pydantic import ConfigDict, model_validator

from dragoman.prompts.checked import Checked
from dragoman.prompts.string import get_template_variables, render_template
from dragoman.runnables.base import RunnableSerializable
from dragoman.runnables.config import RunnableConfig, ensure_config

__all__ = ["DictPromptTemplate"]


class DictPromptTemplate(Checked, RunnableSerializable[dict[str, Any], dict[str, Any]]):
    """A dict whose strings are templates; other values are kept as they are.

    >>> DictPromptTemplate(template={"a": ["{x}", 1]}, template_format="f-string").format(x="y")
    {'a': ['y', 1]}
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(protected_namespaces=())

    template: dict[str, Any]
    template_format: Literal["f-string", "mustache"]

    @model_validator(mode="after")
    def validate_template(self) -> Self:
        """Refuse strings that cannot be rendered safely."""
        self.check_safe()
        return self

    def check_safe(self) -> None:
        """Raise unless every string can be rendered safely.

        Raises:
            ValueError: Also for jinja2, which is not supported here.
        """
        if self.template_format not in ("f-string", "mustache"):
            message = "a dict template is in f-string or mustache format; jinja2 is not supported"
            raise ValueError(message)
        for text in _strings(self.template):
            get_template_variables(text, self.template_format)

    @property
    def input_variables(self) -> list[str]:
        """The names of the variables, in order of first use."""
        names = (
            name
            for text in _strings(self.template)
            for name in get_template_variables(text, self.template_format)
        )
        return list(dict.fromkeys(names))

    def format(self, **kwargs: Any) -> dict[str, Any]:
        """Return the filled dict."""
        return cast("dict[str, Any]", _fill(self.template, self.template_format, kwargs))

    async def aformat(self, **kwargs: Any) -> dict[str, Any]:
        """Return the filled dict."""
        return self.format(**kwargs)

    def invoke(
        self,
        input: dict[str, Any],
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> dict[str, Any]:
        """Return the filled dict for `input`."""
        return self._call_with_config(
            self._fill,
            input,
            ensure_config(config),
            run_type="prompt",
            serialized=None,
        )

    def _fill(self, values: dict[str, Any]) -> dict[str, Any]:
        return self.format(**values)

    @property
    def _prompt_type(self) -> str:
        return "dict-prompt"

    @classmethod
    def is_lc_serializable(cls) -> bool:
        """Return True."""
        return True

    @classmethod
    def get_lc_namespace(cls) -> list[str]:
        """Return LangChain's namespace of this class."""
        return ["langchain_core", "prompts", "dict"]

    def pretty_repr(self, *, html: bool = False) -> str:
        """Raise NotImplementedError: a block has no text form."""
        raise NotImplementedError


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, member in cast("dict[str, Any]", value).items():
            if key == "image_url" and isinstance(member, dict) and "path" in member:
                warnings.warn(
                    "Specifying image inputs via file path in environments with user-input paths "
                    "is a security vulnerability. Out of an abundance of caution, the utility has "
                    "been removed to prevent possible misuse.",
                    stacklevel=2,
                )
            yield from _strings(member)
    elif isinstance(value, (list, tuple)):
        for member in cast("list[Any]", value):
            yield from _strings(member)


def _fill(value: Any, template_format: str, values: dict[str, Any]) -> Any:
    if isinstance(value, str):
        return render_template(value, template_format, values)
    if isinstance(value, dict):
        members = cast("dict[str, Any]", value)
        return {key: _fill(member, template_format, values) for key, member in members.items()}
    if isinstance(value, (list, tuple)):
        filled = [_fill(member, template_format, values) for member in cast("list[Any]", value)]
        return filled if isinstance(value, list) else tuple(filled)
    return value
