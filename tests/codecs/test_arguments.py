"""Writing arguments, and telling whether a growing text is whole."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.codecs.arguments import Completeness, dump_arguments, read_arguments

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda v: st.lists(v, max_size=3) | st.dictionaries(st.text(max_size=5), v, max_size=3),
    max_leaves=8,
)
objects = st.dictionaries(st.text(max_size=5), values, max_size=3)


@given(objects)
def test_arguments_come_back(args):
    assert json.loads(dump_arguments(args)) == args
    assert read_arguments(dump_arguments(args)) == args


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"a": float("nan")}, '{"a": null}'),
        ({"a": 2**80}, '{"a":' + str(2**80) + "}"),
        ({"a": (1,)}, '{"a":[1]}'),
        ({"é": "😀"}, '{"é":"😀"}'),
    ],
)
def test_only_json_goes_out(value, text):
    assert json.loads(dump_arguments(value)) == json.loads(text)


@pytest.mark.parametrize("raw", ["", " \n", None, "null", "{}", '"{}"'])
def test_b31_nothing_is_no_arguments(raw):
    assert read_arguments(raw) == {}


@pytest.mark.parametrize("raw", ['{"a":1}{"b":2}', '{"a": 1', "[1]", "3", '"x"', 3, [1]])
def test_b34_what_is_no_object_is_no_arguments(raw):
    assert read_arguments(raw) is None


@given(objects, st.lists(st.integers(0, 60), max_size=5))
def test_a_text_is_whole_at_its_end_and_never_before(args, cuts):
    text = dump_arguments(args)
    scan, parts = Completeness(), []
    at = sorted({min(c, len(text)) for c in cuts} | {len(text)})
    start = 0
    for stop in at:
        parts.append(text[start:stop])
        start = stop
        assert scan.of(parts) is (stop == len(text))
    assert scan.of(parts) is True
