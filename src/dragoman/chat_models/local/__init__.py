"""The embedded model: a real model on the CPU, offline, behind HTTP like every other provider.

`server()` starts it (fetching its weights once) and says where it answers; `prepare` turns a chat
completions body into what it understands best; `count_tokens` and `count_prompt_tokens` are exact.
With a path they do the same for any .gguf. Importing this starts nothing and loads no model.
"""

from dragoman.chat_models.local.recipes import ANY_GGUF, BUNDLED, Recipe, prepare
from dragoman.chat_models.local.servers import BUNDLED_MODEL, LocalServer, running, server, stop
from dragoman.chat_models.local.tokens import count_prompt_tokens, count_tokens
from dragoman.chat_models.local.weights import cache_folder, find_weights, is_cached

__all__ = [
    "ANY_GGUF",
    "BUNDLED",
    "BUNDLED_MODEL",
    "LocalServer",
    "Recipe",
    "cache_folder",
    "count_prompt_tokens",
    "count_tokens",
    "find_weights",
    "is_cached",
    "prepare",
    "running",
    "server",
    "stop",
]
