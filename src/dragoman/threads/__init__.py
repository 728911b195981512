"""Threads that last: conversations in memory, in SQLite, or in PostgreSQL (experimental).

A store's threads are append-only logs in which each entry knows its parent: an append writes one row,
branches share their past, and N turns cost O(N) bytes.
"""

from dragoman.threads.chat_history import ThreadChatHistory
from dragoman.threads.postgres import PostgresThreads
from dragoman.threads.snapshot import Entry, Snapshot
from dragoman.threads.sqlite import MemoryThreads, SQLiteThreads
from dragoman.threads.store import Thread, ThreadConflict, ThreadStore

__all__ = [
    "Entry",
    "MemoryThreads",
    "PostgresThreads",
    "SQLiteThreads",
    "Snapshot",
    "Thread",
    "ThreadChatHistory",
    "ThreadConflict",
    "ThreadStore",
]
