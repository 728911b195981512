"""The assembler of tool calls from the fragments of a stream.

One rule decides where a fragment belongs, for `+`, for codecs and for stream decoders alike:

- to the open call with its index (a whole number, or text) and a compatible id;
- without an index, to the call with its id; with neither, to the last open call;
- a different non-empty id or name, or a start after complete arguments, opens a new call.

A name comes whole: equal repeats are ignored. `""` is absent. Late ids and names fill in.

`Fragments` is an append-only list that many chunks share, each up to its own length; the calls are
assembled once per fragment, whoever reads.
"""

import re
from typing import Any

from dragoman.errors import MergeError, short
from dragoman.messages.arguments import read_arguments
from dragoman.messages.content import InvalidToolCall, ToolCall, ToolCallChunk
from dragoman.messages.partial_json import parse_growing

__all__ = [
    "Call",
    "Fragments",
    "check_fragment",
    "fragment_index",
    "marked_fragments",
    "merged_chunks",
    "read_calls",
]

# Quotes, escapes with the character they escape, and a backslash at the very end.
_STRING_PARTS = re.compile(r'"|\\.|\\\Z', re.DOTALL)
_KEYS = frozenset({"name", "args", "id", "index", "type", "extras", "error"})


def check_fragment(fragment: Any, path: str) -> ToolCallChunk:
    """Return `fragment` if it is a well-formed piece of a tool call.

    Raises:
        MergeError: If it is not a dict, or a value has the wrong type; the path names it.
    """
    if not isinstance(fragment, dict):
        message = f"a tool call chunk has to be a dict, not {type(fragment).__name__}"
        raise MergeError(message, path=path)
    for key in ("name", "args", "id"):
        value: Any = fragment.get(key)
        if value is not None and not isinstance(value, str):
            message = f"expected text or None, got {short(value)}"
            raise MergeError(message, path=f"{path}.{key}")
    index: Any = fragment.get("index")
    if isinstance(index, bool) or not isinstance(index, int | str | None):
        message = f"expected a whole number or text, got {short(index)}"
        raise MergeError(message, path=f"{path}.index")
    unknown = fragment.keys() - _KEYS
    if unknown:
        message = f"unknown key {short(min(unknown, key=str))} in a tool call chunk"
        raise MergeError(message, path=path)
    return fragment  # pyright: ignore[reportReturnType] - checked above


def fragment_index(index: int | str | None) -> int | str | None:
    """Return an index in the form that is compared: digits as a number, "" as None."""
    if isinstance(index, str):
        if index.isdecimal() and index.isascii():
            return int(index)
        return index or None
    return index


class Call:
    """One call being assembled.

    Pieces of the arguments gather in `pieces`; `settle` moves them into `data`, the UTF-8 text so
    far, and keeps track of whether that ends inside a string.
    """

    __slots__ = (
        "data",
        "error",
        "escaped",
        "extras",
        "first",
        "id",
        "in_string",
        "index",
        "name",
        "number",
        "pieces",
    )

    def __init__(self, fragment: Any, index: int | str | None, number: int) -> None:
        self.first: Any = fragment
        self.number: int = number
        self.index: int | str | None = index
        self.id: str | None = fragment.get("id") or None
        self.name: str | None = fragment.get("name") or None
        self.extras: dict[str, Any] | None = fragment.get("extras")
        # A fragment of a call that was given as invalid says why; the call stays invalid.
        self.error: str | None = (fragment["error"] or "") if "error" in fragment else None
        self.pieces: list[str] = []
        self.data: bytes = b""  # no bytearray: jiter reads bytes only
        self.in_string: bool = False
        self.escaped: bool = False

    def settle(self) -> bytes:
        """Return all of the arguments as UTF-8."""
        pieces = self.pieces
        if pieces:
            args = pieces[0] if len(pieces) == 1 else "".join(pieces)
            pieces.clear()
            try:
                self.data += args.encode()
            except UnicodeEncodeError:
                self.data += args.encode("utf-8", "surrogatepass")
            if "\\" in args or self.escaped:
                self._scan_escapes(args)
            elif '"' in args and args.count('"') % 2:
                self.in_string = not self.in_string
        return self.data

    def _scan_escapes(self, args: str) -> None:
        if self.escaped:
            args = args[1:]  # the character after the backslash means nothing here
            self.escaped = False
        for piece in _STRING_PARTS.findall(args):
            if piece == '"':
                self.in_string = not self.in_string
            elif piece == "\\":
                self.escaped = True

    def raw(self) -> str:
        """Return all of the arguments as text."""
        return self.settle().decode("utf-8", "surrogatepass")

    def is_complete(self) -> bool:
        """Return whether the arguments so far are one complete, non-blank JSON object."""
        data = self.settle().strip()
        if self.in_string or not data.endswith((b"}", b'"')):
            return False
        return read_arguments(self.raw())[0] is not None


