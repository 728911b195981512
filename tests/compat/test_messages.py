"""Messages and chunks cross in both directions without a loss."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core import messages as theirs

from dragoman import messages as ours
from dragoman.compat import from_langchain, to_langchain
from dragoman.errors import DecodeError, EncodeError
from dragoman.testing.strategies import (
    chunk_streams,
    damaged_histories,
    json_objects,
    recut,
    texts,
)

BLOCKS = st.sampled_from(
    [
        "text",
        {"type": "text", "text": "a", "annotations": [{"type": "citation", "url": "u"}]},
        {"type": "reasoning", "reasoning": "r", "extras": {"signature": "s"}},
        {"type": "image_url", "image_url": {"url": "https://e.org/a.png"}},
        {"type": "image_url", "image_url": "https://e.org/a.png"},
        {"type": "tool_use", "id": "c", "name": "f", "input": {}},
        {"image": {"format": "png", "source": {"bytes": b"\x89PNG"}}},
        {"type": "non_standard", "value": {"x": 1}},
        {},
    ]
)
CONTENTS = texts | st.lists(BLOCKS, max_size=3)
RAW_CALLS = st.lists(
    st.sampled_from(
        [
            {"id": "a", "type": "function", "function": {"name": "f", "arguments": '{"x": 1}'}},
            {"id": "b", "type": "function", "function": {"name": "f", "arguments": '{"x": '}},
            {"id": "c", "type": "function"},
        ]
    ),
    max_size=2,
)
KWARGS = json_objects | st.builds(lambda calls: {"tool_calls": calls}, RAW_CALLS)
USAGE = st.none() | st.just(
    {
        "input_tokens": 3,
        "output_tokens": 4,
        "total_tokens": 7,
        "input_token_details": {"cache_read": 2},
        "output_token_details": {"reasoning": 1},
    }
)
CALLS = st.lists(
    st.builds(
        lambda name, args, id: {"name": name, "args": args, "id": id, "type": "tool_call"},
        st.sampled_from(["f", ""]),
        json_objects,
        st.sampled_from(["c1", "c2", None]),
    ),
    max_size=2,
)
INVALID = st.lists(
    st.just({"name": "f", "args": "{", "id": "c9", "error": "x", "type": "invalid_tool_call"}),
    max_size=1,
)
FRAGMENTS = st.lists(
    st.builds(
        lambda name, args, id, index: {
            "name": name,
            "args": args,
            "id": id,
            "index": index,
            "type": "tool_call_chunk",
        },
        st.sampled_from(["f", None]),
        st.sampled_from(['{"a": 1', "2}", "{}", "", None, "[1]"]),
        st.sampled_from(["c1", None]),
        st.sampled_from([0, 1, None]),
    ),
    max_size=3,
)
UNKNOWN = st.dictionaries(
    st.sampled_from(["foo", "role", "text", "json", "model_extra", "lc_id", "a b"]),
    json_objects | texts | st.none(),
    max_size=2,
)


@st.composite
def langchain_messages(draw: st.DrawFn):
    fields = {
        "content": draw(CONTENTS),
        "additional_kwargs": draw(KWARGS),
        "response_metadata": draw(json_objects),
        "id": draw(st.sampled_from([None, "msg_1"])),
        "name": draw(st.sampled_from([None, "Ada"])),
    }
    kind = draw(st.sampled_from(["Human", "System", "AI", "Tool", "Chat", "Function"]))
    suffix = draw(st.sampled_from(["Message", "MessageChunk"]))
    if kind == "AI":
        fields["usage_metadata"] = draw(USAGE)
        if suffix == "Message" or draw(st.booleans()):
            fields |= {"tool_calls": draw(CALLS), "invalid_tool_calls": draw(INVALID)}
        else:
            fields["tool_call_chunks"] = draw(FRAGMENTS)
        if suffix == "MessageChunk":
            fields["chunk_position"] = draw(st.sampled_from([None, "last"]))
    elif kind == "Tool":
        fields |= {
            "tool_call_id": "c1",
            "artifact": draw(st.none() | json_objects | st.just({1, 2})),
            "status": draw(st.sampled_from(["success", "error"])),
        }
    elif kind == "Chat":
        fields["role"] = draw(st.sampled_from(["critic", "user"]))
    elif kind == "Function":
        fields["name"] = "f"
    made = getattr(theirs, kind + suffix)(**fields)
    unknown = draw(UNKNOWN)
    if kind != "Chat":
        made.__pydantic_extra__ = dict(unknown)
    return made


@given(langchain_messages())
def test_every_langchain_message_comes_back_equal(message):
    crossed = from_langchain(message)
    back = to_langchain(crossed)

    assert type(crossed).__name__ == type(message).__name__
    assert back == message
    assert back.__pydantic_extra__ == message.__pydantic_extra__
    assert from_langchain(back) == crossed


@given(damaged_histories())
def test_every_history_comes_back_equal(history):
    assert from_langchain(to_langchain(history)) == history


@given(st.data())
def test_chunks_and_their_sums_come_back_equal(data):
    stream = data.draw(recut(data.draw(chunk_streams())))
    assert from_langchain(to_langchain(stream)) == stream
    total = stream[0]
    for chunk in stream[1:]:
        total = total + chunk
        assert from_langchain(to_langchain(total)) == total


@given(chunk_streams())
def test_a_stream_added_there_has_the_content_and_calls_of_one_added_here(stream):
    here = sum(stream[1:], stream[0])
    there = to_langchain(stream)
    total = there[0]
    for chunk in there[1:]:
        total = total + chunk
    assert total.content == here.content
    assert total.tool_calls == here.tool_calls
    assert total.usage_metadata == here.usage_metadata


@pytest.mark.parametrize(
    "message",
    [
        ours.RemoveMessage(id="m1"),
        ours.ToolMessage("x", tool_call_id="c", artifact=object(), status="error"),
        ours.AIMessage(
            "", invalid_tool_calls=[{"name": "f", "args": "{", "id": "c", "error": "e"}]
        ),
        ours.AIMessage("", additional_kwargs={"function_call": {"name": "f", "arguments": "{}"}}),
        ours.FunctionMessage("x", name="f"),
        ours.ChatMessage("x", role="critic"),
    ],
)
def test_special_messages_come_back_equal(message):
    assert from_langchain(to_langchain(message)) == message


def test_unknown_fields_become_attributes_and_return():
    message = theirs.HumanMessage("x", foo=1)
    crossed = from_langchain(message)

    assert (crossed.foo, to_langchain(crossed).foo) == (1, 1)


def test_a_users_subclass_becomes_the_nearest_class_with_its_fields():
    class Mine(theirs.HumanMessage):
        score: int = 0

    class Own(ours.AIMessage, kw_only=True):
        score: int = 0

    crossed = from_langchain(Mine("x", score=3))
    gone = to_langchain(Own("x", score=4))
    assert (type(crossed), crossed.score) == (ours.HumanMessage, 3)
    assert (type(gone), gone.score) == (theirs.AIMessage, 4)


def test_nothing_is_shared_but_an_artifact():
    block = {"type": "text", "text": "a", "extras": {"k": [1]}}
    artifact = [object()]
    message = ours.ToolMessage([block], tool_call_id="c", artifact=artifact)
    crossed = to_langchain(message)
    crossed.content[0]["extras"]["k"].append(2)

    assert message.content[0]["extras"]["k"] == [1]
    assert crossed.artifact is artifact


def test_a_class_without_counterpart_is_named_with_its_place():
    class Odd(theirs.BaseMessage):
        type: str = "odd"

    with pytest.raises(DecodeError, match=r"Odd has no counterpart.*\$\[1\]"):
        from_langchain([theirs.HumanMessage("x"), Odd(content="x")])
    with pytest.raises(EncodeError, match=r"object has no counterpart.*\$\.a"):
        to_langchain({"a": object()})
