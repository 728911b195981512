"""Calls and results that stand only in content, as they do in histories written in Anthropic's form.

An assistant message whose content holds a `tool_use` calls, and a user message that holds a
`tool_result` answers, whether or not `tool_calls` and `ToolMessage` say the same. Encoders read both;
whoever pairs calls and results has to see what they see.
"""

import operator
from collections.abc import Sequence
from typing import Any

from dragoman.codecs.turns import split_results
from dragoman.messages.ai import AIMessage
from dragoman.messages.base import BaseMessage
from dragoman.messages.translate import standard_blocks

__all__ = ["Parts", "calls_of"]


def calls_of(message: AIMessage) -> list[Any]:
    """Return the calls of a reply, invalid ones included: its own, then those only its content shows."""
    calls: list[Any] = [*message.tool_calls, *message.invalid_tool_calls]
    if message.content.__class__ is not list:
        return calls
    known = {call["id"] for call in calls}
    if not any(_is_other_call(block, known) for block in standard_blocks(message.content)):
        return calls
    # Only the whole message tells a provider's item id from another call.
    return calls + [block for block in message.content_blocks if _is_other_call(block, known)]


def _is_other_call(block: Any, known: set[Any]) -> bool:
    id_val = block.get("id")
    is_call = block["type"] == "tool_call" and isinstance(block.get("name"), str)
    return is_call and isinstance(id_val, str) and id_val not in known


class Parts:
    """A history in which results that stand in user messages are messages of their own.

    Attributes:
        messages: The parts; messages that hold no result are the same objects.
    """

    def __init__(self, messages: Sequence[BaseMessage]) -> None:
        self.messages: list[BaseMessage] = []
        self._origins: list[int] = []
        self._split: dict[int, tuple[BaseMessage, list[BaseMessage]]] = {}
        for position, message in enumerate(messages):
            parts = split_results(message) if message.content.__class__ is list else [message]
            if parts[0] is not message:
                self._split[id(parts[0])] = message, parts
            self.messages += parts
            self._origins += [position] * len(parts)

    def origin(self, position: int) -> int:
        """Return which message of the history the part at `position` is of."""
        return self._origins[position]

    def joined(self, parts: list[BaseMessage]) -> list[BaseMessage]:
        """Return a list of parts in which messages that stayed as they were are whole again."""
        if not self._split:
            return parts
        whole: list[BaseMessage] = []
        position = 0
        while position < len(parts):
            message, own = self._split.get(id(parts[position]), (None, []))
            follows = parts[position : position + len(own)]
            is_whole = len(follows) == len(own) and all(map(operator.is_, own, follows))
            if message is not None and is_whole:
                whole.append(message)
                position += len(own)
            else:
                whole.append(parts[position])
                position += 1
        return whole
