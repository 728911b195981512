"""Agents: a model and tools, as a runnable whose state lasts."""

import asyncio
import contextvars
import queue
import threading
from collections.abc import AsyncIterator, Iterator, Sequence
from functools import partial
from typing import Any, cast

from dragoman._door import ASYNC, SYNC, Door, run
from dragoman.agents.control import Interrupt
from dragoman.agents.journal import Journal, Place
from dragoman.agents.loop import Run
from dragoman.agents.middleware.types import AgentMiddleware, overrides
from dragoman.agents.model_step import ModelStep, tool_name
from dragoman.agents.runtime import Runtime
from dragoman.agents.state import StateSchema
from dragoman.agents.structured_output import ResponseFormat
from dragoman.agents.tool_step import ToolStep
from dragoman.messages import SystemMessage
from dragoman.runnables import Runnable
from dragoman.threads import ThreadStore
from dragoman.tools import BaseTool
from dragoman.tools.convert import tool as make_tool

__all__ = ["Agent", "StateSnapshot"]

MODES = frozenset({"values", "updates", "messages", "custom"})


class StateSnapshot:
    """The state of a thread between runs.

    Attributes:
        values: The state.
        next: The steps that an unfinished run would take next.
        interrupts: Questions that wait for an answer.
    """

    def __init__(self, values: dict[str, Any], place: Place) -> None:
        self.values = values
        self.next: tuple[str, ...] = () if place.node is None else (place.node,)
        self.interrupts = tuple(Interrupt(q["value"], q["id"]) for q in place.questions)


