"""The server's side, parsed by the official SDK over a real socket."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import msgspec
import openai
import pytest
from openai.lib.streaming.chat import ChatCompletionStreamState

from dragoman.codecs import get_codec
from dragoman.messages import AIMessage, AIMessageChunk

CALLS = [
    {"name": "weather", "args": {"city": "Zürich 😀"}, "id": "call_1", "type": "tool_call"},
    {"name": "now", "args": {}, "id": "call_2", "type": "tool_call"},
]
USAGE = {
    "input_tokens": 10, "output_tokens": 5, "total_tokens": 15,
    "input_token_details": {"cache_read": 4}, "output_token_details": {"reasoning": 2},
}  # fmt: skip
REPLY = AIMessage(
    "Let me look.",
    tool_calls=CALLS,
    usage_metadata=USAGE,
    additional_kwargs={"reasoning_content": "hm"},
    response_metadata={"model_name": "m", "finish_reason": "tool_calls"},
    id="chatcmpl-7",
)


def chunks():
    yield AIMessageChunk("", response_metadata={"model_name": "m"}, id="chatcmpl-7")
    yield AIMessageChunk("", additional_kwargs={"reasoning_content": "hm"})
    yield AIMessageChunk("Let me ")
    yield AIMessageChunk("look.")
    yield AIMessageChunk(
        "",
        tool_call_chunks=[
            {
                "name": "weather",
                "args": '{"city":',
                "id": "call_1",
                "index": 0,
                "type": "tool_call_chunk",
            }
        ],
    )
    yield AIMessageChunk(
        "",
        tool_call_chunks=[
            {
                "name": None,
                "args": '"Zürich 😀"}',
                "id": None,
                "index": 0,
                "type": "tool_call_chunk",
            },
            {"name": "now", "args": "", "id": "call_2", "index": 1, "type": "tool_call_chunk"},
        ],
    )
    yield AIMessageChunk("", usage_metadata=USAGE, chunk_position="last")


class Server(BaseHTTPRequestHandler):
    """Answers every request with `REPLY`, streamed if asked."""

    def do_POST(self):
        body = msgspec.json.decode(self.rfile.read(int(self.headers["content-length"])))
        codec = get_codec("openai_chat")
        request = codec.decode_request(body)
        self.send_response(200)
        self.send_header("connection", "close")
        if request.stream:
            self.send_header("content-type", "text/event-stream")
            self.end_headers()
            writer = codec.stream_encoder()
            for chunk in chunks():
                for event, data in writer.feed(chunk):
                    assert event is None
                    self.wfile.write(f"data: {data}\n\n".encode())
            for _, data in writer.close():
                self.wfile.write(f"data: {data}\n\n".encode())
        else:
            self.send_header("content-type", "application/json")
            self.end_headers()
            self.wfile.write(msgspec.json.encode(codec.encode_response(REPLY)))
        self.close_connection = True

    def log_message(self, *args):
        pass


@pytest.fixture
def client():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    client = openai.OpenAI(
        api_key="x", base_url=f"http://127.0.0.1:{server.server_address[1]}/v1", max_retries=0
    )
    with client:
        yield client
    server.shutdown()
    server.server_close()
    thread.join()


ASK = {"model": "m", "messages": [{"role": "user", "content": "weather?"}]}


def check(completion):
    choice = completion.choices[0]
    assert choice.finish_reason == "tool_calls"
    assert choice.message.content == "Let me look."
    assert [(c.id, c.function.name, msgspec.json.decode(c.function.arguments or "{}")) for c in choice.message.tool_calls] == [
        (c["id"], c["name"], c["args"]) for c in CALLS
    ]  # fmt: skip
    assert completion.usage.prompt_tokens == 10
    assert completion.usage.prompt_tokens_details.cached_tokens == 4
    assert completion.usage.completion_tokens_details.reasoning_tokens == 2
    assert (completion.id, completion.model) == ("chatcmpl-7", "m")


def test_the_sdk_reads_a_response(client):
    completion = client.chat.completions.create(**ASK)
    check(completion)
    assert completion.choices[0].message.reasoning_content == "hm"


def test_the_sdk_reads_a_stream(client):
    state = ChatCompletionStreamState()
    seen = []
    for chunk in client.chat.completions.create(**ASK, stream=True):
        state.handle_chunk(chunk)
        seen.append(chunk)
    check(state.get_final_completion())
    assert seen[0].choices[0].delta.role == "assistant"
    assert seen[-1].choices == []
    assert (
        "".join(
            getattr(c.choices[0].delta, "reasoning_content", None) or "" for c in seen if c.choices
        )
        == "hm"
    )


@pytest.mark.parametrize(
    ("reply", "finish", "message"),
    [
        (AIMessage("a"), "stop", {"content": "a", "refusal": None}),
        (AIMessage(""), "stop", {"content": ""}),
        (AIMessage("", tool_calls=CALLS[1:]), "tool_calls", {"content": None}),
        (AIMessage("a", response_metadata={"finish_reason": "length"}), "length", {"content": "a"}),
        (AIMessage([{"type": "refusal", "refusal": "no"}], response_metadata={"finish_reason": "refusal"}), "stop", {"refusal": "no", "content": None}),
        (AIMessage([{"type": "text", "text": "a", "annotations": [{"type": "citation", "url": "u"}]}]), "stop",
         {"content": "a", "annotations": [{"type": "url_citation", "url_citation": {"url": "u"}}]}),
        (AIMessage([{"type": "reasoning", "reasoning": "r", "extras": {"signature": "s"}}, {"type": "text", "text": "a"}]), "stop",
         {"content": "a", "reasoning_content": "r"}),
    ],
)  # fmt: skip
def test_replies_of_every_kind(reply, finish, message):
    choice = get_codec("openai_chat").encode_response(reply)["choices"][0]
    assert choice["finish_reason"] == finish
    assert {k: choice["message"][k] for k in message} == message


def test_what_a_reply_cannot_say_is_told():
    changes = []
    reply = AIMessage([{"type": "server_tool_call", "id": "s", "name": "x", "args": {}}])
    get_codec("openai_chat").encode_response(reply, changes)
    assert [(c.path, c.lossy) for c in changes] == [("$.content[0]", True)]


def test_calls_that_come_without_index_or_id_are_numbered_and_named():
    writer = get_codec("openai_chat").stream_encoder()
    events = []
    for name in ("f", "g"):
        raw = {"name": name, "args": "{}", "id": None, "index": None, "type": "tool_call_chunk"}
        events += writer.feed(AIMessageChunk("", tool_call_chunks=[raw]))
    events += writer.close()
    assert events[-1] == (None, "[DONE]")
    reader = get_codec("openai_chat").stream_decoder()
    message = sum([c for e in events for c in reader.feed(*e)] + reader.close())
    assert [c["name"] for c in message.tool_calls] == ["f", "g"]
    assert len({c["id"] for c in message.tool_calls}) == 2


def test_an_empty_stream_is_an_empty_reply():
    writer = get_codec("openai_chat").stream_encoder()
    events = writer.close()
    assert writer.close() == []
    reader = get_codec("openai_chat").stream_decoder()
    message = sum([c for e in events for c in reader.feed(*e)] + reader.close())
    assert message.content == ""
    assert message.response_metadata["finish_reason"] == "stop"
