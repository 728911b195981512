"""Laws of adding chunks: however a stream was cut and bracketed, the message is the same."""

import copy
import json
import pickle
from functools import reduce
from operator import add

from hypothesis import given
from hypothesis import strategies as st

from dragoman.messages import AIMessageChunk, message_chunk_to_message, messages_to_json
from dragoman.testing.strategies import chunk_streams, recut


@st.composite
def _bracketed(draw, chunks):
    """Add chunks as a random tree."""
    if len(chunks) == 1:
        return chunks[0]
    at = draw(st.integers(1, len(chunks) - 1))
    return draw(_bracketed(chunks[:at])) + draw(_bracketed(chunks[at:]))


@given(st.data())
def test_adding_is_associative(data):
    chunks = data.draw(chunk_streams())
    left_to_right = reduce(add, chunks)
    assert data.draw(_bracketed(chunks)) == left_to_right


@given(st.data())
def test_however_a_stream_was_cut_the_message_is_the_same(data):
    chunks = data.draw(chunk_streams())
    again = data.draw(recut(chunks))
    assert reduce(add, again) == reduce(add, chunks)
    assert message_chunk_to_message(sum(again)) == message_chunk_to_message(sum(chunks))


@given(chunk_streams())
def test_a_sum_equals_adding_a_list_at_once(chunks):
    assert chunks[0] + chunks[1:] == sum(chunks)


@given(chunk_streams())
def test_no_operand_is_changed(chunks):
    before = [repr(chunk) for chunk in chunks]
    total = AIMessageChunk("")
    shown = []
    for chunk in chunks:
        new = total + chunk
        shown.append((total, repr(total)))
        total = new
    assert [repr(chunk) for chunk in chunks] == before
    assert all(repr(message) == text for message, text in shown)


@given(chunk_streams(), st.integers(0, 20))
def test_reading_in_between_changes_nothing(chunks, every):
    plain = sum(chunks)
    total = AIMessageChunk("", id=chunks[0].id)
    for number, chunk in enumerate(chunks):
        total = total + chunk
        if every and number % every == 0:
            _ = (total.content, total.tool_calls, total.tool_call_chunks, total.response_metadata)
    assert total.content == plain.content
    assert total.tool_calls == plain.tool_calls
    assert total.invalid_tool_calls == plain.invalid_tool_calls


@given(chunk_streams())
def test_copies_are_equal_and_independent(chunks):
    total = sum(chunks)
    for made in (copy.copy(total), copy.deepcopy(total), pickle.loads(pickle.dumps(total))):
        assert made == total
        longer = made + AIMessageChunk("more")
        assert longer.content == total.content + "more"
        assert made == total
    assert messages_to_json([total]) == messages_to_json([copy.deepcopy(total)])


@given(chunk_streams())
def test_two_continuations_of_one_chunk_do_not_meet(chunks):
    base = sum(chunks[:-1]) if len(chunks) > 1 else chunks[0]
    one, two = base + AIMessageChunk("one"), base + AIMessageChunk("two")
    assert one.content == base.content + "one"
    assert two.content == base.content + "two"


@given(st.text(max_size=30), st.booleans())
def test_what_is_shown_of_arguments_only_grows(text, ascii_only):
    whole = json.dumps({"a": text, "n": 12, "b": [True, {"c": None}]}, ensure_ascii=ascii_only)
    shown = ""
    for end in range(len(whole) + 1):
        chunk = AIMessageChunk(
            "",
            tool_call_chunks=[
                {"name": "f", "args": whole[:end], "id": "1", "index": 0, "type": "tool_call_chunk"}
            ],
        )
        value = chunk.tool_calls[0]["args"] if chunk.tool_calls else {}
        a = value.get("a", "")
        assert a.startswith(shown)
        assert text.startswith(a)
        assert value.get("n", 12) == 12
        shown = a
