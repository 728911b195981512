"""Ids that sort by the time they were made."""

import os
import time
from uuid import UUID

__all__ = ["uuid7"]


def uuid7(nanoseconds: int | None = None) -> UUID:
    """Return a UUID of version 7 (RFC 9562): 48 bits of milliseconds, 12 of their fraction, 62 random.

    Args:
        nanoseconds: Since 1970; now by default.

    >>> uuid7(0).version, uuid7(1_000_000) < uuid7(2_000_000)
    (7, True)
    """
    now = time.time_ns() if nanoseconds is None else nanoseconds
    milliseconds, rest = divmod(now, 1_000_000)
    fraction = (rest << 12) // 1_000_000
    random = int.from_bytes(os.urandom(8), "big") & ((1 << 62) - 1)
    value = (milliseconds & ((1 << 48) - 1)) << 80 | 7 << 76 | fraction << 64 | 0b10 << 62 | random
    return UUID(int=value)
