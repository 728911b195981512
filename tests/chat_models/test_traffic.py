"""Recorded exchanges, played back over a real socket, give the same message as the codec alone.

The recordings stand beside the repository; where they do not, the cases of the codecs' own tests are
played back in their place.
"""

import asyncio
import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dragoman.chat_models.exchange import Exchange, HttpCall, Retry, Wire
from dragoman.codecs import SUPPORTED, get_codec
from dragoman.errors import DragomanError, ModelError
from dragoman.messages import message_chunk_to_message
from dragoman.testing import Reply, ScriptedServer

ROOT = Path(__file__).parents[2]
TRAFFIC = ROOT.parent / "shared" / "traffic"
CASES = ROOT / "tests" / "codecs"
FRAMING = {"ollama": "ndjson", "bedrock_converse": "aws"}


def recorded(api: str) -> Iterator[dict[str, Any]]:
    file = TRAFFIC / f"{api}.jsonl.gz"
    if file.exists():
        with gzip.open(file) as lines:
            yield from map(json.loads, lines)
        return
    for case in sorted((CASES / api / "cases").glob("*")):
        record: dict[str, Any] = {"id": case.name, "provider": None, "status": 200}
        provider = case / "provider.txt"
        if provider.exists():
            record["provider"] = provider.read_text().strip()
        if (case / "response.json").exists():
            yield {**record, "response": json.loads((case / "response.json").read_text())}
        if (case / "stream.txt").exists():
            pairs = [
                line.split("\t", 1)
                for line in (case / "stream.txt").read_text().splitlines()
                if line
            ]
            yield {**record, "events": [{"event": e or None, "data": d} for e, d in pairs]}


def reply_of(record: dict[str, Any], api: str, piece_bytes: int | None) -> Reply:
    if "events" not in record:
        return Reply.json(record["response"], status=record["status"])
    events = [
        (e.get("event"), e["data"] if isinstance(e["data"], str) else json.dumps(e["data"]))
        for e in record["events"]
    ]
    return Reply.events(events, framing=FRAMING.get(api, "sse"), piece_bytes=piece_bytes)


def outcome(work: Any, *args: Any) -> Any:
    """Return a message, or the kind and text of the error that came in its place."""
    try:
        return work(*args)
    except ModelError as error:
        return type(error), error.message, error.status
    except DragomanError as error:
        return type(error), str(error)


def alone(record: dict[str, Any], codec: Any) -> Any:
    if "events" not in record:
        if record["status"] != 200:
            raise codec.decode_error(record["status"], record["response"])
        return codec.decode_response(record["response"])
    reader = codec.stream_decoder()
    chunks = [c for e in record["events"] for c in reader.feed(e.get("event"), e["data"])]
    return folded(chunks + reader.close())


def folded(chunks: list[Any]) -> Any:
    first, *rest = chunks
    return message_chunk_to_message(first + rest if rest else first)


def over_the_wire(record: dict[str, Any], codec: Any, url: str, api: str, is_async: bool) -> Any:
    async def prepare(door: Any) -> HttpCall:
        return HttpCall(url, {"content-type": "application/json"}, b"{}")

    wire = Wire(
        codec=codec, framing=FRAMING.get(api, "sse"), provider="x", retry=Retry(max_retries=0)
    )
    exchange = Exchange(wire, prepare)
    if "events" not in record:
        return asyncio.run(exchange.asend()) if is_async else exchange.send()
    if not is_async:
        return folded(list(exchange.stream()))

    async def collect() -> list[Any]:
        return [chunk async for chunk in exchange.astream()]

    return folded(asyncio.run(collect()))


@pytest.mark.parametrize("api", SUPPORTED)
def test_over_a_socket_as_without_one(api: str) -> None:
    played = 0
    with ScriptedServer() as server:
        for number, record in enumerate(recorded(api)):
            codec = get_codec(api, record["provider"])
            expected = outcome(alone, record, codec)
            server.add(reply_of(record, api, (None, 1000, 61)[number % 3]))
            got = outcome(over_the_wire, record, codec, server.url, api, number % 2 == 0)
            assert got == expected, record["id"]
            played += 1
    assert played
    assert len(server.requests) == played
