"""Agents: a model and tools, as a runnable whose state lasts."""

import warnings
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import aclosing, closing
from functools import partial
from typing import Any, cast

from typing_extensions import is_typeddict, override

from dragoman._door import ASYNC, SYNC, Door, run
from dragoman.agents.control import Interrupt
from dragoman.agents.journal import Journal, Place
from dragoman.agents.loop import Run
from dragoman.agents.middleware.types import AgentMiddleware, overrides
from dragoman.agents.model_step import ModelStep
from dragoman.agents.request import tool_name
from dragoman.agents.runtime import Runtime
from dragoman.agents.state import AgentStateError, JumpTo, StateSchema
from dragoman.agents.streaming import MODES, AsyncChannel, Channel, SyncChannel, aevents, events
from dragoman.agents.structured_output import ResponseFormat
from dragoman.agents.tool_step import ToolStep
from dragoman.errors import short
from dragoman.messages import SystemMessage
from dragoman.runnables import Runnable
from dragoman.runnables._scope import Scope, traced
from dragoman.runnables.config import DEFAULT_RECURSION_LIMIT, check_config
from dragoman.threads import ThreadStore
from dragoman.tools import BaseTool
from dragoman.tools.convert import tool as make_tool
from dragoman.tools.execute import tools_by_name

__all__ = ["Agent", "StateSnapshot"]

TARGETS: tuple[JumpTo, ...] = ("tools", "model", "end")


