"""Streams of a chat model: iterators that know the message so far.

`ChunkShaper` is the machine: it gives chunks their id and metadata, closes the stream with a last
chunk, and speaks output version 1. `MessageStream` and `AsyncMessageStream` are what users hold.
Both only loop.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Generator, Iterator
from types import TracebackType
from typing import Any, Self

from dragoman.errors import ModelError
from dragoman.messages import AIMessageChunk, BaseMessageChunk

__all__ = ["AsyncMessageStream", "ChunkShaper", "MessageStream"]

# How many chunks wait before they are added up: reading `.message` must not cost each token a sum.
WAITING = 256


class ChunkShaper:
    """Turns what a model's hook yields into the chunks users see.

    Args:
        run_id: The id of chunks that have none.
        is_v1: Whether content is a list of standard blocks.
        is_ours: Whether chunks are made for this stream alone, and may be changed.
    """

    __slots__ = ("block_index", "block_type", "is_ended", "is_ours", "is_v1", "last", "run_id")

    def __init__(self, run_id: str, *, is_v1: bool = False, is_ours: bool = False) -> None:
        self.run_id: str = run_id
        self.is_v1: bool = is_v1
        self.is_ours: bool = is_ours
        self.last: Any = None
        self.is_ended: bool = False
        self.block_index: int = -1
        self.block_type: str | None = None

    def feed(self, item: Any) -> AIMessageChunk:
        """Return the chunk for one item: a chunk of ours, or a user's `ChatGenerationChunk`."""
        if self.is_ours:
            chunk = item
        else:
            chunk, info = _parts(item)
            if info:
                metadata = {**info, **chunk.response_metadata}
                chunk = chunk.model_copy(update={"response_metadata": metadata})
            elif chunk.id is None or self.is_v1:
                # A user's hook may yield the same object again; its id must not be this run's.
                chunk = chunk.model_copy()
        if chunk.id is None:
            chunk.id = self.run_id
        if self.is_v1:
            self._use_blocks(chunk)
        if getattr(chunk, "chunk_position", None) == "last":
            self.is_ended = True
        self.last = chunk
        return chunk

    def close(self) -> AIMessageChunk | None:
        """Return the chunk that marks the end, unless one did.

        Raises:
            ValueError: If there was no chunk at all.
        """
        if self.last is None:
            raise ValueError("No generation chunks were returned")
        if self.is_ended:
            return None
        empty: Any = "" if isinstance(self.last.content, str) else []
        return AIMessageChunk(content=empty, chunk_position="last", id=self.run_id)

    def _use_blocks(self, chunk: AIMessageChunk) -> None:
        """Put standard blocks into `content`; the index grows whenever the type changes."""
        blocks: list[Any] = []
        for block in chunk.content_blocks:
            if block["type"] != self.block_type:
                self.block_type = block["type"]
                self.block_index += 1
            blocks.append(block if "index" in block else {**block, "index": self.block_index})
        chunk.content = blocks
        chunk.response_metadata = {**chunk.response_metadata, "output_version": "v1"}


def _parts(item: Any) -> tuple[Any, Any]:
    """Return the chunk and the info of what a user's hook yielded.

    Raises:
        TypeError: If it is no chunk of any kind.
    """
    try:
        return item.message, item.generation_info
    except AttributeError:
        if isinstance(item, BaseMessageChunk):
            return item, None
        message = f"A stream must yield ChatGenerationChunks, got `{type(item).__name__}`"
        raise TypeError(message) from None


class _Sum:
    """The chunks of a stream, added up when asked."""

    __slots__ = ("is_over", "total", "waiting")

    def __init__(self) -> None:
        self.total: Any = None
        self.waiting: list[Any] = []
        self.is_over = False

    def add(self, chunk: Any) -> None:
        self.waiting.append(chunk)
        if len(self.waiting) >= WAITING:
            self.read()

    def read(self) -> Any:
        if self.waiting:
            first, *rest = self.waiting if self.total is None else (self.total, *self.waiting)
            self.total = first + rest if rest else first
            self.waiting = []
        total = self.total
        if self.is_over and isinstance(total, AIMessageChunk) and total.chunk_position is None:
            # However the stream ended, arguments cut off in the middle are no valid call.
            empty: Any = "" if isinstance(total.content, str) else []
            total = self.total = total + AIMessageChunk(content=empty, chunk_position="last")
        return total

    def fail(self, error: BaseException) -> None:
        self.is_over = True
        if isinstance(error, ModelError) and error.partial is None:
            error.partial = self.read()


class MessageStream(Iterator[AIMessageChunk]):
    """A reply that is arriving: yields its chunks, and knows their sum.

    Close it, or leave its `with` block, to give the connection back before the end; dropping it
    does the same. An error keeps its class; a `ModelError` carries what arrived in `.partial`.

    >>> from dragoman.language_models import FakeListChatModel
    >>> with FakeListChatModel(responses=["Hi!"]).stream("Hello") as stream:
    ...     print(next(stream).content, stream.message.content)
    H H
    """

    __slots__ = ("_source", "_sum")

    def __init__(self, source: Generator[AIMessageChunk, None, None]) -> None:
        self._source = source
        self._sum = _Sum()

    @property
    def message(self) -> AIMessageChunk:
        """The sum of the chunks so far; an empty chunk before the first."""
        total = self._sum.read()
        return AIMessageChunk(content="") if total is None else total

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> AIMessageChunk:
        try:
            chunk = next(self._source)
        except BaseException as error:
            self._sum.fail(error)
            raise
        self._sum.add(chunk)
        return chunk

    def close(self) -> None:
        """End the stream; its connection is free again when this returns."""
        self._sum.is_over = True
        self._source.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


class AsyncMessageStream(AsyncIterator[AIMessageChunk]):
    """The same as `MessageStream`, for `async for` and `async with`."""

    __slots__ = ("_source", "_sum")

    def __init__(self, source: AsyncGenerator[AIMessageChunk, None]) -> None:
        self._source = source
        self._sum = _Sum()

    @property
    def message(self) -> AIMessageChunk:
        """The sum of the chunks so far; an empty chunk before the first."""
        total = self._sum.read()
        return AIMessageChunk(content="") if total is None else total

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> AIMessageChunk:
        try:
            chunk = await anext(self._source)
        except BaseException as error:
            self._sum.fail(error)
            raise
        self._sum.add(chunk)
        return chunk

    async def aclose(self) -> None:
        """End the stream; its connection is free again when this returns."""
        self._sum.is_over = True
        await self._source.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.aclose()
