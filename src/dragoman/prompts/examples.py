"""Where the examples of a few-shot prompt come from: a list, or a selector; exactly one of them."""

from typing import Any

from pydantic import BaseModel, model_validator

from dragoman.example_selectors.base import BaseExampleSelector

__all__ = ["ExampleSource"]


class ExampleSource(BaseModel):
    """The fields `examples` and `example_selector`, and the examples for given variables."""

    examples: list[dict[str, Any]] | None = None
    example_selector: Any = None

    @model_validator(mode="before")
    @classmethod
    def check_examples_and_selector(cls, values: Any) -> Any:
        """Refuse both sources, and none."""
        if not isinstance(values, dict):
            return values
        examples = values.get("examples")
        selector = values.get("example_selector")
        if examples and selector:
            message = "Only one of 'examples' and 'example_selector' should be provided"
            raise ValueError(message)
        if examples is None and selector is None:
            message = "One of 'examples' and 'example_selector' should be provided"
            raise ValueError(message)
        if selector is not None and not isinstance(selector, BaseExampleSelector):
            message = f"'example_selector' is no BaseExampleSelector: {type(selector).__name__}"
            raise ValueError(message)
        return values

    def _get_examples(self, values: dict[str, Any]) -> list[dict[str, Any]]:
        if self.example_selector is not None:
            return self.example_selector.select_examples(values)
        return self.examples or []

    async def _aget_examples(self, values: dict[str, Any]) -> list[dict[str, Any]]:
        if self.example_selector is not None:
            return await self.example_selector.aselect_examples(values)
        return self.examples or []


def only_named(example: dict[str, Any], names: list[str]) -> dict[str, Any]:
    """Return the entries of an example that its prompt asks for.

    >>> only_named({"q": 1, "note": 2}, ["q"])
    {'q': 1}
    """
    return {name: example[name] for name in names}
