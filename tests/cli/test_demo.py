"""The demonstration, as a process: through a pipe, on a terminal, and without the network."""

import json
import re

import pytest
from tests.cli.support import run, terminal

from dragoman.cli import demo
from dragoman.cli.demo import POISONED
from dragoman.codecs import get_codec
from dragoman.messages import messages_from_json
from dragoman.transcript import check_body, repair_body

pytestmark = pytest.mark.local_model


def bodies_in(text):
    """Return the bodies that stand below their names."""
    found = {}
    for part in text.split("--- ")[1:]:
        name, _, rest = part.partition("\n")
        found[name], _ = json.JSONDecoder().raw_decode(rest)
    return found


def test_through_a_pipe_it_is_plain_text_whose_parts_are_true():
    done = run("demo", "Say", "hello.")
    assert (done.returncode, done.stderr) == (0, "")
    assert "\x1b" not in done.stdout
    assert "\n> Say hello.\n" in done.stdout
    line = next(line for line in done.stdout.splitlines() if line.startswith('{"type": "ai"'))
    (message,) = messages_from_json(f"[{line}]")
    assert message.text in done.stdout.split("\n> ")[1].partition("\n\n")[0]
    bodies = bodies_in(done.stdout)
    apis = {"OpenAI": "openai_chat", "Anthropic": "anthropic", "Gemini": "gemini"}
    assert list(bodies) == list(apis)
    for name, body in bodies.items():
        assert get_codec(apis[name]).decode_response(body).text == message.text
    assert "[0] a tool result answers no call" in done.stdout
    assert "[3] a tool call has no result (call 'call_2')" in done.stdout
    assert "check: 0 findings" in done.stdout
    read, written = re.search(
        r"accepted by .* (\d+) tokens read, (\d+) written", done.stdout
    ).groups()
    assert int(read) > 50
    assert int(written) > 0
    commands = [line.split()[1] for line in done.stdout.splitlines()[-3:]]
    assert commands == ["chat", "check", "migrate"]


@pytest.mark.soak
def test_on_a_terminal_the_bodies_stand_side_by_side():
    with terminal("demo", COLUMNS="150") as person:
        shown = person.wait_for("What next?")
        assert person.end() == 0
    heads = [line for line in shown.splitlines() if "OpenAI" in line and "Gemini" in line]
    assert len(heads) == 1
    assert "--- " not in shown


def test_on_a_narrow_terminal_they_stand_below_each_other(monkeypatch, capsys):
    monkeypatch.setattr(demo, "is_terminal", lambda: True)
    monkeypatch.setenv("COLUMNS", "70")
    demo._side_by_side({"One": "{}", "Two": "[]"})
    assert capsys.readouterr().out.splitlines() == ["--- One", "{}", "--- Two", "[]"]


def test_the_thread_of_the_demo_is_what_it_says():
    codes = [issue.code for issue in check_body(POISONED, api="openai")]
    assert codes == ["orphan_result", "unanswered_call"]
    repaired = repair_body(POISONED, api="openai")
    assert check_body(repaired.body, api="openai") == []
    assert repaired.body["messages"][0]["content"] == "It rains in London, at 12 degrees."