class StateSnapshot:
    """The state of a thread between runs.

    Attributes:
        values: The state.
        next: The steps that an unfinished run would take next.
        interrupts: Questions that wait for an answer.
        config: The config that names the thread.
    """

    def __init__(self, values: dict[str, Any], place: Place, config: dict[str, Any]) -> None:
        self.values = values
        self.config = config
        self.next: tuple[str, ...] = () if place.node is None else (place.node,)
        self.interrupts: tuple[Interrupt, ...] = tuple(
            Interrupt(q["value"], q["id"]) for q in place.questions
        )

    @override
    def __repr__(self) -> str:
        fields = ", ".join(
            f"{key!r}: <{len(value)} messages>" if key == "messages" else f"{key!r}: {short(value)}"
            for key, value in self.values.items()
        )
        return (
            f"StateSnapshot(values={{{fields}}}, next={self.next!r}, "
            f"interrupts={self.interrupts!r}, config={self.config!r})"
        )


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
        context_schema: Any,
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
        self.context_schema = context_schema
        self.max_steps = max_steps
        self.interrupt_before: frozenset[str] = frozenset(
            _listed("interrupt_before", interrupt_before)
        )
        self.interrupt_after: frozenset[str] = frozenset(
            _listed("interrupt_after", interrupt_after)
        )
        middleware = _listed("middleware", middleware)
        for entry in middleware:
            if not isinstance(entry, AgentMiddleware):
                message = (
                    f"middleware has to hold instances of AgentMiddleware, got {short(entry)}; make "
                    "one of a class by calling it, and of a function by a decorator such as "
                    "before_model"
                )
                raise TypeError(message)
        names = [m.name for m in middleware]
        if len(set(names)) != len(names):
            raise AssertionError("Please remove duplicate middleware instances.")
        self.middleware: tuple[AgentMiddleware[Any, Any], ...] = middleware
        given = [*_listed("tools", tools), *(tool for m in middleware for tool in m.tools)]
        for entry in given:
            if isinstance(entry, str):  # `tool("name")` would make a decorator of it
                message = (
                    f"tools has to hold functions, tools or dicts, got the string {entry[:80]!r}"
                )
                raise TypeError(message)
        self.bound_tools: list[BaseTool | dict[str, Any]] = [
            t if isinstance(t, dict | BaseTool) else make_tool(t) for t in given
        ]
        self.tools: dict[str, BaseTool] = tools_by_name(
            [tool for tool in self.bound_tools if isinstance(tool, BaseTool)]
        )
        self._warn_of_missing_tools()
        schemas = [m.state_schema for m in middleware]
        self.schema: StateSchema = StateSchema(
            [*schemas, *([state_schema] if state_schema else [])]
        )
        wraps_tools = any(
            overrides(m, "wrap_tool_call") or overrides(m, "awrap_tool_call") for m in middleware
        )
        self.model_step: ModelStep = ModelStep(
            middleware, frozenset(self.tools), name=name, can_run_unknown=wraps_tools
        )
        self.tool_step: ToolStep = ToolStep(
            self.tools, middleware, concurrency=tool_concurrency, timeout_s=tool_timeout_s
        )
        self._plan()

    def _warn_of_missing_tools(self) -> None:
        """Warn of tools that a middleware names and nobody has; some may come at run time."""
        names = [tool_name(tool) for tool in self.bound_tools]
        for m in self.middleware:
            missing = [name for name in m.named_tools() if name not in names]
            if missing:
                message = (
                    f"{m.name} names {', '.join(map(short, missing))}, which no tool of the agent is "
                    f"called; there are {', '.join(names) or 'none'}"
                )
                warnings.warn(message, UserWarning, stacklevel=4)

    # ------------------------------------------------------------------ the plan of steps

    def _plan(self) -> None:
        """Name the steps of hooks, who follows whom, and where each may jump to."""
        self.steps: dict[str, tuple[AgentMiddleware[Any, Any], str]] = {}
        phases: dict[str, list[str]] = {}
        for hook in ("before_agent", "before_model", "after_model", "after_agent"):
            order = self.middleware if hook.startswith("before") else self.middleware[::-1]
            having = [m for m in order if overrides(m, hook) or overrides(m, "a" + hook)]
            phases[hook] = [f"{m.name}.{hook}" for m in having]
            self.steps.update((f"{m.name}.{hook}", (m, hook)) for m in having)
        self.jumps: dict[str, frozenset[JumpTo]] = {
            step: _targets(step, m, hook) for step, (m, hook) in self.steps.items()
        }
        self._turn = [*phases["before_model"], "model"][0]
        self.first_after_model: str | None = next(iter(phases["after_model"]), None)
        self.last_after_model: str | None = next(iter(phases["after_model"][-1:]), None)
        self._ending = next(iter(phases["after_agent"]), None)
        self.first_step: str = next(iter(phases["before_agent"]), self._turn)
        self._next: dict[str, str | None] = {}
        for hook, then in (
            ("before_agent", self._turn),
            ("before_model", "model"),
            ("after_model", None),
            ("after_agent", None),
        ):
            steps = [*phases[hook], then]
            self._next.update(zip(phases[hook], steps[1:], strict=True))
        unknown = (self.interrupt_before | self.interrupt_after) - {*self.steps, "model", "tools"}
        if unknown:
            known = ", ".join(["model", "tools", *self.steps])
            message = f"no step is called {short(min(unknown))}; the steps are {known}"
            raise ValueError(message)

    def after(self, node: str) -> str | None:
        """Return the step that follows a hook's."""
        return self._next[node]

    def jump(self, target: JumpTo) -> str | None:
        """Return the step that `model`, `tools` or `end` stands for."""
        return {"model": self._turn, "tools": "tools", "end": self._ending}[target]

    def jump_of(self, node: str, update: Any) -> JumpTo | None:
        """Return where a hook's update jumps to, if its hook may.

        Raises:
            AgentStateError: If there is no such place.
        """
        target = update.get("jump_to") if isinstance(update, dict) else None
        if target is not None and target not in TARGETS:
            message = f"{node} has jump_to={short(target)}; it has to be one of {TARGETS} or None"
            raise AgentStateError(message)
        return target if target in self.jumps[node] else None

    @override
    def get_graph(self, config: Any = None) -> Any:
        """Return the steps as a graph: `model`, `tools`, those of middleware, and where they lead."""
        from dragoman.agents.graph import agent_graph

        return agent_graph(self)

    # ------------------------------------------------------------------ running

    def _run(self, door: Door, config: Any, context: Any, channel: Channel | None) -> Run:
        if config is not None:
            check_config(config)
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
        writer = {} if channel is None else {"stream_writer": partial(channel.put, "custom")}
        made = _context(self.context_schema, context)
        runtime: Runtime[Any] = Runtime(context=made, store=self.store, config=given, **writer)
        limit = given.get("recursion_limit")
        # Every config that went through another runnable has the default limit: nobody asked for it.
        turns = self.max_steps
        if isinstance(limit, int) and 0 < limit != DEFAULT_RECURSION_LIMIT:
            turns = min(turns, limit)
        return Run(self, door, Journal(thread), runtime, config, channel, max_turns=turns)

    async def _finish(
        self, door: Door, given: Any, config: Any, context: Any, channel: Channel | None
    ) -> dict[str, Any]:
        """Run to the end, or to an interrupt, as one traced run of a chain."""

        async def body(door: Door, given: Any, scope: Scope, _: dict[str, Any]) -> dict[str, Any]:
            child = scope.child()
            made = self._run(door, child if child is not None else config, context, channel)
            await made.start(given)
            await made.tell("values", self.schema.shown(made.state))
            interrupts = await made.walk()
            output = made.output()
            return {**output, "__interrupt__": interrupts} if interrupts else output

        return await traced(door, self, given, config, body, {})

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
        return run(self._finish(SYNC, input, config, context, None))

    async def ainvoke(
        self, input: Any, config: Any = None, *, context: Any = None, **_: Any
    ) -> dict[str, Any]:
        """Async `invoke`."""
        return await self._finish(ASYNC, input, config, context, None)

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
        channel = SyncChannel(modes)
        finish = partial(self._finish, SYNC, input, config, context, channel)
        with closing(events(channel, finish)) as stream:
            for event in stream:
                yield event if many else event[1]

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
        channel = AsyncChannel(modes)
        finish = partial(self._finish, ASYNC, input, config, context, channel)
        async with aclosing(aevents(channel, finish)) as stream:
            async for event in stream:
                yield event if many else event[1]

    # ------------------------------------------------------------------ looking

    def get_state(self, config: Any) -> StateSnapshot:
        """Return the state of a thread, and what an unfinished run waits for."""
        return run(self._look(SYNC, config))

    async def aget_state(self, config: Any) -> StateSnapshot:
        """Async `get_state`."""
        return await self._look(ASYNC, config)

    async def _look(self, door: Door, config: Any) -> StateSnapshot:
        made = self._run(door, config, None, None)
        messages, place = await made.journal.read(door)
        return StateSnapshot({**place.fields, "messages": messages}, place, dict(config))

    def update_state(self, config: Any, values: dict[str, Any]) -> None:
        """Reduce an update into the state of a thread; an unfinished run stays where it is.

        Raises:
            AgentStateError: If it names no field of the state.
        """
        run(self._change(SYNC, config, values))

    async def aupdate_state(self, config: Any, values: dict[str, Any]) -> None:
        """Async `update_state`."""
        await self._change(ASYNC, config, values)

    async def _change(self, door: Door, config: Any, values: dict[str, Any]) -> None:
        await self._run(door, config, None, None).change(values)


