"""A run that is killed at a point of its own choosing, or resumed: `kill_child.py DB POINT [resume]`.

The model's script follows the history alone, so that a resumed run continues it; every execution of a
tool is a line in `DB.ran`, written before and after it.
"""

import os
import signal
import sys
from typing import Any

from tests.agents.support import HI, call, calls, model, thread

from dragoman.agents import create_agent
from dragoman.agents.middleware import AgentMiddleware
from dragoman.threads import SQLiteThreads
from dragoman.tools import tool

PATH, POINT = sys.argv[1], sys.argv[2]
RESUMES = len(sys.argv) > 3
TURNS = [
    calls(call("once", "a1", n=1), call("again", "b1", n=1)),
    calls(call("once", "a2", n=2)),
    calls(call("again", "b3", n=3), call("once", "a3", n=3), call("once", "c3", n=4)),
]
_reached: dict[str, int] = {}


def point(name: str) -> None:
    """Kill this process if this is the chosen point: `name/how often it was passed`."""
    _reached[name] = _reached.get(name, 0) + 1
    if not RESUMES and f"{name}/{_reached[name]}" == POINT:
        os.kill(os.getpid(), signal.SIGKILL)


def noted(text: str) -> None:
    with open(PATH + ".ran", "a") as file:
        file.write(text + "\n")
        file.flush()


def body(name: str, n: int) -> str:
    noted(f"start {name} {n}")
    point(f"in {name}")
    noted(f"end {name} {n}")
    return f"{name} {n}"


@tool
def once(n: int) -> str:
    """Have an effect that must not happen twice."""
    return body("once", n)


@tool(extras={"idempotent": True})
def again(n: int) -> str:
    """Have an effect that may happen twice."""
    return body("again", n)


class Points(AgentMiddleware):
    def before_agent(self, state: Any, runtime: Any) -> None:
        point("before_agent")

    def before_model(self, state: Any, runtime: Any) -> None:
        point("before_model")

    def after_model(self, state: Any, runtime: Any) -> None:
        point("after_model")

    def after_agent(self, state: Any, runtime: Any) -> None:
        point("after_agent")


def answer(messages: Any) -> Any:
    point("model")
    turn = sum(m.type == "ai" for m in messages)
    return TURNS[turn] if turn < len(TURNS) else "finished"


class Killing(SQLiteThreads):
    """Passes a point around every append: `append N` before it, `appended N` behind it."""

    def thread(self, thread_id: str, branch: str = "main") -> Any:
        made: Any = super().thread(thread_id, branch)
        append = made.append

        def appended(*args: Any, **kwargs: Any) -> Any:
            point("append")
            head = append(*args, **kwargs)
            point("appended")
            return head

        made.append = appended
        return made


agent = create_agent(
    model(answer),
    [once, again],
    middleware=[Points()],
    checkpointer=Killing(PATH),
    tool_concurrency=1,
)
agent.invoke(None if RESUMES else HI, thread())
