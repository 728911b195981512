"""Finding and mending what providers refuse in a history.

One analysis pairs calls and results and gives both the mended history and the findings; `validate_messages`
shows the findings as issues, `repair_messages` the mended history with its changes. So a repaired history
is clean, and a valid one comes back as the same objects.

How results find their calls: by id, the nearest unanswered call in front; else the one unanswered call
of that name, or of the last turn, in front. Of two results of one call the first stays.
"""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import Any, cast

import msgspec

from dragoman.codecs.contract import Change
from dragoman.messages.ai import AIMessage, AIMessageChunk
from dragoman.messages.base import BaseMessage
from dragoman.messages.coerce import convert_to_messages
from dragoman.messages.convert import message_chunk_to_message
from dragoman.messages.modifier import RemoveMessage
from dragoman.messages.tool import ToolMessage
from dragoman.messages.translate import standard_blocks
from dragoman.transcript.in_content import Parts, calls_of
from dragoman.transcript.rules import RULES, Target, target_of

__all__ = ["Issue", "Repair", "repair_messages", "validate_messages"]

_JOINS_REPLIES = frozenset({"anthropic", "bedrock_converse", "openai_responses"})
"""Wires on which results may stand behind the last of several replies; told by their encoders."""

UNANSWERED = "This tool call was not answered: it was cancelled or its result was lost."


class Issue(msgspec.Struct, frozen=True):
    """One thing a provider would refuse.

    Attributes:
        index: The position of the message.
        code: The rule's word.
        message: What is wrong, for people.
        fix: What `repair_messages` does about it.
        lossy: Whether that loses something.
    """

    index: int
    code: str
    message: str
    fix: str
    lossy: bool = False


class Repair(msgspec.Struct, frozen=True):
    """A mended history, and what was done to it."""

    messages: list[BaseMessage]
    changes: list[Change]


class _Call:
    """A call, and the result found for it."""

    __slots__ = ("id", "name", "position", "result")

    def __init__(self, position: int, id_val: str, name: str | None) -> None:
        self.position = position
        self.id = id_val
        self.name = name
        self.result: int | None = None


def _position_of(call: _Call) -> int:
    return call.position


class _SameId:
    """The calls of one id in the order of the history, asked by results that come in that order."""

    __slots__ = ("calls", "n_passed", "waiting")

    def __init__(self) -> None:
        self.calls: list[_Call] = []
        self.n_passed = 0
        self.waiting: list[_Call] = []  # passed and unanswered

    def pass_to(self, position: int) -> None:
        """Go on to a position: calls in front of it can be answered there."""
        while self.n_passed < len(self.calls) and self.calls[self.n_passed].position < position:
            call = self.calls[self.n_passed]
            self.n_passed += 1
            if call.result is None:
                self.waiting.append(call)

    def nearest(self) -> _Call | None:
        """Take the first unanswered call of the nearest turn."""
        at = len(self.waiting) - 1
        while at > 0 and self.waiting[at - 1].position == self.waiting[at].position:
            at -= 1
        return self.waiting.pop(at) if at >= 0 else None


