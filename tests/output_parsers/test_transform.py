"""Streaming parsers: the sum of what is streamed is what is parsed at once."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.messages import AIMessage, AIMessageChunk
from dragoman.output_parsers import BaseTransformOutputParser, JsonOutputParser, StrOutputParser
from dragoman.output_parsers.transform import BaseCumulativeTransformOutputParser


async def collect(items):
    return [item async for item in items]


async def each(items):
    for item in items:
        yield item


def cut(text, places):
    ends = sorted({min(place, len(text)) for place in places} | {len(text)})
    return [text[a:b] for a, b in zip([0, *ends], ends, strict=False)]


@given(
    st.recursive(
        st.one_of(st.none(), st.booleans(), st.text(max_size=5)),
        lambda inner: st.one_of(
            st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=3), inner, max_size=3)
        ),
        max_leaves=8,
    ).filter(lambda value: value is not None),
    st.lists(st.integers(0, 60), max_size=6),
)
def test_the_last_value_of_a_stream_is_the_value(value, places):
    import json

    pieces = cut(json.dumps(value), places)

    streamed = list(JsonOutputParser().transform(iter(pieces)))
    chunks = [AIMessageChunk(piece) for piece in pieces]

    assert streamed[-1] == value
    assert list(JsonOutputParser().transform(iter(chunks))) == streamed
    assert asyncio.run(collect(JsonOutputParser().atransform(each(pieces)))) == streamed


def test_each_chunk_alone():
    class Shout(BaseTransformOutputParser[str]):
        def parse(self, text):
            return text.upper()

    assert list(Shout().transform(iter(["a", AIMessageChunk("b")]))) == ["A", "B"]
    assert asyncio.run(collect(Shout().atransform(each(["a", "b"])))) == ["A", "B"]
    assert list(Shout().stream("a")) == ["A"]


def test_strings_messages_and_chunks_meet():
    parts = ['{"a": ', AIMessageChunk('"x'), AIMessage("y"), '"}']

    assert list(JsonOutputParser().transform(iter(parts)))[-1] == {"a": "xy"}
    whole = [AIMessage('{"a": '), AIMessage("1}")]
    assert list(JsonOutputParser().transform(iter(whole)))[-1] == {"a": 1}


def test_values_that_do_not_change_are_not_repeated():
    assert list(JsonOutputParser().transform(iter(["{", " ", "\n", "}"]))) == [{}]
    assert list(JsonOutputParser().transform(iter([]))) == []


def test_a_parser_without_patches_says_so():
    class Words(BaseCumulativeTransformOutputParser[list]):
        def parse(self, text):
            return text.split()

    assert list(Words().transform(iter(["a b", " c"]))) == [["a", "b"], ["a", "b", "c"]]
    with pytest.raises(NotImplementedError):
        list(Words(diff=True).transform(iter(["a"])))


def test_closing_a_stream_closes_its_source():
    closed = []

    def source():
        try:
            while True:
                yield "a"
        finally:
            closed.append(True)

    stream = StrOutputParser().transform(source())
    assert next(stream) == "a"
    stream.close()

    assert closed == [True]
