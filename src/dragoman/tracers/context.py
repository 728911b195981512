"""Tracers in force for a block of code."""

from collections.abc import Generator
from contextlib import contextmanager

from dragoman.callbacks.ambient import register_configure_hook, with_handler
from dragoman.tracers.run_collector import RunCollectorCallbackHandler

__all__ = ["collect_runs", "register_configure_hook"]


@contextmanager
def collect_runs() -> Generator[RunCollectorCallbackHandler, None, None]:
    """Yield a collector that hears of every call made inside the `with` block.

    >>> from dragoman.runnables import RunnableLambda
    >>> with collect_runs() as collected:
    ...     _ = RunnableLambda(lambda x: x + 1, name="add").invoke(1)
    >>> [(run.name, run.outputs) for run in collected.traced_runs]
    [('add', {'output': 2})]
    """
    collector = RunCollectorCallbackHandler()
    with with_handler(collector):
        yield collector