class _Analysis:
    """Pairs calls and results of one history, and rebuilds it."""

    def __init__(self, messages: Sequence[BaseMessage], target: Target | None) -> None:
        self.messages = list(messages)
        self.target = target
        self.issues: list[Issue] = []
        self.calls: list[_Call] = []
        self.unanswered: list[_Call] = []
        self.solid: list[int] = []
        self.turn_end: list[int] = []
        self.turns: dict[int, list[_Call]] = {}
        self.owner: dict[int, _Call] = {}
        self.dropped: set[int] = set()
        self.made: set[str] = set()  # ids given to calls here

    def found(self, index: int, code: str, detail: str = "", *, lossy: bool | None = None) -> None:
        rule = RULES[code]
        text = f"{rule.message}{detail}"
        loses = rule.lossy if lossy is None else lossy
        self.issues.append(Issue(index, code, text, rule.fix, loses))

    def run(self) -> list[BaseMessage]:
        if self._nothing_to_pair():
            return self.messages
        self._prepare()
        self._pair()
        return self._rebuilt()

    def _nothing_to_pair(self) -> bool:
        return self.target is None and not any(
            isinstance(m, ToolMessage | RemoveMessage) or (isinstance(m, AIMessage) and calls_of(m))
            for m in self.messages
        )

    def _prepare(self) -> None:
        """Give ids to calls without one, drop what is no message, mark media that cannot go."""
        taken = {
            call["id"]
            for message in self.messages
            if isinstance(message, AIMessage)
            for call in calls_of(message)
        }
        for position, message in enumerate(self.messages):
            if isinstance(message, RemoveMessage):
                self.found(position, "remove_message")
                self.dropped.add(position)
            elif isinstance(message, AIMessage):
                self._prepare_reply(position, message, taken)
            if self.target is not None and message.content.__class__ is list:
                self._prepare_media(position)

    def _prepare_reply(self, position: int, message: AIMessage, taken: set[Any]) -> None:
        calls = calls_of(message)
        if any(not call["id"] for call in calls):
            self.found(position, "missing_call_id")
            message = _with_ids(message, position, taken)
            self.messages[position] = message
            old, calls = calls, calls_of(message)
            self.made |= {new["id"] for was, new in zip(old, calls, strict=True) if not was["id"]}
        turn = [_Call(position, call["id"], call["name"]) for call in calls]
        if turn:
            self.turns[position] = turn
            self.calls += turn

    def _prepare_media(self, position: int) -> None:
        message = self.messages[position]
        target = self.target
        assert target is not None
        content: Any = message.content
        kinds = {str(block["type"]) for block in standard_blocks(content)}
        refused = (kinds & {"image", "audio", "video", "file"}) - target.media
        if not refused or isinstance(message, AIMessage):
            return
        self.found(
            position, "unsupported_media", f": {', '.join(sorted(refused))} for {target.name}"
        )
        kept: list[Any] = []
        for item in content:
            blocks = standard_blocks([item])
            kind = str(blocks[0]["type"]) if blocks else ""
            kept.append({"type": "text", "text": f"[{kind}]"} if kind in refused else item)
        self.messages[position] = message.model_copy(update={"content": kept})

    def _pair(self) -> None:
        results = [
            position
            for position, message in enumerate(self.messages)
            if isinstance(message, ToolMessage)
        ]
        by_id: dict[str, _SameId] = {}
        for call in self.calls:
            by_id.setdefault(call.id, _SameId()).calls.append(call)
        self._place()
        unknown = [position for position in results if not self._pair_by_id(position, by_id)]
        self.unanswered = [call for call in self.calls if call.result is None] if unknown else []
        for position in unknown:
            if position in self.dropped:
                continue
            call = self._fitting(position)
            if call is None:
                self.found(position, "orphan_result")
                self.dropped.add(position)
            else:
                self.unanswered.remove(call)
                moved = self._answer(call, position)
                self.found(position, "mismatched_result", f" (call {call.id!r:.60})" + moved)

    def _pair_by_id(self, position: int, by_id: dict[str, _SameId]) -> bool:
        message: Any = self.messages[position]
        same = by_id.get(message.tool_call_id)
        if same is None:
            return False
        same.pass_to(position)
        call = same.nearest()
        if call is not None:
            self._answer(call, position)
        elif same.n_passed:
            first: Any = self.messages[same.calls[same.n_passed - 1].result or 0]
            differs = first.content != message.content or first.artifact != message.artifact
            self.found(position, "duplicate_result", lossy=differs)
            self.dropped.add(position)
        else:  # the result may have come in front of its call
            later = next((call for call in same.calls if call.result is None), None)
            if later is None:
                return False
            self._answer(later, position)
        return True

    def _answer(self, call: _Call, position: int) -> str:
        call.result = position
        self.owner[position] = call
        if self._follows(call.position, position):
            return ""
        self.found(position, "late_result")
        return ", moved"

    def _follows(self, turn: int, position: int) -> bool:
        """Return whether only results stand between a turn (and replies joined to it) and a result."""
        return turn < position and self.solid[position] <= self.turn_end[turn]

    def _place(self) -> None:
        """Note, of every position, the last message in front of it that is no result, and its turn's end.

        Where a wire knows no neighbours of one role, replies that follow each other are one turn;
        elsewhere each wants its results directly behind it.
        """
        joins = self.target is not None and self.target.api in _JOINS_REPLIES
        last = -1
        for position, message in enumerate(self.messages):
            self.solid.append(last)
            if not isinstance(message, ToolMessage) and position not in self.dropped:
                last = position
        self.turn_end = list(range(len(self.messages)))
        for position in range(len(self.messages) - 2, -1, -1):
            if joins and isinstance(self.messages[position + 1], AIMessage):
                self.turn_end[position] = self.turn_end[position + 1]

    def _fitting(self, position: int) -> _Call | None:
        """Return the one unanswered call that a result with an unknown id can mean.

        Results without an id answer the calls that had none, in their order.
        """
        message: Any = self.messages[position]
        name = message.name
        open_calls = self.unanswered[: bisect_left(self.unanswered, position, key=_position_of)]
        if name:
            named = [call for call in open_calls if call.name == name]
            if len(named) == 1:
                return named[0]
            if named:
                open_calls = named
        if not open_calls:
            return None
        last = open_calls[-1].position
        of_turn = [call for call in open_calls if call.position == last]
        if not message.tool_call_id and (unnamed := [c for c in of_turn if c.id in self.made]):
            return unnamed[0]
        return of_turn[0] if len(of_turn) == 1 else None

    def _rebuilt(self) -> list[BaseMessage]:
        pending = self._pending_turn() if self.target is None else None
        rebuilt: list[BaseMessage] = []
        turn: list[_Call] = []
        for position, message in enumerate(self.messages):
            if isinstance(message, ToolMessage) or position in self.dropped:
                continue
            rebuilt.append(message)
            turn += self.turns.get(position, ())
            if not turn or self.turn_end[position] != position:
                continue
            answered = sorted(call.result for call in turn if call.result is not None)
            rebuilt += [self._result(result) for result in answered]
            for call in turn:
                if call.result is None and position != pending:
                    self.found(call.position, "unanswered_call", f" (call {call.id!r:.60})")
                    rebuilt.append(
                        ToolMessage(
                            UNANSWERED, tool_call_id=call.id, name=call.name, status="error"
                        )
                    )
            turn = []
        return rebuilt

    def _result(self, position: int) -> BaseMessage:
        message: Any = self.messages[position]
        call = self.owner[position]
        if message.tool_call_id == call.id:
            return message
        return message.model_copy(update={"tool_call_id": call.id})

    def _pending_turn(self) -> int | None:
        """Return the turn with which the history ends and that still waits for results."""
        for position in range(len(self.messages) - 1, -1, -1):
            if isinstance(self.messages[position], AIMessage):
                return position
            if position not in self.dropped and not isinstance(
                self.messages[position], ToolMessage
            ):
                return None
        return None


