"""The demonstrations in examples/ run, and show what they say."""

import difflib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"


def run(name: str) -> list[str]:
    """Return the lines that an example prints, run as a reader would run it."""
    done = subprocess.run(
        [sys.executable, "-W", "error::DeprecationWarning", str(EXAMPLES / name)],
        capture_output=True,
        text=True,
        env=os.environ | {"LANGSMITH_TRACING": "false"},
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.local_model
def test_a_poisoned_thread_is_found_repaired_and_continued():
    assert run("poisoned_thread.py") == [
        "[0] a tool result answers no call; drop it (loses it)",
        (
            "[3] a tool call has no result (call 'call_2'); "
            "answer it with an error result that says so (loses nothing)"
        ),
        "strict, before the network: 2 issues",
        "repaired: 0 issues",
        "answered: ai, thread of 7 messages",
    ]


def test_signatures_return_to_their_provider_and_go_to_no_other(monkeypatch):
    monkeypatch.syspath_prepend(str(EXAMPLES))
    import round_trip

    claude_1, gpt, gemini, claude_2 = map(json.dumps, round_trip.main())

    own = round_trip.CLAUDE_SIGNATURE
    assert own in claude_2
    assert own not in claude_1 + gpt + gemini
    assert round_trip.GPT_SECRET not in gemini + claude_2
    assert round_trip.GEMINI_SIGNATURE not in claude_2
    # Every text and every call reached everybody who came later.
    assert "Let me look." in gpt
    assert "It is sunny." in gemini
    for word in ("Let me look.", "It is sunny.", "Sunny too", "Rome"):
        assert word in claude_2


def test_the_first_turn_of_claude_comes_back_byte_for_byte():
    assert run("round_trip.py")[-1].endswith("byte for byte: True")


def test_one_import_line_makes_the_same_program():
    names = ("same_program_langchain.py", "same_program_dragoman.py")
    texts = [(EXAMPLES / name).read_text().splitlines() for name in names]
    changed = [line for line in difflib.ndiff(*texts) if line[0] in "+-"]
    assert len(changed) == 2
    assert all(re.match(r"[+-] from \w+ import language_models, messages", c) for c in changed)

    said = [run(name) for name in names]
    assert said[0] == said[1]
    assert said[1][:2] == ["4 apples", "done"]


def test_every_example_is_run_by_a_test():
    source = Path(__file__).read_text()
    for path in EXAMPLES.glob("*.py"):
        assert path.stem in source


def test_the_five_lines_are_cases_of_the_benchmark():
    names = re.findall(
        r"^    (W[\w.]+) ", (EXAMPLES / "same_program_dragoman.py").read_text(), re.M
    )
    command = [sys.executable, str(EXAMPLES.parent / "bench" / "bench.py"), "--list"]
    known = subprocess.run(command, capture_output=True, text=True).stdout
    assert len(names) == 5
    for name in names:
        assert re.search(rf"^{re.escape(name)}\s", known, re.M)
