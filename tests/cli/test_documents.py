import io
import json
import os
import pty
import subprocess
import sys
from types import SimpleNamespace

import pytest
from tests.cli.support import COMMAND, environment, run

from dragoman.cli.documents import Document, open_writer, read_documents
from dragoman.errors import DecodeError

USER = {"role": "user", "content": "hi"}


def read(tmp_path, text: str | bytes) -> list[Document]:
    path = tmp_path / "x.json"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return list(read_documents(str(path)))


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ('{"messages": []}', [{"messages": []}]),
        ('{"messages": []}\n', [{"messages": []}]),
        ('\n\n{\n "messages": []\n}\n\n', [{"messages": []}]),
        ("\ufeff[]", [[]]),
        ('{"messages": []}\n{"contents": []}\n', [{"messages": []}, {"contents": []}]),
        ('{"messages": []}\n\n{"input": "x"}', [{"messages": []}, {"input": "x"}]),
        ('{"messages": []}\r\n{"messages": []}\r\n', [{"messages": []}, {"messages": []}]),
        # Lines that are messages are one history; lists and bodies are one each.
        (
            '{"role": "user", "content": "hi"}\n{"type": "ai", "content": "x"}',
            [[USER, {"type": "ai", "content": "x"}]],
        ),
        ('{"role": "user", "content": "hi"}', [USER]),
        ("[]\n[]", [[], []]),
    ],
)
def test_a_file_is_one_value_or_one_a_line(tmp_path, text, values):
    assert [d.value for d in read(tmp_path, text)] == values


def test_lines_are_counted_as_an_editor_does(tmp_path):
    documents = read(tmp_path, '\n{"messages": []}\n\n\n{"messages": []}\n')
    assert [d.line for d in documents] == [2, 5]
    (history,) = read(tmp_path, '{"role": "user"}\n\n{"role": "user"}\n')
    assert history.item_lines == [1, 3]


def test_a_broken_line_among_good_ones_is_told_and_the_rest_read(tmp_path):
    documents = read(tmp_path, '{"messages": []}\n{"messages": [\n3\n{"messages": []}\n')
    assert [d.error is None for d in documents] == [True, False, False, True]
    assert "not JSON" in str(documents[1].error)
    assert documents[2].error == "no history, but a JSON int"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is empty; give a history"),
        (" \n\n", "is empty"),
        ('{"messages": [}', "not JSON: Expecting value (line 1, column 15)"),
        ('{\n"messages":\n}', "not JSON: Expecting value (line 3, column 1)"),
        ('{"role": "user"}\n{"role": "user"}\noops\n', "line 3: not JSON"),
        ('"text"', "no history, but a JSON str"),
        ("null", "no history, but a JSON NoneType"),
        (b"\xff\xfe", "line 1 is not UTF-8 text (byte 0)"),
        ("[" * 100_000, "nested too deeply"),
        ("[" + "9" * 5000 + "]", "a number is too long"),
    ],
)
def test_what_is_no_json_is_an_error_that_says_where(tmp_path, text, said):
    with pytest.raises(DecodeError) as caught:
        read(tmp_path, text)
    assert said in str(caught.value)


def test_lines_are_read_and_answered_one_at_a_time():
    orphan = b'{"messages": [{"role": "tool", "tool_call_id": "x", "content": "r"}]}\n'
    command = [*COMMAND, "check", "--format", "github"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment()
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for number in (1, 2, 3):
            # A second line tells lines from one long value; from then on each is answered at once.
            for _ in range(2 if number == 1 else 1):
                process.stdin.write(orphan)
            process.stdin.flush()
            assert f"line={number},".encode() in process.stdout.readline()
        process.stdin.close()
        assert b"line=4," in process.stdout.read()


@pytest.mark.parametrize(
    "text",
    [
        '{"messages":[],"é":"你","n":1.50,"big":12345678901234567890123}\n',
        '{\n  "messages": [],\n  "x": "\\u00e9"\n}\n',
        '{"messages": []}\n{"a":   1, "messages": []}\n',
        '{"role": "user", "content": "a"}\n{"role": "user", "content": "b"}\n',
    ],
)
def test_what_is_not_changed_is_written_as_it_was_read(tmp_path, text):
    target = tmp_path / "out"
    with open_writer(str(target)) as writer:
        for document in read(tmp_path, text):
            writer.write(document, document.value)
    is_lines = text.startswith('{"role"')
    assert target.read_text() == (text.replace(": ", ":").replace(", ", ",") if is_lines else text)


def test_new_values_keep_the_manner_of_the_old(tmp_path):
    target = tmp_path / "out"
    value = {"messages": [{"content": "é\ud800"}]}
    for text in ('{"messages": []}', '{\n"messages": []}'):
        (document,) = read(tmp_path, text)
        with open_writer(str(target)) as writer:
            writer.write(document, value)
        assert json.loads(target.read_text()) == value
        assert (target.read_text().count("\n") > 1) == ("\n" in text)


def test_a_file_appears_whole_or_not_at_all(tmp_path):
    target = tmp_path / "out"
    target.write_text("old")
    (document,) = read(tmp_path, "[]")
    with pytest.raises(TypeError), open_writer(str(target)) as writer:
        writer.write(document, [object()])
    assert target.read_text() == "old"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["out", "x.json"]


def test_a_file_that_cannot_be_written_is_called_by_its_own_name(tmp_path):
    path = str(tmp_path / "missing" / "out.json")
    with pytest.raises(FileNotFoundError) as caught, open_writer(path):
        pass
    assert (caught.value.filename, caught.value.filename2) == (path, None)
    (tmp_path / "folder").mkdir()
    path = str(tmp_path / "folder")
    with pytest.raises(IsADirectoryError) as caught, open_writer(path):
        pass
    assert (caught.value.filename, caught.value.filename2) == (path, None)
    assert os.listdir(tmp_path) == ["folder"]


def test_long_work_shows_its_progress_on_a_terminal_only(tmp_path, monkeypatch):
    monkeypatch.setattr("dragoman.cli.documents.PROGRESS_AFTER_S", 0.0)
    clock = iter(range(1000))
    # The module's own clock only: other threads of this process go on by the real one.
    ticking = SimpleNamespace(monotonic=lambda: next(clock))
    monkeypatch.setattr("dragoman.cli.documents.time", ticking)
    main, other = pty.openpty()
    with os.fdopen(other, "w") as terminal:
        monkeypatch.setattr(sys, "stderr", terminal)
        read(tmp_path, '{"messages": []}\n' * 3)
    shown = os.read(main, 10_000).decode()
    os.close(main)
    assert "3 histories, line 3" in shown
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    read(tmp_path, '{"messages": []}\n' * 3)
    assert stream.getvalue() == ""


def test_a_missing_file_is_one_line_and_exit_code_2(tmp_path):
    done = run("check", str(tmp_path / "none.json"))
    assert done.returncode == 2
    assert done.stderr == f"dragoman: {tmp_path}/none.json: No such file or directory\n"
