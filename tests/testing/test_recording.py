"""Exchanges kept and played back, without their keys."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from dragoman.chat_models import init_chat_model
from dragoman.messages import AIMessage
from dragoman.testing import Reply, ScriptedServer, record, replay
from dragoman.testing.recording import RecordingError

KEY = "sk-proj-abcdefghijklmnop1234"
HELLO = AIMessage("Hello dear world")


def model(url: str, clients: Any) -> Any:
    return init_chat_model(
        "openai:gpt-4o", base_url=url, api_key=KEY, max_retries=0, **clients.options
    )


def answers(url: str, clients: Any) -> list[Any]:
    one = model(url, clients)
    stream = [chunk.text for chunk in one.stream("b")]

    async def later() -> list[Any]:
        async with clients.async_client:
            whole = (await one.ainvoke("c")).text
            return [whole, [chunk.text async for chunk in one.astream("d")]]

    return [one.invoke("a").text, stream, *asyncio.run(later())]


@pytest.mark.parametrize("gzip", [False, True])
def test_what_was_recorded_is_played_back(tmp_path: Path, gzip: bool) -> None:
    path = tmp_path / "chat.jsonl"
    with ScriptedServer() as server:
        for wants_stream in (True, False, False, True):
            reply = Reply.message(HELLO, stream=wants_stream)
            reply.gzip = gzip
            server.add(reply)
        with record(path) as clients:
            said = answers(f"{server.url}/v1", clients)
        url = f"{server.url}/v1"
    with replay(path) as clients:
        assert answers(url, clients) == said
    assert said[0] == said[2] == "Hello dear world"
    assert len(said[1]) > 3
    assert KEY not in path.read_text()
    assert "authorization" not in path.read_text().lower()


def test_errors_are_recorded_too_and_keys_in_them_masked(tmp_path: Path) -> None:
    path = tmp_path / "chat.jsonl"
    body = {"error": {"message": f"Incorrect API key provided: {KEY}"}}
    server = ScriptedServer(Reply.json(body, status=401))
    with server, record(path) as clients, pytest.raises(Exception, match="401"):
        model(f"{server.url}/v1", clients).invoke("a")
    assert KEY not in path.read_text()
    with replay(path) as clients, pytest.raises(Exception, match="401"):
        model("https://models.example/v1", clients).invoke("a")


def test_what_was_not_recorded_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "chat.jsonl"
    path.write_text("")
    with replay(path) as clients, pytest.raises(RecordingError, match="was not recorded"):
        model("https://models.example/v1", clients).invoke("a")
    path.write_text("{broken")
    with pytest.raises(RecordingError, match="no recording"):
        replay(path)
    with pytest.raises(RecordingError):
        replay(tmp_path / "nowhere")
