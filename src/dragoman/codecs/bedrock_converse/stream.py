"""Converse's event stream -> chunks.

`Reading` tells the shared reply machine what the wire says; `StreamDecoder` drives it event by
event, `decode_response` with a whole body. Text and reasoning blocks begin with their first delta.

Reasoning is held back until its block ends: whether a signature comes, and so whether it is a block
of its own or plain unsigned reasoning, is known only then.

Source: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html,
read 2026-11.
"""

from typing import Any

from dragoman.codecs.arguments import read_arguments
from dragoman.codecs.bedrock_converse.decode import API, decode_block, read_usage
from dragoman.codecs.bedrock_converse.tables import ERROR_STATUS, FINISH
from dragoman.codecs.bedrock_converse.wire import read_citation
from dragoman.codecs.origin import non_standard
from dragoman.codecs.reply import Reply
from dragoman.codecs.shapes import as_dict, as_list, as_str, parse_event, require_dict
from dragoman.codecs.wire_errors import wire_error
from dragoman.errors import DecodeError, ModelError
from dragoman.messages import AIMessage, AIMessageChunk

__all__ = ["StreamDecoder", "decode_response", "stream_error"]


class _Open:
    """A content block between its first event and its stop."""

    __slots__ = ("citations", "kind", "pieces", "raw", "redacted", "signature", "text")

    def __init__(self, kind: str, raw: dict[str, Any]) -> None:
        self.kind = kind  # the key that names the block
        self.raw = raw
        self.text: list[str] = []
        self.signature: list[str] = []
        self.redacted: list[str] = []
        self.pieces: list[Any] = []  # the parts of a result, or deltas that are not known
        self.citations: list[Any] = []


class Reading:
    """What the wire says, told to the reply machine."""

    def __init__(self, provider: str) -> None:
        self.provider = provider
        self.reply: Reply = Reply(provider, api=API)
        self._open: dict[Any, _Open] = {}
        self._is_cited = False  # the text before this place is a citation's span: it ends there

    def start(self, key: Any, start: dict[str, Any]) -> None:
        """Read the start of a block (tools and images only)."""
        self.stop(key)
        kind, value = _member(start)
        value = as_dict(value)
        block = self._open[key] = _Open(kind, value)
        if kind == "toolUse" and value.get("type") != "server_tool_use":
            self.reply.call(key, id=as_str(value.get("toolUseId")), name=as_str(value.get("name")))
            block.kind = "call"

    def delta(self, key: Any, delta: dict[str, Any]) -> None:
        """Read a piece of a block."""
        kind, value = _member(delta)
        block = self._open.get(key)
        if block is None:
            named = {"citation": "text"}.get(kind, kind)
            block = self._open[key] = _Open("call" if kind == "toolUse" else named, {})
        if kind == "text" and isinstance(value, str):
            if block.kind == "text":
                self._text(key, value)
            else:
                block.pieces.append({"text": value})
        elif kind == "toolUse":
            text = as_str(as_dict(value).get("input"))
            if text is not None:
                block.text.append(text)
                if block.kind == "call":
                    self.reply.call(key, args=text)
        elif kind == "reasoningContent":
            self._reasoning(block, as_dict(value))
        elif kind == "toolResult":
            block.pieces += as_list(value)
        elif kind == "citation":
            block.citations.append(value)
        elif block.kind == "image":
            block.raw = {**block.raw, **as_dict(value)}
        else:
            block.pieces.append(delta)

    def _text(self, key: Any, text: str) -> None:
        if self.reply.has_block(key):
            self.reply.block(key, {"text": text})
        elif self._is_cited:
            self._is_cited = False
            self.reply.block(key, {"type": "text", "text": text})
        else:
            self.reply.text(text)

    def _reasoning(self, block: _Open, piece: dict[str, Any]) -> None:
        block.kind = "reasoningContent"
        for field, where in (
            ("text", block.text), ("signature", block.signature), ("redactedContent", block.redacted),
        ):  # fmt: skip
            if isinstance(piece.get(field), str):
                where.append(piece[field])

    def stop(self, key: Any) -> None:
        """Read the end of a block: what was held back is told."""
        block = self._open.pop(key, None)
        if block is None:
            return
        if block.kind == "reasoningContent":
            self._end_reasoning(block)
        elif block.kind == "text":
            self._end_text(key, block)
        elif block.kind == "toolUse":
            args = read_arguments("".join(block.text))
            self.whole(key, {"toolUse": {**block.raw, "input": args or {}}})
        elif block.kind == "toolResult":
            self.whole(key, {"toolResult": {**block.raw, "content": _joined(block.pieces)}})
        elif block.kind != "call":
            value: Any = {**block.raw, "deltas": block.pieces} if block.pieces else block.raw
            self.whole(key, {block.kind: value})
        self.reply.forget_block(key)

    def _end_reasoning(self, block: _Open) -> None:
        text, signature = "".join(block.text), "".join(block.signature)
        if signature:
            extras = {"signature": signature}
            self.reply.block(None, {"type": "reasoning", "reasoning": text, "extras": extras})
        else:
            self.reply.reasoning(text)
        if block.redacted:
            value = {"reasoningContent": {"redactedContent": "".join(block.redacted)}}
            self.reply.block(None, non_standard(value, API))

    def _end_text(self, key: Any, block: _Open) -> None:
        if not block.citations:
            return
        notes = [read_citation(c) for c in block.citations]
        if self.reply.has_block(key):
            self.reply.block(key, {"annotations": notes})
        else:
            self.reply.annotate(annotations=notes)
        self._is_cited = True

    def whole(self, key: Any, raw: Any, path: str = "$") -> None:
        """Read a complete block."""
        found = decode_block(raw, path)
        kind = found["type"]
        if kind == "tool_call":
            self.reply.call(
                key, id=found["id"], name=found["name"], args=found["args"],
                extras=found.get("extras"),
            )  # fmt: skip
        elif kind == "text" and found.keys() == {"type", "text"}:
            self._text(key, found["text"])
        elif kind == "text" and found.keys() == {"type", "text", "annotations"}:
            self._text(key, found["text"])
            block = _Open("text", {})
            block.citations = as_list(raw["citationsContent"].get("citations"))
            self._end_text(key, block)
        elif kind == "reasoning" and "extras" not in found:
            self.reply.reasoning(found["reasoning"])
        else:
            self.reply.block(None, found)

    def end(self, stop: dict[str, Any]) -> None:
        """Read how the message ended."""
        for key in list(self._open):
            self.stop(key)
        reason = as_str(stop.get("stopReason"))
        self.reply.finished(FINISH.get(reason, reason) if reason else None)
        self.reply.late(**{k: v for k, v in stop.items() if k != "p"})

    def usage(self, body: dict[str, Any]) -> None:
        """Read usage and the fields beside it."""
        usage = body.get("usage")
        if isinstance(usage, dict):
            self.reply.usage(read_usage(usage))
        self.reply.late(**{k: v for k, v in body.items() if k != "p"})

    def close(self) -> None:
        """End the blocks that were not stopped."""
        for key in list(self._open):
            self.stop(key)


