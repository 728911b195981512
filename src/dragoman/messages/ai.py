"""What the model says: replies, and the chunks of a streamed reply.

In a chunk the raw tool-call fragments are what is kept; `tool_call_chunks`, `tool_calls` and
`invalid_tool_calls` are views of them, assembled by the rules of `fragments`. Incomplete arguments are
shown as far as they have arrived while the reply streams; once `chunk_position` is `last` they make an
invalid call.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeAlias, cast

import msgspec
from msgspec import UNSET

from dragoman.errors import MergeError, MessageError, short
from dragoman.messages.arguments import read_arguments
from dragoman.messages.base import BaseMessage, BaseMessageChunk, _copy_struct, _leaf
from dragoman.messages.calls import (
    raw_calls,
    raw_fragments,
    rebuilt_calls,
    rebuilt_invalid_calls,
)
from dragoman.messages.content import ToolCallChunk
from dragoman.messages.fields import NOT_GIVEN, lazy_field, shadow
from dragoman.messages.fragments import (
    Call,
    Fragments,
    check_fragment,
    merged_chunks,
    read_calls,
)
from dragoman.messages.leaves import append
from dragoman.messages.translate import ai_blocks
from dragoman.messages.usage import (
    InputTokenDetails,
    OutputTokenDetails,
    UsageMetadata,
    add_usage,
    check_usage,
    subtract_usage,
)

if TYPE_CHECKING:
    from dragoman.messages.content import ContentBlock, InvalidToolCall, ToolCall
    from dragoman.messages.fields import Slot

    Calls: TypeAlias = list[ToolCall]
    InvalidCalls: TypeAlias = list[InvalidToolCall]
    CallChunks: TypeAlias = list[ToolCallChunk]
    Usage: TypeAlias = UsageMetadata | None
else:  # msgspec would drop the keys that a TypedDict does not name, such as cache_creation by lifetime
    Calls = InvalidCalls = CallChunks = Usage = Any

__all__ = [
    "AIMessage",
    "AIMessageChunk",
    "InputTokenDetails",
    "OutputTokenDetails",
    "UsageMetadata",
    "add_ai_message_chunks",
    "add_usage",
    "subtract_usage",
]


class AIMessage(BaseMessage, kw_only=True, dict=True, tag="ai"):
    """A reply of the model.

    Attributes:
        tool_calls: Calls with parsed arguments: `{name, args, id, type}`.
        invalid_tool_calls: Calls that cannot be run, with raw text and reason.
        usage_metadata: Tokens of this reply, or None.
    """

    type: str = msgspec.field(default="ai", name="@type")
    tool_calls: Calls = NOT_GIVEN
    invalid_tool_calls: InvalidCalls = NOT_GIVEN
    usage_metadata: Usage = None

    _default_type = "ai"
    _role = "assistant"
    _lazy: ClassVar[dict[str, Callable[[], Any]]] = {
        **BaseMessage._lazy,
        "tool_calls": list,
        "invalid_tool_calls": list,
    }
    _always_shown = BaseMessage._always_shown | {"tool_calls", "invalid_tool_calls"}

    if TYPE_CHECKING:
        _raw_tool_calls = Slot()
        _raw_invalid_tool_calls = Slot()

    def __post_init__(self) -> None:
        if (
            (self.id is None or self.id.__class__ is str)
            and self.name is None
            and self.type is self._default_type
            and self.usage_metadata is None
            and self._raw_invalid_tool_calls is UNSET
            and self._raw_content_blocks is UNSET
            and self._raw_additional_kwargs is UNSET
        ):
            content, metadata = self._raw_content, self._raw_response_metadata
            exact = content.__class__ is str
            if content.__class__ is list:
                for item in content:
                    if item.__class__ is not dict and item.__class__ is not str:
                        break
                else:
                    self._raw_content, exact = content.copy(), True
            if metadata.__class__ is dict:
                metadata = self._raw_response_metadata = metadata.copy()
            if exact and (metadata is UNSET or metadata.__class__ is dict):
                calls = self._raw_tool_calls
                if calls is UNSET:
                    return
                if calls.__class__ is list:
                    self._raw_tool_calls = rebuilt_calls(calls) if calls else UNSET
                    return
        self._check()

    def _check(self) -> None:
        blocks = self._raw_content_blocks
        super()._check()
        calls, invalid = self._raw_tool_calls, self._raw_invalid_tool_calls
        if blocks is not UNSET and calls is UNSET and self._raw_content.__class__ is list:
            calls = [b for b in self._raw_content if _is_call_block(b)]
        if calls is UNSET and invalid is UNSET:
            if self._raw_additional_kwargs is not UNSET:
                self._read_raw_calls()
        else:
            self._take_calls(calls, invalid)
        if self.usage_metadata is not None:
            self.usage_metadata = check_usage(self.usage_metadata)

    def _take_calls(self, calls: Any, invalid: Any) -> None:
        if calls is None or invalid is None:
            field = "tool_calls" if calls is None else "invalid_tool_calls"
            message = f"{field} has to be a list, not NoneType"
            raise MessageError(message, path=field, hint="leave it out")
        if calls is not UNSET:
            self._raw_tool_calls = rebuilt_calls(calls) if calls else UNSET
            if not calls and not isinstance(calls, list | tuple):
                rebuilt_calls(calls)
        if invalid is not UNSET:
            self._raw_invalid_tool_calls = rebuilt_invalid_calls(invalid) if invalid else UNSET
        if not calls and not invalid and self._raw_additional_kwargs is not UNSET:
            self._read_raw_calls()

    def _read_raw_calls(self) -> None:
        raw = self._raw_additional_kwargs.get("tool_calls")
        if raw:
            valid, invalid = raw_calls(raw)
            if valid:
                self._raw_tool_calls = valid
            if invalid:
                self._raw_invalid_tool_calls = invalid

    @property
    def lc_attributes(self) -> dict[str, Any]:
        """The calls, which dumps always hold."""
        return {"tool_calls": self.tool_calls, "invalid_tool_calls": self.invalid_tool_calls}


def _is_call_block(block: Any) -> bool:
    return block.__class__ is dict and block.get("type") == "tool_call"


def _ai_content_blocks(self: AIMessage) -> "list[ContentBlock]":
    """The reply in standard blocks: content, calls and reasoning; made anew at each read."""
    return cast("list[ContentBlock]", ai_blocks(self))


lazy_field(AIMessage, "tool_calls", list, "Calls with parsed arguments.")
lazy_field(AIMessage, "invalid_tool_calls", list, "Calls that cannot be run.")
shadow(AIMessage, "content_blocks", property(_ai_content_blocks, doc=_ai_content_blocks.__doc__))


_CHUNK_TYPE = "AIMessageChunk"


class AIMessageChunk(AIMessage, BaseMessageChunk, kw_only=True, dict=True, tag="AIMessageChunk"):
    """A piece of an `AIMessage`.

    Attributes:
        tool_call_chunks: The fragments of calls, one merged entry per call.
        chunk_position: `last` on the chunk that ends the reply, else None.

    >>> (AIMessageChunk("Hello") + AIMessageChunk(" World")).content
    'Hello World'
    """

    type: str = msgspec.field(default=_CHUNK_TYPE, name="@type")
    tool_call_chunks: CallChunks = NOT_GIVEN
    chunk_position: str | None = None

    _default_type = _CHUNK_TYPE
    _lazy: ClassVar[dict[str, Callable[[], Any]]] = {**AIMessage._lazy, "tool_call_chunks": list}
    _always_shown = AIMessage._always_shown | {"tool_call_chunks"}

    if TYPE_CHECKING:
        _raw_tool_call_chunks = Slot()

    def __post_init__(self) -> None:
        if (
            self._raw_content.__class__ is str
            and (self.id is None or self.id.__class__ is str)
            and self.name is None
            and self.type is _CHUNK_TYPE
            and self.chunk_position is None
            and self.usage_metadata is None
            and self._raw_tool_calls is UNSET
            and self._raw_invalid_tool_calls is UNSET
            and self._raw_content_blocks is UNSET
            and self._raw_additional_kwargs is UNSET
            and self._raw_response_metadata is UNSET
        ):
            chunks = self._raw_tool_call_chunks
            if chunks is UNSET:
                return
            if chunks.__class__ is list and chunks:
                for chunk in chunks:
                    if not _is_common(chunk):
                        break
                else:
                    return
        self._check()

    def _check(self) -> None:
        chunks = self._raw_tool_call_chunks
        if chunks is not UNSET:
            if chunks.__class__ is not list:
                chunks = _as_list(chunks)
            for position, chunk in enumerate(chunks):
                check_fragment(chunk, f"tool_call_chunks[{position}]")
        if chunks:
            # the fragments say it all: what else was passed is computed from them
            self._raw_tool_calls = self._raw_invalid_tool_calls = UNSET
            BaseMessage._check(self)
            self._raw_tool_call_chunks = chunks.copy()
            if self.usage_metadata is not None:
                self.usage_metadata: UsageMetadata | None = check_usage(self.usage_metadata)
        else:
            self._raw_tool_call_chunks = UNSET
            super()._check()
            self._derive_fragments()
        if self.chunk_position is not None and self.chunk_position != "last":
            message = f"expected 'last' or None, got {short(self.chunk_position)}"
            raise MessageError(message, path="chunk_position")

    def _read_raw_calls(self) -> None:
        raw = self._raw_additional_kwargs.get("tool_calls")
        if raw:
            self._raw_tool_call_chunks = raw_fragments(raw)

    def _derive_fragments(self) -> None:
        """Make fragments of the calls the chunk was given whole."""
        calls, invalid = self._raw_tool_calls, self._raw_invalid_tool_calls
        if calls is UNSET and invalid is UNSET:
            return
        fragments = [
            _fragment(call["name"], _json_text(call["args"]), call["id"])
            for call in (() if calls is UNSET else calls)
        ]
        fragments += [
            cast("ToolCallChunk", {**_fragment(c["name"], c["args"], c["id"]), "error": c["error"]})
            for c in (() if invalid is UNSET else invalid)
        ]
        self._raw_tool_call_chunks = fragments
        # A call given whole is read back from its fragment, so that + finds one form only.
        self._raw_tool_calls = self._raw_invalid_tool_calls = UNSET

    def _assembled(self) -> list[Call]:
        """Return the calls the fragments make so far."""
        raw: Any = self._raw_tool_call_chunks
        if raw.__class__ is tuple:
            return raw[0].calls(raw[1])
        return Fragments(raw).calls(len(raw)) if raw else []

    def _value(self, name: str) -> Any:
        if name in ("tool_calls", "invalid_tool_calls", "tool_call_chunks"):
            return getattr(self, name)
        return super()._value(name)

    def _raw_fragments(self) -> list[Any]:
        """Return the fragments as they came."""
        raw: Any = self._raw_tool_call_chunks
        if not raw:
            return []
        return raw[0].items[: raw[1]] if raw.__class__ is tuple else raw

    def __reduce__(self) -> tuple[Any, ...]:
        restore, (cls, fields) = super().__reduce__()
        fragments = self._raw_fragments()
        if fragments:
            fields["tool_call_chunks"] = fragments
            del fields["tool_calls"], fields["invalid_tool_calls"]
        return restore, (cls, fields)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        from copy import deepcopy

        new = super().__deepcopy__(memo)
        fragments = self._raw_fragments()
        if fragments:
            new._raw_tool_call_chunks = deepcopy(fragments, memo)
        return new

    def _is_cut_off(self) -> bool:
        """Return whether the reply ended because it grew too long."""
        return self._raw_response_metadata is not UNSET and _is_length(self.response_metadata)

    def _read_calls(self) -> None:
        ended = self.chunk_position is not None
        cut_off = ended and self._is_cut_off()
        self._raw_tool_calls, self._raw_invalid_tool_calls = read_calls(
            self._assembled(), ended, cut_off
        )

    # ------------------------------------------------------------------ addition

    def __add__(self, other: Any) -> Self:  # pyright: ignore[reportIncompatibleMethodOverride]
        if (
            other.__class__ is AIMessageChunk
            and other._raw_content.__class__ is str
            and other._raw_additional_kwargs is UNSET
            and other._raw_response_metadata is UNSET
            and other.usage_metadata is None
            and other.chunk_position is None
            and other.name is None
            and (other.id is None or other.id == self.id)
        ):
            # The two shapes of nearly all chunks: a piece of text, or fragments of calls.
            fragments = other._raw_tool_call_chunks
            if fragments.__class__ is not tuple:
                new = _copy_struct(self)
                content = other._raw_content
                if content:
                    raw = self._raw_content
                    if raw.__class__ is tuple:
                        buffer, length = raw
                        items = buffer.items
                        if len(items) == length:
                            items.append(content)
                            new._raw_content = (buffer, length + 1)
                        else:
                            new._raw_content = append(raw, [content])
                    elif raw == "":
                        new._raw_content = content
                    else:
                        new._raw_content = append(_leaf(raw), [content])
                if fragments:
                    new._raw_tool_call_chunks = _appended(self._raw_tool_call_chunks, fragments)
                    new._raw_tool_calls = new._raw_invalid_tool_calls = UNSET
                if (
                    self._raw_additional_kwargs is not UNSET
                    or self._raw_response_metadata is not UNSET
                ):
                    new._own_dicts()
                return new
        return super().__add__(other)

    def _own_dicts(self) -> None:
        """Make dicts that a copy shares with its original the copy's own."""
        for field in ("_raw_additional_kwargs", "_raw_response_metadata"):
            mine = getattr(self, field)
            if mine.__class__ is dict:
                setattr(self, field, mine.copy())

    def _plus(self, others: tuple[BaseMessageChunk, ...]) -> Self:
        new = super()._plus(others)
        fragments: list[Any] = []
        usages = [self.usage_metadata]
        for other in others:
            if isinstance(other, AIMessageChunk):
                fragments += other._raw_fragments()
                new.id = _better_id(new.id, other.id)
                usages.append(other.usage_metadata)
                if other.chunk_position == "last":
                    new.chunk_position = "last"
        if fragments:
            new._raw_tool_call_chunks = _appended(self._raw_tool_call_chunks, fragments)
        if (
            fragments
            or new.chunk_position != self.chunk_position
            or new._raw_response_metadata is not self._raw_response_metadata  # may say: cut off
        ):
            new._raw_tool_calls = new._raw_invalid_tool_calls = UNSET
        given = [usage for usage in usages if usage is not None]
        if given:
            total = given[0]
            for usage in given[1:]:
                total = add_usage(total, usage)
            new.usage_metadata = total
        return new


