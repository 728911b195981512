"""Runs as a tree of objects, built from what handlers are told."""

import traceback
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from typing_extensions import override

from dragoman.callbacks.base import BaseCallbackHandler

__all__ = ["Run", "RunTree"]


class Run:
    """One call: what went in, what came out, and the calls it made.

    Attributes:
        id: Its id.
        name: Its name.
        run_type: "chain", "llm", "chat_model", "tool", "retriever", "prompt" or "parser".
        inputs: The input; `{"input": x}` when it was no dict.
        outputs: The output; `{"output": x}` when it was no dict; None until the run ends.
        error: The error's repr and traceback, or None.
        parent_run_id: The id of the call that made it, or None.
        child_runs: The calls it made, in the order they started.
        start_time: When it started, UTC.
        end_time: When it ended, or None.
    """

    def __init__(
        self,
        *,
        id: UUID,
        name: str,
        run_type: str,
        inputs: Any,
        parent_run_id: UUID | None = None,
        tags: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
        serialized: Any = None,
    ) -> None:
        self.id = id
        self.name = name
        self.run_type = run_type
        self.inputs: dict[str, Any] = _as_dict(inputs, "input")
        self.outputs: dict[str, Any] | None = None
        self.error: str | None = None
        self.parent_run_id = parent_run_id
        self.child_runs: list[Run] = []
        self.tags: list[str] = tags or []
        self.extra: dict[str, Any] = {"metadata": metadata or {}}
        self.serialized = serialized
        self.start_time: datetime = datetime.now(UTC)
        self.end_time: datetime | None = None

    @property
    def metadata(self) -> dict[str, Any]:
        """The metadata of the call."""
        return self.extra["metadata"]

    @override
    def __repr__(self) -> str:
        return f"Run(id={self.id!s}, name={self.name!r}, run_type={self.run_type!r})"


def _as_dict(value: Any, key: str) -> dict[str, Any]:
    return value if isinstance(value, dict) else {key: value}


class RunTree(BaseCallbackHandler):
    """Builds the tree of runs; a subclass overrides `run_started` and `run_ended`.

    These may return a coroutine, which is awaited.
    """

    def __init__(self) -> None:
        self.runs: dict[UUID, Run] = {}

    def run_started(self, run: Run) -> Any:
        """Told of a run that started."""

    def run_ended(self, run: Run) -> Any:
        """Told of a run that ended or failed."""

    def _start(self, run_type: str, serialized: Any, inputs: Any, kwargs: dict[str, Any]) -> Any:
        run = Run(
            id=kwargs["run_id"],
            name=kwargs.get("name") or (serialized or {}).get("name") or run_type,
            run_type=run_type,
            inputs=inputs,
            parent_run_id=kwargs.get("parent_run_id"),
            tags=kwargs.get("tags"),
            metadata=kwargs.get("metadata"),
            serialized=serialized,
        )
        self.runs[run.id] = run
        parent = self.runs.get(run.parent_run_id) if run.parent_run_id is not None else None
        if parent is not None:
            parent.child_runs.append(run)
        return self.run_started(run)

    def _end(self, outputs: Any, kwargs: dict[str, Any]) -> Any:
        run = self.runs.pop(kwargs["run_id"], None)
        if run is None:
            return None
        if "inputs" in kwargs:
            run.inputs = _as_dict(kwargs["inputs"], "input")
        if isinstance(outputs, BaseException):
            trace = "".join(traceback.format_exception(outputs))
            run.error = f"{outputs!r}{trace}"
        else:
            run.outputs = _as_dict(outputs, "output")
        run.end_time = datetime.now(UTC)
        return self.run_ended(run)

    @override
    def on_chain_start(self, serialized: dict[str, Any], inputs: Any, **kwargs: Any) -> Any:
        return self._start(kwargs.get("run_type") or "chain", serialized, inputs, kwargs)

    @override
    def on_chain_end(self, outputs: Any, **kwargs: Any) -> Any:
        return self._end(outputs, kwargs)

    @override
    def on_chain_error(self, error: BaseException, **kwargs: Any) -> Any:
        return self._end(error, kwargs)

    @override
    def on_llm_start(self, serialized: dict[str, Any], prompts: list[str], **kwargs: Any) -> Any:
        return self._start("llm", serialized, {"prompts": prompts}, kwargs)

    @override
    def on_chat_model_start(
        self, serialized: dict[str, Any], messages: list[list[Any]], **kwargs: Any
    ) -> Any:
        return self._start("chat_model", serialized, {"messages": messages}, kwargs)

    @override
    def on_llm_end(self, response: Any, **kwargs: Any) -> Any:
        outputs = {
            "generations": response.generations,
            "llm_output": getattr(response, "llm_output", None),
        }
        return self._end(outputs, kwargs)

    @override
    def on_llm_error(self, error: BaseException, **kwargs: Any) -> Any:
        return self._end(error, kwargs)

    @override
    def on_tool_start(self, serialized: dict[str, Any], input_str: str, **kwargs: Any) -> Any:
        inputs = kwargs.get("inputs")
        return self._start("tool", serialized, input_str if inputs is None else inputs, kwargs)

    @override
    def on_tool_end(self, output: Any, **kwargs: Any) -> Any:
        return self._end({"output": output}, kwargs)

    @override
    def on_tool_error(self, error: BaseException, **kwargs: Any) -> Any:
        return self._end(error, kwargs)

    @override
    def on_retriever_start(self, serialized: dict[str, Any], query: str, **kwargs: Any) -> Any:
        return self._start("retriever", serialized, {"query": query}, kwargs)

    @override
    def on_retriever_end(self, documents: Any, **kwargs: Any) -> Any:
        return self._end({"documents": documents}, kwargs)

    @override
    def on_retriever_error(self, error: BaseException, **kwargs: Any) -> Any:
        return self._end(error, kwargs)
