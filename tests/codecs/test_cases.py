"""The case folders of every format: what a decoded reply shows, and that bodies come back equal."""

import json

import pytest
from codec_kit import (
    case_ids,
    cases,
    chunks_of,
    codec_of,
    fold_tree,
    folded,
    read_events,
    read_json,
)

REQUESTS = list(cases("request.json"))
RESPONSES = list(cases("response.json", "message.json"))
STREAMS = list(cases("stream.txt", "message.json"))
BOTH = list(cases("response.json", "stream.txt"))


def shown(message):
    """Return the facts of a message that `message.json` may name."""
    return {
        "content": message.content,
        "text": message.text,
        "content_blocks": message.content_blocks,
        "tool_calls": message.tool_calls,
        "invalid_tool_calls": message.invalid_tool_calls,
        "additional_kwargs": message.additional_kwargs,
        "usage_metadata": message.usage_metadata,
        "finish_reason": message.response_metadata.get("finish_reason"),
        "model_name": message.response_metadata.get("model_name"),
        "model_provider": message.response_metadata.get("model_provider"),
        "response_metadata": message.response_metadata,
        "id": message.id,
        "types": [b["type"] for b in message.content_blocks],
    }


def check(message, expected):
    facts = shown(message)
    for key, value in expected.items():
        assert facts[key] == value, key


@pytest.mark.parametrize(("api", "folder"), REQUESTS, ids=case_ids(REQUESTS))
def test_a_request_comes_back_as_it_was(api, folder):
    codec = codec_of(api, folder)
    body = read_json(folder / "request.json")
    text = json.dumps(body)
    assert codec.encode_request(codec.decode_request(body)) == body
    assert json.dumps(body) == text


@pytest.mark.parametrize(("api", "folder"), RESPONSES, ids=case_ids(RESPONSES))
def test_a_response_shows_what_the_provider_said(api, folder):
    body = read_json(folder / "response.json")
    text = json.dumps(body)
    check(codec_of(api, folder).decode_response(body), read_json(folder / "message.json"))
    assert json.dumps(body) == text


@pytest.mark.parametrize(("api", "folder"), STREAMS, ids=case_ids(STREAMS))
def test_a_stream_shows_what_the_provider_said(api, folder):
    codec = codec_of(api, folder)
    chunks = chunks_of(codec, read_events(folder / "stream.txt"))
    check(folded(chunks), read_json(folder / "message.json"))
    assert shown(fold_tree(chunks)) == shown(sum(chunks))


@pytest.mark.parametrize(("api", "folder"), BOTH, ids=case_ids(BOTH))
def test_a_folded_stream_equals_the_decoded_response(api, folder):
    codec = codec_of(api, folder)
    streamed = folded(chunks_of(codec, read_events(folder / "stream.txt")))
    assert streamed == codec.decode_response(read_json(folder / "response.json"))
