"""Threads in PostgreSQL, for many machines; needs psycopg 3 (the extra `postgres`).

A lost connection (a restarted server) is opened again, and the work done once more; every append carries
a key for that, so that one which was committed unseen is not repeated.
"""

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar
from uuid import uuid4

from dragoman._need import need
from dragoman.errors import StoreError
from dragoman.messages import BaseMessage
from dragoman.threads.connections import Connections
from dragoman.threads.sql import Execute, SQLLog
from dragoman.threads.store import ThreadStore

__all__ = ["PostgresThreads"]

T = TypeVar("T")

_WORDS = {
    "serial": "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
    "binary": "BYTEA",
    "integer": "BIGINT",
    "real": "DOUBLE PRECISION",
}
# Any number will do: it names this package's schema changes among a database's advisory locks.
_SCHEMA_LOCK = 7_236_410_992


class PostgresLog(SQLLog):
    """The log in one PostgreSQL database; a connection for each OS thread."""

    def __init__(self, url: str, retry_s: float) -> None:
        self._psycopg = need("psycopg", "postgres")
        self._url = url
        self._retry_s = retry_s
        self._connections: Connections[Any] = Connections()
        self._prepared = False

    def _is_idle(self, connection: Any) -> bool:
        """Return whether a connection can begin a transaction; a lost or closed one cannot."""
        idle = self._psycopg.pq.TransactionStatus.IDLE
        return connection.info.transaction_status == idle

    def _connect(self) -> Any:
        connection = self._psycopg.connect(self._url, autocommit=True, connect_timeout=10)
        try:
            if not self._prepared:
                with connection.transaction(), connection.cursor() as cursor:
                    execute = _executor(cursor)
                    execute("SELECT pg_advisory_xact_lock(?)", (_SCHEMA_LOCK,))
                    self.prepare(execute, _WORDS)
                self._prepared = True
        except BaseException:
            connection.close()
            raise
        return connection

    def append(
        self,
        thread: str,
        branch: str,
        messages: Sequence[BaseMessage],
        state: dict[str, Any],
        expect: Any,
        key: str | None,
    ) -> str:
        key = key if key is not None else f"append/{uuid4()}"
        return super().append(thread, branch, messages, state, expect, key)

    def transact(self, work: Callable[[Execute], T], *, write: bool) -> T:
        deadline = time.monotonic() + self._retry_s
        pause = 0.05
        while True:
            try:
                return self._connections.use(self._connect, partial(self._once, work=work))
            except (self._psycopg.OperationalError, self._psycopg.InterfaceError) as error:
                self._connections.drop()
                if time.monotonic() + pause > deadline:
                    raise StoreError(_problem(error)) from error
                time.sleep(pause)
                pause = min(pause * 2, 1.0)
            except self._psycopg.Error as error:
                raise StoreError(_problem(error)) from error

    def _once(self, connection: Any, work: Callable[[Execute], T]) -> T:
        if not self._is_idle(connection):  # a signal handler came between another transaction
            message = "the connection is busy"
            raise self._psycopg.OperationalError(message)
        try:
            with connection.transaction(), connection.cursor() as cursor:
                return work(_executor(cursor))
        finally:
            # An interrupt may leave a transaction open: it would keep its locks, and take in the next.
            if not self._is_idle(connection):
                self._connections.drop()

    def close(self) -> None:
        self._connections.close()


def _problem(error: Exception) -> str:
    """Return what is wrong, without the connection string, which may hold a password."""
    state = getattr(error, "sqlstate", None)
    reason = f"{type(error).__name__}{f' ({state})' if state else ''}"
    return f"the PostgreSQL thread store cannot be used: {reason}; check the URL and the server"


def _executor(cursor: Any) -> Execute:
    def execute(statement: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
        cursor.execute(statement.replace("?", "%s"), tuple(values))
        return cursor.fetchall() if cursor.description is not None else []

    return execute


class PostgresThreads(ThreadStore):
    """Threads in PostgreSQL.

    Args:
        url: A connection string, such as `postgresql://user@host/database`.
        retry_s: How long lost connections are opened again before giving up, in seconds.

    Raises:
        MissingExtraError: If psycopg is not installed.
        TypeError: If the URL is no text, but a connection, say.
    """

    def __init__(self, url: str, *, retry_s: float = 30.0) -> None:
        if not isinstance(url, str):
            message = (
                f"PostgresThreads takes a connection string, got {type(url).__name__}; pass the URL, "
                "the store opens and closes its connections itself"
            )
            raise TypeError(message)
        super().__init__(PostgresLog(url, retry_s))
