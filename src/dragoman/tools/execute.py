"""Running the calls of a model's reply: every call is answered, in order, whatever its tool does.

A tool that fails, hangs, is unknown, or was called with wrong or cut-off arguments gives an error
result that the model can read: class and message, cut at 1,000 characters, without arguments or
traceback. What the model put under the name of an injected argument is dropped first.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from pydantic import ValidationError

from dragoman._door import ASYNC, SYNC, Door, run
from dragoman.messages import AIMessage, ToolCall, ToolMessage
from dragoman.tools.arguments import with_injected
from dragoman.tools.base import BaseTool
from dragoman.tools.convert import tool as make_tool
from dragoman.tools.output import MAX_CHARS, cut, max_chars, told
from dragoman.tools.threads import LateError, call_in_time
from dragoman.utils.function_calling import tool_list
from dragoman.utils.pydantic import faults_text

__all__ = ["aexecute_tool_calls", "error_text", "execute_tool_calls", "tools_by_name"]

MAX_ERROR_CHARS = 1000


def execute_tool_calls(
    message: AIMessage,
    tools: Sequence[BaseTool | Callable[..., Any]],
    *,
    config: Any = None,
    injected: Mapping[str, Any] | None = None,
    max_concurrency: int | None = None,
    timeout_s: float | None = None,
    max_chars: int = MAX_CHARS,
) -> list[Any]:
    """Return the results of all calls of `message`, in call order.

    Args:
        message: A reply; its invalid calls are answered too.
        tools: Tools, or functions to make tools of.
        config: The config of the runs.
        injected: Values for injected arguments, by name; each tool gets those it takes.
        max_concurrency: How many calls run at a time; None for all.
        timeout_s: Seconds a call may take. A sync tool that is late goes on in its thread; its
            result is dropped.
        max_chars: The most characters of a result's text; more is cut, with a mark.

    Returns:
        `ToolMessage`s with the ids of their calls; an object that a tool made to be passed on
        (a `ToolOutputMixin`) stands as it is.

    Raises:
        TypeError: If `message` is no reply, or `tools` no list of tools and functions.
        ValueError: If two tools have one name.

    >>> def double(n: int) -> int:
    ...     "Double n."
    ...     return 2 * n
    >>> reply = AIMessage("", tool_calls=[{"name": "double", "args": {"n": 2}, "id": "1"}])
    >>> execute_tool_calls(reply, [double])[0].content
    '4'
    """
    runner = Runner(tools, config, injected, timeout_s, max_chars)
    return run(runner.answer(SYNC, message, max_concurrency))


async def aexecute_tool_calls(
    message: AIMessage,
    tools: Sequence[BaseTool | Callable[..., Any]],
    *,
    config: Any = None,
    injected: Mapping[str, Any] | None = None,
    max_concurrency: int | None = None,
    timeout_s: float | None = None,
    max_chars: int = MAX_CHARS,
) -> list[Any]:
    """Return the results of all calls of `message`, as `execute_tool_calls` does.

    Sync tools run in threads. Cancelling this cancels the tools that run; a tool that is cancelled
    by something of its own gives an error result.
    """
    runner = Runner(tools, config, injected, timeout_s, max_chars)
    return await runner.answer(ASYNC, message, max_concurrency)


class Runner:
    """Runs calls with one set of tools and limits."""

    def __init__(
        self,
        tools: Sequence[Any],
        config: Any,
        injected: Mapping[str, Any] | None,
        timeout_s: float | None,
        max_chars: int,
    ) -> None:
        ready = [_ready(given) for given in tool_list(tools)]
        self.tools: dict[str, BaseTool] = tools_by_name(ready)
        self.config = config
        self.injected: Mapping[str, Any] = injected or {}
        self.timeout_s = timeout_s
        self.max_chars = max_chars

    async def answer(self, door: Door, message: AIMessage, limit: int | None) -> list[Any]:
        """Return the results of all calls, valid ones first.

        Raises:
            TypeError: If `message` is no reply.
        """
        if not hasattr(message, "tool_calls") or not hasattr(message, "invalid_tool_calls"):
            wrong = (
                f"tool calls are read from an AIMessage, got {type(message).__name__}; "
                "pass the model's reply itself"
            )
            raise TypeError(wrong)
        bodies = [lambda call=call: self.one(door, call) for call in message.tool_calls]
        results = await door.gather(bodies, limit) if bodies else []
        return [item for found in results for item in found] + [
            _failed(
                call,
                f"Tool call {call['name']} with id {call['id']} could not be executed - "
                "arguments were malformed or truncated.",
            )
            for call in message.invalid_tool_calls
        ]

    async def one(self, door: Door, call: ToolCall) -> list[Any]:
        """Return the results of one call."""
        tool = self.tools.get(call["name"])
        if tool is None:
            names = ", ".join(self.tools)
            text = f"Error: {call['name']} is not a valid tool, try one of [{names}]."
            return [_failed(call, text)]
        args = with_injected(tool, call["args"], self.injected_for(tool, call))
        given = {"type": "tool_call", "name": tool.name, "args": args, "id": call["id"] or ""}
        task = asyncio.current_task() if door.is_async else None
        token = max_chars.set(self.max_chars)
        try:
            output = await self._output(door, tool, given)
        except LateError:
            return [_failed(call, f"Error: timed out after {self.timeout_s:g} s")]
        except asyncio.CancelledError as error:
            if door.is_async and _is_being_cancelled():
                raise
            return [_failed(call, error_text(error))]
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            if getattr(error, "is_control_flow", False):
                raise  # an agent's interrupt, not a failure
            if isinstance(error, GeneratorExit) and door.is_async and _is_closed_from_outside(task):
                raise
            return self.failure(call, error)
        finally:
            with suppress(ValueError):  # closed from another context: there is nothing to reset
                max_chars.reset(token)
        return self._settled(call, output)

    def injected_for(self, tool: BaseTool, call: ToolCall) -> Mapping[str, Any]:
        """Return the values for injected arguments of one call, by name."""
        return self.injected

    def failure(self, call: ToolCall, error: BaseException) -> list[Any]:
        """Return what becomes of a tool's error; an agent with hooks around tools raises it to them."""
        return [_failed(call, error_text(error))]

    async def _output(self, door: Door, tool: BaseTool, given: dict[str, Any]) -> Any:
        """Return what the tool gives.

        Raises:
            LateError: If it takes longer than it may.
        """
        if not door.is_async:
            work = partial(tool.invoke, given, self.config)
            return work() if self.timeout_s is None else call_in_time(work, self.timeout_s)
        # Not `wait_for`: it makes a task of its own, and a SystemExit that leaves a task ends the
        # event loop before anybody can catch it.
        limit = asyncio.timeout(self.timeout_s)
        try:
            async with limit:
                return await tool.ainvoke(given, self.config)
        except TimeoutError as error:
            if limit.expired():
                raise LateError from error
            raise

    def _settled(self, call: ToolCall, output: Any) -> list[Any]:
        """Return the results of a call, under its id and not too long.

        A single result under another id gets the call's; beside results under the call's own id
        those under others are left out.
        """
        items: list[Any] = output if isinstance(output, list) else [output]
        if all(isinstance(item, ToolMessage) for item in items):
            own_id = call["id"] or ""
            if len(items) == 1 and items[0].tool_call_id != own_id:
                items = [items[0].model_copy(update={"tool_call_id": own_id})]
            items = [item for item in items if item.tool_call_id == own_id]
            items = items or [_failed(call, "Error: the tool gave no result for its call.")]
        return [self._shortened(item) for item in items]

    def _shortened(self, item: Any) -> Any:
        if not isinstance(item, ToolMessage):
            return item
        content: Any = cut(item.content, self.max_chars)
        is_whole = content is item.content
        return item if is_whole else item.model_copy(update={"content": content})


