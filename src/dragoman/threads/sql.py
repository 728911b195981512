"""The log of threads in an SQL database: one set of statements for SQLite and PostgreSQL.

Ids and keys go into statements as parameters only, as bytes, so that any text is an id (quotes,
wildcards, NUL and lone surrogates too) and none ever matches another. Messages are native JSON in a
binary column: what is read is what was written.
"""

import json
import time
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from dragoman._json import from_plain, to_plain
from dragoman.errors import DragomanError, StoreError, short
from dragoman.messages import BaseMessage, messages_from_json, messages_to_json
from dragoman.threads.snapshot import Entry, fold_entries
from dragoman.threads.store import ANY, ThreadConflict

__all__ = ["SCHEMA_VERSION", "Execute", "SQLLog"]

T = TypeVar("T")
Row = tuple[Any, ...]
Execute = Callable[[str, Sequence[Any]], list[Row]]

# One step for each version; a database is brought up to date one step at a time.
_STEPS: tuple[tuple[str, ...], ...] = (
    (
        """CREATE TABLE dragoman_entries (
            id {serial}, thread {binary} NOT NULL, parent {integer}, depth {integer} NOT NULL,
            entry_key {binary}, created {real} NOT NULL, messages {binary} NOT NULL,
            state {binary} NOT NULL)""",
        "CREATE UNIQUE INDEX dragoman_entries_key ON dragoman_entries (thread, entry_key)",
        """CREATE TABLE dragoman_branches (
            thread {binary} NOT NULL, name {binary} NOT NULL, head {integer},
            updated {real} NOT NULL, PRIMARY KEY (thread, name))""",
    ),
    ("CREATE INDEX dragoman_branches_updated ON dragoman_branches (updated)",),
)
SCHEMA_VERSION = len(_STEPS)

_CHAIN = """WITH RECURSIVE chain(id, parent, depth, entry_key, created, messages, state) AS (
    SELECT id, parent, depth, entry_key, created, messages, state
      FROM dragoman_entries WHERE id = ? AND thread = ?
    UNION ALL
    SELECT e.id, e.parent, e.depth, e.entry_key, e.created, e.messages, e.state
      FROM dragoman_entries e JOIN chain c ON e.id = c.parent WHERE e.depth > ?
) SELECT id, parent, depth, entry_key, created, messages, state FROM chain ORDER BY depth DESC"""


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _state_json(state: dict[str, Any]) -> bytes:
    return json.dumps(to_plain(state, "state"), separators=(",", ":")).encode()


def _text(data: Any) -> str:
    return bytes(data).decode("utf-8", "surrogatepass")


