"""Token counters in every form people pass them, as one of two: per message, or per list."""

import inspect
import math
from collections.abc import Callable, Sequence
from typing import Any

from dragoman.errors import MessageError, short
from dragoman.messages.base import BaseMessage
from dragoman.transcript.count import count_tokens_approximately, message_counter

__all__ = ["Counter", "ListCounter", "MessageCounter", "counter_of"]

Number = int | float


def _checked(value: Any) -> Number:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        message = f"the token counter gave {short(value)}, not a number of tokens"
        raise MessageError(message)
    if value < 0:
        message = f"the token counter gave {value}, fewer than no tokens"
        raise MessageError(message)
    return value


class MessageCounter:
    """Counts one message at a time; asked once per visited message."""

    def __init__(self, count: Callable[[Any], Any], *, trusted: bool = False) -> None:
        self._count = count
        self._seen: dict[int, Number] = {}
        self.one: Callable[[BaseMessage], Number] = count if trusted else self._once
        """Return the tokens of a message."""

    def _once(self, message: BaseMessage) -> Number:
        known = self._seen.get(id(message))
        if known is None:
            known = self._seen[id(message)] = _checked(self._count(message))
        return known

    def all(self, messages: Sequence[BaseMessage]) -> Number:
        """Return the tokens of messages."""
        return sum(map(self.one, messages))


class ListCounter:
    """Counts whole lists, as a tokenizer of a model does."""

    def __init__(self, count: Callable[[list[Any]], Any]) -> None:
        self._count = count

    def all(self, messages: Sequence[BaseMessage]) -> Number:
        """Return the tokens of messages."""
        return _checked(self._count(list(messages)))


Counter = MessageCounter | ListCounter


def counter_of(given: Any, sample: Sequence[BaseMessage]) -> Counter:
    """Return the counter for what was passed as `token_counter`.

    A name (`approximate`), an object with `get_num_tokens_from_messages` (a model), or a function. A
    function whose first parameter is annotated `BaseMessage` counts one message; any other counts a
    list. One without annotation is tried on a list first: if it cannot take one, or counts two
    messages like one, it is not used in silence.

    Raises:
        MessageError: If it is none of these.
        TypeError: If it cannot be told what the function counts; says how to annotate it.
    """
    if isinstance(given, str):
        if given != "approximate":
            message = (
                f"Invalid token_counter shortcut '{given}'. Available shortcuts: 'approximate'."
            )
            raise MessageError(message)
        return MessageCounter(message_counter(), trusted=True)
    if given is count_tokens_approximately:
        return MessageCounter(message_counter(), trusted=True)
    count = getattr(given, "get_num_tokens_from_messages", None)
    if count is not None:
        return ListCounter(count)
    if not callable(given):
        message = (
            "'token_counter' expected to be a model that implements "
            "'get_num_tokens_from_messages()' or a function. Received object of type "
            f"{type(given)}"
        )
        raise MessageError(message)
    annotation = _annotation(given)
    if annotation is BaseMessage or annotation == "BaseMessage":
        return MessageCounter(given)
    if annotation is not inspect.Parameter.empty or not inspect.isfunction(given):
        return ListCounter(given)
    return _tried(given, sample)


def _annotation(function: Any) -> Any:
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return inspect.Parameter.empty
    if not parameters:
        return inspect.Parameter.empty
    annotation = parameters[0].annotation
    if isinstance(annotation, str) and annotation.rpartition(".")[2] == "BaseMessage":
        return BaseMessage
    return annotation


_HINT = "annotate it: def count(message: BaseMessage) or def count(messages: list[BaseMessage])"


def _tried(given: Callable[[Any], Any], sample: Sequence[BaseMessage]) -> Counter:
    """Return the counter for a function without annotation, found out on a few messages."""
    if len(sample) < 2:
        return ListCounter(given)
    try:
        both, first = _checked(given(list(sample[:2]))), _checked(given([sample[0]]))
    except (AttributeError, TypeError, KeyError, MessageError):
        try:
            _checked(given(sample[0]))
        except Exception:  # noqa: BLE001 - it takes neither: let the list form raise its own error
            return ListCounter(given)
        return MessageCounter(given)
    if both == first:
        message = f"token_counter counts two messages like one ({short(both)}); {_HINT}"
        raise TypeError(message)
    return ListCounter(given)
