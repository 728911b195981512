"""The laws of every codec: total, exact, pure, and the same however a stream is cut."""

import copy
import json

import pytest
from codec_kit import (
    calls_in,
    cases,
    chunks_of,
    cut,
    damaged,
    fold_tree,
    folded,
    foreign_in,
    json_values,
    leaves,
    read_events,
    read_json,
    replies,
    requests,
)
from hypothesis import given
from hypothesis import strategies as st

from dragoman.codecs import SUPPORTED, get_codec
from dragoman.errors import DragomanError, ModelError
from dragoman.messages import AIMessage

SERVERS = ("openai_chat", "anthropic", "ollama")
SPOKEN = (*SERVERS, "openai_responses")

all_codecs = pytest.mark.parametrize("api", SUPPORTED)


def survives(call, *args):
    """Return what a call gives; None if it raised an error of ours, as it may."""
    try:
        return call(*args)
    except DragomanError:
        return None


@all_codecs
@given(value=json_values)
def test_any_json_gives_a_result_or_an_error_of_ours(api, value):
    codec = get_codec(api)
    request = survives(codec.decode_request, value)
    if request is not None:
        survives(codec.encode_request, request)
    reply = survives(codec.decode_response, value)
    assert reply is None or isinstance(reply.content_blocks, list)
    assert isinstance(codec.decode_error(400, value), ModelError)
    assert str(codec.decode_error(None, value))
    survives(chunks_of, codec, [(None, value), ("x", json.dumps(value)), (None, "{")])
    survives(chunks_of, codec, [(None, json.dumps(value))])


@all_codecs
@given(data=st.data())
def test_a_damaged_request_gives_a_result_or_an_error_of_ours(api, data):
    codec = get_codec(api)
    body = codec.encode_request(data.draw(requests()))
    request = survives(codec.decode_request, data.draw(damaged(body)))
    if request is not None:
        survives(codec.encode_request, request)


RESPONSES = list(cases("response.json"))
STREAMS = list(cases("stream.txt"))


@all_codecs
@given(data=st.data())
def test_a_damaged_reply_gives_a_result_or_an_error_of_ours(api, data):
    mine = [folder for a, folder in RESPONSES if a == api]
    assert mine, f"tests/codecs/{api}/cases needs a response.json"
    body = read_json(data.draw(st.sampled_from(mine)) / "response.json")
    reply = survives(get_codec(api).decode_response, data.draw(damaged(body)))
    assert reply is None or isinstance(reply.content_blocks, list)


@all_codecs
@given(data=st.data())
def test_a_damaged_stream_gives_a_result_or_an_error_of_ours(api, data):
    mine = [folder for a, folder in STREAMS if a == api]
    assert mine, f"tests/codecs/{api}/cases needs a stream.txt"
    events = read_events(data.draw(st.sampled_from(mine)) / "stream.txt")
    at = data.draw(st.integers(0, len(events) - 1))
    event, text = events[at]
    try:
        parsed = json.loads(text)
    except ValueError:
        parsed = text
    events[at] = (event, data.draw(damaged(parsed)))
    chunks = survives(chunks_of, get_codec(api), events)
    if chunks:
        assert isinstance(folded(chunks).content_blocks, list)


@all_codecs
@given(request=requests())
def test_a_request_that_was_read_is_written_the_same(api, request):
    codec = get_codec(api)
    body = codec.encode_request(request)
    json.dumps(body)
    assert codec.encode_request(codec.decode_request(body)) == body


@all_codecs
@given(request=requests())
def test_nothing_given_is_changed(api, request):
    codec = get_codec(api)
    before = copy.deepcopy(request)
    body = codec.encode_request(request)
    assert request == before
    body_before = copy.deepcopy(body)
    again = codec.decode_request(body)
    codec.encode_request(again)
    assert body == body_before
    assert codec.encode_request(again) == body