class Agent(Runnable[Any, dict[str, Any]]):
    """What `create_agent` makes; see there."""

    def __init__(
        self,
        *,
        model: Any,
        tools: Sequence[Any],
        system_message: SystemMessage | None,
        middleware: Sequence[AgentMiddleware[Any, Any]],
        response_format: ResponseFormat | None,
        state_schema: Any,
        checkpointer: ThreadStore | None,
        store: Any,
        interrupt_before: Sequence[str],
        interrupt_after: Sequence[str],
        name: str | None,
        max_steps: int,
        tool_concurrency: int | None,
        tool_timeout_s: float | None,
    ) -> None:
        self.name = name
        self.model = model
        self.system_message = system_message
        self.response_format: ResponseFormat | None = response_format
        self.checkpointer = checkpointer
        self.store = store
        self.max_steps = max_steps
        self.interrupt_before = frozenset(interrupt_before)
        self.interrupt_after = frozenset(interrupt_after)
        names = [m.name for m in middleware]
        assert len(set(names)) == len(names), "Please remove duplicate middleware instances."
        self.middleware = tuple(middleware)
        given = [*tools, *(tool for m in middleware for tool in m.tools)]
        self.bound_tools = [t if isinstance(t, dict | BaseTool) else make_tool(t) for t in given]
        self.tools: dict[str, BaseTool] = {
            tool_name(tool): tool for tool in self.bound_tools if isinstance(tool, BaseTool)
        }
        schemas = [m.state_schema for m in middleware]
        self.schema = StateSchema([*schemas, *([state_schema] if state_schema else [])])
        wraps_tools = any(
            overrides(m, "wrap_tool_call") or overrides(m, "awrap_tool_call") for m in middleware
        )
        self.model_step = ModelStep(
            middleware, frozenset(self.tools), name=name, can_run_unknown=wraps_tools
        )
        self.tool_step = ToolStep(
            self.tools, middleware, concurrency=tool_concurrency, timeout_s=tool_timeout_s
        )
        self._plan()

    # ------------------------------------------------------------------ the plan of steps

    def _plan(self) -> None:
        """Name the steps of hooks and who follows whom."""
        self.steps: dict[str, tuple[AgentMiddleware[Any, Any], str]] = {}
        phases: dict[str, list[str]] = {}
        for hook in ("before_agent", "before_model", "after_model", "after_agent"):
            order = self.middleware if hook.startswith("before") else self.middleware[::-1]
            having = [m for m in order if overrides(m, hook) or overrides(m, "a" + hook)]
            phases[hook] = [f"{m.name}.{hook}" for m in having]
            self.steps.update((f"{m.name}.{hook}", (m, hook)) for m in having)
        self._turn = [*phases["before_model"], "model"][0]
        self.first_after_model = next(iter(phases["after_model"]), None)
        self.last_after_model = frozenset(phases["after_model"][-1:])
        self._ending = next(iter(phases["after_agent"]), None)
        self.first_step = next(iter(phases["before_agent"]), self._turn)
        self._next: dict[str, str | None] = {}
        for hook, then in (
            ("before_agent", self._turn),
            ("before_model", "model"),
            ("after_model", None),
            ("after_agent", None),
        ):
            steps = [*phases[hook], then]
            self._next.update(zip(phases[hook], steps[1:], strict=True))

    def after(self, node: str) -> str | None:
        """Return the step that follows a hook's."""
        return self._next[node]

    def jump(self, target: str) -> str | None:
        """Return the step that `model`, `tools` or `end` stands for."""
        return {"model": self._turn, "tools": "tools", "end": self._ending}[target]

    # ------------------------------------------------------------------ running

    def _run(
        self, door: Door, config: Any, context: Any, emit: Any, *, streams_tokens: bool
    ) -> Run:
        given = dict(config or {})
        thread = None
        if self.checkpointer is not None:
            thread_id = (given.get("configurable") or {}).get("thread_id")
            if thread_id is None:
                message = (
                    "an agent with a checkpointer needs a thread: pass "
                    'config={"configurable": {"thread_id": "..."}}'
                )
                raise ValueError(message)
            thread = self.checkpointer.thread(str(thread_id))
        runtime: Runtime[Any] = Runtime(context=context, store=self.store, config=given)
        if emit is not None:
            runtime = runtime.override(stream_writer=partial(emit, "custom"))
        made = Run(
            self,
            door,
            Journal(thread),
            runtime,
            config,
            emit,
            streams_tokens=streams_tokens,
        )
        limit = given.get("recursion_limit")
        if isinstance(limit, int) and limit > 0:
            made.max_turns = min(self.max_steps, limit)
        return made

    async def _finish(self, made: Run, given: Any) -> dict[str, Any]:
        await made.start(given)
        made._tell("values", self.schema.shown(made.state))
        interrupts = await made.walk()
        output = made.output()
        if interrupts:
            output = {**output, "__interrupt__": interrupts}
        return output

    def invoke(
        self, input: Any, config: Any = None, *, context: Any = None, **_: Any
    ) -> dict[str, Any]:
        """Return the state after the run: `messages`, and `structured_response` if asked for.

        Args:
            input: `{"messages": ...}`; None to go on after a crash; `Command(resume=...)` to answer
                an interrupt.
            config: A RunnableConfig; with a checkpointer `{"configurable": {"thread_id": ...}}`.
            context: What tools and hooks find as `runtime.context`.

        Returns:
            The state; with `__interrupt__` if the run stopped to ask.

        Raises:
            AgentStepLimitError: If the model took more turns than `max_steps`.
            ThreadConflict: If another run wrote to the thread meanwhile.
        """
        made = self._run(SYNC, config, context, None, streams_tokens=False)
        return run(self._finish(made, input))

    async def ainvoke(
        self, input: Any, config: Any = None, *, context: Any = None, **_: Any
    ) -> dict[str, Any]:
        """Async `invoke`."""
        made = self._run(ASYNC, config, context, None, streams_tokens=False)
        return await self._finish(made, input)

    def stream(
        self,
        input: Any,
        config: Any = None,
        *,
        context: Any = None,
        stream_mode: str | Sequence[str] = "updates",
        **_: Any,
    ) -> Iterator[Any]:
        """Yield what happens during a run.

        Args:
            input: As for `invoke`.
            config: As for `invoke`.
            context: As for `invoke`.
            stream_mode: `values` (the state after each step), `updates` (`{step: update}`),
                `messages` (`(chunk, metadata)` of the model's tokens), `custom` (what tools write),
                or a list of them: then `(mode, item)` pairs come.
        """
        modes, many = _modes(stream_mode)
        events: queue.SimpleQueue[Any] = queue.SimpleQueue()
        closed = threading.Event()

        def emit(mode: str, value: Any) -> None:
            if closed.is_set():
                raise GeneratorExit
            if mode in modes:
                events.put((mode, value))

        made = self._run(SYNC, config, context, emit, streams_tokens="messages" in modes)

        def work() -> None:
            try:
                run(self._finish(made, input))
            except BaseException as error:  # noqa: BLE001 - raised again where the stream is read
                events.put(error)
            else:
                events.put(None)

        worker = threading.Thread(target=contextvars.copy_context().run, args=(work,), daemon=True)
        worker.start()
        try:
            while (event := events.get()) is not None:
                if isinstance(event, BaseException):
                    raise event
                yield event if many else event[1]
        finally:
            closed.set()
            worker.join(timeout=30)

    async def astream(
        self,
        input: Any,
        config: Any = None,
        *,
        context: Any = None,
        stream_mode: str | Sequence[str] = "updates",
        **_: Any,
    ) -> AsyncIterator[Any]:
        """Async `stream`; closing it cancels the run."""
        modes, many = _modes(stream_mode)
        events: asyncio.Queue[Any] = asyncio.Queue()
        loop = asyncio.get_running_loop()

        def emit(mode: str, value: Any) -> None:
            if mode in modes:
                loop.call_soon_threadsafe(events.put_nowait, (mode, value))

        made = self._run(ASYNC, config, context, emit, streams_tokens="messages" in modes)

        async def work() -> None:
            try:
                await self._finish(made, input)
            finally:
                loop.call_soon(events.put_nowait, None)

        task = asyncio.create_task(work())
        try:
            while (event := await events.get()) is not None:
                yield event if many else event[1]
            await task
        finally:
            if not task.done():
                task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    # ------------------------------------------------------------------ looking

    def get_state(self, config: Any) -> StateSnapshot:
        """Return the state of a thread, and what an unfinished run waits for."""
        return run(self._look(SYNC, config))

    async def aget_state(self, config: Any) -> StateSnapshot:
        """Async `get_state`."""
        return await self._look(ASYNC, config)

    async def _look(self, door: Door, config: Any) -> StateSnapshot:
        made = self._run(door, config, None, None, streams_tokens=False)
        messages, place = await made.journal.read(door)
        return StateSnapshot({**place.fields, "messages": messages}, place)


def _modes(given: str | Sequence[str]) -> tuple[frozenset[str], bool]:
    many = not isinstance(given, str)
    modes = frozenset(cast("Sequence[str]", [given] if not many else given))
    unknown = modes - MODES
    if unknown:
        message = f"unknown stream_mode {sorted(unknown)}; one or more of {sorted(MODES)}"
        raise ValueError(message)
    return modes, many