def _listed(option: str, given: Any) -> tuple[Any, ...]:
    """Return the entries of an option that takes a list.

    Raises:
        TypeError: If one entry was given in place of the list.
    """
    is_one = isinstance(given, str | dict | type | BaseTool | AgentMiddleware)
    if is_one or not isinstance(given, Iterable):
        message = (
            f"{option} has to be a list, got {short(given)}; put it in brackets: {option}=[...]"
        )
        raise TypeError(message)
    return tuple(cast("Iterable[Any]", given))


def _targets(step: str, middleware: AgentMiddleware[Any, Any], hook: str) -> frozenset[JumpTo]:
    """Return where a hook declares to jump to.

    Raises:
        ValueError: If there is no such place.
    """
    found: set[JumpTo] = set()
    for name in (hook, "a" + hook):
        declared = getattr(getattr(middleware, name), "__can_jump_to__", ())
        if any(target not in TARGETS for target in declared):
            message = f"{step} has can_jump_to={short(declared)}; it has to be a list of {TARGETS}"
            raise ValueError(message)
        found.update(declared)
    return frozenset(found)


def _context(schema: Any, given: Any) -> Any:
    """Return the context as the schema's type, where it is a dict and the schema a class for it."""
    if isinstance(given, dict) and isinstance(schema, type) and not is_typeddict(schema):
        return schema(**given)
    return given


def _modes(given: str | Sequence[str]) -> tuple[frozenset[str], bool]:
    many = not isinstance(given, str)
    modes = frozenset(cast("Sequence[str]", [given] if not many else given))
    unknown = modes - MODES
    if unknown:
        message = f"unknown stream_mode {sorted(unknown)}; one or more of {sorted(MODES)}"
        raise ValueError(message)
    return modes, many
