"""Calls and their results on the wire: the order of results, and ids each provider accepts.

Encoders satisfy what a provider asks for and loses nothing: results stand behind their turn in the
order of the calls, ids are mapped injectively into the provider's alphabet, and an id that repeats
in a history is made unique where that is demanded. What is missing or left over is not invented or
dropped here: that is repair, and belongs to `transcript`.
"""

import re
from collections.abc import Sequence
from hashlib import blake2s

from dragoman.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

__all__ = ["UNNAMED", "WireIds", "call_ids", "in_call_order"]


UNNAMED = "unknown"
"""The name sent for a call that has none: every provider refuses an empty one."""


def call_ids(message: AIMessage) -> list[str | None]:
    """Return the ids of the valid and invalid calls of a message, valid ones first."""
    return [c.get("id") for c in message.tool_calls] + [
        c.get("id") for c in message.invalid_tool_calls
    ]


def in_call_order(messages: Sequence[BaseMessage]) -> list[BaseMessage]:
    """Return the messages with every run of results in the order of the calls before it.

    Results of one call stay in their order; results with an unknown id go last. Messages are
    shared, never changed; nothing else moves.
    """
    out: list[BaseMessage] = list(messages)
    if not _has_neighbours(out):
        return out
    at = 0
    n = len(out)
    calls: list[str | None] = []
    while at < n:
        turn = out[at]
        at += 1
        if not isinstance(turn, AIMessage):
            calls.clear()
            continue
        calls += _wire_order(turn)  # consecutive assistant messages are one turn on the wire
        if at >= n or not isinstance(out[at], ToolMessage):
            continue
        end = at
        while end < n and isinstance(out[end], ToolMessage):
            end += 1
        if end - at > 1 and not _is_order_unknown(turn):
            rank = {id: k for k, id in reversed(list(enumerate(calls)))}
            run = out[at:end]
            run.sort(key=lambda m: rank.get(getattr(m, "tool_call_id", None), len(rank)))
            out[at:end] = run
        at = end
    return out


def _has_neighbours(messages: list[BaseMessage]) -> bool:
    """Return whether two results stand side by side; without isinstance on the common classes."""
    was_result = False
    for message in messages:
        kind = message.__class__
        is_result = kind is ToolMessage or (kind not in _OTHERS and issubclass(kind, ToolMessage))
        if is_result and was_result:
            return True
        was_result = is_result
    return False


_OTHERS = frozenset((HumanMessage, AIMessage, SystemMessage))


def _is_order_unknown(turn: AIMessage) -> bool:
    """Return whether valid and invalid calls are mixed, and nothing says how."""
    return bool(turn.invalid_tool_calls) and bool(turn.tool_calls) and isinstance(turn.content, str)


def _wire_order(turn: AIMessage) -> list[str | None]:
    """Return the call ids in the order in which encoders write the calls."""
    ids = call_ids(turn)
    if isinstance(turn.content, list):
        placed = [
            b.get("id")
            for b in turn.content
            if isinstance(b, dict)
            and b.get("type") in ("tool_call", "tool_use", "invalid_tool_call")
        ]
        known = [i for i in placed if i in ids]
        return known + [i for i in ids if i not in known]
    return ids


class WireIds:
    """Maps call ids to ids that a wire accepts; injective, stable, one object an encoded request.

    Args:
        fits: What an id must match whole; None if any non-empty text will do.
        max_length: The most characters an id may have, or None.
        length: How many characters a made id has (letters and digits).
        prefix: How a made id starts.
        unique: Whether an id may stand for one call of the request only.
    """

    def __init__(
        self,
        fits: re.Pattern[str] | None = None,
        *,
        max_length: int | None = None,
        length: int = 24,
        prefix: str = "",
        unique: bool = False,
    ) -> None:
        self._fits = fits
        self._max_length = max_length
        self._length = length
        self._prefix = prefix
        self._unique = unique
        self._taken: dict[str, tuple[str, int]] = {}  # wire id -> (our id, which use of it)
        self._uses: dict[str, int] = {}
        # our id -> unanswered calls: (number of the turn, wire id)
        self._open: dict[str, list[tuple[int, str]]] = {}
        self._turn = 0
        self._has_results = False  # since the last call
        self._last: dict[str, str] = {}

    def fits(self, id: object) -> bool:
        """Return whether an id may be sent as it is."""
        return (
            isinstance(id, str)
            and bool(id)
            and (self._max_length is None or len(id) <= self._max_length)
            and (self._fits is None or self._fits.fullmatch(id) is not None)
        )

    def call(self, id: str | None) -> str:
        """Return the wire id for a call; one without an id, or with that of an open call, gets one."""
        own = id if isinstance(id, str) else ""
        if self._has_results:
            self._turn += 1
            self._has_results = False
        use = self._uses.get(own, 0)
        self._uses[own] = use + 1
        waiting = self._open.setdefault(own, [])
        is_double = bool(waiting) and waiting[-1][0] == self._turn
        wire = self._find((own, use if self._unique or not own or is_double else 0))
        waiting.append((self._turn, wire))
        self._last[own] = wire
        return wire

    def result(self, id: str | None) -> str:
        """Return the wire id for a result: that of the nearest unanswered call with this id."""
        own = id or ""
        self._has_results = True
        waiting = self._open.get(own)
        if waiting:
            # In one turn, and where there are no ids, results answer in call order.
            last = waiting[-1][0]
            at = next(n for n, (turn, _) in enumerate(waiting) if turn == last) if own else 0
            return waiting.pop(at)[1]
        return self._last.get(own) or self._find((own, 0))

    def _find(self, key: tuple[str, int]) -> str:
        own, use = key
        wire = own
        if use or not self.fits(own):
            wire = self._make(f"{own}\0{use}")
        n = 0
        while self._taken.get(wire, key) != key:
            n += 1
            wire = self._make(f"{own}\0{use}\0{n}")
        self._taken[wire] = key
        return wire

    def _make(self, text: str) -> str:
        number = int.from_bytes(blake2s(text.encode("utf-8", "surrogatepass")).digest(), "big")
        digits = ""
        while len(digits) < self._length - len(self._prefix):
            number, digit = divmod(number, 62)
            digits += "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"[digit]
        return self._prefix + digits
