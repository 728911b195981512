"""`BaseTracer`: what a user's tracer subclasses."""

from abc import ABC, abstractmethod
from typing import Any
from uuid import UUID

from typing_extensions import override

from dragoman.callbacks.tracer import Run, RunTree

__all__ = ["BaseTracer"]


class BaseTracer(RunTree, ABC):
    """Hears of runs; `_persist_run` gets each outermost one when it is done, its calls in it.

    A subclass may also override `_on_run_create` and `_on_run_update`, which get every run, and
    `_on_chain_start`, `_on_llm_end`, `_on_tool_error` and so on, which get those of a kind (the
    kinds are `chain`, `llm`, `chat_model`, `tool` and `retriever`; prompts and parsers are chains).
    """

    def __init__(self, **_kwargs: Any) -> None:
        """Make a tracer; keywords are LangChain's and have no effect."""
        super().__init__()

    @property
    def run_map(self) -> dict[str, Run]:
        """The runs that have not ended, by id."""
        return {str(run_id): run for run_id, run in self.runs.items()}

    @abstractmethod
    def _persist_run(self, run: Run) -> Any:
        """Keep an outermost run that ended or failed."""

    def _on_run_create(self, run: Run) -> Any:
        """Told of every run that starts."""

    def _on_run_update(self, run: Run) -> Any:
        """Told of every run that ended or failed."""

    def _tell(self, run: Run, step: str) -> None:
        kind = run.run_type if run.run_type in _KINDS else "chain"
        method = getattr(self, f"_on_{kind}_{step}", None)
        if method is not None or (
            kind == "chat_model" and (method := getattr(self, f"_on_llm_{step}", None))
        ):
            method(run)

    @override
    def run_started(self, run: Run) -> None:
        self._on_run_create(run)
        self._tell(run, "start")

    @override
    def run_ended(self, run: Run) -> None:
        parent: UUID | None = run.parent_run_id
        self._tell(run, "end" if run.error is None else "error")
        self._on_run_update(run)
        # Inside a chain that this tracer did not see start, a run is an outermost one as well.
        if parent is None or parent not in self.runs:
            self._persist_run(run)


_KINDS = ("llm", "chat_model", "tool", "retriever")
