"""The scripted server does on the wire what its script says."""

import gc
import socket
import sys

import httpx2
import pytest

from dragoman.messages import AIMessage
from dragoman.testing import Reply, ScriptedServer, refused_url
from dragoman.testing.replies import Act, frame_events


def raw(server: ScriptedServer, request: bytes = b"GET /x HTTP/1.1\r\nhost: h\r\n\r\n") -> bytes:
    with socket.create_connection(("127.0.0.1", server.port)) as sock:
        sock.sendall(request)
        sock.settimeout(5)
        out = b""
        while data := sock.recv(65536):
            out += data
        return out


def test_replies_come_in_order_and_requests_are_kept() -> None:
    with (
        ScriptedServer(Reply.json({"n": 1}), Reply.json({"n": 2}, status=503)) as server,
        httpx2.Client() as client,
    ):
        first = client.post(f"{server.url}/a", json={"q": 1}, headers={"X-Y": "z"})
        second = client.get(f"{server.url}/b?c=d")
        third = client.get(server.url)
    assert (first.json(), second.json(), second.status_code) == ({"n": 1}, {"n": 2}, 503)
    assert third.status_code == 418
    assert [(r.method, r.path) for r in server.requests] == [
        ("POST", "/a"),
        ("GET", "/b?c=d"),
        ("GET", "/"),
    ]
    assert server.requests[0].json == {"q": 1}
    assert server.requests[0].headers["x-y"] == "z"
    assert server.n_connections == 1


def test_a_function_can_be_the_script() -> None:
    with ScriptedServer(lambda request: Reply.json({"path": request.path})) as server:
        assert httpx2.get(f"{server.url}/here").json() == {"path": "/here"}


def test_bodies_are_framed_as_asked() -> None:
    events = [(None, '{"a":1}'), ("x", "two\nlines")]
    with ScriptedServer() as server:
        server.add(
            Reply.events(events),
            Reply.events(events, gzip=True),
            Reply(200, {}, [b"ab"], body="close"),
        )
        for _ in range(2):
            assert (
                httpx2.get(server.url).text
                == 'data: {"a":1}\n\nevent: x\ndata: two\ndata: lines\n\n'
            )
        assert httpx2.get(server.url).text == "ab"


def test_frames_of_all_framings() -> None:
    from dragoman.chat_models.framing import FRAMINGS

    events = [(None, b'{"a":1}'), (None, b"{}")]
    for framing in ("sse", "ndjson"):
        machine = FRAMINGS[framing]()
        out = [e for frame in frame_events(events, framing) for e in machine.feed(frame)]
        assert out + machine.close() == events
    machine = FRAMINGS["aws"]()
    named = [("messageStart", b"{}"), ("throttlingException", b"{}")]
    assert [e for frame in frame_events(named, "aws") for e in machine.feed(frame)] == named


@pytest.mark.parametrize(
    ("act", "kind"), [(Act.RESET, httpx2.ReadError), (Act.CLOSE, httpx2.RemoteProtocolError)]
)
def test_acts_before_the_headers(act: Act, kind: type) -> None:
    with ScriptedServer(Reply.fault(act)) as server, pytest.raises(kind):
        httpx2.get(server.url)


def test_a_hang_lasts_until_the_client_goes_away() -> None:
    with ScriptedServer(Reply.fault(Act.HANG)) as server:
        with pytest.raises(httpx2.ReadTimeout):
            httpx2.get(server.url, timeout=0.1)
        assert server.wait_idle()


def test_a_connection_can_be_closed_without_a_word() -> None:
    reply = Reply.json({})
    reply.keep_alive = False
    with ScriptedServer(reply) as server:
        answer = raw(server)
    assert b"connection: close" not in answer.lower()
    assert answer.endswith(b"{}")


@pytest.mark.parametrize(
    "api",
    [
        "openai_chat",
        "openai_responses",
        "anthropic",
        "gemini",
        "bedrock_converse",
        "ollama",
        "mistral",
        "cohere",
    ],
)
def test_every_wire_format_is_spoken(api: str) -> None:
    from dragoman.codecs import get_codec

    call = {"name": "f", "args": {"city": "Bursa, Türkiye"}, "id": "call_0123", "type": "tool_call"}
    for message in (AIMessage("Merhaba to all"), AIMessage("", tool_calls=[call])):
        codec = get_codec(api)
        whole = Reply.message(message, api=api)
        decoded = codec.decode_response(httpx2.Response(200, content=whole.steps[0]).json())
        assert (decoded.text, [c["args"] for c in decoded.tool_calls]) == (
            message.text,
            [c["args"] for c in message.tool_calls],
        )
        assert b"".join(
            s for s in Reply.message(message, api=api, stream=True).steps if isinstance(s, bytes)
        )


def test_an_address_where_nobody_listens() -> None:
    with pytest.raises(httpx2.ConnectError):
        httpx2.get(refused_url())


def test_a_server_that_stops_under_new_connections_leaves_none_behind(
    monkeypatch: pytest.MonkeyPatch, scale: int
) -> None:
    seen: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", seen.append)
    for n in range(20 * scale):
        server = ScriptedServer(Reply.json({}))
        clients = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(1 + n % 3)]
        if n % 2:
            clients[0].sendall(b"POST / HTTP/1.1\r\ncontent-length: 0\r\n\r\n")
        server.close()
        for client in clients:
            client.close()
        del server
    gc.collect()
    assert not seen
