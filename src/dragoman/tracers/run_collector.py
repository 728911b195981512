"""A tracer that keeps what it gets in a list."""

from typing import Any
from uuid import UUID

from typing_extensions import override

from dragoman.callbacks.tracer import Run
from dragoman.tracers.base import BaseTracer

__all__ = ["RunCollectorCallbackHandler"]


class RunCollectorCallbackHandler(BaseTracer):
    """Keeps every outermost run.

    Attributes:
        traced_runs: The runs, in the order they ended.
    """

    name = "run-collector_callback_handler"

    def __init__(self, example_id: UUID | str | None = None, **kwargs: Any) -> None:
        """Make an empty one; `example_id` is kept beside the runs."""
        super().__init__(**kwargs)
        self.example_id: UUID | None = (
            UUID(example_id) if isinstance(example_id, str) else example_id
        )
        self.traced_runs: list[Run] = []

    @override
    def _persist_run(self, run: Run) -> None:
        self.traced_runs.append(run)
