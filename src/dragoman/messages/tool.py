"""What a tool gave back, and the dicts that stand for tool calls."""

from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeAlias
from uuid import UUID

import msgspec
from msgspec import UNSET

from dragoman.errors import MergeError, MessageError, short
from dragoman.messages.base import BaseMessage, BaseMessageChunk
from dragoman.messages.calls import raw_calls
from dragoman.messages.content import InvalidToolCall, ToolCall, ToolCallChunk
from dragoman.messages.fields import NOT_GIVEN
from dragoman.messages.merge import _merge_value

if TYPE_CHECKING:
    Text: TypeAlias = str
else:
    Text = Any

__all__ = [
    "InvalidToolCall",
    "ToolCall",
    "ToolCallChunk",
    "ToolMessage",
    "ToolMessageChunk",
    "ToolOutputMixin",
    "default_tool_chunk_parser",
    "default_tool_parser",
    "invalid_tool_call",
    "tool_call",
    "tool_call_chunk",
]


class ToolOutputMixin:
    """Marks objects that a tool may return as they are, in place of content."""

    __slots__ = ()


class ToolMessage(BaseMessage, ToolOutputMixin, kw_only=True, dict=True, tag="tool"):
    """The result of a tool call.

    Attributes:
        tool_call_id: The id of the call this answers.
        artifact: Anything the application wants to keep; never sent to a model.
        status: `success` or `error`.

    >>> ToolMessage("25 °C", tool_call_id="call_1").status
    'success'
    """

    type: str = msgspec.field(default="tool", name="@type")
    tool_call_id: Text = NOT_GIVEN
    artifact: Any = None
    status: str = "success"

    _default_type = "tool"
    _role = "tool"
    _hidden: ClassVar[frozenset[str]] = frozenset({"additional_kwargs", "response_metadata"})

    def __post_init__(self) -> None:
        if (
            self._raw_content.__class__ is str
            and self.tool_call_id.__class__ is str
            and self.status == "success"
            and (self.id is None or self.id.__class__ is str)
            and self.name is None
            and self.type is self._default_type
            and self._raw_content_blocks is UNSET
            and self._raw_additional_kwargs is UNSET
            and self._raw_response_metadata is UNSET
        ):
            return
        self._check()

    def _check(self) -> None:
        content = self._raw_content
        if content.__class__ is not str and self._raw_content_blocks is UNSET:
            self._raw_content = _as_result(content)
        super()._check()
        if self.tool_call_id.__class__ is not str:
            self.tool_call_id = _as_call_id(self.tool_call_id)
        if self.status not in ("success", "error"):
            message = f"expected 'success' or 'error', got {short(self.status)}"
            raise MessageError(message, path="status")


def _as_result(content: Any) -> Any:
    """Return what a tool gave as content: text, or a list of strings and blocks."""
    if content is UNSET or content is None or isinstance(content, str):
        return content
    if isinstance(content, tuple):
        content = list(content)
    if isinstance(content, list):
        return [item if isinstance(item, str | dict) else str(item) for item in content]
    return str(content)


def _as_call_id(value: Any) -> str:
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, UUID | int | float) and not isinstance(value, bool):
        return str(value)
    if value is UNSET:
        message = "ToolMessage needs tool_call_id"
        raise MessageError(message, path="tool_call_id", hint="the id of the call it answers")
    message = f"expected text, got {short(value)}"
    raise MessageError(message, path="tool_call_id")


class ToolMessageChunk(
    ToolMessage, BaseMessageChunk, kw_only=True, dict=True, tag="ToolMessageChunk"
):
    """A piece of a `ToolMessage`."""

    type: str = msgspec.field(default="ToolMessageChunk", name="@type")
    _default_type = "ToolMessageChunk"

    def _plus(self, others: tuple[BaseMessageChunk, ...]) -> Self:
        new = super()._plus(others)
        for other in others:
            if isinstance(other, ToolMessageChunk):
                if other.tool_call_id != self.tool_call_id:
                    message = "Cannot concatenate ToolMessageChunks with different tool call ids"
                    raise MergeError(message, path="tool_call_id")
                new.artifact = _merge_artifacts(new.artifact, other.artifact)
                if other.status == "error":
                    new.status = "error"
        return new


def _merge_artifacts(left: Any, right: Any) -> Any:
    if left is None or right is None:
        return right if left is None else left
    if type(left) is not type(right):
        message = (
            f"cannot merge artifacts of types {type(left).__name__} and {type(right).__name__}"
        )
        raise MergeError(message, path="artifact")
    if isinstance(left, str | dict | list):
        return _merge_value(left, right, text=True)
    if left == right:
        return left
    message = f"cannot merge two different artifacts of type {type(left).__name__}"
    raise MergeError(message, path="artifact")


def tool_call(*, name: str, args: dict[str, Any], id: str | None) -> ToolCall:
    """Return a `tool_call` dict."""
    return {"name": name, "args": args, "id": id, "type": "tool_call"}


def tool_call_chunk(
    *,
    name: str | None = None,
    args: str | None = None,
    id: str | None = None,
    index: int | str | None = None,
) -> ToolCallChunk:
    """Return a `tool_call_chunk` dict; `args` is a piece of JSON text."""
    return {"name": name, "args": args, "id": id, "index": index, "type": "tool_call_chunk"}


def invalid_tool_call(
    *,
    name: str | None = None,
    args: str | None = None,
    id: str | None = None,
    error: str | None = None,
) -> InvalidToolCall:
    """Return an `invalid_tool_call` dict; `args` is the raw text."""
    return {"name": name, "args": args, "id": id, "error": error, "type": "invalid_tool_call"}


def default_tool_parser(
    raw_tool_calls: list[dict[str, Any]],
) -> tuple[list[ToolCall], list[InvalidToolCall]]:
    """Return the valid and invalid calls of OpenAI's raw form.

    >>> default_tool_parser([{"id": "1", "function": {"name": "f", "arguments": "{}"}}])
    ([{'name': 'f', 'args': {}, 'id': '1', 'type': 'tool_call'}], [])
    """
    return raw_calls(raw_tool_calls)


def default_tool_chunk_parser(raw_tool_calls: list[dict[str, Any]]) -> list[ToolCallChunk]:
    """Return the fragments of OpenAI's raw form; an entry without `function` has no name and args."""
    chunks: list[ToolCallChunk] = []
    for call in raw_tool_calls:
        function: Any = call.get("function") or {}
        args = function.get("arguments")
        if args is not None and not isinstance(args, str):
            import json

            args = json.dumps(args)
        chunks.append(
            tool_call_chunk(
                name=function.get("name"), args=args, id=call.get("id"), index=call.get("index")
            )
        )
    return chunks
