"""Choosing the examples of a few-shot prompt by the input at hand."""

from dragoman.example_selectors.base import BaseExampleSelector
from dragoman.example_selectors.length_based import LengthBasedExampleSelector

__all__ = ["BaseExampleSelector", "LengthBasedExampleSelector"]
