"""Verbs on histories: count, trim, filter, merge runs, reduce, validate, repair.

No verb changes what it is given. An assistant turn with calls and all its results is one unit; no
verb splits it.
"""

from dragoman.transcript.count import count_tokens_approximately
from dragoman.transcript.filter import filter_messages
from dragoman.transcript.reduce import REMOVE_ALL_MESSAGES, MessagesState, add_messages
from dragoman.transcript.runs import merge_message_runs
from dragoman.transcript.trim import trim_messages

__all__ = [
    "REMOVE_ALL_MESSAGES",
    "MessagesState",
    "add_messages",
    "count_tokens_approximately",
    "filter_messages",
    "merge_message_runs",
    "trim_messages",
]
