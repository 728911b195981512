"""Functions from a stream to a stream."""

import pytest

from dragoman.runnables import RunnableGenerator, RunnableLambda


def shout(pieces):
    for piece in pieces:
        yield piece.upper()


async def ashout(pieces):
    async for piece in pieces:
        yield piece.upper() + "!"


async def test_pieces_are_passed_on_one_by_one(colour):
    step = RunnableGenerator(shout, ashout)
    mark = "!" if colour.is_async else ""

    assert await colour.transform(step, ["a", "b"]) == ["A" + mark, "B" + mark]
    assert await colour.invoke(step, "a") == "A" + mark
    assert await colour.stream(step, "a") == ["A" + mark]


async def test_a_sync_generator_function_works_under_async():
    step = RunnableGenerator(shout)

    assert await step.ainvoke("a") == "A"
    assert [piece async for piece in step.astream("a")] == ["A"]


def test_an_async_generator_function_refuses_sync():
    with pytest.raises(NotImplementedError, match="ainvoke"):
        RunnableGenerator(ashout).invoke("a")


def test_a_generator_function_in_a_chain_becomes_one():
    step = (RunnableLambda(lambda x: x) | shout).last

    assert isinstance(step, RunnableGenerator)
    assert step.get_name() == "shout"
    assert repr(step) == "RunnableGenerator(shout)"
    assert step == RunnableGenerator(shout)


def test_what_is_no_generator_function_is_refused():
    with pytest.raises(TypeError, match="Expected a generator function type"):
        RunnableGenerator(len)


def test_types_are_those_of_the_pieces():
    from collections.abc import Iterator

    def typed(pieces: Iterator[int]) -> Iterator[str]:
        yield from map(str, pieces)

    step = RunnableGenerator(typed)
    assert (step.InputType, step.OutputType) == (int, str)


async def test_nothing_in_gives_what_the_function_gives(colour):
    def always(pieces):
        yield "x"

    assert await colour.transform(RunnableGenerator(always), []) == ["x"]