def _fragment(name: str | None, args: str | None, id_val: str | None) -> ToolCallChunk:
    return {"name": name, "args": args, "id": id_val, "index": None, "type": "tool_call_chunk"}


def _json_text(args: dict[str, Any]) -> str:
    """Return arguments as JSON text; what has no JSON form is shown as text."""
    import json

    return json.dumps(args, ensure_ascii=False, default=str)


def _is_common(chunk: Any) -> bool:
    """Return whether a fragment has the five keys and types that nearly all have."""
    try:
        args, index = chunk["args"], chunk["index"]
        return (
            (args.__class__ is str or args is None)
            and (index.__class__ is int or index is None)
            and ((name := chunk["name"]) is None or name.__class__ is str)
            and ((id_val := chunk["id"]) is None or id_val.__class__ is str)
            and len(chunk) == 5
            and "type" in chunk
        )
    except (KeyError, TypeError):
        return False


def _as_list(value: Any) -> list[Any]:
    if isinstance(value, list | tuple):
        return list(value)
    message = f"tool_call_chunks has to be a list, not {type(value).__name__}"
    raise MergeError(message, path="tool_call_chunks")


def _appended(raw: Any, fragments: list[Any]) -> tuple[Fragments, int]:
    """Return a run of fragments with some more at its end."""
    if raw.__class__ is tuple:
        buffer, length = raw
        items = buffer.items
        if len(items) != length:  # somebody else went on from here
            buffer = Fragments(items[:length])
            items = buffer.items
    else:
        buffer = Fragments(raw.copy() if raw else [])
        items, length = buffer.items, len(buffer.items)
    if len(fragments) == 1:
        items.append(fragments[0])
        return buffer, length + 1
    items.extend(fragments)
    return buffer, length + len(fragments)


