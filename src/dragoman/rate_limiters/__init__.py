"""Rate limiters: a model asks one before each call."""

from dragoman.rate_limiters.base import BaseRateLimiter
from dragoman.rate_limiters.bucket import InMemoryRateLimiter

__all__ = ["BaseRateLimiter", "InMemoryRateLimiter"]
