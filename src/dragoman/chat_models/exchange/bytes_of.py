"""The bytes of a streamed reply, a network read at a time.

The HTTP client passes every HTTP chunk through five generators of its own, and providers write one
event a chunk: this costs more than decoding the event. So a plain HTTP/1.1 body is read from the
client's connection itself, by its own parser: all the chunks of one network read come out together,
and the connection is left as the client expects it. Whatever looks otherwise (another transport,
another version of the client, a rare compression) is read the documented way.
"""

import zlib
from collections.abc import AsyncIterator, Iterator
from typing import Any

__all__ = ["async_bytes", "bytes_of"]

_READ_BYTES = 1 << 16
_UNPACKED = frozenset({"identity", "gzip", "x-gzip"})
_GZIP = 31  # zlib's window bits for gzip


def bytes_of(response: Any) -> Iterator[bytes]:
    """Return an iterator over the body of a sync reply."""
    packing = response.headers.get("content-encoding", "identity")
    found = _connection(response)
    if found is None or packing not in _UNPACKED:
        return response.iter_bytes()
    data = _read(*found)
    return data if packing == "identity" else _unpacked(data)


def async_bytes(response: Any) -> AsyncIterator[bytes]:
    """Return an iterator over the body of an async reply."""
    packing = response.headers.get("content-encoding", "identity")
    found = _connection(response)
    if found is None or packing not in _UNPACKED:
        return response.aiter_bytes()
    data = _aread(*found)
    return data if packing == "identity" else _aunpacked(data)


def _connection(response: Any) -> tuple[Any, Any, float | None] | None:
    """Return the HTTP/1.1 parser, the network stream and the read timeout of a reply, or None."""
    try:
        body = response.stream._stream._httpcore_stream._stream
        connection, request = body._connection, body._request
        found = connection._h11_state, connection._network_stream
        _ = found[0].next_event, found[1].read  # they must be there
    except AttributeError:
        return None
    return *found, request.extensions.get("timeout", {}).get("read")


def _read(parser: Any, network: Any, read_s: float | None) -> Iterator[bytes]:
    is_over = False
    while not is_over:
        data, is_over = _take(parser)
        if data:
            yield data
        elif not is_over:
            parser.receive_data(network.read(_READ_BYTES, timeout=read_s))


async def _aread(parser: Any, network: Any, read_s: float | None) -> AsyncIterator[bytes]:
    is_over = False
    while not is_over:
        data, is_over = _take(parser)
        if data:
            yield data
        elif not is_over:
            parser.receive_data(await network.read(_READ_BYTES, timeout=read_s))


def _unpacked(data: Iterator[bytes]) -> Iterator[bytes]:
    unpacker = zlib.decompressobj(_GZIP)
    for piece in data:
        if out := unpacker.decompress(piece):
            yield out


async def _aunpacked(data: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    unpacker = zlib.decompressobj(_GZIP)
    async for piece in data:
        if out := unpacker.decompress(piece):
            yield out


def _take(parser: Any) -> tuple[bytes, bool]:
    """Return the bytes that were read but not given out yet, and whether the body is over.

    Raises:
        h11.RemoteProtocolError: If the connection ended inside the body.
    """
    parts: list[bytes] = []
    while True:
        try:
            event = parser.next_event()
        except Exception:
            if parts:  # give out what came before the fault; the parser raises it again
                return b"".join(parts), False
            raise
        data = getattr(event, "data", None)
        if data is None:
            # Either more bytes are needed, or the message is over (EndOfMessage, PAUSED).
            is_over = getattr(event, "__name__", "") != "NEED_DATA"
            return b"".join(parts), is_over
        parts.append(bytes(data))
