"""OpenTelemetry spans, received by the SDK's own in-memory exporter."""

import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from dragoman.errors import ModelAuthenticationError, ModelStreamError
from dragoman.messages import AIMessage
from dragoman.testing import Reply, ScriptedServer


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemorySpanExporter]:
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(
        trace,
        "get_tracer",
        lambda name, schema_url=None: provider.get_tracer(name, schema_url=schema_url),
    )
    yield exporter
    provider.shutdown()


def test_a_call_is_one_span(
    make: Any, server: ScriptedServer, hello: AIMessage, colour: Any, spans: Any
) -> None:
    server.add(Reply.message(hello), Reply.message(hello, stream=True))
    model = make(temperature=0.5, max_tokens=9, stop="X")
    colour.invoke(model, "secret words")
    colour.stream(model, "secret words")
    for span in spans.get_finished_spans():
        assert span.name == "chat gpt-4o"
        assert span.kind is trace.SpanKind.CLIENT
        assert span.instrumentation_scope.schema_url == "https://opentelemetry.io/schemas/1.37.0"
        assert dict(span.attributes) == {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": "openai",
            "gen_ai.request.model": "gpt-4o",
            "gen_ai.request.temperature": 0.5,
            "gen_ai.request.max_tokens": 9,
            "gen_ai.request.stop_sequences": ("X",),
            "gen_ai.response.model": "gpt-4o",
            "gen_ai.response.id": "chatcmpl-1",
            "gen_ai.response.finish_reasons": ("stop",),
            "gen_ai.usage.input_tokens": 3,
            "gen_ai.usage.output_tokens": 5,
        }
    assert len(spans.get_finished_spans()) == 2


def test_what_was_said_is_recorded_only_when_asked(
    make: Any,
    server: ScriptedServer,
    hello: AIMessage,
    colour: Any,
    spans: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "true")
    server.add(Reply.message(hello))
    colour.invoke(make(), [("system", "s"), ("user", "words")])
    (span,) = spans.get_finished_spans()
    assert json.loads(span.attributes["gen_ai.input.messages"]) == [
        {"role": "system", "parts": [{"type": "text", "content": "s"}]},
        {"role": "user", "parts": [{"type": "text", "content": "words"}]},
    ]
    assert (
        json.loads(span.attributes["gen_ai.output.messages"])[0]["parts"][0]["content"]
        == hello.content
    )


def test_a_failed_call_is_marked(
    make: Any, server: ScriptedServer, hello: AIMessage, colour: Any, spans: Any
) -> None:
    server.add(
        Reply.json({"error": {"message": "no"}}, status=401),
        Reply.message(hello, stream=True, only=3),
    )
    with pytest.raises(ModelAuthenticationError):
        colour.invoke(make(), "hi")
    with pytest.raises(ModelStreamError):
        colour.stream(make(), "hi")
    first, second = spans.get_finished_spans()
    assert first.attributes["error.type"] == "ModelAuthenticationError"
    assert second.attributes["error.type"] == "ModelStreamError"
    assert not first.status.is_ok
    assert "no" not in (first.status.description or "")


def test_an_abandoned_stream_ends_its_span(
    make: Any, server: ScriptedServer, hello: AIMessage, spans: Any
) -> None:
    server.add(Reply.message(hello, stream=True, wait_s=0.02))
    stream = make().stream("hi")
    next(stream)
    stream.close()
    (span,) = spans.get_finished_spans()
    assert "error.type" not in span.attributes


def test_nobody_pays_who_does_not_trace() -> None:
    code = (
        "import sys\n"
        "from dragoman.testing import ScriptedServer, Reply\n"
        "from dragoman.messages import AIMessage\n"
        "from dragoman.chat_models import init_chat_model\n"
        "with ScriptedServer(Reply.message(AIMessage('a'))) as s:\n"
        "    print(init_chat_model('openai:m', base_url=s.url, api_key='x' * 10).invoke('hi').text)\n"
        "print('opentelemetry' in sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.split() == ["a", "False"]
