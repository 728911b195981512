"""Caches of model responses: in memory, or in a SQLite file."""

from dragoman.caches.base import RETURN_VAL_TYPE, BaseCache
from dragoman.caches.memory import InMemoryCache
from dragoman.caches.sqlite import SQLiteCache

__all__ = ["RETURN_VAL_TYPE", "BaseCache", "InMemoryCache", "SQLiteCache"]
