"""Every store conforms: memory, SQLite, PostgreSQL; and what else they have in common."""

import datetime as dt
import threading
import time
from uuid import uuid4

import pytest

from dragoman.errors import StoreError
from dragoman.messages import AIMessage, HumanMessage, RemoveMessage
from dragoman.testing import ThreadStoreSuite
from dragoman.threads import (
    MemoryThreads,
    PostgresThreads,
    SQLiteThreads,
    ThreadChatHistory,
)

H = HumanMessage


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def store(request, tmp_path):
    if request.param == "memory":
        made = MemoryThreads()
    elif request.param == "sqlite":
        made = SQLiteThreads(tmp_path / "threads.db")
    else:
        made = PostgresThreads(request.getfixturevalue("postgres").url)
    made.prefix = f"{uuid4()}/"  # the server is shared by all tests
    yield made
    for thread_id in made.list(made.prefix):
        made.delete(thread_id)
    made.close()


class TestStores(ThreadStoreSuite):  # B87, B91, B93
    @pytest.fixture(autouse=True)
    def _keep(self, store):
        self._store = store

    def store(self):
        return self._store


@pytest.mark.parametrize("limit", [-1, "1", 0.5, True])
def test_limits_are_whole_numbers_from_zero(store, limit):
    thread = store.thread(f"{store.prefix}x")
    for ask in (store.list, thread.load, thread.history):
        with pytest.raises(StoreError, match="limit has to be a whole number from 0"):
            ask(limit=limit)


def test_a_limited_load_is_the_end_of_the_whole_one(store):
    thread = store.thread(store.prefix + "limited")
    for number in range(20):
        thread.append(
            [H(str(number), id=f"m{number}")], state={"a": number} if number < 3 else None
        )
    thread.append([H("0 new", id="m0")])
    assert [m.content for m in thread.load(limit=3).messages] == ["17", "18", "19"]
    for number in range(9):
        thread.append([H(f"19 v{number}", id="m19")])
    assert [m.content for m in thread.load(limit=3).messages] == ["17", "18", "19 v8"]
    thread.append([RemoveMessage(id="m18")])
    whole = thread.load()
    assert whole.state == {"a": 2}
    for limit in (0, 1, 2, 18, 19, 20, 10**30):
        part = thread.load(limit=limit)
        assert part.messages == whole.messages[max(len(whole.messages) - limit, 0) :]
        assert (part.head, part.depth, part.state) == (whole.head, whole.depth, whole.state)


def test_a_limit_may_be_larger_than_any_number_of_the_database(store):
    thread = store.thread(store.prefix + "x")
    thread.append("x")
    assert store.list(store.prefix, limit=10**30) == [thread.id]
    assert len(thread.load(limit=10**30).messages) == len(thread.history(limit=10**30)) == 1


@pytest.mark.parametrize("bad", ["", None, 5])
def test_ids_have_to_be_texts(store, bad):
    for use in (store.thread, store.delete, lambda thread_id: store.prune(thread_id, 1)):
        with pytest.raises(StoreError, match="non-empty text"):
            use(bad)


def test_names_and_keys_have_to_be_texts_and_state_a_dict(store):
    thread = store.thread(store.prefix + "x")
    thread.append("x")
    for use in (
        lambda: store.thread(thread.id, branch=5),
        lambda: store.prune(thread.id, 1, branch=None),
        lambda: store.list(prefix=5),
        lambda: thread.fork(5),
        lambda: thread.append("y", key=5),
        lambda: thread.append("y", expect=5),
    ):
        with pytest.raises(StoreError, match="has to be a text"):
            use()
    for state in (5, [], "", [("a", 1)]):
        with pytest.raises(StoreError, match="state has to be a dict"):
            thread.append("y", state=state)
    assert thread.load().messages == [H("x")]
    assert list(thread.branches()) == ["main"]


@pytest.mark.parametrize("before", [None, "x", True, float("nan"), 10**400, dt.date(2026, 1, 1)])
def test_a_time_is_seconds_since_the_epoch(store, before):
    thread = store.thread(store.prefix + "x")
    thread.append("x")
    with pytest.raises(StoreError, match="seconds since the epoch"):
        store.prune_before(before)
    if before is not None:
        with pytest.raises(StoreError, match="seconds since the epoch"):
            store.list(before=before)
    assert store.list(thread.id) == [thread.id]


