"""Text models that answer from a list, for tests and examples."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any

from dragoman.language_models.llms import LLM
from dragoman.outputs import GenerationChunk

__all__ = ["FakeListLLM", "FakeListLLMError", "FakeStreamingListLLM"]


class FakeListLLM(LLM):
    """Answers with its texts in turn, and starts again after the last.

    Attributes:
        responses: The texts.
        sleep: Seconds to wait before each answer (streaming: before each character).
        i: The index of the next answer.

    >>> FakeListLLM(responses=["a", "b"]).batch(["x", "y", "z"])
    ['a', 'b', 'a']
    """

    responses: list[str]
    sleep: float | None = None
    i: int = 0

    def _next(self) -> str:
        response = self.responses[self.i]
        self.i = self.i + 1 if self.i < len(self.responses) - 1 else 0
        return response

    def _call(
        self,
        prompt: str,
        stop: list[str] | None = None,
        run_manager: Any = None,
        **kwargs: Any,
    ) -> str:
        if self.sleep is not None:
            time.sleep(self.sleep)
        return self._next()

    async def _acall(
        self,
        prompt: str,
        stop: list[str] | None = None,
        run_manager: Any = None,
        **kwargs: Any,
    ) -> str:
        if type(self)._call is not FakeListLLM._call:
            return await super()._acall(prompt, stop, run_manager, **kwargs)
        if self.sleep is not None:
            await asyncio.sleep(self.sleep)
        return self._next()

    @property
    def _llm_type(self) -> str:
        return "fake-list"

    @property
    def _identifying_params(self) -> Mapping[str, Any]:
        return {"responses": self.responses}


class FakeListLLMError(Exception):
    """What `FakeStreamingListLLM` raises at `error_on_chunk_number`."""


class FakeStreamingListLLM(FakeListLLM):
    """Streams its texts one character a piece.

    Attributes:
        error_on_chunk_number: The piece in whose place a stream raises.
    """

    error_on_chunk_number: int | None = None

    def _pieces(self) -> Iterator[GenerationChunk]:
        for number, character in enumerate(self._next()):
            if number == self.error_on_chunk_number:
                raise FakeListLLMError
            yield GenerationChunk(text=character)

    def _stream(
        self,
        prompt: str,
        stop: list[str] | None = None,
        run_manager: Any = None,
        **kwargs: Any,
    ) -> Iterator[GenerationChunk]:
        for piece in self._pieces():
            if self.sleep is not None:
                time.sleep(self.sleep)
            yield piece

    async def _astream(
        self,
        prompt: str,
        stop: list[str] | None = None,
        run_manager: Any = None,
        **kwargs: Any,
    ) -> AsyncIterator[GenerationChunk]:
        for piece in self._pieces():
            if self.sleep is not None:
                await asyncio.sleep(self.sleep)
            yield piece
