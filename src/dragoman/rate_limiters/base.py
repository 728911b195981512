"""What a rate limiter can do."""

from abc import ABC, abstractmethod

__all__ = ["BaseRateLimiter"]


class BaseRateLimiter(ABC):
    """Lets calls pass at a rate of its own."""

    @abstractmethod
    def acquire(self, *, blocking: bool = True) -> bool:
        """Return whether the call may go on; with `blocking`, wait until it may."""

    @abstractmethod
    async def aacquire(self, *, blocking: bool = True) -> bool:
        """Return whether the call may go on; with `blocking`, wait until it may."""
