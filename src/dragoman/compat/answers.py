"""The step behind a wrapped model that was asked for objects: our reader as a LangChain runnable."""

from collections.abc import AsyncIterator, Iterator
from typing import Any

from langchain_core.runnables import Runnable, RunnableConfig
from typing_extensions import override

from dragoman.compat.faults import fault_out, faults_out
from dragoman.compat.marks import carried
from dragoman.language_models.structured import ReadAnswer

__all__ = ["AnswerThere"]


class AnswerThere(Runnable[Any, Any]):
    """Reads the answer out of a LangChain message.

    Args:
        reader: What reads it out of ours.
    """

    def __init__(self, reader: ReadAnswer) -> None:
        self.reader = reader

    def _read(self, reply: Any) -> Any:
        with faults_out():
            return _shown(self.reader.invoke(carried(reply, "inward")))

    @override
    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Return the answer in the message `input`.

        Raises:
            ModelRefusalError: If the model declined; LangChain's class.
            OutputParserException: If there is no answer, or a wrong one; LangChain's class.
        """
        return self._call_with_config(self._read, input, config, run_type="parser")

    @override
    def transform(
        self, input: Iterator[Any], config: RunnableConfig | None = None, **kwargs: Any
    ) -> Iterator[Any]:
        """Yield the answer as it grows."""
        yield from self._transform_stream_with_config(
            input, self._pieces, config, run_type="parser"
        )

    @override
    async def atransform(
        self, input: AsyncIterator[Any], config: RunnableConfig | None = None, **kwargs: Any
    ) -> AsyncIterator[Any]:
        """Yield the answer as it grows."""
        async for piece in self._atransform_stream_with_config(
            input, self._apieces, config, run_type="parser"
        ):
            yield piece

    def _pieces(self, chunks: Iterator[Any]) -> Iterator[Any]:
        with faults_out():
            for piece in self.reader.transform(carried(chunk, "inward") for chunk in chunks):
                yield _shown(piece)

    async def _apieces(self, chunks: AsyncIterator[Any]) -> AsyncIterator[Any]:
        async def inner() -> AsyncIterator[Any]:
            async for chunk in chunks:
                yield carried(chunk, "inward")

        with faults_out():
            async for piece in self.reader.atransform(inner()):
                yield _shown(piece)


def _shown(answer: Any) -> Any:
    """Return an answer with LangChain's message and error where it holds the raw reply."""
    if answer.__class__ is dict and "parsing_error" in answer:
        error = answer["parsing_error"]
        answer = {**answer, "parsing_error": None if error is None else fault_out(error)}
    return carried(answer, "outward")
