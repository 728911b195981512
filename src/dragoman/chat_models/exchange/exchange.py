"""Send a request, get messages: one body for sync and async.

`_open` is the body behind the door: it makes the request, reads an error reply, waits and tries
again, and returns with the first chunk that shows something. Until then nothing was delivered, so a
retry is invisible. From there on the two drivers `stream` and `astream` loop on their own, since
passing each chunk through a door would cost more than decoding it.

Whatever ends a stream (its end, a fault, `close`, an exception of the consumer, a cancelled task,
the garbage collector) goes through one `finally` that closes the reply.
"""

import time
import uuid
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from typing import TYPE_CHECKING, Any

import msgspec

from dragoman._door import ASYNC, SYNC, Door, run
from dragoman.chat_models.exchange import faults
from dragoman.chat_models.exchange.body import read_json
from dragoman.chat_models.exchange.pool import Settings, client_for
from dragoman.chat_models.exchange.reader import StreamReader, shows
from dragoman.chat_models.exchange.retry import Retry, note_wait
from dragoman.chat_models.exchange.timeouts import Timeouts
from dragoman.chat_models.exchange.watchdog import Watchdog
from dragoman.chat_models.framing import FRAMINGS
from dragoman.errors import DecodeError, ModelError, ModelStatusError

if TYPE_CHECKING:
    from dragoman.messages import AIMessage, AIMessageChunk

__all__ = ["Exchange", "HttpCall", "Wire"]

_MOST_ERROR_BYTES = 1 << 20
_GRACE_S = 5.0  # how long a stream that said it is complete may take to end


class HttpCall(msgspec.Struct):
    """One request, ready to be sent."""

    url: str
    headers: dict[str, str]
    body: bytes
    secrets: tuple[str, ...] = ()
    timeouts: Timeouts | None = None


class Wire(msgspec.Struct, kw_only=True):
    """How a model talks: everything of an exchange that does not change between calls.

    Attributes:
        codec: The wire format.
        framing: Of streams: a name in `FRAMINGS`.
        provider: For errors.
        retry: When to try again.
        timeouts: How long to wait.
        client: The user's own `httpx2.Client`, or None.
        async_client: The user's own `httpx2.AsyncClient`, or None.
        proxy: A proxy's address, or None.
        max_connections: At most so many at a time, or None.
    """

    codec: Any
    framing: str
    provider: str
    retry: Retry = Retry()
    timeouts: Timeouts = Timeouts()
    client: Any = None
    async_client: Any = None
    proxy: str | None = None
    max_connections: int | None = None


