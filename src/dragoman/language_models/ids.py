"""Ids of the messages that runs make: `lc_run--<uuid of the run>`."""

import os
from itertools import count
from uuid import UUID

__all__ = ["new_run", "run_prefix"]


def run_prefix(run_id: UUID | str) -> str:
    """Return the id of the messages that the run `run_id` makes."""
    return f"lc_run--{run_id}"


_FIRST = 1 << 44  # twelve hexadecimal digits without padding, which would cost as much as the rest
_start = ""
_numbers = count()


def _begin() -> None:
    """Draw what tells this process's ids from all others': 74 random bits."""
    global _start, _numbers  # noqa: PLW0603 - drawn anew in a forked process, or both would count alike
    digits = os.urandom(10).hex()
    variant = "89ab"[int(digits[15], 16) & 3]
    _start = f"lc_run--{digits[:8]}-{digits[8:12]}-4{digits[12:15]}-{variant}{digits[16:19]}-"
    _numbers = count(_FIRST + int.from_bytes(os.urandom(4)))


_begin()
os.register_at_fork(after_in_child=_begin)


def new_run() -> str:
    """Return the message id of a new run; the text of a UUID, counted instead of drawn.

    A call of a fake model in a chain costs a few microseconds in all, of which a drawn UUID would
    be the largest part.
    """
    return f"{_start}{next(_numbers):x}"
