"""What a cache of model responses can do."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from dragoman.outputs import Generation

__all__ = ["RETURN_VAL_TYPE", "BaseCache"]

RETURN_VAL_TYPE = Sequence[Generation]


class BaseCache(ABC):
    """Responses by (prompt, model) keys.

    `prompt` is the dumped history without message ids, `llm_string` the model with all its
    settings: both together decide whether two calls are the same. The async methods run the sync
    ones in a thread unless a subclass has better.
    """

    @abstractmethod
    def lookup(self, prompt: str, llm_string: str) -> RETURN_VAL_TYPE | None:
        """Return the stored generations, or None."""

    @abstractmethod
    def update(self, prompt: str, llm_string: str, return_val: RETURN_VAL_TYPE) -> None:
        """Store the generations."""

    @abstractmethod
    def clear(self, **kwargs: Any) -> None:
        """Drop everything; `kwargs` may narrow what, as the subclass defines."""

    async def alookup(self, prompt: str, llm_string: str) -> RETURN_VAL_TYPE | None:
        """Return the stored generations, or None."""
        return await asyncio.to_thread(self.lookup, prompt, llm_string)

    async def aupdate(self, prompt: str, llm_string: str, return_val: RETURN_VAL_TYPE) -> None:
        """Store the generations."""
        await asyncio.to_thread(self.update, prompt, llm_string, return_val)

    async def aclear(self, **kwargs: Any) -> None:
        """Drop everything; `kwargs` as in `clear`."""
        await asyncio.to_thread(lambda: self.clear(**kwargs))
