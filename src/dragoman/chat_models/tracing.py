"""OpenTelemetry spans of model calls, by the GenAI semantic conventions.

A span is made only in a process that has imported `opentelemetry.trace`, since without that nobody
can receive it; other processes pay one dictionary look-up a call. Names and meanings are those of
the table below, of one version of the conventions. What was said is recorded only when the variable
`OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT` is true.
"""

import os
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Generator, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Self

import msgspec

if TYPE_CHECKING:
    from dragoman.chat_models.model import ProviderChatModel
    from dragoman.messages import AIMessage, AIMessageChunk, BaseMessage

__all__ = ["NAMES", "SCHEMA_URL", "NoSpan", "Span", "span_for"]

SCHEMA_URL = "https://opentelemetry.io/schemas/1.37.0"
NAMES = {
    "operation": "gen_ai.operation.name",
    "provider": "gen_ai.provider.name",
    "model": "gen_ai.request.model",
    "max_tokens": "gen_ai.request.max_tokens",
    "temperature": "gen_ai.request.temperature",
    "top_p": "gen_ai.request.top_p",
    "stop": "gen_ai.request.stop_sequences",
    "reply_model": "gen_ai.response.model",
    "reply_id": "gen_ai.response.id",
    "finish": "gen_ai.response.finish_reasons",
    "input_tokens": "gen_ai.usage.input_tokens",
    "output_tokens": "gen_ai.usage.output_tokens",
    "cache_read": "gen_ai.usage.cache_read.input_tokens",
    "cache_creation": "gen_ai.usage.cache_creation.input_tokens",
    "input": "gen_ai.input.messages",
    "output": "gen_ai.output.messages",
    "error": "error.type",
}
"""Our words -> the names of semantic conventions 1.37 (https://opentelemetry.io/docs/specs/semconv/gen-ai)."""

# The conventions' words for providers, where they differ from ours.
_PROVIDERS = {
    "openai_responses": "openai",
    "google_genai": "gcp.gemini",
    "google_vertexai": "gcp.vertex_ai",
    "bedrock_converse": "aws.bedrock",
    "bedrock": "aws.bedrock",
    "azure_openai": "azure.ai.openai",
    "mistralai": "mistral_ai",
    "xai": "x_ai",
}
_CONTENT = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"


class NoSpan:
    """Nobody listens: streams and replies pass through, with their notes put in."""

    is_recording = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def told(self, reply: "AIMessage") -> "AIMessage":
        """Return the reply."""
        return reply

    def over(
        self, chunks: "Iterator[AIMessageChunk]", notes: Mapping[str, Any]
    ) -> "Generator[AIMessageChunk, None, None]":
        """Yield the chunks; the last one carries `notes`."""
        try:
            for chunk in chunks:
                if notes and chunk.chunk_position == "last":
                    chunk.response_metadata.update(notes)
                yield chunk
        finally:
            chunks.close()  # type: ignore[attr-defined]

    async def aover(
        self, chunks: "AsyncIterator[AIMessageChunk]", notes: Mapping[str, Any]
    ) -> "AsyncGenerator[AIMessageChunk, None]":
        """Yield the chunks; the last one carries `notes`."""
        try:
            async for chunk in chunks:
                if notes and chunk.chunk_position == "last":
                    chunk.response_metadata.update(notes)
                yield chunk
        finally:
            await chunks.aclose()  # type: ignore[attr-defined]


