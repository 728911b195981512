"""The server side: a reply as Mistral would send it, whole or streamed."""

import json
from typing import Any

from dragoman.codecs.contract import Change
from dragoman.codecs.explained import explained
from dragoman.codecs.mistral.encode import Encoder
from dragoman.codecs.mistral.tables import FINISH_BACK
from dragoman.codecs.shapes import as_dict, as_int, as_str
from dragoman.messages import AIMessage, AIMessageChunk, message_chunk_to_message

__all__ = ["StreamEncoder", "encode_response"]


@explained
def encode_response(
    message: AIMessage, provider: str, changes: list[Change] | None = None
) -> dict[str, Any]:
    """Return a `chat.completion` with the reply; `created` is what its metadata say, else 0."""
    said = Encoder(provider, changes, is_reply=True).assistant(message, "$")
    said.pop("prefix", None)
    meta = message.response_metadata
    usage = message.usage_metadata
    taken: dict[str, Any] = dict((usage or {}).get("input_token_details") or {})
    reason = as_str(meta.get("finish_reason")) or ("tool_calls" if message.tool_calls else "stop")
    body: dict[str, Any] = {
        "id": message.id or as_str(meta.get("id")) or "0",
        "object": "chat.completion",
        "created": as_int(meta.get("created")) or 0,
        "model": as_str(meta.get("model_name")) or "",
        "choices": [
            {"index": 0, "message": said, "finish_reason": FINISH_BACK.get(reason, reason)}
        ],
        "usage": {
            "prompt_tokens": usage["input_tokens"] if usage else 0,
            "completion_tokens": usage["output_tokens"] if usage else 0,
            "total_tokens": usage["total_tokens"] if usage else 0,
        },
    }
    if "cache_read" in taken:
        body["usage"]["num_cached_tokens"] = taken["cache_read"]
    return body


class StreamEncoder:
    """Tells a reply as events: plain text as it comes, everything else with the last event."""

    def __init__(self, provider: str) -> None:
        self._provider = provider
        self._sum: AIMessageChunk | None = None
        self._n_sent = 0

    def feed(self, chunk: AIMessageChunk) -> list[tuple[str | None, str]]:
        """Return the events one chunk gives."""
        self._sum = chunk if self._sum is None else self._sum + chunk
        text = chunk.content
        whole = self._sum.content
        if not isinstance(text, str) or not isinstance(whole, str) or not text:
            return []
        if self._n_sent != len(whole) - len(text) or self._sum.additional_kwargs:
            return []  # something else comes first, so the text waits with it
        self._n_sent += len(text)
        return [self._event({"role": "assistant", "content": text}, None)]

    def close(self) -> list[tuple[str | None, str]]:
        """Return the closing events."""
        if self._sum is None:
            return []
        message = message_chunk_to_message(self._sum)
        assert isinstance(message, AIMessage)
        body = encode_response(message, self._provider)
        choice = body["choices"][0]
        delta: dict[str, Any] = {"content": "", **as_dict(choice["message"])}
        content = delta["content"]
        if isinstance(content, str):
            delta["content"] = content[self._n_sent :]
        for n, call in enumerate(delta.get("tool_calls") or ()):
            call.setdefault("index", n)
        return [
            self._event(delta, choice["finish_reason"], usage=body["usage"]),
            (None, "[DONE]"),
        ]

    def _event(self, delta: dict[str, Any], reason: str | None, **more: Any) -> tuple[None, str]:
        meta = self._sum.response_metadata if self._sum is not None else {}
        data = {
            "id": (self._sum.id if self._sum is not None else None) or "0",
            "object": "chat.completion.chunk",
            "created": as_int(meta.get("created")) or 0,
            "model": as_str(meta.get("model_name")) or "",
            "choices": [{"index": 0, "delta": delta, "finish_reason": reason}],
            **more,
        }
        return None, json.dumps(data, ensure_ascii=False)
