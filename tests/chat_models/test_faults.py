"""The fault matrix: what breaks on real sockets, and what a caller sees (faults B111-B115).

Each row says how the server misbehaves, which error comes out, what of the reply is in it, and how
many requests were made. Every row runs sync and async, and ends with no connection open.
"""

import time
from typing import Any

import pytest

from dragoman.chat_models.exchange import ModelStreamTimeoutError
from dragoman.errors import (
    ContextOverflowError,
    ModelAPIError,
    ModelAuthenticationError,
    ModelConnectionError,
    ModelError,
    ModelInvalidRequestError,
    ModelNotFoundError,
    ModelPermissionDeniedError,
    ModelRateLimitError,
    ModelStatusError,
    ModelStreamError,
    ModelTimeoutError,
)
from dragoman.messages import AIMessage
from dragoman.testing import Reply, ScriptedServer, refused_url
from dragoman.testing.replies import Act

TEXT = "Hello there, dear world"
SHORT = {"read": 0.25, "idle": 0.25}


def streamed(message: AIMessage, **options: Any) -> Reply:
    return Reply.message(message, stream=True, **options)


def test_a_refused_connection(colour: Any, make: Any) -> None:
    model = make(base_url=refused_url(), max_retries=1)
    for call in (colour.invoke, colour.stream):
        with pytest.raises(
            ModelConnectionError, match=r"cannot connect to http://127\.0\.0\.1"
        ) as caught:
            call(model, "hi")
        assert caught.value.is_retryable
        assert caught.value.status is None
        assert caught.value.provider == "openai"
        assert caught.value.partial is None


@pytest.mark.parametrize("act", [Act.RESET, Act.CLOSE])
def test_a_connection_lost_before_the_headers_is_made_again(
    act: Act, colour: Any, make: Any, server: ScriptedServer, hello: AIMessage
) -> None:
    server.add(Reply.fault(act), Reply.message(hello), Reply.fault(act), streamed(hello))
    assert colour.invoke(make(), "hi").content == TEXT
    assert "".join(c.text for c in colour.stream(make(), "hi")) == TEXT
    keys = [r.headers["idempotency-key"] for r in server.requests]
    assert keys[0] == keys[1] != keys[2] == keys[3]
    server.add(Reply.fault(act), Reply.fault(act))
    with pytest.raises(ModelConnectionError):
        colour.invoke(make(max_retries=1), "hi")
    assert len(server.requests) == 6


# How a stream is cut after its first three events (the role, "Hello", " there,").
CUTS = [
    ("reset", {"end": "reset"}, ModelStreamError, "broke"),
    ("closed", {"end": "close"}, ModelStreamError, "broke"),
    ("clean end without end mark", {}, ModelStreamError, "ended before the reply was complete"),
    ("stall", {"end": "hang"}, ModelStreamTimeoutError, "silent for 0.25 s"),
    (
        "stall with pings",
        {"end": "hang", "pings": 40},
        ModelStreamTimeoutError,
        "nothing but keep-alives",
    ),
    (
        "stall with ping events",
        {"end": "hang", "pings": 40, "ping": b"event: ping\ndata: {}\n\n"},
        ModelStreamTimeoutError,
        "nothing but keep-alives",
    ),
    ("reset, one byte a write", {"end": "reset", "piece_bytes": 1}, ModelStreamError, "broke"),
    ("cut, compressed", {"end": "close", "gzip": True}, ModelStreamError, "broke"),
]


@pytest.mark.parametrize(
    ("options", "kind", "text"), [c[1:] for c in CUTS], ids=[c[0] for c in CUTS]
)
def test_a_stream_that_is_cut_says_what_arrived_and_is_not_tried_again(
    options: dict,
    kind: type,
    text: str,
    colour: Any,
    make: Any,
    server: ScriptedServer,
    hello: AIMessage,
) -> None:
    server.add(streamed(hello, only=3, **options))
    started = time.monotonic()
    with pytest.raises(kind, match=text) as caught:
        colour.stream(make(timeout=SHORT), "hi")
    assert time.monotonic() - started < 5
    assert type(caught.value.partial) is AIMessage
    assert caught.value.partial.content == "Hello there,"
    assert caught.value.provider == "openai"
    assert len(server.requests) == 1
    # Only a reply that was read to its end leaves a connection, for the next call.
    assert server.wait_idle(0 if options or colour.is_async else 1)


