"""A run and its reader side by side: events on their way, and a run that waits for its reader.

The run is a body of its own (a thread, or a task); the reader iterates. After the event of a step the
run waits until the reader asks for the next one, so that a reader who leaves after a step knows that no
later one was begun. When the reader leaves, the run is told at its next event.
"""

import asyncio
import contextvars
import threading
from collections import deque
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator
from typing import Any, Protocol

from dragoman._door import run

__all__ = ["MODES", "AsyncChannel", "Channel", "SyncChannel", "aevents", "events"]

MODES = frozenset({"values", "updates", "messages", "custom"})
_LEAVE_S = 10.0
"""How long a reader that leaves waits for a step that is under way."""
_INTERRUPTED_S = 1.0
"""How long one that was interrupted (Ctrl-C) waits: a thread that a tool holds up cannot be stopped."""
_LOOK_S = 0.2
"""How often a reader that waits looks whether it was interrupted."""

Event = tuple[str, Any]


class ReaderLeft(GeneratorExit):
    """Ends a run whose reader has left; no tool's failure."""

    is_control_flow = True


class Channel(Protocol):
    """Where a run puts its events.

    Attributes:
        modes: The modes somebody reads.
        seen: Ids of messages whose tokens were streamed.
    """

    modes: frozenset[str]
    seen: set[str | None]

    def put(self, mode: str, value: Any) -> None:
        """Hand over an event, if its mode is read."""
        ...

    async def taken(self) -> None:
        """Wait until the reader has taken every event and asks for another."""
        ...


class SyncChannel:
    """Events between two threads."""

    def __init__(self, modes: frozenset[str]) -> None:
        self.modes = modes
        self.seen: set[str | None] = set()
        self._events: deque[Any] = deque()
        self._open = 0
        self._is_left = False
        self._changed = threading.Condition()

    def put(self, mode: str, value: Any) -> None:
        """Hand over an event; raises ReaderLeft once the reader has left."""
        if mode in self.modes:
            self._put((mode, value))

    def _put(self, event: Any) -> None:
        with self._changed:
            if self._is_left:
                raise ReaderLeft
            self._events.append(event)
            self._open += 1
            self._changed.notify_all()

    async def taken(self) -> None:
        """Wait for the reader; raises ReaderLeft once it has left."""
        with self._changed:
            while self._open and not self._is_left:
                self._changed.wait()
            if self._is_left:
                raise ReaderLeft

    def end(self, error: BaseException | None) -> None:
        """Tell the reader that the run is over."""
        with self._changed:
            self._events.append(error)
            self._changed.notify_all()

    def get(self) -> Any:
        """Return the next event; an error, or None, at the end."""
        with self._changed:
            while not self._events:
                # Not for ever: a Ctrl-C that comes just before the wait begins does not end it.
                self._changed.wait(_LOOK_S)
            return self._events.popleft()

    def done(self) -> None:
        """Say that an event was used."""
        with self._changed:
            self._open -= 1
            self._changed.notify_all()

    def leave(self) -> None:
        """Tell the run that nobody reads any more."""
        with self._changed:
            self._is_left = True
            self._changed.notify_all()


def events(
    channel: SyncChannel, body: Callable[[], Coroutine[Any, Any, Any]]
) -> Generator[Event, None, None]:
    """Yield the events of a body that runs in a thread of its own, and raise what it raises."""

    def work() -> None:
        try:
            run(body())
        except BaseException as error:  # noqa: BLE001 - raised again where the stream is read
            channel.end(error)
        else:
            channel.end(None)

    context = contextvars.copy_context()
    worker = threading.Thread(target=context.run, args=(work,), daemon=True)
    worker.start()
    patience_s = _LEAVE_S
    try:
        while (event := channel.get()) is not None:
            if isinstance(event, BaseException):
                raise event
            yield event
            channel.done()
    except KeyboardInterrupt:
        # What is written by then is valid; the next run answers the call that was under way.
        patience_s = _INTERRUPTED_S
        raise
    finally:
        channel.leave()
        worker.join(patience_s)


class AsyncChannel:
    """Events between two tasks of one loop; tools may put from other threads."""

    def __init__(self, modes: frozenset[str]) -> None:
        self.modes = modes
        self.seen: set[str | None] = set()
        self.queue: asyncio.Queue[Event | None] = asyncio.Queue()
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()

    def put(self, mode: str, value: Any) -> None:
        """Hand over an event."""
        if mode not in self.modes:
            return
        if threading.get_ident() == self._thread:
            self.queue.put_nowait((mode, value))
        else:
            self._loop.call_soon_threadsafe(self.queue.put_nowait, (mode, value))

    async def taken(self) -> None:
        """Wait for the reader."""
        await self.queue.join()


async def aevents(
    channel: AsyncChannel, body: Callable[[], Coroutine[Any, Any, Any]]
) -> AsyncGenerator[Event, None]:
    """Yield the events of a body that runs as a task; closing this cancels it."""

    async def work() -> None:
        try:
            await body()
        finally:
            channel.queue.put_nowait(None)

    task = asyncio.create_task(work())
    try:
        while (event := await channel.queue.get()) is not None:
            yield event
            channel.queue.task_done()
        await task
    finally:
        if not task.done():
            task.cancel()
        await asyncio.gather(task, return_exceptions=True)