class Fragments:
    """An append-only list of fragments, and the calls assembled from them so far."""

    __slots__ = ("_consumed", "_open", "items")

    def __init__(self, items: list[Any]) -> None:
        self.items: list[Any] = items
        self._open = _Open()
        self._consumed = 0

    def calls(self, length: int) -> list[Call]:
        """Return the calls that the first `length` fragments make."""
        if self._consumed > length:  # an older chunk is read after a newer one: start afresh
            return Fragments(self.items[:length]).calls(length)
        opened = self._open
        calls = opened.calls
        last = calls[-1] if calls else None
        for fragment in self.items[self._consumed : length]:
            if last is not None and not fragment.get("id") and not fragment.get("name"):
                index = fragment.get("index")
                if index is not None and index == last.index:  # the ordinary continuation
                    args = fragment.get("args")
                    if args:
                        last.pieces.append(args)
                    continue
            opened.feed(fragment)
            last = calls[-1]
        self._consumed = length
        return calls


class _Open:
    """The calls of a stream, found by what later fragments name them by: nothing is searched."""

    __slots__ = ("_by_id", "_by_index", "_by_pair", "_without_index", "calls")

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self._by_index: dict[int | str, Call] = {}  # the last one with an index
        self._by_pair: dict[tuple[int | str, str], Call] = {}
        self._by_id: dict[str, Call] = {}
        self._without_index: dict[str, Call] = {}  # the first one with an id and no index

    def feed(self, fragment: Any) -> None:
        """Add a fragment to the call it belongs to, or to a new one."""
        index = fragment.get("index")
        if index.__class__ is str:
            index = fragment_index(index)
        id_val: str | None = fragment.get("id") or None
        name: str | None = fragment.get("name") or None
        args: str | None = fragment.get("args")
        # A fragment with an error is a whole call that was given as invalid.
        call = None if "error" in fragment else self._owner(index, id_val, name, args)
        if call is None:
            call = Call(fragment, index, len(self.calls))
            self.calls.append(call)
            self._note(call)
        else:
            call.name = call.name or name
            if (call.id is None and id_val) or (call.index is None and index is not None):
                call.id = call.id or id_val
                if call.index is None:
                    call.index = index
                self._note(call)
            if fragment.get("extras"):
                call.extras = {**(call.extras or {}), **fragment["extras"]}
        if args:
            call.pieces.append(args)

    def _note(self, call: Call) -> None:
        """Remember what a call can be found by."""
        index, id_val = call.index, call.id
        if index is not None:
            last = self._by_index.get(index)
            if last is None or last.number < call.number:
                self._by_index[index] = call
            if id_val:
                self._by_pair[index, id_val] = call
        if id_val:
            last = self._by_id.get(id_val)
            if last is None or last.number < call.number:
                self._by_id[id_val] = call
            if index is None:
                first = self._without_index.get(id_val)
                if first is None or first.index is not None:
                    self._without_index[id_val] = call

    def _owner(
        self, index: int | str | None, id_val: str | None, name: str | None, args: str | None
    ) -> Call | None:
        """Return the open call a fragment belongs to, or None if it opens one."""
        call = self._named(index, id_val, name)
        if call is None or call.error is not None:
            return None
        if name and call.name and name != call.name:
            return None
        starts = bool(name or (id_val and call.id is None))
        if starts and args and not args.isspace() and call.is_complete():
            return None
        return call

    def _named(self, index: int | str | None, id_val: str | None, name: str | None) -> Call | None:
        """Return the call that a fragment names by its index, its id, or by naming none."""
        calls = self.calls
        call: Call | None = None
        if index is not None:
            last = self._by_index.get(index)
            if id_val:
                call = self._by_pair.get((index, id_val))
                if call is None and last is not None and last.id is None:
                    call = last
                if call is None and last is None:  # opened without an index, gets it late
                    call = self._without_index.get(id_val)
                    if call is not None and call.index is not None:
                        call = None
            elif last is not None:
                call = last
            elif not name and calls and calls[-1].index is None:
                call = calls[-1]
        elif id_val:
            call = self._by_id.get(id_val)
            if call is None and calls and calls[-1].id is None:
                call = calls[-1]
        elif calls:
            call = calls[-1]
        return call


