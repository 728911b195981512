"""The course of one run: its state, where it stands, how it begins, goes on and is broken off.

Whatever happened before (a kill, a cancel, a question that nobody answered), a run begins with a history
in which every call is answered, and a run that is cancelled leaves such a history.
"""

from collections.abc import Sequence
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from msgspec import UNSET

from dragoman._door import Door
from dragoman.agents.calls import (
    closed,
    failed,
    is_idempotent,
    last_reply,
    malformed,
    open_calls,
    open_invalid_calls,
    turn_of,
)
from dragoman.agents.control import Command
from dragoman.agents.journal import Journal, Place
from dragoman.agents.model_step import answered
from dragoman.agents.results import updates_of
from dragoman.agents.runtime import Runtime
from dragoman.agents.state import AgentStateError, messages_of
from dragoman.agents.streaming import Channel
from dragoman.agents.structured_output import resolved
from dragoman.errors import DragomanError
from dragoman.messages import AIMessage, BaseMessage, ToolMessage
from dragoman.transcript.reduce import add_messages

if TYPE_CHECKING:
    from dragoman.agents.agent import Agent

__all__ = ["Course"]

CANCELLED = "This tool call was cancelled before it was finished."
LOST = "This tool call was interrupted; it may or may not have taken effect."
NO_RESULT = "This tool call has no result in the history that was given."
SUPERSEDED = "This tool call was not executed: a new message came first."
TRANSIENT = ("messages", "jump_to", "structured_response")


