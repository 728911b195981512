"""What crosses, by its kind: one table for each direction.

Prompt values are here; messages and tools have files of their own.
"""

from typing import Any

from langchain_core import prompt_values as theirs
from langchain_core.messages import BaseMessage as TheirMessage
from langchain_core.tools import BaseTool as TheirTool

from dragoman import prompt_values as ours
from dragoman.compat.messages import copied, message_in, message_out
from dragoman.compat.tools import tool_in, tool_out
from dragoman.errors import DecodeError, EncodeError
from dragoman.messages import BaseMessage
from dragoman.tools import BaseTool

__all__ = ["inward", "outward"]

PLAIN = (str, int, float, bool, bytes, type(None))
PROMPT_VALUES: tuple[tuple[Any, Any], ...] = (
    (ours.ChatPromptValueConcrete, theirs.ChatPromptValueConcrete),
    (ours.ChatPromptValue, theirs.ChatPromptValue),
    (ours.StringPromptValue, theirs.StringPromptValue),
    (ours.ImagePromptValue, theirs.ImagePromptValue),
)


def outward(value: Any, path: str) -> Any:
    """Return LangChain's counterpart of `value`.

    Raises:
        EncodeError: If it has none.
    """
    if isinstance(value, BaseMessage):
        return message_out(value, path)
    if isinstance(value, BaseTool):
        return tool_out(value)
    if isinstance(value, ours.PromptValue):
        for mine, cls in PROMPT_VALUES:
            if isinstance(value, mine):
                return _prompt_value(value, cls, outward, path)
    elif isinstance(value, (*PLAIN, TheirMessage, TheirTool, theirs.PromptValue)):
        return value
    inside = _inside(value, outward, path)
    if inside is not None:
        return inside
    text = f"{type(value).__name__} has no counterpart in langchain_core"
    hint = "messages, chunks, prompt values, tools, and lists and dicts of them have one"
    raise EncodeError(text, path=path, hint=hint)


def inward(value: Any, path: str) -> Any:
    """Return our counterpart of LangChain's `value`.

    Raises:
        DecodeError: If it has none.
    """
    if isinstance(value, TheirMessage):
        return message_in(value, path)
    if isinstance(value, TheirTool):
        return tool_in(value)
    if isinstance(value, theirs.PromptValue):
        for mine, cls in PROMPT_VALUES:
            if isinstance(value, cls):
                return _prompt_value(value, mine, inward, path)
    elif isinstance(value, (*PLAIN, BaseMessage, BaseTool, ours.PromptValue)):
        return value
    inside = _inside(value, inward, path)
    if inside is not None:
        return inside
    text = f"{type(value).__name__} has no counterpart here"
    hint = "messages, chunks, prompt values, tools, and lists and dicts of them have one"
    raise DecodeError(text, path=path, hint=hint)


def _prompt_value(value: Any, cls: Any, convert: Any, path: str) -> Any:
    for name in ("text", "image_url"):
        if hasattr(value, name):
            return cls(**{name: copied(getattr(value, name))})
    messages = [convert(m, f"{path}.messages[{i}]") for i, m in enumerate(value.messages)]
    return cls(messages=messages)


def _inside(value: Any, convert: Any, path: str) -> Any:
    """Return a container with what is in it converted, or None if it is no container."""
    if isinstance(value, list | tuple):
        items = [convert(item, f"{path}[{i}]") for i, item in enumerate(value)]
        return items if isinstance(value, list) else tuple(items)
    if isinstance(value, dict):
        return {key: convert(item, f"{path}.{key}") for key, item in value.items()}
    return None
