"""Steps one after the other, on both doors."""

import gc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.runnables import (
    Runnable,
    RunnableGenerator,
    RunnableLambda,
    RunnableParallel,
    RunnablePassthrough,
    RunnableSequence,
)


def plus(n):
    return RunnableLambda(lambda x: x + n, name=f"plus{n}")


def letters(pieces):
    for piece in pieces:
        yield from piece


async def aletters(pieces):
    async for piece in pieces:
        for letter in piece:
            yield letter


either = RunnableGenerator(letters, aletters)


async def test_each_step_gets_the_output_of_the_one_before(colour):
    chain = plus(1) | plus(2) | (lambda x: x * 10)

    assert await colour.invoke(chain, 1) == 40
    assert await colour.batch(chain, [1, 2]) == [40, 50]
    assert await colour.stream(chain, 1) == [40]


def test_sequences_are_laid_flat():
    chain = (plus(1) | plus(2)) | (plus(3) | plus(4))

    assert [step.get_name() for step in chain.steps] == ["plus1", "plus2", "plus3", "plus4"]
    assert isinstance(chain, RunnableSequence)


@pytest.mark.parametrize(
    "make",
    [
        lambda: plus(1).pipe(plus(2), lambda x: x),
        lambda: RunnableSequence(plus(1), plus(2), lambda x: x),
        lambda: RunnableSequence(first=plus(1), middle=[plus(2)], last=plus(0)),
        lambda: (lambda x: x + 1) | plus(2),
    ],
)
def test_all_ways_to_write_a_sequence(make):
    assert make().invoke(1) == 4


def test_the_name_of_a_sequence_survives_being_joined():
    named = RunnableSequence(plus(1), plus(2), name="mine")

    assert (named | plus(3)).name == "mine"
    assert ((lambda x: x) | named).name == "mine"
    assert plus(1).pipe(plus(2), name="piped").get_name() == "piped"


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: RunnableSequence(plus(1)), ValueError, "must have at least 2 steps, got 1"),
        (lambda: plus(1) | 3, TypeError, "Expected a Runnable, callable or dict"),
        (lambda: 3 | plus(1), TypeError, "unsupported type: <class 'int'>"),
        (lambda: plus(1) | [plus(2)], TypeError, "unsupported type: <class 'list'>"),
    ],
)
def test_what_is_no_step_is_refused(make, error, text):
    with pytest.raises(error, match=text):
        make()


async def test_a_stream_runs_through_every_step_that_can_stream(colour):
    chain = RunnableLambda(lambda x: x) | either | either
    assert await colour.stream(chain, "abc") == ["a", "b", "c"]

    collected = chain | (lambda text: text.upper())
    assert await colour.stream(collected, "abc") == ["ABC"]
    assert await colour.transform(chain, ["ab", "c"]) == ["a", "b", "c"]


async def test_arguments_go_to_the_first_step(colour):
    chain = RunnableLambda(lambda x, n=0: x + n) | (lambda x: x * 2)

    assert await colour.invoke(chain, 1, n=2) == 6
    assert await colour.batch(chain, [1, 2], n=2) == [6, 8]


async def test_ten_steps_are_ten_calls(colour):
    calls = []

    def step(n):
        def add(x):
            calls.append(n)
            return x + 1

        return RunnableLambda(add)

    chain = step(0)
    for n in range(1, 10):
        chain = chain | step(n)

    assert await colour.invoke(chain, 0) == 10
    assert calls == list(range(10))


async def test_a_failed_item_of_a_batch_is_left_out_of_later_steps(colour):
    seen = []

    def fail_on_two(x):
        if x == 2:
            raise ValueError("two")
        return x

    def note(x):
        seen.append(x)
        return x * 10

    chain = RunnableLambda(fail_on_two) | RunnableLambda(note)
    one, two, three = await colour.batch(chain, [1, 2, 3], return_exceptions=True)

    assert (one, three) == (10, 30)
    assert isinstance(two, ValueError)
    assert sorted(seen) == [1, 3]
    with pytest.raises(ValueError, match="two"):
        await colour.batch(chain, [1, 2, 3])


async def test_an_empty_batch_is_empty(colour):
    assert await colour.batch(plus(1) | plus(2), []) == []


async def test_handlers_hear_of_every_step_with_its_number(colour, log):
    chain = plus(1) | plus(2)
    config = {"callbacks": [log], "tags": ["t"], "run_name": "whole"}

    assert await colour.invoke(chain, 1, config) == 4

    assert log.told == [
        ("start", "whole", 1, ["t"]),
        ("start", "plus1", 1, ["seq:step:1", "t"]),
        ("end", "plus1", 2, ["seq:step:1", "t"]),
        ("start", "plus2", 2, ["seq:step:2", "t"]),
        ("end", "plus2", 4, ["seq:step:2", "t"]),
        ("end", "whole", 4, ["t"]),
    ]
    assert log.parent_of("plus1") == "whole"
    assert log.parent_of("whole") is None


