"""Addition of content and of metadata, over any number of pieces at once.

Content: strings concatenate; a non-empty string that meets a list becomes a text block in its
place, joined to a neighbouring text block without index; `""` and `[]` change nothing; blocks
merge only if index and type agree (and no two different ids meet). Nothing is dropped.

Metadata: of scalars the last that is not None counts; dicts merge key by key; lists of indexed dicts
merge by index, other lists are joined; free text (`FREE_TEXT` keys: reasoning, refusals, arguments)
accumulates.

Every fold goes over its pieces once, from left to right, and changes none of them.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from dragoman.messages.fragments import fragment_index

__all__ = ["FREE_TEXT", "fold_content", "fold_metadata", "merge_content"]

Content = str | list[str | dict[str, Any]]

FREE_TEXT = frozenset(
    {
        "reasoning_content",
        "reasoning",
        "thinking",
        "refusal",
        "arguments",
        "transcript",
        "partial_json",
    }
)
"""Keys of `additional_kwargs` whose strings are pieces of a text."""

# Block keys whose strings come whole; every other string of a block is a piece of a text.
_WHOLE = frozenset(
    {
        "type",
        "id",
        "name",
        "tool_call_id",
        "mime_type",
        "file_id",
        "url",
        "title",
        "status",
        "language",
        "model",
        "tool_use_id",
        "call_id",
        "item_id",
        "media_type",
        "role",
        "phase",
        "server_label",
        "container",
        "format",
        "encoding",
    }
)


def merge_content(first: Content | None, *rest: Content) -> Content:
    """Return the contents joined; a None first one counts as "". No argument is changed.

    >>> merge_content("a", "b")
    'ab'
    >>> merge_content("a", [{"type": "text", "text": "b", "index": 0}])
    [{'type': 'text', 'text': 'a'}, {'type': 'text', 'text': 'b', 'index': 0}]
    """
    return fold_content(["" if first is None else first, *rest])


def fold_content(pieces: Sequence[Any]) -> Content:
    """Return the pieces of content joined, in one pass."""
    try:
        return "".join(pieces)
    except TypeError:
        given = [piece for piece in pieces if piece]
    if not given:
        return []
    if all(piece.__class__ is str for piece in given):
        return "".join(given)
    blocks = _Blocks()
    for piece in given:
        if piece.__class__ is str:
            blocks.add_text(piece)
        else:
            for position, item in enumerate(piece):
                if position == 0 and (text := _open_text(item)) is not None:
                    blocks.seam(item, text)
                else:
                    blocks.add(item)
    return blocks.joined()


def _open_text(item: Any) -> str | None:
    """Return the text of a string or of a text block without index, else None."""
    if item.__class__ is str:
        return item
    if item.__class__ is dict and item.get("type") == "text" and item.get("index") is None:
        text = item.get("text")
        return text if isinstance(text, str) else None
    return None


class _Blocks:
    """The blocks folded so far; texts are joined once, at the end."""

    def __init__(self) -> None:
        self.items: list[Any] = []
        self.open: dict[Any, int] = {}  # the first block of an index and type
        self.by_id: dict[Any, int] = {}  # the block of an index, type and id
        self.tail: list[str] | None = None  # the pieces of a bare text at the end
        self.pending: dict[int, dict[str, list[str]]] = {}
        self.owned: dict[int, Any] = {}

    def flush(self) -> None:
        if self.tail is not None and len(self.tail) > 1:
            text, last = "".join(self.tail), self.items[-1]
            self.items[-1] = text if last.__class__ is str else {**last, "text": text}
        self.tail = None

    def add_text(self, text: str) -> None:
        if not self.items or (self.tail is None and _open_text(self.items[-1]) is None):
            self.flush()
            self.items.append({"type": "text", "text": text})
            self.tail = [text]
        else:
            if self.tail is None:
                self.tail = [_open_text(self.items[-1]) or ""]
            self.tail.append(text)

    def seam(self, item: Any, text: str) -> None:
        """Add the first item of a list, which joins an open text in front of it."""
        last = self.items[-1] if self.items else None
        if last is None or _open_text(last) is None or not _same_id(last, item):
            self.add(item)
            return
        self.add_text(text)
        if item.__class__ is dict and len(item) > 2:
            self.flush()
            last = self.items[-1]
            left = {"type": "text", "text": last} if last.__class__ is str else last
            rest = {key: value for key, value in item.items() if key not in ("type", "text")}
            self.items[-1] = _merge_value(left, rest, text=False)

    def add(self, item: Any) -> None:
        self.flush()
        if item.__class__ is dict:
            index = fragment_index(item.get("index"))
            if index is not None:
                key, id_val = _hashable((index, item.get("type"))), item.get("id")
                at = self.open.setdefault(key, len(self.items))
                if at < len(self.items) and id_val and self.items[at].get("id"):
                    # only the first block may be without an id
                    at = self.by_id.get((key, _hashable(id_val)), len(self.items))
                if id_val:
                    self.by_id.setdefault((key, _hashable(id_val)), at)
                if at < len(self.items):
                    self.merge(at, item)
                    return
        self.items.append(item)

    def merge(self, at: int, item: dict[str, Any]) -> None:
        into = self.pending.get(at)
        if into is None:
            self.items[at] = dict(self.items[at])
            into = self.pending[at] = {}
        block = self.items[at]
        for key, value in item.items():
            if value is None or key in ("type", "index"):
                continue
            old = block.get(key)
            if old.__class__ is str and value.__class__ is str and key not in _WHOLE:
                if key in into:
                    into[key].append(value)
                else:
                    into[key] = [old, value]
            elif key in _WHOLE:
                if value != "":
                    block[key] = value
            else:
                block[key] = _merge_value(old, value, text=True, owned=self.owned)

    def joined(self) -> list[Any]:
        self.flush()
        for at, texts in self.pending.items():
            block = self.items[at]
            for key, pieces in texts.items():
                block[key] = "".join(pieces)
        return self.items


def _hashable(value: Any) -> Any:
    """Return a key for a value that may be anything."""
    try:
        hash(value)
    except TypeError:
        return repr(value)
    return value


def _same_id(left: Any, right: Any) -> bool:
    a: Any = left.get("id") if left.__class__ is dict else None
    b: Any = right.get("id") if right.__class__ is dict else None
    return not a or not b or a == b


def _merge_value(left: Any, right: Any, *, text: bool, owned: dict[int, Any] | None = None) -> Any:
    """Return two values of one key merged; strings are joined only if `text`.

    Args:
        left: What there is.
        right: What is added; not changed.
        text: Whether strings are pieces of a text.
        owned: Containers made by this fold, by their `id`: they are added to in place, so that a
            list that grows with every piece costs what is added. Others are copied first.
    """
    if right is None:
        return left
    if left is None:
        return right
    if left.__class__ is dict and right.__class__ is dict:
        merged = _own(left, owned)
        for key, value in right.items():
            piece = key in FREE_TEXT or (text and key not in _WHOLE)
            merged[key] = _merge_value(merged.get(key), value, text=piece, owned=owned)
        return merged
    if left.__class__ is list and right.__class__ is list:
        return _merge_lists(left, right, text=text, owned=owned)
    if text and isinstance(left, str) and isinstance(right, str):
        return left + right
    return right


def _own(container: Any, owned: dict[int, Any] | None) -> Any:
    """Return a container that may be changed: this one if this fold made it, else a copy."""
    if owned is None:
        return container.copy()
    if owned.get(id(container)) is container:
        return container
    made = container.copy()
    owned[id(made)] = made  # the reference also keeps its id from being used again
    return made


def _merge_lists(
    left: list[Any], right: list[Any], *, text: bool, owned: dict[int, Any] | None
) -> list[Any]:
    merged = _own(left, owned)
    for item in right:
        if item.__class__ is dict and fragment_index(item.get("index")) is not None:
            for at, other in enumerate(merged):
                if (
                    other.__class__ is dict
                    and fragment_index(other.get("index")) == fragment_index(item["index"])
                    and other.get("type", item.get("type")) == item.get("type", other.get("type"))
                    and _same_id(other, item)
                ):
                    merged[at] = _merge_value(other, item, text=text, owned=owned)
                    break
            else:
                merged.append(item)
        else:
            merged.append(item)
    return merged


def fold_metadata(pieces: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """Return dicts of metadata merged, in one pass over them.

    >>> fold_metadata([{"finish_reason": None}, {"finish_reason": "stop"}, {"finish_reason": None}])
    {'finish_reason': 'stop'}
    """
    merged: dict[str, Any] = {}
    owned: dict[int, Any] = {}
    texts: dict[str, list[Any]] = {}
    for piece in pieces:
        for key, value in piece.items():
            if value.__class__ is str and key in FREE_TEXT:
                old = merged.get(key)
                if key in texts:
                    texts[key].append(value)
                elif old.__class__ is str:
                    texts[key] = [old, value]
                else:
                    merged[key] = value
            elif key in merged:
                merged[key] = _merge_value(merged[key], value, text=False, owned=owned)
            else:
                merged[key] = value
    for key, parts in texts.items():
        merged[key] = "".join(parts)
    return merged
