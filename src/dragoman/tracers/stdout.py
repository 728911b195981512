"""Tracers that print what happens, run by run, with the way to each run."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from typing_extensions import override

from dragoman.callbacks.tracer import Run
from dragoman.load import dumps
from dragoman.tracers.base import BaseTracer
from dragoman.utils.input import get_bolded_text, get_colored_text

__all__ = ["ConsoleCallbackHandler", "FunctionCallbackHandler", "elapsed", "try_json_stringify"]

_WORDS = {"llm": "LLM", "chat_model": "LLM"}
_COLORS = {"start": "green", "end": "blue", "error": "red"}


def try_json_stringify(obj: Any, fallback: str) -> str:
    r"""Return `obj` as indented JSON, keys masked, or `fallback` if it is none.

    >>> try_json_stringify([1], "-")
    '[\n  1\n]'
    """
    try:
        return dumps(obj, pretty=True, ensure_ascii=False)
    except (TypeError, ValueError):
        return fallback


def elapsed(run: Run) -> str:
    """Return how long a run took, as `12ms` or `1.23s`."""
    took = ((run.end_time or datetime.now(UTC)) - run.start_time).total_seconds()
    return f"{took * 1000:.0f}ms" if took < 1 else f"{took:.2f}s"


class FunctionCallbackHandler(BaseTracer):
    """Gives a line of text for the start and the end of every run to a function."""

    name = "function_callback_handler"

    def __init__(self, function: Callable[[str], None], **kwargs: Any) -> None:
        """Make one that calls `function`."""
        super().__init__(**kwargs)
        self.function_callback = function

    @override
    def _persist_run(self, run: Run) -> None:
        """Do nothing: all of it has been said."""

    def get_breadcrumbs(self, run: Run) -> str:
        """Return the way from the outermost run to this one: `chain:a > tool:b`."""
        way: list[str] = []
        current: Run | None = run
        while current is not None:
            kind = "llm" if current.run_type == "chat_model" else current.run_type
            way.append(f"{kind}:{current.name}")
            parent = current.parent_run_id
            current = None if parent is None else self.runs.get(parent)
        return " > ".join(way[::-1])

    def _say(self, run: Run, step: str, sentence: str, payload: str) -> None:
        kind = "llm" if run.run_type == "chat_model" else run.run_type
        kind = "chain" if kind in ("prompt", "parser") else kind
        head = get_colored_text(f"[{kind}/{step}]", _COLORS[step])
        took = "" if step == "start" else f"[{elapsed(run)}] "
        word = _WORDS.get(run.run_type, run.run_type.title())
        text = get_bolded_text(f"[{self.get_breadcrumbs(run)}] {took}{sentence.format(word)}:\n")
        self.function_callback(f"{head} {text}{payload}")

    @override
    def _on_run_create(self, run: Run) -> None:
        payload = try_json_stringify(run.inputs, "[inputs]")
        self._say(run, "start", "Entering {} run with input", payload)

    @override
    def _on_run_update(self, run: Run) -> None:
        if run.error is not None:
            payload = try_json_stringify(run.error, "[error]")
            self._say(run, "error", "{} run errored with error", payload)
            return
        payload = try_json_stringify(run.outputs, "[outputs]")
        self._say(run, "end", "Exiting {} run with output", payload)


class ConsoleCallbackHandler(FunctionCallbackHandler):
    """Prints the start and the end of every run."""

    name = "console_callback_handler"

    def __init__(self, **kwargs: Any) -> None:
        """Make one that prints."""
        super().__init__(function=print, **kwargs)
