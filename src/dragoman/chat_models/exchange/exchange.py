"""Send a request, get messages: one body for sync and async.

`_begin` is the body behind the door: it sends, and returns with the first chunk that shows
something. Until then nothing was delivered, so that `_again` may call it once more. From there on
the two drivers `stream` and `astream` loop on their own, since passing each chunk through a door
would cost more than decoding it.

Whatever ends a stream (its end, a fault, `close`, an exception of the consumer, a cancelled task,
the garbage collector) goes through one `finally` that closes the reply.
"""

import uuid
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from typing import TYPE_CHECKING, Any

import msgspec

from dragoman._door import ASYNC, SYNC, Door, run
from dragoman.chat_models.exchange import faults
from dragoman.chat_models.exchange.body import read_json
from dragoman.chat_models.exchange.reader import StreamReader, shows
from dragoman.chat_models.exchange.retry import note_wait
from dragoman.chat_models.exchange.sending import HttpCall, Reply, Wire, read_next, send
from dragoman.chat_models.exchange.whole import as_chunk
from dragoman.chat_models.framing import FRAMINGS
from dragoman.errors import DecodeError, ModelError, ModelStatusError
from dragoman.messages import AIMessage

if TYPE_CHECKING:
    from dragoman.messages import AIMessageChunk

__all__ = ["Exchange"]

_GRACE_S = 5.0  # how long a stream that said it is complete may take to end
_EVENT_STARTS = (b"data:", b"event:", b":", b"id:", b"retry:", b"\xef\xbb\xbf")
_PAGES = frozenset({"text/html"})
# Content types under which something else than a stream comes, by framing.
_NOT_A_STREAM = {"sse": _PAGES | {"application/json", "application/problem+json"}}


class _Stream(msgspec.Struct):
    """A stream that has begun: what was received so far, and where the rest comes from."""

    reply: Reply
    reader: StreamReader
    chunks: list[Any]
    is_over: bool = False

    def take(self, data: bytes | None) -> "list[AIMessageChunk]":
        """Return the chunks of one read; None is the end of the bytes.

        Raises:
            DragomanError: As the reader says.
        """
        if data is not None:
            return self.reader.feed(data)
        self.is_over = True
        return self.reader.close()

    def check(self) -> None:
        """Raise an error that came behind the chunks given out; see to it that a finished reply ends."""
        if self.reader.fault is not None:
            raise self.reader.fault
        if self.reader.is_done and not self.is_over:
            self.reply.watchdog.arm(_GRACE_S)


