"""Tracers: handlers that get whole runs, with all that they called, as trees of objects."""

from dragoman.tracers.base import BaseTracer
from dragoman.tracers.run_collector import RunCollectorCallbackHandler
from dragoman.tracers.schemas import Run
from dragoman.tracers.stdout import ConsoleCallbackHandler, FunctionCallbackHandler

__all__ = [
    "BaseTracer",
    "ConsoleCallbackHandler",
    "FunctionCallbackHandler",
    "Run",
    "RunCollectorCallbackHandler",
]
