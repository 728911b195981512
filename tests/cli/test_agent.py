import json
import signal
import subprocess
import sys
import time

import pytest
from tests.cli.support import (
    COMMAND,
    call,
    environment,
    is_one_line_of_error,
    run,
    streamed,
    terminal,
)

from dragoman.testing import Reply, ScriptedServer
from dragoman.threads import SQLiteThreads

TOOLS = '''
import time
from dragoman.tools import tool

def add(a: int, b: int) -> int:
    """Add two numbers."""
    open("ran", "a").write(f"add {a} {b}\\n")
    return a + b

@tool
def slow() -> str:
    """Be slow."""
    open("ran", "a").write("slow\\n")
    time.sleep(1.5)
    return "late"

def undocumented(x: int): ...

BOTH = [add, slow]
NUMBER = 3
'''


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "mytools.py").write_text(TOOLS)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def calling(name: str, id_val: str = "c1", **args) -> Reply:
    """Return a streamed reply that calls a tool."""
    base = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    function = {"name": name, "arguments": json.dumps(args)}
    one = {"index": 0, "id": id_val, "type": "function", "function": function}
    deltas = [
        ({"role": "assistant", "content": None, "tool_calls": [one]}, None),
        ({}, "tool_calls"),
    ]
    events = [
        (None, json.dumps({**base, "choices": [{"index": 0, "delta": d, "finish_reason": r}]}))
        for d, r in deltas
    ]
    return Reply.events([*events, (None, "[DONE]")])


MODEL = ("--model", "openai:m")


def test_a_task_is_worked_on_with_tools(folder):
    with ScriptedServer(calling("add", a=1, b=2), streamed("It is 3.")) as server:
        done = run("agent", *MODEL, "--tools", "mytools:add", "--yes", "1 + 2?", url=server.url)
        sent = [r.json for r in server.requests]
    assert (done.returncode, done.stdout) == (0, "It is 3.\n")
    assert done.stderr == "-> add(a=1, b=2)\n<- add: 3\n"
    assert (folder / "ran").read_text() == "add 1 2\n"
    assert [m["role"] for m in sent[1]["messages"]] == ["user", "assistant", "tool"]
    assert sent[0]["tools"][0]["function"]["name"] == "add"


def test_without_tools_it_is_a_question(folder):
    with ScriptedServer(streamed("hello")) as server:
        done = run("agent", *MODEL, "--system", "Be brief.", "hi", url=server.url)
        assert [m["role"] for m in server.requests[0].json["messages"]] == ["system", "user"]
    assert (done.returncode, done.stdout, done.stderr) == (0, "hello\n", "")


def test_a_thread_is_kept_and_gone_on_with(folder):
    store = ("--store", str(folder / "deep" / "t.db"), "--thread", "mine")
    with ScriptedServer(streamed("one"), streamed("two")) as server:
        assert run("agent", *MODEL, *store, "first", url=server.url).stdout == "one\n"
        assert run("agent", *MODEL, *store, "second", url=server.url).stdout == "two\n"
        assert [m["content"] for m in server.requests[1].json["messages"]] == [
            "first",
            "one",
            "second",
        ]
    shown = run("threads", "show", "mine", "--store", str(folder / "deep" / "t.db"))
    assert "second" in shown.stdout


@pytest.mark.parametrize(
    ("typed", "ran", "result"),
    [
        (["y"], "add 1 2\n", "3"),
        (["what?", "y"], "add 1 2\n", "3"),
        (["n", "not today"], None, "User rejected the tool call for `add` with reason: not today"),
        (["e", '{"a": 5, "b": 6}'], "add 5 6\n", "11"),
        (["e", "[1]", '{"a": 5, "b": 6}'], "add 5 6\n", "11"),
    ],
)
def test_a_person_is_asked_before_a_tool_runs(folder, typed, ran, result):
    with ScriptedServer(calling("add", a=1, b=2), streamed("Fine.")) as server:
        with terminal(
            "agent", *MODEL, "--tools", "mytools:add", "1 + 2?", url=server.url, cwd=str(folder)
        ) as person:
            person.wait_for("Run add(a=1, b=2)? [y/n/e/q]")
            assert not (folder / "ran").exists()
            for answer in typed:
                person.type(answer + "\n")
            person.wait_for("Fine.")
            assert person.end() == 0
        told = server.requests[1].json["messages"][-1]
    assert told["content"] == result
    assert ((folder / "ran").read_text() if ran else None) == ran


def test_a_question_that_was_left_waits_in_the_thread(folder):
    store = ("--store", "t.db", "--thread", "mine")
    tools = ("--tools", "mytools:add")
    with ScriptedServer(calling("add", a=1, b=2), streamed("Fine.")) as server:
        with terminal(
            "agent", *MODEL, *tools, *store, "1 + 2?", url=server.url, cwd=str(folder)
        ) as person:
            person.wait_for("[y/n/e/q]")
            person.type("q\n")
            assert person.end() == 130
        with terminal("agent", *MODEL, *tools, *store, url=server.url, cwd=str(folder)) as person:
            person.wait_for("Run add(a=1, b=2)? [y/n/e/q]")
            person.type("y\n")
            person.wait_for("Fine.")
            assert person.end() == 0
    assert (folder / "ran").read_text() == "add 1 2\n"


def test_ctrl_c_leaves_a_thread_that_goes_on(folder):
    store = ("--store", "t.db", "--thread", "mine")
    tools = ("--tools", "mytools:BOTH", "--yes")
    with ScriptedServer(calling("slow"), streamed("Fine.")) as server:
        process = subprocess.Popen(
            [*COMMAND, "agent", *MODEL, *tools, *store, "go"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            env=environment(server.url),
        )
        for _ in range(600):
            if (folder / "ran").exists():
                break
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
        assert process.returncode == 130
        assert b"Traceback" not in errors
        done = run("agent", *MODEL, *tools, *store, "and now?", url=server.url)
    assert (done.returncode, done.stdout) == (0, "Fine.\n")
    kinds = [m.type for m in SQLiteThreads("t.db").thread("mine").load().messages]
    assert kinds == ["human", "ai", "tool", "human", "ai"]


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["--tools", "mytools:add", "x"], "no terminal to ask at"),
        (["--tools", "mytools", "--yes", "x"], "MODULE:NAME"),
        (["--tools", "nomodule:x", "--yes", "x"], "nomodule"),
        (["--tools", "mytools:nope", "--yes", "x"], "mytools has no nope"),
        (["--tools", "mytools:NUMBER", "--yes", "x"], "int is no function"),
        (["--tools", "mytools:undocumented", "--yes", "x"], "docstring"),
        (
            ["--tools", "mytools:add", "--tools", "mytools:BOTH", "--yes", "x"],
            "two tools called add",
        ),
        ([], "give a task"),
        (["--thread", "t", "--store", "t.db"], "no unfinished run"),
        (["--max-steps", "0", "x"], "max-steps"),
    ],
)
def test_what_goes_wrong_is_one_line(folder, monkeypatch, capsys, args, said):
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    monkeypatch.setattr(sys, "path", list(sys.path))
    code, out, err = call(monkeypatch, capsys, "agent", *MODEL, *args, said="")
    assert (code, out) == (1, "")
    assert is_one_line_of_error(err)
    assert said in err
    sys.modules.pop("mytools", None)


@pytest.mark.local_model
@pytest.mark.soak
def test_the_bundled_model_uses_a_tool(folder):
    done = run("agent", "--tools", "mytools:add", "--yes", "What is 2 plus 3? Use add.")
    assert done.returncode == 0
    assert "-> add(" in done.stderr
