"""Trimming a history to a number of tokens.

The walk starts at the end that is kept and stops when the budget is used up: trimming 100,000 messages
to the last 2,000 tokens looks at about those that stay. Units (a turn with calls, and its results) are
never split, and the last human message survives, unless asked otherwise.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any, Literal, cast

from dragoman.errors import MessageError, TranscriptError, short
from dragoman.messages.base import BaseMessage
from dragoman.messages.coerce import convert_to_messages
from dragoman.messages.registry import CLASSES
from dragoman.messages.system import SystemMessage
from dragoman.transcript.counters import Counter, MessageCounter, counter_of
from dragoman.transcript.units import (
    call_ids,
    open_calls,
    result_ids,
    says,
    without_orphans,
    without_results,
)
from dragoman.transcript.verb import verb

__all__ = ["trim_messages"]

_KNOWN = frozenset(CLASSES.values())
_STRETCH = 64
Split = Callable[[str], list[str]]


class _History:
    """Messages made from what was given one by one, when first looked at."""

    def __init__(self, given: Any) -> None:
        if isinstance(given, list | tuple):
            self.given: Sequence[Any] = given
        else:
            self.given = convert_to_messages(given)
        self.made: dict[int, BaseMessage] = {}

    def __len__(self) -> int:
        return len(self.given)

    def __getitem__(self, position: int) -> BaseMessage:
        item = self.given[position]
        if isinstance(item, BaseMessage):
            return item
        made = self.made.get(position)
        if made is None:
            made = self.made[position] = convert_to_messages([item])[0]
        return made

    def forwards(self) -> Iterator[BaseMessage]:
        """Yield the messages from the start."""
        return chain.from_iterable(self._stretches(iter(self.given), 0, 1))

    def backwards(self, stop: int) -> Iterator[BaseMessage]:
        """Yield the messages in front of `stop`, the last first."""
        given = islice(reversed(self.given), len(self.given) - stop, None)
        return chain.from_iterable(self._stretches(given, stop - 1, -1))

    def _stretches(
        self, given: Iterator[Any], position: int, step: int
    ) -> Iterator[Iterable[BaseMessage]]:
        """Yield stretches of messages; one that holds nothing else yet is passed on as it is."""
        while part := tuple(islice(given, _STRETCH)):
            places = range(position, position + step * len(part), step)
            yield part if _KNOWN.issuperset(map(type, part)) else map(self.__getitem__, places)
            position += step * _STRETCH

    def slice(self, start: int, stop: int) -> list[BaseMessage]:
        part = list(self.given[start:stop])
        if _KNOWN.issuperset(map(type, part)):
            return part
        return [self[position] for position in range(start, stop)]


_TYPES = frozenset(("human", "ai", "system", "tool", "function", "chat", "remove"))
_ROLES = {"user": "human", "assistant": "ai", "developer": "system"}


def _matcher(wanted: Any, name: str) -> Callable[[BaseMessage], bool] | None:
    """Return a test for a type word, a class, or a list of them."""
    if wanted is None:
        return None
    items: list[Any] = list(wanted) if isinstance(wanted, list | tuple | set) else [wanted]
    words = {item for item in items if isinstance(item, str)}
    classes = tuple(item for item in items if isinstance(item, type))
    if len(words) + len(classes) < len(set(map(id, items))):
        message = f"{name} takes type words and message classes, got {short(wanted)}"
        raise MessageError(message)
    for word in words - _TYPES:
        _tell_typo(word, name)
    return lambda message: message.type in words or isinstance(message, classes)


def _tell_typo(word: str, name: str) -> None:
    """Refuse a word that is nearly a message type, or a role; others may be types of a user's own."""
    from difflib import get_close_matches

    near = _ROLES.get(word) or next(iter(get_close_matches(word, _TYPES, n=1, cutoff=0.7)), None)
    if near is not None:
        message = f"{name}={short(word)} is no type of message; did you mean {near!r}?"
        raise MessageError(message)


