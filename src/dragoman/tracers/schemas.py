"""What tracers get."""

from dragoman.callbacks.tracer import Run

__all__ = ["Run"]
