"""What every framing machine is."""

from typing import Protocol

__all__ = ["Event", "Framing"]

Event = tuple[str | None, bytes]
"""The event's name, or None, and its data."""


class Framing(Protocol):
    """A machine that turns the bytes of one reply into events."""

    def feed(self, data: bytes) -> list[Event]:
        """Return the events that `data` completes, in order."""
        ...

    def close(self) -> list[Event]:
        """Return the event held back at the end of the bytes, if there is one."""
        ...
