"""One assistant message as the items it is made of.

What belongs together stays together: a reasoning item whose follower was taken out of the history is
left out, and items whose reasoning is gone lose their server ids, not their text. With `store: false`
nothing is on the server: reasoning without its content is left out, and messages are sent without ids.
Sources: OpenAI answers 400 "was provided without its required following item", 400 "without its required
reasoning item", 404 "Items are not persisted when `store` is set to false" (read 2026-11).
"""

from typing import Any

from dragoman.codecs.contract import Change
from dragoman.codecs.notes import note
from dragoman.codecs.openai_responses.items import write_call, write_reasoning, write_server
from dragoman.codecs.openai_responses.tables import API, Dialect
from dragoman.codecs.openai_responses.wire import rest_of, write_part
from dragoman.codecs.origin import foreign_value, is_from, provider_of
from dragoman.codecs.pairing import UNNAMED, WireIds
from dragoman.codecs.shapes import as_dict, as_dicts, as_int, as_list, as_str
from dragoman.codecs.turns import blocks_of
from dragoman.errors import short
from dragoman.messages import AIMessage

__all__ = ["TurnWriter"]

_CALLS = ("tool_call", "invalid_tool_call")


class TurnWriter:
    """Writes assistant messages; one object an encoded request.

    Args:
        dialect: The provider's row.
        store: The request's `store`; False if nothing is kept on the server.
        changes: Receives what was left out.

    Attributes:
        kinds: The wire id of every call so far -> the type of its item.
        ids: The mapping of call ids.
    """

    def __init__(self, dialect: Dialect, store: Any, changes: list[Change] | None) -> None:
        self.dialect = dialect
        self.stateless: bool = store is False
        self.changes = changes
        self.kinds: dict[str, str] = {}
        # 400 "string too long. Expected a string with maximum length 64" for longer ids.
        self.ids: WireIds = WireIds(max_length=64, prefix="call_")

    def write(self, message: AIMessage, path: str) -> list[dict[str, Any]]:
        """Return the items of one message."""
        return _Turn(self, message, path).write()


