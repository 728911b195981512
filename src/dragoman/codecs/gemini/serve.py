"""The server side: a message as the reply Gemini would give, whole or as events."""

from typing import Any

from dragoman.codecs.arguments import dump_arguments
from dragoman.codecs.contract import Change
from dragoman.codecs.explained import explained
from dragoman.codecs.gemini.parts import PartWriter
from dragoman.codecs.gemini.tables import FINISH, FINISH_REASON
from dragoman.codecs.reply import join_surrogates
from dragoman.messages import AIMessage, AIMessageChunk, message_chunk_to_message

__all__ = ["StreamEncoder", "encode_response"]


@explained
def encode_response(
    message: AIMessage, provider: str, changes: list[Change] | None
) -> dict[str, Any]:
    """Return the body of a whole reply."""
    told: list[Change] = [] if changes is None else changes
    parts = PartWriter(provider, told, is_reply=True).message(message, "$", is_model=True)
    metadata = message.response_metadata
    candidate: dict[str, Any] = {
        "content": {"role": "model", "parts": parts},
        "finishReason": _finish_reason(metadata),
        "index": 0,
    }
    if isinstance(metadata.get("grounding_metadata"), dict):
        candidate["groundingMetadata"] = metadata["grounding_metadata"]
    body: dict[str, Any] = {"candidates": [candidate]}
    if message.usage_metadata:
        body["usageMetadata"] = _usage(message.usage_metadata)
    if metadata.get("model_name"):
        body["modelVersion"] = metadata["model_name"]
    if message.id:
        body["responseId"] = message.id
    return body


def _finish_reason(metadata: dict[str, Any]) -> str:
    finish = metadata.get("finish_reason")
    raw = metadata.get("native_finish_reason")
    if isinstance(raw, str) and FINISH.get(raw, raw) == (
        "stop" if finish == "tool_calls" else finish
    ):
        return raw
    return FINISH_REASON.get(str(finish), "STOP")


def _usage(usage: Any) -> dict[str, Any]:
    """Return usage as Google counts: thoughts beside the answer."""
    n_in, n_out = usage.get("input_tokens") or 0, usage.get("output_tokens") or 0
    thoughts = (usage.get("output_token_details") or {}).get("reasoning")
    read = (usage.get("input_token_details") or {}).get("cache_read")
    written = {"promptTokenCount": n_in, "candidatesTokenCount": max(n_out - (thoughts or 0), 0)}
    if thoughts is not None:
        written["thoughtsTokenCount"] = thoughts
    if read is not None:
        written["cachedContentTokenCount"] = read
    written["totalTokenCount"] = usage.get("total_tokens") or n_in + n_out
    return written


class StreamEncoder:
    """Turns the chunks of one reply into events.

    Text streams as it comes; calls and other blocks, which this wire sends whole, go out when the
    reply ends.
    """

    def __init__(self, provider: str) -> None:
        self._provider = provider
        self._chunks: list[AIMessageChunk] = []
        self._is_text_only = True
        self._is_closed = False

    def feed(self, chunk: AIMessageChunk) -> list[tuple[str | None, str]]:
        """Return the events one chunk gives."""
        thought = chunk.additional_kwargs.get("reasoning_content")
        is_text = isinstance(chunk.content, str) and not chunk.tool_call_chunks
        if not is_text or not self._is_text_only:
            self._is_text_only = False
            self._chunks.append(chunk)
            return []
        kwargs = {k: v for k, v in chunk.additional_kwargs.items() if k != "reasoning_content"}
        self._chunks.append(chunk.model_copy(update={"content": "", "additional_kwargs": kwargs}))
        parts: list[dict[str, Any]] = []
        if isinstance(thought, str) and thought:
            parts.append({"text": thought, "thought": True})
        if chunk.content:
            parts.append({"text": chunk.content})
        if not parts:
            return []
        body: dict[str, Any] = {"candidates": [_candidate(parts)]}
        if chunk.id:
            body["responseId"] = chunk.id  # Google names the reply in every event
        return [self._event(body)]

    def close(self) -> list[tuple[str | None, str]]:
        """Return the closing event: the rest of the parts, the finish reason and the usage."""
        if self._is_closed:
            return []
        self._is_closed = True
        first, *rest = self._chunks or [AIMessageChunk(content="")]
        whole = message_chunk_to_message(first + rest)
        assert isinstance(whole, AIMessage)
        return [self._event(encode_response(whole, self._provider, None))]

    @staticmethod
    def _event(body: dict[str, Any]) -> tuple[str | None, str]:
        return None, join_surrogates(dump_arguments(body))


def _candidate(parts: list[dict[str, Any]]) -> dict[str, Any]:
    return {"content": {"role": "model", "parts": parts}, "index": 0}
