"""Requests of the case folders, damaged anywhere: a result, or an error of ours with a path."""

import json

import pytest
from codec_kit import cases, codec_of, damaged, read_json
from hypothesis import given
from hypothesis import strategies as st

from dragoman.codecs import get_codec
from dragoman.errors import DragomanError, MessageError

REQUESTS = list(cases("request.json"))
FORMATS = sorted({api for api, _ in REQUESTS})


@pytest.mark.parametrize("api", FORMATS)
@given(data=st.data())
def test_a_damaged_request_of_a_case_gives_a_result_or_an_error_of_ours(api, data):
    folder = data.draw(st.sampled_from([f for a, f in REQUESTS if a == api]))
    codec = codec_of(api, folder)
    body = data.draw(damaged(read_json(folder / "request.json")))
    try:
        out = codec.encode_request(codec.decode_request(body))
    except DragomanError as error:
        assert not isinstance(error, MessageError) or error.path  # noqa: PT017 - success is fine too
    else:
        json.dumps(out)


def test_names_of_required_properties_may_be_anything():
    schema = {"type": "OBJECT", "properties": {"a": {"type": "STRING"}}, "required": [{}, "a", 5]}
    tool = {"functionDeclarations": [{"name": "f", "parameters": schema}]}
    body = {"contents": [{"role": "user", "parts": [{"text": "x"}]}], "tools": [tool]}

    request = get_codec("gemini").decode_request(body)

    assert get_codec("openai_chat").encode_request(request)["tools"][0]["function"]["name"] == "f"


@pytest.mark.parametrize("text", [None, 5])
def test_a_last_turn_of_no_text_is_sent_as_it_came(text):
    turns = [
        {"role": "user", "content": "x"},
        {
            "role": "assistant",
            "content": [{"type": "text", "text": "y"}, {"type": "text", "text": text}],
        },
    ]
    codec = get_codec("anthropic")

    body = codec.encode_request(
        codec.decode_request({"model": "m", "max_tokens": 1, "messages": turns})
    )

    assert body["messages"][1]["content"][0] == {"type": "text", "text": "y"}