def _ready(given: Any) -> BaseTool:
    """Return a tool, made of a function if it is none."""
    # Of a str or None `tool` would make a decorator.
    made = given if isinstance(given, BaseTool) or not callable(given) else make_tool(given)
    if not isinstance(made, BaseTool):
        message = f"tools has to hold tools and functions, got {type(given).__name__}"
        raise TypeError(message)
    return made


def tools_by_name(tools: Sequence[BaseTool]) -> dict[str, BaseTool]:
    """Return tools by name.

    Raises:
        ValueError: If two different ones have one name: a call could mean either.
    """
    found: dict[str, BaseTool] = {}
    for tool in tools:
        if found.setdefault(tool.name, tool) is not tool:
            message = f"two tools are named {tool.name!r}; give one of them another name"
            raise ValueError(message)
    return found


def _is_being_cancelled() -> bool:
    """Return whether it is this task that is cancelled, not something inside a tool."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _is_closed_from_outside(task: Any) -> bool:
    """Return whether the coroutine of a task is closed by another; its tool has raised nothing then."""
    try:
        return asyncio.current_task() is not task
    except RuntimeError:  # no loop runs any more
        return True


def _failed(call: Mapping[str, Any], text: str) -> ToolMessage:
    return ToolMessage(
        content=text, name=call["name"], tool_call_id=call["id"] or "", status="error"
    )


def error_text(error: BaseException) -> str:
    """Return what a model is told of an error: class and message, at most 1,000 characters.

    Wrong arguments are named with what is wrong, without their values.

    >>> error_text(ValueError("no such city"))
    'ValueError: no such city'
    """
    if isinstance(error, ValidationError):
        faults = faults_text(error, "arguments")
        text = f"Error: wrong arguments: {faults}. Please fix them and try again."
    else:
        text = told(error)
    return text if len(text) <= MAX_ERROR_CHARS else text[: MAX_ERROR_CHARS - 3] + "..."
