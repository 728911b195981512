import json

import pytest
from tests.cli.support import call, is_one_line_of_error

from dragoman.messages import AIMessage, HumanMessage, messages_from_json
from dragoman.threads import SQLiteThreads


@pytest.fixture
def store(tmp_path):
    path = tmp_path / "t.db"
    made = SQLiteThreads(path)
    made.thread("alice").append([HumanMessage("hi"), AIMessage("hello \x1b[1mthere")])
    made.thread("bob/'%").append([HumanMessage("yo")])
    made.close()
    return str(path)


def test_list_prints_the_names(monkeypatch, capsys, store):
    assert call(monkeypatch, capsys, "threads", "list", "--store", store) == (
        0,
        "alice\nbob/'%\n",
        "",
    )
    code, out, _ = call(monkeypatch, capsys, "threads", "list", "--store", store, "--prefix", "bob")
    assert (code, out) == (0, "bob/'%\n")
    code, out, _ = call(monkeypatch, capsys, "threads", "list", "--store", store, "--limit", "1")
    assert (code, out) == (0, "alice\n")


def test_the_store_can_come_from_the_environment(monkeypatch, capsys, store):
    monkeypatch.setenv("DRAGOMAN_THREADS", store)
    assert call(monkeypatch, capsys, "threads", "list")[1] == "alice\nbob/'%\n"


def test_show_prints_the_messages_without_what_a_terminal_obeys(monkeypatch, capsys, store):
    code, out, _ = call(monkeypatch, capsys, "threads", "show", "alice", "--store", store)
    assert code == 0
    assert "Human Message" in out
    assert "hello [1mthere" in out
    assert "\x1b" not in out
    code, out, _ = call(
        monkeypatch, capsys, "threads", "show", "alice", "--limit", "1", "--store", store
    )
    assert "hi" not in out


@pytest.mark.parametrize("form", ["native", "openai"])
def test_export_writes_json(form, capfdbinary, store):
    from dragoman.cli.group import run

    assert run(["threads", "export", "alice", "--store", store, "--format", form]) == 0
    data = capfdbinary.readouterr().out
    if form == "native":
        assert messages_from_json(data)[0].content == "hi"
    else:
        assert json.loads(data)[0] == {"role": "user", "content": "hi"}


def test_delete_asks_first(monkeypatch, capsys, store):
    args = ("threads", "delete", "alice", "--store", store)
    assert call(monkeypatch, capsys, *args, said="n\n")[0] == 130
    assert SQLiteThreads(store).list() == ["alice", "bob/'%"]
    assert call(monkeypatch, capsys, *args, said="y\n")[0] == 0
    assert SQLiteThreads(store).list() == ["bob/'%"]
    assert (
        call(monkeypatch, capsys, "threads", "delete", "bob/'%", "--store", store, "--yes")[0] == 0
    )
    assert SQLiteThreads(store).list() == []


@pytest.mark.parametrize("verb", ["show", "export", "delete"])
def test_a_thread_that_is_not_there_is_one_line(verb, monkeypatch, capsys, store):
    code, out, err = call(monkeypatch, capsys, "threads", verb, "nobody", "--store", store)
    assert (code, out) == (1, "")
    assert is_one_line_of_error(err)
    assert "nobody" in err
    assert SQLiteThreads(store).list() == ["alice", "bob/'%"]


def test_a_store_that_is_not_there_is_one_line_and_is_not_made(monkeypatch, capsys, tmp_path):
    path = tmp_path / "none.db"
    code, _, err = call(monkeypatch, capsys, "threads", "list", "--store", str(path))
    assert code == 1
    assert is_one_line_of_error(err)
    assert not path.exists()


def test_a_store_that_is_no_database_is_one_line(monkeypatch, capsys, tmp_path):
    path = tmp_path / "t.db"
    path.write_bytes(b"no database " * 200)
    code, _, err = call(monkeypatch, capsys, "threads", "list", "--store", str(path))
    assert code == 1
    assert is_one_line_of_error(err)
