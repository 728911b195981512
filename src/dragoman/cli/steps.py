"""The steps of an agent while they happen: calls and results on stderr, the model's text on stdout."""

import sys
from types import TracebackType
from typing import Any, Self

from dragoman.cli.approval import shown_args
from dragoman.cli.output import clean, is_terminal
from dragoman.messages import AIMessage, ToolMessage

__all__ = ["Steps"]

MAX_SHOWN = 500


class Steps:
    """Shows events of `Agent.stream(..., stream_mode=["messages", "updates"])`.

    Attributes:
        questions: The interrupts at which the run stopped.
    """

    def __init__(self) -> None:
        self.questions: list[Any] = []
        self._is_inside_line = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._end_line()

    def show(self, mode: str, item: Any) -> None:
        """Show one event."""
        if mode == "messages":
            message, about = item
            if about.get("langgraph_node") == "model":
                self._text(str(message.text))
            return
        for source, update in item.items():
            if source == "__interrupt__":
                self.questions += update
                continue
            for message in (update or {}).get("messages", ()):
                self._message(source, message)

    def _message(self, source: str, message: Any) -> None:
        if isinstance(message, AIMessage) and source == "model":
            self._end_line()
            for call in message.tool_calls:
                self._step(f"-> {clean(call['name'])}({shown_args(call['args'])})")
        elif isinstance(message, ToolMessage):
            text = clean(str(message.text)).replace("\n", " ")
            mark = "!" if message.status == "error" else "<-"
            cut = text if len(text) <= MAX_SHOWN else text[: MAX_SHOWN - 3] + "..."
            self._step(f"{mark} {clean(message.name or 'tool')}: {cut}")

    def _text(self, text: str) -> None:
        if text:
            sys.stdout.write(clean(text) if is_terminal() else text)
            sys.stdout.flush()
            self._is_inside_line = not text.endswith("\n")

    def _step(self, line: str) -> None:
        sys.stderr.write(line + "\n")
        sys.stderr.flush()

    def _end_line(self) -> None:
        if self._is_inside_line:
            sys.stdout.write("\n")
            sys.stdout.flush()
            self._is_inside_line = False
