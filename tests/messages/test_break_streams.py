"""Laws of adding chunks, over streams no provider should send."""

import copy
import pickle
from functools import reduce
from operator import add

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.errors import MergeError
from dragoman.messages import (
    AIMessage,
    AIMessageChunk,
    HumanMessageChunk,
    message_chunk_to_message,
    message_to_dict,
    messages_from_dict,
    messages_from_json,
    messages_to_json,
)

ARGS = [None, "", "{", '{"a"', ":1", "}", '{"a":1}', "{}", " ", "null", '"{}"', "[1", "\\", '"']
ARGS += ["\ud83d", "\\ud83d", "\\ude00", "1", "tru", "}}", "\x00"]

fragments = st.fixed_dictionaries(
    {
        "name": st.sampled_from([None, None, "", "f", "g"]),
        "args": st.sampled_from(ARGS),
        "id": st.sampled_from([None, None, "", "a", "b"]),
        "index": st.sampled_from([None, 0, 0, 1, "0", "lc_1", ""]),
        "type": st.just("tool_call_chunk"),
    }
)
blocks = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(["text", "reasoning", "image", "tool_call_chunk", "x"]),
        "text": st.sampled_from(["", "t", "u"]),
        "reasoning": st.sampled_from(["", "r"]),
        "url": st.just("u"),
        "index": st.sampled_from([0, 1, "0", "lc_1", None]),
        "id": st.sampled_from(["i", "j", "", None]),
        "extras": st.sampled_from([{"k": 1}, {"k": None}, {"k": {"z": "q"}}]),
        "annotations": st.just([{"type": "citation", "url": "u"}]),
    },
)
contents = st.sampled_from(["", "a", "b"]) | st.lists(
    st.sampled_from(["s", ""]) | blocks, max_size=3
)
extras = st.fixed_dictionaries(
    {},
    optional={
        "reasoning_content": st.sampled_from([None, "", "r"]),
        "n": st.sampled_from([None, 1, 2]),
        "d": st.sampled_from([None, {"b": 1}, {"b": None, "c": "x"}]),
        "list": st.sampled_from([None, [1], [{"index": 0, "t": "x"}]]),
        "finish_reason": st.sampled_from([None, "stop", "length"]),
        "output_version": st.just("v1"),
    },
)
usages = st.builds(
    lambda n: {"input_tokens": n, "output_tokens": 1, "total_tokens": n + 1}, st.integers(0, 3)
)


@st.composite
def odd_chunks(draw):
    options = {
        "tool_call_chunks": st.lists(fragments, max_size=3),
        "id": st.sampled_from(["", "lc_1", "lc_run-2", "p1", "p2"]),
        "additional_kwargs": extras,
        "response_metadata": extras,
        "usage_metadata": usages,
        "name": st.sampled_from(["n", "m", ""]),
        "chunk_position": st.sampled_from([None, "last"]),
    }
    chosen = draw(st.sets(st.sampled_from(sorted(options)), max_size=4))
    return AIMessageChunk(draw(contents), **{name: draw(options[name]) for name in sorted(chosen)})


streams = st.lists(odd_chunks(), min_size=1, max_size=5)


def _read(chunk):
    return chunk.content, chunk.tool_calls, chunk.content_blocks, chunk.pretty_repr(), repr(chunk)


def _tree(data, chunks):
    if len(chunks) == 1:
        return chunks[0]
    at = data.draw(st.integers(1, len(chunks) - 1))
    left, right = _tree(data, chunks[:at]), _tree(data, chunks[at:])
    if data.draw(st.booleans()):
        _read(left)
    return left + right


@given(st.data(), streams)
def test_brackets_and_reading_make_no_difference(data, chunks):
    before = [repr(chunk) for chunk in chunks]
    whole = reduce(add, chunks)
    assert _tree(data, chunks) == whole
    assert chunks[0] + chunks[1:] == whole
    assert [repr(chunk) for chunk in chunks] == before


@given(streams, odd_chunks())
def test_a_copy_goes_on_like_its_original(chunks, more):
    whole = reduce(add, chunks)
    for made in (
        copy.copy(whole),
        copy.deepcopy(whole),
        whole.model_copy(deep=True),
        pickle.loads(pickle.dumps(whole)),
        messages_from_json(messages_to_json([whole]))[0],
    ):
        assert made == whole
        assert made + more == whole + more
        assert made == whole


@given(streams)
def test_the_whole_message_survives_every_form(chunks):
    whole = message_chunk_to_message(reduce(add, chunks))
    assert type(whole) is AIMessage
    assert messages_from_json(messages_to_json([whole])) == [whole]
    assert messages_from_dict([message_to_dict(whole)]) == [whole]
    assert pickle.loads(pickle.dumps(whole)) == whole


@given(streams)
def test_no_fragment_of_arguments_is_lost(chunks):
    whole = reduce(add, chunks)
    sent = [f["args"] or "" for chunk in chunks for f in chunk.tool_call_chunks]
    kept = [f["args"] or "" for f in whole.tool_call_chunks]
    assert sorted("".join(sent)) == sorted("".join(kept))
    assert len(whole.tool_calls) + len(whole.invalid_tool_calls) == len(whole.tool_call_chunks)


