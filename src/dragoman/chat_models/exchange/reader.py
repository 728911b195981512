"""The machine between the bytes of a streamed reply and its chunks: framing, then codec.

It also keeps the stream's clocks: what counts as life is an event that gave a chunk, so that
keep-alives do not hide a stall.
"""

import time
from typing import TYPE_CHECKING, Any

from dragoman.chat_models.exchange.faults import ModelStreamTimeoutError
from dragoman.errors import DecodeError, DragomanError, ModelStreamError

if TYPE_CHECKING:
    from dragoman.chat_models.framing import Framing
    from dragoman.codecs.contract import StreamDecoder
    from dragoman.messages import AIMessage, AIMessageChunk

__all__ = ["StreamReader", "shows"]


class StreamReader:
    """Bytes to chunks.

    Args:
        framing: What cuts the bytes into events.
        decoder: What turns events into chunks.
        provider: For error texts.
        idle_s: The longest time without a chunk, or None.

    Attributes:
        received: All chunks so far.
        fault: What to raise once the chunks of the last `feed` are delivered: an error that came
            behind them in the same read.
    """

    __slots__ = ("_decoder", "_framing", "_idle_s", "_last", "_provider", "fault", "received")

    def __init__(
        self, framing: "Framing", decoder: "StreamDecoder", *, provider: str, idle_s: float | None
    ) -> None:
        self._framing = framing
        self._decoder = decoder
        self._provider = provider
        self._idle_s = idle_s
        self._last = time.monotonic()
        self.fault: Exception | None = None
        self.received: list[AIMessageChunk] = []

    @property
    def is_done(self) -> bool:
        """Whether the stream said that it is complete."""
        return bool(getattr(self._decoder, "done", False))

    def feed(self, data: bytes) -> "list[AIMessageChunk]":
        """Return the chunks that `data` completes.

        Raises:
            ModelError: If an event tells of an error, or nothing but keep-alives came for too long.
            DecodeError: If an event cannot be read.
        """
        out: list[AIMessageChunk] = []
        try:
            for name, payload in self._framing.feed(data):
                try:
                    out += self._decoder.feed(name, payload)
                except DecodeError:
                    out += self._decode_badly(name, payload)
        except DragomanError as error:
            if not out:
                raise
            self.fault = error
        if out:
            self._last = time.monotonic()
            self.received += out
        elif self._idle_s is not None and not self.is_done:
            self._check_idle(self._idle_s)
        return out

    def close(self) -> "list[AIMessageChunk]":
        """Return the last chunks.

        Raises:
            ModelStreamError: If the stream ended without saying that it is complete.
        """
        out: list[AIMessageChunk] = []
        try:
            for name, payload in self._framing.close():
                out += self._decoder.feed(name, payload)
        except DecodeError as error:
            if not self.is_done:
                text = f"the stream was cut in the middle of an event: {error.message}"
                raise ModelStreamError(text, provider=self._provider) from error
        if not self.is_done:
            self.received += out
            text = "the stream ended before the reply was complete"
            raise ModelStreamError(text, provider=self._provider)
        out += self._decoder.close()
        self.received += out
        return out

    def partial(self) -> "AIMessage | None":
        """Return the message received so far, or None; a call cut off is an invalid one."""
        from dragoman.messages import message_chunk_to_message

        if not any(map(shows, self.received)):
            return None
        first, *rest = self.received
        total: Any = first + rest if rest else first
        whole: Any = message_chunk_to_message(total)
        return whole

    def _check_idle(self, most_s: float) -> None:
        if time.monotonic() - self._last > most_s:
            text = f"the stream sent nothing but keep-alives for {most_s:g} s"
            raise ModelStreamTimeoutError(text, provider=self._provider)

    def _decode_badly(self, name: str | None, payload: bytes) -> "list[AIMessageChunk]":
        """Return the chunks of an event that is no UTF-8: with U+FFFD, as event streams are read."""
        text = payload.decode("utf-8", "replace")
        if "\ufffd" not in text:
            return self._decoder.feed(name, payload)  # raises what it raised before
        return self._decoder.feed(name, text)


def shows(chunk: "AIMessageChunk") -> bool:
    """Return whether a consumer would see anything of `chunk`."""
    return bool(
        chunk.content
        or chunk.tool_call_chunks
        or chunk.additional_kwargs
        or chunk.chunk_position == "last"
    )
