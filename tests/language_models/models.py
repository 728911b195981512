"""Chat models that the tests of this folder share."""

from collections.abc import Iterator
from typing import Any

from dragoman.language_models import BaseChatModel
from dragoman.language_models.binding import ToolBinding
from dragoman.messages import AIMessage, AIMessageChunk, BaseMessage
from dragoman.outputs import ChatGeneration, ChatGenerationChunk, ChatResult


class Whole(BaseChatModel):
    """Answers with `reply` at once; keeps what it was called with."""

    reply: Any = "whole"
    seen: list[Any] = []

    @property
    def _llm_type(self) -> str:
        return "whole"

    def _generate(self, messages, stop=None, run_manager=None, **kwargs) -> ChatResult:
        self.seen.append((messages, stop, kwargs))
        reply = AIMessage(self.reply) if isinstance(self.reply, str) else self.reply
        return ChatResult(generations=[ChatGeneration(message=reply)])


class Streaming(Whole):
    """Streams `pieces`; says so in its text."""

    pieces: list[Any] = ["a", "b"]
    opened: list[str] = []
    closed: list[str] = []

    def _stream(
        self, messages: list[BaseMessage], stop=None, run_manager=None, **kwargs
    ) -> Iterator[ChatGenerationChunk]:
        self.opened.append("sync")
        try:
            for piece in self.pieces:
                if isinstance(piece, BaseException):
                    raise piece
                chunk = AIMessageChunk(piece) if isinstance(piece, str) else piece
                yield ChatGenerationChunk(message=chunk)
        finally:
            self.closed.append("sync")


class AsyncStreaming(Streaming):
    """The same with its own async stream."""

    async def _astream(self, messages, stop=None, run_manager=None, **kwargs):
        self.opened.append("async")
        try:
            for piece in self.pieces:
                if isinstance(piece, BaseException):
                    raise piece
                chunk = AIMessageChunk(piece) if isinstance(piece, str) else piece
                yield ChatGenerationChunk(message=chunk)
        finally:
            self.closed.append("async")


class Tooled(ToolBinding, Whole):
    """Takes tools and answers with `reply`."""


class TooledStreaming(ToolBinding, Streaming):
    """Takes tools and streams."""
