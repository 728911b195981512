"""A conversation as one string, for prompts and logs."""

from collections.abc import Iterable
from typing import Any, Literal

from dragoman.errors import MessageError, short
from dragoman.messages.ai import AIMessage
from dragoman.messages.base import BaseMessage
from dragoman.messages.chat import ChatMessage
from dragoman.messages.coerce import convert_to_messages
from dragoman.messages.function import FunctionMessage
from dragoman.messages.human import HumanMessage
from dragoman.messages.system import SystemMessage
from dragoman.messages.tool import ToolMessage

__all__ = ["get_buffer_string"]


def get_buffer_string(
    messages: Iterable[Any],
    human_prefix: str = "Human",
    ai_prefix: str = "AI",
    *,
    system_prefix: str = "System",
    function_prefix: str = "Function",
    tool_prefix: str = "Tool",
    message_separator: str = "\n",
    format: Literal["prefix", "xml"] = "prefix",
) -> str:
    r"""Return the messages as `Role: text` lines, or as XML elements; never base64.

    Raises:
        MessageError: If `format` is neither `prefix` nor `xml`, or a message has no role
            (a RemoveMessage).

    >>> from dragoman.messages import AIMessage, HumanMessage
    >>> get_buffer_string([HumanMessage("Hi"), AIMessage("Hello")])
    'Human: Hi\nAI: Hello'
    """
    if format not in ("prefix", "xml"):
        message = f"Unrecognized format={short(format)}. Supported formats are 'prefix' and 'xml'."
        raise MessageError(message)
    prefixes: list[tuple[type[BaseMessage], str]] = [
        (HumanMessage, human_prefix),
        (AIMessage, ai_prefix),
        (SystemMessage, system_prefix),
        (FunctionMessage, function_prefix),
        (ToolMessage, tool_prefix),
    ]
    lines: list[str] = []
    for position, message in enumerate(convert_to_messages(messages)):
        if isinstance(message, ChatMessage):
            role, word = message.role, message.role
        else:
            role = next((p for cls, p in prefixes if isinstance(message, cls)), None)
            if role is None:
                text = f"Got unsupported message type: {type(message).__name__}"
                raise MessageError(text, path=f"$[{position}]")
            word = role.lower()
        lines.append(
            _element(message, word) if format == "xml" else f"{role}: {_prefixed(message)}"
        )
    return message_separator.join(lines)


def _prefixed(message: BaseMessage) -> str:
    text = str(message.text)
    if isinstance(message, AIMessage):
        if message.tool_calls:
            return f"{text}{message.tool_calls}"
        if "function_call" in message.additional_kwargs:
            return f"{text}{message.additional_kwargs['function_call']}"
    return text


def _element(message: BaseMessage, word: str) -> str:
    from dragoman.messages.buffer_xml import element  # its imports cost more than all of messages

    return element(message, word)
