"""What an agent supplies to a tool: marks in schemas, and the values themselves.

`InjectedState`, `InjectedStore` and `ToolRuntime` are LangGraph's there: they are translated when
`langgraph` is installed, else left as they are.
"""

from dataclasses import fields
from functools import cache
from importlib import import_module
from inspect import isclass
from typing import Any, Literal, get_origin

from langchain_core import tools as theirs
from langchain_core.messages import BaseMessage as TheirMessage

from dragoman.messages import BaseMessage
from dragoman.tools import inject

__all__ = ["carried", "mark_in", "mark_out"]

MARKS = (inject.InjectedToolArg, inject.DirectlyInjectedToolArg, theirs.InjectedToolArg)


def _langgraph(name: str) -> Any:
    try:
        return getattr(import_module("langgraph.prebuilt"), name, None)
    except ImportError:
        return None


@cache
def _pairs() -> tuple[tuple[Any, Any], ...]:
    """Return our marks and LangChain's, the special ones before the general one; loads langgraph."""
    return (
        (inject.InjectedToolCallId, theirs.InjectedToolCallId),
        (inject.InjectedState, _langgraph("InjectedState")),
        (inject.InjectedStore, _langgraph("InjectedStore")),
        (inject.InjectedToolArg, theirs.InjectedToolArg),
        (inject.ToolRuntime, _langgraph("ToolRuntime")),
    )


def mark_out(mark: Any) -> Any:
    """Return LangChain's mark for one of ours; anything else is itself."""
    return _mark(mark, 0, 1)


def mark_in(mark: Any) -> Any:
    """Return our mark for one of LangChain's; anything else is itself."""
    return _mark(mark, 1, 0)


def _mark(mark: Any, here: int, there: int) -> Any:
    bare = get_origin(mark) or mark
    cls = bare if isclass(bare) else type(bare)
    if not issubclass(cls, MARKS) and not cls.__module__.startswith("langgraph."):
        return mark
    for pair in _pairs():
        own, other = pair[here], pair[there]
        if own is None or other is None or not issubclass(cls, own):
            continue
        field = getattr(mark, "field", None)
        if isclass(bare):
            return other
        return other() if field is None else other(field)
    return mark


def carried(value: Any, way: Literal["inward", "outward"]) -> Any:
    """Return an argument or a result of a tool as the other side has it.

    Messages are converted wherever they stand in lists, tuples and dicts, and a runtime becomes
    the other side's; everything else is the same object.
    """
    from dragoman.compat.messages import message_in, message_out

    if way == "outward" and isinstance(value, BaseMessage):
        return message_out(value, "$")
    if way == "inward" and isinstance(value, TheirMessage):
        return message_in(value, "$")
    kind: Any = type(value)
    if kind in (list, tuple):
        items = [carried(item, way) for item in value]
        same = all(new is old for new, old in zip(items, value, strict=True))
        return value if same else kind(items)
    if kind is dict:
        found = {key: carried(item, way) for key, item in value.items()}
        return value if all(found[key] is value[key] for key in value) else found
    if kind.__name__ == "ToolRuntime":
        here, there = _pairs()[-1] if way == "outward" else _pairs()[-1][::-1]
        if kind is not here or there is None:
            return value
        shared = [field.name for field in fields(there) if hasattr(value, field.name)]
        return there(**{name: carried(getattr(value, name), way) for name in shared})
    return value
