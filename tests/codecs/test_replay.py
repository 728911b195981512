"""Replies of the case folders, sent on to every wire: all text, every call once, nothing foreign."""

import copy
import json

import pytest
from codec_kit import calls_in, case_ids, cases, codec_of, foreign_in, leaves, read_json

from dragoman.codecs import SUPPORTED, ChatRequest, get_codec
from dragoman.errors import ModelError
from dragoman.messages import HumanMessage, ToolMessage

REPLIES = list(cases("response.json"))
TOKENS = {"encrypted_content", "signature", "thoughtSignature", "redactedContent"}
SEALED = {"redacted_thinking", "reasoning.encrypted"}  # block types whose `data` is a token


def tokens_of(body):
    """Return what a provider sealed in a reply, found without the code under test."""
    if isinstance(body, dict):
        keys = TOKENS | {"data"} if body.get("type") in SEALED else TOKENS
        own = [v for k, v in body.items() if k in keys and isinstance(v, str) and len(v) > 2]
        return own + [t for v in body.values() for t in tokens_of(v)]
    return [t for v in body for t in tokens_of(v)] if isinstance(body, list) else []


@pytest.mark.parametrize("target", SUPPORTED)
@pytest.mark.parametrize(("api", "folder"), REPLIES, ids=case_ids(REPLIES))
def test_a_reply_says_the_same_on_every_wire(api, folder, target):
    body = read_json(folder / "response.json")
    try:
        reply = codec_of(api, folder).decode_response(body)
    except ModelError:
        return
    before = copy.deepcopy(reply)
    calls = [*reply.tool_calls, *reply.invalid_tool_calls]
    results = [ToolMessage("done", tool_call_id=c["id"] or "", name=c["name"]) for c in calls]
    request = ChatRequest(
        model="m", messages=[HumanMessage("q"), reply, *results, HumanMessage("r")]
    )
    changes = []
    codec = codec_of(api, folder) if api == target else get_codec(target)

    out = codec.encode_request(request, changes)

    json.dumps(out)
    assert reply == before
    for block in reply.content_blocks:
        if block["type"] == "text" and block["text"].strip():
            assert any(block["text"].strip() in s for s in leaves(out))
    assert all(c.code and c.path and c.message for c in changes)
    if api == target:
        assert set(tokens_of(body)) <= set(leaves(out))
        return
    assert foreign_in(target, out) is None
    if not reply.invalid_tool_calls:
        written = calls_in(target, out)
        assert written == [(c["name"], c["args"]) for c in reply.tool_calls]
    if {api, target} != {"anthropic", "bedrock_converse"}:
        sealed = set(tokens_of(body)) & set(leaves(out))
        shown = {b.get("base64") for b in reply.content_blocks}
        assert sealed <= shown
