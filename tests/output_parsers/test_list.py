"""Parsers of lists."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.messages import AIMessage, AIMessageChunk
from dragoman.output_parsers import (
    CommaSeparatedListOutputParser,
    ListOutputParser,
    MarkdownListOutputParser,
    NumberedListOutputParser,
)
from dragoman.output_parsers.list import droplastn

COMMA, NUMBER, DASH = (
    CommaSeparatedListOutputParser(),
    NumberedListOutputParser(),
    MarkdownListOutputParser(),
)
CASES = [
    (COMMA, "foo, bar,baz", ["foo", "bar", "baz"]),
    (COMMA, '"foo, foo2",bar,baz', ["foo, foo2", "bar", "baz"]),
    (COMMA, "a, b\nc", ["a", "b", "c"]),
    (COMMA, "foo", ["foo"]),
    (COMMA, "", []),
    (NUMBER, "Items:\n\n1. apple\n\n    2. banana\n\n3. cherry", ["apple", "banana", "cherry"]),
    (NUMBER, "no items", []),
    (DASH, "Items:\n- apple\n- banana\n* cherry", ["apple", "banana", "cherry"]),
    (DASH, "none", []),
]


@pytest.mark.parametrize(("parser", "text", "items"), CASES)
def test_whole_texts(parser, text, items):
    assert parser.parse(text) == items
    assert parser.invoke(AIMessage(text)) == items
    assert asyncio.run(parser.aparse(text)) == items


@pytest.mark.parametrize(("parser", "text", "items"), CASES)
def test_streams_of_single_signs_give_single_items(parser, text, items):
    assert list(parser.transform(iter(text))) == [[item] for item in items]
    chunks = [AIMessageChunk(sign) for sign in text]
    assert list(parser.transform(iter(chunks))) == [[item] for item in items]


@given(
    st.lists(st.from_regex(r'[a-z]{1,4}|"[a-z, ]{1,4}"', fullmatch=True), min_size=1, max_size=6),
    st.lists(st.integers(0, 40), max_size=5),
)
def test_a_stream_gives_what_the_text_gives_wherever_it_is_cut(items, places):
    text = ", ".join(items)
    ends = sorted({min(place, len(text)) for place in places} | {len(text)})
    pieces = [text[a:b] for a, b in zip([0, *ends], ends, strict=False)]

    assert list(COMMA.transform(iter(pieces))) == [[item] for item in COMMA.parse(text)]


def test_an_item_comes_when_the_next_begins():
    stream = NUMBER.transform(iter(["1. a", "b\n2.", " c"]))

    assert next(stream) == ["ab"]
    assert list(stream) == [["c"]]


def test_content_that_is_no_text_is_passed_over():
    chunks = [
        AIMessageChunk("a,"),
        AIMessageChunk([{"type": "image", "url": "u"}]),
        AIMessageChunk("b"),
    ]

    assert list(COMMA.transform(iter(chunks))) == [["a"], ["b"]]


def test_users_lists_stream_too():
    class Words(ListOutputParser):
        def parse(self, text):
            return text.split()

    assert list(Words().transform(iter(["a b", "c d"]))) == [["a"], ["bc"], ["d"]]


def test_instructions_and_names():
    assert "comma separated" in COMMA.get_format_instructions()
    assert "numbered list" in NUMBER.get_format_instructions()
    assert "markdown list" in DASH.get_format_instructions()
    assert [p.asdict()["_type"] for p in (COMMA, NUMBER, DASH)] == [
        "comma-separated-list",
        "numbered-list",
        "markdown-list",
    ]
    assert list(droplastn(iter([1, 2, 3]), 2)) == [1]
    assert COMMA.lc_id() == [
        "langchain", "output_parsers", "list", "CommaSeparatedListOutputParser",
    ]  # fmt: skip
