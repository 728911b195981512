"""The server side: a message as the reply Anthropic would give, whole or as events.

The events are those the official SDK reads: `message_start`, then per block a start, deltas and a
stop, then `message_delta` with the stop reason and the usage, then `message_stop`. Text, reasoning
and arguments stream as they come; blocks of other kinds go out when they are complete.
"""

from typing import Any

from dragoman.codecs.anthropic.blocks import BlockWriter
from dragoman.codecs.anthropic.decode import API, read_usage
from dragoman.codecs.anthropic.tables import FINISH, STOP_REASON, Dialect
from dragoman.codecs.anthropic.wire import write_citation
from dragoman.codecs.arguments import dump_arguments
from dragoman.codecs.contract import Change
from dragoman.codecs.explained import explained
from dragoman.codecs.origin import is_from
from dragoman.codecs.pairing import WireIds
from dragoman.codecs.reply import join_surrogates
from dragoman.messages import AIMessage, AIMessageChunk

__all__ = ["StreamEncoder", "encode_response"]

_KEPT = ("container", "context_management", "stop_details", "stop_sequence")


@explained
def encode_response(
    message: AIMessage, provider: str, dialect: Dialect, changes: list[Change] | None
) -> dict[str, Any]:
    """Return the body of a whole reply."""
    told: list[Change] = [] if changes is None else changes
    writer = BlockWriter(provider, dialect, told, is_reply=True)
    content = writer.assistant(message, "$", WireIds(prefix="toolu_"))
    metadata = message.response_metadata
    body = _envelope(message.id, metadata, content)
    has_calls = any(block.get("type") == "tool_use" for block in content)
    body["stop_reason"] = _stop_reason(metadata, has_calls=has_calls)
    if is_from(message, provider, API):
        body.update((k, metadata[k]) for k in _KEPT if metadata.get(k) is not None)
    body["usage"] = _usage(message.usage_metadata)
    raw = metadata.get("usage")
    if is_from(message, provider, API) and isinstance(raw, dict):
        # Anthropic's own numbers say more, as long as they are still the message's.
        counted = read_usage(raw)
        body["usage"] = raw if counted == message.usage_metadata else body["usage"]
    return body


def _envelope(id: str | None, metadata: dict[str, Any], content: list[Any]) -> dict[str, Any]:
    return {
        "id": id or "msg_0",
        "type": "message",
        "role": "assistant",
        "model": metadata.get("model_name") or metadata.get("model") or "",
        "content": content,
        "stop_reason": None,
        "stop_sequence": None,
    }


def _stop_reason(metadata: dict[str, Any], *, has_calls: bool) -> str:
    finish = metadata.get("finish_reason")
    raw = metadata.get("stop_reason")
    if isinstance(raw, str) and FINISH.get(raw, raw) == finish:
        return raw
    if has_calls and finish in (None, "stop"):
        return "tool_use"
    return STOP_REASON.get(str(finish), "end_turn")


def _usage(usage: Any) -> dict[str, Any]:
    """Return `usage` as Anthropic counts: input tokens without those of the cache."""
    usage = usage or {}
    details = usage.get("input_token_details") or {}
    read, made = details.get("cache_read") or 0, details.get("cache_creation") or 0
    written: dict[str, Any] = {
        "input_tokens": max((usage.get("input_tokens") or 0) - read - made, 0),
        "output_tokens": usage.get("output_tokens") or 0,
    }
    for name in ("cache_read", "cache_creation"):
        if details.get(name) is not None:
            written[f"{name}_input_tokens"] = details[name]
    split = {k: v for k, v in details.items() if k.startswith("ephemeral_")}
    if split:
        written["cache_creation"] = split
    reasoning = (usage.get("output_token_details") or {}).get("reasoning")
    if reasoning is not None:
        written["output_tokens_details"] = {"thinking_tokens": reasoning}
    return written