async def test_handlers_hear_of_the_step_that_failed_and_of_the_whole(colour, log):
    def fail(x):
        raise KeyError("k")

    with pytest.raises(KeyError):
        await colour.invoke(plus(1) | fail, 1, {"callbacks": [log]})

    errors = [(name, type(error)) for what, name, error, _ in log.told if what == "error"]
    assert errors == [("fail", KeyError), ("RunnableSequence", KeyError)]


async def test_handlers_hear_of_each_item_of_a_batch(colour, log):
    await colour.batch(plus(1) | plus(2), [1, 2], {"callbacks": [log]})

    ends = [
        output for what, name, output, _ in log.told if (what, name) == ("end", "RunnableSequence")
    ]
    assert ends == [4, 5]


async def test_a_streamed_run_tells_its_whole_input_and_output(colour, log):
    chain = RunnableLambda(lambda x: x, name="first") | either
    await colour.stream(chain, "abc", {"callbacks": [log]})

    assert [(name, output) for what, name, output, _ in log.told if what == "end"] == [
        ("first", "abc"),
        (either.get_name(), "abc"),
        ("RunnableSequence", "abc"),
    ]


class Source(Runnable):
    """Streams for ever and says when it is closed."""

    def __init__(self):
        self.closed = []

    def invoke(self, input, config=None, **kwargs):
        return "".join(self.stream(input, config))

    def stream(self, input, config=None, **kwargs):
        try:
            while True:
                yield "x"
        finally:
            self.closed.append("sync")

    async def astream(self, input, config=None, **kwargs):
        try:
            while True:
                yield "x"
        finally:
            self.closed.append("async")


CHAINS = {
    "alone": lambda source: RunnablePassthrough() | source,
    "then generators": lambda source: (
        RunnablePassthrough() | source | either | RunnablePassthrough()
    ),
    "in a parallel": lambda source: RunnableParallel(a=source, b=source),
    "assigned": lambda source: (
        RunnableLambda(lambda x: {"q": x}) | RunnablePassthrough.assign(a=source)
    ),
    "bound": lambda source: (RunnablePassthrough() | source).with_config(tags=["t"]),
    "with fallbacks": lambda source: source.with_fallbacks([source]),
    "returned": lambda source: RunnableLambda(lambda x: source),
}


@pytest.mark.parametrize("make", CHAINS.values(), ids=CHAINS)
@pytest.mark.parametrize(
    "config", [None, {"tags": ["t"]}, "log"], ids=["bare", "config", "callbacks"]
)
async def test_an_abandoned_stream_closes_its_source_at_once(make, config, log):
    """B111: whoever leaves a chain's stream lets go of the model's connection."""
    config = {"callbacks": [log]} if config == "log" else config
    source = Source()
    chain = make(source)
    gc.disable()
    try:
        stream = chain.stream("q", config)
        next(stream)
        next(stream)
        stream.close()
        assert set(source.closed) == {"sync"}

        source.closed.clear()
        astream = chain.astream("q", config)
        await anext(astream)
        await anext(astream)
        await astream.aclose()
        assert set(source.closed) == {"async"}
    finally:
        gc.enable()


@given(
    st.recursive(
        st.sampled_from(["plus", "double", "letters"]),
        lambda inner: st.lists(inner, min_size=1, max_size=3),
        max_leaves=6,
    )
)
def test_both_doors_and_all_verbs_agree_on_any_tree(tree):
    import asyncio

    def build(node):
        if isinstance(node, list):
            chain = RunnablePassthrough() | RunnablePassthrough()
            for inner in node:
                chain = chain | build(inner)
            return chain
        return {
            "plus": RunnableLambda(lambda x: x + "p"),
            "double": RunnableParallel(a=lambda x: x, b=either) | (lambda d: d["a"] + d["b"]),
            "letters": either,
        }[node]

    chain = build(tree)
    expected = chain.invoke("ab")

    async def asynchronous():
        pieces = [piece async for piece in chain.astream("ab")]
        return await chain.ainvoke("ab"), "".join(pieces), (await chain.abatch(["ab"]))[0]

    assert "".join(chain.stream("ab")) == expected
    assert chain.batch(["ab"]) == [expected]
    assert asyncio.run(asynchronous()) == (expected, expected, expected)


def test_a_runnable_of_another_package_is_a_step_by_its_methods():
    class Foreign:
        def invoke(self, x: int) -> int:
            return x + 1

    with pytest.raises(TypeError, match=r"RunnableLambda\(x\.invoke, x\.ainvoke\)"):
        plus(1) | Foreign()
    assert (plus(1) | RunnableLambda(Foreign().invoke)).invoke(1) == 3
