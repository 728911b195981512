"""Threads: conversations that last, as an append-only log in which each entry knows its parent.

A store holds threads; a thread has branches; a branch names the last entry of a chain. Appending writes
one row, whatever the length of the conversation; nothing is rewritten. Every method has an async twin
with an `a` in front, which runs the same body in a worker thread.
"""

import asyncio
import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Protocol, Self, TypeVar

from dragoman.errors import StoreError, short
from dragoman.messages import BaseMessage, convert_to_messages
from dragoman.threads.snapshot import Entry, Snapshot, fold_entries

__all__ = ["ANY", "Log", "Thread", "ThreadConflict", "ThreadStore"]

T = TypeVar("T")


class _Any:
    """Stands for "whatever the head is"."""

    def __repr__(self) -> str:
        return "ANY"


ANY: Any = _Any()


class ThreadConflict(StoreError):  # noqa: N818 - a name of the design
    """Somebody else appended first; `.head` is where the thread stands now."""

    def __init__(self, head: str | None) -> None:
        super().__init__(f"the thread has moved to {head}; load it again and append to that")
        self.head = head


class Log(Protocol):
    """What a database has to do for a store; `SQLLog` does it."""

    def append(
        self,
        thread: str,
        branch: str,
        messages: Sequence[BaseMessage],
        state: dict[str, Any],
        expect: Any,
        key: str | None,
    ) -> str:
        """Append one entry to a branch and return its id."""
        ...

    def entries(self, thread: str, branch: str, at: str | None) -> list[Entry]:
        """Return the entries that lead to a head, the newest first."""
        ...

    def fork(self, thread: str, branch: str, name: str, at: str | None) -> None:
        """Let a new branch begin at an entry."""
        ...

    def branches(self, thread: str) -> dict[str, str]:
        """Return the branches of a thread: name to head."""
        ...

    def threads(self, prefix: str, before: float | None, limit: int | None) -> list[str]:
        """Return the ids of threads."""
        ...

    def delete(self, thread: str, before: float | None) -> bool:
        """Delete a thread, if it was last written before a time; return whether there was one."""
        ...

    def squash(
        self,
        thread: str,
        branch: str,
        shorten: Callable[[list[BaseMessage]], Sequence[BaseMessage]],
    ) -> int:
        """Put one entry in the place of a branch's chain; return how many messages went.

        The entry holds what `shorten` leaves of the messages; nobody appends meanwhile.
        """
        ...

    def close(self) -> None:
        """Close connections."""
        ...


class _Twins:
    """Gives every public method `x` its async twin `ax`."""

    @staticmethod
    async def _thread(function: Callable[..., T], *args: Any, **kwargs: Any) -> T:
        return await asyncio.to_thread(partial(function, *args, **kwargs))


