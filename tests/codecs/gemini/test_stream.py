"""Gemini's streams and the server side: totals, blocked replies, errors, replies served again."""

import json

import pytest
from codec_kit import cases, chunks_of, cut, folded, read_events, read_json, replies
from hypothesis import given
from hypothesis import strategies as st

from dragoman.codecs import get_codec
from dragoman.errors import DecodeError, ModelError, ModelRateLimitError

CODEC = get_codec("gemini")
STREAMS = [folder for api, folder in cases("stream.txt") if api == "gemini"]
RESPONSES = [folder for api, folder in cases("response.json") if api == "gemini"]


def event(*parts, **fields):
    candidate = {"content": {"role": "model", "parts": list(parts)}, **fields}
    return None, json.dumps({"candidates": [candidate], "responseId": "r1"})


def test_usage_of_every_chunk_is_a_total():  # B16
    def usage(n_in, n_out):
        counted = {"promptTokenCount": n_in, "candidatesTokenCount": n_out}
        return None, json.dumps({"usageMetadata": {**counted, "totalTokenCount": n_in + n_out}})

    chunks = chunks_of(CODEC, [usage(35, 0), usage(35, 1), usage(35, 2)])
    assert folded(chunks).usage_metadata == {
        "input_tokens": 35,
        "output_tokens": 2,
        "total_tokens": 37,
    }


def test_parallel_calls_in_one_event_are_numbered():  # B10
    calls = [{"functionCall": {"name": f"f{n}", "args": {"n": n}}} for n in range(3)]
    chunks = chunks_of(CODEC, [event(*calls), event({"functionCall": {"name": "g", "args": {}}})])
    found = [f for c in chunks for f in c.tool_call_chunks]
    assert [(f["name"], f["index"]) for f in found if f["name"]] == [
        ("f0", 0), ("f1", 1), ("f2", 2), ("g", 3),
    ]  # fmt: skip
    assert [c["name"] for c in folded(chunks).tool_calls] == ["f0", "f1", "f2", "g"]


def test_a_signed_text_part_stands_apart_from_the_text_after_it():
    chunks = chunks_of(
        CODEC, [event({"text": "This ", "thoughtSignature": "S="}), event({"text": "is it."})]
    )
    message = folded(chunks)
    assert message.text == "This is it."
    assert [b.get("extras") for b in message.content] == [{"signature": "S="}, None]


def test_an_error_in_the_stream_is_an_error():
    body = {"error": {"code": 429, "message": "Quota", "status": "RESOURCE_EXHAUSTED"}}
    for data in (body, [body]):
        with pytest.raises(ModelRateLimitError, match="Quota"):
            CODEC.stream_decoder().feed(None, json.dumps(data))
    with pytest.raises(ModelError, match="Quota"):
        CODEC.decode_response(body)


def test_done_tells_that_a_finish_reason_came():
    decoder = CODEC.stream_decoder()
    decoder.feed(*event({"text": "a"}))
    assert decoder.done is False
    decoder.feed(*event({"text": "b"}, finishReason="STOP"))
    assert decoder.done is True
    assert decoder.close()[-1].chunk_position == "last"


def test_arguments_that_come_in_pieces_are_one_call():
    def piece(path, more=True, **value):
        return {"partialArgs": [{"jsonPath": path, **value}], "willContinue": more}

    events = [
        event({"functionCall": {"name": "f", "willContinue": True}, "thoughtSignature": "S="}),
        event({"functionCall": piece("$.city", stringValue="New ")}),
        event({"functionCall": piece("$.city", stringValue="Delhi")}),
        event({"functionCall": piece("$.days[1].n", numberValue=2)}),
        event({"functionCall": piece("$['a b']", more=False, boolValue=True)}),
        event({"functionCall": {"name": "g", "args": {}}}, finishReason="STOP"),
    ]
    message = folded(chunks_of(CODEC, events))
    assert [(c["name"], c["args"]) for c in message.tool_calls] == [
        ("f", {"city": "New Delhi", "days": [None, {"n": 2}], "a b": True}),
        ("g", {}),
    ]
    assert message.content[0]["extras"] == {"signature": "S="}
    cut_off = folded(chunks_of(CODEC, events[:3]))
    assert cut_off.tool_calls == []  # B30
    assert cut_off.invalid_tool_calls[0]["args"] == '{"city":"New Delhi"'


@pytest.mark.parametrize("folder", STREAMS, ids=lambda f: f.name)
def test_a_stream_cut_after_any_event_is_a_message(folder):
    events = read_events(folder / "stream.txt")
    for n in range(1, len(events)):
        assert isinstance(folded(chunks_of(CODEC, events[:n])).content_blocks, list)


@pytest.mark.parametrize("folder", STREAMS, ids=lambda f: f.name)
def test_a_stream_without_sse_is_one_array(folder):
    events = read_events(folder / "stream.txt")
    whole = CODEC.decode_response([json.loads(data) for _, data in events])
    assert whole.text == folded(chunks_of(CODEC, events)).text
    assert whole.tool_calls == folded(chunks_of(CODEC, events)).tool_calls


@pytest.mark.parametrize("folder", RESPONSES, ids=lambda f: f.name)
def test_a_reply_served_again_is_the_reply(folder):
    message = CODEC.decode_response(read_json(folder / "response.json"))
    again = CODEC.decode_response(CODEC.encode_response(message))
    assert again.content_blocks == message.content_blocks
    assert again.tool_calls == message.tool_calls
    if folder.name != "blocked_prompt":
        assert (
            again.response_metadata["finish_reason"] == message.response_metadata["finish_reason"]
        )


@given(data=st.data())
def test_a_folded_stream_is_the_decoded_response(data):
    reply = data.draw(replies())
    whole = CODEC.decode_response(CODEC.encode_response(reply))
    writer = CODEC.stream_encoder()
    events = [e for chunk in data.draw(cut(reply)) for e in writer.feed(chunk)] + writer.close()
    streamed = folded(chunks_of(CODEC, events))
    assert streamed.content == whole.content == reply.content
    assert streamed.tool_calls == whole.tool_calls == reply.tool_calls
    assert streamed.additional_kwargs == whole.additional_kwargs == reply.additional_kwargs
    assert streamed.usage_metadata == whole.usage_metadata == reply.usage_metadata


@pytest.mark.parametrize("body", [{}, {"x": 1}, 3, None])
def test_what_is_no_reply_is_an_error_with_a_path(body):
    with pytest.raises(DecodeError, match=r"\$"):
        CODEC.decode_response(body)
