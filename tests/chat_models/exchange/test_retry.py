"""Which failures are tried again, and when (faults B115)."""

import pytest

from dragoman.chat_models.exchange.retry import Retry, is_retried, wanted_wait_s
from dragoman.errors import ModelAPIError, ModelInvalidRequestError, ModelRateLimitError

NOW = 1_764_500_000.0  # 2025-11-30 10:53:20 GMT


@pytest.mark.parametrize(
    ("status", "expected"),
    [(None, True), (400, False), (401, False), (403, False), (404, False), (408, True), (409, True),
     (413, False), (422, False), (425, True), (429, True), (499, False), (500, True), (502, True),
     (503, True), (504, True), (529, True), (599, True), (301, False)],
)  # fmt: skip
def test_statuses(status: int | None, expected: bool) -> None:
    assert is_retried(status) is expected


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({"retry-after": "2"}, 2.0),
        ({"retry-after": " 2.5 "}, 2.5),
        ({"retry-after": "2s"}, 2.0),
        ({"retry-after": "0"}, 0.0),
        ({"retry-after": "600"}, 600.0),
        ({"retry-after-ms": "1500"}, 1.5),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after-ms": "x", "retry-after": "9"}, 9.0),
        ({"retry-after": "Sun, 30 Nov 2025 10:53:30 GMT"}, 10.0),
        ({"retry-after": "Sunday, 30-Nov-25 10:53:30 GMT"}, 10.0),
        ({"retry-after": "Sun Nov 30 10:53:30 2025 +0000"}, 10.0),
        ({"retry-after": "Sun, 30 Nov 2025 12:53:30 +0200"}, 10.0),
        ({"retry-after": "Sun, 30 Nov 2025 10:00:00 GMT"}, 0.0),
        ({"retry-after": "-1"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "1e400"}, None),
        ({"retry-after": ""}, None),
        ({}, None),
    ],
)
def test_every_spelling_of_retry_after(headers: dict[str, str], expected: float | None) -> None:
    assert (
        wanted_wait_s(headers, now=NOW) == pytest.approx(expected)
        if expected
        else (wanted_wait_s(headers, now=NOW) == expected)
    )


def test_google_puts_it_into_the_body() -> None:
    info = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.5s"}
    assert wanted_wait_s({}, {"error": {"details": [{"@type": "x"}, info]}}) == 34.5
    assert wanted_wait_s({}, {"error": {"details": [3]}}) is None
    assert wanted_wait_s({}, [1]) is None


def test_a_wish_is_followed_up_to_the_cap() -> None:
    retry = Retry(max_retries=2, cap_s=60)
    assert retry.wait_s(0, ModelRateLimitError("x", retry_after_s=2.0)) == 2.0
    assert retry.wait_s(0, ModelRateLimitError("x", retry_after_s=60.0)) == 60.0
    assert retry.wait_s(0, ModelRateLimitError("x", retry_after_s=600.0)) is None


def test_attempts_are_counted_and_errors_looked_at() -> None:
    retry = Retry(max_retries=2)
    assert retry.wait_s(1, ModelAPIError("x")) is not None
    assert retry.wait_s(2, ModelAPIError("x")) is None
    assert retry.wait_s(0, ModelInvalidRequestError("x")) is None
    assert Retry(max_retries=0).wait_s(0, ModelAPIError("x")) is None


def test_our_own_waits_are_spread_between_zero_and_a_doubling_bound() -> None:
    retry = Retry(max_retries=99, first_s=0.5, longest_s=8.0)
    for attempt, most in [(0, 0.5), (1, 1.0), (3, 4.0), (4, 8.0), (50, 8.0)]:
        waits = [retry.wait_s(attempt, ModelAPIError("x")) or 0.0 for _ in range(300)]
        assert max(waits) <= most
        assert max(waits) > most * 0.8
        assert min(waits) < most * 0.2