def test_a_stream_cut_in_half_an_event(
    colour: Any, make: Any, server: ScriptedServer, hello: AIMessage
) -> None:
    whole = streamed(hello)
    whole.steps = [*whole.steps[:3], whole.steps[3][:-20]]
    server.add(whole)
    with pytest.raises(ModelStreamError, match="cut in the middle of an event") as caught:
        colour.stream(make(), "hi")
    assert caught.value.partial.content == "Hello there,"


def test_a_call_cut_off_is_an_invalid_call_in_the_partial(
    colour: Any, make: Any, server: ScriptedServer
) -> None:
    call = {
        "name": "search",
        "args": {"query": "a rather long question"},
        "id": "call_1",
        "type": "tool_call",
    }
    server.add(streamed(AIMessage("", tool_calls=[call]), only=4))
    with pytest.raises(ModelStreamError) as caught:
        colour.stream(make(), "hi")
    partial = caught.value.partial
    assert partial.tool_calls == []
    assert partial.invalid_tool_calls[0]["name"] == "search"
    assert partial.invalid_tool_calls[0]["args"].startswith('{"query"')


HARMLESS = [
    ("one byte a write", {"piece_bytes": 1}),
    ("half frames", {"piece_bytes": 37}),
    ("slow", {"wait_s": 0.02}),
    ("gzip", {"gzip": True}),
    ("gzip, tiny", {"gzip": True, "piece_bytes": 5}),
    ("no content type", {"content_type": "application/octet-stream"}),
    ("pings between", {"pings": 2, "ping_s": 0.01}),
    ("hangs after its end", {"end": "hang"}),
    ("reset after its end", {"end": "reset"}),
]


@pytest.mark.parametrize("options", [c[1] for c in HARMLESS], ids=[c[0] for c in HARMLESS])
def test_what_does_no_harm(
    options: dict, colour: Any, make: Any, server: ScriptedServer, hello: AIMessage
) -> None:
    server.add(streamed(hello, **options))
    chunks = colour.stream(make(timeout=SHORT), "hi")
    total = sum(chunks[1:], chunks[0])
    assert total.content == TEXT
    assert total.usage_metadata["output_tokens"] == 5
    assert total.response_metadata["finish_reason"] == "stop"
    assert chunks[-1].chunk_position == "last"
    assert server.wait_idle(0 if colour.is_async else 1)


def test_a_whole_reply_compressed(
    colour: Any, make: Any, server: ScriptedServer, hello: AIMessage
) -> None:
    reply = Reply.message(hello)
    reply.gzip = True
    server.add(reply)
    assert colour.invoke(make(), "hi").content == TEXT


def test_one_json_body_where_a_stream_was_asked_for(
    colour: Any, make: Any, server: ScriptedServer, hello: AIMessage
) -> None:
    server.add(Reply.message(hello))
    chunks = colour.stream(make(), "hi")
    assert sum(chunks[1:], chunks[0]).content == TEXT


@pytest.mark.parametrize(
    "kind", ["application/json", "text/html", "text/plain", "TEXT/EVENT-STREAM"]
)
def test_a_stream_under_a_wrong_content_type(
    kind: str, colour: Any, make: Any, server: ScriptedServer, hello: AIMessage
) -> None:
    server.add(streamed(hello, content_type=kind), streamed(hello, content_type=kind, only=3))
    assert "".join(c.text for c in colour.stream(make(), "hi")) == TEXT
    with pytest.raises(ModelStreamError) as caught:
        colour.stream(make(), "hi")
    assert caught.value.partial.content == "Hello there,"


def test_a_page_in_place_of_a_reply(colour: Any, make: Any, server: ScriptedServer) -> None:
    page = "<html><head><title>Sign in</title></head><body>please</body></html>"
    for call in (colour.invoke, colour.stream):
        server.add(Reply.text(page))
        with pytest.raises(
            ModelAPIError, match="text/html in place of a reply: Sign in: please"
        ) as caught:
            call(make(), "hi")
        assert not caught.value.is_retryable
    assert len(server.requests) == 2


def test_a_broken_body_is_an_error_of_ours(colour: Any, make: Any, server: ScriptedServer) -> None:
    server.add(Reply.text('{"choices": [', content_type="application/json"))
    with pytest.raises(ModelError):
        colour.invoke(make(max_retries=0), "hi")