def _lines(text: str) -> list[str]:
    """Return the lines of a text, each but the last with its newline."""
    pieces = text.split("\n")
    return [*(piece + "\n" for piece in pieces[:-1]), pieces[-1]]


@verb
def trim_messages(
    messages: Iterable[Any],
    *,
    max_tokens: int,
    token_counter: Any,
    strategy: Literal["first", "last"] = "last",
    allow_partial: bool = False,
    end_on: Any = None,
    start_on: Any = None,
    include_system: bool = False,
    text_splitter: Any = None,
    keep_last_human: bool = True,
) -> list[BaseMessage]:
    """Return the messages at one end that fit into a number of tokens, as a new list.

    Whole messages are the same objects; a partial one is a copy. The input is not changed. An
    assistant turn with calls stays together with its results, or goes with them, unless the history
    itself ends with the pending call.

    Args:
        messages: Anything `convert_to_messages` takes. Left out: a runnable comes back.
        max_tokens: The most tokens the result may have, by `token_counter`.
        token_counter: `approximate`, a model, or a function of one message (annotated
            `BaseMessage`) or of a list.
        strategy: Which end is kept.
        allow_partial: Whether a piece of the message at the cut may stay.
        end_on: Type words or classes the result has to end on.
        start_on: The same for its start; only with `last`.
        include_system: Whether a leading system message stays; only with `last`.
        text_splitter: A function, or an object with `split_text`, that splits a text for partial
            messages; lines by default.
        keep_last_human: Whether the last human message stays although newer units alone would
            fill the budget; they are dropped then, older first.

    Raises:
        MessageError: If an option is wrong, or the counter gives no number.
        TranscriptError: If the last human message alone is too long; names the tokens needed.

    >>> from dragoman.messages import AIMessage, HumanMessage
    >>> history = [HumanMessage("a"), AIMessage("b"), HumanMessage("c")]
    >>> [m.content for m in trim_messages(history, max_tokens=1, token_counter=len)]
    ['c']
    """
    if strategy not in ("first", "last"):
        message = (
            f"Unrecognized strategy={short(strategy)}. Supported strategies are 'last' and 'first'."
        )
        raise MessageError(message)
    if strategy == "first" and start_on is not None:
        message = "start_on parameter is only valid with strategy='last'"
        raise MessageError(message)
    if strategy == "first" and include_system:
        message = "include_system parameter is only valid with strategy='last'"
        raise MessageError(message)
    if isinstance(max_tokens, bool) or not isinstance(max_tokens, int | float):
        message = f"max_tokens has to be a number, got {short(max_tokens)}"
        raise MessageError(message)
    history = _History([messages] if isinstance(messages, str) else messages)
    counter = counter_of(token_counter, history.slice(0, min(2, len(history))))
    ends, starts = _matcher(end_on, "end_on"), _matcher(start_on, "start_on")
    split = _splitter(text_splitter)
    if not len(history):
        return []
    if strategy == "first":
        return _First(history, counter, max_tokens, split if allow_partial else None).kept(
            ends, keep_last_human
        )
    return _Last(history, counter, max_tokens, split if allow_partial else None).kept(
        ends, starts, include_system, keep_last_human
    )


def _splitter(given: Any) -> Split:
    if given is None:
        return _lines
    split: Any = getattr(given, "split_text", None) or given
    if callable(split):
        return cast("Split", split)
    message = "text_splitter has to be a function or have split_text"
    raise MessageError(message)


def _too_long(needed: Any, max_tokens: Any, position: int) -> TranscriptError:
    message = f"the last human message needs {needed} tokens, more than max_tokens={max_tokens}"
    hint = "raise max_tokens, shorten the message, or pass keep_last_human=False"
    return TranscriptError(message, path=f"$[{position}]", hint=hint)


