"""The token bucket."""

import time

from dragoman.rate_limiters import InMemoryRateLimiter


class Clock:
    """Stands for `time.monotonic` and `time.sleep`."""

    def __init__(self, monkeypatch) -> None:
        self.now = 100.0
        self.slept = 0
        monkeypatch.setattr(time, "monotonic", lambda: self.now)
        monkeypatch.setattr(time, "sleep", self.sleep)

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.slept += 1


def test_the_bucket_starts_empty_and_fills_at_its_rate(monkeypatch):
    clock = Clock(monkeypatch)
    limiter = InMemoryRateLimiter(requests_per_second=2, max_bucket_size=2)
    assert limiter.acquire(blocking=False) is False
    clock.now += 0.4
    assert limiter.acquire(blocking=False) is False
    clock.now += 0.2
    assert limiter.acquire(blocking=False) is True
    assert limiter.acquire(blocking=False) is False


def test_no_more_is_saved_up_than_the_bucket_holds(monkeypatch):
    clock = Clock(monkeypatch)
    limiter = InMemoryRateLimiter(requests_per_second=10, max_bucket_size=3)
    limiter.acquire(blocking=False)
    clock.now += 100
    assert [limiter.acquire(blocking=False) for _ in range(5)] == [True] * 3 + [False] * 2


def test_a_blocking_call_sleeps_between_looks(monkeypatch):
    clock = Clock(monkeypatch)
    limiter = InMemoryRateLimiter(requests_per_second=2, check_every_n_seconds=0.125)
    assert limiter.acquire() is True
    assert clock.slept == 4


async def test_an_async_call_waits_too():
    limiter = InMemoryRateLimiter(requests_per_second=200, check_every_n_seconds=0.001)
    assert await limiter.aacquire(blocking=False) is False
    assert await limiter.aacquire() is True
