"""What an agent writes down between its steps, so that a run can go on after anything.

With a checkpointer (a thread store) each step is one append: the messages it made, and where the run
stands. Results of parallel tools are written as each comes in; they become messages together, in call
order. Without a checkpointer a journal writes nothing.

A cancelled run may leave an append behind in a worker thread. `close` writes what is not written yet,
in one append, and drops whatever comes later.
"""

import threading
from collections.abc import Sequence
from typing import Any

from dragoman._door import Door
from dragoman.agents.control import Command
from dragoman.errors import DragomanError, StoreError
from dragoman.messages import (
    BaseMessage,
    ToolCall,
    convert_to_messages,
    messages_from_dict,
    messages_to_dict,
)
from dragoman.threads import Thread

__all__ = ["Journal", "Place"]

KEY = "agent"


class Place:
    """Where a run stands.

    Attributes:
        node: The step to run next; None when the run is over.
        turns: How many model turns there were.
        fields: The state beside the messages.
        running: Ids of calls that were started and have no stored result.
        results: Stored results of finished calls, by id.
        answers: Answers of interrupts, by scope: a node's name or a call's id.
        questions: Interrupts that wait: `{"id", "value", "scope"}`.
        answered: Those that the last command answered, until the step that asked is done: if it
            fails over the answer, another one may be given.
        failures: How often the structured answer failed in a row.
    """

    def __init__(self) -> None:
        self.node: str | None = None
        self.turns = 0
        self.fields: dict[str, Any] = {}
        self.running: list[str] = []
        self.results: dict[str, list[dict[str, Any]]] = {}
        self.answers: dict[str, list[Any]] = {}
        self.questions: list[dict[str, Any]] = []
        self.answered: list[dict[str, Any]] = []
        self.failures = 0

    def settle(self, scope: str) -> None:
        """Forget the answers of a step or a call that is done."""
        self.answers.pop(scope, None)
        self.answered = [question for question in self.answered if question["scope"] != scope]

    def as_dict(self) -> dict[str, Any]:
        """Return the place as plain data."""
        return dict(vars(self))

    @classmethod
    def from_dict(cls, data: Any) -> "Place":
        """Return the place that `as_dict` gave; unknown keys are dropped."""
        place = cls()
        for key, value in (data or {}).items():
            if key in vars(place):
                setattr(place, key, value)
        return place


class Journal:
    """Writes steps to a thread, or nowhere."""

    def __init__(self, thread: Thread | None) -> None:
        self.thread = thread
        self._head: Any = None
        self._unwritten: list[BaseMessage] = []
        self._closed = False
        self._lock = threading.Lock()

    async def read(self, door: Door) -> tuple[list[BaseMessage], Place]:
        """Return the thread's messages and the place of its last run."""
        if self.thread is None:
            return [], Place()
        try:
            snapshot = await door.call(self.thread.load)
        except Exception as error:
            raise _store_error(error, "read") from error
        self._head = snapshot.head
        return list(snapshot.messages), Place.from_dict(snapshot.state.get(KEY))

    async def write(self, door: Door, entries: Sequence[BaseMessage], place: Place) -> None:
        """Append messages and the place, all or nothing.

        Raises:
            ThreadConflict: If another run wrote to the thread meanwhile.
            StoreError: If the store fails in another way.
            EncodeError: If the state holds what JSON cannot.
        """
        if self.thread is None:
            return
        self._unwritten += entries
        await door.call(self._append, place)

    def start(self, call: ToolCall, place: Place) -> None:
        """Write that a call is about to run."""
        if self.thread is None:
            return
        with self._lock:
            place.running.append(call["id"] or "")
            self._write(place)

    def result(self, call: ToolCall, results: list[Any], place: Place) -> None:
        """Store the results of one finished call at once; called from the tools' threads."""
        if self.thread is None:
            return
        with self._lock:
            id_val = call["id"] or ""
            place.results[id_val] = [_plain(result) for result in results]
            if id_val in place.running:
                place.running.remove(id_val)
            self._write(place)

    def close(self, entries: Sequence[BaseMessage], place: Place) -> None:
        """Append these entries behind what is not written yet; drop all that comes later."""
        if self.thread is None:
            return
        with self._lock:
            self._unwritten += entries
            try:
                self._write(place)
            finally:
                self._closed = True

    def _append(self, place: Place) -> None:
        with self._lock:
            self._write(place)

    def _write(self, place: Place) -> None:
        if self._closed or self.thread is None:
            return
        entries = list(self._unwritten)
        try:
            self._head = self.thread.append(entries, self._head, state={KEY: place.as_dict()})
        except Exception as error:
            raise _store_error(error, "written") from error
        del self._unwritten[: len(entries)]

    @staticmethod
    def stored(place: Place, call: ToolCall) -> list[Any] | None:
        """Return the stored results of a call, or None."""
        data = place.results.get(call["id"] or "")
        return None if data is None else [_result(item) for item in data]


def _store_error(error: Exception, verb: str) -> DragomanError:
    if isinstance(error, DragomanError):
        return error
    return StoreError(f"the thread cannot be {verb}: {type(error).__name__}: {error}")


def _plain(result: Any) -> dict[str, Any]:
    """Return a result as plain data."""
    if not isinstance(result, Command):
        return messages_to_dict([result])[0]
    update = dict(result.update) if isinstance(result.update, dict) else {}
    if "messages" in update:
        update["messages"] = messages_to_dict(_listed(update["messages"]))
    return {"command": update}


def _result(data: dict[str, Any]) -> Any:
    if "command" not in data:
        return messages_from_dict([data])[0]
    update = dict(data["command"])
    if "messages" in update:
        update["messages"] = messages_from_dict(update["messages"])
    return Command(update=update)


def _listed(messages: Any) -> list[BaseMessage]:
    return convert_to_messages(messages if isinstance(messages, list) else [messages])
