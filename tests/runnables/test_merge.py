"""Streams split among readers, and read at once."""

import asyncio

import pytest

from dragoman.runnables._merge import amerge, atee, merge, tee
from dragoman.runnables._stream import aclose_all, close_all


def failing(pieces):
    yield from pieces
    raise ValueError("source")


async def afailing(pieces):
    for piece in pieces:
        yield piece
    raise ValueError("source")


def test_each_reader_gets_every_piece():
    one, two = tee(iter([1, 2, 3]), 2)
    assert next(one) == 1
    assert list(two) == [1, 2, 3]
    assert list(one) == [2, 3]


async def test_each_async_reader_gets_every_piece():
    async def source():
        for piece in (1, 2, 3):
            await asyncio.sleep(0)
            yield piece

    async def read(reader):
        return [piece async for piece in reader]

    one, two = atee(source(), 2)
    assert await asyncio.gather(read(one), read(two)) == [[1, 2, 3], [1, 2, 3]]


async def test_every_reader_hears_of_a_failing_source():
    for reader in tee(failing([1]), 2):
        assert next(reader) == 1
        with pytest.raises(ValueError, match="source"):
            next(reader)
    for areader in atee(afailing([1]), 2):
        assert await anext(areader) == 1
        with pytest.raises(ValueError, match="source"):
            await anext(areader)


async def test_a_failing_stream_is_raised_where_it_is_merged():
    with pytest.raises(ValueError, match="source"):
        list(merge({"a": failing([1]), "b": iter([1, 2])}))
    with pytest.raises(ValueError, match="source"):
        [pair async for pair in amerge({"a": afailing([1]), "b": afailing([])})]
    assert list(merge({"a": iter([1, 2])})) == [("a", 1), ("a", 2)]


async def test_a_reader_is_at_most_one_piece_ahead():
    taken = []

    def source():
        for n in range(100):
            taken.append(n)
            yield n

    pieces = merge({"a": source(), "b": iter([])})
    next(pieces)
    pieces.close()
    assert len(taken) <= 2


class Stubborn:
    def __init__(self, log, error=None):
        self.log, self.error = log, error

    def close(self):
        self.log.append(self.error)
        if self.error:
            raise self.error

    async def aclose(self):
        self.close()


async def test_all_stages_are_closed_whatever_one_raises():
    log, error = [], ValueError("one")
    with pytest.raises(ValueError, match="one"):
        close_all([Stubborn(log), Stubborn(log, error), None, Stubborn(log)])
    assert log == [None, error, None]
    with pytest.raises(ValueError, match="one"):
        await aclose_all([Stubborn(log), Stubborn(log, error)])
    assert len(log) == 5
