"""`ChatResult`: what `_generate` of a chat model returns."""

from collections.abc import Sequence
from typing import Any

from dragoman.errors import MessageError
from dragoman.outputs.chat_generation import ChatGeneration
from dragoman.outputs.face import OutputModel

__all__ = ["ChatResult"]


class ChatResult(OutputModel):
    """The candidates for one input.

    Attributes:
        generations: The candidates, at least one.
        llm_output: What the provider says about the whole call, or None.
    """

    generations: list[ChatGeneration]
    llm_output: dict[str, Any] | None = None

    def __post_init__(self) -> None:
        if self.generations.__class__ is not list and not isinstance(self.generations, Sequence):
            message = (
                f"ChatResult: `generations` must be a list, got `{type(self.generations).__name__}`"
            )
            raise MessageError(message)
        for index, item in enumerate(self.generations):
            if not isinstance(item, ChatGeneration):
                message = f"Expected a `ChatGeneration`, got `{type(item).__name__}`"
                raise MessageError(message, path=f"$.generations[{index}]")
