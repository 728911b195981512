"""Marks for arguments that whoever runs a tool supplies, never the model.

An argument annotated with one is left out of the schema the model sees. `utils.signatures` tells
them by the attribute `__injected_tool_arg__`, so that it needs no import from here.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, Generic

from typing_extensions import TypeVar

__all__ = [
    "DirectlyInjectedToolArg",
    "InjectedState",
    "InjectedStore",
    "InjectedToolArg",
    "InjectedToolCallId",
    "ToolRuntime",
]


class InjectedToolArg:
    """Marks an argument that the caller supplies: `Annotated[int, InjectedToolArg]`."""

    __injected_tool_arg__: ClassVar[bool] = True


class InjectedToolCallId(InjectedToolArg):
    """Marks the argument that receives the id of the tool call."""


class InjectedState(InjectedToolArg):
    """Marks the argument that receives an agent's state.

    Args:
        field: The name of one field of it; None for the whole.
    """

    def __init__(self, field: str | None = None) -> None:
        self.field = field


class InjectedStore(InjectedToolArg):
    """Marks the argument that receives an agent's store."""


class DirectlyInjectedToolArg:
    """The base of types that are injected by themselves, without `Annotated`."""

    __injected_tool_arg__: ClassVar[bool] = True


StateT = TypeVar("StateT", default=Any)
ContextT = TypeVar("ContextT", default=Any)


@dataclass
class ToolRuntime(DirectlyInjectedToolArg, Generic[ContextT, StateT]):
    """What surrounds a tool's run in an agent; an argument of this type receives it.

    Attributes:
        state: The agent's state.
        context: What `invoke(context=...)` was given.
        config: The config of the run.
        stream_writer: Writes to the agent's stream.
        tool_call_id: The id of the call.
        store: The agent's store, or None.
    """

    state: StateT
    context: ContextT
    config: Any
    stream_writer: Any
    tool_call_id: str | None
    store: Any