class Span(NoSpan):
    """One span, from the request to the end of its reply.

    Args:
        span: OpenTelemetry's span, already started.
        with_content: Whether what is said may be recorded.
    """

    is_recording = True

    def __init__(self, span: Any, *, with_content: bool) -> None:
        self._span = span
        self._with_content = with_content

    def __exit__(self, *error: object) -> None:
        self._finish(error[1])

    def told(self, reply: "AIMessage") -> "AIMessage":
        """Record what the reply says of itself."""
        meta, usage = reply.response_metadata, reply.usage_metadata or {}
        details: Any = usage.get("input_token_details") or {}
        finish = meta.get("finish_reason")
        self._set(
            reply_model=meta.get("model_name"),
            reply_id=meta.get("id") or reply.id,
            finish=None if finish is None else [str(finish)],
            input_tokens=usage.get("input_tokens"),
            output_tokens=usage.get("output_tokens"),
            cache_read=details.get("cache_read"),
            cache_creation=details.get("cache_creation"),
        )
        if self._with_content:
            self._set(output=_content([reply]))
        return reply

    def over(
        self, chunks: "Iterator[AIMessageChunk]", notes: Mapping[str, Any]
    ) -> "Generator[AIMessageChunk, None, None]":
        """Yield the chunks, and end the span with the stream."""
        seen: list[AIMessageChunk] = []
        fault: BaseException | None = None
        try:
            for chunk in super().over(chunks, notes):
                seen.append(chunk)
                yield chunk
        except BaseException as error:
            fault = error
            raise
        finally:
            self._end_stream(seen, fault)

    async def aover(
        self, chunks: "AsyncIterator[AIMessageChunk]", notes: Mapping[str, Any]
    ) -> "AsyncGenerator[AIMessageChunk, None]":
        """Yield the chunks, and end the span with the stream."""
        seen: list[AIMessageChunk] = []
        fault: BaseException | None = None
        inner = super().aover(chunks, notes)
        try:
            async for chunk in inner:
                seen.append(chunk)
                yield chunk
        except BaseException as error:
            fault = error
            raise
        finally:
            await inner.aclose()
            self._end_stream(seen, fault)

    def _end_stream(self, seen: "list[AIMessageChunk]", fault: BaseException | None) -> None:
        if seen:
            first, *rest = seen
            total: Any = first + rest if rest else first
            self.told(total)
        self._finish(None if isinstance(fault, GeneratorExit) else fault)

    def _finish(self, error: object) -> None:
        if isinstance(error, BaseException):
            from opentelemetry.trace import Status, StatusCode

            self._set(error=type(error).__qualname__)
            # The text of our errors holds no payload; others are named only.
            self._span.set_status(Status(StatusCode.ERROR, type(error).__name__))
        self._span.end()

    def _set(self, **values: Any) -> None:
        for word, value in values.items():
            if value is not None:
                self._span.set_attribute(NAMES[word], value)


_NO_SPAN = NoSpan()


def span_for(
    model: "ProviderChatModel", kw: Mapping[str, Any], messages: "list[BaseMessage]"
) -> NoSpan:
    """Return a started span for one call, or one that does nothing when nobody listens."""
    if "opentelemetry.trace" not in sys.modules:
        return _NO_SPAN
    from opentelemetry import trace

    name = str(kw.get("model", model.model))
    tracer = trace.get_tracer("dragoman", schema_url=SCHEMA_URL)
    provider = model.provider.name
    span = tracer.start_span(
        f"chat {name}",
        kind=trace.SpanKind.CLIENT,
        attributes={
            NAMES["operation"]: "chat",
            NAMES["provider"]: _PROVIDERS.get(provider, provider),
            NAMES["model"]: name,
        },
    )
    if not span.is_recording():
        return _NO_SPAN
    with_content = os.environ.get(_CONTENT, "").lower() in ("true", "1", "yes")
    made = Span(span, with_content=with_content)
    stop = kw.get("stop", model.stop)
    made._set(
        max_tokens=kw.get("max_tokens", model.max_tokens),
        temperature=kw.get("temperature", model.temperature),
        top_p=kw.get("top_p", model.top_p),
        stop=[stop] if isinstance(stop, str) else stop,
        input=_content(messages) if with_content else None,
    )
    return made


def _content(messages: "list[Any]") -> str:
    """Return messages as the conventions write them: roles with parts, as JSON."""
    out: list[dict[str, Any]] = []
    for message in messages:
        parts: list[dict[str, Any]] = []
        if message.text:
            parts.append({"type": "text", "content": str(message.text)})
        parts += [
            {"type": "tool_call", "id": call["id"], "name": call["name"], "arguments": call["args"]}
            for call in getattr(message, "tool_calls", None) or ()
        ]
        call_id = getattr(message, "tool_call_id", None)
        if call_id is not None:
            parts = [{"type": "tool_call_response", "id": call_id, "response": str(message.text)}]
        out.append({"role": message.role, "parts": parts})
    return msgspec.json.encode(out).decode()
