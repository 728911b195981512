"""One request on the way: its client, its reply, and the bytes of that."""

import time
from typing import Any

import msgspec

from dragoman._door import ASYNC, Door
from dragoman.chat_models.exchange import faults
from dragoman.chat_models.exchange.bytes_of import async_bytes, bytes_of
from dragoman.chat_models.exchange.pool import Settings, client_for, finish_later
from dragoman.chat_models.exchange.retry import Retry
from dragoman.chat_models.exchange.timeouts import Timeouts
from dragoman.chat_models.exchange.watchdog import Watchdog
from dragoman.errors import ModelError

__all__ = ["HttpCall", "Reply", "Wire", "read_next", "send"]

_MOST_ERROR_BYTES = 1 << 20


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


class Reply:
    """A reply whose head has arrived. `close` must be called, whatever happens.

    Attributes:
        response: The client's response.
        call: What was asked.
        watchdog: The bound of the whole call.
        source: An iterator over the bytes of the body, once `open_source` was called.
        is_closing: Whether `close_soon` was called.
    """

    __slots__ = ("call", "is_closing", "response", "source", "watchdog", "wire")

    def __init__(self, wire: Wire, call: HttpCall, response: Any, watchdog: Watchdog) -> None:
        self.wire: Wire = wire
        self.call: HttpCall = call
        self.response: Any = response
        self.watchdog: Watchdog = watchdog
        self.source: Any = None
        self.is_closing: bool = False

    @property
    def content_type(self) -> str:
        """The media type, without parameters, in lower case."""
        kind: str = self.response.headers.get("content-type", "")
        return kind.partition(";")[0].strip().lower()

    def open_source(self, door: Door) -> None:
        """Make the iterator over the body."""
        self.source = (async_bytes if door.is_async else bytes_of)(self.response)

    async def read(self, door: Door) -> bytes:
        """Return the whole body, and close."""
        try:
            return await door.either(self.response.read, self.response.aread)
        finally:
            await self.close(door)

    async def read_rest(self, door: Door) -> bytes:
        """Return what is left of the body behind an opened source, and close."""
        parts: list[bytes] = []
        try:
            while (data := await read_next(door, self.source)) is not None:
                parts.append(data)
        finally:
            await self.close(door)
        return b"".join(parts)

    async def close(self, door: Door) -> None:
        """Give the connection back, or close it if the body was not read to its end."""
        self.watchdog.cancel()
        source, response = self.source, self.response
        try:
            close = getattr(source, "aclose" if door.is_async else "close", None)
            if close is not None:
                await door.either(close, close)
        finally:
            await door.either(response.close, response.aclose)

    def close_soon(self) -> None:
        """Close in a task of its own, for an async generator that is being closed.

        When a loop shuts down it closes all generators at once, outer and inner ones. One that waits
        while it is closed is then closed a second time by those around it, which Python refuses.
        """
        self.is_closing = True
        finish_later(self.close(ASYNC))

    def fault(self, error: Exception, *, in_stream: bool) -> Exception:
        """Return what to raise for `error`: a bug as it is, all else as a `ModelError`."""
        return _fault(error, self.wire, self.call, self.watchdog, in_stream=in_stream)


async def send(door: Door, wire: Wire, call: HttpCall, idempotency_key: str) -> Reply:
    """Return the reply to one attempt.

    Raises:
        ModelError: If there is no connection, no reply in time, or an error status.
    """
    timeouts = call.timeouts or wire.timeouts
    watchdog = Watchdog(door, timeouts.total_s, time.monotonic())
    try:
        client = await _client(door, wire, call)
        request = client.build_request(
            "POST",
            call.url,
            headers={"idempotency-key": idempotency_key, **call.headers},
            content=call.body,
            timeout=_client_timeout(timeouts),
        )

        def go() -> Any:
            return client.send(request, stream=True)

        response = await door.either(go, go)
    except Exception as error:  # noqa: BLE001 - `_fault` gives a bug back as it is
        fault = _fault(error, wire, call, watchdog, in_stream=False)
        raise fault from fault.__cause__
    watchdog.watch(response)
    reply = Reply(wire, call, response, watchdog)
    if not 200 <= response.status_code < 300:
        raise await _status_error(door, reply)
    return reply


async def _status_error(door: Door, reply: Reply) -> ModelError:
    parts: list[bytes] = []
    size = 0
    try:
        reply.open_source(door)
        while (
            size < _MOST_ERROR_BYTES and (data := await read_next(door, reply.source)) is not None
        ):
            parts.append(data)
            size += len(data)
    except Exception as error:
        # The status is known; what is missing is only the rest of its text.
        if not faults.is_connection_fault(error):
            raise
    finally:
        await reply.close(door)
    response, wire = reply.response, reply.wire
    return faults.reply_fault(
        wire.codec,
        response.status_code,
        response.headers,
        b"".join(parts),
        provider=wire.provider,
        secrets=reply.call.secrets,
    )


async def read_next(door: Door, source: Any) -> bytes | None:
    """Return the next bytes, or None at the end."""

    async def later() -> bytes | None:
        return await anext(source, None)

    return await door.either(lambda: next(source, None), later)


async def _client(door: Door, wire: Wire, call: HttpCall) -> Any:
    own = wire.async_client if door.is_async else wire.client
    if own is not None:
        return own
    settings = Settings.now(
        secure=not call.url.startswith("http://"),
        proxy=wire.proxy,
        direct=wire.proxy is None and _is_here(call.url),
        max_connections=wire.max_connections,
    )
    return await client_for(door, settings)


def _fault(
    error: Exception, wire: Wire, call: HttpCall, watchdog: Watchdog, *, in_stream: bool
) -> Exception:
    if not faults.is_translated(error):
        return error
    fault = watchdog.fault(wire.provider, in_stream=in_stream)
    if fault is None:
        timeouts = call.timeouts or wire.timeouts
        read = _least(timeouts.read_s, timeouts.idle_s, timeouts.total_s)
        seconds = {"read": f"{read or 0:g}", "connect": f"{timeouts.connect_s or 0:g}"}
        if in_stream:
            fault = faults.stream_fault(error, wire.provider, call.secrets, seconds)
        else:
            fault = faults.connection_fault(error, call.url, wire.provider, call.secrets, seconds)
    fault.__cause__ = faults.showable(error)
    fault.__suppress_context__ = True
    return fault


def _client_timeout(timeouts: Timeouts) -> tuple[float | None, ...]:
    """Return connect, read, write and pool, as httpx2 takes them (and httpx, of a user's own client)."""
    read = _least(timeouts.read_s, timeouts.idle_s, timeouts.total_s)
    connect = _least(timeouts.connect_s, timeouts.total_s)
    return connect, read, read, read


def _least(*seconds: float | None) -> float | None:
    return min((s for s in seconds if s is not None), default=None)


def _is_here(url: str) -> bool:
    """Return whether an address is of this machine; the environment's proxies are not for it."""
    host = url.partition("://")[2].partition("/")[0].rpartition("@")[2]
    return host.startswith(("127.", "localhost:", "[::1]")) or host == "localhost"
