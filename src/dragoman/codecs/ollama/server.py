"""The server's side of `/api/chat`: replies as response bodies and as lines of a stream.

There is no clock here: `created_at` is the message's own or the epoch.
"""

from typing import Any

from dragoman.codecs.arguments import dump_arguments
from dragoman.codecs.contract import Change
from dragoman.codecs.explained import explained
from dragoman.codecs.media import media_of
from dragoman.codecs.notes import note
from dragoman.codecs.reply import Reply, join_surrogates
from dragoman.codecs.shapes import as_dict, as_int, as_str
from dragoman.messages import AIMessage, AIMessageChunk
from dragoman.messages.translate import standard_blocks

__all__ = ["StreamEncoder", "encode_response"]


def _top(message: AIMessage) -> dict[str, Any]:
    meta = message.response_metadata
    return {
        "model": as_str(meta.get("model_name")) or as_str(meta.get("model")) or "",
        "created_at": as_str(meta.get("created_at")) or "1970-01-01T00:00:00Z",
    }


def _end(message: AIMessage) -> dict[str, Any]:
    reason = message.response_metadata.get("finish_reason")
    end: dict[str, Any] = {"done": True, "done_reason": "length" if reason == "length" else "stop"}
    usage = as_dict(message.usage_metadata)
    for ours, theirs in (("input_tokens", "prompt_eval_count"), ("output_tokens", "eval_count")):
        if (n := as_int(usage.get(ours))) is not None:
            end[theirs] = n
    return end


def _say(message: AIMessage, changes: list[Change] | None) -> dict[str, Any]:
    """Return the wire message for text, thinking and images of a message or chunk."""
    text: list[str] = []
    thinking: list[str] = []
    images: list[str] = []
    content: Any = message.content
    blocks: list[dict[str, Any]] = []
    if isinstance(content, str):
        text.append(content)
    else:
        blocks = standard_blocks(content)
    for k, block in enumerate(blocks):
        kind = block.get("type")
        if kind in ("text", "refusal", "text-plain"):
            text.append(as_str(block.get("refusal" if kind == "refusal" else "text")) or "")
        elif kind == "reasoning":
            thinking.append(as_str(block.get("reasoning")) or "")
        elif kind == "image" and (data := media_of(block).base64):
            images.append(data)
        elif kind not in ("tool_call", "tool_call_chunk", "invalid_tool_call"):
            words = f"Ollama has no place for a `{kind}` block in a reply"
            note(changes, f"$.content[{k}]", "dropped_block", words)
    if not thinking:
        thinking.append(as_str(message.additional_kwargs.get("reasoning_content")) or "")
    wire: dict[str, Any] = {"role": "assistant", "content": join_surrogates("".join(text))}
    if whole := "".join(thinking):
        wire["thinking"] = join_surrogates(whole)
    if images:
        wire["images"] = images
    return wire


@explained
def encode_response(message: AIMessage, changes: list[Change] | None) -> dict[str, Any]:
    """Return the response a server would answer with."""
    wire = _say(message, changes)
    calls = [{"function": {"name": c["name"], "arguments": c["args"]}} for c in message.tool_calls]
    if calls:
        wire["tool_calls"] = calls
    if message.invalid_tool_calls:
        note(changes, "$.tool_calls", "dropped_call", "arguments that are no object have no place")
    return {**_top(message), "message": wire, **_end(message)}


class StreamEncoder:
    """Writes one reply as lines; calls go out whole, before the last line."""

    def __init__(self, provider: str) -> None:
        self._calls = Reply(provider, ordered=False)
        self._sum: AIMessageChunk | None = None  # of what the last line tells
        self._is_closed = False

    def feed(self, chunk: AIMessageChunk) -> list[tuple[str | None, str]]:
        """Return the line for one chunk."""
        for raw in chunk.tool_call_chunks:
            self._calls.call(
                raw.get("index"), id=raw.get("id"), name=raw.get("name"), args=raw.get("args")
            )
        told = AIMessageChunk(
            content="",
            response_metadata=chunk.response_metadata,
            usage_metadata=chunk.usage_metadata,
        )
        self._sum = told if self._sum is None else self._sum + told
        wire = _say(chunk, None)
        if not (wire["content"] or len(wire) > 2):
            return []
        return [(None, dump_arguments({**_top(self._sum), "message": wire, "done": False}))]

    def close(self) -> list[tuple[str | None, str]]:
        """Return the calls and the last line."""
        if self._is_closed:
            return []
        self._is_closed = True
        told = self._sum or AIMessageChunk(content="")
        out: list[tuple[str | None, str]] = []
        calls = [
            {"function": {"name": c["name"], "arguments": c["args"]}}
            for c in self._calls.message().tool_calls
        ]
        if calls:
            wire = {"role": "assistant", "content": "", "tool_calls": calls}
            out.append((None, dump_arguments({**_top(told), "message": wire, "done": False})))
        last = {"role": "assistant", "content": ""}
        out.append((None, dump_arguments({**_top(told), "message": last, **_end(told)})))
        return out