def _check_count(value: Any, what: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        message = f"{what} has to be a whole number from 0, got {short(value)}"
        raise StoreError(message)


def _check_text(value: Any, what: str) -> None:
    if not isinstance(value, str):
        message = f"{what} has to be a text, got {short(value)}"
        raise StoreError(message)


def _check_id(thread_id: Any) -> None:
    if not isinstance(thread_id, str) or not thread_id:
        message = f"a thread id has to be a non-empty text, got {short(thread_id)}"
        raise StoreError(message)


def _check_time(before: Any) -> None:
    is_number = isinstance(before, int | float) and not isinstance(before, bool)
    if not is_number or not abs(before) <= sys.float_info.max:  # NaN is not, either
        message = f"before has to be seconds since the epoch, got {short(before)}"
        raise StoreError(message)


class Thread(_Twins):
    """One branch of one thread.

    Made by `store.thread(id)`; making it reads and writes nothing.
    """

    def __init__(self, log: Log, thread_id: str, branch: str = "main") -> None:
        self._log = log
        self.id = thread_id
        self.branch = branch

    def load(self, at: str | None = None, limit: int | None = None) -> Snapshot:
        """Return the thread's messages, oldest first, and its head.

        Args:
            at: An earlier head, for the state at that time.
            limit: The most messages wanted: the last of the history.

        Raises:
            StoreError: If `at` is no head of this thread, or the store cannot be read.
        """
        if limit is not None:
            _check_count(limit, "limit")
        entries = self._log.entries(self.id, self.branch, at)
        messages, state = fold_entries(reversed(entries))
        if limit is not None:
            messages = messages[max(len(messages) - limit, 0) :]
        if not entries:
            return Snapshot([], None, 0, {})
        return Snapshot(messages, entries[0].head, entries[0].depth, state)

    def append(
        self,
        messages: Any,
        expect: Any = ANY,
        *,
        key: str | None = None,
        state: dict[str, Any] | None = None,
    ) -> str:
        """Append messages in one piece, all or nothing, and return the new head.

        Args:
            messages: Anything `convert_to_messages` takes; a RemoveMessage removes.
            expect: The head to append to (None: an empty thread). Left out: whatever it is.
            key: A key of this append, such as `run/step`: a second append with the same key
                changes nothing and returns the head of the first.
            state: Plain data to keep beside the messages.

        Raises:
            ThreadConflict: If the head is not `expect`.
            StoreError: If the store cannot be written, or an argument has the wrong type.
            EncodeError: If a message holds something JSON cannot; names the path.
        """
        given = [messages] if isinstance(messages, BaseMessage | str) else messages
        kept = {} if state is None else state
        if not isinstance(kept, dict):
            message = f"state has to be a dict, got {short(kept)}"
            raise StoreError(message)
        if expect is not ANY and expect is not None:
            _check_text(expect, "expect")
        if key is not None:
            _check_text(key, "key")
        return self._log.append(self.id, self.branch, convert_to_messages(given), kept, expect, key)

    def fork(self, name: str, at: str | None = None) -> "Thread":
        """Return a new branch that begins at `at` (or here); both go their own way from there.

        Raises:
            StoreError: If there is a branch of that name, or no such head.
        """
        _check_text(name, "a branch's name")
        self._log.fork(self.id, self.branch, name, at)
        return Thread(self._log, self.id, name)

    def branches(self) -> dict[str, str]:
        """Return the branches of the thread: name to head."""
        return self._log.branches(self.id)

    def history(self, limit: int | None = None) -> list[Entry]:
        """Return the appends of this branch, the newest first."""
        if limit is not None:
            _check_count(limit, "limit")
        entries = self._log.entries(self.id, self.branch, None)
        return entries if limit is None else entries[:limit]

    async def aload(self, at: str | None = None, limit: int | None = None) -> Snapshot:
        """Async `load`."""
        return await self._thread(self.load, at, limit)

    async def aappend(
        self,
        messages: Any,
        expect: Any = ANY,
        *,
        key: str | None = None,
        state: dict[str, Any] | None = None,
    ) -> str:
        """Async `append`; if it is cancelled, the append has happened whole or not at all."""
        return await self._thread(self.append, messages, expect, key=key, state=state)

    async def afork(self, name: str, at: str | None = None) -> "Thread":
        """Async `fork`."""
        return await self._thread(self.fork, name, at)

    async def abranches(self) -> dict[str, str]:
        """Async `branches`."""
        return await self._thread(self.branches)

    async def ahistory(self, limit: int | None = None) -> list[Entry]:
        """Async `history`."""
        return await self._thread(self.history, limit)


class ThreadStore(_Twins):
    """Threads in some database; the stores of this package differ in that alone.

    `with SQLiteThreads(path) as store:` closes the connections at its end.
    """

    def __init__(self, log: Log) -> None:
        self._log = log

    def thread(self, thread_id: str, branch: str = "main") -> Thread:
        """Return a thread by its id; it need not exist yet.

        Raises:
            StoreError: If the id is empty or no text, or the branch is no text.
        """
        _check_id(thread_id)
        _check_text(branch, "a branch's name")
        return Thread(self._log, thread_id, branch)

    def list(
        self, prefix: str = "", before: float | None = None, limit: int | None = None
    ) -> list[str]:
        """Return the ids of threads in order of their bytes.

        Args:
            prefix: What the ids begin with; taken literally.
            before: Only threads that were last written before this time (seconds since the epoch).
            limit: The most ids wanted.
        """
        _check_text(prefix, "prefix")
        if before is not None:
            _check_time(before)
        if limit is not None:
            _check_count(limit, "limit")
        return self._log.threads(prefix, before, limit)

    def delete(self, thread_id: str) -> bool:
        """Delete everything of a thread; return whether there was one."""
        _check_id(thread_id)
        return self._log.delete(thread_id, None)

    def prune(self, thread_id: str, keep: int, branch: str = "main") -> int:
        """Forget the beginning of a branch: keep about its last `keep` messages.

        Tool calls stay with their results, so a few more may stay; removed and replaced messages go
        for good. State is kept.

        Returns:
            How many messages were forgotten.
        """
        _check_count(keep, "keep")
        thread = self.thread(thread_id, branch)
        return self._log.squash(thread.id, branch, partial(_last_units, keep=keep))

    def prune_before(self, before: float) -> int:
        """Delete the threads last written before a time (seconds since the epoch); return how many."""
        _check_time(before)
        # One that is written meanwhile stays.
        return sum(self._log.delete(thread_id, before) for thread_id in self.list(before=before))

    def close(self) -> None:
        """Close the store's connections after what they are doing; they open again when needed."""
        self._log.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def alist(
        self, prefix: str = "", before: float | None = None, limit: int | None = None
    ) -> "list[str]":
        """Async `list`."""
        return await self._thread(self.list, prefix, before, limit)

    async def adelete(self, thread_id: str) -> bool:
        """Async `delete`."""
        return await self._thread(self.delete, thread_id)

    async def aprune(self, thread_id: str, keep: int, branch: str = "main") -> int:
        """Async `prune`."""
        return await self._thread(self.prune, thread_id, keep, branch)

    async def aprune_before(self, before: float) -> int:
        """Async `prune_before`."""
        return await self._thread(self.prune_before, before)

    async def aclose(self) -> None:
        """Async `close`."""
        await self._thread(self.close)


def _last_units(messages: Sequence[BaseMessage], keep: int) -> list[BaseMessage]:
    """Return the last messages, reaching back to the turn whose results they hold."""
    from dragoman.transcript.units import call_ids, result_ids

    start = max(len(messages) - keep, 0)
    wanted = {id_val for message in messages[start:] for id_val in result_ids(message)}
    for position in range(start - 1, -1, -1):
        if not wanted:
            break
        ids = set(call_ids(messages[position]))
        if ids & wanted:
            wanted -= ids
            start = position
    # a result of that turn that stands in front of it in no valid history stays out
    return list(messages[start:])
