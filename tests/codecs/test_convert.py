"""`dragoman.convert`: sources told from the shape, and every change told."""

import json
from pathlib import Path

import pytest
from codec_kit import calls_in, cases, read_json, requests
from hypothesis import given

import dragoman
from dragoman.codecs import SUPPORTED, get_codec
from dragoman.codecs.convert import detect_api
from dragoman.errors import DecodeError, EncodeError

CHAT = {
    "model": "m",
    "messages": [
        {"role": "system", "content": "be brief"},
        {"role": "user", "content": "weather?"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {
                    "id": "call_1",
                    "type": "function",
                    "function": {"name": "weather", "arguments": '{"city":"Paris"}'},
                }
            ],
        },
        {"role": "tool", "tool_call_id": "call_1", "content": "sunny"},
        {"role": "assistant", "content": "Sunny."},
        {"role": "user", "content": "thanks"},
    ],
    "tools": [
        {
            "type": "function",
            "function": {
                "name": "weather",
                "description": "d",
                "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
            },
        }
    ],
    "max_tokens": 100,
    "temperature": 0.5,
}


@pytest.mark.parametrize("to", SUPPORTED)
def test_a_chat_body_converts_there_and_back(to):
    before = json.dumps(CHAT)
    there = dragoman.convert(CHAT, to=to)
    assert json.dumps(CHAT) == before
    assert calls_in(to, there.body) == [("weather", {"city": "Paris"})]
    assert not [c for c in there.changes if c.lossy]
    back = dragoman.convert({**there.body, "model": "m"}, to="openai_chat", source=to)
    assert [m["role"] for m in back.body["messages"]] == [m["role"] for m in CHAT["messages"]]
    assert [m.get("content") or None for m in back.body["messages"]] == [
        m["content"] for m in CHAT["messages"]
    ]
    assert back.body["tools"][0]["function"]["name"] == "weather"
    assert back.body["temperature"] == 0.5


REQUESTS = list(cases("request.json"))


def test_the_source_is_told_from_the_shape():
    # `request_plain` style cases hold nothing that tells their wire; the others must be told right.
    for api, folder in REQUESTS:
        body = read_json(folder / "request.json")
        told = detect_api(body)
        assert told == api or (folder.name == "request_plain" and told == "openai_chat"), folder


@pytest.mark.parametrize("api", ["gemini", "anthropic", "bedrock_converse", "openai_responses"])
@given(request=requests())
def test_encoded_requests_are_told_from_their_shape(api, request):
    body = get_codec(api).encode_request(request)
    assert detect_api(body) in (api, "openai_chat" if api == "anthropic" else api)


def test_parameters_the_target_does_not_know_are_dropped_and_told():
    body = {"messages": [{"role": "user", "content": "q"}], "logit_bias": {"1": 2}, "stop": "x"}
    there = dragoman.convert(body, to="anthropic")
    assert "logit_bias" not in there.body
    assert there.body["stop_sequences"] == ["x"]
    assert [(c.path, c.code) for c in there.changes if c.path == "$.logit_bias"] == [
        ("$.logit_bias", "dropped_parameter")
    ]


def test_a_dialect_may_be_named():
    body = {"messages": [{"role": "user", "content": "q"}], "max_tokens": 5}
    assert dragoman.convert(body, to="deepseek").body["max_tokens"] == 5


@pytest.mark.parametrize("body", [None, [], {}, {"messages": 3}, {"x": 1}])
def test_what_has_no_known_shape_is_an_error_that_says_what_to_do(body):
    with pytest.raises(DecodeError):
        dragoman.convert(body, to="anthropic")


def test_an_unknown_target_is_an_error_that_lists_the_known():
    with pytest.raises(DecodeError, match="anthropic"):
        dragoman.convert(CHAT, to="nobody")
    with pytest.raises(DecodeError, match="string"):
        dragoman.convert(CHAT, to=["anthropic"])


def test_what_the_target_cannot_carry_raises_with_its_place():
    body = {
        "messages": [
            {
                "role": "user",
                "content": [
                    {"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "wav"}}
                ],
            }
        ]
    }
    with pytest.raises(EncodeError) as caught:
        dragoman.convert(body, to="ollama")
    assert "content[0]" in str(caught.value)
    assert "UklG" not in str(caught.value)


def test_responses_convert_too():
    folder = Path(__file__).parent / "openai_chat" / "cases" / "parallel_calls"
    there = dragoman.convert(read_json(folder / "response.json"), to="anthropic")
    assert [b["type"] for b in there.body["content"]] == ["tool_use", "tool_use"]
    assert there.body["stop_reason"] == "tool_use"


def test_importing_dragoman_loads_no_codec():
    import subprocess
    import sys

    code = "import dragoman, sys; assert not [m for m in sys.modules if m.startswith('dragoman.codecs')]"
    assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == 0
