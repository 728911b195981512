"""A handler that adds up the tokens of every model call, per model."""

import threading
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from typing_extensions import override

from dragoman.callbacks.ambient import with_handler
from dragoman.callbacks.base import BaseCallbackHandler

__all__ = ["UsageMetadataCallbackHandler", "get_usage_metadata_callback"]


class UsageMetadataCallbackHandler(BaseCallbackHandler):
    """Adds up `usage_metadata` under the reply's `model_name`; safe from several threads.

    Attributes:
        usage_metadata: Model name -> usage, in tokens.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.usage_metadata: dict[str, Any] = {}

    @override
    def __repr__(self) -> str:
        return str(self.usage_metadata)

    @override
    def on_chat_model_start(
        self, serialized: dict[str, Any], messages: list[list[Any]], **kwargs: Any
    ) -> None:
        """Nothing to count yet."""

    @override
    def on_llm_end(self, response: Any, **kwargs: Any) -> None:
        """Add the usage of the reply; nothing happens without usage or without a model name."""
        from dragoman.messages.ai import add_usage

        try:
            message = response.generations[0][0].message
        except (AttributeError, IndexError):
            return
        usage = getattr(message, "usage_metadata", None)
        name = (getattr(message, "response_metadata", None) or {}).get("model_name")
        if usage and name:
            with self._lock:
                self.usage_metadata[name] = add_usage(self.usage_metadata.get(name), usage)


@contextmanager
def get_usage_metadata_callback(
    name: str = "usage_metadata_callback",
) -> Generator[UsageMetadataCallbackHandler, None, None]:
    """Yield a handler that hears of every model call made inside the `with` block.

    `name` is accepted for LangChain's sake; blocks nest and do not see each other through it.

    >>> with get_usage_metadata_callback() as usage:
    ...     pass
    >>> usage.usage_metadata
    {}
    """
    handler = UsageMetadataCallbackHandler()
    with with_handler(handler):
        yield handler
