"""What is special about files: many processes, kills, versions, corruption."""

import os
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing

import pytest

from dragoman.errors import StoreError
from dragoman.messages import HumanMessage
from dragoman.threads import MemoryThreads, SQLiteThreads
from dragoman.threads import sqlite as sqlite_module
from dragoman.threads.sql import SCHEMA_VERSION

WRITER = """
import sys
import threading
from dragoman.threads import MemoryThreads, SQLiteThreads
from dragoman.threads import sqlite as sqlite_module
thread = SQLiteThreads(sys.argv[1]).thread("t")
for number in range(int(sys.argv[3])):
    thread.append([("user", f"{sys.argv[2]}/{number}")])
"""


def test_writers_in_many_processes_lose_nothing(tmp_path, scale):  # B93
    path, each = tmp_path / "threads.db", 10 * scale
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path), str(n), str(each)], stderr=subprocess.PIPE
        )
        for n in range(4)
    ]
    for process in processes:
        _, errors = process.communicate(timeout=300)
        assert process.returncode == 0, errors.decode()
    texts = [m.content for m in SQLiteThreads(path).thread("t").load().messages]
    assert len(texts) == 4 * each
    for n in range(4):
        assert [t for t in texts if t.startswith(f"{n}/")] == [f"{n}/{i}" for i in range(each)]


