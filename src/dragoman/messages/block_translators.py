"""Translators of users' own content formats, by the provider's name.

Dragoman registers none: the blocks of known providers are told apart by their shape.
"""

from collections.abc import Callable
from typing import Any

__all__ = ["PROVIDER_TRANSLATORS", "get_translator", "register_translator"]

Translate = Callable[[Any], list[Any]]

PROVIDER_TRANSLATORS: dict[str, dict[str, Translate]] = {}
"""From a provider's name to its `translate_content` and `translate_content_chunk`."""


def register_translator(
    provider: str, translate_content: Translate, translate_content_chunk: Translate
) -> None:
    """Register functions that give the standard blocks of a message and of a chunk.

    They are asked for messages whose `response_metadata["model_provider"]` is `provider`.
    """
    PROVIDER_TRANSLATORS[provider] = {
        "translate_content": translate_content,
        "translate_content_chunk": translate_content_chunk,
    }


def get_translator(provider: str) -> dict[str, Translate] | None:
    """Return the functions registered for `provider`, or None."""
    return PROVIDER_TRANSLATORS.get(provider)