class Exchange:
    """One model call.

    Args:
        wire: How to talk.
        prepare: Returns the request; asked anew before every attempt, so that tokens and addresses
            may change between attempts. It is a body: it awaits nothing but the door.
    """

    def __init__(self, wire: Wire, prepare: "Callable[[Door], Awaitable[HttpCall]]") -> None:
        self.wire = wire
        self._prepare = prepare
        self._idempotency_key = f"dragoman-{uuid.uuid4()}"

    def send(self) -> AIMessage:
        """Return the reply to a request that is not streamed."""
        return run(self._again(SYNC, self._read_whole))

    async def asend(self) -> AIMessage:
        """Return the reply to a request that is not streamed."""
        return await self._again(ASYNC, self._read_whole)

    def stream(self) -> "Generator[AIMessageChunk, None, None]":
        """Yield the chunks of a streamed reply; closing the generator closes the reply."""
        stream = run(self._again(SYNC, self._begin))
        reply, chunks = stream.reply, stream.chunks
        try:
            while True:
                yield from chunks
                stream.check()
                if stream.is_over:
                    break
                chunks = stream.take(next(reply.source, None))
        except Exception as error:  # noqa: BLE001 - `_ended` raises all but one kind again
            yield from self._ended(error, stream)
        finally:
            run(reply.close(SYNC))

    async def astream(self) -> "AsyncGenerator[AIMessageChunk, None]":
        """Yield the chunks of a streamed reply; closing the generator closes the reply."""
        stream = await self._again(ASYNC, self._begin)
        reply, chunks = stream.reply, stream.chunks
        try:
            while True:
                for chunk in chunks:
                    yield chunk
                stream.check()
                if stream.is_over:
                    break
                chunks = stream.take(await anext(reply.source, None))
        except GeneratorExit:
            reply.close_soon()
            raise
        except Exception as error:  # noqa: BLE001 - `_ended` raises all but one kind again
            for chunk in self._ended(error, stream):
                yield chunk
        finally:
            if not reply.is_closing:
                await reply.close(ASYNC)

    async def _again(self, door: Door, attempt: "Callable[[Door], Awaitable[Any]]") -> Any:
        """Return what `attempt` returns, tried again as the rules of `retry` say."""
        n = 0
        while True:
            try:
                return await attempt(door)
            except ModelError as error:
                wait_s = self.wire.retry.wait_s(n, error)
                if wait_s is None:
                    if isinstance(error, ModelStatusError) and error.is_retryable:
                        note_wait(error, self.wire.retry.cap_s)
                    raise
            await door.sleep(wait_s)
            n += 1

    async def _send(self, door: Door) -> Reply:
        return await send(door, self.wire, await self._prepare(door), self._idempotency_key)

    async def _read_whole(self, door: Door) -> AIMessage:
        reply = await self._send(door)
        try:
            body = await reply.read(door)
        except Exception as error:  # noqa: BLE001 - `fault` gives a bug back as it is
            fault = reply.fault(error, in_stream=False)
            raise fault from fault.__cause__
        return self._decode_whole(reply, body)

    async def _begin(self, door: Door) -> _Stream:
        """Return a stream once it has shown something, or is over."""
        reply = await self._send(door)
        timeouts = reply.call.timeouts or self.wire.timeouts
        reader = StreamReader(
            FRAMINGS[self.wire.framing](),
            self.wire.codec.stream_decoder(),
            provider=self.wire.provider,
            idle_s=timeouts.idle_s,
        )
        stream = _Stream(reply, reader, [])
        begun = False
        try:
            reply.open_source(door)
            first = b""
            if reply.content_type in _NOT_A_STREAM.get(self.wire.framing, _PAGES):
                first = await read_next(door, reply.source) or b""
            if first and not first.lstrip().startswith(
                _EVENT_STARTS
            ):  # a server that does not stream
                body = first + await reply.read_rest(door)
                stream.chunks = [as_chunk(self._decode_whole(reply, body))]
                stream.is_over = True
            else:
                await _read_first(door, stream, first)
            begun = True
        except Exception as error:  # noqa: BLE001 - `_fault` gives a bug back as it is
            fault = self._fault(error, stream)
            raise fault from fault.__cause__
        finally:
            if not begun:
                await reply.close(door)
        return stream

    def _decode_whole(self, reply: Reply, body: bytes) -> AIMessage:
        wire, secrets = self.wire, reply.call.secrets
        try:
            data = read_json(body)
        except DecodeError as error:
            fault = faults.wrong_type(reply.content_type, body, wire.provider, secrets)
            raise fault from error
        if _is_error(data):
            headers = reply.response.headers
            raise faults.reply_fault(
                wire.codec, 200, headers, body, provider=wire.provider, secrets=secrets
            )
        try:
            message = wire.codec.decode_response(data)
        except DecodeError as error:
            raise faults.unreadable(str(error), wire.provider, secrets) from error
        if _says_nothing(message):
            raise faults.unreadable("it holds no message", wire.provider, secrets)
        return message

    def _ended(self, error: Exception, stream: _Stream) -> "list[AIMessageChunk]":
        """Raise what broke the stream; return its last chunks if it was complete before that."""
        if stream.reader.is_done and faults.is_connection_fault(error):
            return stream.reader.close()
        fault = self._fault(error, stream)
        raise fault from fault.__cause__

    def _fault(self, error: Exception, stream: _Stream) -> Exception:
        """Return what to raise, with what is known about the call put in."""
        reply = stream.reply
        fault = reply.fault(error, in_stream=True)
        if isinstance(fault, ModelError):
            fault.provider = fault.provider or self.wire.provider
            fault.request_id = fault.request_id or faults.request_id_of(reply.response.headers)
            if fault.partial is None:
                fault.partial = stream.reader.partial()
            faults.mask(fault, reply.call.secrets)
        return fault


async def _read_first(door: Door, stream: _Stream, first: bytes) -> None:
    """Read until a chunk shows something, or the stream is over; `first` was read before."""
    data: bytes | None = first or await read_next(door, stream.reply.source)
    while True:
        stream.chunks += stream.take(data)
        if stream.is_over or any(map(shows, stream.chunks)):
            return
        if stream.reader.fault is not None:
            raise stream.reader.fault
        data = await read_next(door, stream.reply.source)


def _says_nothing(message: Any) -> bool:
    """Return whether a codec found nothing at all in a body: it was no reply."""
    if not isinstance(message, AIMessage):
        return False  # another kind of codec
    return not (
        message.content
        or message.tool_calls
        or message.invalid_tool_calls
        or message.additional_kwargs
        or message.usage_metadata
        or message.id
        or message.response_metadata.get("model_name")
    )


def _is_error(data: Any) -> bool:
    """Return whether a body that came with a 200 tells of an error."""
    if not isinstance(data, dict):
        return isinstance(data, list) and bool(data) and _is_error(data[0])
    return bool(data.get("error")) and not data.keys() & {"choices", "content", "output", "message"}
