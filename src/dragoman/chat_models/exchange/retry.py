"""When a failed call is tried again, and how long after: pure functions of the failure.

Retried are connection faults, timeouts before the first token and the statuses 408, 409, 425, 429
and 5xx; nothing else. The provider's own wish (`Retry-After`) is followed up to a cap; a longer one
ends the call at once, so that the caller can decide. Otherwise the wait is exponential with full
jitter (a random share of the whole, which keeps many clients from coming back together).
"""

import math
import random
import time
from collections.abc import Mapping
from typing import Any

import msgspec

from dragoman.errors import ModelError, ModelStatusError, create_message

__all__ = ["RETRIED", "Retry", "is_retried", "wanted_wait_s"]

RETRIED = frozenset({408, 409, 425, 429})
"""The statuses below 500 that are retried."""


class Retry(msgspec.Struct, frozen=True, kw_only=True):
    """How often and how soon.

    Attributes:
        max_retries: Attempts after the first one.
        first_s: The longest wait before the first retry; doubled for each further one.
        longest_s: The longest wait that we choose.
        cap_s: The longest wait a provider may ask for.
    """

    max_retries: int = 2
    first_s: float = 0.5
    longest_s: float = 8.0
    cap_s: float = 60.0

    def wait_s(self, attempt: int, error: ModelError) -> float | None:
        """Return the seconds to wait after attempt number `attempt` (from 0), or None to give up."""
        if attempt >= self.max_retries or not error.is_retryable:
            return None
        wanted = getattr(error, "retry_after_s", None)
        if wanted is not None:
            return wanted if wanted <= self.cap_s else None
        most = min(self.longest_s, self.first_s * 2.0**attempt)
        return random.uniform(0, most)  # noqa: S311 - spreads load, keeps no secret


def is_retried(status: int | None) -> bool:
    """Return whether a call that failed with `status` may be tried again; None is no reply at all."""
    return status is None or status >= 500 or status in RETRIED


def wanted_wait_s(
    headers: Mapping[str, str], body: Any = None, now: float | None = None
) -> float | None:
    """Return the seconds a provider asks to wait, or None if it says nothing usable.

    Read are `retry-after-ms`, `retry-after` as seconds, fractions or an HTTP date, and Google's
    `RetryInfo` in the body. Negative values, garbage and infinities count as nothing; a date in the
    past is no wait.

    >>> wanted_wait_s({"retry-after": "2"}), wanted_wait_s({"retry-after-ms": "1500"})
    (2.0, 1.5)
    >>> wanted_wait_s({"retry-after": "soon"}), wanted_wait_s({"retry-after": "-3"})
    (None, None)
    """
    for name, scale in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        text = headers.get(name, "").strip()
        if not text:
            continue
        seconds = _number(text.removesuffix("s"))
        if seconds is not None:
            return seconds * scale
        if scale == 1.0 and (seconds := _date(text, now)) is not None:
            return seconds
    return _google(body)


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and value >= 0 else None


def _date(text: str, now: float | None) -> float | None:
    import email.utils  # not needed by those who are never asked to wait until a date

    try:
        at = email.utils.parsedate_to_datetime(text).timestamp()
    except (ValueError, TypeError, OverflowError):
        return None
    return max(0.0, at - (time.time() if now is None else now))


def _google(body: Any) -> float | None:
    try:
        details = body["error"]["details"]
        for detail in details:
            if str(detail.get("@type", "")).endswith("google.rpc.RetryInfo"):
                return _number(str(detail["retryDelay"]).removesuffix("s"))
    except (TypeError, KeyError, AttributeError):
        return None
    return None


def note_wait(error: ModelStatusError, cap_s: float) -> None:
    """Say in the error's text how long the provider wants to be left alone, if that is too long."""
    wanted = error.retry_after_s
    if wanted is not None and wanted > cap_s:
        error.message += (
            f"; the provider asks to wait {wanted:g} s, more than the {cap_s:g} s allowed "
            "(`max_retry_wait`)"
        )
        text = error.message
        error.args = (
            text if error.code is None else create_message(message=text, error_code=error.code),
        )