class _Opened(msgspec.Struct):
    """A stream that has begun: what was received so far, and where the rest comes from."""

    response: Any
    reader: StreamReader
    source: Any
    chunks: list[Any]
    watchdog: Watchdog
    call: HttpCall
    is_over: bool = False


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

    # ------------------------------------------------------------------ whole replies

    def send(self) -> "AIMessage":
        """Return the reply to a request that is not streamed."""
        return run(self._send(SYNC))

    async def asend(self) -> "AIMessage":
        """Return the reply to a request that is not streamed."""
        return await self._send(ASYNC)

    async def _send(self, door: Door) -> "AIMessage":
        return await self._again(door, self._read_whole)

    async def _read_whole(self, door: Door) -> "AIMessage":
        call, response, watchdog = await self._request(door)
        try:
            body = await door.either(response.read, response.aread)
        except Exception as error:
            raise self._connection_fault(error, call, watchdog) from error
        finally:
            watchdog.cancel()
            await door.either(response.close, response.aclose)
        return self._decode_whole(response, body, call)

    def _decode_whole(self, response: Any, body: bytes, call: HttpCall) -> "AIMessage":
        said: dict[str, Any] = {"provider": self.wire.provider, "secrets": call.secrets}
        try:
            data = read_json(body)
        except DecodeError as error:
            kind = response.headers.get("content-type", "")
            raise faults.wrong_type(kind, body, **said) from error
        if _is_error(data):
            raise faults.reply_fault(self.wire.codec, 200, response.headers, body, **said)
        return self.wire.codec.decode_response(data)

    # ------------------------------------------------------------------ streams

    def stream(self) -> "Generator[AIMessageChunk, None, None]":
        """Yield the chunks of a streamed reply; closing the generator closes the reply."""
        opened = run(self._again(SYNC, self._begin))
        reader, feed = opened.reader, opened.reader.feed
        try:
            yield from opened.chunks
            if not opened.is_over:
                for data in opened.source:
                    chunks = feed(data)
                    if chunks:
                        yield from chunks
                    if reader.is_done:
                        opened.watchdog.arm(_GRACE_S)
                yield from reader.close()
        except Exception as error:  # noqa: BLE001 - translated in one place
            rest = self._ended(error, opened)
            yield from rest
        finally:
            run(_release(SYNC, opened))

    async def astream(self) -> "AsyncGenerator[AIMessageChunk, None]":
        """Yield the chunks of a streamed reply; closing the generator closes the reply."""
        opened = await self._again(ASYNC, self._begin)
        reader, feed = opened.reader, opened.reader.feed
        try:
            for chunk in opened.chunks:
                yield chunk
            if not opened.is_over:
                async for data in opened.source:
                    for chunk in feed(data):
                        yield chunk
                    if reader.is_done:
                        opened.watchdog.arm(_GRACE_S)
                for chunk in reader.close():
                    yield chunk
        except Exception as error:  # noqa: BLE001 - translated in one place
            for chunk in self._ended(error, opened):
                yield chunk
        finally:
            await _release(ASYNC, opened)

    async def _begin(self, door: Door) -> _Opened:
        """Return a stream once it has shown something, or is over."""
        call, response, watchdog = await self._request(door)
        wire = self.wire
        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        reader = StreamReader(
            FRAMINGS[wire.framing](),
            wire.codec.stream_decoder(),
            provider=wire.provider,
            idle_s=(call.timeouts or wire.timeouts).idle_s,
        )
        opened = _Opened(response, reader, None, [], watchdog, call)
        done = False
        try:
            if kind in ("text/html", "application/json", "application/problem+json"):
                await self._whole_in_place_of_stream(door, opened)
            else:
                opened.source = _source(response, door)
                await _first(door, opened)
            done = True
        except Exception as error:
            if isinstance(error, ModelError):
                raise self._finished(error, opened) from error.__cause__
            if isinstance(error, DecodeError):
                raise self._finished(self._stream_fault(error, opened), opened) from error
            raise self._connection_fault(error, call, watchdog) from error
        finally:
            if not done:
                await _release(door, opened)
        return opened

    async def _whole_in_place_of_stream(self, door: Door, opened: _Opened) -> None:
        """Take one JSON body where a stream was asked for: some servers do not stream."""
        from dragoman.chat_models.exchange.whole import as_chunk

        body = await door.either(opened.response.read, opened.response.aread)
        opened.chunks = [as_chunk(self._decode_whole(opened.response, body, opened.call))]
        opened.is_over = True

    def _ended(self, error: Exception, opened: _Opened) -> "list[AIMessageChunk]":
        """Raise what broke the stream; return its last chunks if it was complete before that."""
        if opened.reader.is_done and not isinstance(error, ModelError):
            return opened.reader.close()
        raise self._finished(self._stream_fault(error, opened), opened) from (
            error.__cause__ if isinstance(error, ModelError) else error
        )

    # ------------------------------------------------------------------ one request

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

    async def _request(self, door: Door) -> tuple[HttpCall, Any, Watchdog]:
        """Return the call, its reply with the body unread, and the watchdog of its total time."""
        started = time.monotonic()
        call = await self._prepare(door)
        client = await self._client(door, call)
        headers = {"idempotency-key": self._idempotency_key, **call.headers}
        timeouts = call.timeouts or self.wire.timeouts
        watchdog = Watchdog(door, timeouts.total_s, started)
        try:
            request = client.build_request(
                "POST",
                call.url,
                headers=headers,
                content=call.body,
                timeout=_client_timeout(timeouts),
            )

            def send() -> Any:
                return client.send(request, stream=True)

            response = await door.either(send, send)
        except Exception as error:  # noqa: BLE001 - translated in one place
            fault = self._connection_fault(error, call, watchdog)
            # The text of an illegal header holds the header, which may be the key: cut the chain.
            is_ours = fault is error or type(error).__name__ == "LocalProtocolError"
            raise fault from (None if is_ours else error)
        if not 200 <= response.status_code < 300:
            raise await self._status_error(door, response, call)
        watchdog.watch(response)
        return call, response, watchdog

    async def _status_error(self, door: Door, response: Any, call: HttpCall) -> ModelError:
        parts: list[bytes] = []
        size = 0
        source = _source(response, door)
        try:
            while size < _MOST_ERROR_BYTES and (data := await _next(door, source)) is not None:
                parts.append(data)
                size += len(data)
        except Exception:  # noqa: BLE001 - the status is known; what is missing is only its text
            parts.append(b"")
        finally:
            await _close(door, source, response)
        return faults.reply_fault(
            self.wire.codec,
            response.status_code,
            response.headers,
            b"".join(parts),
            provider=self.wire.provider,
            secrets=call.secrets,
        )

    async def _client(self, door: Door, call: HttpCall) -> Any:
        own = self.wire.async_client if door.is_async else self.wire.client
        if own is not None:
            return own
        settings = Settings.now(
            secure=not call.url.startswith("http://"),
            proxy=self.wire.proxy,
            direct=self.wire.proxy is None and _is_here(call.url),
            max_connections=self.wire.max_connections,
        )
        return await client_for(door, settings)

    # ------------------------------------------------------------------ faults

    def _seconds(self, call: HttpCall) -> dict[str, Any]:
        timeouts = call.timeouts or self.wire.timeouts
        read = _least(timeouts.read_s, timeouts.idle_s, timeouts.total_s)
        return {"read": f"{read or 0:g}", "connect": f"{timeouts.connect_s or 0:g}"}

    def _connection_fault(self, error: Exception, call: HttpCall, watchdog: Watchdog) -> ModelError:
        if isinstance(error, ModelError):
            return error
        return watchdog.fault(self.wire.provider, in_stream=False) or faults.connection_fault(
            error,
            url=call.url,
            provider=self.wire.provider,
            secrets=call.secrets,
            **self._seconds(call),
        )

    def _stream_fault(self, error: Exception, opened: _Opened) -> ModelError:
        return opened.watchdog.fault(self.wire.provider, in_stream=True) or faults.stream_fault(
            error,
            provider=self.wire.provider,
            secrets=opened.call.secrets,
            **self._seconds(opened.call),
        )

    def _finished(self, error: ModelError, opened: _Opened) -> ModelError:
        """Return `error` with what is known about the call put in."""
        error.provider = error.provider or self.wire.provider
        error.request_id = error.request_id or faults.request_id_of(opened.response.headers)
        if error.partial is None:
            error.partial = opened.reader.partial()
        return faults.masked(error, opened.call.secrets)


