"""The state of an agent: its fields, how updates are reduced, and what callers may see."""

from collections.abc import Callable, Iterable
from typing import (
    Annotated,
    Any,
    Generic,
    Literal,
    NotRequired,
    Required,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

from typing_extensions import TypedDict, TypeVar

from dragoman.errors import DragomanError, short
from dragoman.messages import BaseMessage, MessageLikeRepresentation
from dragoman.messages.registry import AnyMessage
from dragoman.transcript.reduce import _taken, add_messages

__all__ = [
    "AgentState",
    "AgentStateError",
    "InputAgentState",
    "JumpTo",
    "OmitFromInput",
    "OmitFromOutput",
    "OmitFromSchema",
    "OutputAgentState",
    "PrivateStateAttr",
    "ResponseT",
    "StateSchema",
    "messages_of",
    "view",
]

JumpTo = Literal["tools", "model", "end"]
ResponseT = TypeVar("ResponseT", default=Any)


class AgentStateError(DragomanError, ValueError):
    """An update, or an input, that the state of an agent cannot take."""


class OmitFromSchema:
    """Marks a field that callers neither give nor get."""

    def __init__(self, input: bool = True, output: bool = True) -> None:
        self.input = input
        self.output = output


OmitFromInput: OmitFromSchema = OmitFromSchema(input=True, output=False)
"""Marks a field that callers do not give."""
OmitFromOutput: OmitFromSchema = OmitFromSchema(input=False, output=True)
"""Marks a field that callers do not get."""
PrivateStateAttr: OmitFromSchema = OmitFromSchema(input=True, output=True)
"""Marks a field of a middleware's own."""


class EphemeralValue:
    """Marks a field that lasts for one step."""


class AgentState(TypedDict, Generic[ResponseT]):
    """The state every agent has; `messages` are reduced by `add_messages`."""

    messages: Required[Annotated[list[AnyMessage], add_messages]]
    jump_to: NotRequired[Annotated[JumpTo | None, EphemeralValue, PrivateStateAttr]]
    structured_response: NotRequired[Annotated[ResponseT, OmitFromInput]]


class InputAgentState(TypedDict):
    """What callers give."""

    messages: Required[list[MessageLikeRepresentation]]


class OutputAgentState(TypedDict, Generic[ResponseT]):
    """What callers get."""

    messages: Required[list[AnyMessage]]
    structured_response: NotRequired[ResponseT]


Reducer = Callable[[Any, Any], Any]


class StateSchema:
    """The fields of all state classes of an agent together."""

    def __init__(self, schemas: Iterable[Any]) -> None:
        self.reducers: dict[str, Reducer | None] = {}
        self.hidden_in: set[str] = set()
        self.hidden_out: set[str] = set()
        for schema in [*schemas, AgentState]:
            hints = get_type_hints(schema, include_extras=True) if isinstance(schema, type) else {}
            if not hints:
                message = f"a state schema has to be a TypedDict with fields, got {short(schema)}"
                raise TypeError(message)
            for name, hint in hints.items():
                self._add(name, hint)

    def _add(self, name: str, hint: Any) -> None:
        reducer: Reducer | None = None
        self.hidden_in.discard(name)
        self.hidden_out.discard(name)
        for mark in _marks(hint):
            if isinstance(mark, OmitFromSchema):
                if mark.input:
                    self.hidden_in.add(name)
                if mark.output:
                    self.hidden_out.add(name)
            elif not isinstance(mark, type) and callable(mark):
                reducer = mark
        self.reducers[name] = reducer

    def given(self, value: Any) -> dict[str, Any]:
        """Return what a caller gave, without fields that callers do not give.

        Raises:
            AgentStateError: If it is no dict, or one that names no field of the state.
        """
        if not isinstance(value, dict):
            message = (
                f"an agent takes a dict with messages, got {type(value).__name__}; pass "
                '{"messages": [("user", "...")]}'
            )
            raise AgentStateError(message)
        known = {k: v for k, v in value.items() if k in self.reducers and k not in self.hidden_in}
        if value and not known:
            from difflib import get_close_matches

            fields = sorted(self.reducers.keys() - self.hidden_in)
            name = next(iter(value))
            near = get_close_matches(str(name), fields, n=1)
            message = f"the agent's state has no field {short(name)}; "
            message += f"did you mean {near[0]!r}?" if near else f"there are {', '.join(fields)}"
            raise AgentStateError(message)
        known.setdefault("messages", [])
        return known

    def shown(self, state: dict[str, Any]) -> dict[str, Any]:
        """Return a state as callers see it."""
        return {key: value for key, value in view(state).items() if key not in self.hidden_out}

    def reduced(
        self, state: dict[str, Any], update: Any, source: str
    ) -> tuple[dict[str, Any], list[BaseMessage]]:
        """Return the state after an update, and the messages of it as entries for a thread.

        Raises:
            AgentStateError: If the update is no dict, or names no field of the state.
        """
        if update is None:
            return state, []
        if not isinstance(update, dict):
            message = f"{source} has to return a dict or None, got {type(update).__name__}"
            raise AgentStateError(message)
        new = dict(state)
        entries: list[BaseMessage] = []
        for key, value in cast("dict[str, Any]", update).items():
            if key == "messages":
                entries = messages_of(value)
                new["messages"] = add_messages(state.get("messages", []), entries)
            elif key not in self.reducers:
                message = (
                    f"{source} updates {short(key)}, which no state schema has; "
                    f"known: {', '.join(self.reducers)}"
                )
                raise AgentStateError(message)
            else:
                reducer = self.reducers[key]
                new[key] = (
                    value if reducer is None or key not in state else reducer(state[key], value)
                )
        return new, entries


def view(state: dict[str, Any]) -> dict[str, Any]:
    """Return a state to hand out: what is added to its list of messages is not in the state."""
    return {**state, "messages": list(state["messages"])}


def messages_of(given: Any) -> list[BaseMessage]:
    """Return what an update holds under `messages`, one or a list, as messages with ids.

    Raises:
        MessageError: If something is no message.
    """
    return _taken(given if isinstance(given, list) else [given])[0]


def _marks(hint: Any) -> list[Any]:
    """Return the metadata of `Annotated`, through `Required` and `NotRequired`."""
    marks: list[Any] = []
    while True:
        origin = get_origin(hint)
        if origin is Annotated:
            inner, *found = get_args(hint)
            marks += found
            hint = inner
        elif origin in (Required, NotRequired):
            hint = get_args(hint)[0]
        else:
            return marks