def _is_length(metadata: dict[str, Any]) -> bool:
    for key in ("finish_reason", "stop_reason", "done_reason"):
        reason = metadata.get(key)
        if isinstance(reason, str) and reason.lower() in ("length", "max_tokens", "model_length"):
            return True
    return False


def _rank(id_val: str | None) -> int:
    if not id_val:
        return 0
    if id_val.startswith("lc_run-"):
        return 2
    return 1 if id_val.startswith("lc_") else 3


def _better_id(left: str | None, right: str | None) -> str | None:
    """Return the id that identifies best: a provider's, a run's, any; the left one on a tie."""
    return right if _rank(right) > _rank(left) else left


def _calls_property(name: str) -> property:
    slot = AIMessage.__dict__[f"_raw_{name}"]
    read = slot.__get__

    def get(self: Any) -> Any:
        value = read(self)
        if value is UNSET:
            self._read_calls()
            value = read(self)
        return value

    return property(get, slot.__set__)


def _get_chunks(self: Any) -> list[ToolCallChunk]:
    raw = self._raw_tool_call_chunks
    if not raw:
        return []
    return merged_chunks(self._assembled())


def _put_chunks(self: Any, value: Any) -> None:
    self._raw_tool_call_chunks = list(value) if value.__class__ is tuple else value
    self._raw_tool_calls = self._raw_invalid_tool_calls = UNSET


