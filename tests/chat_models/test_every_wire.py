"""The faults that every wire has to survive alike: errors inside a 200, abandonment, cancellation."""

import asyncio
import json
from typing import Any

import pytest

from dragoman.codecs import get_codec
from dragoman.errors import ModelError
from dragoman.messages import AIMessage
from dragoman.testing import Reply, ScriptedServer
from dragoman.testing.replies import reply_chunks

CLAUDE = "anthropic.claude-3-5-sonnet-20240620-v1:0"
# A model, its wire and framing, and how its server says inside a 200 that it failed.
WIRES = [
    ("openai:gpt-4o", "openai_chat", "sse", None, {"error": {"message": "it broke", "type": "server_error"}}),
    ("openai_responses:gpt-5", "openai_responses", "sse", "error", {"type": "error", "code": "server_error", "message": "it broke"}),
    ("anthropic:claude-sonnet-4-5", "anthropic", "sse", "error", {"type": "error", "error": {"type": "overloaded_error", "message": "it broke"}}),
    ("google_genai:gemini-2.5-flash", "gemini", "sse", None, {"error": {"code": 503, "message": "it broke", "status": "UNAVAILABLE"}}),
    (f"bedrock_converse:{CLAUDE}", "bedrock_converse", "aws", "throttlingException", {"message": "it broke"}),
    ("mistralai:mistral-large-latest", "mistral", "sse", None, {"object": "error", "message": "it broke", "code": "3000"}),
    ("ollama:llama3", "ollama", "ndjson", None, {"error": "it broke"}),
]  # fmt: skip
every_wire = pytest.mark.parametrize("wire", WIRES, ids=[w[1] for w in WIRES])


@pytest.fixture
def model(wire: Any, make: Any, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a model of the wire whose pool holds two connections."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    key = {"api_key": None} if wire[1] == "bedrock_converse" else {}
    address = f"{server.url}/v1" if wire[1].startswith("openai") else server.url
    return make(wire[0], base_url=address, max_connections=2, max_retries=0, **key)


def streamed(wire: Any, hello: AIMessage, **options: Any) -> Reply:
    return Reply.message(hello, api=wire[1], stream=True, **options)


def fail_while_reading(model: Any) -> None:
    with model.stream("hi") as stream:
        for _chunk in stream:
            raise KeyError


@every_wire
def test_an_error_inside_a_200_is_an_error(
    wire: Any, model: Any, colour: Any, server: ScriptedServer, hello: AIMessage
) -> None:
    _, api, framing, name, body = wire
    failure = (name, json.dumps(body))
    server.add(Reply.events([failure], framing=framing))
    with pytest.raises(ModelError, match="it broke") as caught:
        colour.stream(model, "hi")
    assert caught.value.partial is None

    writer = get_codec(api).stream_encoder()
    events = [e for chunk in reply_chunks(hello) for e in writer.feed(chunk)]
    at = next(n for n, (_, data) in enumerate(events) if "dear" in str(data))
    server.add(Reply.events([*events[:at], failure], framing=framing))
    with pytest.raises(ModelError, match="it broke") as caught:
        colour.stream(model, "hi")
    assert caught.value.partial.content.startswith("Hello")

    if api != "bedrock_converse":  # whose body with a status of 200 has no form for an error
        server.add(Reply.json(body))
        with pytest.raises(ModelError, match="it broke"):
            colour.invoke(model, "hi")


@every_wire
def test_streams_left_in_any_way_give_their_connection_back(
    wire: Any, model: Any, server: ScriptedServer, hello: AIMessage
) -> None:
    server.add(*(streamed(wire, hello, end="hang") for _ in range(9)))
    for _ in range(3):
        for _chunk in model.stream("hi"):
            break
    for _ in range(3):
        stream = model.stream("hi")
        next(stream)
        del stream
    for _ in range(3):
        with pytest.raises(KeyError):
            fail_while_reading(model)
    server.add(Reply.message(hello, api=wire[1]))
    assert model.invoke("hi").content == hello.content


@every_wire
def test_a_cancel_at_any_moment_gives_the_connection_back(
    wire: Any, model: Any, server: ScriptedServer, hello: AIMessage
) -> None:
    async def ask() -> None:
        async for _chunk in model.astream("hi"):
            pass

    async def main() -> None:
        for n_steps in range(0, 30, 2):
            server.add(streamed(wire, hello))
            task = asyncio.ensure_future(ask())
            for _ in range(n_steps):
                await asyncio.sleep(0.0005)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        server.add(streamed(wire, hello))
        chunks = [c async for c in model.astream("hi")]
        assert sum(chunks[1:], chunks[0]).text == hello.content

    asyncio.run(main())
