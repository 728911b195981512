"""The server side: a reply as Cohere would send it, whole or streamed."""

import json
from typing import Any

from dragoman.codecs.cohere.encode import Encoder
from dragoman.codecs.cohere.tables import FINISH, FINISH_BACK
from dragoman.codecs.contract import Change
from dragoman.codecs.explained import explained
from dragoman.codecs.shapes import as_dict, as_dicts, as_str
from dragoman.messages import AIMessage, AIMessageChunk, message_chunk_to_message

__all__ = ["StreamEncoder", "encode_response"]


@explained
def encode_response(
    message: AIMessage, provider: str, changes: list[Change] | None = None
) -> dict[str, Any]:
    """Return the body of a whole reply."""
    said = Encoder(provider, changes, is_reply=True).assistant(message, "$")
    if isinstance(text := said.get("content"), str):
        said["content"] = [{"type": "text", "text": text}]
    meta = message.response_metadata
    reason = as_str(meta.get("finish_reason")) or ("tool_calls" if message.tool_calls else "stop")
    raw = as_str(meta.get("raw_finish_reason"))
    if raw is None or FINISH.get(raw, raw) != reason:
        raw = FINISH_BACK.get(reason, reason)
    body: dict[str, Any] = {
        "id": message.id or as_str(meta.get("id")) or "0", "finish_reason": raw, "message": said,
    }  # fmt: skip
    if (usage := message.usage_metadata) is not None:
        counted = {k: usage[k] for k in ("input_tokens", "output_tokens")}
        details: dict[str, Any] = dict(usage.get("input_token_details") or {})
        body["usage"] = {
            "billed_units": as_dict(meta.get("billed_units")) or counted,
            "tokens": counted,
        }
        if details.get("cache_read"):
            body["usage"]["cached_tokens"] = details["cache_read"]
    return body


class StreamEncoder:
    """Tells a reply as events: plain text as it comes, everything else at the end."""

    def __init__(self, provider: str) -> None:
        self._provider = provider
        self._sum: AIMessageChunk | None = None
        self._n_sent = 0

    def feed(self, chunk: AIMessageChunk) -> list[tuple[str | None, str]]:
        """Return the events one chunk gives."""
        events: list[tuple[str | None, str]] = []
        if self._sum is None:
            said = {"role": "assistant", "content": [], "tool_calls": [], "citations": []}
            events.append(_event("message-start", id=chunk.id or "0", delta={"message": said}))
        self._sum = chunk if self._sum is None else self._sum + chunk
        text, whole = chunk.content, self._sum.content
        if isinstance(text, str) and isinstance(whole, str) and text:
            first = self._n_sent == 0
            if self._n_sent == len(whole) - len(text) and not self._sum.additional_kwargs:
                self._n_sent += len(text)
                if first:
                    events.append(_content("start", 0, {"type": "text", "text": ""}))
                events.append(_content("delta", 0, {"text": text}))
        return events

    def close(self) -> list[tuple[str | None, str]]:
        """Return the closing events."""
        if self._sum is None:
            return []
        message = message_chunk_to_message(self._sum)
        assert isinstance(message, AIMessage)
        body = encode_response(message, self._provider)
        said = as_dict(body["message"])
        events: list[tuple[str | None, str]] = []
        if isinstance(plan := said.get("tool_plan"), str):
            events.append(_event("tool-plan-delta", delta={"message": {"tool_plan": plan}}))
        for n, part in enumerate(as_dicts(said.get("content"))):
            if n == 0 and self._n_sent:
                rest = str(part.get("text", ""))[self._n_sent :]
                if rest:
                    events.append(_content("delta", 0, {"text": rest}))
            else:
                events.append(_content("start", n, part))
            events.append(_event("content-end", index=n))
        for n, citation in enumerate(as_dicts(said.get("citations"))):
            told = {"message": {"citations": citation}}
            events += [
                _event("citation-start", index=n, delta=told),
                _event("citation-end", index=n),
            ]
        for n, call in enumerate(as_dicts(said.get("tool_calls"))):
            told = {"message": {"tool_calls": call}}
            events += [
                _event("tool-call-start", index=n, delta=told),
                _event("tool-call-end", index=n),
            ]
        end = {k: body[k] for k in ("finish_reason", "usage") if k in body}
        events.append(_event("message-end", delta=end))
        return events


def _content(word: str, n: int, part: dict[str, Any]) -> tuple[str | None, str]:
    return _event(f"content-{word}", index=n, delta={"message": {"content": part}})


def _event(kind: str, **fields: Any) -> tuple[str | None, str]:
    return kind, json.dumps({"type": kind, **fields}, ensure_ascii=False)
