"""One provider with several wires: what one of them gave is not sent as the other's."""

import json

import pytest
from codec_kit import calls_in, case_ids, cases, foreign_in, read_json

from dragoman import convert
from dragoman.codecs import SUPPORTED, ChatRequest, get_codec
from dragoman.errors import EncodeError, ModelError
from dragoman.messages import HumanMessage, ToolMessage, messages_from_json, messages_to_json

REPLIES = list(cases("response.json"))
OF_OUR_OWN = set(SUPPORTED) | {"extras", "item_type", "item_id"}
"""Keys that only our blocks have."""


def keys_of(body):
    if isinstance(body, dict):
        return set(body) | {k for v in body.values() for k in keys_of(v)}
    return {k for v in body for k in keys_of(v)} if isinstance(body, list) else set()


@pytest.mark.parametrize("target", SUPPORTED)
@pytest.mark.parametrize(("api", "folder"), REPLIES, ids=case_ids(REPLIES))
@pytest.mark.parametrize("provider", ["openai", "ollama"])
def test_wires_of_one_provider_mix_nothing_up(api, folder, target, provider):
    if target == api:
        return
    try:
        reply = get_codec(api, provider).decode_response(read_json(folder / "response.json"))
    except ModelError:
        return
    assert reply.response_metadata["api"] == api
    calls = [*reply.tool_calls, *reply.invalid_tool_calls]
    results = [ToolMessage("done", tool_call_id=c["id"] or "", name=c["name"]) for c in calls]
    history = [HumanMessage("q"), reply, *results]
    history = messages_from_json(messages_to_json(history))  # a stored one says it, too

    out = get_codec(target, provider).encode_request(ChatRequest(model="m", messages=history))

    assert foreign_in(target, out) is None
    assert not keys_of(out) & OF_OUR_OWN
    if not reply.invalid_tool_calls:
        assert calls_in(target, out) == [(c["name"], c["args"]) for c in reply.tool_calls]


REQUESTS = list(cases("request.json"))


@pytest.mark.parametrize("target", SUPPORTED)
@pytest.mark.parametrize(("api", "folder"), REQUESTS, ids=case_ids(REQUESTS))
def test_a_converted_request_holds_no_notes_of_ours(api, folder, target):
    try:
        out = convert(read_json(folder / "request.json"), to=target, source=api).body
    except EncodeError:
        return  # media that the target cannot take
    json.dumps(out)
    assert not keys_of(out) & OF_OUR_OWN
