"""Verbs on histories: count, trim, filter, merge runs, reduce, validate, repair.

No verb changes what it is given. An assistant turn with calls and all its results is one unit; no
verb splits it.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dragoman.codecs.contract import Change
    from dragoman.transcript.body import check_body, repair_body
    from dragoman.transcript.count import count_tokens_approximately
    from dragoman.transcript.filter import filter_messages
    from dragoman.transcript.reduce import REMOVE_ALL_MESSAGES, MessagesState, add_messages
    from dragoman.transcript.repair import Issue, Repair, repair_messages, validate_messages
    from dragoman.transcript.runs import merge_message_runs
    from dragoman.transcript.trim import trim_messages

__all__ = [
    "REMOVE_ALL_MESSAGES",
    "Change",
    "Issue",
    "MessagesState",
    "Repair",
    "add_messages",
    "check_body",
    "count_tokens_approximately",
    "filter_messages",
    "merge_message_runs",
    "repair_body",
    "repair_messages",
    "trim_messages",
    "validate_messages",
]

_ELSEWHERE = {
    "Change": "dragoman.codecs.contract",
    "Issue": "dragoman.transcript.repair",
    "MessagesState": "dragoman.transcript.reduce",
    "REMOVE_ALL_MESSAGES": "dragoman.transcript.reduce",
    "Repair": "dragoman.transcript.repair",
    "add_messages": "dragoman.transcript.reduce",
    "check_body": "dragoman.transcript.body",
    "count_tokens_approximately": "dragoman.transcript.count",
    "filter_messages": "dragoman.transcript.filter",
    "merge_message_runs": "dragoman.transcript.runs",
    "repair_body": "dragoman.transcript.body",
    "repair_messages": "dragoman.transcript.repair",
    "trim_messages": "dragoman.transcript.trim",
    "validate_messages": "dragoman.transcript.repair",
}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name in _ELSEWHERE:
        value = getattr(import_module(_ELSEWHERE[name]), name)
        globals()[name] = value
        return value
    message = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(message)
