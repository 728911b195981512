"""A cache in a SQLite file, shared by processes.

Keys are hashed, so that a long history costs 32 bytes; values are plain JSON of messages and
texts, read back without building any other class.
"""

import hashlib
import json
import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dragoman.caches.base import RETURN_VAL_TYPE, BaseCache
from dragoman.errors import StoreError
from dragoman.messages import messages_from_json, messages_to_json
from dragoman.outputs import ChatGeneration, Generation

__all__ = ["SQLiteCache"]

CREATE = """CREATE TABLE IF NOT EXISTS dragoman_llm_cache (
    prompt BLOB NOT NULL, llm BLOB NOT NULL, value TEXT NOT NULL, PRIMARY KEY (prompt, llm)
) WITHOUT ROWID"""
SELECT = "SELECT value FROM dragoman_llm_cache WHERE prompt = ? AND llm = ?"
REPLACE = "INSERT OR REPLACE INTO dragoman_llm_cache VALUES (?, ?, ?)"
DELETE = "DELETE FROM dragoman_llm_cache"


class SQLiteCache(BaseCache):
    """Responses in the table `dragoman_llm_cache` of a SQLite file.

    Args:
        database_path: The file; it is created when missing.

    Raises:
        StoreError: If the file cannot be read or written.

    >>> import tempfile, pathlib
    >>> folder = tempfile.TemporaryDirectory()
    >>> cache = SQLiteCache(pathlib.Path(folder.name) / "cache.db")
    >>> cache.update("prompt", "model", [Generation(text="Hi")])
    >>> cache.lookup("prompt", "model")
    [Generation(text='Hi')]
    >>> folder.cleanup()
    """

    def __init__(self, database_path: str | Path = ".dragoman.db") -> None:
        self._path = str(database_path)
        with self._connection() as connection:
            # Readers go on while one process writes.
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute(CREATE)

    @contextmanager
    def _connection(self) -> Generator[sqlite3.Connection, None, None]:
        # One connection a call: threads, forks and event loops then share nothing.
        try:
            connection = sqlite3.connect(self._path, timeout=30)
            try:
                with connection:
                    yield connection
            finally:
                connection.close()
        except sqlite3.Error as error:
            raise StoreError(f"The cache file cannot be used: {error}") from error

    def lookup(self, prompt: str, llm_string: str) -> RETURN_VAL_TYPE | None:
        """Return the stored generations, or None."""
        with self._connection() as connection:
            row = connection.execute(SELECT, (_hash(prompt), _hash(llm_string))).fetchone()
        return None if row is None else [_decode(item) for item in json.loads(row[0])]

    def update(self, prompt: str, llm_string: str, return_val: RETURN_VAL_TYPE) -> None:
        """Store the generations.

        Raises:
            EncodeError: If a message holds data that is no JSON and has no tag.
            StoreError: If the file cannot be written.
        """
        value = json.dumps([_encode(item) for item in return_val])
        with self._connection() as connection:
            connection.execute(REPLACE, (_hash(prompt), _hash(llm_string), value))

    def clear(self, **kwargs: Any) -> None:
        """Drop everything."""
        with self._connection() as connection:
            connection.execute(DELETE)


def _hash(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def _encode(item: Generation) -> dict[str, Any]:
    if isinstance(item, ChatGeneration):
        message = messages_to_json([item.message]).decode()
        return {"message": message, "generation_info": item.generation_info}
    return {"text": item.text, "generation_info": item.generation_info}


def _decode(item: dict[str, Any]) -> Generation:
    if "message" in item:
        message = messages_from_json(item["message"].encode())[0]
        return ChatGeneration(message=message, generation_info=item["generation_info"])
    return Generation(text=item["text"], generation_info=item["generation_info"])
