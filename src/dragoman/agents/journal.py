"""What an agent writes down between its steps, so that a run can go on after anything.

With a checkpointer (a thread store) each step is one append: the messages it made, and where the run
stands. Results of parallel tools are written as each comes in; they become messages together, in call
order. Without a checkpointer a journal writes nothing.
"""

import threading
from typing import Any, cast

from dragoman._door import Door
from dragoman.messages import (
    BaseMessage,
    ToolCall,
    ToolMessage,
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
        self.failures = 0

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
        self.head: Any = None
        self._lock = threading.Lock()

    async def read(self, door: Door) -> tuple[list[BaseMessage], Place]:
        """Return the thread's messages and the place of its last run."""
        if self.thread is None:
            return [], Place()
        thread = self.thread
        snapshot = await door.either(thread.load, thread.aload)
        self.head = snapshot.head
        return list(snapshot.messages), Place.from_dict(snapshot.state.get(KEY))

    async def write(self, door: Door, entries: list[BaseMessage], place: Place) -> None:
        """Append messages and the place, all or nothing.

        Raises:
            ThreadConflict: If another run wrote to the thread meanwhile.
        """
        if self.thread is None:
            return
        thread, expect, state = self.thread, self.head, {KEY: place.as_dict()}
        self.head = await door.either(
            lambda: thread.append(entries, expect, state=state),
            lambda: thread.aappend(entries, expect, state=state),
        )

    def result(self, call: ToolCall, results: list[Any], place: Place) -> None:
        """Store the results of one finished call at once; called from the tools' threads."""
        if self.thread is None or not all(isinstance(r, ToolMessage) for r in results):
            return  # a command's update may hold anything; it is written with its step
        with self._lock:
            id_val = call["id"] or ""
            place.results[id_val] = messages_to_dict(cast("list[BaseMessage]", results))
            if id_val in place.running:
                place.running.remove(id_val)
            self.head = self.thread.append([], self.head, state={KEY: place.as_dict()})

    @staticmethod
    def stored(place: Place, call: ToolCall) -> list[Any] | None:
        """Return the stored results of a call, or None."""
        data = place.results.get(call["id"] or "")
        return None if data is None else list(messages_from_dict(data))
