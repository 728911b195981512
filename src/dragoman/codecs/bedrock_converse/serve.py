"""The server side: a message as the reply Converse would give, whole or as events."""

from typing import Any

from dragoman.codecs.arguments import dump_arguments
from dragoman.codecs.bedrock_converse.blocks import BlockWriter
from dragoman.codecs.bedrock_converse.tables import FINISH, STOP_REASON
from dragoman.codecs.contract import Change
from dragoman.codecs.explained import explained
from dragoman.codecs.pairing import WireIds
from dragoman.codecs.reply import join_surrogates
from dragoman.messages import AIMessage, AIMessageChunk, message_chunk_to_message

__all__ = ["StreamEncoder", "encode_response"]

_KEPT = ("additionalModelResponseFields", "metrics", "performanceConfig", "serviceTier", "trace")


@explained
def encode_response(
    message: AIMessage, provider: str, changes: list[Change] | None
) -> dict[str, Any]:
    """Return the body of a whole reply."""
    told: list[Change] = [] if changes is None else changes
    writer = BlockWriter(provider, told, is_reply=True)
    content = writer.message(message, "$", WireIds(prefix="tooluse_"), is_assistant=True)
    metadata = message.response_metadata
    body: dict[str, Any] = {
        "output": {"message": {"role": "assistant", "content": content}},
        "stopReason": _stop_reason(metadata, has_calls=bool(writer.called)),
        "usage": _usage(message.usage_metadata),
        "metrics": {"latencyMs": 0},
    }
    body.update((k, metadata[k]) for k in _KEPT if k in metadata)
    return body


def _stop_reason(metadata: dict[str, Any], *, has_calls: bool) -> str:
    finish = metadata.get("finish_reason")
    raw = metadata.get("stopReason")
    if isinstance(raw, str) and FINISH.get(raw, raw) == finish:
        return raw
    if has_calls and finish in (None, "stop"):
        return "tool_use"
    return STOP_REASON.get(str(finish), "end_turn")


def _usage(usage: Any) -> dict[str, Any]:
    """Return `usage` as Bedrock counts: input tokens without those of the cache."""
    usage = usage or {}
    details = usage.get("input_token_details") or {}
    read, made = details.get("cache_read"), details.get("cache_creation")
    n_in = max((usage.get("input_tokens") or 0) - (read or 0) - (made or 0), 0)
    n_out = usage.get("output_tokens") or 0
    written = {"inputTokens": n_in, "outputTokens": n_out}
    if read is not None:
        written["cacheReadInputTokens"] = read
    if made is not None:
        written["cacheWriteInputTokens"] = made
    written["totalTokens"] = n_in + n_out + (read or 0) + (made or 0)
    return written


class StreamEncoder:
    """Turns the chunks of one reply into events.

    Text streams as it comes. Other blocks go out, each whole, when the reply ends: on this wire
    their order among each other is that of their numbers.
    """

    def __init__(self, provider: str) -> None:
        self._provider = provider
        self._events: list[tuple[str | None, str]] = []
        self._chunks: list[AIMessageChunk] = []
        self._n_blocks = 0
        self._text_is_open = False
        self._is_text_only = True
        self._is_started = False
        self._is_closed = False

    def feed(self, chunk: AIMessageChunk) -> list[tuple[str | None, str]]:
        """Return the events one chunk gives."""
        self._start()
        is_text = isinstance(chunk.content, str) and not chunk.tool_call_chunks
        reasons = bool(chunk.additional_kwargs.get("reasoning_content"))
        if self._is_text_only and is_text and not reasons:
            if chunk.content:
                self._text_is_open = True
                self._delta({"text": chunk.content})
            if chunk.response_metadata or chunk.usage_metadata or chunk.id:
                self._chunks.append(chunk.model_copy(update={"content": ""}))
        else:
            self._is_text_only = False
            self._chunks.append(chunk)
        return self._take()

    def close(self) -> list[tuple[str | None, str]]:
        """Return the closing events."""
        if self._is_closed:
            return []
        self._is_closed = True
        self._start()
        if self._text_is_open:
            self._stop()
        first, *rest = self._chunks or [AIMessageChunk(content="")]
        whole = message_chunk_to_message(first + rest)
        assert isinstance(whole, AIMessage)
        body = encode_response(whole, self._provider, None)
        for block in body["output"]["message"]["content"]:
            self._block(block)
        self._send("messageStop", {"stopReason": body["stopReason"]})
        self._send("metadata", {"usage": body["usage"], "metrics": body["metrics"]})
        return self._take()

    def _start(self) -> None:
        if not self._is_started:
            self._is_started = True
            self._send("messageStart", {"role": "assistant"})

    def _block(self, block: dict[str, Any]) -> None:
        kind = next(iter(block), "unknown")
        value: Any = block.get(kind)
        if kind == "toolUse":
            start = {k: v for k, v in value.items() if k != "input"}
            self._begin({"toolUse": start})
            self._delta({"toolUse": {"input": dump_arguments(value["input"])}})
        elif kind == "toolResult":
            self._begin({"toolResult": {k: v for k, v in value.items() if k != "content"}})
            self._delta({"toolResult": value.get("content") or []})
        elif kind == "reasoningContent":
            said = value.get("reasoningText", value)
            for field in ("text", "signature", "redactedContent"):
                if said.get(field):
                    self._delta({"reasoningContent": {field: said[field]}})
        elif kind == "citationsContent":
            self._delta({"text": "".join(c.get("text", "") for c in value["content"])})
            for citation in value.get("citations") or []:
                self._delta({"citation": citation})
        else:
            self._delta({kind: value})
        self._stop()

    def _begin(self, start: dict[str, Any]) -> None:
        self._send("contentBlockStart", {"contentBlockIndex": self._n_blocks, "start": start})

    def _delta(self, delta: dict[str, Any]) -> None:
        self._send("contentBlockDelta", {"contentBlockIndex": self._n_blocks, "delta": delta})

    def _stop(self) -> None:
        self._send("contentBlockStop", {"contentBlockIndex": self._n_blocks})
        self._n_blocks += 1
        self._text_is_open = False

    def _send(self, event: str, fields: dict[str, Any]) -> None:
        self._events.append((event, join_surrogates(dump_arguments(fields))))

    def _take(self) -> list[tuple[str | None, str]]:
        events, self._events = self._events, []
        return events
