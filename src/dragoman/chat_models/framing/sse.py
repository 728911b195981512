"""Server-sent events.

Lines end at CR, LF or CRLF and at nothing else; a blank line ends an event; lines that begin with a
colon are comments; several `data` lines are joined by LF. (https://html.spec.whatwg.org, section
"Server-sent events", read 2026-11.) In one point this parser is kinder than the standard: an event
whose last blank line is missing at the end of the stream counts, since real servers cut it off.
`id` and `retry` are of no use to a model call and are dropped.

The usual event is one `data` line. It is found by one search and one slice; only others are looked
at line by line.
"""

from dragoman.chat_models.framing.contract import Event

__all__ = ["Sse"]

_BOM = b"\xef\xbb\xbf"


class Sse:
    r"""Bytes of `text/event-stream` to events.

    >>> machine = Sse()
    >>> machine.feed(b": hello\n\ndata: {}\r"), machine.feed(b"\n\r\n"), machine.close()
    ([], [(None, b'{}')], [])
    """

    __slots__ = ("_at_start", "_parts", "_skip_lf")

    def __init__(self) -> None:
        self._parts: list[bytes] = []  # an unfinished event, with LF as its only line end
        self._skip_lf = False  # the last byte was CR: an LF that follows belongs to it
        self._at_start = True

    def feed(self, data: bytes) -> list[Event]:
        """Return the events that `data` completes."""
        if (
            data.startswith(b"data: ")
            and data.endswith(b"\n\n")
            and data.count(b"\n") == 2
            and not self._parts
            and b"\r" not in data
        ):
            self._at_start = self._skip_lf = False
            return [(None, data[6:-2])]  # what nearly every read is: one event of one line
        data = self._normal(data)
        parts = self._parts
        if not parts:
            block = data
        elif b"\n\n" in data or (parts[-1][-1] == 10 and data[:1] == b"\n"):
            block = b"".join(parts) + data
            parts.clear()
        else:
            if data:
                parts.append(data)
            return []
        *blocks, rest = block.split(b"\n\n")
        if rest:
            parts.append(rest)
        out: list[Event] = []
        for block in blocks:
            if block.startswith(b"data: ") and b"\n" not in block:
                out.append((None, block[6:]))
            elif block:
                _parse(block, out)
        return out

    def close(self) -> list[Event]:
        """Return the last event if only its blank line was missing."""
        out: list[Event] = []
        _parse(b"".join(self._parts), out)
        self._parts.clear()
        return out

    def _normal(self, data: bytes) -> bytes:
        """Return `data` without a mark at the very start, and with LF as its only line end."""
        if self._at_start:
            data = self._without_bom(data)
        if self._skip_lf and data:
            self._skip_lf = False
            if data[0] == 10:
                data = data[1:]
        if b"\r" in data:
            self._skip_lf = data[-1] == 13
            data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        return data

    def _without_bom(self, data: bytes) -> bytes:
        data = b"".join(self._parts) + data
        self._parts.clear()
        if len(data) < 3 and _BOM.startswith(data):
            if data:
                self._parts.append(data)
            return b""
        self._at_start = False
        return data.removeprefix(_BOM)


def _parse(block: bytes, out: list[Event]) -> None:
    name: str | None = None
    values: list[bytes] = []
    for line in block.split(b"\n"):
        field, _, value = line.partition(b":")
        if value[:1] == b" ":
            value = value[1:]
        if field == b"data":
            values.append(value)
        elif field == b"event":
            name = value.decode("utf-8", "replace") or None
    if values:
        out.append((name, b"\n".join(values)))
