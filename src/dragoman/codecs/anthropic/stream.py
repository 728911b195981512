"""Anthropic's event stream -> chunks, and chunks -> events.

`Reading` tells the shared reply machine what the wire says; `StreamDecoder` drives it event by
event, `decode_response` with a whole body. `StreamEncoder` is the server side.

Usage numbers of `message_delta` are totals that replace those of `message_start`, field by field.
Source: https://docs.anthropic.com/en/docs/build-with-claude/streaming, read 2026-11.
"""

from typing import Any

from dragoman.codecs.anthropic.decode import API, decode_block, read_usage
from dragoman.codecs.anthropic.tables import FINISH, Dialect
from dragoman.codecs.anthropic.wire import read_citation
from dragoman.codecs.arguments import read_arguments
from dragoman.codecs.reply import Reply
from dragoman.codecs.shapes import as_dict, as_dicts, as_str, parse_event, require_dict
from dragoman.codecs.wire_errors import wire_error
from dragoman.errors import DecodeError
from dragoman.messages import AIMessage, AIMessageChunk

__all__ = ["StreamDecoder", "decode_response"]

# Fields of the message that are not kept: they say what canonical fields say, or nothing.
_SILENT = {"type", "role", "content", "id", "model", "usage"}


class _Open:
    """A content block between its start and its stop."""

    __slots__ = ("given", "json", "kind")

    def __init__(self, kind: str, given: dict[str, Any]) -> None:
        self.kind = kind  # "text", "call", or the type of the standard block
        self.given = given  # `input` of the start event, sent by some servers in place of deltas
        self.json: list[str] = []


class Reading:
    """What the wire says, told to the reply machine.

    Attributes:
        reply: The machine.
        done: Whether the end of the message has been seen.
    """

    def __init__(self, provider: str, dialect: Dialect) -> None:
        self.provider = provider
        self.reply: Reply = Reply(provider, api=API)
        self._dialect = dialect
        self.done = False
        self._open: dict[Any, _Open] = {}
        self._usage: dict[str, Any] = {}

    def start(self, message: dict[str, Any]) -> None:
        """Read the envelope of a message (its content apart)."""
        self.reply.id = as_str(message.get("id"))
        self.reply.seed = self.reply.id or ""
        model = as_str(message.get("model"))
        self.reply.meta(model=model, model_name=model, id=self.reply.id)
        self.fields({k: v for k, v in message.items() if k not in _SILENT})
        self.usage(as_dict(message.get("usage")))

    def fields(self, fields: dict[str, Any]) -> None:
        """Read the fields that tell how the message ended."""
        reason = as_str(fields.get("stop_reason"))
        self.reply.finished(FINISH.get(reason, reason) if reason else None)
        self.reply.late(**fields)

    def usage(self, usage: dict[str, Any]) -> None:
        """Read a `usage` object; what it says replaces what was said before."""
        known = {k: v for k, v in usage.items() if v is not None}
        if known:
            self._usage = {**self._usage, **known}
            self.reply.usage(read_usage(self._usage))
            self.reply.late(usage=self._usage)

    def whole_block(self, key: Any, block: Any, path: str) -> None:
        """Read a complete content block."""
        self.block_start(key, block, path, is_whole=True)
        self.block_stop(key)

    def block_start(self, key: Any, block: Any, path: str, *, is_whole: bool = False) -> None:
        """Read the start of a content block; its stop has to follow."""
        found = decode_block(block, path)
        kind = found["type"]
        if kind == "tool_call":
            self._open[key] = _Open("call", as_dict(block.get("input")))
            raw = None if isinstance(block.get("input"), dict) else block.get("input")
            self.reply.call(
                key, id=found["id"], name=found["name"], args=raw, extras=found.get("extras")
            )
        elif kind == "text" and len(found) == 2 and not isinstance(_citations(block), list):
            self._open[key] = _Open("text", {})
            self.reply.text(found["text"])
        elif kind == "reasoning" and len(found) == 2 and self._is_unsigned(found):
            self._open[key] = _Open("unsigned", {})
            self.reply.reasoning(found["reasoning"])
        else:
            given: dict[str, Any] = {}
            if kind == "server_tool_call" and not is_whole:
                # Some servers send the input here and no deltas: it counts if none come.
                given, found = found["args"], {**found, "args": {}}
            self._open[key] = _Open(kind, given)
            self.reply.block(("block", key), found)

    def _is_unsigned(self, block: dict[str, Any]) -> bool:
        """Return whether a thinking block without a signature will not get one.

        Anthropic's blocks begin empty and end with a signature; one that begins with its text, or
        comes whole, has none.
        """
        return bool(block["reasoning"]) or not self._dialect.waits

    def block_delta(self, key: Any, delta: dict[str, Any]) -> None:
        """Read a piece of the content block `key`."""
        kind = delta.get("type")
        if key not in self._open:
            # A delta without a start: the kind of the delta tells what block it is.
            self._open[key] = _Open("text" if kind == "text_delta" else "reasoning", {})
            if kind != "text_delta":
                self.reply.block(("block", key), {"type": "reasoning", "reasoning": ""})
        block = self._open[key]
        if kind == "text_delta":
            self._add_text(key, block, as_str(delta.get("text")))
        elif kind == "input_json_delta":
            self._add_json(key, block, as_str(delta.get("partial_json")))
        elif kind == "thinking_delta":
            text = as_str(delta.get("thinking"))
            if block.kind == "unsigned":
                self.reply.reasoning(text or "")
            else:
                self._add(key, block, {"reasoning": text})
        elif kind == "signature_delta":
            signature = as_str(delta.get("signature"))
            if block.kind == "unsigned" and signature:
                block.kind = "reasoning"
                self.reply.block(("block", key), {"type": "reasoning", "reasoning": ""})
            self._add(key, block, {"extras": {"signature": signature} if signature else None})
        elif kind == "citations_delta":
            self._add_citation(key, block, delta.get("citation"))
        elif block.kind == "non_standard":
            self._add(key, block, {"value": {k: v for k, v in delta.items() if k != "type"}})

    def _add(self, key: Any, block: _Open, fields: dict[str, Any]) -> None:
        """Add to a block of its own; pieces that do not fit the block are not understood."""
        fields = {k: v for k, v in fields.items() if v is not None}
        fits = {"reasoning": "reasoning", "extras": "reasoning", "value": "non_standard"}
        if fields and all(fits[k] == block.kind for k in fields):
            self.reply.block(("block", key), fields)

    def _add_text(self, key: Any, block: _Open, text: str | None) -> None:
        if text is None:
            return
        if block.kind == "text" and self.reply.has_block(("block", key)):
            self.reply.block(("block", key), {"text": text})
        else:
            self.reply.text(text)

    def _add_json(self, key: Any, block: _Open, text: str | None) -> None:
        if text is None:
            return
        if block.kind == "call":
            self.reply.call(key, args=text)
        block.json.append(text)

    def _add_citation(self, key: Any, block: _Open, citation: Any) -> None:
        if citation is None or block.kind != "text":
            return
        note = read_citation(citation)
        if self.reply.has_block(("block", key)):
            self.reply.block(("block", key), {"annotations": [note]})
        else:
            self.reply.annotate(annotations=[note])

    def block_stop(self, key: Any) -> None:
        """Read the end of a content block."""
        block = self._open.pop(key, None)
        if block is None:
            return
        text = "".join(block.json)
        if block.kind == "call" and not text and block.given:
            self.reply.call(key, args=block.given)
        elif block.kind == "server_tool_call":
            args = read_arguments(text) if text else block.given
            if args is None:
                self.reply.block(("block", key), {"extras": {"arguments": text}})
            elif args:
                self.reply.block(("block", key), {"args": args})
        self.reply.forget_block(("block", key))

    def end(self) -> None:
        """Read the end of the message: blocks that were not stopped end here."""
        for key in list(self._open):
            self.block_stop(key)


