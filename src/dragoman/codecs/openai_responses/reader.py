"""Reading the items of one reply, in pieces or whole, into a `Reply`.

Items are kept by `output_index`: they may interleave, and some never get their `done` event, so the
final `output` settles what is missing. Encrypted reasoning is provisional until the item is done.
What stays plain (text, calls, unsigned reasoning) leaves its ids in `additional_kwargs`.
"""

import json
from typing import Any

from dragoman.codecs.openai_responses.items import (
    call_extras,
    call_of,
    is_client_item,
    read_item,
    server_call,
    server_result,
)
from dragoman.codecs.openai_responses.tables import API, SERVER_ITEMS
from dragoman.codecs.openai_responses.wire import read_annotations, read_part, rest_of
from dragoman.codecs.reply import Reply
from dragoman.codecs.shapes import as_dict, as_dicts, as_list, as_str

__all__ = ["ItemReader"]


_CALLS = ("function_call", "custom_tool_call")


class _Item:
    """One item of the reply, as far as it has arrived."""

    __slots__ = (
        "encrypted", "entry", "is_done", "keyed", "n_cited", "plain", "raw", "sent", "stamped", "told",
    )  # fmt: skip

    def __init__(self, raw: dict[str, Any]) -> None:
        self.raw = raw
        self.sent: dict[Any, list[str]] = {}  # what was streamed of each part
        self.told: dict[str, Any] = {}  # extras that went out
        self.entry: dict[str, Any] | None = None  # what goes into `additional_kwargs`
        self.keyed: set[Any] = set()  # parts that are blocks of their own
        self.plain = False  # whether a message began with plain text, which bears no id
        self.stamped = False  # whether a block bears what the message says beside its parts
        self.n_cited: dict[int, int] = {}  # how many annotations of each part went out
        self.encrypted = False
        self.is_done = False


