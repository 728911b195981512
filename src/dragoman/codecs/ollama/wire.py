"""The shape of the streaming path that carries nearly every line, for one C-speed pass.

A line that fits holds a piece of text or of thinking and nothing else; calls, counters and unknown
fields are refused by msgspec and take the general path. Field names are the provider's.
"""

from collections.abc import Callable
from typing import Any, Literal

import msgspec

__all__ = ["TextLine", "read_text_line"]


class _Message(msgspec.Struct, forbid_unknown_fields=True):
    role: str | None = None
    content: str | None = None
    thinking: str | None = None


class TextLine(msgspec.Struct, forbid_unknown_fields=True):
    """One line of `/api/chat` of the common kind."""

    message: _Message
    done: Literal[False] | bool = False
    model: Any = None
    created_at: Any = None


read_text_line: Callable[[bytes | str], TextLine] = msgspec.json.Decoder(TextLine).decode
"""Return the `TextLine` in JSON text; raises `msgspec.MsgspecError` if it is of another kind."""
