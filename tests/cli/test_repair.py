import json

import pytest
from tests.cli.support import call, is_one_line_of_error
from tests.cli.test_check import GOOD, ORPHAN
from tests.cli.test_histories import NATIVE, OPENAI

import dragoman

CANCELLED = {"model": "gpt-5", "messages": OPENAI}


@pytest.fixture
def repair(monkeypatch, capsys):
    return lambda *args, said=None: call(monkeypatch, capsys, "repair", *args, said=said)


def test_a_sound_history_comes_out_as_it_was(repair):
    said = '{"model":"gpt-5",   "messages": [{"role": "user", "content": "é"}]}'
    assert repair(said=said) == (0, said + "\n", "")


def test_a_broken_one_comes_out_mended_and_the_change_is_told(repair):
    code, out, err = repair(said=json.dumps(CANCELLED))
    assert code == 0
    assert dragoman.check_body(json.loads(out)) == []
    assert err.startswith("stdin:1: $.messages[2]: unanswered_call: ")
    assert err.count("\n") == 1


def test_nothing_is_lost_unless_asked_for(repair):
    code, out, err = repair(said=json.dumps(ORPHAN))
    assert (code, json.loads(out)) == (1, ORPHAN)
    assert "(lossy); not mended, because it would lose something" in err
    assert "dragoman repair --lossy -" in err
    code, out, err = repair("--lossy", said=json.dumps(ORPHAN))
    assert code == 0
    assert [m["content"] for m in json.loads(out)["messages"]] == ["hi", "go on"]
    assert "(lossy)" in err


def test_lines_stay_lines(repair):
    said = "".join(json.dumps(body) + "\n" for body in (GOOD, CANCELLED, ORPHAN))
    code, out, err = repair(said=said)
    bodies = [json.loads(line) for line in out.splitlines()]
    assert code == 1
    assert (bodies[0], bodies[2]) == (GOOD, ORPHAN)
    assert len(bodies[1]["messages"]) == 5
    assert [line.partition(" ")[0] for line in err.splitlines()[:2]] == ["stdin:2:", "stdin:3:"]


def test_messages_one_a_line_stay_so(repair):
    said = "".join(json.dumps(message) + "\n" for message in NATIVE)
    code, out, err = repair(said=said)
    lines = [json.loads(line) for line in out.splitlines()]
    assert code == 0
    assert [line["type"] for line in lines] == ["system", "human", "ai", "tool", "human"]
    assert lines[1] == NATIVE[1]
    assert err.startswith("stdin:3: $[2]: ")


def test_it_writes_to_a_file_which_may_be_the_same(repair, tmp_path):
    path = tmp_path / "x.json"
    path.write_text(json.dumps(CANCELLED, indent=4))
    assert repair(str(path), "-o", str(path))[:2] == (0, "")
    assert dragoman.check_body(json.loads(path.read_text())) == []
    assert list(tmp_path.iterdir()) == [path]


def test_a_broken_line_leaves_no_half_file(repair, tmp_path):
    code, out, err = repair(
        "-o", str(tmp_path / "out"), said=json.dumps(GOOD) + "\noops\n" + json.dumps(GOOD)
    )
    assert (code, out) == (2, "")
    assert is_one_line_of_error(err)
    assert "stdin: line 2: not JSON" in err
    assert list(tmp_path.iterdir()) == []


def test_what_comes_out_is_clean_for_whom_it_was_meant(repair):
    for target in ("anthropic", "openai", "gemini", "bedrock", "mistral", "ollama"):
        code, out, _ = repair("--for", target, said=json.dumps(CANCELLED))
        assert code == 0
        assert call_check(out, target) == []


def call_check(text: str, target: str) -> list:
    from dragoman.cli.histories import open_history

    return open_history(json.loads(text)).check(target)
