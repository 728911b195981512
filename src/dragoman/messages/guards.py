"""Questions about the class of a message, that type checkers understand."""

from typing import Any

from typing_extensions import TypeIs

from dragoman.messages.ai import AIMessage, AIMessageChunk
from dragoman.messages.base import BaseMessage, BaseMessageChunk
from dragoman.messages.chat import ChatMessage, ChatMessageChunk
from dragoman.messages.function import FunctionMessage, FunctionMessageChunk
from dragoman.messages.human import HumanMessage, HumanMessageChunk
from dragoman.messages.modifier import RemoveMessage
from dragoman.messages.system import SystemMessage, SystemMessageChunk
from dragoman.messages.tool import ToolMessage, ToolMessageChunk

__all__ = [
    "is_ai_message",
    "is_ai_message_chunk",
    "is_chat_message",
    "is_chat_message_chunk",
    "is_function_message",
    "is_function_message_chunk",
    "is_human_message",
    "is_human_message_chunk",
    "is_message",
    "is_message_chunk",
    "is_remove_message",
    "is_system_message",
    "is_system_message_chunk",
    "is_tool_message",
    "is_tool_message_chunk",
]


def is_message(value: Any) -> TypeIs[BaseMessage]:
    """Return whether `value` is a message of any class."""
    return isinstance(value, BaseMessage)


def is_message_chunk(value: Any) -> TypeIs[BaseMessageChunk]:
    """Return whether `value` is a chunk of any class."""
    return isinstance(value, BaseMessageChunk)


def is_human_message(value: Any) -> TypeIs[HumanMessage]:
    """Return whether `value` is a `HumanMessage` or a chunk of one."""
    return isinstance(value, HumanMessage)


def is_ai_message(value: Any) -> TypeIs[AIMessage]:
    """Return whether `value` is an `AIMessage` or a chunk of one."""
    return isinstance(value, AIMessage)


def is_system_message(value: Any) -> TypeIs[SystemMessage]:
    """Return whether `value` is a `SystemMessage` or a chunk of one."""
    return isinstance(value, SystemMessage)


def is_tool_message(value: Any) -> TypeIs[ToolMessage]:
    """Return whether `value` is a `ToolMessage` or a chunk of one."""
    return isinstance(value, ToolMessage)


def is_function_message(value: Any) -> TypeIs[FunctionMessage]:
    """Return whether `value` is a `FunctionMessage` or a chunk of one."""
    return isinstance(value, FunctionMessage)


def is_chat_message(value: Any) -> TypeIs[ChatMessage]:
    """Return whether `value` is a `ChatMessage` or a chunk of one."""
    return isinstance(value, ChatMessage)


def is_remove_message(value: Any) -> TypeIs[RemoveMessage]:
    """Return whether `value` is a `RemoveMessage`."""
    return isinstance(value, RemoveMessage)


def is_human_message_chunk(value: Any) -> TypeIs[HumanMessageChunk]:
    """Return whether `value` is a `HumanMessageChunk`."""
    return isinstance(value, HumanMessageChunk)


def is_ai_message_chunk(value: Any) -> TypeIs[AIMessageChunk]:
    """Return whether `value` is an `AIMessageChunk`."""
    return isinstance(value, AIMessageChunk)


def is_system_message_chunk(value: Any) -> TypeIs[SystemMessageChunk]:
    """Return whether `value` is a `SystemMessageChunk`."""
    return isinstance(value, SystemMessageChunk)


def is_tool_message_chunk(value: Any) -> TypeIs[ToolMessageChunk]:
    """Return whether `value` is a `ToolMessageChunk`."""
    return isinstance(value, ToolMessageChunk)


def is_function_message_chunk(value: Any) -> TypeIs[FunctionMessageChunk]:
    """Return whether `value` is a `FunctionMessageChunk`."""
    return isinstance(value, FunctionMessageChunk)


def is_chat_message_chunk(value: Any) -> TypeIs[ChatMessageChunk]:
    """Return whether `value` is a `ChatMessageChunk`."""
    return isinstance(value, ChatMessageChunk)
