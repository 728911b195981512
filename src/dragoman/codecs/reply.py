"""The one assembler of replies: a response is a stream that arrived at once.

A codec tells a `Reply` what it read, in wire order; the reply gives `AIMessageChunk`s (`take` after
each event, `close` at the end). `decode_response` drives the same machine and takes `message()`, so
that the sum of a stream's chunks and the decoded response are the same message.

The content rule: plain text goes out as strings, unsigned reasoning into
`additional_kwargs["reasoning_content"]`, calls into `tool_call_chunks` numbered 0, 1, 2. As soon as
the reply holds any other block, a call with `extras` or (on ordered wires) text after a call, the
content is a list in wire order, in which every call stands once as a `tool_call` block. Blocks have
an index; text has none: in `+` a string that meets a list joins the text beside it.

Usage is told as totals so far; what goes out are increments, so that `+` only adds.
"""

from hashlib import blake2s
from typing import Any

from dragoman.codecs.arguments import Completeness, dump_arguments, read_arguments
from dragoman.messages import AIMessage, AIMessageChunk, message_chunk_to_message

__all__ = ["Reply", "join_surrogates"]


class _Call:
    """One call of the reply, as far as it has arrived."""

    __slots__ = ("args", "block", "extras", "id", "index", "name", "scan", "shown")

    def __init__(self, index: int) -> None:
        self.index = index
        self.id: str | None = None
        self.name: str | None = None
        self.args: list[str] = []
        self.extras: dict[str, Any] = {}
        self.scan: Completeness | None = None
        self.block: int | None = None  # the index of its content block, once that went out
        self.shown = False  # whether that block held the arguments

    def is_complete(self) -> bool:
        """Return whether the arguments so far are a whole JSON object; linear over all calls."""
        if self.scan is None:
            self.scan = Completeness()
        return self.scan.of(self.args)


