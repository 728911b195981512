"""What a tool returned, as the content of a message.

A text stays, known content blocks stay, everything else becomes JSON, or text where it is no JSON;
the same value always becomes the same text.
"""

import dataclasses
import json
import re
from collections.abc import Iterator
from typing import Any, cast

from dragoman.messages import ToolMessage
from dragoman.messages.tool import ToolOutputMixin

__all__ = ["TOOL_MESSAGE_BLOCK_TYPES", "format_output"]

_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+(?=>)")

TOOL_MESSAGE_BLOCK_TYPES = frozenset(
    {
        "audio",
        "custom_tool_call_output",
        "document",
        "file",
        "image",
        "image_url",
        "json",
        "search_result",
        "text",
        "video",
    }
)
"""Block types that may stand in a tool's result; a dict with any other `type` is data."""


def format_output(
    content: Any, artifact: Any, *, tool_call_id: str | None, name: str, status: str
) -> Any:
    """Return what the caller of a tool gets.

    Without a call id the content as it is; a message that the tool made itself; else a
    `ToolMessage`.
    """
    if isinstance(content, ToolOutputMixin) or tool_call_id is None or _is_made(content):
        return content
    return ToolMessage(
        content=message_content(content),
        artifact=artifact,
        tool_call_id=tool_call_id,
        name=name,
        status=cast("Any", status),
    )


def _is_made(content: Any) -> bool:
    return (
        isinstance(content, list)
        and bool(content)
        and all(isinstance(item, ToolOutputMixin) for item in content)
    )


def message_content(content: Any) -> Any:
    """Return `content` as a str or a list of strs and known blocks.

    >>> message_content({"a": "é"}), message_content([{"type": "user"}])
    ('{"a": "é"}', '[{"type": "user"}]')
    """
    if isinstance(content, str):
        return content
    if isinstance(content, list) and all(_is_block(item) for item in content):
        return content
    if isinstance(content, Iterator):
        content = list(content)
    if isinstance(content, BaseException):
        return f"{type(content).__name__}: {content}"
    try:
        return json.dumps(content, ensure_ascii=False, default=_plain)
    except (TypeError, ValueError, RecursionError):
        # The address in Python's default repr is another in each run, and no model's business.
        return _ADDRESS.sub("", str(content))


def _is_block(item: Any) -> bool:
    if isinstance(item, dict):
        kind = item.get("type")
        return isinstance(kind, str) and kind in TOOL_MESSAGE_BLOCK_TYPES
    return isinstance(item, str)


def _plain(value: Any) -> Any:
    """Return JSON data for a value that `json` does not know.

    Raises:
        TypeError: If there is no natural one.
    """
    if isinstance(value, (set, frozenset)):
        # The order of a set changes from process to process.
        return sorted(cast("set[Any]", value), key=repr)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    if hasattr(value, "tolist") and not isinstance(value, type):
        return value.tolist()  # arrays and scalars of numpy and its like
    raise TypeError
