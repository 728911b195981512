"""Parsers that stream.

`BaseTransformOutputParser` parses each chunk alone; `BaseCumulativeTransformOutputParser` parses
all that has arrived, and yields when that changes. What a stream needs to remember stands in a
machine with `feed` and `close`; the sync and the async loop only drive it.
"""

from collections.abc import AsyncIterator, Iterator
from typing import Any, Protocol, TypeVar, cast

from dragoman.errors import ModelRefusalError
from dragoman.messages.base import BaseMessage, BaseMessageChunk
from dragoman.messages.registry import CHUNK_PARENT
from dragoman.output_parsers._refusal import refusal_of
from dragoman.output_parsers.base import BaseOutputParser, generation_of
from dragoman.runnables.config import RunnableConfig

__all__ = ["BaseCumulativeTransformOutputParser", "BaseTransformOutputParser"]

T = TypeVar("T")


class Machine(Protocol):
    """What a stream needs to remember."""

    def feed(self, chunk: Any) -> Iterator[Any]:
        """Yield what is known now."""
        ...

    def close(self) -> Iterator[Any]:
        """Yield what was held back."""
        ...


def drive(machine: Machine, chunks: Iterator[Any]) -> Iterator[Any]:
    """Yield what a machine makes of a stream."""
    for chunk in chunks:
        yield from machine.feed(chunk)
    yield from machine.close()


async def adrive(machine: Machine, chunks: AsyncIterator[Any]) -> AsyncIterator[Any]:
    """Yield what a machine makes of a stream."""
    async for chunk in chunks:
        for value in machine.feed(chunk):
            yield value
    for value in machine.close():
        yield value


class BaseTransformOutputParser(BaseOutputParser[T]):
    """A parser that streams; each chunk is parsed alone."""

    def _transform(self, input: Iterator[str | BaseMessage]) -> Iterator[T]:
        for chunk in input:
            yield self.parse_result([generation_of(chunk)])

    async def _atransform(self, input: AsyncIterator[str | BaseMessage]) -> AsyncIterator[T]:
        async for chunk in input:
            yield await self.aparse_result([generation_of(chunk)])

    def transform(
        self,
        input: Iterator[str | BaseMessage],
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> Iterator[T]:
        """Yield values as chunks arrive."""
        yield from self._transform_stream_with_config(
            input, self._transform, config, run_type="parser"
        )

    async def atransform(
        self,
        input: AsyncIterator[str | BaseMessage],
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[T]:
        """Yield values as chunks arrive."""
        async for value in self._atransform_stream_with_config(
            input, self._atransform, config, run_type="parser"
        ):
            yield value


class BaseCumulativeTransformOutputParser(BaseTransformOutputParser[T]):
    """A parser that streams; all that has arrived is parsed, and yielded when it changes.

    Attributes:
        diff: Whether to yield JSON patches from one value to the next.
    """

    diff: bool = False

    def _diff(self, prev: T | None, next: T) -> T:
        """Return what leads from one value to the next."""
        raise NotImplementedError

    def _transform(self, input: Iterator[str | BaseMessage]) -> Iterator[Any]:
        return drive(_Growing(self), input)

    def _atransform(self, input: AsyncIterator[str | BaseMessage]) -> AsyncIterator[Any]:
        return adrive(_Growing(self), input)


class _Growing:
    """All that has arrived, and the value last yielded."""

    def __init__(self, parser: BaseCumulativeTransformOutputParser[Any]) -> None:
        self.parser = parser
        self.arrived: Any = None
        self.last: Any = None

    def feed(self, chunk: Any) -> Iterator[Any]:
        self.arrived = chunk if self.arrived is None else _joined(self.arrived, chunk)
        try:
            value = self.parser.parse_result([generation_of(self.arrived)], partial=True)
        except ModelRefusalError:
            return  # raised by `close`, when its text is complete
        if value is None or value == self.last:
            return
        yield self.parser._diff(self.last, value) if self.parser.diff else value
        self.last = value

    def close(self) -> Iterator[Any]:
        if isinstance(self.arrived, BaseMessage) and (block := refusal_of(self.arrived)):
            raise ModelRefusalError.from_refusal(block, raw_message=self.arrived)
        yield from ()


_CHUNK_CLASS = {parent: chunk for chunk, parent in CHUNK_PARENT.items()}


def _as_chunk(value: Any) -> Any:
    """Return a whole message as one chunk."""
    if not isinstance(value, BaseMessage) or isinstance(value, BaseMessageChunk):
        return value
    cls = cast("Any", _CHUNK_CLASS[type(value)])
    return cls(**{key: item for key, item in value.model_dump().items() if key != "type"})


def _joined(left: Any, right: Any) -> Any:
    """Return two pieces of a stream as one; a string and a message meet as text."""
    if isinstance(left, str) and isinstance(right, BaseMessage):
        return left + right.text
    if isinstance(right, str) and isinstance(left, BaseMessage):
        return left.text + right
    return _as_chunk(left) + _as_chunk(right)
