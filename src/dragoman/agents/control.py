"""How a run is steered from inside: commands of tools and hooks, interrupts, and their answers."""

import contextvars
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Self
from uuid import uuid4

from msgspec import UNSET

from dragoman.errors import DragomanError
from dragoman.messages import ToolOutputMixin

__all__ = ["AgentStepLimitError", "Command", "GraphInterrupt", "Interrupt", "interrupt", "scope"]


class AgentStepLimitError(DragomanError, RecursionError):
    """An agent took more model turns than `max_steps` allows."""


@dataclass(frozen=True)
class Command(ToolOutputMixin):
    """What a tool returns to change the agent's state, or a caller passes to go on after an interrupt.

    Attributes:
        update: An update of the state; of a tool's, its messages hold the result of its call.
        resume: The answer to an interrupt, None included; with several, a dict from their ids to
            answers.
        goto: Refused inside `create_agent`, which is no graph.
        graph: Refused inside `create_agent`.
    """

    update: Any = None
    resume: Any = UNSET
    goto: Any = ()
    graph: Any = None

    def checked(self, source: str, *, may_resume: bool = False) -> Self:
        """Return this command.

        Args:
            source: Who gave it.
            may_resume: Whether it may answer an interrupt.

        Raises:
            NotImplementedError: If it asks for what an agent does not do.
        """
        asked = {
            "goto": bool(self.goto),
            "graph": self.graph is not None,
            "resume": self.resume is not UNSET and self.resume is not None and not may_resume,
        }
        if any(asked.values()):
            names = ", ".join(f"`{name}`" for name, is_asked in asked.items() if is_asked)
            message = (
                f"a command of {source} cannot have {names}: an agent is no graph. A tool with "
                "return_direct ends the run, and so does a hook that returns jump_to"
            )
            raise NotImplementedError(message)
        return self


@dataclass(frozen=True)
class Interrupt:
    """A question to whoever runs the agent; the run stops until it is answered."""

    value: Any
    id: str = field(default_factory=lambda: str(uuid4()))


class GraphInterrupt(BaseException):
    """Carries an interrupt from where it is raised to the agent; no error."""

    is_control_flow = True

    def __init__(self, interrupt: Interrupt) -> None:
        super().__init__(interrupt)
        self.interrupt = interrupt


class _Scope:
    """The answers known in one step, given out in the order in which they are asked for."""

    def __init__(self, answers: list[Any]) -> None:
        self.answers = answers
        self.asked = 0


_scope: contextvars.ContextVar[_Scope | None] = contextvars.ContextVar(
    "dragoman_agent", default=None
)


@contextmanager
def scope(answers: list[Any]) -> Generator[None, None, None]:
    """Let `interrupt` find its answers inside this context."""
    token = _scope.set(_Scope(answers))
    try:
        yield
    finally:
        _scope.reset(token)


def interrupt(value: Any) -> Any:
    """Stop the agent with a question, or return the answer once there is one.

    The step it is called in runs again from its start when the agent is resumed with
    `Command(resume=answer)`; what stands in front of this call is executed again.

    Raises:
        RuntimeError: Outside a step of an agent.
    """
    here = _scope.get()
    if here is None:
        message = "interrupt() works only inside a tool or a hook of an agent"
        raise RuntimeError(message)
    if here.asked < len(here.answers):
        here.asked += 1
        return here.answers[here.asked - 1]
    raise GraphInterrupt(Interrupt(value))
