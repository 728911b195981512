"""One JSON text a line (`application/x-ndjson`), as Ollama streams."""

from dragoman.chat_models.framing.contract import Event

__all__ = ["Ndjson"]


class Ndjson:
    r"""Bytes of lines to events; blank lines are skipped.

    >>> machine = Ndjson()
    >>> machine.feed(b'{"a":1}\n{"b"'), machine.feed(b":2}"), machine.close()
    ([(None, b'{"a":1}')], [], [(None, b'{"b":2}')])
    """

    __slots__ = ("_parts",)

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def feed(self, data: bytes) -> list[Event]:
        """Return the lines that `data` completes."""
        if b"\n" not in data:
            if data:
                self._parts.append(data)
            return []
        if self._parts:
            data = b"".join(self._parts) + data
            self._parts.clear()
        *lines, rest = data.split(b"\n")
        if rest:
            self._parts.append(rest)
        return [(None, line) for line in map(bytes.strip, lines) if line]

    def close(self) -> list[Event]:
        """Return the last line if its end was missing."""
        line = b"".join(self._parts).strip()
        self._parts.clear()
        return [(None, line)] if line else []
