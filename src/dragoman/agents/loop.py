"""The loop of an agent: model, tools, model; hooks in between; written down after every step.

A run is a walk over named steps. Each step gives an update of the state; the update and the name of the
next step are written to the thread together, so that a run that was killed anywhere goes on at the step
that was not finished. One body serves sync and async.
"""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from dragoman._door import Door
from dragoman.agents.control import (
    AgentStepLimitError,
    Command,
    GraphInterrupt,
    Interrupt,
    scope,
)
from dragoman.agents.journal import Journal, Place
from dragoman.agents.middleware.types import overrides
from dragoman.agents.model_step import FailedResponse, _answered
from dragoman.agents.request import ModelRequest, Outcome
from dragoman.agents.runtime import Runtime
from dragoman.agents.state import AgentStateError
from dragoman.agents.structured_output import resolved
from dragoman.errors import DragomanError
from dragoman.messages import AIMessage, BaseMessage, ToolCall, ToolMessage

if TYPE_CHECKING:
    from dragoman.agents.agent import Agent

__all__ = ["Run"]

Emit = Callable[[str, Any], None]
MAX_STRUCTURED_FAILURES = 3
"""How often in a row a structured answer may fail before the run ends with its error."""
CANCELLED = "This tool call was cancelled before it was finished."
LOST = "This tool call was interrupted; it may or may not have taken effect."
SUPERSEDED = "This tool call was not executed: a new message came first."


