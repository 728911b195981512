"""The server's side of Chat Completions: replies as response bodies and as streams.

What comes out is what the official SDK parses: `chat.completion` objects, and chunks that end with
a finish reason, the usage and `[DONE]`. There is no clock here: `created` is the message's own or 0.
"""

from typing import Any

from dragoman.codecs.arguments import dump_arguments
from dragoman.codecs.contract import Change
from dragoman.codecs.explained import explained
from dragoman.codecs.media import as_data_url, media_of
from dragoman.codecs.notes import note
from dragoman.codecs.openai_chat.tables import Dialect
from dragoman.codecs.openai_chat.usage import encode_usage
from dragoman.codecs.reply import Reply, join_surrogates
from dragoman.codecs.shapes import as_dict, as_dicts, as_int, as_str
from dragoman.messages import AIMessage, AIMessageChunk
from dragoman.messages.translate import standard_blocks

__all__ = ["StreamEncoder", "encode_response"]

_FINISH = {"refusal": "stop", "pause": "stop", "error": "stop"}
_KNOWN = ("stop", "length", "tool_calls", "content_filter", "function_call")


@explained
def encode_response(
    message: AIMessage, dialect: Dialect, changes: list[Change] | None
) -> dict[str, Any]:
    """Return the `chat.completion` a server would answer with."""
    answer: dict[str, Any] = {"role": "assistant", "content": None}
    pieces = _Pieces(changes)
    pieces.read(message)
    if pieces.text or not (message.tool_calls or message.invalid_tool_calls or pieces.refusal):
        answer["content"] = "".join(pieces.text)
    answer["refusal"] = "".join(pieces.refusal) or None
    calls = [
        {
            "id": c.get("id") or f"call_{n}",
            "type": "function",
            "function": {
                "name": c.get("name") or "",
                "arguments": a if isinstance(a := c.get("args"), str) else dump_arguments(a or {}),
            },
        }
        for n, c in enumerate([*message.tool_calls, *message.invalid_tool_calls])
    ]
    if calls:
        answer["tool_calls"] = calls
    if pieces.reasoning:
        answer[dialect.reasoning or "reasoning_content"] = "".join(pieces.reasoning)
    if pieces.annotations:
        answer["annotations"] = pieces.annotations
    if pieces.images:
        answer["images"] = pieces.images
    meta = message.response_metadata
    body = _envelope("chat.completion", message, meta)
    finish = _finish_word(meta.get("finish_reason"), has_calls=bool(message.tool_calls))
    body["choices"] = [
        {"index": 0, "message": answer, "finish_reason": finish, "logprobs": meta.get("logprobs")}
    ]
    if message.usage_metadata is not None:
        body["usage"] = encode_usage(message.usage_metadata)
    return body


def _envelope(kind: str, message: AIMessage, meta: dict[str, Any]) -> dict[str, Any]:
    body: dict[str, Any] = {
        "id": message.id or "chatcmpl-dragoman",
        "object": kind,
        "created": as_int(meta.get("created")) or 0,
        "model": as_str(meta.get("model_name")) or as_str(meta.get("model")) or "",
    }
    for key in ("system_fingerprint", "service_tier"):
        if (value := as_str(meta.get(key))) is not None:
            body[key] = value
    return body


def _finish_word(reason: Any, *, has_calls: bool) -> str:
    word = _FINISH.get(reason, reason) if isinstance(reason, str) else None
    if word not in _KNOWN:
        word = "stop"
    return "tool_calls" if has_calls and word == "stop" else word


class _Pieces:
    """What a message or chunk says, sorted by the fields of this wire."""

    def __init__(self, changes: list[Change] | None) -> None:
        self.text: list[str] = []
        self.reasoning: list[str] = []
        self.refusal: list[str] = []
        self.annotations: list[dict[str, Any]] = []
        self.images: list[dict[str, Any]] = []
        self._changes = changes

    def read(self, message: AIMessage) -> None:
        """Sort what a message or chunk says."""
        content = message.content
        blocks: list[dict[str, Any]] = []
        if isinstance(content, str):
            if content:
                self.text.append(join_surrogates(content))
        else:
            blocks = standard_blocks(content)
        for k, block in enumerate(blocks):
            self._read_block(block, k)
        reasoning = message.additional_kwargs.get("reasoning_content")
        if isinstance(reasoning, str) and reasoning and not self.reasoning:
            self.reasoning.append(join_surrogates(reasoning))
        if refusal := as_str(message.additional_kwargs.get("refusal")):
            self.refusal.append(refusal)

    def _read_block(self, block: dict[str, Any], k: int) -> None:
        kind = block.get("type")
        if kind in ("text", "text-plain"):
            self.text.append(join_surrogates(as_str(block.get("text")) or ""))
            self.annotations += [_annotation(a) for a in as_dicts(block.get("annotations"))]
        elif kind == "reasoning":
            self.reasoning.append(join_surrogates(as_str(block.get("reasoning")) or ""))
        elif kind == "refusal":
            self.refusal.append(as_str(block.get("refusal")) or "")
        elif kind == "image":
            media = media_of(block)
            if media.url or media.base64:
                self.images.append({"type": "image_url", "image_url": {"url": as_data_url(media)}})
        elif kind not in ("tool_call", "tool_call_chunk", "invalid_tool_call"):
            text = f"Chat Completions has no place for a `{kind}` block in a reply"
            note(self._changes, f"$.content[{k}]", "dropped_block", text)


