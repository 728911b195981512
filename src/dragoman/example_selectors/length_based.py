"""`LengthBasedExampleSelector`: as many examples as there is room for."""

import re
from collections.abc import Callable
from typing import ClassVar, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from dragoman.example_selectors.base import BaseExampleSelector
from dragoman.prompts.prompt import PromptTemplate

__all__ = ["LengthBasedExampleSelector"]


def _count_words(text: str) -> int:
    return len(re.split(r"\n| ", text))


class LengthBasedExampleSelector(BaseExampleSelector, BaseModel):
    """Takes examples in order while they fit beside the input.

    Attributes:
        examples: The examples.
        example_prompt: The template an example's length is measured with.
        get_text_length: Measures a text; counts words by default.
        max_length: Room for input and examples, in the same units.
        example_text_lengths: The length of each example, measured once.

    >>> prompt = PromptTemplate.from_template("{q}")
    >>> choose = LengthBasedExampleSelector(
    ...     examples=[{"q": "a b"}, {"q": "c"}], example_prompt=prompt, max_length=3
    ... )
    >>> choose.select_examples({"input": "x"})
    [{'q': 'a b'}]
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(arbitrary_types_allowed=True)

    examples: list[dict[str, str]]
    example_prompt: PromptTemplate
    get_text_length: Callable[[str], int] = _count_words
    max_length: int = 2048
    example_text_lengths: list[int] = Field(default_factory=list)

    @model_validator(mode="after")
    def _measure(self) -> Self:
        if not self.example_text_lengths:
            self.example_text_lengths = [self._length(example) for example in self.examples]
        return self

    def _length(self, example: dict[str, str]) -> int:
        return self.get_text_length(self.example_prompt.format(**example))

    def add_example(self, example: dict[str, str]) -> None:
        """Add an example at the end."""
        self.examples.append(example)
        self.example_text_lengths.append(self._length(example))

    async def aadd_example(self, example: dict[str, str]) -> None:
        """Add an example at the end."""
        self.add_example(example)

    def select_examples(self, input_variables: dict[str, str]) -> list[dict[str, str]]:
        """Return the first examples that fit into `max_length` minus the length of the input."""
        room = self.max_length - self.get_text_length(" ".join(input_variables.values()))
        chosen: list[dict[str, str]] = []
        for example, length in zip(self.examples, self.example_text_lengths, strict=False):
            if room <= 0 or room < length:
                break
            chosen.append(example)
            room -= length
        return chosen

    async def aselect_examples(self, input_variables: dict[str, str]) -> list[dict[str, str]]:
        """Return the first examples that fit, as `select_examples`."""
        return self.select_examples(input_variables)
