"""Which thread store a command means: a file of SQLite, or a PostgreSQL database by its URL."""

import os
from pathlib import Path
from typing import Any

import click

from dragoman.errors import StoreError
from dragoman.threads import PostgresThreads, SQLiteThreads, ThreadStore

__all__ = ["default_store", "open_store", "store_option"]


def default_store() -> str:
    """Return what is meant where no store is named."""
    return os.environ.get("DRAGOMAN_THREADS") or str(Path.home() / ".dragoman" / "threads.db")


def store_option(function: Any) -> Any:
    """Add the option `--store` to a command."""
    return click.option(
        "--store",
        default=default_store,
        show_default="DRAGOMAN_THREADS, else ~/.dragoman/threads.db",
        metavar="FILE|URL",
        help="Where threads are kept: an SQLite file, or postgresql://...",
    )(function)


def open_store(where: str, *, make: bool = False) -> ThreadStore:
    """Return the store at `where`.

    Args:
        where: A path, or a URL of PostgreSQL.
        make: Whether a file that does not exist is made.

    Raises:
        StoreError: If there is no such file and none is to be made.
    """
    if where.startswith(("postgresql://", "postgres://")):
        return PostgresThreads(where)
    path = Path(where).expanduser()
    if make:
        path.parent.mkdir(parents=True, exist_ok=True)
    elif not path.exists():
        raise StoreError(f"there is no thread store {path}; name one with --store")
    return SQLiteThreads(path)
