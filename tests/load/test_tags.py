"""Tags are written and read by one table; text that only resembles one stays data."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.load import dumps, loads
from dragoman.load.tags import decode_tag, is_tag, tag
from dragoman.messages import HumanMessage

SCALAR = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False),
    st.text(max_size=5),
    st.binary(max_size=5),
    st.datetimes(),
    st.dates(),
    st.times(),
    st.timedeltas(),
    st.decimals(allow_nan=False),
    st.uuids(),
)
VALUE = st.recursive(
    SCALAR,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.tuples(inner, inner),
        st.dictionaries(SCALAR, inner, max_size=3),
        st.dictionaries(st.sampled_from(["lc", "__type__", "value", "a"]), inner, max_size=3),
        st.frozensets(SCALAR, max_size=3),
    ),
    max_leaves=6,
)


@given(VALUE)
def test_whatever_is_dumped_loads_equal(value):
    message = HumanMessage("x", additional_kwargs={"v": value})

    assert loads(dumps(message)) == message
    assert loads(dumps([message])) == [message]


@pytest.mark.parametrize(
    "value",
    [
        {"__type__": "datetime"},
        {"__type__": "datetime", "value": 1},
        {"__type__": "tuple", "value": "ab"},
        {"__type__": ["x"], "value": "ab"},
        {"__type__": "datetime", "value": "x", "y": 1},
    ],
)
def test_what_only_resembles_a_tag_is_none(value):
    assert not is_tag(value)


def test_a_tag_with_wrong_text_is_a_value_error():
    for name, text in (("datetime", "x"), ("bytes", "%"), ("decimal", "x"), ("uuid", "x")):
        assert is_tag(tag(name, text))
        with pytest.raises(ValueError, match=f"malformed {name}"):
            decode_tag(tag(name, text))
