"""The server side of the Anthropic wire, read by the official SDK."""

import copy
import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import anthropic
import httpx
import pytest
from anthropic.types.beta import BetaMessage, BetaRawMessageStreamEvent
from codec_kit import cases, chunks_of, cut, folded, read_events, read_json, replies
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from dragoman.codecs import get_codec
from dragoman.messages import AIMessage, AIMessageChunk

CODEC = get_codec("anthropic")
EVENT = TypeAdapter(BetaRawMessageStreamEvent)
RESPONSES = [
    folder
    for api, folder in cases("response.json")
    # The SDK's strict types know neither blocks to come nor a thinking block of other makers.
    if api == "anthropic" and folder.name not in ("unknown_block", "unsigned_thinking")
]


def sent(chunks):
    writer = CODEC.stream_encoder()
    return [e for chunk in chunks for e in writer.feed(chunk)] + writer.close()


@pytest.mark.parametrize("folder", RESPONSES, ids=lambda f: f.name)
def test_a_reply_served_again_is_the_reply(folder):
    body = read_json(folder / "response.json")
    message = CODEC.decode_response(body)
    before = copy.deepcopy(message)
    served = CODEC.encode_response(message)
    parsed = BetaMessage.model_validate(served, strict=False)
    assert [b.type for b in parsed.content] == [b["type"] for b in body["content"]]
    assert CODEC.decode_response(served) == message == before
    for key in ("content", "stop_reason", "id", "model"):
        assert served[key] == body[key] or key == "content"
    assert json.loads(json.dumps(served)) == served


@pytest.mark.parametrize("folder", RESPONSES, ids=lambda f: f.name)
def test_a_stream_served_again_is_the_stream(folder):
    if not (folder / "stream.txt").exists():
        pytest.fail(f"{folder.name} has no stream")
    chunks = chunks_of(CODEC, read_events(folder / "stream.txt"))
    events = sent(chunks)
    for name, data in events:
        event = json.loads(data)
        assert event["type"] == name
        EVENT.validate_python(event)
    again = folded(chunks_of(CODEC, events))
    once = folded(chunks)
    if folder.name == "programmatic_call":
        # What a call carries beside name and arguments is known only when its block has begun.
        assert [b["type"] for b in again.content_blocks] == ["tool_call"]
    else:
        assert again.content_blocks == once.content_blocks
    assert again.tool_calls == once.tool_calls
    assert again.usage_metadata == once.usage_metadata
    assert again.response_metadata["finish_reason"] == once.response_metadata["finish_reason"]


@given(data=st.data())
def test_any_reply_of_any_model_is_served_in_the_words_of_the_sdk(data):
    reply = data.draw(replies())
    parsed = BetaMessage.model_validate(CODEC.encode_response(reply))
    assert "".join(b.text for b in parsed.content if b.type == "text") == reply.text
    calls = [(b.name, b.input, b.id) for b in parsed.content if b.type == "tool_use"]
    assert calls == [(c["name"], c["args"], c["id"]) for c in reply.tool_calls]
    for _, text in sent(data.draw(cut(reply))):
        EVENT.validate_python(json.loads(text))


@pytest.fixture
def server():
    """A real server that answers with what the encoder gives."""
    replies = {}

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            self.rfile.read(int(self.headers["content-length"]))
            kind, payload = replies["next"]
            self.send_response(200)
            self.send_header("content-type", kind)
            self.end_headers()
            self.wfile.write(payload)

        def log_message(self, *args):
            pass

    httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=httpd.serve_forever, daemon=True)
    thread.start()
    with httpx.Client(trust_env=False) as plain:
        assert plain is not None
        replies["url"] = f"http://127.0.0.1:{httpd.server_address[1]}"
        yield replies
    httpd.shutdown()
    httpd.server_close()
    thread.join(5)


REPLY = AIMessage(
    "Let me look.",
    id="msg_7",
    tool_calls=[
        {"name": "weather", "args": {"city": "Zürich"}, "id": "call_a"},
        {"name": "now", "args": {}, "id": "call_b"},
    ],
    additional_kwargs={"reasoning_content": "hm"},
    response_metadata={"model_name": "m", "finish_reason": "tool_calls"},
    usage_metadata={"input_tokens": 7, "output_tokens": 3, "total_tokens": 10},
)


def client_of(server):
    return anthropic.Anthropic(base_url=server["url"], api_key="none", max_retries=0)


ASK = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}]}


def test_the_official_client_reads_a_served_reply(server):
    server["next"] = ("application/json", json.dumps(CODEC.encode_response(REPLY)).encode())
    with client_of(server) as client:
        message = client.messages.create(**ASK)
    assert [b.type for b in message.content] == ["thinking", "text", "tool_use", "tool_use"]
    assert message.content[2].input == {"city": "Zürich"}
    assert message.stop_reason == "tool_use"
    assert (message.usage.input_tokens, message.usage.output_tokens) == (7, 3)


def test_the_official_client_reads_a_served_stream(server):
    pieces = [
        AIMessageChunk("", id="msg_7", response_metadata={"model_name": "m"}),
        AIMessageChunk("", additional_kwargs={"reasoning_content": "h"}),
        AIMessageChunk("", additional_kwargs={"reasoning_content": "m"}),
        AIMessageChunk("Let me "),
        AIMessageChunk("look."),
        # Two calls whose arguments interleave.
        AIMessageChunk(
            "",
            tool_call_chunks=[{"name": "weather", "args": '{"city":', "id": "call_a", "index": 0}],
        ),
        AIMessageChunk(
            "", tool_call_chunks=[{"name": "now", "args": "", "id": "call_b", "index": 1}]
        ),
        AIMessageChunk(
            "", tool_call_chunks=[{"name": None, "args": '"Zürich"}', "id": None, "index": 0}]
        ),
        AIMessageChunk(
            "",
            response_metadata={"finish_reason": "tool_calls"},
            usage_metadata=REPLY.usage_metadata,
            chunk_position="last",
        ),
    ]
    payload = "".join(f"event: {name}\ndata: {data}\n\n" for name, data in sent(pieces))
    server["next"] = ("text/event-stream", payload.encode())
    with client_of(server) as client, client.messages.stream(**ASK) as stream:
        text = "".join(stream.text_stream)
        message = stream.get_final_message()
    assert text == "Let me look."
    assert [b.type for b in message.content] == ["thinking", "text", "tool_use", "tool_use"]
    assert message.content[0].thinking == "hm"
    assert [b.input for b in message.content[2:]] == [{"city": "Zürich"}, {}]
    assert message.stop_reason == "tool_use"
    assert message.usage.output_tokens == 3


def test_an_empty_stream_is_still_a_whole_one():
    names = [name for name, _ in sent([])]
    assert names == ["message_start", "message_delta", "message_stop"]
    writer = CODEC.stream_encoder()
    writer.close()
    assert writer.close() == []