def _with_ids(message: AIMessage, position: int, taken: set[Any]) -> AIMessage:
    if isinstance(message, AIMessageChunk):  # whose calls are read from its fragments
        message = cast("AIMessage", message_chunk_to_message(message))
    update: dict[str, Any] = {}
    number = 0
    for field in ("tool_calls", "invalid_tool_calls"):
        named: list[Any] = []
        for call in getattr(message, field):
            if not call["id"]:
                while (id_val := f"call_{position}_{number}") in taken:
                    number += 1
                taken.add(id_val)
                call = {**call, "id": id_val}
            named.append(call)
        update[field] = named
    return message.model_copy(update=update)


def _analysed(messages: Iterable[Any], target: str | None) -> tuple[list[BaseMessage], list[Issue]]:
    parts = Parts(convert_to_messages(messages))
    analysis = _Analysis(parts.messages, target_of(target))
    rebuilt = parts.joined(analysis.run())
    issues = [
        msgspec.structs.replace(issue, index=parts.origin(issue.index)) for issue in analysis.issues
    ]
    return rebuilt, sorted(issues, key=lambda issue: issue.index)


def validate_messages(messages: Iterable[Any], target: str | None = None) -> list[Issue]:
    """Return what a provider would refuse in a history, by position; empty if nothing.

    Args:
        messages: Anything `convert_to_messages` takes; not changed.
        target: A codec or provider name (`openai` means `openai_chat`): the history is about to be
            sent there. Without it only pairing is looked at, and a call at the very end may wait
            for its result.

    Raises:
        MessageError: If `target` is unknown, or an item is no message.

    >>> from dragoman.messages import HumanMessage, ToolMessage
    >>> [
    ...     issue.code
    ...     for issue in validate_messages([ToolMessage("r", tool_call_id="x"), HumanMessage("q")])
    ... ]
    ['orphan_result']
    """
    return _analysed(messages, target)[1]


def repair_messages(messages: Iterable[Any], target: str | None = None) -> Repair:
    """Return the history as providers take it, with the list of changes (lossy ones marked).

    Unanswered calls get an error result; late results move behind their turn; a result with an
    unknown id gets the id of the one unanswered call it can mean, or goes (lossy); of two results
    of one call the first stays. Valid messages are the same objects; the input is not changed;
    repairing twice changes nothing more.

    Args:
        messages: Anything `convert_to_messages` takes.
        target: As for `validate_messages`; with it a call at the very end is answered too.

    Raises:
        MessageError: If `target` is unknown, or an item is no message.

    >>> from dragoman.messages import HumanMessage, ToolMessage
    >>> repair_messages([ToolMessage("r", tool_call_id="x"), HumanMessage("q")]).changes[0].lossy
    True
    """
    rebuilt, issues = _analysed(messages, target)
    changes = [
        Change(f"$[{issue.index}]", issue.code, issue.lossy, f"{issue.message}: {issue.fix}")
        for issue in issues
    ]
    return Repair(rebuilt, changes)
