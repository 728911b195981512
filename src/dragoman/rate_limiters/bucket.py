"""A token bucket in memory: it limits one process."""

import time
from threading import Lock

from dragoman._door import ASYNC, SYNC, Door, run
from dragoman.rate_limiters.base import BaseRateLimiter

__all__ = ["InMemoryRateLimiter"]


class InMemoryRateLimiter(BaseRateLimiter):
    """Lets `requests_per_second` calls pass, with bursts of up to `max_bucket_size`.

    The bucket starts empty: the first call waits too.

    Args:
        requests_per_second: Tokens that arrive each second.
        check_every_n_seconds: How long a waiting call sleeps between looks, in seconds.
        max_bucket_size: The most tokens that are saved up.

    >>> InMemoryRateLimiter(requests_per_second=0.1).acquire(blocking=False)
    False
    """

    def __init__(
        self,
        *,
        requests_per_second: float = 1,
        check_every_n_seconds: float = 0.1,
        max_bucket_size: float = 1,
    ) -> None:
        self.requests_per_second = requests_per_second
        self.available_tokens: float = 0.0
        self.max_bucket_size = max_bucket_size
        self.check_every_n_seconds = check_every_n_seconds
        self.last: float | None = None
        # Threads and event loops may share the bucket; the lock is never held while waiting.
        self._consume_lock = Lock()

    def _consume(self) -> bool:
        """Take a token if there is one."""
        with self._consume_lock:
            now = time.monotonic()
            if self.last is None:
                self.last = now
            arrived = (now - self.last) * self.requests_per_second
            if arrived >= 1:
                self.available_tokens += arrived
                self.last = now
            self.available_tokens = min(self.available_tokens, self.max_bucket_size)
            if self.available_tokens >= 1:
                self.available_tokens -= 1
                return True
            return False

    async def _acquire(self, door: Door, *, blocking: bool) -> bool:
        while not (is_taken := self._consume()) and blocking:
            await door.sleep(self.check_every_n_seconds)
        return is_taken

    def acquire(self, *, blocking: bool = True) -> bool:
        """Return whether the call may go on; with `blocking`, wait until it may."""
        return run(self._acquire(SYNC, blocking=blocking))

    async def aacquire(self, *, blocking: bool = True) -> bool:
        """Return whether the call may go on; with `blocking`, wait until it may."""
        return await self._acquire(ASYNC, blocking=blocking)