class SQLLog:
    """The log on top of transactions that a subclass provides."""

    @abstractmethod
    def transact(self, work: Callable[[Execute], T], *, write: bool) -> T:
        """Return what `work` gives, done in one transaction: whole, or, if anything is raised, not at all.

        `work` is given a function to execute statements; after a lost connection it may run again.
        """

    @abstractmethod
    def close(self) -> None:
        """Close connections."""

    # ------------------------------------------------------------------ schema

    def prepare(self, execute: Execute, words: dict[str, str]) -> None:
        """Create the tables, or bring those of an older version up to date.

        Raises:
            StoreError: If the database was written by a newer version; it is not touched.
        """
        execute("CREATE TABLE IF NOT EXISTS dragoman_schema (version INTEGER NOT NULL)", ())
        version = self.version(execute)
        for step in _STEPS[version:]:
            for statement in step:
                execute(statement.format(**words), ())
        if version == 0:
            execute("INSERT INTO dragoman_schema (version) VALUES (?)", (SCHEMA_VERSION,))
        elif version < SCHEMA_VERSION:
            execute("UPDATE dragoman_schema SET version = ?", (SCHEMA_VERSION,))

    @staticmethod
    def version(execute: Execute) -> int:
        """Return the version of the tables, 0 if there are none yet.

        Raises:
            StoreError: If it is newer than this code.
        """
        rows = execute("SELECT version FROM dragoman_schema", ())
        version = int(rows[0][0]) if rows else 0
        if version > SCHEMA_VERSION:
            message = (
                f"the thread store has schema version {version}, this dragoman knows "
                f"{SCHEMA_VERSION}; upgrade dragoman"
            )
            raise StoreError(message)
        return version

    # ------------------------------------------------------------------ writing

    def append(
        self,
        thread: str,
        branch: str,
        messages: Sequence[BaseMessage],
        state: dict[str, Any],
        expect: Any,
        key: str | None,
    ) -> str:
        """Append one entry to a branch, all or nothing, and return its id."""
        data = messages_to_json(messages)
        kept = _state_json(state)
        ids = _bytes(thread), _bytes(branch)
        entry_key = None if key is None else _bytes(key)

        def work(execute: Execute) -> str:
            if entry_key is not None:
                done = execute(
                    "SELECT id FROM dragoman_entries WHERE thread = ? AND entry_key = ?",
                    (ids[0], entry_key),
                )
                if done:
                    return str(done[0][0])
            head, depth = self._lock(execute, ids)
            if expect is not ANY and expect != (None if head is None else str(head)):
                raise ThreadConflict(None if head is None else str(head))
            return str(self._insert(execute, ids, head, depth + 1, entry_key, data, kept))

        return self.transact(work, write=True)

    def _lock(self, execute: Execute, ids: tuple[bytes, bytes]) -> tuple[int | None, int]:
        """Return the branch's head and depth; nobody else moves it until the transaction ends."""
        execute(
            "INSERT INTO dragoman_branches (thread, name, head, updated) VALUES (?, ?, NULL, ?) "
            "ON CONFLICT (thread, name) DO UPDATE SET updated = excluded.updated",
            (*ids, time.time()),
        )
        head = execute("SELECT head FROM dragoman_branches WHERE thread = ? AND name = ?", ids)[0][
            0
        ]
        if head is None:
            return None, 0
        depth = execute("SELECT depth FROM dragoman_entries WHERE id = ?", (head,))
        return head, int(depth[0][0]) if depth else 0

    def _hold(self, execute: Execute, thread: bytes) -> None:
        """Let nobody else move, fork or delete branches of a thread until the transaction ends."""
        execute("UPDATE dragoman_branches SET head = head WHERE thread = ?", (thread,))

    def _insert(
        self,
        execute: Execute,
        ids: tuple[bytes, bytes],
        parent: int | None,
        depth: int,
        key: bytes | None,
        data: bytes,
        state: bytes,
    ) -> int:
        row = execute(
            "INSERT INTO dragoman_entries (thread, parent, depth, entry_key, created, messages, "
            "state) VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING id",
            (ids[0], parent, depth, key, time.time(), data, state),
        )[0]
        execute(
            "UPDATE dragoman_branches SET head = ?, updated = ? WHERE thread = ? AND name = ?",
            (row[0], time.time(), *ids),
        )
        return int(row[0])

    def fork(self, thread: str, branch: str, name: str, at: str | None) -> None:
        """Let a new branch begin at an entry."""
        ids = _bytes(thread), _bytes(branch)

        def work(execute: Execute) -> None:
            self._hold(execute, ids[0])
            head = self._head(execute, ids, at)
            if head is None:
                message = f"there is nothing to fork in branch {short(branch)}"
                raise StoreError(message)
            taken = execute(
                "SELECT 1 FROM dragoman_branches WHERE thread = ? AND name = ?",
                (ids[0], _bytes(name)),
            )
            if taken:
                message = f"there is a branch {short(name)} already"
                raise StoreError(message)
            execute(
                "INSERT INTO dragoman_branches (thread, name, head, updated) VALUES (?, ?, ?, ?)",
                (ids[0], _bytes(name), head, time.time()),
            )

        self.transact(work, write=True)

    def delete(self, thread: str, before: float | None) -> bool:
        """Delete all rows of a thread, if it was last written before a time; return whether any were."""
        thread_id = _bytes(thread)

        def work(execute: Execute) -> bool:
            self._hold(execute, thread_id)
            if before is not None and execute(
                "SELECT 1 FROM dragoman_branches WHERE thread = ? AND updated >= ?",
                (thread_id, before),
            ):
                return False
            gone = execute(
                "DELETE FROM dragoman_branches WHERE thread = ? RETURNING 1", (thread_id,)
            )
            execute("DELETE FROM dragoman_entries WHERE thread = ?", (thread_id,))
            return bool(gone)

        return self.transact(work, write=True)

    def squash(
        self,
        thread: str,
        branch: str,
        shorten: Callable[[list[BaseMessage]], Sequence[BaseMessage]],
    ) -> int:
        """Put one entry in the place of a branch's whole chain; return how many messages went."""
        ids = _bytes(thread), _bytes(branch)

        def work(execute: Execute) -> int:
            self._hold(execute, ids[0])
            head = self._head(execute, ids, None)
            if head is None:
                return 0
            messages, state = fold_entries(reversed(list(self._walk(execute, ids[0], head, None))))
            kept = shorten(messages)
            self._insert(execute, ids, None, 1, None, messages_to_json(kept), _state_json(state))
            execute(
                """WITH RECURSIVE kept(id, parent) AS (
                    SELECT e.id, e.parent FROM dragoman_entries e
                      JOIN dragoman_branches b ON b.head = e.id WHERE b.thread = ?
                    UNION
                    SELECT e.id, e.parent FROM dragoman_entries e JOIN kept k ON e.id = k.parent
                ) DELETE FROM dragoman_entries
                   WHERE thread = ? AND id NOT IN (SELECT id FROM kept)""",
                (ids[0], ids[0]),
            )
            return len(messages) - len(kept)

        return self.transact(work, write=True)

    # ------------------------------------------------------------------ reading

    def _head(self, execute: Execute, ids: tuple[bytes, bytes], at: str | None) -> int | None:
        if at is None:
            rows = execute("SELECT head FROM dragoman_branches WHERE thread = ? AND name = ?", ids)
            return rows[0][0] if rows else None
        number = int(at) if isinstance(at, str) and at.isdecimal() and len(at) < 19 else -1
        if not execute(
            "SELECT 1 FROM dragoman_entries WHERE id = ? AND thread = ?", (number, ids[0])
        ):
            message = f"{short(at)} is no head of this thread"
            raise StoreError(message)
        return number

    def entries(self, thread: str, branch: str, at: str | None, limit: int | None) -> list[Entry]:
        """Return entries, the newest first; with `limit` only as many as hold that many messages."""
        ids = _bytes(thread), _bytes(branch)

        def work(execute: Execute) -> list[Entry]:
            head = self._head(execute, ids, at)
            if head is None:
                return []
            return list(self._walk(execute, ids[0], head, limit))

        return self.transact(work, write=False)

    def _walk(
        self, execute: Execute, thread: bytes, head: int, limit: int | None
    ) -> Iterator[Entry]:
        top = int(execute("SELECT depth FROM dragoman_entries WHERE id = ?", (head,))[0][0])
        # A limited read goes back in growing steps and stops as soon as enough is there.
        step = top if limit is None else max(limit, 8)
        found = 0
        while top > 0:
            floor = max(top - step, 0)
            parent: int | None = None
            for row in execute(_CHAIN, (head, thread, floor)):
                entry = _entry(row)
                yield entry
                # A removal takes itself and what it removes off the count.
                found += sum(1 if m.type != "remove" else -1 for m in entry.messages)
                parent = row[1]
            if parent is None or (limit is not None and found >= limit):
                return
            head = parent
            top, step = floor, step * 2

    def branches(self, thread: str) -> dict[str, str]:
        """Return the branches of a thread: name to head."""

        def work(execute: Execute) -> dict[str, str]:
            rows = execute(
                "SELECT name, head FROM dragoman_branches WHERE thread = ? AND head IS NOT NULL "
                "ORDER BY name",
                (_bytes(thread),),
            )
            return {_text(name): str(head) for name, head in rows}

        return self.transact(work, write=False)

    def threads(self, prefix: str, before: float | None, limit: int | None) -> list[str]:
        """Return the ids of threads."""
        start = _bytes(prefix)
        statement = "SELECT thread FROM dragoman_branches WHERE thread >= ?"
        values: list[Any] = [start]
        stop = _after(start)
        if stop is not None:
            statement += " AND thread < ?"
            values.append(stop)
        statement += " GROUP BY thread"
        if before is not None:
            statement += " HAVING MAX(updated) < ?"
            values.append(before)
        statement += " ORDER BY thread"
        if limit is not None:
            statement += " LIMIT ?"
            values.append(limit)

        def work(execute: Execute) -> list[str]:
            return [_text(row[0]) for row in execute(statement, values)]

        return self.transact(work, write=False)


def _after(prefix: bytes) -> bytes | None:
    """Return the first byte string behind all that begin with `prefix`."""
    short_prefix = prefix.rstrip(b"\xff")
    if not short_prefix:
        return None
    return short_prefix[:-1] + bytes([short_prefix[-1] + 1])


def _entry(row: Row) -> Entry:
    id_val, parent, depth, key, created, messages, state = row
    try:
        return Entry(
            head=str(id_val),
            parent=None if parent is None else str(parent),
            depth=int(depth),
            key=None if key is None else _text(key),
            created=float(created),
            messages=list(messages_from_json(bytes(messages))),
            state=from_plain(json.loads(bytes(state))),
        )
    except (DragomanError, ValueError, TypeError) as error:
        message = f"entry {id_val} of the thread store cannot be read"
        raise StoreError(message) from error