@given(streams)
def test_at_the_end_no_call_has_arguments_that_did_not_come_whole(chunks):
    whole = message_chunk_to_message(reduce(add, chunks))
    texts = {f["args"] for f in reduce(add, chunks).tool_call_chunks}
    for call in whole.tool_calls:
        if call["args"]:
            assert any(
                text and '"a"' in text and text.rstrip().endswith(("}", '"')) for text in texts
            )


def test_metadata_behind_the_last_chunk_still_counts():
    fragment = {"name": "f", "args": "", "id": "c", "index": 0, "type": "tool_call_chunk"}
    last = AIMessageChunk("", tool_call_chunks=[fragment], chunk_position="last")
    assert last.tool_calls[0]["args"] == {}
    cut = last + AIMessageChunk("", response_metadata={"finish_reason": "length"})
    assert cut.tool_calls == []
    assert "cut off" in cut.invalid_tool_calls[0]["error"]


@pytest.mark.parametrize("field", ["content", "tool_call_chunks"])
def test_tuples_given_or_assigned_are_no_buffers(field):
    chunk = AIMessageChunk("x")
    setattr(chunk, field, ())
    assert getattr(chunk, field) == []
    assert (chunk + AIMessageChunk("y")).content.endswith("y")
    chunk.content = ("a", {"type": "text", "text": "b"})
    assert chunk.text == "ab"
    with pytest.raises(ValueError, match="content"):
        HumanMessageChunk(("a", "b"))


@pytest.mark.parametrize(
    "other",
    ["text", 5, None, AIMessage("x"), ["x"], [AIMessageChunk("x"), "y"], {"a": 1}, object()],
)
def test_adding_what_is_no_chunk_is_a_type_error(other):
    chunk = AIMessageChunk("a")
    with pytest.raises(TypeError, match="AIMessageChunk"):
        chunk + other
    with pytest.raises((MergeError, TypeError)):
        other + chunk
    assert chunk.content == "a"


@pytest.mark.parametrize("depth", [100, 5_000, 1_000_000])
@pytest.mark.parametrize("opening", ['{"a":', "["])
def test_arguments_of_any_depth_never_overflow_the_stack(depth, opening):
    fragment = {"name": "f", "args": opening * depth, "id": "c", "index": 0}
    chunk = AIMessageChunk("", tool_call_chunks=[fragment])
    assert len(chunk.tool_calls) + len(chunk.invalid_tool_calls) == 1
    whole = message_chunk_to_message(chunk)
    assert whole.tool_calls == []
    assert whole.invalid_tool_calls[0]["args"] == opening * depth


def _steps(work, size):
    """Return how many lines of this package's code run for a stream of `size` chunks."""
    import sys

    count = 0

    def local(_frame, event, _arg):
        nonlocal count
        count += event == "line"
        return local

    def trace(frame, _event, _arg):
        return local if "dragoman" in frame.f_code.co_filename else None

    sys.settrace(trace)
    try:
        work(size)
    finally:
        sys.settrace(None)
    return count


def _fragment_of(number, **fields):
    given = {"name": "f", "args": "{}", "id": None, "index": None, "type": "tool_call_chunk"}
    return {**given, **{key: value(number) for key, value in fields.items()}}


MANY = {
    "calls by index": {"index": lambda n: n},
    "calls by id": {"id": lambda n: f"c{n}"},
    "calls all at index 0": {"index": lambda n: 0},
    "calls at index 0 by id": {"index": lambda n: 0, "id": lambda n: f"c{n}"},
}


@pytest.mark.parametrize("fields", MANY.values(), ids=MANY)
def test_many_calls_cost_what_their_number_is(fields):
    def work(size):
        chunks = [
            AIMessageChunk("", tool_call_chunks=[_fragment_of(n, **fields)]) for n in range(size)
        ]
        assert len(sum(chunks).tool_calls) == size

    assert _steps(work, 400) < 5 * _steps(work, 100)


def test_many_blocks_of_one_index_cost_what_their_number_is():
    def work(size):
        blocks = [{"type": "text", "text": "a", "index": 0, "id": f"i{n}"} for n in range(size)]
        assert len(sum([AIMessageChunk([block]) for block in blocks]).content) == size

    assert _steps(work, 400) < 5 * _steps(work, 100)


def test_indexes_and_types_that_cannot_be_keys_merge_too():
    one = AIMessageChunk([{"type": "text", "text": "a", "index": [1], "id": {"x": 1}}])
    two = AIMessageChunk([{"type": "text", "text": "b", "index": [1]}, {"type": {}, "index": 0}])
    assert (one + two).content[0]["text"] == "ab"


def test_lists_in_metadata_grow_without_changing_any_chunk():
    chunks = [
        AIMessageChunk("", response_metadata={"logprobs": {"content": [n]}}) for n in range(5)
    ]
    shown = []
    total = chunks[0]
    for chunk in chunks[1:]:
        total = total + chunk
        shown.append(total.response_metadata["logprobs"]["content"])
    assert shown == [[0, 1], [0, 1, 2], [0, 1, 2, 3], [0, 1, 2, 3, 4]]
    assert [c.response_metadata["logprobs"]["content"] for c in chunks] == [[n] for n in range(5)]
    assert sum(chunks).response_metadata == total.response_metadata
