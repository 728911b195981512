"""Values that JSON has no form for are tagged, and come back as they were."""

import datetime as dt
import enum
import json
from decimal import Decimal
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman import _json
from dragoman.errors import DecodeError, EncodeError


class Colour(enum.StrEnum):
    RED = "red"


class Level(enum.IntEnum):
    LOW = 1


class Named(dict):
    pass


scalars = (
    st.none() | st.booleans() | st.integers() | st.text(st.characters(codec="utf-8"), max_size=5)
    | st.floats(allow_nan=False) | st.binary(max_size=5) | st.decimals(allow_nan=False)
    | st.datetimes() | st.dates() | st.times() | st.timedeltas() | st.uuids()
    | st.complex_numbers(allow_nan=False)
)  # fmt: skip
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(
            st.text(max_size=3) | st.integers() | st.just("__type__"), inner, max_size=3
        )
        | st.frozensets(scalars, max_size=3)
    ),
    max_leaves=8,
)


@given(values)
def test_any_plain_value_comes_back_equal_and_of_its_type(value):
    again = _json.from_plain(json.loads(json.dumps(_json.to_plain(value))))
    assert again == value
    assert type(again) is type(value)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (Colour.RED, "red"),
        (Level.LOW, 1),
        (Named(a=1), {"a": 1}),
        ([Named(a=(1,))], [{"a": (1,)}]),
        (Decimal("1.10"), Decimal("1.10")),
        (UUID(int=5), UUID(int=5)),
        (dt.timedelta(days=-1, microseconds=1), dt.timedelta(days=-1, microseconds=1)),
    ],
)
def test_subclasses_become_their_plain_class(value, expected):
    again = _json.from_plain(_json.to_plain(value))
    assert again == expected
    assert type(again) is type(expected)


def test_what_has_no_form_is_named_with_its_place():
    with pytest.raises(EncodeError, match="object has no JSON form") as caught:
        _json.to_plain({"a": [1, object()]})
    assert caught.value.path == "$.a[1]"
    deep = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(EncodeError, match="nested too deeply"):
        _json.to_plain(deep)


@pytest.mark.parametrize(
    "tagged",
    [
        {"__type__": "of tomorrow", "value": 1},
        {"__type__": 5, "value": 1},
        {"__type__": "date"},
        {"__type__": "date", "value": "yesterday"},
        {"__type__": "decimal", "value": "x"},
        {"__type__": "uuid", "value": 5},
        {"__type__": "bytes", "value": "?"},
    ],
)
def test_a_tag_nobody_wrote_is_an_error_of_ours(tagged):
    with pytest.raises(DecodeError):
        _json.from_plain(tagged)
