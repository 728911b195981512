"""What an example selector must do."""

import asyncio
from abc import ABC, abstractmethod
from typing import Any

__all__ = ["BaseExampleSelector"]


class BaseExampleSelector(ABC):
    """Chooses examples for an input; the async methods run the others in a thread."""

    @abstractmethod
    def add_example(self, example: dict[str, str]) -> Any:
        """Add an example to those that may be chosen."""

    async def aadd_example(self, example: dict[str, str]) -> Any:
        """Add an example to those that may be chosen."""
        return await asyncio.to_thread(self.add_example, example)

    @abstractmethod
    def select_examples(self, input_variables: dict[str, str]) -> list[dict[str, str]]:
        """Return the examples for this input, in order."""

    async def aselect_examples(self, input_variables: dict[str, str]) -> list[dict[str, str]]:
        """Return the examples for this input, in order."""
        return await asyncio.to_thread(self.select_examples, input_variables)