KILLED = """
import os, signal, sys
from dragoman.threads import MemoryThreads, SQLiteThreads
from dragoman.threads import sqlite as sqlite_module
thread = SQLiteThreads(sys.argv[1]).thread("t")
for number in range(1000):
    thread.append([("user", f"{number}a"), ("user", f"{number}b")])
    if number == int(sys.argv[2]):
        os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_kill_leaves_whole_entries(tmp_path):
    path = tmp_path / "threads.db"
    subprocess.run([sys.executable, "-c", KILLED, str(path), "20"], check=False)
    messages = SQLiteThreads(path).thread("t").load().messages
    assert len(messages) == 42


def test_a_forked_child_opens_its_own_connection(tmp_path):
    store = SQLiteThreads(tmp_path / "threads.db")
    store.thread("t").append("parent")
    script = (
        "import os,sys\nfrom dragoman.threads import SQLiteThreads\n"
        "store = SQLiteThreads(sys.argv[1])\nstore.thread('t').append('first')\n"
        "child = os.fork()\nstore.thread('t').append('child' if child == 0 else 'parent 2')\n"
        "if child == 0: os._exit(0)\nassert os.waitpid(child, 0)[1] == 0\n"
    )
    subprocess.run([sys.executable, "-c", script, str(tmp_path / "threads.db")], check=True)
    texts = sorted(m.content for m in store.thread("t").load().messages)
    assert texts == ["child", "first", "parent", "parent 2"]


def test_a_newer_database_is_refused_and_untouched(tmp_path):
    path = tmp_path / "threads.db"
    store = SQLiteThreads(path)
    store.thread("t").append("x")
    store.close()
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE dragoman_schema SET version = 99")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(StoreError, match=r"version 99.*upgrade"):
        SQLiteThreads(path).thread("t").load()
    assert path.read_bytes() == before


def test_an_older_database_is_brought_up_to_date(tmp_path):
    path = tmp_path / "threads.db"
    store = SQLiteThreads(path)
    store.thread("t").append("x")
    store.close()
    with sqlite3.connect(path) as connection:
        connection.execute("DROP INDEX dragoman_branches_updated")
        connection.execute("UPDATE dragoman_schema SET version = 1")
    connection.close()
    store = SQLiteThreads(path)
    assert store.thread("t").load().messages == [HumanMessage("x")]
    store.close()
    connection = sqlite3.connect(path)
    version = connection.execute("SELECT version FROM dragoman_schema").fetchone()
    indexes = connection.execute("SELECT name FROM sqlite_master WHERE type = 'index'").fetchall()
    connection.close()
    assert version == (SCHEMA_VERSION,)
    assert ("dragoman_branches_updated",) in indexes


def test_what_is_no_database_is_a_store_error(tmp_path):
    path = tmp_path / "threads.db"
    path.write_bytes(b"not a database" * 100)
    with pytest.raises(StoreError, match="cannot be used"):
        SQLiteThreads(path).thread("t").load()
    assert path.read_bytes() == b"not a database" * 100
    with pytest.raises(StoreError, match="cannot be used"):
        SQLiteThreads(tmp_path / "missing" / "threads.db").thread("t").load()


@pytest.mark.parametrize("path", ["", "a\0b"])
def test_a_path_that_names_no_file_is_refused(path):
    with pytest.raises(StoreError, match="name a file"):
        SQLiteThreads(path)


def test_what_is_no_path_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with closing(sqlite3.connect(":memory:")) as connection:
        for wrong in (connection, b"x.db", None, 5):
            with pytest.raises(TypeError, match="takes the path of its file"):
                SQLiteThreads(wrong)
    assert list(tmp_path.iterdir()) == []


def test_a_store_is_closed_at_the_end_of_a_with(tmp_path):
    path = tmp_path / "threads.db"
    with SQLiteThreads(path) as store:
        store.thread("t").append("x")
        assert path.with_name("threads.db-wal").exists()
    assert not path.with_name("threads.db-wal").exists()  # the last connection takes it along
    assert store.thread("t").load().messages == [HumanMessage("x")]
    store.close()


def test_an_entry_that_cannot_be_read_is_named(tmp_path):
    path = tmp_path / "threads.db"
    store = SQLiteThreads(path)
    store.thread("t").append("x")
    store.close()
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE dragoman_entries SET messages = ?", (b"{",))
    connection.close()
    with pytest.raises(StoreError, match="entry 1 of the thread store cannot be read"):
        SQLiteThreads(path).thread("t").load()
    assert os.path.exists(path)


def changed(path, statement):
    """Make a store of five appends in which `statement` was executed; return its bytes."""
    store = SQLiteThreads(path)
    for number in range(5):
        store.thread("t").append(str(number))
    store.close()
    with sqlite3.connect(path) as connection:
        connection.execute(statement)
    connection.close()
    return path.read_bytes()


READS = {"load": lambda store: store.thread("t").load()}
WRITES = {
    "append": lambda store: store.thread("t").append("x"),
    "prune": lambda store: store.prune("t", 2),
    "fork": lambda store: store.thread("t").fork("f"),
}
PRUNES = {"load": READS["load"], "prune": WRITES["prune"]}


@pytest.mark.parametrize(
    ("statement", "uses"),
    [
        ("DELETE FROM dragoman_entries WHERE id = 5", READS | WRITES),
        ("UPDATE dragoman_branches SET head = 'zz'", READS | WRITES),
        ("UPDATE dragoman_entries SET depth = 'x' WHERE id = 5", READS | WRITES),
        ("UPDATE dragoman_entries SET depth = 'x' WHERE id = 3", PRUNES),
        ("UPDATE dragoman_entries SET depth = 9e999 WHERE id = 3", PRUNES),
        ("DELETE FROM dragoman_entries WHERE id = 3", PRUNES),
        ("DELETE FROM dragoman_entries WHERE id = 1", PRUNES),
        ("UPDATE dragoman_entries SET thread = x'00' WHERE id = 3", PRUNES),
        ("UPDATE dragoman_entries SET parent = 3 WHERE id = 3", PRUNES),
        ("UPDATE dragoman_entries SET parent = 5 WHERE id = 1", PRUNES),
    ],
)
def test_a_chain_that_does_not_lead_back_is_damage(tmp_path, statement, uses):
    path = tmp_path / "threads.db"
    before = changed(path, statement)
    for use in uses.values():
        store = SQLiteThreads(path)
        with pytest.raises(StoreError, match=r"thread 't' .* is damaged: .* from a backup"):
            use(store)
        store.close()
        assert path.read_bytes() == before
    assert SQLiteThreads(path).delete("t")


@pytest.mark.parametrize(
    "change",
    ["entry_key = x'ff'", "entry_key = 5", "state = x'5b5d'", "state = 5", "messages = 99",
     "created = 'x'"],
)  # fmt: skip
def test_an_entry_of_other_values_is_named(tmp_path, change):
    path = tmp_path / "threads.db"
    before = changed(path, f"UPDATE dragoman_entries SET {change} WHERE id = 4")
    for use in PRUNES.values():
        store = SQLiteThreads(path)
        with pytest.raises(StoreError, match="entry 4 of the thread store cannot be read"):
            use(store)
        store.close()
        assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("change", "ask"),
    [
        ("name = x'ff'", lambda store: store.thread("t").branches()),
        ("name = 'main'", lambda store: store.thread("t").branches()),
        ("thread = x'ff'", lambda store: store.list()),
    ],
)
def test_a_name_that_is_no_text_is_a_store_error(tmp_path, change, ask):
    path = tmp_path / "threads.db"
    before = changed(path, f"UPDATE dragoman_branches SET {change}")
    store = SQLiteThreads(path)
    with pytest.raises(StoreError, match="where the UTF-8 of a name has to be"):
        ask(store)
    store.close()
    assert path.read_bytes() == before


@pytest.mark.parametrize("version", ["'abc'", "-1", "0", "1.5", "x''", "99999999999999999999"])
def test_a_version_that_nobody_writes_is_refused_and_untouched(tmp_path, version):
    path = tmp_path / "threads.db"
    before = changed(path, f"UPDATE dragoman_schema SET version = {version}")
    with pytest.raises(StoreError, match=r"schema version .* no dragoman writes"):
        SQLiteThreads(path).thread("t").load()
    assert path.read_bytes() == before


def test_first_opens_at_once_do_not_meet_a_locked_file(tmp_path, scale):
    """Every thread makes the file what it is to be, and all of them get in."""
    for number in range(20 * scale):
        store, errors, ready = SQLiteThreads(tmp_path / f"{number}.db"), [], threading.Barrier(6)

        def write(store=store, errors=errors, ready=ready):
            try:
                ready.wait(30)
                store.thread("t").append("x")
            except Exception as error:
                errors.append(error)

        writers = [threading.Thread(target=write) for _ in range(6)]
        for writer in writers:
            writer.start()
        for writer in writers:
            writer.join()
        assert errors == []
        assert len(store.thread("t").load().messages) == 6
        store.close()


@pytest.mark.parametrize("in_memory", [False, True])
@pytest.mark.parametrize("moment", ["after BEGIN IMMEDIATE", "before COMMIT"])
def test_an_interrupt_leaves_no_transaction_open(tmp_path, monkeypatch, moment, in_memory):
    interrupted = []

    class Interrupted(sqlite_module._Connection):
        def execute(self, statement, *values):
            if moment == f"before {statement}" and interrupted == ["armed"]:
                interrupted.append(statement)
                raise KeyboardInterrupt
            done = super().execute(statement, *values)
            if moment == f"after {statement}" and interrupted == ["armed"]:
                interrupted.append(statement)
                raise KeyboardInterrupt
            return done

    monkeypatch.setattr(sqlite_module, "_Connection", Interrupted)
    store = MemoryThreads() if in_memory else SQLiteThreads(tmp_path / "threads.db")
    thread = store.thread("t")
    thread.append("first")
    interrupted.append("armed")
    with pytest.raises(KeyboardInterrupt):
        thread.append("second")
    assert len(interrupted) == 2
    thread.append("third")
    assert [m.content for m in thread.load().messages] == ["first", "third"]
    store.close()


def test_a_transaction_inside_another_is_refused_and_the_outer_one_goes_on(tmp_path):
    store = SQLiteThreads(tmp_path / "threads.db")

    def outer(execute):
        with pytest.raises(StoreError, match="came between another transaction"):
            store.thread("t").append("inner")
        execute("CREATE TABLE outer_one (x)", ())

    store._log.transact(outer, write=True)
    store._log.transact(lambda execute: execute("SELECT x FROM outer_one", ()), write=False)
    assert store.thread("t").load().messages == []
    store.close()
