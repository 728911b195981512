"""A mark on a human message that says it comes from a system, not from a person."""

from typing import Any, NotRequired

from typing_extensions import TypedDict

from dragoman.messages.base import BaseMessage
from dragoman.messages.human import HumanMessage

__all__ = [
    "NotificationMetadata",
    "add_notification_metadata",
    "get_notification_metadata",
]

_SOURCE, _DATA = "lc_source", "lc_data"


class NotificationMetadata(TypedDict):
    """Who sent a notification, and what about."""

    source: str
    data: NotRequired[dict[str, Any]]


def add_notification_metadata(
    message: HumanMessage, *, source: str, data: dict[str, Any] | None = None
) -> HumanMessage:
    """Return a copy of `message` marked as a notification; the message is not changed."""
    kwargs = {key: value for key, value in message.additional_kwargs.items() if key != _DATA}
    kwargs[_SOURCE] = source
    if data is not None:
        kwargs[_DATA] = dict(data)
    return message.model_copy(update={"additional_kwargs": kwargs})


def get_notification_metadata(message: BaseMessage) -> NotificationMetadata | None:
    """Return the mark of a notification, or None if the message is none."""
    source = message.additional_kwargs.get(_SOURCE)
    if not isinstance(source, str):
        return None
    data = message.additional_kwargs.get(_DATA)
    if isinstance(data, dict):
        return {"source": source, "data": dict(data)}
    return {"source": source}
