"""One round of tool calls of an agent: hooks around each, injected values, results that last."""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from dragoman._door import ASYNC, SYNC, Door, run
from dragoman.agents.calls import failed
from dragoman.agents.control import scope
from dragoman.agents.middleware.types import AgentMiddleware, overrides
from dragoman.agents.request import ToolCallRequest
from dragoman.agents.results import checked
from dragoman.agents.runtime import Runtime
from dragoman.agents.state import view
from dragoman.messages import ToolCall
from dragoman.tools import BaseTool, InjectedState, InjectedStore, ToolRuntime
from dragoman.tools.execute import MAX_CHARS, Runner, error_text
from dragoman.tools.schema import field_marks, wants_of

__all__ = ["ToolStep"]


class _Injecting(Runner):
    """Runs a call with what the agent injects: its state, its store, the runtime."""

    def __init__(
        self,
        tools: Mapping[str, BaseTool],
        state: dict[str, Any],
        runtime: Runtime[Any],
        timeout_s: float | None,
        *,
        raises: bool,
    ) -> None:
        super().__init__([], runtime.config, None, timeout_s, MAX_CHARS)
        self.agent_tools = tools
        self.state = state
        self.runtime = runtime
        self.raises = raises
        self.raised: list[BaseException] = []

    def surroundings(self, call: ToolCall) -> ToolRuntime[Any, Any]:
        """Return the runtime of a call."""
        return ToolRuntime(
            state=dict(self.state),
            context=self.runtime.context,
            config=self.runtime.config,
            stream_writer=self.runtime.stream_writer,
            tool_call_id=call["id"],
            store=self.runtime.store,
        )

    def injected_for(self, tool: BaseTool, call: ToolCall) -> Mapping[str, Any]:
        values: dict[str, Any] = {}
        for name, mark in _marks(tool).items():
            if isinstance(mark, InjectedState):
                whole = mark.field is None
                values[name] = dict(self.state) if whole else self.state.get(str(mark.field))
            elif mark is InjectedStore:
                values[name] = self.runtime.store
            else:
                values[name] = self.surroundings(call)
        return values

    def failure(self, call: ToolCall, error: BaseException) -> list[Any]:
        # Wrong arguments are the model's fault: told to it at once, hooks do not hear of them.
        if (
            not self.raises
            or isinstance(error, ValidationError)
            or not isinstance(error, Exception)
        ):
            return super().failure(call, error)
        self.raised.append(error)
        raise error


def _marks(tool: BaseTool) -> dict[str, Any]:
    """Return which arguments of a tool are injected, and how."""
    found: dict[str, tuple[Any, ...]] = {}
    schema: Any = tool.args_schema
    if isinstance(schema, type):
        fields: dict[str, Any] = getattr(schema, "model_fields", {})
        found.update((name, field_marks(field)) for name, field in fields.items())
    functions: tuple[Any, ...] = (getattr(tool, "func", None), getattr(tool, "coroutine", None))
    for function in (*functions, tool._run, tool._arun):
        if function is not None:
            found.update(wants_of(function).injected)
    known = {name: next(filter(None, map(_mark, marks)), None) for name, marks in found.items()}
    return {name: mark for name, mark in known.items() if mark is not None}


def _mark(mark: Any) -> Any:
    """Return a mark that an agent knows, or None."""
    if isinstance(mark, InjectedState):
        return mark
    if mark is InjectedState:
        return InjectedState()
    if mark is InjectedStore or isinstance(mark, InjectedStore):
        return InjectedStore
    return ToolRuntime if isinstance(mark, type) and issubclass(mark, ToolRuntime) else None


class ToolStep:
    """Answers the calls of a reply."""

    def __init__(
        self,
        tools: Mapping[str, BaseTool],
        middleware: Sequence[AgentMiddleware[Any, Any]],
        *,
        concurrency: int | None,
        timeout_s: float | None,
    ) -> None:
        self.tools = tools
        self.layers: list[AgentMiddleware[Any, Any]] = [
            m
            for m in middleware
            if overrides(m, "wrap_tool_call") or overrides(m, "awrap_tool_call")
        ]
        self.concurrency = concurrency
        self.timeout_s = timeout_s

    async def answer(
        self,
        door: Door,
        call: ToolCall,
        state: dict[str, Any],
        runtime: Runtime[Any],
        answers: Sequence[Any],
    ) -> list[Any]:
        """Return the results of a call, messages and commands; `answers` are those of its interrupts.

        What a tool raises passes through the hooks, so that they can try again or tell otherwise;
        what is left of it outside them is an error result. What a hook raises ends the run.
        """
        state = view(state)
        runner = _Injecting(self.tools, state, runtime, self.timeout_s, raises=bool(self.layers))
        surroundings = runner.surroundings(call)
        request = ToolCallRequest(call, self.tools.get(call["name"]), dict(state), surroundings)
        try:
            with scope(list(answers)):
                if door.is_async:
                    given = await self._alayer(0, runner, request)
                else:
                    given = self._layer(0, runner, request)
        except Exception as error:
            if not any(error is raised for raised in runner.raised):
                raise
            return [failed(call, error_text(error))]
        return checked(call, given)

    def _layer(self, depth: int, runner: _Injecting, request: ToolCallRequest) -> Any:
        if depth == len(self.layers):
            return run(_execute(SYNC, runner, request))
        return self.layers[depth].wrap_tool_call(
            request, lambda changed: self._layer(depth + 1, runner, changed)
        )

    async def _alayer(self, depth: int, runner: _Injecting, request: ToolCallRequest) -> Any:
        if depth == len(self.layers):
            return await _execute(ASYNC, runner, request)

        async def handler(changed: ToolCallRequest) -> Any:
            return await self._alayer(depth + 1, runner, changed)

        return await self.layers[depth].awrap_tool_call(request, handler)


async def _execute(door: Door, runner: _Injecting, request: ToolCallRequest) -> Any:
    call = request.tool_call
    tool = request.tool if request.tool is not None else runner.agent_tools.get(call["name"])
    runner.tools = dict(runner.agent_tools)
    if tool is not None:
        runner.tools[call["name"]] = tool  # a hook may have put another in its place
    results = await runner.one(door, call)
    return results[0] if len(results) == 1 else results
