"""Response caches, in memory and in SQLite."""

import asyncio
from decimal import Decimal

import pytest

from dragoman.caches import BaseCache, InMemoryCache, SQLiteCache
from dragoman.errors import StoreError
from dragoman.messages import AIMessage
from dragoman.outputs import ChatGeneration, Generation


@pytest.fixture(params=["memory", "sqlite"])
def cache(request, tmp_path) -> BaseCache:
    return InMemoryCache() if request.param == "memory" else SQLiteCache(tmp_path / "c.db")


def test_update_and_lookup(cache):
    value = [Generation(text="a", generation_info={"r": "stop"})]
    assert cache.lookup("p", "m") is None
    cache.update("p", "m", value)
    assert cache.lookup("p", "m") == value
    assert cache.lookup("p", "other") is None
    cache.clear()
    assert cache.lookup("p", "m") is None


def test_messages_come_back_whole(cache):
    message = AIMessage(
        "é\ud83d \x00",
        tool_calls=[{"name": "f", "args": {"n": 2**80}, "id": "1"}],
        usage_metadata={"input_tokens": 1, "output_tokens": 2, "total_tokens": 3},
        additional_kwargs={"d": Decimal("1.5")},
    )
    cache.update("p", "m", [ChatGeneration(message=message)])
    assert cache.lookup("p", "m") == [ChatGeneration(message=message)]


async def test_async_methods_do_the_same(cache):
    await cache.aupdate("p", "m", [Generation(text="a")])
    assert await cache.alookup("p", "m") == [Generation(text="a")]
    await cache.aclear()
    assert await cache.alookup("p", "m") is None


def test_a_full_memory_cache_drops_what_came_first():
    cache = InMemoryCache(maxsize=2)
    for key in "abc":
        cache.update(key, "m", [Generation(text=key)])
    assert [cache.lookup(key, "m") is None for key in "abc"] == [True, False, False]
    cache.update("b", "m", [])
    assert cache.lookup("c", "m") is not None


@pytest.mark.parametrize("size", [0, -1])
def test_a_size_that_holds_nothing_is_an_error(size):
    with pytest.raises(ValueError, match="maxsize must be greater than 0"):
        InMemoryCache(maxsize=size)


def test_sqlite_survives_the_object_and_keys_are_parameters(tmp_path):
    path = tmp_path / "c.db"
    SQLiteCache(path).update("'; DROP TABLE x; --", "m", [Generation(text="a")])
    assert SQLiteCache(path).lookup("'; DROP TABLE x; --", "m") == [Generation(text="a")]


async def test_sqlite_takes_many_writers(tmp_path):
    cache = SQLiteCache(tmp_path / "c.db")
    await asyncio.gather(
        *(cache.aupdate(str(n), "m", [Generation(text=str(n))]) for n in range(20))
    )
    assert all(cache.lookup(str(n), "m") for n in range(20))


def test_a_broken_file_is_a_store_error(tmp_path):
    path = tmp_path / "c.db"
    path.write_bytes(b"this is no database" * 100)
    with pytest.raises(StoreError):
        SQLiteCache(path)