class ItemReader:
    """Tells a `Reply` the items of one response."""

    def __init__(self, reply: Reply) -> None:
        self.reply = reply
        self.items: dict[int, _Item] = {}
        self.is_rich: bool = False  # whether content is a list by now
        self.has_calls: bool = False
        self.has_refusal: bool = False
        self.waits: bool = False  # whether an approval is asked for
        self._tail: Any = None  # what the content ends with: the key of a plain text, or "block"
        self._thought: tuple[int, str] | None = None  # the last encrypted reasoning with an id
        self._call_at = -1  # the index of the last call
        self._last = -1
        self._n_thoughts = 0

    # ------------------------------------------------------------------ items

    def added(self, index: int, raw: dict[str, Any]) -> None:
        """Take the first sight of an item."""
        if index in self.items:
            return
        item = self.items[index] = _Item(raw)
        kind = raw.get("type")
        self._link(index, raw)
        self._last = index
        if kind == "reasoning":
            item.encrypted = bool(raw.get("encrypted_content"))
            if item.encrypted:
                self._block((index, 0), {"type": "reasoning", "reasoning": "", **_id(raw)})
                item.keyed.add(0)
                if isinstance(id := raw.get("id"), str):
                    self._thought = (index, id)
        elif kind in _CALLS:
            self._call_added(index, item)
        elif (block := server_call(raw)) is not None:
            self._block((index, "call"), block)
        else:
            self.has_calls = self.has_calls or is_client_item(raw)
            self.waits = self.waits or kind == "mcp_approval_request"

    def done(self, index: int, raw: dict[str, Any]) -> None:
        """Take a whole item; what was streamed of it is not told twice."""
        self.added(index, raw)
        item = self.items[index]
        if item.is_done:
            return
        item.is_done = True
        kind = raw.get("type")
        if kind == "message":
            self._message_done(index, item, raw)
        elif kind == "reasoning":
            self._reasoning_done(index, item, raw)
        elif kind in _CALLS:
            self._call_done(index, item, raw)
        elif self.reply.has_block((index, "call")) and as_str(raw.get("type")) in SERVER_ITEMS:
            self._server_done(index, raw)
        else:
            for block in read_item(raw):
                self._block(None, block)

    def finish(self, output: list[Any]) -> None:
        """Take the final list of items, and tell the ids of what stayed plain."""
        for index, raw in enumerate(output):
            if isinstance(raw, dict) and raw.get("role") in (None, "assistant"):
                self.done(index, raw)
        for index, item in self.items.items():
            if not item.is_done and item.raw.get("role") in (None, "assistant"):
                self.done(index, item.raw)
        entries = self._entries()
        if any(e.keys() - {"type", "call_id", "summary", "content", "status"} for e in entries):
            self.reply.kwargs(**{API: {"items": entries}})

    def _entries(self) -> list[dict[str, Any]]:
        """Return the entries of what stayed plain, in order; reasoning names a rich follower."""
        entries: list[dict[str, Any]] = []
        for _, item in sorted(self.items.items()):
            entry = item.entry
            last = entries[-1] if entries else {}
            if entry is None and last.get("type") == "reasoning" and "next_item" not in last:
                follower = as_str(item.raw.get("call_id")) or as_str(item.raw.get("id"))
                if follower is not None:
                    entries[-1] = {**last, "next_item": follower}
            if entry is not None:
                entries.append(entry)
        return entries

    def _link(self, index: int, raw: dict[str, Any]) -> None:
        """Tell the encrypted reasoning just before what it led to."""
        if self._thought is None or self._thought[0] != self._last or index in (self._last, -1):
            return
        follower = as_str(raw.get("call_id")) or as_str(raw.get("id"))
        if follower is not None:
            self._block((self._last, 0), {"extras": {"next_item": follower}})

    def _after(self) -> dict[str, Any]:
        return {} if self._thought is None else {"reasoning_item": self._thought[1]}

    def _block(self, key: Any, block: dict[str, Any]) -> None:
        if key is None or not self.reply.has_block(key):
            self._tail = "block"
        self.is_rich = True
        self.reply.block(key, block)

    # ------------------------------------------------------------------ messages

    def text(self, index: int, part: int, text: str) -> None:
        """Add a piece of an `output_text` part."""
        item = self._item(index, "message")
        item.sent.setdefault(part, []).append(text)
        key = (index, part)
        if not text:
            return
        tail = self._tail
        # A call that stands between two texts keeps them apart. Text that comes late for an item
        # before the call does not stand behind it.
        behind_call = index > self._call_at >= 0
        if isinstance(tail, tuple) and tail[0] < self._call_at < index:
            tail = "call"
        if part not in item.keyed and (tail == key or not isinstance(tail, tuple)):
            self.is_rich = self.is_rich or (behind_call and tail != key)
            self.reply.ordered = behind_call
            self.reply.text(text)
            self.reply.ordered = True
            self._tail = key
            if tail != key and not self.is_rich:
                item.plain = True
            elif tail != key:
                self.reply.annotate(**_id(item.raw), extras=self._stamp(item))
        elif part not in item.keyed:
            self._start_part(index, part, {"type": "text", "text": text})
        else:
            self._block(key, {"text": text})

    def _start_part(self, index: int, part: int, block: dict[str, Any]) -> None:
        """Start a part of a message as a block of its own."""
        item = self.items[index]
        item.keyed.add(part)
        extras = {**as_dict(block.get("extras")), **({} if item.plain else self._stamp(item))}
        given = {**block, **_id(item.raw)}
        self._block((index, part), {**given, "extras": extras} if extras else given)

    def _stamp(self, item: _Item) -> dict[str, Any]:
        """Return what the first block of a message says of the whole; nothing the second time."""
        if item.stamped:
            return {}
        item.stamped = True
        raw = item.raw
        rest = rest_of(raw, "type", "id", "role", "content", "status", "phase")
        extras: dict[str, Any] = {API: {"item": rest}} if rest else {}
        if raw.get("phase") is not None:
            extras["phase"] = raw["phase"]
        return {**extras, **self._after()}

    def annotation(self, index: int, part: int, raw: Any) -> None:
        """Add one annotation to the text of a part so far."""
        item = self._item(index, "message")
        item.n_cited[part] = item.n_cited.get(part, 0) + 1
        if annotations := read_annotations([raw]):
            self._annotate(index, part, {"annotations": annotations})

    def _annotate(self, index: int, part: int, fields: dict[str, Any]) -> None:
        item, key = self.items[index], (index, part)
        if part not in item.keyed and self._tail != key:
            # Something came in between, or there is no text: the fields have a block of their own.
            self._start_part(index, part, {"type": "text", "text": ""})
        if part in item.keyed:
            self._block(key, fields)
            return
        extras = {**self._stamp(item), **as_dict(fields.get("extras"))}
        item.plain = False
        self.is_rich = True
        self.reply.annotate(**{**fields, **_id(item.raw), "extras": extras})

    def refusal(self, index: int, part: int, text: str) -> None:
        """Add a piece of a `refusal` part."""
        item = self._item(index, "message")
        self.has_refusal = True
        item.sent.setdefault(part, []).append(text)
        if part in item.keyed:
            self._block((index, part), {"refusal": text})
        else:
            self._start_part(index, part, {"type": "refusal", "refusal": text})

    def _message_done(self, index: int, item: _Item, raw: dict[str, Any]) -> None:
        item.raw = {**item.raw, **rest_of(raw)}
        for n, part in enumerate(as_dicts(raw.get("content"))):
            kind = part.get("type")
            if kind == "output_text" and isinstance(part.get("text"), str):
                self._text_done(index, n, part)
            elif kind == "refusal" and isinstance(part.get("refusal"), str):
                rest = _remainder(item.sent.get(n), part["refusal"])
                if rest or n not in item.keyed:
                    self.refusal(index, n, rest)
            else:
                block = read_part(part)
                if block["type"] == "text":
                    self.text(index, n, _remainder(item.sent.get(n), block["text"]))
                elif n not in item.keyed:
                    self._start_part(index, n, block)
        if item.plain:
            item.entry = {"type": "message", **rest_of(item.raw, "type", "role", "content")}

    def _text_done(self, index: int, n: int, part: dict[str, Any]) -> None:
        item = self.items[index]
        rest = _remainder(item.sent.get(n), part["text"])
        if rest:
            self.text(index, n, rest)
        if isinstance(logprobs := part.get("logprobs"), list) and logprobs:
            self.reply.late(logprobs={"content": logprobs})
        cited = as_dicts(part.get("annotations"))[item.n_cited.get(n, 0) :]
        unknown = rest_of(part, "type", "text", "annotations", "logprobs")
        fields: dict[str, Any] = {"annotations": read_annotations(cited)} if cited else {}
        if unknown:
            fields["extras"] = {API: unknown}
        if fields:
            self._annotate(index, n, fields)

    # ------------------------------------------------------------------ reasoning

    def thought(self, index: int, part: tuple[str, int], text: str) -> None:
        """Add a piece of reasoning; `part` is `("summary" | "content", n)`."""
        item = self._item(index, "reasoning")
        is_new = part not in item.sent
        item.sent.setdefault(part, []).append(text)
        if not item.encrypted:
            if is_new and self._n_thoughts:
                self.reply.reasoning("\n\n")
            self._n_thoughts += is_new
            self.reply.reasoning(text)
            return
        position = list(item.sent).index(part)
        block: dict[str, Any] = {"reasoning": text}
        if position not in item.keyed:
            item.keyed.add(position)
            block = {"type": "reasoning", **block, **_id(item.raw)}
            if "id" not in block:
                block["extras"] = {"continues": True}
        if is_new and part[0] == "content":
            block["extras"] = {**block.get("extras", {}), "kind": "reasoning_text"}
        self._block((index, position), block)

    def _reasoning_done(self, index: int, item: _Item, raw: dict[str, Any]) -> None:
        if raw.get("encrypted_content") and not item.encrypted:
            # The first event did not tell that it would be encrypted: a block has all of it.
            item.encrypted, item.sent = True, {}
            for block in read_item(raw):
                self._block(None, block)
            if isinstance(id := raw.get("id"), str):
                self._thought = (-2, id)
            return
        item.raw = {**item.raw, **_id(raw)}
        lengths: dict[str, list[int]] = {}
        for field in ("summary", "content"):
            for n, part in enumerate(as_list(raw.get(field))):
                text = as_dict(part).get("text")
                if isinstance(text, str):
                    key = (field, n)
                    rest = _remainder(item.sent.get(key), text)
                    if rest or key not in item.sent:
                        self.thought(index, key, rest)
                    lengths.setdefault(field, []).append(len(text))
        rest = rest_of(raw, "type", "id", "summary", "content")
        if raw.get("content") == [] and raw.get("content") is not None:
            rest["content"] = []
        if item.encrypted:
            if not item.sent:
                rest["n_parts"] = 0
            self._block((index, 0), {"extras": rest})
        else:
            item.entry = {"type": "reasoning", **_id(raw), **rest, **lengths}

    # ------------------------------------------------------------------ calls

    def _call_added(self, index: int, item: _Item) -> None:
        self.has_calls = True
        raw = item.raw
        extras = call_extras(raw)
        for provisional in ("status", "arguments"):
            extras.pop(provisional, None)
        is_plain = not self.is_rich and not extras.keys() - {"item_id"}
        if is_plain:
            extras = {}
        else:
            self.is_rich = True
            extras.update(self._after())
        item.told = extras
        self._call_at = index
        name = as_str(raw.get("name"))
        id = as_str(raw.get("call_id")) or as_str(raw.get("id"))
        self.reply.call(index, id=id, name=name, extras=extras or None)

    def arguments(self, index: int, text: str) -> None:
        """Add a piece of the arguments of a function call, as JSON text."""
        item = self._item(index, "function_call")
        if item.raw.get("type") == "function_call":
            item.sent.setdefault("args", []).append(text)
            self.reply.call(index, args=text)

    def custom_input(self, index: int, text: str) -> None:
        """Add a piece of the input of a custom call: the one string argument of its tool."""
        item = self._item(index, "custom_tool_call")
        if item.raw.get("type") != "custom_tool_call":
            return
        start = '{"__arg1":"' if "input" not in item.sent else ""
        item.sent.setdefault("input", []).append(text)
        self.reply.call(index, args=start + json.dumps(text, ensure_ascii=False)[1:-1])

    def _call_done(self, index: int, item: _Item, raw: dict[str, Any]) -> None:
        call = call_of(raw)
        args: Any = None
        if raw.get("type") == "function_call":
            args = raw.get("arguments")
            if isinstance(args, str) or item.sent:
                args = _remainder(item.sent.get("args"), args if isinstance(args, str) else "")
        elif "input" in item.sent and isinstance(raw.get("input"), str):
            rest = _remainder(item.sent["input"], raw["input"])
            args = json.dumps(rest, ensure_ascii=False)[1:-1] + '"}'
        elif call is not None:
            args = call["args"]
        extras = call_extras(raw)
        if extras.get("status") == "completed":
            del extras["status"]
        if item.told:
            new = {k: v for k, v in extras.items() if k not in item.told}
        else:
            new = {k: v for k, v in extras.items() if k not in ("item_id", "status", "arguments")}
            entry = {"type": "function_call", **rest_of(raw, "type", "name")}
            if "arguments" not in extras:
                entry.pop("arguments", None)
            item.entry = entry
        self.is_rich = self.is_rich or bool(new)
        if args or new:
            self.reply.call(index, args=args, extras=new or None)

    # ------------------------------------------------------------------ tools of the provider

    def _server_done(self, index: int, raw: dict[str, Any]) -> None:
        blocks = read_item(raw)
        if blocks[0]["type"] == "server_tool_call":
            call = server_result(raw, part="call")
            self._block((index, "call"), call)
            for block in blocks[1:]:
                self._block(None, block)
        else:  # the fields do not say it all: the item itself goes along
            extras = {"item_type": raw.get("type"), "item": raw}
            self._block((index, "call"), {"extras": extras})

    def _item(self, index: int, kind: str) -> _Item:
        """Return an item; one whose first event did not come is made up."""
        if index not in self.items:
            self.added(index, {"type": kind})
        return self.items[index]


def _id(raw: dict[str, Any]) -> dict[str, Any]:
    return {"id": raw["id"]} if isinstance(raw.get("id"), str) and raw["id"] else {}


def _remainder(sent: list[str] | None, whole: str) -> str:
    """Return what of `whole` was not streamed; nothing if the stream told something else."""
    if not sent:
        return whole
    so_far = "".join(sent)
    return whole[len(so_far) :] if whole.startswith(so_far) else ""
