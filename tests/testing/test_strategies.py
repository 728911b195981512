"""The strategies draw what they promise, and reach what tests want them for."""

import json

from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st

from dragoman.messages import AIMessage, AIMessageChunk, ToolMessage
from dragoman.testing.strategies import (
    chunk_streams,
    damaged_histories,
    histories,
    json_objects,
    recut,
    texts,
)
from dragoman.transcript import validate_messages


@given(texts)
def test_texts_can_be_sent(text):
    assert text.encode().decode() == text


@given(json_objects)
def test_objects_are_plain_json(value):
    assert json.loads(json.dumps(value)) == value


@given(histories())
def test_histories_are_valid_and_answered(messages):
    assert validate_messages(messages) == []
    assert isinstance(messages[-1], AIMessage)
    assert messages[-1].tool_calls == []


def test_histories_may_end_with_an_open_call():
    found = find(histories(ends_open=True), lambda drawn: bool(drawn[-1].tool_calls))
    assert validate_messages(found) == []
    assert validate_messages(found, "openai")


# The first that is found will do; the smallest takes long to look for.
ANY = settings(phases=[Phase.generate], max_examples=2_000)


def test_damage_reaches_every_kind_of_fault():
    orphan = find(
        damaged_histories(), lambda drawn: any(m.type == "tool" for m in drawn[:1]), settings=ANY
    )
    assert isinstance(orphan[0], ToolMessage)
    assert validate_messages(orphan)
    find(
        damaged_histories(),
        lambda drawn: "duplicate" in str(validate_messages(drawn)),
        settings=ANY,
    )


def total(chunks):
    whole = chunks[0] + chunks[1:] if len(chunks) > 1 else chunks[0]
    assert type(whole) is AIMessageChunk
    return whole


@given(chunk_streams())
def test_streams_are_whole_replies(chunks):
    whole = total(chunks)
    assert whole.chunk_position == "last"
    assert whole.usage_metadata["total_tokens"] == 7
    assert whole.invalid_tool_calls == []
    assert [call["id"] for call in whole.tool_calls] == [
        f"c{index}" for index in range(len(whole.tool_calls))
    ]


@given(st.data())
def test_another_cut_says_the_same(data):
    chunks = data.draw(chunk_streams())
    again = data.draw(recut(chunks))
    assert len(again) >= len(chunks)
    assert total(again) == total(chunks)
