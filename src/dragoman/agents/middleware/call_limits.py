"""Limits on how often a model or a tool may be called, in one run and in a whole thread."""

from typing import Annotated, Any, Literal, NotRequired

from dragoman.agents.calls import failed, open_calls
from dragoman.agents.middleware.types import AgentMiddleware, hook_config
from dragoman.agents.runtime import Runtime
from dragoman.agents.state import AgentState, PrivateStateAttr
from dragoman.errors import DragomanError, short
from dragoman.messages import AIMessage

__all__ = [
    "ModelCallLimitExceededError",
    "ModelCallLimitMiddleware",
    "ModelCallLimitState",
    "ToolCallLimitExceededError",
    "ToolCallLimitMiddleware",
    "ToolCallLimitState",
]


class ModelCallLimitExceededError(DragomanError):
    """The model was to be called more often than allowed."""


class ToolCallLimitExceededError(DragomanError):
    """A tool was to be called more often than allowed."""


class ModelCallLimitState(AgentState[Any]):
    """Counts of model calls."""

    thread_model_call_count: NotRequired[Annotated[int, PrivateStateAttr]]
    run_model_call_count: NotRequired[Annotated[int, PrivateStateAttr]]


class ToolCallLimitState(AgentState[Any]):
    """Counts of tool calls, by tool."""

    thread_tool_call_count: NotRequired[Annotated[dict[str, int], PrivateStateAttr]]
    run_tool_call_count: NotRequired[Annotated[dict[str, int], PrivateStateAttr]]


def _check(
    thread_limit: int | None, run_limit: int | None, exit_behavior: str, known: tuple[str, ...]
) -> None:
    if exit_behavior not in known:
        message = (
            f"Invalid exit_behavior: {short(exit_behavior)}. Must be one of {', '.join(known)}"
        )
        raise ValueError(message)
    if thread_limit is None and run_limit is None:
        message = "At least one limit must be specified (thread_limit or run_limit)"
        raise ValueError(message)
    if thread_limit is not None and run_limit is not None and run_limit > thread_limit:
        message = f"run_limit ({run_limit}) cannot exceed thread_limit ({thread_limit})"
        raise ValueError(message)


