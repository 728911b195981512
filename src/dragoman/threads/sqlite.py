"""Threads in SQLite: the embedded store, for one machine and many processes.

WAL lets readers go on while somebody writes; writers take turns by `BEGIN IMMEDIATE`, waiting up to
`timeout_s` for theirs. Each OS thread has a connection of its own.
"""

import sqlite3
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from os import PathLike, fspath
from typing import Any, TypeVar

from dragoman.errors import StoreError, short
from dragoman.threads.connections import Connections, Held
from dragoman.threads.sql import Execute, SQLLog
from dragoman.threads.store import ThreadStore

__all__ = ["MemoryThreads", "SQLiteThreads"]

T = TypeVar("T")

_WORDS = {
    "serial": "INTEGER PRIMARY KEY AUTOINCREMENT",
    "binary": "BLOB",
    "integer": "INTEGER",
    "real": "REAL",
}


_HAS_SCHEMA = "SELECT 1 FROM sqlite_master WHERE name = 'dragoman_schema'"


class _Connection(sqlite3.Connection):
    """A connection that closes when it is collected, where SQLite's own also warns (Python 3.13).

    Its holder would close it first, unless both are found in one cycle of garbage.
    """

    def __del__(self) -> None:
        with suppress(sqlite3.ProgrammingError):  # it was never opened
            self.close()


class SQLiteLog(SQLLog):
    """The log in one SQLite file (or in memory, on one shared connection)."""

    def __init__(self, path: str, timeout_s: float) -> None:
        self._path = path
        self._timeout_s = timeout_s
        self._connections: Connections[sqlite3.Connection] = Connections()
        self._memory = threading.RLock() if path == ":memory:" else None
        self._shared: Held[sqlite3.Connection] | None = None

    def _opened(self) -> sqlite3.Connection:
        """Return a new connection, tried again while others make the file what it is to be.

        The busy timeout does not cover the change to WAL: SQLite answers at once that the file is
        locked when another connection makes the same change.
        """
        deadline = time.monotonic() + self._timeout_s
        while True:
            try:
                return self._open_once()
            except sqlite3.OperationalError as error:
                is_busy = error.sqlite_errorcode & 0xFF in (
                    sqlite3.SQLITE_BUSY,
                    sqlite3.SQLITE_LOCKED,
                )
                if not is_busy or time.monotonic() > deadline:
                    raise
            time.sleep(0.005)

    def _open_once(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self._path,
            timeout=self._timeout_s,
            isolation_level=None,
            check_same_thread=False,
            factory=_Connection,
        )
        try:
            connection.execute(f"PRAGMA busy_timeout = {int(self._timeout_s * 1000)}")
            if self._memory is None:
                if connection.execute(_HAS_SCHEMA).fetchall():
                    self.version(_executor(connection))  # WAL would change a newer one's file
                connection.execute("PRAGMA journal_mode = WAL")
                connection.execute("PRAGMA synchronous = FULL")
            connection.execute("BEGIN IMMEDIATE")
            self.prepare(_executor(connection), _WORDS)
            connection.execute("COMMIT")
        except BaseException:
            connection.close()
            raise
        return connection

    def transact(self, work: Callable[[Execute], T], *, write: bool) -> T:
        once = partial(_transact, work=work, write=write)
        try:
            if self._memory is None:
                return self._connections.use(self._opened, once)
            with self._memory:
                self._shared = self._shared or Held(self._opened())
                return once(self._shared.connection)
        except sqlite3.Error as error:
            message = f"the thread store {self._path} cannot be used: {error}"
            raise StoreError(message) from error

    def close(self) -> None:
        # One in memory stays: closing it would lose everything.
        self._connections.close()


def _executor(connection: sqlite3.Connection) -> Execute:
    def execute(statement: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
        return connection.execute(statement, tuple(values)).fetchall()

    return execute


def _transact(connection: sqlite3.Connection, *, work: Callable[[Execute], T], write: bool) -> T:
    if connection.in_transaction:
        message = "a signal handler or finalizer came between another transaction of its OS thread"
        raise sqlite3.OperationalError(message)
    # A function, since an interrupt may fall between the two halves of a context manager.
    try:
        connection.execute("BEGIN IMMEDIATE" if write else "BEGIN")
        result = work(_executor(connection))
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # SQLite ends some itself, such as that of a full disk
            connection.execute("ROLLBACK")
        raise
    return result


def _file(path: Any) -> str:
    name = fspath(path) if isinstance(path, PathLike) else path
    if not isinstance(name, str):
        message = (
            f"SQLiteThreads takes the path of its file, got {type(path).__name__}; pass the path, "
            "the store opens and closes its connections itself"
        )
        raise TypeError(message)
    if not name or "\0" in name:  # SQLite would give each connection an empty database of its own
        message = f"a thread store cannot be at the path {short(name)}; name a file, or ':memory:'"
        raise StoreError(message)
    return name


class SQLiteThreads(ThreadStore):
    """Threads in a SQLite file; safe for many threads and processes.

    Args:
        path: The file; its folder has to exist.
        timeout_s: How long a writer waits for its turn, in seconds.

    Raises:
        StoreError: If the path is empty or holds NUL.
        TypeError: If it is no path, but a connection, say.

    >>> store = SQLiteThreads(":memory:")
    >>> head = store.thread("t").append([("user", "hi")])
    >>> store.thread("t").load().messages[0].content
    'hi'
    """

    def __init__(self, path: str | PathLike[str], *, timeout_s: float = 60.0) -> None:
        super().__init__(SQLiteLog(_file(path), timeout_s))


class MemoryThreads(SQLiteThreads):
    """Threads in memory, with the behaviour of the other stores; gone with the process."""

    def __init__(self) -> None:
        super().__init__(":memory:")
