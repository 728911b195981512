"""One round of tool calls of an agent: hooks around each, injected values, results that last."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from dragoman._door import ASYNC, SYNC, Door, run
from dragoman.agents.control import Command, scope
from dragoman.agents.middleware.types import AgentMiddleware, overrides
from dragoman.agents.request import ToolCallRequest
from dragoman.agents.runtime import Runtime
from dragoman.messages import ToolCall, ToolMessage
from dragoman.tools import BaseTool, InjectedState, InjectedStore, ToolRuntime
from dragoman.tools.execute import MAX_CHARS, Runner, error_text

__all__ = ["ToolStep"]


class _Injecting(Runner):
    """Runs calls with what the agent injects: its state, its store, the runtime."""

    def __init__(
        self,
        tools: Mapping[str, BaseTool],
        state: dict[str, Any],
        runtime: Runtime[Any],
        timeout_s: float | None,
    ) -> None:
        super().__init__([], runtime.config, None, timeout_s, MAX_CHARS)
        self.tools = dict(tools)
        self.state = state
        self.runtime = runtime

    def injected_for(self, tool: BaseTool, call: ToolCall) -> Mapping[str, Any]:
        values: dict[str, Any] = {}
        for name, mark in _marks(tool).items():
            if isinstance(mark, InjectedState):
                values[name] = self.state if mark.field is None else self.state.get(mark.field)
            elif mark is InjectedStore:
                values[name] = self.runtime.store
            else:
                values[name] = ToolRuntime(
                    state=self.state,
                    context=self.runtime.context,
                    config=self.runtime.config,
                    stream_writer=self.runtime.stream_writer,
                    tool_call_id=call["id"],
                    store=self.runtime.store,
                )
        return values


def _marks(tool: BaseTool) -> dict[str, Any]:
    """Return which arguments of a tool are injected, and how."""
    found: dict[str, Any] = {}
    for function in (getattr(tool, "func", None), getattr(tool, "coroutine", None)):
        if function is not None:
            found |= _marks_of(function)
    found |= _marks_of(type(tool)._run) | _marks_of(type(tool)._arun)
    schema: Any = tool.args_schema
    if isinstance(schema, type):
        for name, info in getattr(schema, "model_fields", {}).items():
            mark = next((m for m in map(_mark, info.metadata) if m is not None), None)
            mark = mark or _runtime_mark(info.annotation)
            if mark is not None:
                found.setdefault(name, mark)
    return found


@cache
def _marks_of(function: Any) -> dict[str, Any]:
    try:
        hints = get_type_hints(function, include_extras=True)
    except (NameError, TypeError, AttributeError):
        hints = dict(inspect.get_annotations(function))
    found: dict[str, Any] = {}
    for name, hint in hints.items():
        mark = _runtime_mark(hint)
        if get_origin(hint) is Annotated:
            inner, *metadata = get_args(hint)
            mark = next((m for m in map(_mark, metadata) if m is not None), _runtime_mark(inner))
        if mark is not None and name != "return":
            found[name] = mark
    return found


def _mark(item: Any) -> Any:
    if isinstance(item, InjectedState):
        return item
    if item is InjectedState:
        return InjectedState()
    if item is InjectedStore or isinstance(item, InjectedStore):
        return InjectedStore
    return None


def _runtime_mark(hint: Any) -> Any:
    kind = get_origin(hint) or hint
    return ToolRuntime if isinstance(kind, type) and issubclass(kind, ToolRuntime) else None


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
        self.layers = [
            m
            for m in middleware
            if overrides(m, "wrap_tool_call") or overrides(m, "awrap_tool_call")
        ]
        self.concurrency = concurrency
        self.timeout_s = timeout_s

    async def answer(
        self,
        door: Door,
        calls: Sequence[ToolCall],
        state: dict[str, Any],
        runtime: Runtime[Any],
        answers: Mapping[str, list[Any]],
        done: Callable[[ToolCall, list[Any]], None],
    ) -> list[list[Any]]:
        """Return the results of each call, in call order: messages and commands.

        `done` hears of each call as it is finished; `answers` are those of interrupts, by call id.
        """
        runner = _Injecting(self.tools, state, runtime, self.timeout_s)

        async def one(call: ToolCall) -> list[Any]:
            with scope(list(answers.get(call["id"] or "", []))):
                request = ToolCallRequest(call, self.tools.get(call["name"]), state, runtime)
                if door.is_async:
                    given = await self._alayer(0, runner, request)
                else:
                    given = self._layer(0, runner, request)
            results = _checked(call, given)
            await door.call(done, call, results)
            return results

        bodies = [lambda call=call: one(call) for call in calls]
        return await door.gather(bodies, self.concurrency)

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
    if request.tool is not None and request.tool is not runner.tools.get(call["name"]):
        other = _Injecting(
            {**runner.tools, call["name"]: request.tool},
            runner.state,
            runner.runtime,
            runner.timeout_s,
        )
        results = await other._one(door, call)
    else:
        results = await runner._one(door, call)
    return results[0] if len(results) == 1 else results


def _checked(call: ToolCall, given: Any) -> list[Any]:
    """Return results that answer the call, whatever hooks and tools gave."""
    results: list[Any] = given if isinstance(given, list) else [given]
    answered = False
    for result in results:
        if isinstance(result, ToolMessage):
            answered = answered or result.tool_call_id == (call["id"] or "")
        elif isinstance(result, Command):
            update = result.update if isinstance(result.update, dict) else {}
            messages = update.get("messages") or []
            answered = answered or any(
                isinstance(m, ToolMessage) and m.tool_call_id == call["id"] for m in messages
            )
        else:
            text = error_text(TypeError(f"the tool gave {type(result).__name__}, no result"))
            return [_error(call, text)]
    if not answered:
        text = "Error: the tool's command holds no result for its call."
        return [*results, _error(call, text)]
    return results


def _error(call: ToolCall, text: str) -> ToolMessage:
    return ToolMessage(text, tool_call_id=call["id"] or "", name=call["name"], status="error")
