"""The short way for plain histories says exactly what the long way says."""

import json

import pytest
from codec_kit import histories, words
from hypothesis import given
from hypothesis import strategies as st

from dragoman.codecs import ChatRequest, get_codec
from dragoman.codecs.anthropic import decode, encode
from dragoman.codecs.anthropic.plain import read_plain, write_plain
from dragoman.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage

CODEC = get_codec("anthropic")


def both_ways(call, monkeypatch):
    short = call()
    with monkeypatch.context() as patch:
        patch.setattr(encode, "write_plain", lambda messages: None)
        patch.setattr(decode, "read_plain", lambda message, out: False)
        long = call()
    return short, long


ids = st.sampled_from(["a", "b", "call_1", "c:d", "", None])
texts = st.sampled_from(["", " ", "x", "y z", "end \n"])
calls = st.lists(
    st.builds(lambda n, i: {"name": n, "args": {"n": 1}, "id": i, "type": "tool_call"}, words, ids),
    max_size=2,
)
strange = st.lists(
    st.one_of(
        st.builds(SystemMessage, texts),
        st.builds(HumanMessage, texts, name=st.sampled_from([None, "ann"])),
        st.builds(lambda t, c: AIMessage(t, tool_calls=c), texts, calls),
        st.builds(
            lambda t, i, s: ToolMessage(t, tool_call_id=i or "", status=s),
            texts,
            ids,
            st.sampled_from(["success", "error"]),
        ),
        st.just(AIMessage("x", additional_kwargs={"reasoning_content": "hm"})),
        st.just(HumanMessage([{"type": "text", "text": "x"}])),
    ),
    max_size=6,
)


@given(messages=histories() | strange)
def test_both_ways_write_the_same(messages):
    def call():
        changes = []
        body = CODEC.encode_request(ChatRequest(model="m", messages=messages), changes)
        return json.dumps(body), changes

    with pytest.MonkeyPatch.context() as monkeypatch:
        short, long = both_ways(call, monkeypatch)
    assert short == long


@given(messages=histories() | strange)
def test_both_ways_read_the_same(messages):
    body = CODEC.encode_request(ChatRequest(model="m", messages=messages))
    with pytest.MonkeyPatch.context() as monkeypatch:
        short, long = both_ways(lambda: CODEC.decode_request(body).messages, monkeypatch)
    assert short == long


def test_plain_histories_do_take_the_short_way():
    history = [
        SystemMessage("s"),
        HumanMessage("q"),
        AIMessage("", tool_calls=[{"name": "f", "args": {}, "id": "a"}]),
        ToolMessage("r", tool_call_id="a"),
        HumanMessage("and?"),
    ]
    found = write_plain(history)
    assert found is not None
    out = []
    assert all(read_plain(message, out) for message in found[1])
    assert [type(m) for m in out] == [type(m) for m in history[1:]]