class ModelCallLimitMiddleware(AgentMiddleware[Any, Any]):
    """Ends a run, or raises, when the model was called often enough.

    Args:
        thread_limit: The most calls in a thread (with a checkpointer).
        run_limit: The most calls in one run.
        exit_behavior: `end` finishes with a message that says so; `error` raises.
    """

    state_schema = ModelCallLimitState

    def __init__(
        self,
        *,
        thread_limit: int | None = None,
        run_limit: int | None = None,
        exit_behavior: Literal["end", "error"] = "end",
    ) -> None:
        _check(thread_limit, run_limit, exit_behavior, ("end", "error"))
        self.thread_limit = thread_limit
        self.run_limit = run_limit
        self.exit_behavior = exit_behavior

    def before_agent(self, state: Any, runtime: Runtime[Any]) -> dict[str, Any]:
        """Begin to count for this run."""
        return {"run_model_call_count": 0}

    @hook_config(can_jump_to=["end"])
    def before_model(self, state: Any, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """End the run if a limit is reached."""
        reached = [
            f"{name} limit ({count}/{limit})"
            for name, count, limit in (
                ("thread", state.get("thread_model_call_count", 0), self.thread_limit),
                ("run", state.get("run_model_call_count", 0), self.run_limit),
            )
            if limit is not None and count >= limit
        ]
        if not reached:
            return None
        text = f"Model call limits exceeded: {', '.join(reached)}"
        if self.exit_behavior == "error":
            raise ModelCallLimitExceededError(text)
        return {"jump_to": "end", "messages": [AIMessage(text)]}

    def after_model(self, state: Any, runtime: Runtime[Any]) -> dict[str, Any]:
        """Count a call."""
        return {
            key: state.get(key, 0) + 1
            for key in ("thread_model_call_count", "run_model_call_count")
        }


class ToolCallLimitMiddleware(AgentMiddleware[Any, Any]):
    """Answers calls beyond a limit by error results, ends the run, or raises.

    Args:
        tool_name: The tool that is counted; None for all together.
        thread_limit: The most calls in a thread (with a checkpointer).
        run_limit: The most calls in one run.
        exit_behavior: `continue` answers what is too many and goes on; `end` answers all open calls
            and finishes; `error` raises.
    """

    state_schema = ToolCallLimitState

    def __init__(
        self,
        *,
        tool_name: str | None = None,
        thread_limit: int | None = None,
        run_limit: int | None = None,
        exit_behavior: Literal["continue", "error", "end"] = "continue",
    ) -> None:
        _check(thread_limit, run_limit, exit_behavior, ("continue", "error", "end"))
        self.tool_name = tool_name
        self.thread_limit = thread_limit
        self.run_limit = run_limit
        self.exit_behavior = exit_behavior

    @property
    def name(self) -> str:
        """The name, with the tool's, so that several tools can be limited."""
        base = type(self).__name__
        return f"{base}[{self.tool_name}]" if self.tool_name else base

    def before_agent(self, state: Any, runtime: Runtime[Any]) -> dict[str, Any]:
        """Begin to count for this run."""
        counts = {**state.get("run_tool_call_count", {}), self._key: 0}
        return {"run_tool_call_count": counts}

    @property
    def _key(self) -> str:
        return self.tool_name or "__all__"

    @hook_config(can_jump_to=["end"])
    def after_model(self, state: Any, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Count the calls of the reply; answer those beyond the limit."""
        calls = [
            call for call in open_calls(state["messages"]) if self.tool_name in (None, call["name"])
        ]
        if not calls:
            return None
        thread = dict(state.get("thread_tool_call_count", {}))
        run = dict(state.get("run_tool_call_count", {}))
        blocked: list[Any] = []
        for call in calls:
            over_thread = (
                self.thread_limit is not None and thread.get(self._key, 0) >= self.thread_limit
            )
            over_run = self.run_limit is not None and run.get(self._key, 0) >= self.run_limit
            if over_thread or over_run:
                blocked.append(call)
            else:
                thread[self._key] = thread.get(self._key, 0) + 1
                run[self._key] = run.get(self._key, 0) + 1
        update: dict[str, Any] = {"thread_tool_call_count": thread, "run_tool_call_count": run}
        if not blocked:
            return update
        text = (
            f"Tool call limit exceeded. Do not call '{self.tool_name}' again."
            if self.tool_name
            else "Tool call limit exceeded. Do not make additional tool calls."
        )
        if self.exit_behavior == "continue":
            update["messages"] = [failed(call, text) for call in blocked]
            return update
        over = _reached(thread, run, self._key, len(blocked), self.thread_limit, self.run_limit)
        name = f"'{self.tool_name}' tool" if self.tool_name else "Tool"
        reached = f"{name} call limit reached: {over}."
        if self.exit_behavior == "error":
            raise ToolCallLimitExceededError(reached)
        stopped = "This tool call was not executed: another call of the turn exceeded the limit."
        every = open_calls(state["messages"])
        update["messages"] = [
            *(failed(call, text if call in blocked else stopped) for call in every),
            AIMessage(reached),
        ]
        update["jump_to"] = "end"
        return update


def _reached(
    thread: dict[str, int],
    run: dict[str, int],
    key: str,
    n_blocked: int,
    thread_limit: int | None,
    run_limit: int | None,
) -> str:
    found = [
        f"{name} limit exceeded ({counts.get(key, 0) + n_blocked}/{limit} calls)"
        for name, counts, limit in (("thread", thread, thread_limit), ("run", run, run_limit))
        if limit is not None and counts.get(key, 0) + n_blocked > limit
    ]
    return " and ".join(found)
