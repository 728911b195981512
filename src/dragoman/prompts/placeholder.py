"""`MessagesPlaceholder`: the place in a chat prompt where a list of messages goes."""

from collections.abc import Sequence
from typing import Annotated, Any

from annotated_types import Gt

from dragoman.errors import short
from dragoman.messages import (
    AIMessage,
    AIMessageChunk,
    ChatMessage,
    ChatMessageChunk,
    FunctionMessage,
    FunctionMessageChunk,
    HumanMessage,
    HumanMessageChunk,
    RemoveMessage,
    SystemMessage,
    SystemMessageChunk,
    ToolMessage,
    ToolMessageChunk,
    convert_to_messages,
)
from dragoman.messages.base import BaseMessage, get_msg_title_repr
from dragoman.prompts.message import BaseMessagePromptTemplate
from dragoman.prompts.string import yellow

__all__ = ["MessagesPlaceholder"]

_KNOWN = {
    AIMessage,
    AIMessageChunk,
    ChatMessage,
    ChatMessageChunk,
    FunctionMessage,
    FunctionMessageChunk,
    HumanMessage,
    HumanMessageChunk,
    RemoveMessage,
    SystemMessage,
    SystemMessageChunk,
    ToolMessage,
    ToolMessageChunk,
}


class MessagesPlaceholder(BaseMessagePromptTemplate):
    """A variable that holds messages, or anything that can become one.

    Attributes:
        variable_name: The name of the variable.
        optional: Whether the variable may be missing (or None); then there are no messages.
        n_messages: Keep so many messages, the last; None for all.

    >>> MessagesPlaceholder("history").format_messages(history=[("user", "hi")])
    [HumanMessage(content='hi', additional_kwargs={}, response_metadata={})]
    """

    variable_name: str
    optional: bool = False
    n_messages: Annotated[int, Gt(0)] | None = None

    def __init__(self, variable_name: str, *, optional: bool = False, **kwargs: Any) -> None:
        """Build from the variable's name."""
        super().__init__(variable_name=variable_name, optional=optional, **kwargs)  # pyright: ignore[reportCallIssue] - pydantic's keywords

    def format_messages(self, **kwargs: Any) -> list[BaseMessage]:
        """Return the variable's messages in a new list.

        Raises:
            KeyError: If the variable is missing and not optional.
            ValueError: If it is no list.
        """
        return list(self.take(kwargs))

    def take(self, values: dict[str, Any]) -> Sequence[BaseMessage]:
        """Return the messages, as `format_messages(**values)`, but perhaps the very list given."""
        name = self.variable_name
        value: Any = values.get(name) if self.optional else values[name]
        if value.__class__ is not list and not isinstance(value, list):
            if value is None and self.optional:
                return ()
            message = (
                f"variable {name} should be a list of base messages, "
                f"got {short(value)} of type {type(value)}"
            )
            raise ValueError(message)
        if self.n_messages:
            value = value[-self.n_messages :]
        # Not an isinstance for each message: a history may be long.
        return value if _KNOWN.issuperset(map(type, value)) else convert_to_messages(value)

    @property
    def input_variables(self) -> list[str]:
        """The variable's name, unless it is optional."""
        return [] if self.optional else [self.variable_name]

    def pretty_repr(self, html: bool = False) -> str:
        """Return a title and `{name}`; yellow when `html`."""
        shown = f"{{{self.variable_name}}}"
        if html:
            return f"{get_msg_title_repr('Messages Placeholder', bold=True)}\n\n{yellow(shown)}"
        return f"{get_msg_title_repr('Messages Placeholder')}\n\n{shown}"
