"""Connections end with their thread or their store; a fork neither uses nor closes its parent's."""

import gc
import os
import threading

from tests.chat_models.local.support import eventually

from dragoman.messages import HumanMessage
from dragoman.threads import PostgresThreads, SQLiteThreads
from dragoman.threads.connections import Connections


class Fake:
    """A connection that notes when it is closed."""

    def __init__(self, closed):
        self.closed = closed

    def close(self):
        self.closed.append(self)


def mine(held, connect):
    return held.use(connect, lambda connection: connection)


def in_thread(work):
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


def test_a_thread_has_one_connection_and_takes_it_along():
    closed, made, held = [], [], Connections()

    def connect():
        made.append(None)
        return Fake(closed)

    first = mine(held, connect)
    assert mine(held, connect) is first
    for number in (1, 2, 3):
        in_thread(lambda: mine(held, connect))
        gc.collect()
        assert len(closed) == number
    assert first not in closed
    held.close()
    held.close()
    assert closed[-1] is first
    assert len(closed) == len(made) == 4


def test_a_closed_or_dropped_one_is_made_again():
    closed, held = [], Connections()
    first = mine(held, lambda: Fake(closed))
    held.drop()
    second = mine(held, lambda: Fake(closed))
    held.close()
    third = mine(held, lambda: Fake(closed))
    assert closed == [first, second]
    del held
    gc.collect()
    assert closed == [first, second, third]


def test_a_connection_in_use_is_closed_when_its_user_is_done():
    closed, held, closer = [], Connections(), threading.Thread(target=lambda: held.close())

    def use(connection):
        closer.start()
        closer.join(0.1)
        assert closed == []
        return connection

    used = held.use(lambda: Fake(closed), use)
    closer.join()
    assert closed == [used]
    assert mine(held, lambda: Fake(closed)) is not used


def test_a_fork_leaves_a_connection_that_was_in_use(monkeypatch):
    closed, held = [], Connections()

    def fork(connection):
        parent = os.getpid()
        monkeypatch.setattr(os, "getpid", lambda: parent + 1)
        in_thread(held.close)  # it would wait for a user who is in the parent
        return connection

    assert held.use(lambda: Fake(closed), fork) not in closed


def test_a_fork_makes_its_own_and_leaves_its_parent_s_alone(monkeypatch):
    closed, held = [], Connections()
    ours = mine(held, lambda: Fake(closed))
    parent = os.getpid()
    monkeypatch.setattr(os, "getpid", lambda: parent + 1)
    theirs = mine(held, lambda: Fake(closed))
    gc.collect()
    assert theirs is not ours
    held.close()
    assert closed == [theirs]


def n_files(name):
    """Return how many files whose path contains `name` this process has open."""
    paths = (f"/proc/self/fd/{number}" for number in os.listdir("/proc/self/fd"))
    return sum(name in os.readlink(path) for path in paths if os.path.exists(path))


def append_in_threads(store, count):
    for number in range(count):
        message = HumanMessage(str(number))
        in_thread(lambda message=message: store.thread("t").append([message]))
    gc.collect()


def test_short_threads_leave_no_files_open(tmp_path):
    store = SQLiteThreads(tmp_path / "kept.db")
    append_in_threads(store, 1)
    assert store.thread("t").load().messages  # this thread's connection stays
    before = n_files("kept.db")
    append_in_threads(store, 9)
    # SQLite closes a file later if another connection to it is open: that is one, not nine.
    assert n_files("kept.db") <= before + 1
    assert len(store.thread("t").load().messages) == 10
    del store
    gc.collect()
    assert n_files("kept.db") == 0


def test_short_threads_leave_no_connection_at_the_server(postgres):
    import psycopg

    store = PostgresThreads(postgres.url)
    append_in_threads(store, 5)
    query = "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'"
    with psycopg.connect(postgres.url, autocommit=True) as watcher:

        def is_alone():
            return watcher.execute(query).fetchone() == (1,)

        assert eventually(is_alone)  # a server's process ends a little later than its connection
    store.close()


def test_a_forked_process_writes_on_a_connection_of_its_own(postgres):
    store = PostgresThreads(postgres.url)
    store.thread("fork").append([HumanMessage("before")])
    child = os.fork()
    if child == 0:
        try:
            store.thread("fork").append([HumanMessage("in the child")])
            os._exit(0)
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    store.thread("fork").append([HumanMessage("after")])
    texts = [message.content for message in store.thread("fork").load().messages]
    assert texts == ["before", "in the child", "after"]
    store.close()
