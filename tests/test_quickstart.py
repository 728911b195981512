"""What README.md and the quick start promise, pasted block by block into a fresh interpreter.

A reader pastes into the interactive prompt, so that is what these tests do: a new process, an empty
folder, nothing but the blocks. Afterwards the promises are looked up in its names.
"""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = ["README.md", "docs/quickstart.md"]
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)

# Line by line, as the prompt reads them: it wants an empty line behind a loop, and prints values.
PASTE = """
import code, sys
shell = code.InteractiveConsole()
for block in sys.stdin.read().split("\\0"):
    for line in block.split("\\n"):
        shell.push(line)
"""
LOOK = """
from dragoman.runnables import RunnableSequence
assert reply.tool_calls[0]["name"] == "get_weather"
assert reply.tool_calls[0]["args"].keys() == {"city"}
assert state["messages"][-1].type == "ai"
assert state["messages"][-1].text
assert [type(m) for m in saved.messages] == [type(m) for m in state["messages"]]
assert [m["role"] for m in converted.body["messages"]] == ["user", "assistant", "user"]
assert isinstance(chain, RunnableSequence)
print("kept", "its", "promises")
"""


def blocks(page: str) -> list[str]:
    return BLOCK.findall((ROOT / page).read_text())


@pytest.mark.local_model
@pytest.mark.parametrize("page", PAGES)
def test_the_blocks_work_when_they_are_pasted(page, tmp_path):
    done = subprocess.run(
        [sys.executable, "-I", "-W", "error", "-c", PASTE],
        input="\0".join([*blocks(page), LOOK]),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.stderr == ""
    assert done.stdout.endswith("kept its promises\n")
    assert (tmp_path / "threads.db").exists()


@pytest.mark.parametrize("page", PAGES)
def test_a_page_shows_what_the_first_minutes_are_for(page):
    text = "\n".join(blocks(page))
    wanted = [
        "init_chat_model(",
        " | model | ",
        "bind_tools(",
        "create_agent(",
        "SQLiteThreads(",
        "dragoman.convert(",
        "repair_",
    ]
    assert [word for word in wanted if word not in text] == []


@pytest.mark.parametrize("page", PAGES)
def test_no_block_needs_a_key_or_a_network(page):
    assert "<!-- no-run -->" not in (ROOT / page).read_text()