@pytest.mark.parametrize(
    "body", [{"detail": "Not Found"}, [], 7, "ok", None, {"choices": []}, {"choices": {}}]
)
def test_json_that_is_no_reply(body: Any, colour: Any, make: Any, server: ScriptedServer) -> None:
    for call in (colour.invoke, colour.stream):
        server.add(Reply.json(body))
        with pytest.raises(ModelError) as caught:
            call(make(max_retries=0), "hi")
        assert caught.value.provider == "openai"


@pytest.mark.parametrize("data", ["[]", "7", "null", '{"choices":7}', "{broken", '"text"'])
def test_events_that_are_no_chunks(
    data: str, colour: Any, make: Any, server: ScriptedServer
) -> None:
    server.add(Reply.events([(None, data)]))
    with pytest.raises(ModelError):
        colour.stream(make(max_retries=0), "hi")


STATUSES = [
    (400, ModelInvalidRequestError, False),
    (401, ModelAuthenticationError, False),
    (403, ModelPermissionDeniedError, False),
    (404, ModelNotFoundError, False),
    (408, ModelTimeoutError, True),
    (409, ModelStatusError, True),
    (413, ModelInvalidRequestError, False),
    (422, ModelInvalidRequestError, False),
    (425, ModelStatusError, True),
    (429, ModelRateLimitError, True),
    (500, ModelAPIError, True),
    (503, ModelAPIError, True),
    (529, ModelAPIError, True),
]


@pytest.mark.parametrize(("status", "kind", "is_retried"), STATUSES)
def test_error_statuses(
    status: int,
    kind: type,
    is_retried: bool,
    colour: Any,
    make: Any,
    server: ScriptedServer,
    hello: AIMessage,
) -> None:
    body = {"error": {"message": "no such luck", "type": "some_error", "code": None}}
    reply = Reply.json(body, status=status, headers={"x-request-id": "req_7"})
    server.add(reply, reply)
    for call in (colour.invoke, colour.stream):
        before = len(server.requests)
        server._script.clear()
        server.add(reply, reply, Reply.message(hello))
        with pytest.raises(kind, match="no such luck") as caught:
            call(make(max_retries=1), "hi")
        assert len(server.requests) - before == (2 if is_retried else 1)
        assert caught.value.status == status
        assert caught.value.is_retryable is is_retried
        assert caught.value.request_id == "req_7"
        assert caught.value.provider == "openai"
    assert server.wait_idle(0 if colour.is_async else 1)


def test_an_error_page_that_is_not_json(colour: Any, make: Any, server: ScriptedServer) -> None:
    page = "<html><head><title>502 Bad Gateway</title></head><body><center>nginx</center></body></html>"
    server.add(Reply.text(page, status=502))
    with pytest.raises(ModelAPIError, match="502 Bad Gateway: nginx"):
        colour.invoke(make(max_retries=0), "hi")
    server.add(Reply(503, {"content-type": "text/plain"}, [b""]))
    with pytest.raises(ModelAPIError, match="503"):
        colour.invoke(make(max_retries=0), "hi")


def test_an_error_page_without_end_is_not_read_to_its_end(
    colour: Any, make: Any, server: ScriptedServer
) -> None:
    server.add(
        Reply(500, {"content-type": "text/html"}, [b"<p>" + b"x" * 500_000] * 9, body="close")
    )
    with pytest.raises(ModelAPIError) as caught:
        colour.invoke(make(max_retries=0), "hi")
    assert len(str(caught.value)) < 2500
    assert server.wait_idle()


def test_a_redirect_names_what_to_do(colour: Any, make: Any, server: ScriptedServer) -> None:
    server.add(Reply(307, {"location": "https://elsewhere.example/"}))
    with pytest.raises(ModelStatusError, match="redirect; set `base_url`"):
        colour.invoke(make(), "hi")


def test_context_overflow_has_a_class_of_its_own(
    colour: Any, make: Any, server: ScriptedServer
) -> None:
    error = {
        "message": "too long",
        "type": "invalid_request_error",
        "code": "context_length_exceeded",
    }
    server.add(Reply.json({"error": error}, status=400))
    with pytest.raises(ContextOverflowError):
        colour.invoke(make(), "hi")


OVERLOADED = [
    ('{"error":{"message":"busy","type":"overloaded_error"}}', ModelAPIError),
    ('{"error":{"message":"slow down","code":429}}', ModelRateLimitError),
    ('{"error":{"message":"oops","type":"server_error"}}', ModelAPIError),
]


