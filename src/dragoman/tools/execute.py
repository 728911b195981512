"""Running the calls of a model's reply: every call is answered, in order, whatever its tool does.

A tool that fails, hangs, is unknown, or was called with wrong or cut-off arguments gives an error
result that the model can read: class and message, cut at 1,000 characters, without arguments or
traceback. What the model put under the name of an injected argument is dropped first.
"""

import asyncio
import contextvars
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from dragoman._door import ASYNC, SYNC, Door, run
from dragoman.messages import AIMessage, ToolCall, ToolMessage
from dragoman.tools.arguments import with_injected
from dragoman.tools.base import BaseTool
from dragoman.tools.convert import tool as make_tool

__all__ = ["aexecute_tool_calls", "error_text", "execute_tool_calls"]

MAX_ERROR_CHARS = 1000
MAX_CHARS = 200_000


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
        ready = [t if isinstance(t, BaseTool) else make_tool(t) for t in tools]
        self.tools: dict[str, BaseTool] = {tool.name: tool for tool in ready}
        self.config = config
        self.injected: Mapping[str, Any] = injected or {}
        self.timeout_s = timeout_s
        self.max_chars = max_chars

    async def answer(self, door: Door, message: AIMessage, limit: int | None) -> list[Any]:
        """Return the results of all calls, valid ones first."""
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
        try:
            if door.is_async:
                output = await self._within(tool.ainvoke(given, self.config))
            else:
                output = self._in_time(tool, given)
        except TimeoutError as error:
            if self.timeout_s is None or error.args:
                return self.failure(call, error)
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
        return self._shortened(output)

    def injected_for(self, tool: BaseTool, call: ToolCall) -> Mapping[str, Any]:
        """Return the values for injected arguments of one call, by name."""
        return self.injected

    def failure(self, call: ToolCall, error: BaseException) -> list[Any]:
        """Return what becomes of a tool's error; an agent with hooks around tools raises it to them."""
        return [_failed(call, error_text(error))]

    async def _within(self, running: Any) -> Any:
        # Not `wait_for`: it makes a task of its own, and a SystemExit that leaves a task ends the
        # event loop before anybody can catch it.
        async with asyncio.timeout(self.timeout_s):
            return await running

    def _in_time(self, tool: BaseTool, given: dict[str, Any]) -> Any:
        """Return the output of a sync run, or stop waiting for it when it is late.

        Raises:
            TimeoutError: If it is late.
        """
        if self.timeout_s is None:
            return tool.invoke(given, self.config)
        outcome: list[Any] = []
        context = contextvars.copy_context()

        def work() -> None:
            try:
                outcome.append((context.run(tool.invoke, given, self.config), None))
            except BaseException as error:  # noqa: BLE001 - raised again in the thread that waits
                outcome.append((None, error))

        # A daemon, so that a tool that hangs does not keep the process from ending.
        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        thread.join(self.timeout_s)
        if not outcome:
            raise TimeoutError
        output, error = outcome[0]
        if error is not None:
            raise error
        return output

    def _shortened(self, output: Any) -> list[Any]:
        items: list[Any] = output if isinstance(output, list) else [output]
        for index, item in enumerate(items):
            content: Any = item.content if isinstance(item, ToolMessage) else None
            if isinstance(content, str) and len(content) > self.max_chars:
                mark = f"\n[cut: {self.max_chars} of {len(content)} characters]"
                short = content[: self.max_chars] + mark
                items[index] = item.model_copy(update={"content": short})
        return items


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
        faults = [
            f"{'.'.join(str(part) for part in fault['loc']) or 'arguments'}: {fault['msg']}"
            for fault in error.errors(include_input=False, include_url=False, include_context=False)
        ]
        text = f"Error: wrong arguments: {'; '.join(faults)}. Please fix them and try again."
    else:
        text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return text if len(text) <= MAX_ERROR_CHARS else text[: MAX_ERROR_CHARS - 3] + "..."
