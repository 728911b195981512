"""What a tool returned, as the content of a message.

A text stays, known content blocks stay, everything else becomes JSON, or text where it is no JSON;
the same value always becomes the same text.
"""

import dataclasses
import json
import re
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextvars import ContextVar
from typing import Any, cast

from dragoman.messages import ToolMessage
from dragoman.messages.tool import ToolOutputMixin

__all__ = ["TOOL_MESSAGE_BLOCK_TYPES", "format_output"]

_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+(?=[ >])")

MAX_CHARS = 200_000
"""The most characters of a result's text, unless whoever runs the calls says otherwise."""

max_chars: ContextVar[int] = ContextVar("max_chars", default=MAX_CHARS)

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
        return listed(content)
    if isinstance(content, BaseException):
        return told(content)
    return _as_text(content)


def told(error: BaseException) -> str:
    """Return class and message of an error; the class alone where it has no message, or shows none."""
    name = type(error).__name__
    try:
        text = str(error)
    except Exception:  # noqa: BLE001 - whatever its `__str__` does, the error is told
        return name
    return f"{name}: {text}" if text else name


def listed(items: Iterator[Any]) -> str:
    """Return the items as one text; they are read until it is as long as a result may be.

    >>> listed(iter([1, "a"]))
    '[1, "a"]'
    """
    taken = _Taken()
    for item in items:
        if taken.is_full:
            return taken.cut()
        taken.add(item)
    return _as_text(taken.items)


async def alisted(items: AsyncIterator[Any]) -> str:
    """Return the items of an async iterator as one text, as `listed` does."""
    taken = _Taken()
    try:
        async for item in items:
            if taken.is_full:
                return taken.cut()
            taken.add(item)
    finally:
        if isinstance(items, AsyncGenerator):
            await cast("AsyncGenerator[Any, None]", items).aclose()
    return _as_text(taken.items)


class _Taken:
    """Items of an iterator, until their text is longer than a result may be."""

    def __init__(self) -> None:
        self.items: list[Any] = []
        self._limit = max_chars.get()
        self._size = 0

    @property
    def is_full(self) -> bool:
        return self._size > self._limit

    def add(self, item: Any) -> None:
        self.items.append(item)
        self._size += len(str(item)) + 2

    def cut(self) -> str:
        mark = f"\n[cut: {self._limit} characters of more]"
        return _as_text(self.items)[: max(self._limit - len(mark), 0)] + mark


def cut(content: Any, limit: int) -> Any:
    r"""Return content with at most `limit` characters of text, over all blocks, and a mark where it is cut.

    Media are no text and stay.

    >>> cut("abcdef", 4), cut(["ab", "cd"], 3)
    ('abcd\n[cut: 4 of 6 characters]', ['ab', 'c\n[cut: 3 of 4 characters]'])
    """
    blocks: list[Any] = content if isinstance(content, list) else [content]
    total = sum(len(_text_of(block)) for block in blocks)
    if total <= limit:
        return content
    kept: list[Any] = []
    left = limit
    for block in blocks:
        text = _text_of(block)
        if len(text) <= left:
            kept.append(block)
            left -= len(text)
        elif left >= 0:
            short = f"{text[:left]}\n[cut: {limit} of {total} characters]"
            kept.append(short if isinstance(block, str) else {**block, "text": short})
            left = -1
        elif not text:
            kept.append(block)
    return kept if isinstance(content, list) else kept[0]


def _text_of(block: Any) -> str:
    text = block.get("text") if isinstance(block, dict) else block
    return text if isinstance(text, str) else ""


def _as_text(content: Any) -> str:
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