class StreamEncoder:
    """Turns the chunks of one reply into events."""

    def __init__(self, provider: str, dialect: Dialect) -> None:
        self._provider = provider
        self._dialect = dialect
        self._events: list[tuple[str | None, str]] = []
        self._whole: AIMessageChunk | None = None  # content apart: metadata, usage
        self._n_blocks = 0
        self._open: tuple[Any, int] | None = None  # the text, reasoning or held block
        self._held: AIMessageChunk | None = None
        self._calls: dict[Any, int] = {}  # calls still open -> their block
        self._n_calls = 0
        self._is_closed = False

    def feed(self, chunk: AIMessageChunk) -> list[tuple[str | None, str]]:
        """Return the events one chunk gives."""
        self._start(chunk)
        reasoning = chunk.additional_kwargs.get("reasoning_content")
        if isinstance(reasoning, str) and reasoning:
            self._unsigned(reasoning)
        content = chunk.content
        for block in [content] if isinstance(content, str) else content:
            self._block({"type": "text", "text": block} if isinstance(block, str) else block)
        for fragment in chunk.tool_call_chunks:
            self._call(fragment)
        return self._take()

    def close(self) -> list[tuple[str | None, str]]:
        """Return the closing events."""
        if self._is_closed:
            return []
        self._is_closed = True
        if self._whole is None:
            self._start(AIMessageChunk(content=""))
        whole = self._whole
        assert whole is not None
        self._stop_all()
        metadata = whole.response_metadata
        delta: dict[str, Any] = {
            "stop_reason": _stop_reason(metadata, has_calls=self._n_calls > 0),
            "stop_sequence": None,
        }
        if is_from(whole, self._provider, API):
            delta.update((k, metadata[k]) for k in _KEPT if metadata.get(k) is not None)
        self._send("message_delta", delta=delta, usage=_usage(whole.usage_metadata))
        self._send("message_stop")
        return self._take()

    def _start(self, chunk: AIMessageChunk) -> None:
        bare = AIMessageChunk(
            content="",
            id=chunk.id,
            response_metadata=chunk.response_metadata,
            usage_metadata=chunk.usage_metadata,
        )
        if self._whole is not None:
            self._whole = self._whole + bare
            return
        self._whole = bare
        message = _envelope(chunk.id, chunk.response_metadata, [])
        message["usage"] = {**_usage(chunk.usage_metadata), "output_tokens": 0}
        self._send("message_start", message=message)

    def _block(self, block: dict[str, Any]) -> None:
        kind = block.get("type")
        if kind in ("tool_call", "tool_call_chunk", "invalid_tool_call"):
            return  # calls come as fragments
        key = block.get("index")
        if kind == "text":
            self._text(block, "text" if key is None else ("text", key))
            return
        if kind == "reasoning":
            self._reasoning(block, key)
            return
        self._hold(block, (kind, key))

    def _text(self, block: dict[str, Any], key: Any) -> None:
        text, notes = block.get("text") or "", block.get("annotations") or []
        if not text and not notes:
            return
        self._delta("text", key, text)
        if (
            self._whole is None
            or self._open is None
            or not is_from(self._whole, self._provider, API)
        ):
            return
        for note in notes:
            citation = write_citation(note)
            if citation is not None:
                delta = {"type": "citations_delta", "citation": citation}
                self._send("content_block_delta", index=self._open[1], delta=delta)

    def _reasoning(self, block: dict[str, Any], key: Any) -> None:
        self._delta("thinking", ("reasoning", key), block.get("reasoning") or "")
        extras = block.get("extras")
        signature = extras.get("signature") if isinstance(extras, dict) else None
        whole = self._whole
        if isinstance(signature, str) and whole is not None and is_from(whole, self._provider, API):
            assert self._open is not None
            delta = {"type": "signature_delta", "signature": signature}
            self._send("content_block_delta", index=self._open[1], delta=delta)

    def _hold(self, block: dict[str, Any], key: Any) -> None:
        """Keep a block of another kind until it is complete: that is, until the next one begins."""
        chunk = AIMessageChunk(content=[block])
        if self._held is not None and self._open == (key, -1) and key[1] is not None:
            self._held = self._held + chunk
            return
        self._stop_all()
        self._held, self._open = chunk, (key, -1)

    def _delta(self, kind: str, key: Any, text: str) -> None:
        if self._open is None or self._open[0] != key:
            self._stop_all()
            empty: dict[str, Any] = {"thinking": "", "signature": ""}
            if kind == "text":
                # A block of its own says from the start that it may be cited.
                empty = {"text": ""} if key == "text" else {"text": "", "citations": []}
            self._open = (key, self._start_block({"type": kind, **empty}))
        if text:
            delta = {"type": f"{kind}_delta", kind: text}
            self._send("content_block_delta", index=self._open[1], delta=delta)

    def _unsigned(self, text: str) -> None:
        """Send reasoning that has no signature: its block begins with the first piece.

        A block that begins empty waits for a signature; that is how the decoder tells them apart.
        """
        if self._open is None or self._open[0] != "reasoning":
            self._stop_all()
            block = {"type": "thinking", "thinking": text, "signature": ""}
            self._open = ("reasoning", self._start_block(block))
        else:
            self._delta("thinking", "reasoning", text)

    def _call(self, fragment: Any) -> None:
        key, name = fragment.get("index"), fragment.get("name")
        if key is None:
            key = fragment.get("id") if name else next(reversed(self._calls), None)
        if key not in self._calls:
            if self._open is not None:
                self._stop_all()
            id = fragment.get("id") or f"toolu_{self._n_calls}"
            self._n_calls += 1
            block = {"type": "tool_use", "id": id, "name": name or "", "input": {}}
            self._calls[key] = self._start_block(block)
        args = fragment.get("args")
        if args:
            delta = {"type": "input_json_delta", "partial_json": args}
            self._send("content_block_delta", index=self._calls[key], delta=delta)

    def _start_block(self, block: dict[str, Any]) -> int:
        index = self._n_blocks
        self._n_blocks += 1
        self._send("content_block_start", index=index, content_block=block)
        return index

    def _stop_all(self) -> None:
        """End every open block, and send the block that was held."""
        held, self._held = self._held, None
        if held is not None and self._whole is not None:
            message = AIMessage(
                content=held.content, response_metadata=self._whole.response_metadata
            )
            writer = BlockWriter(self._provider, self._dialect, [], is_reply=True)
            for block in writer.assistant(message, "$", WireIds()):
                self._send_whole(block)
        elif self._open is not None:
            self._send("content_block_stop", index=self._open[1])
        self._open = None
        for index in self._calls.values():
            self._send("content_block_stop", index=index)
        self._calls = {}

    def _send_whole(self, block: dict[str, Any]) -> None:
        """Send a complete block; the arguments of a server's tool are a delta, as the API does."""
        args = (
            block.get("input") if block.get("type") in ("server_tool_use", "mcp_tool_use") else None
        )
        index = self._start_block({**block, "input": {}} if args else block)
        if args:
            delta = {"type": "input_json_delta", "partial_json": dump_arguments(args)}
            self._send("content_block_delta", index=index, delta=delta)
        self._send("content_block_stop", index=index)

    def _send(self, event: str, /, **fields: Any) -> None:
        self._events.append((event, join_surrogates(dump_arguments({"type": event, **fields}))))

    def _take(self) -> list[tuple[str | None, str]]:
        events, self._events = self._events, []
        return events
