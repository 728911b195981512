"""The connections of a store: one for each OS thread, closed with its thread or with the store."""

import os
import threading
import weakref
from collections.abc import Callable
from typing import Any, Generic, TypeVar

__all__ = ["Connections", "Held"]

C = TypeVar("C")
T = TypeVar("T")

_inherited: list[Any] = []
"""What came with a fork: closing it, or letting it be collected, would reach into the parent."""


class Held(Generic[C]):
    """A connection that is closed with the last reference to its holder, and never after a fork.

    The drivers' own connections warn when they are collected open, and SQLite's and PostgreSQL's
    would each stay open for as long as a list of all of them exists.

    Whoever uses the connection has the lock: SQLite's crashes if it is closed inside a statement.
    """

    __slots__ = ("__weakref__", "connection", "is_closed", "lock", "process")

    def __init__(self, connection: C) -> None:
        self.connection: C = connection
        self.is_closed: bool = False
        self.lock: threading.RLock = threading.RLock()
        self.process: int = os.getpid()

    def close(self) -> None:
        """Close the connection when nobody uses it; a second time does nothing."""
        if self.is_closed:
            return
        connection: Any = self.connection
        if self.process != os.getpid():  # its lock came with the fork too, and may be held for ever
            self.is_closed = True
            _inherited.append(connection)
            return
        with self.lock:
            if not self.is_closed:
                self.is_closed = True
                connection.close()

    def __del__(self) -> None:
        self.close()


class Connections(Generic[C]):
    """One connection for each thread of each process, made when it is first asked for."""

    def __init__(self) -> None:
        self._renew()

    def _renew(self) -> None:
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._mine = threading.local()
        # Weak, so that a thread that ends takes its connection with it.
        self._all: weakref.WeakSet[Held[C]] = weakref.WeakSet()

    def use(self, connect: Callable[[], C], work: Callable[[C], T]) -> T:
        """Return what `work` gives with this thread's connection, which nobody closes meanwhile.

        If there is none, `connect` makes it.
        """
        while True:
            held = self._held(connect)
            with held.lock:
                if not held.is_closed:
                    return work(held.connection)

    def _held(self, connect: Callable[[], C]) -> Held[C]:
        if self._process != os.getpid():
            self._renew()
        held: Held[C] | None = getattr(self._mine, "held", None)
        if held is None or held.is_closed:
            held = self._mine.held = Held(connect())
            with self._lock:
                self._all.add(held)
        return held

    def drop(self) -> None:
        """Close the connection of this thread; the next call makes a new one."""
        held: Held[C] | None = getattr(self._mine, "held", None)
        if held is not None:
            held.close()

    def close(self) -> None:
        """Close the connections of all threads, each after its transaction; later calls make new ones."""
        with self._lock:
            every = list(self._all)
            self._all.clear()
        for held in every:
            held.close()