class _First:
    """The longest beginning that fits."""

    def __init__(
        self, history: _History, counter: Counter, budget: float, split: Split | None
    ) -> None:
        self.history, self.counter, self.budget, self.split = history, counter, budget, split

    def kept(
        self, ends: Callable[[BaseMessage], bool] | None, keep_last_human: bool
    ) -> list[BaseMessage]:
        history, total = self.history, len(self.history)
        stop = _fitting(
            self.counter, self.budget, total, lambda k: history.slice(0, k), history.forwards()
        )
        kept = history.slice(0, stop)
        if stop < total:
            if self.split is not None:
                part = _partial(
                    self.counter, self.budget, kept, history[stop], self.split, last=False
                )
                if part is not None:
                    kept.append(part)
            kept = self._whole_units(kept, stop)
        if ends is not None:
            while kept and not ends(kept[-1]):
                kept.pop()
            if len(kept) < total:
                kept = self._whole_units(kept, len(kept))
                while kept and not ends(kept[-1]):
                    kept.pop()
        if keep_last_human and not any(map(says, kept)):
            at = _last_human(history, total)
            if at is not None and (ends is None or ends(history[at])):
                human = without_results(history[at])
                leading = [m for m in kept if isinstance(m, SystemMessage)]
                needed = self.counter.all([*leading, human])
                if needed > self.budget:
                    leading, needed = [], self.counter.all([human])
                if needed > self.budget:
                    raise _too_long(needed, self.budget, at)
                return [*leading, human]
        return kept

    def _whole_units(self, kept: list[BaseMessage], stop: int) -> list[BaseMessage]:
        """Drop, from the end, a turn whose results lie behind the cut."""
        waiting = open_calls(kept)
        if not waiting:
            return without_orphans(kept)
        behind: set[str] = set()
        for position in range(stop, len(self.history)):
            behind.update(
                id_val for id_val in result_ids(self.history[position]) if id_val in waiting
            )
            if len(behind) == len(waiting):
                break
        cut = min((waiting[id_val] for id_val in behind), default=len(kept))
        return without_orphans(kept[:cut])


class _Last:
    """The longest end that fits, with the leading system message if asked."""

    def __init__(
        self, history: _History, counter: Counter, budget: float, split: Split | None
    ) -> None:
        self.history, self.counter, self.split = history, counter, split
        self.max_tokens = self.budget = budget
        self.head: list[BaseMessage] = []
        self.first, self.stop = 0, len(history)

    def kept(
        self,
        ends: Callable[[BaseMessage], bool] | None,
        starts: Callable[[BaseMessage], bool] | None,
        include_system: bool,
        keep_last_human: bool,
    ) -> list[BaseMessage]:
        history = self.history
        if ends is not None:
            while self.stop and not ends(history[self.stop - 1]):
                self.stop -= 1
            if self.stop < len(history):
                self._close_units()
                while self.stop and not ends(history[self.stop - 1]):
                    self.stop -= 1
        if include_system and self.stop and isinstance(history[0], SystemMessage):
            self.head, self.first = [history[0]], 1
            self.budget = max(self.max_tokens - self.counter.all(self.head), 0)
        size = self.stop - self.first
        count = _fitting(
            self.counter,
            self.budget,
            size,
            lambda k: history.slice(self.stop - k, self.stop),
            history.backwards(self.stop),
        )
        tail = history.slice(self.stop - count, self.stop)
        if count < size:
            if self.split is not None:
                cut = history[self.stop - count - 1]
                part = _partial(self.counter, self.budget, tail, cut, self.split, last=True)
                if part is not None:
                    tail.insert(0, part)
            tail = without_orphans(tail)
        if starts is not None:
            # Dropping an orphan may bring another message to the front.
            while skip := next((i for i, m in enumerate(tail) if starts(m)), len(tail)):
                tail = without_orphans(tail[skip:])
        if keep_last_human and not any(map(says, tail)):
            at = _last_human(history, self.stop - len(tail) if tail else self.stop, self.first)
            if at is not None and (starts is None or starts(history[at])):
                return self._around_human(at)
        return self.head + tail

    def _close_units(self) -> None:
        """After messages were dropped from the end: drop a turn whose results went with them."""
        gone = {
            id_val
            for position in range(self.stop, len(self.history))
            for id_val in result_ids(self.history[position])
        }
        while gone and self.stop:
            position = self.stop
            while position and result_ids(self.history[position - 1]):
                position -= 1
            if not position or gone.isdisjoint(call_ids(self.history[position - 1])):
                return
            for inner in range(position, self.stop):
                gone.update(result_ids(self.history[inner]))
            self.stop = position - 1

    def _around_human(self, at: int) -> list[BaseMessage]:
        """Return the head, the last human message, and the newest units behind it that fit."""
        history, human = self.history, without_results(self.history[at])
        fixed = [*self.head, human]
        needed = self.counter.all(fixed)
        if needed > self.max_tokens:
            raise _too_long(needed, self.max_tokens, at)
        size = self.stop - at - 1
        count = _fitting(
            self.counter,
            self.max_tokens - needed
            if isinstance(self.counter, MessageCounter)
            else self.max_tokens,
            size,
            lambda k: [*fixed, *history.slice(self.stop - k, self.stop)],
            history.backwards(self.stop),
        )
        tail = history.slice(self.stop - count, self.stop)
        return fixed + (without_orphans(tail) if count < size else tail)


