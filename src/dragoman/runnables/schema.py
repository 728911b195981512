"""The events that `astream_events` yields."""

from collections.abc import Sequence
from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

__all__ = [
    "BaseStreamEvent",
    "CustomStreamEvent",
    "EventData",
    "StandardStreamEvent",
    "StreamEvent",
]


class EventData(TypedDict, total=False):
    """What an event is about."""

    input: Any
    """The input, as soon as it is known: at the start, or at the end if it was streamed."""
    error: NotRequired[BaseException]
    """The error, on an error event."""
    output: Any
    """The output, on an end event."""
    chunk: Any
    """The piece, on a stream event."""
    tool_call_id: NotRequired[str | None]
    """The id of the tool call, on a tool's events."""


class BaseStreamEvent(TypedDict):
    """What every event has."""

    event: str
    """`on_[chain|chat_model|llm|tool|retriever|prompt|parser]_[start|stream|end|error]`, or `on_custom_event`."""
    run_id: str
    """The id of the run that the event is of."""
    tags: NotRequired[list[str]]
    """The run's tags."""
    metadata: NotRequired[dict[str, Any]]
    """The run's metadata."""
    parent_ids: Sequence[str]
    """The ids of the runs around it, the outermost first."""


class StandardStreamEvent(BaseStreamEvent):
    """An event of a run."""

    data: EventData
    """What the event is about."""
    name: str
    """The name of what runs."""


class CustomStreamEvent(BaseStreamEvent):
    """An event that user code dispatched."""

    event: Literal["on_custom_event"]  # type: ignore[misc]
    """Always `on_custom_event`."""
    name: str
    """The name it was given."""
    data: Any
    """The data it was given."""


StreamEvent = StandardStreamEvent | CustomStreamEvent