async def _first(door: Door, opened: _Opened) -> None:
    """Read until a chunk shows something, or the stream is over."""
    reader, chunks = opened.reader, opened.chunks
    while not any(map(shows, chunks)):
        data = await _next(door, opened.source)
        if data is None:
            chunks += reader.close()
            opened.is_over = True
            return
        chunks += reader.feed(data)


def _source(response: Any, door: Door) -> Any:
    """Return an iterator over the reply's bytes.

    Plain bodies are taken from the transport itself: two generators less for each read.
    """
    if "content-encoding" in response.headers:
        return response.aiter_bytes() if door.is_async else response.iter_bytes()
    stream = response.stream
    return stream.__aiter__() if door.is_async else iter(stream)


async def _next(door: Door, source: Any) -> bytes | None:
    async def later() -> bytes | None:
        return await anext(source, None)

    return await door.either(lambda: next(source, None), later)


async def _close(door: Door, source: Any, response: Any) -> None:
    if door.is_async:
        try:
            if (close := getattr(source, "aclose", None)) is not None:
                await close()
        finally:
            await response.aclose()
    else:
        try:
            if (close := getattr(source, "close", None)) is not None:
                close()
        finally:
            response.close()


async def _release(door: Door, opened: _Opened) -> None:
    opened.watchdog.cancel()
    await _close(door, opened.source, opened.response)


def _client_timeout(timeouts: Timeouts) -> Any:
    import httpx2

    read = _least(timeouts.read_s, timeouts.idle_s, timeouts.total_s)
    return httpx2.Timeout(
        connect=_least(timeouts.connect_s, timeouts.total_s), read=read, write=read, pool=read
    )


def _least(*seconds: float | None) -> float | None:
    return min((s for s in seconds if s is not None), default=None)


def _is_error(data: Any) -> bool:
    """Return whether a body that came with a 200 tells of an error."""
    if not isinstance(data, dict):
        return isinstance(data, list) and bool(data) and _is_error(data[0])
    return bool(data.get("error")) and not data.keys() & {"choices", "content", "output", "message"}


def _is_here(url: str) -> bool:
    host = url.partition("://")[2].partition("/")[0].rpartition("@")[2]
    return host.startswith(("127.", "localhost:", "[::1]")) or host == "localhost"
