"""A handler that prints a model's reply as it arrives."""

import sys
from typing import Any

from typing_extensions import override

from dragoman.callbacks.base import BaseCallbackHandler

__all__ = ["StreamingStdOutCallbackHandler"]


class StreamingStdOutCallbackHandler(BaseCallbackHandler):
    """Prints each token; needs a model that streams."""

    @override
    def on_chat_model_start(
        self, serialized: dict[str, Any], messages: list[list[Any]], **kwargs: Any
    ) -> None:
        """Nothing to print yet."""

    @override
    def on_llm_new_token(self, token: Any, **kwargs: Any) -> None:
        if isinstance(token, str):
            sys.stdout.write(token)
            sys.stdout.flush()
