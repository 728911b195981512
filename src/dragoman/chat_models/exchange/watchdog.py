"""A timer that ends a reply which takes too long, by shutting its socket down.

The HTTP client's own timeouts start anew with every read; only from outside can a whole call be
bounded. A reader that was blocked then sees the end of the connection, and asks `fault` why.
"""

import asyncio
import socket
import threading
import time
from contextlib import suppress
from typing import Any

from dragoman._door import Door
from dragoman.chat_models.exchange.faults import ModelStreamTimeoutError
from dragoman.errors import ModelError, ModelTimeoutError

__all__ = ["Watchdog"]


class Watchdog:
    """The bounds of one call that reach over several reads.

    Args:
        door: Which kind of timer to use.
        total_s: The longest time of the whole call, or None.
        started: When it began, in `time.monotonic` seconds.
    """

    __slots__ = ("_armed", "_door", "_response", "_started", "_timers", "_total_s")

    def __init__(self, door: Door, total_s: float | None, started: float) -> None:
        self._door = door
        self._total_s = total_s
        self._started = started
        self._response: Any = None
        self._timers: list[Any] = []
        self._armed = False

    def watch(self, response: Any) -> None:
        """Begin to watch a reply."""
        self._response = response
        if self._total_s is not None:
            self._after(max(0.0, self._started + self._total_s - time.monotonic()))

    def arm(self, seconds: float) -> None:
        """End the reply after `seconds`, whatever else; only the first call counts."""
        if not self._armed:
            self._armed = True
            self._after(seconds)

    def cancel(self) -> None:
        """Stop watching."""
        for timer in self._timers:
            timer.cancel()
        self._timers.clear()

    def fault(self, provider: str, *, in_stream: bool) -> ModelError | None:
        """Return the error for a call that took longer than its total time, else None."""
        if self._total_s is None or time.monotonic() - self._started < self._total_s:
            return None
        kind = ModelStreamTimeoutError if in_stream else ModelTimeoutError
        return kind(f"the call took longer than {self._total_s:g} s", provider=provider)

    def _after(self, seconds: float) -> None:
        if self._door.is_async:
            self._timers.append(asyncio.get_running_loop().call_later(seconds, self._end))
        else:
            timer = threading.Timer(seconds, self._end)
            timer.daemon = True
            timer.start()
            self._timers.append(timer)

    def _end(self) -> None:
        stream = self._response.extensions.get("network_stream")
        sock = None if stream is None else stream.get_extra_info("socket")
        with suppress(OSError):  # closed in the meantime
            if isinstance(sock, socket.socket):
                # Not the method of a TLS socket, which would take the encryption off first.
                socket.socket.shutdown(sock, socket.SHUT_RDWR)
            elif sock is not None:
                sock.shutdown(socket.SHUT_RDWR)
