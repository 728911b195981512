"""A handler that prints where a chain is."""

from typing import Any

from typing_extensions import override

from dragoman.callbacks.base import BaseCallbackHandler

__all__ = ["StdOutCallbackHandler", "colored"]

COLORS = {"blue": "36;1", "yellow": "33;1", "pink": "38;5;200", "green": "32;1", "red": "31;1"}
"""Colour name -> the parameters of its terminal escape."""


def colored(text: str, color: str | None) -> str:
    """Return `text` with the terminal escapes of `color`, or as it is without one.

    >>> colored("x", None)
    'x'
    """
    return text if color is None else f"\033[{COLORS.get(color, color)}m{text}\033[0m"


def title(serialized: Any, kwargs: dict[str, Any]) -> str:
    """Return the name of what started."""
    known: dict[str, Any] = serialized or {}
    return kwargs.get("name") or known.get("name") or (known.get("id") or ["<unknown>"])[-1]


class StdOutCallbackHandler(BaseCallbackHandler):
    """Prints when chains start and end, and what agents and tools say.

    Args:
        color: The colour of agents' and tools' texts, where the call names none.
    """

    def __init__(self, color: str | None = None) -> None:
        self.color = color

    def write(self, text: str, end: str = "\n") -> None:
        """Print `text`; a subclass may send it elsewhere."""
        print(text, end=end, flush=True)  # noqa: T201 - printing is what this handler is for

    @override
    def on_chain_start(self, serialized: dict[str, Any], inputs: Any, **kwargs: Any) -> None:
        self.write(f"\n\n\033[1m> Entering new {title(serialized, kwargs)} chain...\033[0m")

    @override
    def on_chain_end(self, outputs: Any, **kwargs: Any) -> None:
        self.write("\n\033[1m> Finished chain.\033[0m")

    @override
    def on_agent_action(self, action: Any, color: str | None = None, **kwargs: Any) -> None:
        self.write(colored(str(getattr(action, "log", action)), color or self.color), end="")

    @override
    def on_tool_end(
        self,
        output: Any,
        color: str | None = None,
        observation_prefix: str | None = None,
        llm_prefix: str | None = None,
        **kwargs: Any,
    ) -> None:
        if observation_prefix is not None:
            self.write(f"\n{observation_prefix}", end="")
        self.write(colored(str(output), color or self.color), end="")
        if llm_prefix is not None:
            self.write(f"\n{llm_prefix}", end="")

    @override
    def on_text(self, text: str, color: str | None = None, end: str = "", **kwargs: Any) -> None:
        self.write(colored(text, color or self.color), end=end)

    @override
    def on_agent_finish(self, finish: Any, color: str | None = None, **kwargs: Any) -> None:
        self.write(colored(str(getattr(finish, "log", finish)), color or self.color))
