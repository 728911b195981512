"""`PromptTemplate`: one string with variables."""

from pathlib import Path
from typing import Any, cast

from pydantic import model_validator

from dragoman.prompts.string import (
    PromptTemplateFormat,
    StringPromptTemplate,
    check_valid_template,
    get_template_variables,
    mustache_schema,
    render_template,
)
from dragoman.runnables.config import RunnableConfig

__all__ = ["PromptTemplate"]


class PromptTemplate(StringPromptTemplate):
    """A string template; its input variables are what the text names, minus the partial ones.

    >>> PromptTemplate.from_template("Translate to {language}: {text}").input_variables
    ['language', 'text']
    """

    template: str
    template_format: PromptTemplateFormat = "f-string"
    validate_template: bool = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Build from keywords; a template that cannot be rendered safely is refused here."""
        template = kwargs.get("template")
        if isinstance(template, str):
            get_template_variables(template, kwargs.get("template_format", "f-string"))
        super().__init__(*args, **kwargs)

    @property
    def lc_attributes(self) -> dict[str, Any]:
        """The format is always stored: a loader must not guess it."""
        return {"template_format": self.template_format}

    @classmethod
    def get_lc_namespace(cls) -> list[str]:
        """Return LangChain's namespace of this class."""
        return ["langchain", "prompts", "prompt"]

    @model_validator(mode="before")
    @classmethod
    def pre_init_validation(cls, values: Any) -> Any:
        """Compute the input variables from the template, and compare them if asked to."""
        if not isinstance(values, dict) or not isinstance(values.get("template"), str):
            return cast("Any", values)  # pydantic says what is missing
        values = dict(values)
        template_format = values.setdefault("template_format", "f-string")
        partials = values.get("partial_variables") or {}
        values["partial_variables"] = partials
        variables = get_template_variables(values["template"], template_format)
        if values.get("validate_template"):
            if template_format == "mustache":
                message = "Mustache templates cannot be validated."
                raise ValueError(message)
            if "input_variables" not in values:
                message = "Input variables must be provided to validate the template."
                raise ValueError(message)
            given = [*values["input_variables"], *partials]
            check_valid_template(values["template"], template_format, given)
        values["input_variables"] = [name for name in variables if name not in partials]
        return values

    def check_safe(self) -> None:
        """Raise unless the template can be rendered safely."""
        get_template_variables(self.template, self.template_format)

    def get_input_schema(self, config: RunnableConfig | None = None) -> type[Any]:
        """Return a model of the variables; for mustache, of the data the template reads."""
        if self.template_format != "mustache":
            return super().get_input_schema(config)
        return mustache_schema(self.template)

    def __add__(self, other: object) -> "PromptTemplate":
        """Return a prompt with the text of `other` (a prompt, or a string in this format) behind.

        Raises:
            ValueError: If the formats differ, or both fill the same variable.
            NotImplementedError: If `other` is neither.
        """
        if isinstance(other, str):
            other = PromptTemplate.from_template(other, template_format=self.template_format)
        if not isinstance(other, PromptTemplate):
            message = f"Unsupported operand type for +: {type(other)}"
            raise NotImplementedError(message)
        if self.template_format != other.template_format:
            message = "Cannot add templates of different formats"
            raise ValueError(message)
        partials = dict(self.partial_variables)
        for name, value in other.partial_variables.items():
            if name in partials:
                message = f"Cannot have same variable partialed twice: {name}"
                raise ValueError(message)
            partials[name] = value
        template = self.template + other.template
        names = get_template_variables(template, self.template_format)
        return PromptTemplate(
            template=template,
            input_variables=[name for name in names if name not in partials],
            partial_variables=partials,
            template_format=self.template_format,
            validate_template=self.validate_template and other.validate_template,
        )

    @property
    def _prompt_type(self) -> str:
        return "prompt"

    def format(self, **kwargs: Any) -> str:
        """Return the filled template.

        Raises:
            KeyError: If a variable of an f-string is missing.
        """
        values = self._merge_partial_and_user_variables(**kwargs)
        return render_template(self.template, self.template_format, values)

    @classmethod
    def from_examples(
        cls,
        examples: list[str],
        suffix: str,
        input_variables: list[str],
        example_separator: str = "\n\n",
        prefix: str = "",
        **kwargs: Any,
    ) -> "PromptTemplate":
        """Return a prompt of `prefix`, the examples and `suffix`, joined by the separator."""
        template = example_separator.join([prefix, *examples, suffix])
        return cls(input_variables=input_variables, template=template, **kwargs)

    @classmethod
    def from_file(
        cls, template_file: str | Path, encoding: str | None = None, **kwargs: Any
    ) -> "PromptTemplate":
        """Return a prompt whose template is the text of a file."""
        template = Path(template_file).read_text(encoding=encoding)
        return cls.from_template(template=template, **kwargs)

    @classmethod
    def from_template(
        cls,
        template: str,
        *,
        template_format: PromptTemplateFormat = "f-string",
        partial_variables: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> "PromptTemplate":
        """Return a prompt for `template`.

        Raises:
            ValueError: If the format is unknown, or the template cannot be rendered safely.

        >>> PromptTemplate.from_template("{a} + {b}", partial_variables={"b": 2}).format(a=1)
        '1 + 2'
        """
        partials = partial_variables or {}
        names = get_template_variables(template, template_format)
        return cls(
            input_variables=[name for name in names if name not in partials],
            template=template,
            template_format=template_format,
            partial_variables=partials,
            **kwargs,
        )
