import json
from pathlib import Path

import pytest
from tests.cli.support import call, is_one_line_of_error, run

GOOD = {"model": "gpt-5", "messages": [{"role": "user", "content": "hi"}]}
ORPHAN = {
    "model": "gpt-5",
    "messages": [
        {"role": "user", "content": "hi"},
        {"role": "tool", "tool_call_id": "x", "content": "r"},
        {"role": "user", "content": "go on"},
    ],
}


@pytest.fixture
def check(monkeypatch, capsys):
    return lambda *args, said=None: call(monkeypatch, capsys, "check", *args, said=said)


def test_a_sound_history_is_exit_code_0(check):
    code, out, err = check(said=json.dumps(GOOD))
    assert (code, out, err) == (0, "1 history: nothing a provider would refuse\n", "")


def test_a_broken_one_is_exit_code_1_and_names_the_command_that_mends_it(check, tmp_path):
    path = tmp_path / "thread.json"
    path.write_text(json.dumps(ORPHAN, indent=1))
    code, out, err = check(str(path), "--for", "openai")
    assert (code, err) == (1, "")
    lines = out.splitlines()
    assert lines[0] == f"{path}:8: $.messages[1]: orphan_result: a tool result answers no call"
    assert lines[-1] == f"1 history: 1 issue; to mend: dragoman repair --for openai --lossy {path}"
    assert "provider: messages with role 'tool' must be a response" in out


def test_many_lines_are_checked_one_by_one(check):
    said = "".join(json.dumps(body) + "\n" for body in (GOOD, ORPHAN, GOOD, ORPHAN))
    code, out, _ = check("-", said=said)
    assert code == 1
    assert [line.split(" ")[0] for line in out.splitlines() if line.startswith("stdin")] == [
        "stdin:2:",
        "stdin:4:",
    ]
    assert "4 histories: 2 issues" in out


def test_a_line_that_cannot_be_read_is_told_and_exit_code_2(check):
    said = "\n".join([json.dumps(GOOD), "oops", '{"a": 1}', json.dumps(ORPHAN)])
    code, out, err = check("--format", "json", said=said)
    assert (code, err) == (2, "")
    assert [(f["line"], f["code"]) for f in json.loads(out)] == [
        (2, "unreadable"),
        (3, "unreadable"),
        (4, "orphan_result"),
    ]


def test_a_line_that_cannot_be_read_is_shown_without_a_caret(check):
    said = json.dumps(GOOD) + "\n" + json.dumps({"messages": [{"role": "bot", "content": "x"}]})
    code, out, err = check("-", said=said)
    assert (code, err) == (2, "")
    first, second = out.splitlines()[:2]
    assert first.startswith("stdin:2: $: unreadable: unknown role 'bot' - at `$.messages[0].role`;")
    assert second == "  fix: correct the line (loses nothing)"


@pytest.mark.parametrize("verb", ["check", "repair", "trim", "convert"])
@pytest.mark.parametrize(
    ("document", "told"),
    [
        ({"messages": [5, "x"]}, "x.json: Unsupported message type: <class 'int'>"),
        ({"messages": [{"role": "bot"}]}, "x.json: unknown role 'bot' - at `$.messages[0].role`"),
        ({"messages": None}, "x.json: the body has neither"),
        ({"a": 1}, "x.json: there is no history in it"),
    ],
)
def test_what_is_no_history_is_told_with_its_file(
    monkeypatch, capsys, tmp_path, verb, document, told
):
    if verb == "convert" and document == {"a": 1}:
        told = "x.json: "  # it may be a reply
    (tmp_path / "x.json").write_text(json.dumps(document))
    monkeypatch.chdir(tmp_path)
    options = {"trim": ["--max-tokens", "5"], "convert": ["--to", "anthropic"]}
    code, out, err = call(monkeypatch, capsys, verb, "x.json", *options.get(verb, []))
    assert (code, out) == (2, "")
    assert err.startswith(f"dragoman: {told}")
    assert is_one_line_of_error(err)


