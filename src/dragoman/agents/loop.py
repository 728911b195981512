"""The loop of an agent: model, tools, model; hooks in between; written down after every step.

A run is a walk over named steps. Each step gives an update of the state; the update and the name of the
next step are written to the thread together, so that a run that was killed anywhere goes on at the step
that was not finished. One body serves sync and async.
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from dragoman.agents.calls import (
    failed,
    last_reply,
    malformed,
    open_calls,
    open_invalid_calls,
)
from dragoman.agents.control import (
    AgentStepLimitError,
    Command,
    GraphInterrupt,
    Interrupt,
    scope,
)
from dragoman.agents.course import Course
from dragoman.agents.middleware.types import overrides
from dragoman.agents.model_step import FailedResponse
from dragoman.agents.request import ModelRequest, Outcome
from dragoman.agents.results import updates_of, with_own_id
from dragoman.agents.state import AgentStateError, view
from dragoman.messages import AIMessage, BaseMessage, RemoveMessage, ToolCall, ToolMessage

__all__ = ["Run"]

MAX_STRUCTURED_FAILURES = 3
"""A run ends with the error of the structured answer that fails this often in a row."""
NOT_RUN = "This tool call was not executed: the model was asked again first."
MAX_AT_ONCE = 32
"""How many calls are marked as running together, as the sync door has so many threads."""


class Run(Course):
    """One run of an agent on one state, walked step by step."""

    state: dict[str, Any]
    resumed_at: str | None

    # ------------------------------------------------------------------ walking

    async def walk(self) -> list[Interrupt]:
        """Take steps until the run is over; return the interrupts it stopped at, if any.

        Raises:
            AgentStepLimitError: If the model took more turns than allowed.
        """
        limit = self.max_turns * (len(self.agent.steps) + 2) + 1
        try:
            for _ in range(limit):
                node = self.place.node
                if node is None:
                    return []
                if node in self.agent.interrupt_before and node != self.resumed_at:
                    return await self._pause({"before": node})
                self.resumed_at = None
                try:
                    await self._step(node)
                except GraphInterrupt as stop:
                    return await self._stopped([(node, stop)])
                except _Stopped as stopped:
                    return await self._stopped(stopped.stops)
                if node in self.agent.interrupt_after and self.place.node is not None:
                    return await self._pause({"after": node})
        except (asyncio.CancelledError, KeyboardInterrupt, GeneratorExit) as error:
            self._cancelled(error)
            raise
        raise self._too_long()

    def _too_long(self) -> AgentStepLimitError:
        message = f"the agent took {self.place.turns} model turns; max_steps={self.max_turns}"
        return AgentStepLimitError(message)

    async def _step(self, node: str) -> None:
        if node == "model":
            await self._model()
        elif node == "tools":
            await self._tools()
        else:
            await self._hook(node)

    async def _pause(self, value: Any) -> list[Interrupt]:
        found = [Interrupt(value)]
        await self.tell("updates", {"__interrupt__": tuple(found)})
        return found

    async def _stopped(self, stops: list[tuple[str, GraphInterrupt]]) -> list[Interrupt]:
        """Write down the questions of interrupts, by the scope that asked."""
        if self.journal.thread is None:
            message = "an interrupt needs a checkpointer, so that the run can go on after it"
            raise AgentStateError(message) from None
        known = {question["scope"] for question in self.place.questions}
        self.place.questions += [
            {"id": stop.interrupt.id, "value": stop.interrupt.value, "scope": name}
            for name, stop in stops
            if name not in known
        ]
        await self._note([])
        found = [Interrupt(q["value"], q["id"]) for q in self.place.questions]
        shown = {"__interrupt__": tuple(found)}
        await self.tell("updates", shown)
        await self.tell("values", {**self.agent.schema.shown(self.state), **shown})
        return found

    async def _apply(
        self, source: str, updates: Sequence[Any], follows: Callable[[], str | None]
    ) -> None:
        """Reduce updates into the state, write them down with the next step, and tell."""
        entries: list[BaseMessage] = []
        told: list[dict[str, Any] | None] = []
        for update in updates:
            given = update.update if isinstance(update, Command) else update
            self.state, added = self.agent.schema.reduced(self.state, given, source)
            entries += added
            shown = {k: v for k, v in (given or {}).items() if k != "jump_to"}
            if "messages" in shown:
                shown["messages"] = added
            told.append(shown or None)
        self.state.pop("jump_to", None)
        self.place.node = follows()
        self.place.settle(source)
        await self._note(entries)
        if self.channel is None:
            return
        for message in entries:
            if not isinstance(message, RemoveMessage) and message.id not in self.channel.seen:
                self.channel.put("messages", (message, {"langgraph_node": source}))
        for shown in told:
            await self.tell("updates", {source: shown})
        await self.tell("values", self.agent.schema.shown(self.state))

    # ------------------------------------------------------------------ hooks

    async def _hook(self, node: str) -> None:
        middleware, hook = self.agent.steps[node]
        with scope(list(self.place.answers.get(node, []))):
            if self.door.is_async and overrides(middleware, "a" + hook):
                update = await getattr(middleware, "a" + hook)(view(self.state), self.runtime)
            elif overrides(middleware, hook):
                method = getattr(middleware, hook)
                update = await self.door.call(method, view(self.state), self.runtime)
            else:
                message = (
                    f'No synchronous function provided to "{node}"; define {hook}, or run the agent '
                    "by ainvoke() or astream()"
                )
                raise TypeError(message)
        given = update.checked(node).update if isinstance(update, Command) else update
        jump = self.agent.jump_of(node, given)

        def follows() -> str | None:
            if jump is not None:
                return self.agent.jump(jump)
            return (
                self._decided() if node == self.agent.last_after_model else self.agent.after(node)
            )

        await self._apply(node, [given], follows)

    # ------------------------------------------------------------------ model

    async def _model(self) -> None:
        if self.place.turns >= self.max_turns:
            raise self._too_long()
        agent = self.agent
        messages = self.state["messages"]
        closing = [failed(call, NOT_RUN) for call in open_calls(messages)]
        closing += [malformed(call) for call in open_invalid_calls(messages)]
        if closing:
            await self._note(self._reduced(updates_of(messages, closing), "the repair"))
        request = ModelRequest(
            model=agent.model,
            messages=list(self.state["messages"]),
            system_message=agent.system_message,
            tools=list(agent.bound_tools),
            response_format=agent.response_format,
            state=view(self.state),
            runtime=self.runtime,
        )
        with scope(list(self.place.answers.get("model", []))):
            tokens = self.channel if self.channel and "messages" in self.channel.modes else None
            outcome = await agent.model_step.call(self.door, request, self.config, tokens)
        self.place.turns += 1
        update = self._update_of(outcome)
        self.state = {k: v for k, v in self.state.items() if k != "structured_response"}
        await self._apply(
            "model",
            [update, *outcome.commands],
            lambda: agent.first_after_model or self._decided(),
        )

    def _update_of(self, outcome: Outcome) -> dict[str, Any]:
        response = outcome.response
        self.place.failures += 1
        if not isinstance(response, FailedResponse):
            self.place.failures = 0
        elif self.place.failures >= MAX_STRUCTURED_FAILURES:
            raise response.error
        taken = {message.id for message in self.state["messages"]}
        given = [with_own_id(m, taken, AIMessage | ToolMessage) for m in response.result]
        update: dict[str, Any] = {"messages": given}
        if response.structured_response is not None or self.agent.response_format is not None:
            update["structured_response"] = response.structured_response
        return update

    def _decided(self) -> str | None:
        """Return the step after a model turn: tools, another turn, or the end."""
        messages = self.state["messages"]
        if open_calls(messages):
            return "tools"
        if self.state.get("structured_response") is not None:
            return self.agent.jump("end")
        last = last_reply(messages)
        if self.place.failures:
            return self.agent.jump("model")
        if last is not None and (last.tool_calls or any(c["id"] for c in last.invalid_tool_calls)):
            return self.agent.jump("model")  # all its calls are answered already
        return self.agent.jump("end")

    # ------------------------------------------------------------------ tools

    async def _tools(self) -> None:
        calls = open_calls(self.state["messages"])
        found: list[list[Any] | None] = [self.journal.stored(self.place, call) for call in calls]
        todo = [call for call, results in zip(calls, found, strict=True) if results is None]
        given = iter(await self._run_tools(todo) if todo else [])
        results = [item for stored in found for item in (next(given) if stored is None else stored)]
        self.place.running, self.place.results = [], {}
        for call in calls:
            self.place.settle(call["id"] or "")
        updates = updates_of(self.state["messages"], results)
        await self._apply("tools", updates, lambda: self._after_tools(calls))

    async def _run_tools(self, calls: list[ToolCall]) -> list[list[Any]]:
        """Return the results of calls, in order; stop if any of them asks a question."""
        stops: list[tuple[str, GraphInterrupt]] = []
        step = self.agent.tool_step
        # All at once is one write; where calls queue, each is written when its turn comes.
        at_once = len(calls) <= min(step.concurrency or MAX_AT_ONCE, MAX_AT_ONCE)
        if at_once:
            self.place.running = [call["id"] or "" for call in calls]
            await self._note([])

        async def one(call: ToolCall) -> list[Any]:
            if not at_once:
                await self.door.call(self.journal.start, call, self.place)
            answers = self.place.answers.get(call["id"] or "", [])
            try:
                found = await step.answer(self.door, call, self.state, self.runtime, answers)
            except GraphInterrupt as stop:
                stops.append((call["id"] or "", stop))
                return []
            await self.door.call(self.journal.result, call, found, self.place)
            return found

        bodies = [lambda call=call: one(call) for call in calls]
        given = await self.door.gather(bodies, step.concurrency)
        if stops:
            self.place.running = []
            raise _Stopped(stops)
        return given

    def _after_tools(self, calls: list[ToolCall]) -> str | None:
        tools = [self.agent.tools.get(call["name"]) for call in calls]
        if calls and all(tool is not None and tool.return_direct for tool in tools):
            return self.agent.jump("end")
        if self.state.get("structured_response") is not None:
            return self.agent.jump("end")
        return self.agent.jump("model")


class _Stopped(BaseException):
    """Interrupts of parallel tools, together, each with the id of its call."""

    def __init__(self, stops: list[tuple[str, GraphInterrupt]]) -> None:
        super().__init__()
        self.stops = stops
