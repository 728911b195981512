"""Converse's streams and the server side: exceptions, reasoning, padding, replies served again."""

import json

import pytest
from codec_kit import cases, chunks_of, cut, folded, read_events, read_json, replies
from hypothesis import given
from hypothesis import strategies as st

from dragoman.codecs import get_codec
from dragoman.errors import DecodeError, ModelError, ModelInvalidRequestError, ModelRateLimitError

CODEC = get_codec("bedrock_converse")
STREAMS = [folder for api, folder in cases("stream.txt") if api == "bedrock_converse"]
RESPONSES = [folder for api, folder in cases("response.json") if api == "bedrock_converse"]


@pytest.mark.parametrize(
    ("event", "body", "error", "status", "retry"),
    [
        ("throttlingException", {"message": "Too many"}, ModelRateLimitError, 429, True),
        ("validationException", {"message": "Too many"}, ModelInvalidRequestError, 400, False),
        ("serviceUnavailableException", {"message": "Too many"}, ModelError, 503, True),
        ("internalServerException", {"message": "Too many"}, ModelError, 500, True),
        (
            "modelStreamErrorException",
            {"message": "Too many", "originalStatusCode": 500, "originalMessage": "x"},
            ModelError,
            500,
            True,
        ),
    ],
)
def test_an_exception_event_is_an_error(event, body, error, status, retry):
    decoder = CODEC.stream_decoder()
    decoder.feed("messageStart", '{"role": "assistant"}')
    with pytest.raises(error, match="Too many") as caught:
        decoder.feed(event, json.dumps(body))
    assert (caught.value.status, caught.value.is_retryable) == (status, retry)
    assert decoder.done is False


def test_done_tells_that_the_metadata_came():
    decoder = CODEC.stream_decoder()
    events = read_events(STREAMS[0] / "stream.txt")
    for event, data in events[:-1]:
        decoder.feed(event, data)
        assert decoder.done is False
    decoder.feed(*events[-1])
    assert decoder.done is True
    assert decoder.close()[-1].chunk_position == "last"


@pytest.mark.parametrize("folder", STREAMS, ids=lambda f: f.name)
def test_events_as_botocore_gives_them_say_the_same(folder):
    events = read_events(folder / "stream.txt")
    expected = folded(chunks_of(CODEC, events))
    unions = [(None, {name: json.loads(data)}) for name, data in events]
    assert folded(chunks_of(CODEC, unions)) == expected


@pytest.mark.parametrize("folder", STREAMS, ids=lambda f: f.name)
def test_a_stream_cut_after_any_event_is_a_message(folder):
    events = read_events(folder / "stream.txt")
    for n in range(1, len(events)):
        assert isinstance(folded(chunks_of(CODEC, events[:n])).content_blocks, list)


def test_padding_is_dropped():
    message = folded(chunks_of(CODEC, read_events(STREAMS[0] / "stream.txt")))
    assert "p" not in message.response_metadata
    assert "abcdef" not in json.dumps(message.response_metadata)


@pytest.mark.parametrize("folder", RESPONSES, ids=lambda f: f.name)
def test_a_reply_served_again_is_the_reply(folder):
    message = CODEC.decode_response(read_json(folder / "response.json"))
    again = CODEC.decode_response(CODEC.encode_response(message))
    assert again.content_blocks == message.content_blocks
    assert again.tool_calls == message.tool_calls
    assert again.response_metadata["finish_reason"] == message.response_metadata["finish_reason"]
    counted = {k: v for k, v in message.usage_metadata.items() if k != "input_token_details"}
    assert {k: again.usage_metadata[k] for k in counted} == counted


@given(data=st.data())
def test_a_folded_stream_is_the_decoded_response(data):
    reply = data.draw(replies())
    whole = CODEC.decode_response(CODEC.encode_response(reply))
    writer = CODEC.stream_encoder()
    events = [e for chunk in data.draw(cut(reply)) for e in writer.feed(chunk)] + writer.close()
    streamed = folded(chunks_of(CODEC, events))
    assert streamed.content == whole.content == reply.content
    assert streamed.tool_calls == whole.tool_calls
    assert streamed.additional_kwargs == whole.additional_kwargs == reply.additional_kwargs
    assert streamed.usage_metadata == whole.usage_metadata == reply.usage_metadata


@pytest.mark.parametrize("body", [{}, {"output": {}}, {"output": {"message": {"content": 3}}}])
def test_what_is_no_reply_is_an_error_with_a_path(body):
    with pytest.raises(DecodeError, match=r"\$"):
        CODEC.decode_response(body)


def test_an_error_body_with_status_200_is_an_error():
    with pytest.raises(ModelError, match="no access"):
        CODEC.decode_response({"message": "no access"})


def test_what_is_not_known_yet_is_kept():
    events = [
        ("messageStart", {"role": "assistant"}),
        ("contentBlockStart", {"contentBlockIndex": 0, "start": {"image": {"format": "png"}}}),
        (
            "contentBlockDelta",
            {"contentBlockIndex": 0, "delta": {"image": {"source": {"bytes": "AA=="}}}},
        ),
        ("contentBlockStop", {"contentBlockIndex": 0}),
        ("contentBlockStart", {"contentBlockIndex": 1, "start": {"hologram": {"n": 1}}}),
        ("contentBlockDelta", {"contentBlockIndex": 1, "delta": {"hologram": {"n": 2}}}),
        ("contentBlockStop", {"contentBlockIndex": 1}),
        (
            "contentBlockStart",
            {"contentBlockIndex": 2, "start": {"toolResult": {"toolUseId": "t"}}},
        ),
        ("contentBlockDelta", {"contentBlockIndex": 2, "delta": {"toolResult": [{"text": "a"}]}}),
        ("contentBlockDelta", {"contentBlockIndex": 2, "delta": {"toolResult": [{"text": "b"}]}}),
        ("contentBlockDelta", {"contentBlockIndex": 2, "delta": {"text": "c"}}),
        ("event_to_come", {"x": 1}),
        ("messageStop", {"stopReason": "reason_to_come"}),
    ]
    message = folded(chunks_of(CODEC, events))
    image, raw, result = message.content
    assert (image["type"], image["base64"], image["mime_type"]) == ("image", "AA==", "image/png")
    assert raw["value"] == {"hologram": {"n": 1, "deltas": [{"hologram": {"n": 2}}]}}
    assert result["output"] == [{"text": "abc"}]
    assert message.response_metadata["finish_reason"] == "reason_to_come"
