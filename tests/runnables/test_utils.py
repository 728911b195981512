"""Dicts that add, and what can be known of functions."""

import functools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.messages import AIMessageChunk
from dragoman.runnables import AddableDict, aadd, add
from dragoman.runnables._addable import Accumulator
from dragoman.runnables.utils import (
    accepts_config,
    accepts_run_manager,
    coro_with_context,
    gather_with_concurrency,
    get_function_first_arg_dict_keys,
    get_lambda_source,
    indent_lines_after_first,
    is_async_callable,
    is_async_generator,
)


def test_dicts_add_per_key():
    total = AddableDict(a="x", b=1, c=None) + AddableDict(a="y", b=2, c=[1], d=None)

    assert total == {"a": "xy", "b": 3, "c": [1], "d": None}
    assert type(total) is AddableDict
    assert {"a": 1} + AddableDict(a=2) == {"a": 3}


def test_values_that_do_not_add_are_named():
    text = "Cannot add incompatible types for key 'a': 'list' and 'str'."
    with pytest.raises(TypeError, match=text):
        AddableDict(a=[1]) + AddableDict(a="b")
    total = Accumulator()
    total.feed(AddableDict(a=[1]))
    with pytest.raises(TypeError, match=text):
        total.feed(AddableDict(a="b"))


async def test_adding_all():
    async def each():
        for piece in "abc":
            yield piece

    assert add(["a", "b"]) == "ab"
    assert add([]) is None
    assert await aadd(each()) == "abc"


values = st.one_of(st.text(max_size=3), st.lists(st.integers(), max_size=3))


@given(st.lists(st.text(max_size=3), min_size=1))
def test_the_accumulator_adds_strings_like_plus(pieces):
    total = Accumulator()
    for piece in pieces:
        total.feed(piece)
    assert total.value == functools.reduce(lambda a, b: a + b, pieces)


@given(
    st.lists(
        st.dictionaries(st.sampled_from("ab"), st.one_of(st.none(), st.text(max_size=3))),
        min_size=1,
    )
)
def test_the_accumulator_adds_dicts_like_plus(pieces):
    total = Accumulator()
    for piece in pieces:
        total.feed(AddableDict(piece))
    assert total.value == functools.reduce(lambda a, b: a + b, map(AddableDict, pieces))


def test_the_accumulator_reads_between_pieces():
    total = Accumulator()
    assert total.is_empty
    assert total.value is None
    seen = []
    for piece in "abc":
        total.feed(piece)
        seen.append(total.value)
    assert seen == ["a", "ab", "abc"]


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        ([1, 2], 3),
        ([[1], [2]], [1, 2]),
        ([{"a": 1}, {"b": 2}], {"b": 2}),
        (["a", 1], 1),
        ([None, "a"], "a"),
        ([AIMessageChunk("a"), AIMessageChunk("b")], AIMessageChunk("ab")),
        ([AddableDict(a="x"), AddableDict(a=None)], {"a": "x"}),
    ],
)
def test_what_does_not_add_is_replaced(pieces, expected):
    total = Accumulator()
    for piece in pieces:
        total.feed(piece)
    assert total.value == expected


def test_adding_up_is_linear():
    """Law 4: four times as many pieces, about four times the copies; counted, not timed."""

    class Counted(str):
        added = 0

        def __add__(self, other):
            Counted.added += len(self)
            return Counted(str(self) + str(other))

    total = Accumulator()
    for _ in range(1000):
        total.feed("x" * 10)
    assert len(total._parts) == 1000
    assert total.value == "x" * 10_000
    assert Counted.added == 0


class Object:
    def method(self, x, config): ...
    def __call__(self, x, run_manager): ...


@functools.wraps(Object.method)
def wrapped(*args, **kwargs): ...


@pytest.mark.parametrize(
    ("function", "config", "run_manager"),
    [
        (lambda x: x, False, False),
        (lambda x, config: x, True, False),
        (lambda x, *, run_manager=None: x, False, True),
        (lambda x, **config: x, False, False),
        (Object().method, True, False),
        (Object(), False, True),
        (functools.partial(Object().method, 1), True, False),
        (wrapped, True, False),
        (len, False, False),
        (int, False, False),
    ],
)
def test_which_arguments_a_function_takes(function, config, run_manager):
    for _ in range(2):
        assert accepts_config(function) is config
        assert accepts_run_manager(function) is run_manager


def test_colours_of_functions():
    async def coroutine(x): ...

    async def generator(x):
        yield x

    assert is_async_callable(coroutine)
    assert is_async_callable(functools.partial(coroutine, 1))
    assert not is_async_callable(generator)
    assert is_async_generator(generator)
    assert not is_async_generator(len)


def test_the_source_of_a_lambda():
    double = lambda x: x * 2  # noqa: E731
    assert get_lambda_source(double) == "lambda x: x * 2"
    assert get_lambda_source(len) == "len"


def test_the_keys_read_from_the_first_argument():
    def reads(x, y):
        return x["a"], x.get("b", 1), y["c"], [x["d"] for _ in y]

    assert get_function_first_arg_dict_keys(reads) == ["a", "b", "d"]
    assert get_function_first_arg_dict_keys(len) is None


async def test_gathering_with_a_limit():
    running = most = 0

    async def work(n):
        import asyncio

        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0)
        running -= 1
        return n

    assert await gather_with_concurrency(2, *(work(n) for n in range(6))) == list(range(6))
    assert most == 2
    assert await gather_with_concurrency(None, work(1)) == [1]


async def test_a_coroutine_in_a_context():
    import contextvars

    variable = contextvars.ContextVar("variable", default="none")
    context = contextvars.copy_context()
    context.run(variable.set, "here")

    async def show():
        return variable.get()

    assert await coro_with_context(show(), context) == "here"


def test_indenting():
    assert indent_lines_after_first("a\nb\nc", "| ") == "a\n  b\n  c"
