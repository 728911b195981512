"""What a user put into a block by mistake, told with its place when an encoder stumbles over it.

Blocks are plain dicts and nobody checks them while they are written: that would cost every request
something. Only when an encoder fails are the blocks looked at, and the first wrong value is named.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import wraps
from typing import Any, TypeVar, cast

from dragoman.codecs.contract import ChatRequest
from dragoman.errors import DragomanError, EncodeError
from dragoman.messages import BaseMessage

__all__ = ["explained"]

F = TypeVar("F", bound=Callable[..., Any])

_TEXT = (str,)
_TEXT_OR_NULL = (str, type(None))
_OBJECT_OR_NULL = (dict, type(None))
_ALWAYS: dict[str, tuple[type, ...]] = {
    "type": _TEXT_OR_NULL,
    "id": _TEXT_OR_NULL,
    "extras": _OBJECT_OR_NULL,
    "url": _TEXT_OR_NULL,
    "base64": _TEXT_OR_NULL,
    "file_id": _TEXT_OR_NULL,
    "mime_type": _TEXT_OR_NULL,
}
_MEDIA = {"data": _TEXT_OR_NULL, "source_type": _TEXT_OR_NULL}
_FIELDS: dict[str, dict[str, tuple[type, ...]]] = {
    "text": {"text": _TEXT_OR_NULL, "annotations": (list, type(None))},
    "text-plain": {"text": _TEXT_OR_NULL},
    "reasoning": {"reasoning": _TEXT_OR_NULL},
    "refusal": {"refusal": _TEXT_OR_NULL},
    "tool_call": {"name": _TEXT, "args": (dict,)},
    "tool_call_chunk": {"name": _TEXT_OR_NULL, "args": _TEXT_OR_NULL},
    "invalid_tool_call": {"name": _TEXT_OR_NULL, "args": _TEXT_OR_NULL},
    "server_tool_call": {"name": _TEXT, "args": (dict,)},
    "server_tool_result": {"tool_call_id": _TEXT, "status": _TEXT_OR_NULL},
    "tool_use": {"name": _TEXT, "input": (dict,)},
    "image": _MEDIA,
    "audio": _MEDIA,
    "video": _MEDIA,
    "file": _MEDIA,
}


def explained(encode: F) -> F:
    """Return an encoder that names the wrong value of a block where it would fail without a place.

    Raises:
        EncodeError: In place of a TypeError, KeyError ... when a block holds a value of a wrong type.
    """

    @wraps(encode)
    def run(given: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return encode(given, *args, **kwargs)
        except DragomanError:
            raise
        except (TypeError, KeyError, AttributeError, ValueError) as error:
            messages = given.messages if isinstance(given, ChatRequest) else [given]
            for wrong in _wrong_values(messages):
                raise wrong from error
            raise

    return cast("F", run)


def _wrong_values(messages: Sequence[BaseMessage]) -> Iterator[EncodeError]:
    for n, message in enumerate(messages):
        yield from _in_blocks(message.content, f"$[{n}].content")
        # Once more in the standard view: foreign blocks have other names for the same.
        yield from _in_blocks(message.content_blocks, f"$[{n}].content")


def _in_blocks(blocks: Any, path: str) -> Iterator[EncodeError]:
    for k, block in enumerate(blocks if isinstance(blocks, list) else ()):
        if not isinstance(block, dict):
            continue
        kind = block.get("type")
        fields = _FIELDS.get(kind, {}) if isinstance(kind, str) else {}
        for field, types in {**_ALWAYS, **fields}.items():
            value = block.get(field)
            if not isinstance(value, types):
                yield _error(value, types, f"{path}[{k}].{field}")
        yield from _in_blocks(block.get("content"), f"{path}[{k}].content")


def _error(value: Any, types: tuple[type, ...], path: str) -> EncodeError:
    wanted = {str: "a string", dict: "a dict", list: "a list"}[types[0]]
    text = f"expected {wanted}, got {type(value).__name__}"
    is_bytes = isinstance(value, bytes)
    return EncodeError(
        text, path=path, hint="use base64.b64encode(data).decode()" if is_bytes else None
    )