@pytest.mark.parametrize("source", SUPPORTED)
@pytest.mark.parametrize("target", SUPPORTED)
@given(request=requests())
def test_a_history_of_one_wire_says_the_same_on_another(source, target, request):
    said = [m.text for m in request.messages]
    calls = [(c["name"], c["args"]) for m in request.messages for c in getattr(m, "tool_calls", ())]
    body = get_codec(source).encode_request(request)
    read = get_codec(source).decode_request(body)
    changes = []
    out = get_codec(target).encode_request(read, changes)
    assert calls_in(target, out) == calls
    strings = "\0".join(leaves(out))
    for text in said:
        assert text.strip() in strings
    assert foreign_in(target, out) is None
    assert all(change.code and change.path and change.message for change in changes)


@pytest.mark.parametrize("api", SERVERS)
@given(data=st.data())
def test_a_folded_stream_is_the_decoded_response(api, data):
    codec = get_codec(api)
    reply = data.draw(replies())
    whole = codec.decode_response(codec.encode_response(reply))
    writer = codec.stream_encoder()
    events = [e for chunk in data.draw(cut(reply)) for e in writer.feed(chunk)] + writer.close()
    chunks = chunks_of(codec, events)
    streamed = folded(chunks)
    for message in (whole, streamed):
        assert message.content_blocks == streamed.content_blocks
        assert message.content == reply.content
        assert [(c["name"], c["args"]) for c in message.tool_calls] == [
            (c["name"], c["args"]) for c in reply.tool_calls
        ]
        assert message.usage_metadata == reply.usage_metadata
        assert (
            message.response_metadata["finish_reason"] == reply.response_metadata["finish_reason"]
        )
        assert message.response_metadata["model_name"] == "m"
    assert whole.tool_calls == streamed.tool_calls
    assert whole.additional_kwargs == streamed.additional_kwargs
    assert chunks[-1].chunk_position == "last"
    tree = fold_tree(chunks)
    assert (tree.content, tree.tool_calls) == (streamed.content, streamed.tool_calls)


@pytest.mark.parametrize("api", SPOKEN)
@given(reply=replies())
def test_a_server_answers_what_its_client_reads(api, reply):
    codec = get_codec(api)
    body = codec.encode_response(reply)
    json.dumps(body)
    message = codec.decode_response(body)
    assert message.text == reply.text
    assert [
        (c["name"], c["args"], c["id"] if api != "ollama" else "") for c in message.tool_calls
    ] == [(c["name"], c["args"], c["id"] if api != "ollama" else "") for c in reply.tool_calls]


@all_codecs
def test_errors_by_status_say_whether_a_retry_helps(api):
    codec = get_codec(api)
    for status in (400, 401, 403, 404, 408, 409, 413, 422, 425, 429, 500, 502, 503, 529):
        for body in (
            {"error": {"message": "no such luck"}},
            {"message": "no such luck"},
            "no such luck",
        ):
            error = codec.decode_error(status, body)
            assert error.status == status
            assert "no such luck" in str(error)
            assert error.is_retryable is (status in (408, 409, 425, 429) or status >= 500)


@all_codecs
def test_a_payload_is_shared_and_an_artifact_never_sent(api):
    from dragoman.codecs import ChatRequest
    from dragoman.messages import HumanMessage, ToolMessage

    codec = get_codec(api)
    payload = "iVBORw0KGgoAAAANSUhEUgAA" + "A" * 100_000
    artifact = "secret" * 100_000
    history = [
        HumanMessage([{"type": "image", "base64": payload, "mime_type": "image/png"}]),
        AIMessage("", tool_calls=[{"name": "f", "args": {}, "id": "call_1"}]),
        ToolMessage("ok", tool_call_id="call_1", name="f", artifact=artifact),
    ]
    strings = leaves(codec.encode_request(ChatRequest(model="m", messages=history)))
    if api in ("anthropic", "gemini", "bedrock_converse", "ollama"):
        assert any(s is payload for s in strings)
    assert sum(s.count(payload) for s in strings) == 1
    assert not any("secret" in s for s in strings)
