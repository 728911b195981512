"""Amazon's binary event stream (`application/vnd.amazon.eventstream`).

A frame is: total length and header length (4 bytes each, big-endian), CRC-32 of these eight bytes,
headers, payload, CRC-32 of everything before it. A header is: name length (1 byte), name, type (1
byte), value. (https://docs.aws.amazon.com, "Event stream encoding", read 2026-11.)

The event's name is the header `:event-type`; for an exception frame it is `:exception-type`, which
always ends in `Exception` (or `:error-code` of an error frame), and the payload is its JSON.
"""

import struct
import zlib

from dragoman.chat_models.framing.contract import Event
from dragoman.errors import DecodeError

__all__ = ["AwsEventStream", "aws_frame"]

_PRELUDE = struct.Struct(">III")
_CRC = struct.Struct(">I")
_LENGTH = struct.Struct(">H")
_MOST_BYTES = 24 * 1024 * 1024  # the format's own limit is 16 MB of payload and 128 kB of headers

# Header value types with a size of their own; 6 (bytes) and 7 (text) carry a length.
_FIXED_SIZE = {0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16}


class AwsEventStream:
    """Bytes of an Amazon event stream to events; both checksums of every frame are checked.

    >>> frame = aws_frame("contentBlockDelta", b"{}")
    >>> machine = AwsEventStream()
    >>> machine.feed(frame[:20]), machine.feed(frame[20:]), machine.close()
    ([], [('contentBlockDelta', b'{}')], [])
    """

    __slots__ = ("_buffer", "_needed")

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._needed = 12  # bytes without which nothing can be decided

    def feed(self, data: bytes) -> list[Event]:
        """Return the frames that `data` completes.

        Raises:
            DecodeError: If a checksum or a length is wrong.
        """
        self._buffer += data
        if len(self._buffer) < self._needed:
            return []
        block, start, out = bytes(self._buffer), 0, list[Event]()
        try:
            while (size := self._size_at(block, start)) <= len(block) - start:
                out.append(_read(block[start : start + size]))
                start += size
            self._needed = size
        except DecodeError:
            if not out:
                raise
            self._needed = 0  # the frames before it are given out; the next call raises
        del self._buffer[:start]
        return out

    @staticmethod
    def _size_at(block: bytes, start: int) -> int:
        """Return how many bytes the frame at `start` has; 12 as long as that cannot be told."""
        if len(block) - start < 12:
            return 12
        total, head, crc = _PRELUDE.unpack_from(block, start)
        if zlib.crc32(block[start : start + 8]) != crc or total < head + 16 or total > _MOST_BYTES:
            message = "event stream frame with a wrong length or checksum"
            raise DecodeError(message, hint="the connection is not reliable; try again")
        return total

    def close(self) -> list[Event]:
        """Return nothing; a frame cut off at the end is an error.

        Raises:
            DecodeError: If bytes of an unfinished frame are left.
        """
        if self._buffer:
            self.feed(b"")  # says so if the frame is damaged, not only cut
            self._buffer.clear()
            message = "the event stream ended inside a frame"
            raise DecodeError(message, hint="the connection was cut; try again")
        return []


def _read(frame: bytes) -> Event:
    head = _PRELUDE.unpack_from(frame)[1]
    if zlib.crc32(frame[:-4]) != _CRC.unpack_from(frame, len(frame) - 4)[0]:
        message = "event stream frame with a wrong checksum"
        raise DecodeError(message, hint="the connection is not reliable; try again")
    try:
        headers = _headers(frame[12 : 12 + head])
    except (IndexError, struct.error, KeyError) as error:
        message = "event stream frame with unreadable headers"
        raise DecodeError(message) from error
    payload = frame[12 + head : -4]
    kind = headers.get(":message-type", "event")
    if kind == "exception":
        return headers.get(":exception-type", "Exception"), payload
    if kind == "error":
        text = headers.get(":error-message", "").replace("\\", "\\\\").replace('"', '\\"')
        return headers.get(
            ":error-code", "error"
        ) + "Exception", b'{"message":"%s"}' % text.encode()
    return headers.get(":event-type"), payload


def _headers(data: bytes) -> dict[str, str]:
    """Return the text headers; those of other types are skipped."""
    out: dict[str, str] = {}
    at = 0
    while at < len(data):
        end = at + 1 + data[at]
        name, kind, at = data[at + 1 : end].decode("utf-8", "replace"), data[end], end + 1
        if kind in (6, 7):
            (size,) = _LENGTH.unpack_from(data, at)
            if kind == 7:
                out[name] = data[at + 2 : at + 2 + size].decode("utf-8", "replace")
            at += 2 + size
        else:
            at += _FIXED_SIZE[kind]
    return out


def aws_frame(name: str, payload: bytes, *, kind: str = "event") -> bytes:
    """Return one frame as Amazon would send it; `kind` is `event` or `exception`."""
    pairs = (
        (f":{kind}-type", name),
        (":content-type", "application/json"),
        (":message-type", kind),
    )
    head = b"".join(
        bytes([len(key)]) + key.encode() + b"\x07" + _LENGTH.pack(len(value)) + value.encode()
        for key, value in pairs
    )
    start = struct.pack(">II", 16 + len(head) + len(payload), len(head))
    body = start + _CRC.pack(zlib.crc32(start)) + head + payload
    return body + _CRC.pack(zlib.crc32(body))