@pytest.mark.parametrize(("body", "n"), [(GOOD, 0), (ORPHAN, 1)])
def test_json_is_one_list(check, body, n):
    code, out, _ = check("--format", "json", said=json.dumps(body))
    assert code == min(n, 1)
    assert len(json.loads(out)) == n


def test_github_prints_commands_only(check):
    code, out, _ = check("--format", "github", said=json.dumps(ORPHAN))
    assert code == 1
    assert out.startswith("::error file=stdin,line=1,title=orphan_result::$.messages[1]: ")
    assert out.count("\n") == 1


@pytest.mark.parametrize(
    ("said", "code"),
    [
        (
            "messages.2: `tool_use` ids were found without `tool_result` blocks immediately after: a",
            "unanswered_call",
        ),
        (
            "400: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
            "orphan_result",
        ),
        ("No tool output found for function call call_1.", "unanswered_call"),
        (
            r'{"message": "Messages with role \"x\"; `tool_use` ids were found without `tool_result` blocks"}',
            "unanswered_call",
        ),
        (r"doesn\'t support the video content block", "unsupported_media"),
    ],
)
def test_a_pasted_error_is_explained(check, said, code):
    exit_code, out, err = check("--from-error", said, "--for", "anthropic")
    assert (exit_code, err) == (0, "")
    assert out.startswith(f"{code}: ")
    assert "run: dragoman repair --for anthropic" in out
    assert "rule: " in out


def test_a_pasted_error_with_a_file_shows_its_issues_only(check, tmp_path):
    path = tmp_path / "x.json"
    path.write_text(json.dumps(ORPHAN))
    said = "No tool output found for function call call_1."
    assert check(str(path), "--from-error", said)[0] == 0
    assert (
        check(
            str(path),
            "--from-error",
            "messages with role 'tool' must be a response to a preceding message",
        )[0]
        == 1
    )


@pytest.mark.parametrize(
    ("args", "said", "text"),
    [
        (["--for", "nobody"], "[]", "no target named 'nobody'"),
        (["--from", "nobody"], json.dumps(GOOD), "nobody"),
        (["--format", "xml"], "[]", "--format"),
        ([], "", "is empty"),
        ([], "{", "not JSON"),
        ([], '{"a": 1}', "there is no history in it"),
        ([], "[1]", "$[0]"),
        ([], '[{"role": "wizard", "content": "x"}]', "wizard"),
        (["--from-error", "no idea"], None, "no rule about histories is known"),
    ],
)
def test_what_cannot_be_checked_is_one_line_and_exit_code_2(check, args, said, text):
    code, out, err = check(*args, said=said)
    assert (code, out) == (2, "")
    assert is_one_line_of_error(err)
    assert text in err


def test_the_command_works_in_a_process_of_its_own():
    done = run("check", said=json.dumps(ORPHAN))
    assert (done.returncode, done.stderr) == (1, "")
    assert "orphan_result" in done.stdout


def test_the_manual_shows_what_the_command_prints(check, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    messages = [
        {"role": "user", "content": "weather?"},
        {"role": "user", "content": "well?"},
        {"role": "tool", "tool_call_id": "call_9", "content": "Sunny"},
    ]
    lines = ",\n ".join(json.dumps(message) for message in messages)
    (tmp_path / "thread.json").write_text(f"[\n {lines}\n]\n")
    _, out, _ = check("thread.json", "--for", "anthropic")
    manual = (Path(__file__).parents[2] / "docs" / "command.md").read_text()
    assert f"$ dragoman check thread.json --for anthropic\n{out}```" in manual


@pytest.mark.parametrize("more", [(), ("--from", "openai_chat")])
def test_what_holds_no_history_is_named_and_not_found_to_be_good(more, tmp_path):
    path = tmp_path / "other.json"
    path.write_text('{"a": 1}')
    done = run("check", str(path), *more)
    assert (done.returncode, done.stdout) == (2, "")
    assert "other.json: there is no history in it" in done.stderr