class Course:
    """One run of an agent on one state, before and after its steps."""

    def __init__(
        self,
        agent: "Agent",
        door: Door,
        journal: Journal,
        runtime: Runtime[Any],
        config: Any,
        channel: Channel | None,
        *,
        max_turns: int,
    ) -> None:
        self.agent = agent
        self.door = door
        self.journal = journal
        self.runtime = runtime
        self.config = config
        self.channel = channel
        self.max_turns = max_turns
        self.place: Place = Place()
        self.state: dict[str, Any] = {"messages": []}
        self.resumed_at: str | None = None

    # ------------------------------------------------------------------ beginning

    async def start(self, given: Any) -> None:
        """Read the thread, take the input, and write down where to begin.

        Raises:
            AgentStateError: If the input is none, or there is nothing to go on with.
            NotImplementedError: If it is a command that asks for what an agent does not do.
        """
        command = given if isinstance(given, Command) else Command(update=given)
        command.checked("the input", may_resume=True)
        messages, self.place = await self.journal.read(self.door)
        self.state = {**self.place.fields, "messages": messages}
        is_answer = self._is_answer(command)
        if given is not None and not is_answer:
            await self._begin(command.update)
            return
        entries: list[BaseMessage] = []
        if is_answer:
            self._answer(command.resume)
            self.state, entries = self.agent.schema.reduced(
                self.state, command.update, "the command"
            )
        elif self.place.node is None:
            message = "there is no unfinished run to go on with; pass messages"
            raise AgentStateError(message)
        else:
            self._answer_running()
        self._restore_answer()
        self.resumed_at = self.place.node
        await self._note(entries)

    async def change(self, values: Any) -> None:
        """Reduce an update into the state from outside."""
        messages, self.place = await self.journal.read(self.door)
        self.state = {**self.place.fields, "messages": messages}
        self.state, entries = self.agent.schema.reduced(self.state, values, "update_state")
        await self._note(entries)

    async def _begin(self, given: Any) -> None:
        """Begin a new run; every call that is open, in the thread or the input, is answered first."""
        update = self.agent.schema.given(given)
        known = {message.id for message in self.state["messages"]}
        entries, left = self._close_before(messages_of(update["messages"]))
        update["messages"] = closed(left, NO_RESULT, known)
        self.state.pop("structured_response", None)
        self.state, added = self.agent.schema.reduced(self.state, update, "the input")
        self.place = Place()
        self.place.node = self.agent.first_step
        await self._note(entries + added)

    def _close_before(
        self, given: list[BaseMessage]
    ) -> tuple[list[BaseMessage], list[BaseMessage]]:
        """Answer the calls that are open behind the input; return the entries, and what is left of it.

        The input may hold their results, or take the reply away.
        """
        messages = self.state["messages"]
        reply = last_reply(messages)
        if reply is None or not (open_calls(messages) or open_invalid_calls(messages)):
            return [], given
        closing = self._closing(turn_of(add_messages(messages, given), reply), SUPERSEDED)
        n_first = len(list(takewhile(lambda m: not isinstance(m, AIMessage), given)))
        if not closing and not any(isinstance(m, ToolMessage) for m in given[:n_first]):
            return [], given
        updates = updates_of(messages, [*closing, *given[:n_first]])
        return self._reduced(updates, "the input"), given[n_first:]

    def _is_answer(self, command: Command) -> bool:
        """Return whether a command answers an interrupt; None beside an update does so if one waits."""
        if command.resume is None:
            return bool(self.place.questions) or command.update is None
        return command.resume is not UNSET

    def _answer(self, resume: Any) -> None:
        """Give the answer of an interrupt to the step that asked, or another one if it failed over it."""
        questions = self.place.questions or self.place.answered
        is_again = not self.place.questions
        if not questions:
            message = "there is no interrupt to answer"
            raise AgentStateError(message)
        ids = {question["id"] for question in questions}
        by_id = isinstance(resume, dict) and bool(resume) and set(resume) <= ids
        if not by_id and len(questions) > 1:
            message = f"{len(questions)} interrupts wait; pass Command(resume={{id: answer}}) with their ids"
            raise AgentStateError(message)
        left: list[dict[str, Any]] = []
        answered: list[dict[str, Any]] = []
        for question in questions:
            if by_id and question["id"] not in resume:
                (answered if is_again else left).append(question)
                continue
            answer = resume[question["id"]] if by_id else resume
            known = self.place.answers.setdefault(question["scope"], [])
            if is_again and known:
                known.pop()
            known.append(answer)
            answered.append(question)
        self.place.questions, self.place.answered = left, answered

    def _answer_running(self) -> None:
        """After a kill: answer the calls that were running, unless they may run again."""
        for call in open_calls(self.state["messages"]):
            id_val = call["id"] or ""
            if id_val in self.place.running and id_val not in self.place.results:
                self.place.running.remove(id_val)
                if not is_idempotent(self.agent.tools.get(call["name"])):
                    self.journal.result(call, [failed(call, LOST)], self.place)

    def _restore_answer(self) -> None:
        """On resuming: read the structured answer of the last reply again; threads keep no objects."""
        agent = self.agent
        last = last_reply(self.state["messages"])
        if last is None or agent.response_format is None or self.place.node == "model":
            return
        has_tools = bool(agent.bound_tools)
        strategy = resolved(agent.response_format, agent.model, has_tools=has_tools)
        try:
            value = answered(last, strategy).structured_response
        except DragomanError:
            return
        if value is not None:
            self.state["structured_response"] = value

    # ------------------------------------------------------------------ writing

    async def _note(self, entries: Sequence[BaseMessage]) -> None:
        self.place.fields = {k: v for k, v in self.state.items() if k not in TRANSIENT}
        await self.journal.write(self.door, entries, self.place)

    async def tell(self, mode: str, value: Any) -> None:
        """Tell the reader of the stream, and wait until it has read: no step runs ahead of it."""
        if self.channel is not None:
            self.channel.put(mode, value)
            await self.channel.taken()

    # ------------------------------------------------------------------ endings

    def _closing(self, turn: Sequence[BaseMessage], text: str) -> list[Any]:
        """Return results for the open calls of a turn, the stored ones where there are any."""
        found: list[Any] = []
        for call in open_calls(turn):
            stored = self.journal.stored(self.place, call)
            lost = text == SUPERSEDED and (call["id"] or "") in self.place.running
            found += stored or [failed(call, LOST if lost else text)]
        return found + [malformed(call) for call in open_invalid_calls(turn)]

    def _reduced(self, updates: Sequence[dict[str, Any]], source: str) -> list[BaseMessage]:
        """Reduce updates into the state and return their entries; fields that fail are left out."""
        entries: list[BaseMessage] = []
        for update in updates:
            try:
                self.state, added = self.agent.schema.reduced(self.state, update, source)
            except Exception:  # noqa: BLE001 - a reducer of the user's; what is closed stays closed
                said = {"messages": update.get("messages", [])}
                self.state, added = self.agent.schema.reduced(self.state, said, source)
            entries += added
        return entries

    def _cancelled(self, error: BaseException) -> None:
        """Leave a valid thread behind: every call answered, no unfinished run."""
        messages = self.state["messages"]
        closing = self._closing(turn_of(messages), CANCELLED)
        entries = self._reduced(updates_of(messages, closing), "the end")
        place = Place()
        place.fields = {k: v for k, v in self.state.items() if k not in TRANSIENT}
        try:
            self.journal.close(entries, place)
        except DragomanError as failure:
            # The cancellation goes on; the thread is closed when its next run begins.
            error.add_note(f"the thread could not be written: {failure}")

    def output(self) -> dict[str, Any]:
        """Return the state as callers see it."""
        return self.agent.schema.shown(self.state)