@pytest.mark.parametrize(("event", "kind"), OVERLOADED)
def test_an_error_event_before_the_first_token_is_tried_again(
    event: str, kind: type, colour: Any, make: Any, server: ScriptedServer, hello: AIMessage
) -> None:  # B114
    role = '{"id":"c","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}'
    server.add(
        Reply.events([(None, event)]), Reply.events([(None, role), (None, event)]), streamed(hello)
    )
    assert "".join(c.text for c in colour.stream(make(), "hi")) == TEXT
    assert len(server.requests) == 3
    server.add(Reply.events([(None, event)]))
    with pytest.raises(kind) as caught:
        colour.stream(make(max_retries=0), "hi")
    assert caught.value.partial is None


@pytest.mark.parametrize(("event", "kind"), OVERLOADED)
def test_an_error_event_after_three_deltas_keeps_them(
    event: str, kind: type, colour: Any, make: Any, server: ScriptedServer, hello: AIMessage
) -> None:  # B114
    steps = streamed(hello, only=3)
    steps.steps.append(f"data: {event}\n\n".encode())
    server.add(steps)
    with pytest.raises(kind) as caught:
        colour.stream(make(), "hi")
    assert caught.value.partial.content == "Hello there,"
    assert len(server.requests) == 1


def test_an_error_body_inside_a_200(
    colour: Any, make: Any, server: ScriptedServer, hello: AIMessage
) -> None:
    server.add(
        Reply.json({"error": {"message": "Provider returned error", "code": 429}}),
        Reply.message(hello),
    )
    assert colour.invoke(make(), "hi").content == TEXT
    assert len(server.requests) == 2


def test_the_provider_s_wish_to_wait(
    colour: Any, make: Any, server: ScriptedServer, hello: AIMessage
) -> None:  # B115
    error = {"error": {"message": "slow down"}}
    server.add(
        Reply.json(error, status=429, headers={"retry-after-ms": "150"}), Reply.message(hello)
    )
    started = time.monotonic()
    assert colour.invoke(make(), "hi").content == TEXT
    assert time.monotonic() - started >= 0.15
    server.add(Reply.json(error, status=429, headers={"retry-after": "600"}))
    with pytest.raises(ModelRateLimitError, match=r"wait 600 s, more than the 60 s") as caught:
        colour.invoke(make(), "hi")
    assert caught.value.retry_after_s == 600
    assert len(server.requests) == 3


def test_no_answer_in_time(colour: Any, make: Any, server: ScriptedServer) -> None:
    for call in (colour.invoke, colour.stream):
        server.add(Reply.fault(Act.HANG))
        with pytest.raises(ModelTimeoutError, match=r"no answer within 0\.1 s") as caught:
            call(make(timeout={"read": 0.1}, max_retries=0), "hi")
        assert caught.value.is_retryable
    assert server.wait_idle()


def test_the_total_time_bounds_a_stream_that_never_rests(
    colour: Any, make: Any, server: ScriptedServer, hello: AIMessage
) -> None:
    long = AIMessage("word " * 200)
    server.add(streamed(long, wait_s=0.02))
    started = time.monotonic()
    with pytest.raises(ModelStreamTimeoutError, match=r"longer than 0\.3 s") as caught:
        colour.stream(make(timeout={"total": 0.3}), "hi")
    assert time.monotonic() - started < 2
    assert caught.value.partial.text.startswith("word word")
    assert server.wait_idle()


def test_a_keep_alive_connection_closed_between_calls(
    colour: Any, make: Any, server: ScriptedServer, hello: AIMessage
) -> None:
    model = make(max_retries=1)
    for _ in range(3):
        reply = Reply.message(hello)
        reply.keep_alive = False
        server.add(reply)
        assert colour.invoke(model, "hi").content == TEXT


def test_huge_and_tiny_events(colour: Any, make: Any, server: ScriptedServer) -> None:
    big = AIMessage("x" * 300_000)
    server.add(
        streamed(big),
        streamed(big, piece_bytes=3000),
        streamed(AIMessage("a b c d"), piece_bytes=1),
    )
    assert len("".join(c.text for c in colour.stream(make(), "hi"))) == 300_000
    assert len("".join(c.text for c in colour.stream(make(), "hi"))) == 300_000
    assert "".join(c.text for c in colour.stream(make(), "hi")) == "a b c d"


def test_every_cut_of_a_multi_byte_character(
    colour: Any, make: Any, server: ScriptedServer
) -> None:  # B24
    text = "你好🌍 für"
    for size in (1, 2, 3, 5):
        server.add(streamed(AIMessage(text), piece_bytes=size))
        assert "".join(c.text for c in colour.stream(make(), "hi")) == text
