"""What surrounds a run: runtime and store."""

from dataclasses import FrozenInstanceError

import pytest

from dragoman.agents import InMemoryStore, Runtime


def test_a_store_keeps_values_by_namespace_and_key():
    store = InMemoryStore()
    store.put(("a", "b"), "k", {"n": 1})
    store.put(("a", "b"), "k", {"n": 2})
    store.put(("a", "c"), "k", {"n": 3})
    assert store.get(("a", "b"), "k").value == {"n": 2}
    assert store.get(("a",), "k") is None
    assert [i.value["n"] for i in store.search(("a",))] == [2, 3]
    assert [i.value["n"] for i in store.search(("a",), filter={"n": 3})] == [3]
    assert len(store.search((), limit=1)) == 1
    store.delete(("a", "b"), "k")
    store.delete(("a", "b"), "k")
    assert store.get(("a", "b"), "k") is None


async def test_the_async_twins_do_the_same():
    store = InMemoryStore()
    await store.aput(("a",), "k", {"n": 1})
    assert (await store.aget(("a",), "k")).value == {"n": 1}
    assert len(await store.asearch(("a",))) == 1
    await store.adelete(("a",), "k")
    assert await store.aget(("a",), "k") is None


def test_a_runtime_is_replaced_not_changed():
    runtime = Runtime(context=1)
    assert runtime.override(context=2).context == 2
    with pytest.raises(FrozenInstanceError):
        runtime.context = 3
