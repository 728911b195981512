"""Messages and chunks, field by field.

A message is built by the other side's constructor, so that it is a message like any other there;
what a constructor would decide anew (calls read out of raw provider data) is then set to what the
original shows. Unknown fields travel: pydantic keeps them in `__pydantic_extra__`, we in the
instance. A user's subclass becomes the nearest class of the other side, its own fields unknown ones.
"""

from typing import Any

from langchain_core import messages as theirs

from dragoman.errors import DecodeError, EncodeError
from dragoman.messages import BaseMessage
from dragoman.messages.dicts import read_fields
from dragoman.messages.fields import ASIDE, field_names
from dragoman.messages.fragments import marked_fragments
from dragoman.messages.registry import CLASSES, nearest_class

__all__ = ["message_in", "message_out"]

# Of two classes that are both bases of one, the nearer one is found first along the MRO.
THEIRS: dict[str, Any] = {cls.__name__: getattr(theirs, cls.__name__) for cls in CLASSES.values()}
OURS: dict[Any, type[BaseMessage]] = {THEIRS[cls.__name__]: cls for cls in CLASSES.values()}
# Fields that a constructor computes from others; `type` is the class's own.
DERIVED = ("tool_calls", "invalid_tool_calls")


def copied(value: Any) -> Any:
    """Return `value` with its dicts and lists copied; everything else is the same object."""
    if value.__class__ is dict:
        return {key: copied(item) for key, item in value.items()}
    if value.__class__ is list:
        return [copied(item) for item in value]
    return value


def message_out(message: BaseMessage, path: str) -> Any:
    """Return LangChain's message of `message`.

    Raises:
        EncodeError: If its class is not made from one of the message classes.
    """
    ours = nearest_class(type(message))
    cls = THEIRS.get(ours.__name__)
    if cls is None:
        text = f"{type(message).__name__} has no counterpart in langchain_core"
        raise EncodeError(text, path=path, hint="make it from HumanMessage, AIMessage ...")
    names = field_names(ours)
    fields = {name: getattr(message, name) for name in names if name != "type"}
    extra = {name: getattr(message, name) for name in field_names(type(message))[len(names) :]}
    extra |= {name: value for name, value in vars(message).items() if name != ASIDE}
    extra |= vars(message).get(ASIDE, {})
    fields = {name: _part(name, value) for name, value in fields.items()}
    if "tool_call_chunks" in fields:
        fields["tool_call_chunks"] = copied(_fragments(message))
    made = _built(cls, fields, path)
    raw: Any = getattr(message, "_raw_fragments", list)()
    if any("error" in fragment for fragment in raw):
        for name in DERIVED:  # a call that was given as invalid stays invalid
            setattr(made, name, copied(getattr(message, name)))
    if extra:
        made.__pydantic_extra__ = copied(extra)
    return made


def _fragments(chunk: Any) -> list[Any]:
    """Return the fragments as they came, or of a sum one merged entry per call."""
    raw = chunk._raw_tool_call_chunks
    fragments = raw if raw.__class__ is list else chunk.tool_call_chunks
    return [{k: v for k, v in fragment.items() if k != "error"} for fragment in fragments]


def _part(name: str, value: Any) -> Any:
    return value if name == "artifact" else copied(value)


def _built(cls: Any, fields: dict[str, Any], path: str) -> Any:
    given = {name: value for name, value in fields.items() if value is not None}
    if cls is theirs.RemoveMessage:
        del given["content"]
    if given.get("tool_call_chunks"):
        # Both sides compute the calls of a chunk from its fragments, each by its own rules.
        given = {name: value for name, value in given.items() if name not in DERIVED}
    try:
        made = cls(**given)
    except (ValueError, TypeError) as error:
        text = f"langchain_core does not take this {cls.__name__}: {type(error).__name__}"
        raise EncodeError(text, path=path) from error
    _set_calls(made, fields)
    if made.content != fields["content"]:
        made.content = fields["content"]
    return made


def _set_calls(made: Any, fields: dict[str, Any]) -> None:
    """Let a message show the calls that the original showed."""
    for name in DERIVED:
        if name in fields and getattr(made, name) != fields[name]:
            setattr(made, name, fields[name])


def message_in(message: theirs.BaseMessage, path: str, *, is_streamed: bool = False) -> BaseMessage:
    """Return our message of LangChain's.

    Args:
        message: The message.
        path: Where it stands, for errors.
        is_streamed: Whether the calls of a chunk are read from its fragments by our rules, which
            run no call that is only half received. Otherwise it shows what it showed.

    Raises:
        DecodeError: If its class is not made from one of LangChain's message classes.
    """
    cls = next((OURS[base] for base in type(message).__mro__ if base in OURS), None)
    if cls is None:
        text = f"{type(message).__name__} has no counterpart here"
        raise DecodeError(text, path=path, hint="make it from HumanMessage, AIMessage ...")
    names = field_names(cls)
    shown = {name: getattr(message, name) for name in type(message).model_fields}
    fields = {name: _part(name, shown[name]) for name in names if name in shown}
    fields.pop("type")
    own = {name: value for name, value in shown.items() if name not in names}
    extra = copied({**own, **(message.__pydantic_extra__ or {})})
    if fields.get("tool_call_chunks"):
        given = {name: value for name, value in fields.items() if name not in DERIVED}
        given["tool_call_chunks"] = marked_fragments(
            given["tool_call_chunks"], fields["invalid_tool_calls"]
        )
    else:
        given = fields
    aside = {name: value for name, value in extra.items() if hasattr(cls, name)}
    extra = {name: value for name, value in extra.items() if name not in aside}
    made = read_fields(cls, given, path)
    if not is_streamed:
        _set_calls(made, fields)
    if extra:
        vars(made).update(extra)
    if aside:
        vars(made)[ASIDE] = aside
    return made