def read_calls(
    calls: list[Call], ended: bool, cut_off: bool
) -> tuple[list[ToolCall], list[InvalidToolCall]]:
    """Return the valid and the invalid calls, in the order in which they were opened.

    Args:
        calls: The calls of `Fragments.calls`.
        ended: Whether no more will come: then incomplete arguments make an invalid call; until
            then they are shown as far as they have arrived.
        cut_off: Whether the reply ended because it grew too long.
    """
    valid: list[ToolCall] = []
    invalid: list[InvalidToolCall] = []
    for call in calls:
        args: dict[str, Any] | None = None
        error: str | None = None
        data = call.settle()
        if call.error is not None:
            error = call.error or None
        elif not data or data.isspace():
            if ended and cut_off and call is calls[-1]:
                error = "cut off: the reply ended before the arguments"
            else:
                args = {}
        elif not ended:
            args = _growing(call, data)
        else:
            args, error = read_arguments(call.raw())
            if error is not None and _is_beginning(call, data):
                error = "cut off: the reply ended inside the arguments"
        if args is not None:
            valid.append(
                {"name": call.name or "", "args": args, "id": call.id, "type": "tool_call"}
            )
        else:
            invalid.append(
                {
                    "type": "invalid_tool_call",
                    "id": call.id,
                    "name": call.name,
                    "args": call.raw() or call.first.get("args"),
                    "error": error,
                }
            )
    return valid, invalid


def merged_chunks(calls: list[Call]) -> list[ToolCallChunk]:
    """Return one `tool_call_chunk` per call, with all of its text."""
    merged: list[ToolCallChunk] = []
    for call in calls:
        first = call.first
        chunk: ToolCallChunk = {
            "name": call.name or first.get("name"),
            "args": call.raw() or first.get("args"),
            "id": call.id or first.get("id"),
            "index": call.index if call.index is not None else first.get("index"),
            "type": "tool_call_chunk",
        }
        if call.extras:
            chunk["extras"] = call.extras
        merged.append(chunk)
    return merged


def marked_fragments(fragments: Any, invalid: Any) -> Any:
    """Return fragments of which those of calls known to be invalid say why.

    Dumps of a chunk hold its fragments and its invalid calls side by side; read back, a call that was
    given as invalid has to stay invalid.
    """
    if not isinstance(fragments, list) or not isinstance(invalid, list):
        return fragments
    broken: dict[Any, Any] = {}
    for call in invalid:
        if isinstance(call, dict) and isinstance(call.get("error"), str) and call["error"]:
            broken[str(call.get("id")), str(call.get("args"))] = call["error"]
    if not broken:
        return fragments
    marked: list[Any] = []
    for fragment in fragments:
        place = isinstance(fragment, dict) and (
            str(fragment.get("id")),
            str(fragment.get("args")),
        )
        marked.append({**fragment, "error": broken[place]} if place in broken else fragment)
    return marked


def _is_beginning(call: Call, data: bytes) -> bool:
    """Return whether the arguments are the beginning of an object that was cut off."""
    return _growing(call, data) is not None and (call.in_string or not data.rstrip().endswith(b"}"))


def _growing(call: Call, data: bytes) -> dict[str, Any] | None:
    """Return the arguments as far as they have arrived, or None if they are no object."""
    try:
        value = parse_growing(data, call.in_string)
    except ValueError:
        return None
    if value.__class__ is dict:
        return value
    if isinstance(value, str):  # an object encoded twice, or the beginning of one
        return read_arguments(call.raw())[0]
    return None
