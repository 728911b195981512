"""A cache that lives and dies with the process."""

from threading import Lock
from typing import Any

from dragoman.caches.base import RETURN_VAL_TYPE, BaseCache

__all__ = ["InMemoryCache"]


class InMemoryCache(BaseCache):
    """Responses in a dict; when full, the entry stored first makes room.

    Args:
        maxsize: The most entries to hold; None for no limit.

    Raises:
        ValueError: If `maxsize` is not positive.

    >>> cache = InMemoryCache(maxsize=1)
    >>> cache.update("a", "m", []), cache.update("b", "m", []), cache.lookup("a", "m")
    (None, None, None)
    """

    def __init__(self, *, maxsize: int | None = None) -> None:
        if maxsize is not None and maxsize <= 0:
            raise ValueError("maxsize must be greater than 0")
        self._cache: dict[tuple[str, str], RETURN_VAL_TYPE] = {}
        self._maxsize = maxsize
        self._lock = Lock()

    def lookup(self, prompt: str, llm_string: str) -> RETURN_VAL_TYPE | None:
        """Return the stored generations, or None."""
        return self._cache.get((prompt, llm_string))

    def update(self, prompt: str, llm_string: str, return_val: RETURN_VAL_TYPE) -> None:
        """Store the generations."""
        with self._lock:
            if self._maxsize is not None and (prompt, llm_string) not in self._cache:
                while len(self._cache) >= self._maxsize:
                    del self._cache[next(iter(self._cache))]
            self._cache[prompt, llm_string] = return_val

    def clear(self, **kwargs: Any) -> None:
        """Drop everything."""
        with self._lock:
            self._cache = {}

    # No thread for a dict lookup.
    async def alookup(self, prompt: str, llm_string: str) -> RETURN_VAL_TYPE | None:
        """Return the stored generations, or None."""
        return self.lookup(prompt, llm_string)

    async def aupdate(self, prompt: str, llm_string: str, return_val: RETURN_VAL_TYPE) -> None:
        """Store the generations."""
        self.update(prompt, llm_string, return_val)

    async def aclear(self, **kwargs: Any) -> None:
        """Drop everything."""
        self.clear()
