"""The shapes of the streaming path that carry nearly every event, for one C-speed pass.

A chunk that fits `TextChunk` holds text or call fragments and nothing that is not already known;
anything more (reasoning, usage, unknown fields, other types) is refused by msgspec and takes the
general path over plain dicts. Field names are the provider's.
"""

from collections.abc import Callable
from typing import Any

import msgspec

__all__ = ["Delta", "TextChunk", "read_text_chunk"]


class _Function(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    name: str | None = None
    arguments: str | None = None


class _Call(msgspec.Struct, forbid_unknown_fields=True):
    index: int
    id: str | None = None
    type: str | None = None
    function: _Function | None = None


class Delta(msgspec.Struct, forbid_unknown_fields=True):
    """What one event adds to a message."""

    content: str | None = None
    role: str | None = None
    tool_calls: list[_Call] | None = None
    refusal: None = None
    reasoning_content: str | None = None


class _Choice(msgspec.Struct, forbid_unknown_fields=True):
    delta: Delta
    index: int = 0
    finish_reason: None = None
    logprobs: None = None


class TextChunk(msgspec.Struct, forbid_unknown_fields=True):
    """A `chat.completion.chunk` of the common kind."""

    choices: list[_Choice]
    id: Any = None
    object: Any = None
    created: Any = None
    model: Any = None
    service_tier: Any = None
    system_fingerprint: Any = None
    usage: None = None
    obfuscation: Any = None


read_text_chunk: Callable[[bytes | str], TextChunk] = msgspec.json.Decoder(TextChunk).decode
"""Return the `TextChunk` in JSON text; raises `msgspec.MsgspecError` if it is of another kind."""
