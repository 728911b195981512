"""All message classes by their `type`, and the union of them."""

from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from dragoman.messages.ai import AIMessage, AIMessageChunk
from dragoman.messages.base import BaseMessage
from dragoman.messages.chat import ChatMessage, ChatMessageChunk
from dragoman.messages.function import FunctionMessage, FunctionMessageChunk
from dragoman.messages.human import HumanMessage, HumanMessageChunk
from dragoman.messages.modifier import RemoveMessage
from dragoman.messages.system import SystemMessage, SystemMessageChunk
from dragoman.messages.tool import ToolMessage, ToolMessageChunk

__all__ = ["CHUNK_PARENT", "CLASSES", "PLAIN_CLASSES", "AnyMessage", "nearest_class"]

MESSAGE_CLASSES: tuple[type[BaseMessage], ...] = (
    AIMessage,
    HumanMessage,
    ChatMessage,
    SystemMessage,
    FunctionMessage,
    ToolMessage,
)
CHUNK_CLASSES: tuple[type[BaseMessage], ...] = (
    AIMessageChunk,
    HumanMessageChunk,
    ChatMessageChunk,
    SystemMessageChunk,
    FunctionMessageChunk,
    ToolMessageChunk,
)
CHUNK_PARENT: dict[type[BaseMessage], type[BaseMessage]] = dict(
    zip(CHUNK_CLASSES, MESSAGE_CLASSES, strict=True)
)
"""From a chunk class to the class of the whole message."""
CLASSES: dict[str, type[BaseMessage]] = {
    cls._default_type: cls for cls in (*MESSAGE_CLASSES, *CHUNK_CLASSES, RemoveMessage)
}
"""From a `type` to the class."""
PLAIN_CLASSES: frozenset[type] = frozenset((*MESSAGE_CLASSES, RemoveMessage))
"""Classes whose slots hold what their fields show, so that C code may read them."""


def nearest_class(cls: type) -> type[BaseMessage]:
    """Return the class of this package that a user's subclass is made from.

    >>> nearest_class(HumanMessage).__name__
    'HumanMessage'
    """
    known = set(CLASSES.values())
    return next((base for base in cls.__mro__ if base in known), BaseMessage)


class _AnyMessageSchema:
    """Tells pydantic how to read the union, without importing pydantic here."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _AnyMessageSchema)  # so that a pickled or copied union is equal

    def __hash__(self) -> int:
        return hash(_AnyMessageSchema)

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        from dragoman.messages.schema import any_message_schema

        return any_message_schema()

    def __get_pydantic_json_schema__(self, core_schema: Any, handler: Any) -> dict[str, Any]:
        from dragoman.messages.schema import any_json_schema

        return any_json_schema()


if TYPE_CHECKING:
    AnyMessage: TypeAlias = (
        AIMessage
        | HumanMessage
        | ChatMessage
        | SystemMessage
        | FunctionMessage
        | ToolMessage
        | AIMessageChunk
        | HumanMessageChunk
        | ChatMessageChunk
        | SystemMessageChunk
        | FunctionMessageChunk
        | ToolMessageChunk
    )
else:
    AnyMessage = Annotated[
        AIMessage
        | HumanMessage
        | ChatMessage
        | SystemMessage
        | FunctionMessage
        | ToolMessage
        | AIMessageChunk
        | HumanMessageChunk
        | ChatMessageChunk
        | SystemMessageChunk
        | FunctionMessageChunk
        | ToolMessageChunk,
        _AnyMessageSchema(),
    ]
