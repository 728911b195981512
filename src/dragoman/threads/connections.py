"""The connections of a store: one for each OS thread, closed with its thread or with the store."""

import os
import threading
import weakref
from collections.abc import Callable
from typing import Any, Generic, TypeVar

__all__ = ["Connections", "Held"]

C = TypeVar("C")

_inherited: list[Any] = []
"""What came with a fork: closing it, or letting it be collected, would reach into the parent."""


class Held(Generic[C]):
    """A connection that is closed with the last reference to its holder, and never after a fork.

    The drivers' own connections warn when they are collected open, and SQLite's and PostgreSQL's
    would each stay open for as long as a list of all of them exists.
    """

    __slots__ = ("__weakref__", "connection", "is_closed", "process")

    def __init__(self, connection: C) -> None:
        self.connection: C = connection
        self.is_closed: bool = False
        self.process: int = os.getpid()

    def close(self) -> None:
        """Close the connection; a second time does nothing."""
        if self.is_closed:
            return
        self.is_closed = True
        connection: Any = self.connection
        if self.process == os.getpid():
            connection.close()
        else:
            _inherited.append(connection)

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

    def mine(self, connect: Callable[[], C]) -> C:
        """Return the connection of this thread, made by `connect` if there is none."""
        if self._process != os.getpid():
            self._renew()
        held: Held[C] | None = getattr(self._mine, "held", None)
        if held is None or held.is_closed:
            connection = connect()
            held = self._mine.held = Held(connection)
            with self._lock:
                self._all.add(held)
            return connection
        return held.connection

    def drop(self) -> None:
        """Close the connection of this thread; the next call makes a new one."""
        held: Held[C] | None = getattr(self._mine, "held", None)
        if held is not None:
            held.close()

    def close(self) -> None:
        """Close the connections of all threads; later calls make new ones."""
        with self._lock:
            every = list(self._all)
            self._all.clear()
        for held in every:
            held.close()