class Reply:
    """A machine that turns what a wire says into chunks of one `AIMessage`.

    Args:
        provider: What `response_metadata["model_provider"]` says.
        api: The codec's name, for `response_metadata["api"]`.
        ordered: Whether the wire tells the order of text and calls. Where a message has one field
            for text and one for calls (chat completions, Ollama, Cohere) it does not, and text that
            streams after a call counts as before it.

    Attributes:
        id: The id of the message; set it before the first `take`.
        seed: Any text that differs between replies (a response id); invented call ids depend on it,
            so that they are stable for one reply and differ between replies.
        finish: The canonical finish reason so far, or None.
    """

    def __init__(self, provider: str, *, api: str | None = None, ordered: bool = True) -> None:
        self.provider = provider
        self.ordered = ordered
        self.id: str | None = None
        self.seed = ""
        self.finish: str | None = None
        self.calls: list[_Call] = []
        self._open: dict[Any, _Call] = {}
        self._is_list = False
        self._n_blocks = 0
        self._blocks: dict[Any, tuple[int, str]] = {}
        self._runs: list[Any] = []  # each a text, or a list of blocks
        self._in_run: dict[int, dict[str, Any]] = {}  # the blocks of the last run, by index
        self._fragments: list[dict[str, Any]] = []
        self._reasoning: list[str] = []
        self._kwargs: dict[str, Any] = {}
        self._meta: dict[str, Any] = {"model_provider": provider}
        if api is not None:
            self._meta["api"] = api
        self._sent: dict[str, Any] = {}
        self._late: dict[str, Any] = {}
        self._usage: dict[str, Any] | None = None
        self._counted: dict[str, Any] | None = None
        self._halves: dict[Any, str] = {}
        self._pending_calls = False
        self._is_closed = False

    # ------------------------------------------------------------------ what the wire says

    def text(self, text: str) -> None:
        """Add plain answer text."""
        text = self._whole("text", text)
        if not text:
            return
        if self._pending_calls and self.ordered:
            self._is_list = True
            self._show_calls()
        runs = self._runs
        if runs and isinstance(runs[-1], str):
            runs[-1] += text
        else:
            runs.append(text)

    def annotate(self, **fields: Any) -> None:
        """Add fields (`annotations`, `extras`) to the plain text so far; content becomes a list."""
        given = {k: v for k, v in fields.items() if v}
        if given:
            self._is_list = True
            self._runs.append([{"type": "text", "text": "", **given}])

    def reasoning(self, text: str) -> None:
        """Add unsigned reasoning; signed or encrypted reasoning is a `block`."""
        text = self._whole("reasoning", text)
        if text:
            self._reasoning.append(text)

    def block(self, key: Any, block: dict[str, Any]) -> None:
        """Start, continue or give whole a content block of its own.

        Args:
            key: The codec's own name of the block while it is open (its wire index); None for a
                block that comes whole. The first mention of a key starts the block.
            block: With its `type` at the start; later the fields to add: strings are appended,
                lists extended, dicts merged, as `+` does it. The machine adds type and index.
        """
        known = None if key is None else self._blocks.get(key)
        if known is None:
            self._is_list = True
            if self.ordered and self._pending_calls:
                self._show_calls()
            known = (self._n_blocks, block["type"])
            self._n_blocks += 1
            if key is not None:
                self._blocks[key] = known
        self._push({**self._mend(key, block), "type": known[1], "index": known[0]})

    def has_block(self, key: Any) -> bool:
        """Return whether the block with this key has been started."""
        return key in self._blocks

    def forget_block(self, key: Any) -> None:
        """Close the block with this key: the next mention starts another one."""
        for half in [h for h in self._halves if isinstance(h, tuple) and h[0] == key]:
            del self._halves[half]
            self.block(key, {half[1]: "\ufffd"})
        self._blocks.pop(key, None)

    def call(
        self,
        key: Any,
        *,
        id: str | None = None,
        name: str | None = None,
        args: Any = None,
        extras: dict[str, Any] | None = None,
    ) -> None:
        """Add a fragment of a tool call, or a whole one.

        Args:
            key: The wire's index of the call; None where there is none.
            id: The call's id; "" and None mean absent.
            name: The whole name; repeats are ignored, a different one opens a call.
            args: A fragment of the JSON text, or the whole value (a dict).
            extras: What the provider adds to the call (signature, item id ...).
        """
        call = self._find_call(key, id or None, name or None)
        fragment = _fragment(call.index)
        if name and call.name is None:
            call.name = fragment["name"] = name
        if id and call.id is None:
            call.id = fragment["id"] = id
        if args is not None:
            text = args if isinstance(args, str) else dump_arguments(args)
            text = self._whole(("args", call.index), text)
            call.args.append(text)
            fragment["args"] = text
        if extras:
            self._is_list = True
            _merge(call.extras, extras)
            if call.block is not None:
                self._push({"type": "tool_call", "index": call.block, "extras": extras})
        self._fragments.append(fragment)

    def meta(self, /, **fields: Any) -> None:
        """Add fields of `response_metadata`; None is left out, an equal repeat is not sent again."""
        for key, value in fields.items():
            if value is not None and (key not in self._sent or self._sent[key] != value):
                self._meta[key] = self._sent[key] = value

    def late(self, /, **fields: Any) -> None:
        """Set fields of `response_metadata` that go out once, at the end; the last one wins."""
        self._late.update((k, v) for k, v in fields.items() if v is not None)

    def grow(self, /, **fields: Any) -> None:
        """Add to fields of `response_metadata` that accumulate: lists are extended."""
        _merge(self._meta, fields)

    def kwargs(self, /, **fields: Any) -> None:
        """Add fields of `additional_kwargs`, merged as `+` does it."""
        _merge(self._kwargs, fields)

    def finished(self, reason: str | None) -> None:
        """Set the canonical finish reason; the last one that is not None or "" wins."""
        if reason:
            self.finish = reason

    def usage(self, totals: dict[str, Any] | None) -> None:
        """Tell the usage so far (a `UsageMetadata` of totals, None where there is none)."""
        if totals is not None:
            self._usage = totals

    def add_usage(self, increment: dict[str, Any]) -> None:
        """Tell usage that comes on top of what was told before."""
        self._usage = _sum(self._usage or {}, increment)

    # ------------------------------------------------------------------ what goes out

    def take(self) -> list[AIMessageChunk]:
        """Return the chunks for everything told since the last `take`; none if nothing was."""
        if not (
            self._runs
            or self._fragments
            or self._reasoning
            or self._meta
            or self._kwargs
            or self._usage is not self._counted
        ):
            return []
        return self._make(None)

    def close(self) -> list[AIMessageChunk]:
        """Return the last chunks; the very last one has `chunk_position="last"`. Once only."""
        if self._is_closed:
            return []
        self._is_closed = True
        self._end_halves()
        for call in self.calls:
            if call.id is None:
                self._invent_id(call)
        if self._is_list:
            self._show_calls()
            for call in self.calls:
                if not call.shown and call.block is not None:
                    args = read_arguments("".join(call.args))
                    if args:
                        self._push({"type": "tool_call", "index": call.block, "args": args})
        self.meta(**self._late)
        if "model_name" not in self._sent:
            self._meta["model_name"] = None
        if self.finish is not None:
            self._meta["finish_reason"] = self.finish
        elif "finish_reason" not in self._meta:
            self._meta["finish_reason"] = None
        return self._make("last")

    @property
    def is_whole(self) -> bool:
        """Whether no half character is held back, so that text may go out past the machine."""
        return not self._halves

    def message(self) -> AIMessage:
        """Close the machine and return everything it was told as one message."""
        chunks = self.take() + self.close()
        whole = chunks[0] if len(chunks) == 1 else chunks[0] + chunks[1:]
        message = message_chunk_to_message(whole)
        assert isinstance(message, AIMessage)
        return message

    def _make(self, position: str | None) -> list[AIMessageChunk]:
        runs: list[Any] = self._runs or [""]
        self._runs = []
        chunks = [AIMessageChunk(content=run, id=self.id) for run in runs[:-1]]
        fields: dict[str, Any] = {}
        if self._fragments:
            fields["tool_call_chunks"] = self._fragments
            self._fragments = []
        if self._reasoning or self._kwargs:
            kwargs, self._kwargs = self._kwargs, {}
            if self._reasoning:
                kwargs["reasoning_content"] = "".join(self._reasoning)
                self._reasoning = []
            fields["additional_kwargs"] = kwargs
        if self._meta:
            fields["response_metadata"], self._meta = self._meta, {}
        if self._usage is not self._counted:
            increment = _difference(self._usage or {}, self._counted or {})
            if self._counted is None or _any_nonzero(increment):
                fields["usage_metadata"] = increment
            self._counted = self._usage
        if position:
            fields["chunk_position"] = position
        chunks.append(AIMessageChunk(content=runs[-1], id=self.id, **fields))
        return chunks

    def _push(self, block: dict[str, Any]) -> None:
        runs = self._runs
        last = runs[-1] if runs else None
        # An annotation block has no index and must meet the text string alone.
        if not isinstance(last, list) or "index" not in last[-1]:
            runs.append([block])
            self._in_run = {block["index"]: block}
            return
        known = self._in_run.get(block["index"])
        if known is None:
            last.append(block)
            self._in_run[block["index"]] = block
        else:
            _merge(known, {k: v for k, v in block.items() if k not in ("type", "index")})

    # ------------------------------------------------------------------ calls

    def _find_call(self, key: Any, id: str | None, name: str | None) -> _Call:
        """Return the call a fragment belongs to, by the rules of merging; maybe a new one.

        A fragment belongs to the open call with its key and a compatible id; without key, to its
        id; with neither, to the last call. A different id or name, or a start after complete
        arguments, opens a new call.
        """
        if isinstance(key, str) and key.isdecimal():
            key = int(key)
        call = self._candidate(key, id)
        if call is None or (id and call.id and id != call.id):
            return self._start_call(key)
        if name and call.name:
            if name != call.name:
                return self._start_call(key)
            if not (id and id == call.id) and call.is_complete():
                return self._start_call(key)
        return call

    def _candidate(self, key: Any, id: str | None) -> _Call | None:
        if key is not None:
            return self._open.get(key)
        if id is not None:
            match = next((c for c in reversed(self.calls) if c.id == id), None)
            if match is not None or not self.calls:
                return match
            last = self.calls[-1]
            return last if last.id is None and not last.is_complete() else None
        return self.calls[-1] if self.calls else None

    def _start_call(self, key: Any) -> _Call:
        call = _Call(len(self.calls))
        self.calls.append(call)
        self._pending_calls = True
        if key is not None:
            self._open[key] = call
        return call

    def _invent_id(self, call: _Call) -> None:
        text = f"{self.seed}\0{call.index}\0{call.name}"
        call.id = "call_" + blake2s(text.encode("utf-8", "replace"), digest_size=12).hexdigest()
        self._fragments.append(_fragment(call.index, id=call.id))

    def _show_calls(self) -> None:
        """Put the calls that have no content block yet into the content."""
        for call in self.calls:
            if call.block is not None:
                continue
            if call.id is None:
                self._invent_id(call)
            args = read_arguments("".join(call.args)) if call.is_complete() else None
            call.shown = args is not None
            call.block = self._n_blocks
            self._n_blocks += 1
            block: dict[str, Any] = {
                "type": "tool_call", "id": call.id, "name": call.name or "", "args": args or {},
                "index": call.block,
            }  # fmt: skip
            if call.extras:
                block["extras"] = dict(call.extras)
            self._push(block)
        self._pending_calls = False

    # ------------------------------------------------------------------ half surrogates

    def _whole(self, key: Any, text: str) -> str:
        """Return `text` with a half surrogate pair at its end held back for the next piece."""
        if key in self._halves:
            text = self._halves.pop(key) + text
            text = join_surrogates(text)
        if text and "\ud800" <= text[-1] <= "\udbff":
            self._halves[key] = text[-1]
            text = text[:-1]
        if not text.isascii() and _has_surrogate(text):
            text = join_surrogates(text)
        return text

    def _mend(self, key: Any, block: dict[str, Any]) -> dict[str, Any]:
        """Return `block` with its streamed strings mended in the same way."""
        for field in ("text", "reasoning", "refusal", "args"):
            value = block.get(field)
            if isinstance(value, str) and not value.isascii():
                whole = (
                    self._whole((key, field), value) if key is not None else join_surrogates(value)
                )
                block = {**block, field: whole}
            elif isinstance(value, str) and (key, field) in self._halves:
                block = {**block, field: self._whole((key, field), value)}
        return block

    def _end_halves(self) -> None:
        """Put U+FFFD where half a character was all that came."""
        halves, self._halves = self._halves, {}
        for key in halves:
            if key == "text":
                self.text("\ufffd")
            elif key == "reasoning":
                self.reasoning("\ufffd")
            elif key[0] == "args":
                self.calls[key[1]].args.append("\ufffd")
                self._fragments.append(_fragment(key[1], args="\ufffd"))
            else:
                self.block(key[0], {key[1]: "\ufffd"})


