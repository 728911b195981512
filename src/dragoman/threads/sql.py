"""The log of threads in an SQL database: one set of statements for SQLite and PostgreSQL.

Ids and keys go into statements as parameters only, as bytes, so that any text is an id (quotes,
wildcards, NUL and lone surrogates too) and none ever matches another. Messages are native JSON in a
binary column: what is read is what was written.
"""

import json
import time
from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, TypeVar, cast

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

_MOST = 2**63 - 1  # more do not go into a statement

_CHAIN = """WITH RECURSIVE chain(id, parent, depth, entry_key, created, messages, state) AS (
    SELECT id, parent, depth, entry_key, created, messages, state
      FROM dragoman_entries WHERE id = ? AND thread = ?
    UNION ALL
    SELECT e.id, e.parent, e.depth, e.entry_key, e.created, e.messages, e.state
      FROM dragoman_entries e JOIN chain c ON e.id = c.parent
      WHERE e.thread = ? AND e.depth < c.depth
) SELECT id, parent, depth, entry_key, created, messages, state FROM chain ORDER BY depth DESC"""


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _state_json(state: dict[str, Any]) -> bytes:
    return json.dumps(to_plain(state, "state"), separators=(",", ":")).encode()


def _state(data: bytes) -> dict[str, Any]:
    state = from_plain(json.loads(data))
    if not isinstance(state, dict):
        message = f"expected an object of JSON, got {type(state).__name__}"
        raise TypeError(message)
    return cast("dict[str, Any]", state)


def _text(data: Any) -> str:
    try:
        return data.decode("utf-8", "surrogatepass")
    except (AttributeError, UnicodeDecodeError) as error:
        message = f"the thread store holds {short(data)} where the UTF-8 of a name has to be"
        raise StoreError(message) from error


def _damaged(thread: bytes, head: object) -> StoreError:
    message = (
        f"thread {short(_text(thread))} of the thread store is damaged: entry {short(head)} does not "
        "lead back to the first one; restore the database from a backup, or delete the thread"
    )
    return StoreError(message)


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
            StoreError: If it is newer than this code, or no version at all.
        """
        rows = execute("SELECT version FROM dragoman_schema", ())
        version: Any = rows[0][0] if rows else 0
        if not isinstance(version, int) or version < len(rows):
            message = (
                f"the thread store has the schema version {short(version)}, which no dragoman "
                "writes; restore the database from a backup"
            )
            raise StoreError(message)
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
            if done := self._done(execute, ids[0], entry_key):
                return done
            head, depth = self._lock(execute, ids)
            # Another append with this key may have had the lock until now.
            if done := self._done(execute, ids[0], entry_key):
                return done
            if expect is not ANY and expect != (None if head is None else str(head)):
                raise ThreadConflict(None if head is None else str(head))
            return str(self._insert(execute, ids, head, depth + 1, entry_key, data, kept))

        return self.transact(work, write=True)

    def _done(self, execute: Execute, thread: bytes, key: bytes | None) -> str | None:
        """Return the id of the append that had this key, if there was one."""
        if key is None:
            return None
        rows = execute(
            "SELECT id FROM dragoman_entries WHERE thread = ? AND entry_key = ?", (thread, key)
        )
        return str(rows[0][0]) if rows else None

    def _lock(self, execute: Execute, ids: tuple[bytes, bytes]) -> tuple[int | None, int]:
        """Return the branch's head and depth; nobody else moves it until the transaction ends."""
        execute(
            "INSERT INTO dragoman_branches (thread, name, head, updated) VALUES (?, ?, NULL, ?) "
            "ON CONFLICT (thread, name) DO UPDATE SET updated = excluded.updated",
            (*ids, time.time()),
        )
        head = self._head(execute, ids, None)
        return head, 0 if head is None else self._depth(execute, ids[0], head)

    def _depth(self, execute: Execute, thread: bytes, head: int) -> int:
        rows = execute(
            "SELECT depth FROM dragoman_entries WHERE id = ? AND thread = ?", (head, thread)
        )
        if not rows or not isinstance(rows[0][0], int):
            raise _damaged(thread, head)
        return rows[0][0]

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
            self._depth(execute, ids[0], head)
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
            messages, state = fold_entries(reversed(self._chain(execute, ids[0], head)))
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

    def entries(self, thread: str, branch: str, at: str | None) -> list[Entry]:
        """Return the entries that lead to a head, the newest first."""
        ids = _bytes(thread), _bytes(branch)

        def work(execute: Execute) -> list[Entry]:
            head = self._head(execute, ids, at)
            return [] if head is None else self._chain(execute, ids[0], head)

        return self.transact(work, write=False)

    def _chain(self, execute: Execute, thread: bytes, head: int) -> list[Entry]:
        entries = [_entry(row) for row in execute(_CHAIN, (head, thread, thread))]
        # Depths that fall by one to a first without parent: nothing is missing, and no row is met twice.
        depths = [entry.depth for entry in entries]
        if not entries or entries[-1].parent is not None or depths != [*range(len(entries), 0, -1)]:
            raise _damaged(thread, head)
        return entries

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
            values.append(float(before))
        statement += " ORDER BY thread"
        if limit is not None:
            statement += " LIMIT ?"
            values.append(min(limit, _MOST))

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
            depth=depth,
            key=None if key is None else _text(key),
            created=float(created),
            messages=list(messages_from_json(messages)),
            state=_state(state),
        )
    except (DragomanError, ValueError, TypeError, RecursionError) as error:
        message = f"entry {id_val} of the thread store cannot be read"
        raise StoreError(message) from error
