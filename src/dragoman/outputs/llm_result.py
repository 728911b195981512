"""`LLMResult`: what `generate` returns for several inputs."""

from collections.abc import Sequence
from typing import Any, ClassVar

from dragoman.outputs.face import OutputModel
from dragoman.outputs.generation import Generation
from dragoman.outputs.run_info import RunInfo

__all__ = ["LLMResult"]


class LLMResult(OutputModel):
    """Candidates for each input, in the order of the inputs.

    Attributes:
        generations: One list of candidates an input.
        llm_output: What the provider says about the calls, combined, or None.
        run: One `RunInfo` an input, or None; not compared by `==`.
    """

    generations: Sequence[Sequence[Generation]]
    llm_output: dict[str, Any] | None = None
    run: list[RunInfo] | None = None
    type: str = "LLMResult"

    def flatten(self) -> "list[LLMResult]":
        """Return one result an input.

        Token usage stays on the first only, so that summing over all counts it once.
        """
        results: list[LLMResult] = []
        for index, candidates in enumerate(self.generations):
            output = self.llm_output
            if index and output is not None:
                output = {**output, "token_usage": {}}
            results.append(LLMResult(generations=[candidates], llm_output=output))
        return results

    __hash__: ClassVar[None] = None

    def __eq__(self, other: object) -> bool:
        """Return whether generations and llm_output are equal."""
        if not isinstance(other, LLMResult):
            return NotImplemented
        return self.generations == other.generations and self.llm_output == other.llm_output