def test_a_thread_is_a_chat_history(store):
    history = ThreadChatHistory(store, store.prefix + "h")
    history.add_user_message("hi")
    history.add_messages([AIMessage("hello")])
    assert history.messages == [H("hi"), AIMessage("hello")]
    history.clear()
    assert history.messages == []


def test_writers_in_many_threads_lose_nothing(store, scale):  # B93
    thread_id, each = store.prefix + "busy", 10 * scale
    errors = []

    def write(writer):
        try:
            mine = store.thread(thread_id)
            for number in range(each):
                mine.append([H(f"{writer}/{number}/a"), H(f"{writer}/{number}/b")])
        except Exception as error:
            errors.append(error)

    writers = [threading.Thread(target=write, args=(n,)) for n in range(8)]
    for writer in writers:
        writer.start()
    while any(writer.is_alive() for writer in writers):
        store.thread(thread_id).load()
    for writer in writers:
        writer.join()
    assert errors == []
    texts = [m.content for m in store.thread(thread_id).load().messages]
    assert len(texts) == 8 * each * 2
    for first, second in zip(texts[::2], texts[1::2], strict=True):
        assert first[:-1] == second[:-1]  # what was appended in one piece stands in one piece
    for n in range(8):
        mine = [text for text in texts if text.startswith(f"{n}/")]
        assert mine == [f"{n}/{number}/{part}" for number in range(each) for part in "ab"]


def test_a_store_closed_beside_writers_loses_nothing(store, scale):
    thread_id, each, errors = store.prefix + "closed", 40 * scale, []

    def write():
        try:
            for _ in range(each):
                store.thread(thread_id).append([H("x")])
        except Exception as error:
            errors.append(error)

    writers = [threading.Thread(target=write) for _ in range(4)]
    for writer in writers:
        writer.start()
    while any(writer.is_alive() for writer in writers):
        store.close()
        writers[-1].join(0.001)
    assert errors == []
    assert len(store.thread(thread_id).load().messages) == 4 * each


def test_pruning_beside_a_writer_loses_nothing(store, scale):
    thread_id, each, errors = store.prefix + "pruned", 50 * scale, []
    store.thread(thread_id).append([H("seed")])

    def write():
        try:
            for number in range(each):
                store.thread(thread_id).append([H(str(number))])
        except Exception as error:
            errors.append(error)

    writer = threading.Thread(target=write)
    writer.start()
    while writer.is_alive():
        assert store.prune(thread_id, 10_000 * scale) == 0
        writer.join(0.005)  # let it have its turn
    assert errors == []
    texts = [m.content for m in store.thread(thread_id).load().messages]
    assert texts == ["seed", *map(str, range(each))]


def test_a_branch_made_beside_a_prune_keeps_its_past(store, monkeypatch):
    thread = store.thread(store.prefix + "forked")
    thread.append([H("a")])
    thread.append([H("b")])
    pruner = threading.Thread(target=lambda: store.prune(thread.id, 1))
    find_head = store._log._head

    def head_then_prune(*given):
        head = find_head(*given)
        if threading.current_thread() is not pruner and not pruner.ident:
            pruner.start()
            pruner.join(0.2)  # it can go on only when the fork is done
        return head

    monkeypatch.setattr(store._log, "_head", head_then_prune)
    fork = thread.fork("fork")
    pruner.join()
    assert fork.load().messages == [H("a"), H("b")]
    assert thread.load().messages == [H("b")]


def test_a_thread_written_while_old_ones_are_deleted_stays(store, monkeypatch):
    old, busy = (store.thread(store.prefix + name) for name in ("old", "busy"))
    for thread in (old, busy):
        thread.append("x")
    moment = time.time()
    listed = store.list

    def list_then_write(*, before):
        ids = listed(store.prefix, before=before)
        busy.append("y")
        return ids

    monkeypatch.setattr(store, "list", list_then_write)
    assert store.prune_before(moment) == 1
    assert listed(store.prefix) == [busy.id]


def test_bytes_grow_with_the_turns_and_not_with_their_square(tmp_path):  # B94
    def size(turns):
        path = tmp_path / f"{turns}.db"
        store = SQLiteThreads(path)
        thread = store.thread("t")
        for number in range(turns):
            thread.append([H(f"question {number}" * 4), AIMessage(f"answer {number}" * 4)])
        store.close()
        return path.stat().st_size

    assert size(400) < 5 * size(100)