class Run:
    """One run of an agent on one state."""

    def __init__(
        self,
        agent: "Agent",
        door: Door,
        journal: Journal,
        runtime: Runtime[Any],
        config: Any,
        emit: Emit | None,
        *,
        streams_tokens: bool,
    ) -> None:
        self.agent = agent
        self.door = door
        self.journal = journal
        self.runtime = runtime
        self.config = config
        self.emit = emit
        self.streams_tokens = streams_tokens
        self.place = Place()
        self.state: dict[str, Any] = {"messages": []}
        self.max_turns = agent.max_steps
        self.resumed_at: str | None = None

    # ------------------------------------------------------------------ beginning

    async def start(self, given: Any) -> None:
        """Read the thread, take the input, and write down where to begin."""
        messages, place = await self.journal.read(self.door)
        self.place = place
        self.state = {**place.fields, "messages": messages}
        if isinstance(given, Command) and given.resume is not None:
            self._answer(given.resume)
            await self._note([])
            return
        if given is None:
            if place.node is None:
                message = "there is no unfinished run to go on with; pass messages"
                raise AgentStateError(message)
            self._answer_running()
            await self._note([])
            self.resumed_at = place.node
            return
        entries: list[BaseMessage] = []
        if place.node is not None:
            entries += self._close_open_calls(SUPERSEDED)
        update = given.update if isinstance(given, Command) else given
        self.state.pop("structured_response", None)
        self.state, added = self.agent.schema.reduced(
            self.state, self.agent.schema.given(update), "the input"
        )
        self.place = Place()
        self.place.node = self.agent.first_step
        await self._note(entries + added)

    def _answer(self, resume: Any) -> None:
        """Give the answer of an interrupt to the step that asked."""
        questions = self.place.questions
        if not questions:
            message = "there is no interrupt to answer"
            raise AgentStateError(message)
        ids = {question["id"] for question in questions}
        by_id = isinstance(resume, dict) and bool(resume) and set(resume) <= ids
        if not by_id and len(questions) > 1:
            message = f"{len(questions)} interrupts wait; pass Command(resume={{id: answer}}) with their ids"
            raise AgentStateError(message)
        left: list[dict[str, Any]] = []
        for question in questions:
            if by_id and question["id"] not in resume:
                left.append(question)
                continue
            answer = resume[question["id"]] if by_id else resume
            self.place.answers.setdefault(question["scope"], []).append(answer)
        self.place.questions = left
        self.resumed_at = self.place.node

    def _answer_running(self) -> None:
        """After a kill: answer the calls that were running, unless they may run again."""
        for call in self._pending():
            id_val = call["id"] or ""
            if id_val in self.place.running:
                self.place.running.remove(id_val)
                tool = self.agent.tools.get(call["name"])
                if not _is_idempotent(tool):
                    self.journal.result(call, [_failed(call, LOST)], self.place)

    # ------------------------------------------------------------------ walking

    async def walk(self) -> list[Interrupt]:
        """Take steps until the run is over; return the interrupts it stopped at, if any."""
        limit = self.max_turns * (len(self.agent.steps) + 2)
        try:
            for _ in range(limit):
                node = self.place.node
                if node is None:
                    return []
                if node in self.agent.interrupt_before and node != self.resumed_at:
                    return [Interrupt({"before": node})]
                self.resumed_at = None
                try:
                    await self._step(node)
                except GraphInterrupt as stop:
                    return await self._stopped(node, [stop])
                except _Stopped as stopped:
                    return await self._stopped(node, stopped.stops)
                if node in self.agent.interrupt_after and self.place.node is not None:
                    return [Interrupt({"after": node})]
        except (asyncio.CancelledError, KeyboardInterrupt, GeneratorExit):
            self._cancelled()
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

    async def _stopped(self, node: str, stops: list[GraphInterrupt]) -> list[Interrupt]:
        if self.journal.thread is None:
            message = "an interrupt needs a checkpointer, so that the run can go on after it"
            raise AgentStateError(message) from None
        self.place.node = node
        known = {question["scope"] for question in self.place.questions}
        for stop in stops:
            name = getattr(stop, "scope", node)
            if name not in known:
                question = {"id": stop.interrupt.id, "value": stop.interrupt.value, "scope": name}
                self.place.questions.append(question)
        await self._note([])
        found = [Interrupt(q["value"], q["id"]) for q in self.place.questions]
        self._tell("updates", {"__interrupt__": tuple(found)})
        return found

    async def _apply(self, source: str, update: Any, node: str | None) -> None:
        """Reduce an update into the state, write it down with the next step, and tell."""
        if isinstance(update, Command):
            update = update.update
        self.state, entries = self.agent.schema.reduced(self.state, update, source)
        self.state.pop("jump_to", None)
        self.place.node = node
        self.place.answers.pop(source, None)
        await self._note(entries)
        shown = {k: v for k, v in (update or {}).items() if k != "jump_to"} or None
        if shown is not None and entries:
            shown["messages"] = entries
        self._tell("updates", {source: shown})
        self._tell("values", self.agent.schema.shown(self.state))

    async def _note(self, entries: list[BaseMessage]) -> None:
        transient = ("messages", "jump_to", "structured_response")
        self.place.fields = {k: v for k, v in self.state.items() if k not in transient}
        await self.journal.write(self.door, entries, self.place)

    def _tell(self, mode: str, value: Any) -> None:
        if self.emit is not None:
            self.emit(mode, value)

    # ------------------------------------------------------------------ hooks

    async def _hook(self, node: str) -> None:
        middleware, hook = self.agent.steps[node]
        with scope(list(self.place.answers.get(node, []))):
            if self.door.is_async and overrides(middleware, "a" + hook):
                update = await getattr(middleware, "a" + hook)(self.state, self.runtime)
                method = getattr(middleware, "a" + hook)
            elif overrides(middleware, hook):
                method = getattr(middleware, hook)
                update = await self.door.call(method, self.state, self.runtime)
            else:
                message = (
                    f'No synchronous function provided to "{node}"; define {hook}, or run the agent '
                    "by ainvoke() or astream()"
                )
                raise TypeError(message)
        jump = update.get("jump_to") if isinstance(update, dict) else None
        target = self.agent.after(node)
        await self._apply(node, update, target)
        allowed = getattr(method, "__can_jump_to__", ())
        if jump in allowed:
            self.place.node = self.agent.jump(str(jump))
            await self._note([])
        elif node in self.agent.last_after_model:
            self.place.node = self._decided()
            await self._note([])

    # ------------------------------------------------------------------ model

    async def _model(self) -> None:
        if self.place.turns >= self.max_turns:
            raise self._too_long()
        agent = self.agent
        broken = [_failed(call, _malformed(call)) for call in _open_invalid(self.state["messages"])]
        if broken:
            self.state, entries = agent.schema.reduced(
                self.state, {"messages": broken}, "the repair"
            )
            await self._note(entries)
        request = ModelRequest(
            model=agent.model,
            messages=list(self.state["messages"]),
            system_message=agent.system_message,
            tools=list(agent.bound_tools),
            response_format=agent.response_format,
            state=self.state,
            runtime=self.runtime,
        )
        with scope(list(self.place.answers.get("model", []))):
            tokens = self.emit if self.streams_tokens else None
            outcome = await agent.model_step.call(self.door, request, self.config, tokens)
        self.place.turns += 1
        update = self._update_of(outcome)
        self.state.pop("structured_response", None)
        self.state = {**self.state}
        after_state, _ = agent.schema.reduced(self.state, update, "model")
        node = agent.first_after_model or self._decided(after_state)
        await self._apply("model", update, node)
        for command in outcome.commands:
            await self._apply("model", command, node)

    def _update_of(self, outcome: Outcome) -> dict[str, Any]:
        response = outcome.response
        if isinstance(response, FailedResponse):
            self.place.failures += 1
            if self.place.failures > MAX_STRUCTURED_FAILURES:
                raise response.error
        else:
            self.place.failures = 0
        update: dict[str, Any] = {"messages": list(response.result)}
        if response.structured_response is not None:
            update["structured_response"] = response.structured_response
        elif self.agent.response_format is not None:
            update["structured_response"] = None
        return update

    def _decided(self, state: dict[str, Any] | None = None) -> str | None:
        """Return the step after a model turn: tools, another turn, or the end."""
        state = state if state is not None else self.state
        if self._pending(state):
            return "tools"
        if state.get("structured_response") is not None:
            return self.agent.jump("end")
        last = _last_reply(state["messages"])
        if last is not None and (last.tool_calls or _invalid_with_ids(last)):
            return self.agent.jump("model")  # all its calls are answered already, by errors
        return self.agent.jump("end")

    # ------------------------------------------------------------------ tools

    def _pending(self, state: dict[str, Any] | None = None) -> list[ToolCall]:
        """Return the calls of the last reply that have no result."""
        messages = (state if state is not None else self.state)["messages"]
        last = _last_reply(messages)
        if last is None:
            return []
        answered = {m.tool_call_id for m in messages if isinstance(m, ToolMessage)}
        return [call for call in last.tool_calls if (call["id"] or "") not in answered]

    async def _tools(self) -> None:
        calls = self._pending()
        results: dict[int, list[Any]] = {}
        todo: list[tuple[int, ToolCall]] = []
        for index, call in enumerate(calls):
            stored = self.journal.stored(self.place, call)
            if stored is not None:
                results[index] = stored
            else:
                todo.append((index, call))
        if todo:
            self.place.running = [call["id"] or "" for _, call in todo]
            await self._note([])
            given = await self._run_tools([call for _, call in todo])
            for (index, _), found in zip(todo, given, strict=True):
                results[index] = found
        ordered = [item for index in sorted(results) for item in results[index]]
        self.place.running, self.place.results = [], {}
        for call in calls:
            self.place.answers.pop(call["id"] or "", None)
        messages = [item for item in ordered if isinstance(item, BaseMessage)]
        node = self._after_tools(calls)
        commands = [item for item in ordered if isinstance(item, Command)]
        await self._apply("tools", {"messages": messages}, node)
        for command in commands:
            await self._apply("tools", command, node)

    async def _run_tools(self, calls: list[ToolCall]) -> list[list[Any]]:
        stops: list[GraphInterrupt] = []
        step = self.agent.tool_step

        def done(call: ToolCall, found: list[Any]) -> None:
            self.journal.result(call, found, self.place)

        async def one(call: ToolCall) -> list[Any]:
            try:
                return (
                    await step.answer(
                        self.door, [call], self.state, self.runtime, self.place.answers, done
                    )
                )[0]
            except GraphInterrupt as stop:
                stop.scope = call["id"] or ""  # pyright: ignore[reportAttributeAccessIssue]
                stops.append(stop)
                return []

        bodies = [lambda call=call: one(call) for call in calls]
        given = await self.door.gather(bodies, step.concurrency)
        if stops:
            self.place.running = []
            raise _Stopped(stops)
        return given

    def _after_tools(self, calls: list[ToolCall]) -> str | None:
        direct = [
            getattr(self.agent.tools.get(call["name"]), "return_direct", False) for call in calls
        ]
        if (calls and all(direct)) or self.state.get("structured_response") is not None:
            return self.agent.jump("end")
        return self.agent.jump("model")

    # ------------------------------------------------------------------ endings

    def _close_open_calls(self, text: str) -> list[BaseMessage]:
        """Answer the calls that are open, with stored results where there are any."""
        closed: list[BaseMessage] = []
        for call in self._pending():
            stored = self.journal.stored(self.place, call)
            closed += stored if stored is not None else [_failed(call, text)]
        self.state, entries = self.agent.schema.reduced(
            self.state, {"messages": closed}, "cancellation"
        )
        return entries

    def _cancelled(self) -> None:
        """Leave a valid thread behind: every call answered, no unfinished run."""
        entries = self._close_open_calls(CANCELLED)
        if self.journal.thread is None:
            return
        node, self.place = self.place.node, Place()
        self.place.fields = {k: v for k, v in self.state.items() if k in self.agent.schema.reducers}
        for key in ("messages", "jump_to", "structured_response"):
            self.place.fields.pop(key, None)
        if node is not None:
            state = {"agent": self.place.as_dict()}
            self.journal.head = self.journal.thread.append(entries, self.journal.head, state=state)

    def output(self) -> dict[str, Any]:
        """Return the state as callers see it."""
        if self.agent.response_format is not None and not self.state.get("structured_response"):
            self._restore_answer()
        return self.agent.schema.shown(self.state)

    def _restore_answer(self) -> None:
        """After a resumed end: read the structured answer from the last reply again."""
        last = _last_reply(self.state["messages"])
        if last is None or self.place.node is not None:
            return
        agent = self.agent
        strategy = resolved(
            cast("Any", agent.response_format), agent.model, has_tools=bool(agent.bound_tools)
        )
        try:
            value = _answered(last, strategy).structured_response
        except DragomanError:
            return
        if value is not None:
            self.state["structured_response"] = value


