"""What every thread store has to do: lose nothing, mix nothing, and say when somebody was faster."""

import asyncio
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, TypeVar
from uuid import uuid4

from dragoman.errors import EncodeError, StoreError
from dragoman.messages import (
    REMOVE_ALL_MESSAGES,
    AIMessage,
    HumanMessage,
    RemoveMessage,
    ToolMessage,
)
from dragoman.threads import Thread, ThreadConflict, ThreadStore

__all__ = ["ThreadStoreSuite"]

E = TypeVar("E", bound=BaseException)

_H = HumanMessage
# As an id each of these once was a query, a pattern, a path or an error somewhere.
_IDS = [
    "x' ; DROP TABLE dragoman_entries; --", "a%_*", "../..", "a/b", "nul\x00id", "\ud83d", "ü😀", '"',
]  # fmt: skip
_TEXTS = ["a\x00b", "\\u0000", "\ud83d", "😀", "x" * 100_000]


class ThreadStoreSuite(ABC):
    """The contract of a thread store (DESIGN 10); write `store`.

    The store may hold other threads: a suite uses ids that nobody else has, and deletes nothing else.
    """

    @abstractmethod
    def store(self) -> ThreadStore:
        """Return the store under test; the same one, or another with the same content."""

    def test_a_new_thread_is_empty(self) -> None:
        """Loading a thread that nobody wrote gives nothing, and writes nothing."""
        thread = self._thread()
        snapshot = thread.load()
        assert (snapshot.messages, snapshot.head, snapshot.depth, snapshot.state) == (
            [],
            None,
            0,
            {},
        )
        assert self.store().list(thread.id) == []

    def test_what_is_appended_is_loaded_in_order(self) -> None:
        """Appends add up; earlier heads can be loaded; the history names each append's parent."""
        thread = self._thread()
        first = thread.append([("user", "a"), AIMessage("b", id="1")])
        second = thread.append("c")
        snapshot = thread.load()
        assert snapshot.messages == [_H("a"), AIMessage("b", id="1"), _H("c")]
        assert (snapshot.head, snapshot.depth) == (second, 2)
        assert thread.load(at=first).messages == [_H("a"), AIMessage("b", id="1")]
        newest, oldest = thread.history()
        assert (newest.head, newest.parent) == (second, first)
        assert (oldest.head, oldest.parent) == (first, None)

    def test_an_expected_head_has_to_be_the_head(self) -> None:
        """An append that expects another head changes nothing and says where the thread stands."""
        thread = self._thread()
        head = thread.append("a", expect=None)
        thread.append("b", expect=head)
        for wrong in (head, None):
            conflict = _caught(ThreadConflict, lambda wrong=wrong: thread.append("c", expect=wrong))
            assert conflict.head == thread.load().head
        assert thread.load().messages == [_H("a"), _H("b")]

    def test_a_key_makes_a_retried_append_happen_once(self) -> None:
        """The second append with a key gives the first one's head, whatever it expects."""
        thread = self._thread()
        head = thread.append("a", key="run/1")
        assert thread.append("a", key="run/1", expect=None) == head
        assert thread.load().messages == [_H("a")]

    def test_removals_and_replacements_are_entries(self) -> None:
        """A removed or replaced message is still there at the earlier head."""
        thread = self._thread()
        before = thread.append([_H("a", id="1"), _H("b", id="2")])
        thread.append([RemoveMessage("1"), _H("B", id="2"), RemoveMessage("unknown")])
        assert thread.load().messages == [_H("B", id="2")]
        assert thread.load(at=before).messages == [_H("a", id="1"), _H("b", id="2")]
        thread.append([RemoveMessage(REMOVE_ALL_MESSAGES), "c"])
        assert thread.load().messages == [_H("c")]

    def test_state_is_kept_beside_the_messages(self) -> None:
        """Of equal keys the later counts; tuples come back as tuples."""
        thread = self._thread()
        thread.append([], state={"a": 1, "b": [1]})
        thread.append("x", state={"a": (1, 2)})
        assert thread.load().state == {"a": (1, 2), "b": [1]}

    def test_branches_share_their_past(self) -> None:
        """A fork goes its own way; a taken name and an unknown head are refused."""
        thread = self._thread()
        head = thread.append("a")
        thread.append("b")
        other = thread.fork("other", at=head)
        other.append("c")
        assert thread.load().messages == [_H("a"), _H("b")]
        assert other.load().messages == [_H("a"), _H("c")]
        assert set(thread.branches()) == {"main", "other"}
        assert "already" in str(_caught(StoreError, lambda: thread.fork("other")))
        for at in ("999999999", "nonsense"):
            assert "no head" in str(_caught(StoreError, lambda at=at: thread.fork("third", at=at)))
            assert "no head" in str(_caught(StoreError, lambda at=at: thread.load(at=at)))

    def test_a_limited_load_gives_the_newest_messages(self) -> None:
        """A limit counts messages, also inside an append; more than there are is all of them."""
        thread = self._thread()
        for number in range(40):
            thread.append([_H(f"{number}a"), _H(f"{number}b")])
        assert [m.content for m in thread.load(limit=3).messages] == ["38b", "39a", "39b"]
        assert thread.load(limit=1000).messages == thread.load().messages
        assert thread.load(limit=0).messages == []

    def test_any_text_is_an_id_and_matches_no_other(self) -> None:
        """Quotes, patterns, NUL and half characters are letters of an id, key and branch like others."""
        store, prefix = self.store(), f"{uuid4()}/"
        other = store.thread(f"{prefix}other")
        other.append("other")
        for name in _IDS:
            thread = store.thread(prefix + name, branch=name)
            thread.append("mine", key=name)
            assert thread.load().messages == [_H("mine")]
            assert set(store.list(prefix)) == {prefix + name, other.id}
            assert store.list(prefix + name) == [prefix + name]
            assert store.delete(prefix + name)
            assert thread.load().messages == []
        assert other.load().messages == [_H("other")]
        assert store.delete(other.id)
        assert not store.delete(other.id)

    def test_texts_come_back_exactly(self) -> None:
        """NUL, backslashes, half characters and long texts are the same after a load."""
        for text in _TEXTS:
            thread = self._thread()
            thread.append([ToolMessage(text, tool_call_id="1", artifact={"raw": text})])
            (loaded,) = thread.load().messages
            assert isinstance(loaded, ToolMessage)
            assert (loaded.content, loaded.artifact) == (text, {"raw": text})

    def test_what_cannot_be_written_changes_nothing(self) -> None:
        """An append with one message that JSON cannot hold appends none."""
        thread = self._thread()
        thread.append("a")
        bad: list[Any] = ["b", ToolMessage("x", tool_call_id="1", artifact=object())]
        assert "artifact" in str(_caught(EncodeError, lambda: thread.append(bad)))
        assert thread.load().messages == [_H("a")]

    def test_pruning_keeps_the_last_messages_and_whole_units(self) -> None:
        """A call and its results stay together; other branches keep everything."""
        store, thread = self.store(), self._thread()
        call = AIMessage("", tool_calls=[{"name": "f", "args": {}, "id": "c", "type": "tool_call"}])
        thread.append(["a", "b", call, ToolMessage("r", tool_call_id="c")], state={"k": 1})
        thread.append(AIMessage("end"))
        fork = thread.fork("fork")
        assert store.prune(thread.id, 2) == 2
        assert [m.type for m in thread.load().messages] == ["ai", "tool", "ai"]
        assert thread.load().state == {"k": 1}
        assert len(thread.history()) == 1
        assert len(fork.load().messages) == 5
        thread.append("more")
        assert thread.load().messages[-1] == _H("more")

    def test_threads_are_listed_by_id_and_by_age(self) -> None:
        """A list is sorted, can be cut, and can be of those that nobody wrote since a moment."""
        store, prefix = self.store(), f"{uuid4()}/"
        ids = [f"{prefix}{number}" for number in range(3)]
        for thread_id in reversed(ids):
            store.thread(thread_id).append("x")
        assert store.list(prefix) == ids
        assert store.list(prefix, limit=2) == ids[:2]
        assert store.list(prefix, before=time.time() - 60) == []
        assert store.list(prefix, before=time.time() + 60) == ids
        assert [store.delete(thread_id) for thread_id in ids] == [True] * 3

    def test_async_twins_do_the_same(self) -> None:
        """Every method has a twin with an `a` in front."""

        async def use(store: ThreadStore) -> None:
            thread = store.thread(f"{uuid4()}/async")
            head = await thread.aappend("a", expect=None)
            fork = await thread.afork("f")
            await fork.aappend("b", key="k")
            assert (await fork.aload()).messages == [_H("a"), _H("b")]
            assert (await thread.abranches())["main"] == head
            assert len(await fork.ahistory()) == 2
            assert await store.alist(thread.id) == [thread.id]
            assert await store.aprune(thread.id, 0) == 1
            assert await store.adelete(thread.id)

        asyncio.run(use(self.store()))

    def test_writers_at_once_lose_nothing(self) -> None:
        """What was appended in one piece stands in one piece, in each writer's order."""
        thread, errors = self._thread(), list[BaseException]()

        def write(writer: int) -> None:
            try:
                mine = self.store().thread(thread.id)
                for number in range(10):
                    mine.append([_H(f"{writer}/{number}/a"), _H(f"{writer}/{number}/b")])
            except BaseException as error:  # noqa: BLE001 - a thread cannot raise to its test
                errors.append(error)

        writers = [threading.Thread(target=write, args=(number,)) for number in range(4)]
        for each in writers:
            each.start()
        while any(each.is_alive() for each in writers):
            thread.load()
        assert errors == []
        texts = [str(message.content) for message in thread.load().messages]
        assert [a[:-1] for a in texts[::2]] == [b[:-1] for b in texts[1::2]]
        for writer in range(4):
            mine = [text for text in texts if text.startswith(f"{writer}/")]
            assert mine == [f"{writer}/{number}/{part}" for number in range(10) for part in "ab"]

    def _thread(self) -> Thread:
        return self.store().thread(f"{uuid4()}/t")


def _caught(kind: type[E], call: Callable[[], object]) -> E:
    """Return the error of `kind` that `call` raises."""
    try:
        call()
    except kind as error:
        return error
    message = f"{kind.__name__} was not raised"
    raise AssertionError(message)