def _fitting(
    counter: Counter,
    budget: float,
    size: int,
    candidate: Callable[[int], list[BaseMessage]],
    walk: Iterator[BaseMessage],
) -> int:
    """Return how many messages, from the kept end, fit into `budget`.

    A per-message counter is asked once per visited message. A list counter gets candidates that
    double, and then are bisected: O(log kept) calls.
    """
    if isinstance(counter, MessageCounter):
        one, used = counter.one, 0
        for position, message in enumerate(islice(walk, size)):
            used += one(message)
            if used > budget:
                return position
        return size
    fits, step = 0, 1
    while fits < size:
        tried = min(fits + step, size)
        if counter.all(candidate(tried)) > budget:
            break
        fits, step = tried, step * 2
    else:
        return size
    low, high = fits, min(fits + step, size)
    while high - low > 1:
        middle = (low + high) // 2
        if counter.all(candidate(middle)) <= budget:
            low = middle
        else:
            high = middle
    return low


def _last_human(history: _History, stop: int, first: int = 0) -> int | None:
    for position in range(stop - 1, first - 1, -1):
        if says(history[position]):
            return position
    return None


def _partial(
    counter: Counter,
    budget: float,
    kept: list[BaseMessage],
    message: BaseMessage,
    split: Split,
    *,
    last: bool,
) -> BaseMessage | None:
    """Return the longest piece of the message at the cut that still fits, as a copy, or None."""

    def fits(content: Any) -> BaseMessage | None:
        piece = _copied(message)
        piece.content = content
        whole = [piece, *kept] if last else [*kept, piece]
        return piece if counter.all(whole) <= budget else None

    content = message.content
    if isinstance(content, list):
        for left in range(len(content) - 1, 0, -1):
            piece = fits(content[-left:] if last else content[:left])
            if piece is not None:
                return piece
        blocks = reversed(content) if last else content
        text = next((t for t in map(_text_of, blocks) if t), None)
    else:
        text = content
    if not text:
        return None
    pieces = split(text)
    low, high, best = 0, len(pieces), None
    while high - low > 1:
        middle = (low + high) // 2
        piece = fits("".join(pieces[-middle:] if last else pieces[:middle]))
        if piece is None:
            high = middle
        else:
            low, best = middle, piece
    return best


def _copied(message: BaseMessage) -> BaseMessage:
    """Return a deep copy, or a shallow one of what nests too deeply."""
    from copy import copy, deepcopy

    try:
        return deepcopy(message)
    except RecursionError:
        return copy(message)


def _text_of(block: Any) -> str | None:
    if isinstance(block, str):
        return block
    text = block.get("text") if block.get("type") == "text" else None
    return text if isinstance(text, str) else None