class _Stopped(BaseException):
    """Interrupts of parallel tools, together."""

    def __init__(self, stops: list[GraphInterrupt]) -> None:
        super().__init__()
        self.stops = stops


def _last_reply(messages: list[BaseMessage]) -> AIMessage | None:
    return next((m for m in reversed(messages) if isinstance(m, AIMessage)), None)


def _invalid_with_ids(message: AIMessage) -> list[Any]:
    return [call for call in message.invalid_tool_calls if call["id"]]


def _open_invalid(messages: list[BaseMessage]) -> list[Any]:
    answered = {m.tool_call_id for m in messages if isinstance(m, ToolMessage)}
    return [
        call
        for message in messages
        if isinstance(message, AIMessage)
        for call in _invalid_with_ids(message)
        if call["id"] not in answered
    ]


def _malformed(call: Any) -> str:
    return (
        f"Tool call {call['name']} with id {call['id']} could not be executed - "
        "arguments were malformed or truncated."
    )


def _failed(call: Any, text: str) -> ToolMessage:
    return ToolMessage(text, tool_call_id=call["id"] or "", name=call["name"], status="error")


def _is_idempotent(tool: Any) -> bool:
    marks = (getattr(tool, "metadata", None) or {}, getattr(tool, "extras", None) or {})
    return any(mark.get("idempotent") for mark in marks)