def _citations(block: Any) -> Any:
    return block.get("citations") if isinstance(block, dict) else None


def decode_response(body: Any, provider: str, dialect: Dialect) -> AIMessage:
    """Return a whole reply as a message.

    Raises:
        DecodeError: If it is not a message.
        ModelError: If it is an error that came with status 200.
    """
    body = require_dict(body, "the response")
    if body.get("type") == "error" or (
        isinstance(body.get("error"), dict) and "content" not in body
    ):
        raise wire_error(None, body, provider=provider, request_id=as_str(body.get("request_id")))
    content = body.get("content")
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    if not isinstance(content, list):
        if content is not None or "stop_reason" not in body:
            raise DecodeError("Expected a list of content blocks", path="$.content")
        content = []
    reading = Reading(provider, dialect)
    reading.start(body)
    for n, block in enumerate(content):
        reading.whole_block(n, block, f"$.content[{n}]")
    return reading.reply.message()


class StreamDecoder:
    """Turns the events of one stream into chunks.

    Attributes:
        done: Whether `message_stop` has been seen.
    """

    def __init__(self, provider: str, dialect: Dialect) -> None:
        self._reading = Reading(provider, dialect)
        self.done: bool = False

    def feed(self, event: str | None, data: Any) -> list[AIMessageChunk]:
        """Return the chunks one event completes.

        Raises:
            DecodeError: If `data` is not JSON or not an event.
            ModelError: For an `error` event.
        """
        told = require_dict(parse_event(data), "an event")
        reading = self._reading
        kind = told.get("type", event)
        key = told.get("index")
        key = key if isinstance(key, (int, str)) else None
        if kind == "error" or (kind is None and "error" in told):
            raise wire_error(
                None, told, provider=reading.provider, request_id=as_str(told.get("request_id"))
            )
        if kind == "content_block_delta":
            reading.block_delta(key, as_dict(told.get("delta")))
        elif kind == "content_block_start":
            reading.block_stop(key)
            reading.block_start(key, as_dict(told.get("content_block")), "$.content_block")
        elif kind == "content_block_stop":
            reading.block_stop(key)
        elif kind == "message_start":
            self._start(as_dict(told.get("message")))
        elif kind == "message_delta":
            known = {"type", "delta", "usage"}
            more = {k: v for k, v in told.items() if k not in known}
            reading.fields({**as_dict(told.get("delta")), **more})
            reading.usage(as_dict(told.get("usage")))
        elif kind == "message_stop":
            self.done = True
        return reading.reply.take()

    def _start(self, message: dict[str, Any]) -> None:
        self._reading.start(message)
        # Some servers put the first blocks here.
        for n, block in enumerate(as_dicts(message.get("content"))):
            self._reading.whole_block(("start", n), block, f"$.message.content[{n}]")

    def close(self) -> list[AIMessageChunk]:
        """Return the last chunks."""
        self._reading.end()
        return self._reading.reply.close()