def _fragment(index: int, **fields: Any) -> dict[str, Any]:
    return {
        "type": "tool_call_chunk", "name": None, "args": None, "id": None, "index": index, **fields
    }  # fmt: skip


def join_surrogates(text: str) -> str:
    r"""Return `text` with surrogate pairs joined and lone halves replaced by U+FFFD.

    >>> join_surrogates("a\ud83d\ude00b\ud83d")
    'a😀b\ufffd'
    """
    if text.isascii() or not _has_surrogate(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _has_surrogate(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def _merge(into: dict[str, Any], fields: dict[str, Any]) -> None:
    """Merge as `+` merges dicts: strings and lists are appended, dicts merged, the rest replaced."""
    for key, value in fields.items():
        if value is None:
            continue
        old = into.get(key)
        if isinstance(old, str) and isinstance(value, str):
            into[key] = old + value
        elif isinstance(old, list) and isinstance(value, list):
            into[key] = [*old, *value]
        elif isinstance(old, dict) and isinstance(value, dict):
            merged: dict[str, Any] = dict(old)
            _merge(merged, value)
            into[key] = merged
        else:
            into[key] = value


def _sum(left: dict[str, Any], right: dict[str, Any]) -> dict[str, Any]:
    out: dict[str, Any] = dict(left)
    for key, value in right.items():
        old: Any = out.get(key)
        out[key] = _sum(old or {}, value) if isinstance(value, dict) else (old or 0) + value
    return out


def _difference(new: dict[str, Any], old: dict[str, Any]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for key in {**new, **old}:
        value: Any = new.get(key)
        if isinstance(value, dict) or isinstance(old.get(key), dict):
            inner = _difference(value or {}, old.get(key) or {})
            if inner:
                out[key] = inner
        else:
            out[key] = (value or 0) - (old.get(key) or 0)
    return out


def _any_nonzero(usage: dict[str, Any]) -> bool:
    return any(_any_nonzero(v) if isinstance(v, dict) else v for v in usage.values())