def _member(union: dict[str, Any]) -> tuple[str, Any]:
    """Return the key and value of an object with one key (the padding `p` apart)."""
    for key, value in union.items():
        if key != "p" and value is not None:
            return key, value
    return "unknown", None


def _joined(parts: list[Any]) -> list[Any]:
    """Return the parts of a result, neighbouring texts joined: they are pieces of one."""
    joined: list[Any] = []
    for part in parts:
        text = part.get("text") if isinstance(part, dict) and len(part) == 1 else None
        last = joined[-1] if joined else None
        if isinstance(text, str) and isinstance(last, dict) and last.keys() == {"text"}:
            joined[-1] = {"text": last["text"] + text}
        else:
            joined.append(part)
    return joined


def decode_response(body: Any, provider: str) -> AIMessage:
    """Return a whole reply as a message.

    Raises:
        DecodeError: If it is not a reply.
        ModelError: If it is an error that came with status 200.
    """
    body = require_dict(body, "the response")
    output = as_dict(body.get("output"))
    message = output.get("message")
    if not isinstance(message, dict):
        if "message" in body and "output" not in body:
            raise wire_error(None, body, provider=provider)
        if "stopReason" not in body:
            raise DecodeError("Expected an assistant message", path="$.output.message")
        message = {}
    content = message.get("content")
    if content is not None and not isinstance(content, list):
        raise DecodeError("Expected a list of content blocks", path="$.output.message.content")
    reading = Reading(provider)
    _model(reading, body)
    for n, block in enumerate(content or ()):
        reading.whole(n, block, f"$.output.message.content[{n}]")
        reading.reply.forget_block(n)
    reading.end({"stopReason": body.get("stopReason")})
    reading.usage({k: v for k, v in body.items() if k not in {"output", "stopReason"}})
    return reading.reply.message()


def _model(reading: Reading, body: dict[str, Any]) -> None:
    """Read the model's name where something tells it: it is in the address, not in the body."""
    trace = as_dict(as_dict(body.get("trace")).get("promptRouter"))
    model = as_str(trace.get("invokedModelId")) or as_str(body.get("modelId"))
    reading.reply.meta(model_name=model or "")


def stream_error(event: str, body: Any, provider: str) -> ModelError:
    """Return the error an exception event tells of."""
    status = as_dict(body).get("originalStatusCode")
    given = status if isinstance(status, int) and not isinstance(status, bool) else None
    return wire_error(given or ERROR_STATUS.get(event), body, provider=provider, code=event)


class StreamDecoder:
    """Turns the events of one stream into chunks.

    Attributes:
        done: Whether the closing event `metadata` has been seen.
    """

    def __init__(self, provider: str) -> None:
        self._reading = Reading(provider)
        self._is_started = False
        self.done: bool = False

    def feed(self, event: str | None, data: Any) -> list[AIMessageChunk]:
        """Return the chunks one event completes.

        Raises:
            DecodeError: If `data` is not JSON or not an event.
            ModelError: For an exception event.
        """
        told = require_dict(parse_event(data), "an event")
        if event is None and len(members := [k for k in told if k != "p"]) == 1:
            # Without a name the event is the union itself, as botocore gives it.
            event = members[0]
            told = as_dict(told[event])
        reading = self._reading
        if event is not None and event.lower().endswith(("exception", "error")):
            raise stream_error(event, told, reading.provider)
        if not self._is_started:
            self._is_started = True
            _model(reading, told)
        key = told.get("contentBlockIndex")
        key = key if isinstance(key, (int, str)) else None
        if event == "contentBlockDelta":
            reading.delta(key, as_dict(told.get("delta")))
        elif event == "contentBlockStart":
            reading.start(key, as_dict(told.get("start")))
        elif event == "contentBlockStop":
            reading.stop(key)
        elif event == "messageStop":
            reading.end(told)
        elif event == "metadata":
            reading.usage(told)
            self.done = True
        return reading.reply.take()

    def close(self) -> list[AIMessageChunk]:
        """Return the last chunks."""
        self._reading.close()
        return self._reading.reply.close()