class _Turn:
    def __init__(self, writer: TurnWriter, message: AIMessage, path: str) -> None:
        self.writer = writer
        self.path = path
        self.message = message
        self.is_own = is_from(message, writer.dialect.provider, API)
        self.has_origin = provider_of(message) is not None
        self.items: list[dict[str, Any]] = []
        self.blocks = blocks_of(message)
        self.present = self._ids()
        bag = as_dict(message.additional_kwargs.get(API)) if self.is_own else {}
        self.entries = as_dicts(bag.get("items"))
        self.used: set[int] = set()
        self.plain = self._plain_reasoning()
        self.gone: set[int] = set()  # places of reasoning entries that are not sent
        self.kept: set[str] = set()  # ids of reasoning blocks that are sent
        self.orphans: set[str | None] = set()  # ids of items whose plain reasoning is gone
        self.part_of: dict[str, Any] | None = None  # the message item that parts go into
        self.part_id: Any = None

    # ------------------------------------------------------------------ the walk

    def write(self) -> list[dict[str, Any]]:
        self._choose_reasoning()
        results = {
            str(b.get("tool_call_id")): b
            for b in self.blocks
            if b.get("type") == "server_tool_result" and "item_type" not in as_dict(b.get("extras"))
        }
        at = 0
        while at < len(self.blocks):
            block = self.blocks[at]
            kind = block.get("type")
            where = f"{self.path}.content[{at}]"
            if kind == "reasoning":
                group = self._group(at)
                self._reasoning(group, where)
                at += len(group)
                continue
            at += 1
            if kind in _CALLS:
                self._call(block)
            elif kind == "server_tool_call":
                self._server(block, results.pop(str(block.get("id")), None), where)
            elif kind == "server_tool_result":
                self._result(block, where)
            elif kind == "image" and as_dict(block.get("extras")).get("item_type"):
                self._image(block, where)
            elif kind == "non_standard" and not block.get("part"):
                self._non_standard(block, where)
            else:
                self._part(block, where)
        self._rest_of_entries()
        return self.items

    def _drop(self, where: str, what: str, *, lossy: bool = True) -> None:
        code = "dropped_reasoning" if what.startswith("reasoning") else "dropped_block"
        note(self.writer.changes, where, code, f"{what} is left out", lossy=lossy)

    def _add(self, item: dict[str, Any]) -> None:
        self.part_of = None
        self.items.append(item)

    # ------------------------------------------------------------------ reasoning

    def _plain_reasoning(self) -> str | None:
        """Return unsigned reasoning, and take the block that shows it out of the blocks."""
        text = as_str(self.message.additional_kwargs.get("reasoning_content"))
        first = self.blocks[0] if self.blocks else {}
        shown = {"type": "reasoning", "reasoning": text}
        if text is not None and {k: v for k, v in first.items() if k != "index"} == shown:
            self.blocks = self.blocks[1:]
            return text
        return None if any(b.get("type") == "reasoning" for b in self.blocks) else text

    def _choose_reasoning(self) -> None:
        """Decide which reasoning is sent, before its followers ask."""
        bare = [n for n, e in enumerate(self.entries) if e.get("type") == "reasoning"]
        for n in bare:
            entry = self.entries[n]
            n_chars = sum(
                as_int(k) or 0 for f in ("summary", "content") for k in as_list(entry.get(f))
            )
            is_cut = n_chars > 0 and self.plain is None
            if is_cut or (self.writer.stateless and not as_list(entry.get("content"))):
                self.gone.add(n)
                if not is_cut:
                    self._drop(self.path, "reasoning that is kept on no server", lossy=False)
        self.orphans = {as_str(self.entries[n].get("next_item")) for n in self.gone}
        if self.plain is not None and not bare:
            if self.is_own and self.writer.dialect.plain_reasoning:
                parts = [{"type": "reasoning_text", "text": self.plain}]
                self.items.append({"type": "reasoning", "summary": [], "content": parts})
            else:
                self._drop(self.path, "reasoning of another kind")
        for at, block in enumerate(self.blocks):
            if block.get("type") != "reasoning" or not isinstance(id := block.get("id"), str):
                continue
            if self._is_sent(block, self._group(at)):
                self.kept.add(id)

    def _ids(self) -> set[str]:
        """Return the ids of everything that stands in the message."""
        found: list[Any] = []
        for block in self.blocks:
            value = as_dict(block.get("value"))
            item_id = as_dict(block.get("extras")).get("item_id")
            found += [block.get("id"), item_id, value.get("id"), value.get("call_id")]
        return {id for id in found if isinstance(id, str)}

    def _group(self, at: int) -> list[dict[str, Any]]:
        """Return the blocks of the reasoning item that starts at `at`."""
        first = self.blocks[at]
        group = [first]
        for block in self.blocks[at + 1 :]:
            extras = as_dict(block.get("extras"))
            if block.get("type") != "reasoning" or "encrypted_content" in extras:
                break
            is_same = isinstance(block.get("id"), str) and block.get("id") == first.get("id")
            if not is_same and not (extras.get("continues") and "id" not in block):
                break
            group.append(block)
        return group

    def _is_sent(self, first: dict[str, Any], group: list[dict[str, Any]]) -> bool:
        """Return whether the reasoning item of these blocks may be sent."""
        extras = as_dict(first.get("extras"))
        if not self.is_own:
            return False
        follower = extras.get("next_item")
        if isinstance(follower, str) and follower not in self.present:
            return False
        if extras.get("encrypted_content") or isinstance(first.get("summary"), list):
            return True
        has_content = any(as_dict(b.get("extras")).get("kind") for b in group)
        if has_content and self.writer.dialect.plain_reasoning:
            return True
        if isinstance(id := first.get("id"), str) and not id.startswith("lc_"):
            return not self.writer.stateless and self.has_origin
        return self.writer.dialect.plain_reasoning and "signature" not in extras

    def _reasoning(self, group: list[dict[str, Any]], where: str) -> None:
        first = group[0]
        if not self._is_sent(first, group):
            text = any(b.get("reasoning") for b in group)
            self._drop(where, "reasoning that may not be sent here", lossy=text)
        elif isinstance(first.get("summary"), list):
            self._add({k: v for k, v in first.items() if k not in ("index", "reasoning", "extras")})
        else:
            self._add(write_reasoning(group))

    def _entry_reasoning(self, n: int) -> dict[str, Any]:
        """Return the item of plain reasoning: its entry has the lengths, `reasoning_content` the text."""
        entry = self.entries[n]
        text = self.plain or ""
        item = {k: v for k, v in entry.items() if k not in ("summary", "content", "next_item")}
        places = self._lengths()
        total = sum(size for _, _, size in places) + 2 * max(len(places) - 1, 0)
        item["summary"] = []
        if total != len(text):  # it was edited: the first item has all of it
            first = places[0][0] if places else n
            if n == first and text:
                kind = places[0][1] if places else "summary"
                item.setdefault(kind, []).append(_part(kind, text))
            return item
        at = 0
        for place, field, size in places:
            if place == n:
                item.setdefault(field, []).append(_part(field, text[at : at + size]))
            at += size + 2
        if entry.get("content") == []:
            item["content"] = []
        return item

    def _lengths(self) -> list[tuple[int, str, int]]:
        return [
            (n, field, as_int(size) or 0)
            for n, entry in enumerate(self.entries)
            if entry.get("type") == "reasoning"
            for field in ("summary", "content")
            for size in as_list(entry.get(field))
        ]

    # ------------------------------------------------------------------ entries of plain items

    def _claim(self, kind: str, call_id: Any = None) -> tuple[int, dict[str, Any]] | None:
        """Return the next entry of this kind, after sending the reasoning that stands before it."""
        for n, entry in enumerate(self.entries):
            if n in self.used or entry.get("type") == "reasoning":
                continue
            if kind == "message" and entry.get("type") != "message":
                continue
            if kind == "call" and entry.get("call_id") != call_id:
                continue
            self.used.add(n)
            self._send_reasoning(n)
            return n, entry
        return None

    def _send_reasoning(self, end: int) -> None:
        """Send the plain reasoning before entry `end` that was not sent yet."""
        for n in range(end):
            if self.entries[n].get("type") == "reasoning" and n not in self.used:
                self.used.add(n)
                if n not in self.gone:
                    self._add(self._entry_reasoning(n))

    def _lead_to(self, *ids: Any) -> None:
        """Send the plain reasoning that led to an item with one of these ids."""
        for n, entry in enumerate(self.entries):
            if n not in self.used and entry.get("next_item") in (i for i in ids if i):
                self._send_reasoning(n + 1)

    def _rest_of_entries(self) -> None:
        """Send the reasoning that stood last; what led to something that is gone stays away."""
        for n, entry in enumerate(self.entries):
            if entry.get("type") != "reasoning" or n in self.used or n in self.gone:
                continue
            after = [e for e in self.entries[n + 1 :] if e.get("type") != "reasoning"]
            if after or "next_item" in entry:
                self._drop(self.path, "reasoning whose item is gone")
            else:
                self._add(self._entry_reasoning(n))

    def _fields(self, n: int, entry: dict[str, Any]) -> dict[str, Any]:
        """Return what an entry adds to its item; without the id if its reasoning is gone."""
        fields = rest_of(entry, "type", "call_id")
        before = [k for k in range(n) if self.entries[k].get("type") == "reasoning"]
        if before and before[-1] in self.gone:
            fields.pop("id", None)
        return fields

    # ------------------------------------------------------------------ messages

    def _part(self, block: dict[str, Any], where: str) -> None:
        part = write_part(block, where, changes=self.writer.changes, said_by_model=True)
        if part is None:
            return
        extras = as_dict(block.get("extras")) if self.is_own else {}
        own = as_dict(extras.get(API))
        if "item" in own:
            part = {k: v for k, v in part.items() if k != "item"}
        if not self.is_own and part.get("type") == "output_text":
            part = {"type": "output_text", "text": part["text"], "annotations": part["annotations"]}
        id = block.get("id") if self.is_own else None
        id = None if isinstance(id, str) and id.startswith("lc_") else id
        is_new = self.part_of is None or bool(extras.get("new_item"))
        if not is_new and id is not None and self.part_id is not None and id != self.part_id:
            is_new = True
        if is_new:
            self._start_message(id, extras, own)
        assert self.part_of is not None
        self.part_of["content"].append(part)

    def _start_message(self, id: Any, extras: dict[str, Any], own: dict[str, Any]) -> None:
        fields: dict[str, Any] = {}
        self._lead_to(id)
        if id is None and "status" not in extras and (claimed := self._claim("message")):
            fields = self._fields(*claimed)
            id = fields.get("id")
            if self.writer.stateless:
                fields.pop("id", None)
        else:
            fields = {k: extras[k] for k in ("status", "phase") if k in extras}
            thought = extras.get("reasoning_item")
            is_led = isinstance(thought, str) and thought not in self.kept
            if isinstance(id, str) and not is_led and id not in self.orphans:
                fields["id"] = id
            given = as_dict(own.get("item"))
            if is_led or id in self.orphans:
                given = {k: v for k, v in given.items() if k != "id"}
            if self.writer.stateless:
                fields.pop("id", None)
            fields.update(given)
        item: dict[str, Any] = {"type": "message", "role": "assistant", **fields, "content": []}
        self._add(item)
        self.part_of, self.part_id = item, id

    # ------------------------------------------------------------------ calls

    def _call(self, block: dict[str, Any]) -> None:
        own_id = as_str(block.get("id"))
        extras = as_dict(block.get("extras")) if self.is_own else {}
        extras = {k: v for k, v in extras.items() if k != "reasoning_item"}
        thought = as_dict(block.get("extras")).get("reasoning_item")
        if (isinstance(thought, str) and thought not in self.kept) or own_id in self.orphans:
            extras.pop("item_id", None)
        self._lead_to(own_id)
        claimed = self._claim("call", own_id) if own_id else None
        if claimed is not None:
            fields = self._fields(*claimed)
            if "id" in fields:
                fields["item_id"] = fields.pop("id")
            extras = {**fields, **extras}
        if not self.has_origin:
            known = {"item_type", "item_id", "namespace", "arguments", "status"}
            extras = {k: v for k, v in extras.items() if k in known}
        wire_id = self.writer.ids.call(own_id)
        args = block.get("args")
        if block["type"] == "invalid_tool_call":
            args = args if isinstance(args, str) else ""
        named = {"id": wire_id, "name": block.get("name") or UNNAMED}
        item = write_call(named, args, extras)
        self.writer.kinds[wire_id] = item["type"]
        self._add(item)

    # ------------------------------------------------------------------ tools of the provider

    def _server(self, block: dict[str, Any], result: dict[str, Any] | None, where: str) -> None:
        item = write_server(block, result) if self.is_own else None
        if item is None:
            self._drop(where, f"a call of the server tool {short(block.get('name'))}")
        else:
            self._lead_to(item.get("id"))
            self._add(item)

    def _result(self, block: dict[str, Any], where: str) -> None:
        extras = as_dict(block.get("extras"))
        if self.is_own and extras.get("item_type") == "tool_search_output":
            output = as_dict(block.get("output"))
            rest = {k: v for k, v in extras.items() if k != "item_type"}
            self._add({"type": "tool_search_output", "id": block.get("id"), **output, **rest})
        elif not self.is_own:
            self._drop(where, "the result of a server tool")

    def _image(self, block: dict[str, Any], where: str) -> None:
        extras = as_dict(block.get("extras"))
        if self.is_own and extras["item_type"] == "image_generation_call":
            rest = {k: v for k, v in extras.items() if k != "item_type"}
            self._lead_to(block.get("id"))
            given = {"type": "image_generation_call", "id": block.get("id")}
            self._add({**given, "result": block.get("base64"), **rest})
        else:
            self._drop(where, "an image the model made")

    def _non_standard(self, block: dict[str, Any], where: str) -> None:
        value = foreign_value(block, API)
        kind = None if value is None else value.get("type")
        if value is None or ("api" not in block and not _is_item(kind)):
            self._drop(where, f"a block of kind {short(as_dict(block.get('value')).get('type'))}")
        elif block.get("api") == API and not self.is_own:
            self._drop(where, "an item of another provider")
        else:
            self._lead_to(value.get("call_id"), value.get("id"))
            if isinstance(id := value.get("call_id"), str) and isinstance(kind, str):
                self.writer.kinds[id] = kind
            self._add(value)


def _is_item(kind: Any) -> bool:
    return isinstance(kind, str) and kind.endswith(("_call", "_output", "_list_tools", "_request", "compaction", "item_reference"))  # fmt: skip


def _part(field: str, text: str) -> dict[str, Any]:
    return {"type": "summary_text" if field == "summary" else "reasoning_text", "text": text}
