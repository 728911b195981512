"""One suite for every store: memory, SQLite, PostgreSQL."""

import threading
from uuid import uuid4

import pytest

from dragoman.errors import EncodeError, StoreError
from dragoman.messages import (
    REMOVE_ALL_MESSAGES,
    AIMessage,
    HumanMessage,
    RemoveMessage,
    ToolMessage,
)
from dragoman.threads import (
    MemoryThreads,
    PostgresThreads,
    SQLiteThreads,
    ThreadChatHistory,
    ThreadConflict,
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


@pytest.fixture
def thread(store):
    return store.thread(store.prefix + "t")


def test_a_new_thread_is_empty(thread):
    snapshot = thread.load()
    assert (snapshot.messages, snapshot.head, snapshot.depth, snapshot.state) == ([], None, 0, {})


def test_what_is_appended_is_loaded_in_order(thread):
    first = thread.append([("user", "a"), AIMessage("b", id="1")])
    second = thread.append("c")
    snapshot = thread.load()
    assert snapshot.messages == [H("a"), AIMessage("b", id="1"), H("c")]
    assert (snapshot.head, snapshot.depth) == (second, 2)
    assert thread.load(at=first).messages == [H("a"), AIMessage("b", id="1")]
    assert [entry.head for entry in thread.history()] == [second, first]
    assert thread.history()[0].parent == first


def test_an_expected_head_has_to_be_the_head(thread):
    head = thread.append("a", expect=None)
    thread.append("b", expect=head)
    with pytest.raises(ThreadConflict) as caught:
        thread.append("c", expect=head)
    assert caught.value.head == thread.load().head
    assert thread.load().messages == [H("a"), H("b")]
    with pytest.raises(ThreadConflict):
        thread.append("c", expect=None)


def test_a_key_makes_a_retried_append_happen_once(thread):
    head = thread.append("a", key="run/1")
    assert thread.append("a", key="run/1", expect=None) == head
    assert thread.load().messages == [H("a")]


def test_removals_and_replacements_are_entries(thread):
    before = thread.append([H("a", id="1"), H("b", id="2")])
    thread.append([RemoveMessage("1"), H("B", id="2"), RemoveMessage("unknown")])
    assert thread.load().messages == [H("B", id="2")]
    assert thread.load(at=before).messages == [H("a", id="1"), H("b", id="2")]
    thread.append([RemoveMessage(REMOVE_ALL_MESSAGES), "c"])
    assert thread.load().messages == [H("c")]


def test_state_is_kept_beside_the_messages(thread):
    thread.append([], state={"a": 1, "b": [1]})
    thread.append("x", state={"a": (1, 2)})
    assert thread.load().state == {"a": (1, 2), "b": [1]}


def test_branches_share_their_past(thread):
    head = thread.append("a")
    thread.append("b")
    other = thread.fork("other", at=head)
    other.append("c")
    assert thread.load().messages == [H("a"), H("b")]
    assert other.load().messages == [H("a"), H("c")]
    assert set(thread.branches()) == {"main", "other"}
    with pytest.raises(StoreError, match="already"):
        thread.fork("other")
    with pytest.raises(StoreError, match="no head"):
        thread.fork("third", at="999999999")
    with pytest.raises(StoreError, match="no head"):
        thread.load(at="nonsense")


def test_a_limited_load_gives_the_newest_messages(thread):
    for number in range(40):
        thread.append([H(f"{number}a"), H(f"{number}b")])
    assert [m.content for m in thread.load(limit=3).messages] == ["38b", "39a", "39b"]
    assert thread.load(limit=1000).messages == thread.load().messages
    assert thread.load(limit=0).messages == []


HOSTILE = [
    "x' ; DROP TABLE dragoman_entries; --",
    "a%_*",
    "../..",
    "a/b",
    "nul\x00id",
    "\ud83d",
    "ü😀",
    '"',
]


@pytest.mark.parametrize("name", HOSTILE)
def test_any_text_is_an_id_and_matches_no_other(store, name):  # B87
    other = store.thread(store.prefix + "other")
    other.append("other")
    thread = store.thread(store.prefix + name, branch=name)
    thread.append("mine", key=name)
    assert thread.load().messages == [H("mine")]
    assert store.prefix + name in store.list(store.prefix)
    assert store.list(store.prefix + name) == [store.prefix + name]
    assert store.delete(store.prefix + name)
    assert thread.load().messages == []
    assert other.load().messages == [H("other")]


@pytest.mark.parametrize("text", ["a\x00b", "\\u0000", "\ud83d", "😀", "x" * 100_000])
def test_texts_come_back_exactly(thread, text):  # B91
    thread.append([ToolMessage(text, tool_call_id="1", artifact={"raw": text})])
    loaded = thread.load().messages[0]
    assert loaded.content == text
    assert loaded.artifact == {"raw": text}


def test_what_cannot_be_written_changes_nothing(thread):
    thread.append("a")
    with pytest.raises(EncodeError, match="artifact"):
        thread.append(["b", ToolMessage("x", tool_call_id="1", artifact=object())])
    assert thread.load().messages == [H("a")]


@pytest.mark.parametrize("bad", ["", None, 5])
def test_ids_have_to_be_texts(store, bad):
    with pytest.raises(StoreError, match="non-empty text"):
        store.thread(bad)


def test_pruning_keeps_the_last_messages_and_whole_units(store, thread):
    call = AIMessage("", tool_calls=[{"name": "f", "args": {}, "id": "c"}])
    thread.append(["a", "b", call, ToolMessage("r", tool_call_id="c")], state={"k": 1})
    thread.append(AIMessage("end"))
    fork = thread.fork("fork")
    assert store.prune(thread.id, 2) == 2
    assert [m.type for m in thread.load().messages] == ["ai", "tool", "ai"]
    assert thread.load().state == {"k": 1}
    assert len(thread.history()) == 1
    assert len(fork.load().messages) == 5
    thread.append("more")
    assert thread.load().messages[-1] == H("more")


def test_old_threads_can_be_pruned_and_listed(store):
    import time

    for number in range(3):
        store.thread(f"{store.prefix}{number}").append("x")
    assert store.list(store.prefix, limit=2) == [f"{store.prefix}0", f"{store.prefix}1"]
    assert store.list(store.prefix, before=time.time() - 60) == []
    assert len(store.list(store.prefix, before=time.time() + 60)) == 3


def test_a_thread_is_a_chat_history(store):
    history = ThreadChatHistory(store, store.prefix + "h")
    history.add_user_message("hi")
    history.add_messages([AIMessage("hello")])
    assert history.messages == [H("hi"), AIMessage("hello")]
    history.clear()
    assert history.messages == []


async def test_async_twins(store):
    thread = store.thread(store.prefix + "async")
    head = await thread.aappend("a", expect=None)
    fork = await thread.afork("f")
    await fork.aappend("b", key="k")
    assert (await fork.aload()).messages == [H("a"), H("b")]
    assert (await thread.abranches())["main"] == head
    assert len(await fork.ahistory()) == 2
    assert thread.id in await store.alist(store.prefix)
    assert await store.aprune(thread.id, 0) == 1
    assert await store.adelete(thread.id)


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
