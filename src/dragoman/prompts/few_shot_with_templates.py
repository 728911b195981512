"""`FewShotPromptWithTemplates`: a few-shot prompt whose prefix and suffix are prompts themselves."""

from pathlib import Path
from typing import Any, ClassVar, Self

from pydantic import ConfigDict, SerializeAsAny, model_validator

from dragoman.prompts.examples import ExampleSource, only_named
from dragoman.prompts.prompt import PromptTemplate
from dragoman.prompts.string import PromptTemplateFormat, StringPromptTemplate

__all__ = ["FewShotPromptWithTemplates"]


class FewShotPromptWithTemplates(ExampleSource, StringPromptTemplate):
    """A string prompt with examples between two prompts; examples are put in as they are."""

    model_config: ClassVar[ConfigDict] = ConfigDict(
        arbitrary_types_allowed=True, extra="forbid", protected_namespaces=()
    )

    _waits: ClassVar[bool] = True  # a selector may ask a store

    example_prompt: PromptTemplate
    suffix: SerializeAsAny[StringPromptTemplate]
    example_separator: str = "\n\n"
    prefix: SerializeAsAny[StringPromptTemplate] | None = None
    template_format: PromptTemplateFormat = "f-string"
    validate_template: bool = False

    def __init__(self, **kwargs: Any) -> None:
        """Build from keywords; the input variables are found in prefix and suffix."""
        kwargs.setdefault("input_variables", [])
        super().__init__(**kwargs)

    @model_validator(mode="after")
    def template_is_valid(self) -> Self:
        """Compute the input variables from prefix and suffix, or compare them if asked to."""
        names = set(self.suffix.input_variables)
        if self.prefix is not None:
            names |= set(self.prefix.input_variables)
        if self.validate_template:
            expected = names - set(self.partial_variables)
            if expected != set(self.input_variables):
                message = (
                    f"Got input_variables={self.input_variables}, but based on prefix/suffix "
                    f"expected {expected}"
                )
                raise ValueError(message)
        self.input_variables: list[str] = sorted(names - set(self.partial_variables))
        return self

    @classmethod
    def get_lc_namespace(cls) -> list[str]:
        """Return LangChain's namespace of this class."""
        return ["langchain", "prompts", "few_shot_with_templates"]

    def check_safe(self) -> None:
        """Raise unless every template inside can be rendered safely."""
        for prompt in (self.prefix, self.suffix, self.example_prompt):
            if prompt is not None:
                prompt.check_safe()

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
        around = [
            prompt.format(**{name: values[name] for name in prompt.input_variables})
            if prompt is not None
            else ""
            for prompt in (self.prefix, self.suffix)
        ]
        texts = (around[0], *examples, around[1])
        return self.example_separator.join(text for text in texts if text)

    @property
    def _prompt_type(self) -> str:
        return "few_shot_with_templates"

    def save(self, file_path: Path | str) -> None:
        """Write the prompt to a file.

        Raises:
            ValueError: If the examples come from a selector.
        """
        if self.example_selector:
            message = "Saving an example selector is not currently supported"
            raise ValueError(message)
        super().save(file_path)
