"""Async iterables in batches, and closing them."""

from contextlib import aclosing

from dragoman.utils.iter import abatch_iterate

__all__ = ["abatch_iterate", "aclosing"]