shadow(AIMessageChunk, "_raw_tool_call_chunks", AIMessageChunk.__dict__["tool_call_chunks"])
shadow(AIMessageChunk, "tool_call_chunks", property(_get_chunks, _put_chunks))
shadow(AIMessageChunk, "tool_calls", _calls_property("tool_calls"))
shadow(AIMessageChunk, "invalid_tool_calls", _calls_property("invalid_tool_calls"))
# The properties of AIMessage would come first in the order of bases; a chunk's are those of chunks.
_chunk_content = BaseMessageChunk.__dict__["content"]


def _get_content(self: Any) -> Any:
    content = _chunk_content.fget(self)
    if (
        content.__class__ is list
        and self.chunk_position == "last"
        and self._raw_response_metadata is not UNSET
        and self.response_metadata.get("output_version") == "v1"
    ):
        ended = _ended_blocks(self, content)
        if ended is not None:
            content = self._raw_content = ended
    return content


def _ended_blocks(chunk: AIMessageChunk, content: list[Any]) -> list[Any] | None:
    """Return standard content at the end of a stream, with whole calls in place of their pieces.

    None if nothing has to be replaced.
    """
    calls: dict[Any, Any] | None = None
    ended: list[Any] | None = None
    for position, block in enumerate(content):
        kind = block.get("type") if block.__class__ is dict else None
        made: dict[str, Any] | None = None
        if kind == "tool_call_chunk":
            if calls is None:
                calls = {call["id"]: call for call in chunk.tool_calls if call["id"]}
            call = calls.get(block.get("id"))
            if call is not None:
                made = {"type": "tool_call", **{k: call[k] for k in ("name", "args", "id")}}
                if "extras" in block:
                    made["extras"] = block["extras"]
        elif kind in ("server_tool_call", "server_tool_call_chunk"):
            raw = block.get("args")
            args = read_arguments(raw)[0] if isinstance(raw, str) else None
            if args is not None:
                made = {**block, "type": "server_tool_call", "args": args}
        if made is not None:
            if ended is None:
                ended = content.copy()
            ended[position] = made
    return ended


shadow(
    AIMessageChunk,
    "content",
    property(_get_content, _chunk_content.fset, doc=_chunk_content.__doc__),
)


def add_ai_message_chunks(left: AIMessageChunk, *others: AIMessageChunk) -> AIMessageChunk:
    """Return all chunks added, in one pass; the same as adding one at a time.

    >>> add_ai_message_chunks(AIMessageChunk("a"), AIMessageChunk("b")).content
    'ab'
    """
    return left + list(others) if others else left


def __getattr__(name: str) -> Any:
    from dragoman.messages import content, merge, tool

    for where in (tool, content, merge):  # LangChain's module shows these too
        if name in where.__all__:
            return getattr(where, name)
    message = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(message)