def _annotation(block: dict[str, Any]) -> dict[str, Any]:
    if block.get("type") == "non_standard_annotation":
        return as_dict(block.get("value"))
    names = {"url": "url", "title": "title", "start_index": "start_index", "end_index": "end_index",
             "cited_text": "content"}  # fmt: skip
    citation = {theirs: block[ours] for ours, theirs in names.items() if ours in block}
    return {"type": "url_citation", "url_citation": {**as_dict(block.get("extras")), **citation}}


class StreamEncoder:
    """Writes one reply as `chat.completion.chunk` events."""

    def __init__(self, dialect: Dialect) -> None:
        self._reasoning = dialect.reasoning or "reasoning_content"
        self._calls = Reply(dialect.provider, ordered=False)  # numbers the calls as a reader would
        self._envelope: dict[str, Any] | None = None
        self._finish: Any = None
        self._usage: AIMessageChunk | None = None
        self._is_closed = False

    def feed(self, chunk: AIMessageChunk) -> list[tuple[str | None, str]]:
        """Return the events for one chunk; the first of a stream opens it."""
        out: list[tuple[str | None, str]] = []
        if self._envelope is None:
            self._envelope = _envelope("chat.completion.chunk", chunk, chunk.response_metadata)
            out.append(self._event({"role": "assistant", "content": ""}))
        elif chunk.response_metadata and (
            model := as_str(chunk.response_metadata.get("model_name"))
        ):
            self._envelope["model"] = model
        self._finish = chunk.response_metadata.get("finish_reason") or self._finish
        if chunk.usage_metadata is not None:
            counted = AIMessageChunk(content="", usage_metadata=chunk.usage_metadata)
            self._usage = counted if self._usage is None else self._usage + counted
        delta = self._delta(chunk)
        if delta:
            out.append(self._event(delta))
        return out

    def _delta(self, chunk: AIMessageChunk) -> dict[str, Any]:
        delta: dict[str, Any] = {}
        if chunk.content.__class__ is str and not chunk.additional_kwargs:
            if chunk.content:
                delta["content"] = join_surrogates(str(chunk.content))
        else:
            pieces = _Pieces(None)
            pieces.read(chunk)
            fields = {
                "content": "".join(pieces.text),
                self._reasoning: "".join(pieces.reasoning),
                "refusal": "".join(pieces.refusal),
                "annotations": pieces.annotations,
                "images": pieces.images,
            }
            delta = {key: value for key, value in fields.items() if value}
        if chunk.tool_call_chunks:
            delta["tool_calls"] = self._fragments(chunk)
        return delta

    def _fragments(self, chunk: AIMessageChunk) -> list[dict[str, Any]]:
        for raw in chunk.tool_call_chunks:
            self._calls.call(
                raw.get("index"), id=raw.get("id"), name=raw.get("name"), args=raw.get("args")
            )
        out: list[dict[str, Any]] = []
        parts: list[Any] = [f for c in self._calls.take() for f in c.tool_call_chunks]
        for part in parts:
            call: dict[str, Any] = {"index": part["index"]}
            function: dict[str, Any] = {}
            if part["id"]:
                call["id"] = part["id"]
            if part["name"]:
                call["type"] = "function"
                function["name"] = part["name"]
            function["arguments"] = part["args"] or ""
            out.append({**call, "function": function})
        return out

    def close(self) -> list[tuple[str | None, str]]:
        """Return the finish chunk, the usage and `[DONE]`."""
        if self._is_closed:
            return []
        self._is_closed = True
        out: list[tuple[str | None, str]] = []
        if self._envelope is None:
            out += self.feed(AIMessageChunk(content=""))
        late: list[Any] = [f for c in self._calls.close() for f in c.tool_call_chunks if f["id"]]
        if late:  # calls that came without an id get one before the end
            ids = [
                {"index": f["index"], "id": f["id"], "function": {"arguments": ""}} for f in late
            ]
            out.append(self._event({"tool_calls": ids}))
        finish = _finish_word(self._finish, has_calls=bool(self._calls.calls))
        out.append(self._event({}, finish))
        if self._usage is not None:
            usage = encode_usage(self._usage.usage_metadata)
            out.append(
                (None, dump_arguments({**(self._envelope or {}), "choices": [], "usage": usage}))
            )
        return [*out, (None, "[DONE]")]

    def _event(self, delta: dict[str, Any], finish: str | None = None) -> tuple[str | None, str]:
        choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
        return None, dump_arguments({**(self._envelope or {}), "choices": [choice]})
