"""Functions that are given a runnable's `Run` when it starts, ends or fails."""

import inspect
from collections.abc import Callable
from typing import Any

from typing_extensions import override

from dragoman.callbacks.tracer import Run, RunTree
from dragoman.runnables.binding import RunnableBinding
from dragoman.runnables.config import RunnableConfig

__all__ = ["RootListener", "with_alisteners", "with_listeners"]

Listener = Callable[..., Any]


def _tell(listener: Listener | None, run: Run, config: RunnableConfig) -> Any:
    """Call a listener with the run, and with the config too if it takes two arguments."""
    if listener is None:
        return None
    takes_config = len(inspect.signature(listener).parameters) > 1
    return listener(run, config) if takes_config else listener(run)


class RootListener(RunTree):
    """Hears of one runnable's own run, whatever runs inside it."""

    raise_error = True

    def __init__(
        self,
        config: RunnableConfig,
        on_start: Listener | None,
        on_end: Listener | None,
        on_error: Listener | None,
    ) -> None:
        super().__init__()
        self.config = config
        self.on_start = on_start
        self.on_end = on_end
        self.on_error = on_error
        self.root: Any = None

    @override
    def run_started(self, run: Run) -> Any:
        if self.root is not None:
            return None
        self.root = run.id
        return _tell(self.on_start, run, self.config)

    @override
    def run_ended(self, run: Run) -> Any:
        if run.id != self.root:
            return None
        return _tell(self.on_end if run.error is None else self.on_error, run, self.config)


def with_listeners(
    runnable: Any,
    *,
    on_start: Listener | None,
    on_end: Listener | None,
    on_error: Listener | None,
) -> Any:
    """Return `runnable` with listeners; each call has a handler of its own."""

    def listening(config: RunnableConfig) -> RunnableConfig:
        return {"callbacks": [RootListener(config, on_start, on_end, on_error)]}

    return RunnableBinding(bound=runnable, config_factories=[listening])


with_alisteners = with_listeners
"""Coroutine functions may be listeners too: what they return is awaited."""
