"""Programs for LangChain, rewritten: imports, what stays, what needs a hand, what is never touched."""

import importlib
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cli.support import call, is_one_line_of_error

from dragoman.cli.counterparts import counterpart, is_module_here
from dragoman.cli.migration import migrate


def rewritten(code: str) -> str:
    return migrate(code.encode()).code.decode()


def told(code: str) -> list[str]:
    return [finding.text for finding in migrate(code.encode()).findings]


@pytest.fixture
def run(monkeypatch, capsys):
    return lambda *args: call(monkeypatch, capsys, "migrate", *map(str, args))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "from langchain_core.messages import AIMessage",
            "from dragoman.messages import AIMessage",
        ),
        (
            "from langchain_core.messages.ai import add_usage",
            "from dragoman.messages.ai import add_usage",
        ),
        ("from langchain_core.messages import *", "from dragoman.messages import *"),
        ("from langchain_core import messages as m", "from dragoman import messages as m"),
        ("import langchain_core.messages as m", "import dragoman.messages as m"),
        (
            "import langchain_core.messages\nx = langchain_core.messages.AIMessage('a')",
            "import dragoman.messages\nx = dragoman.messages.AIMessage('a')",
        ),
        (
            "from langchain.chat_models import init_chat_model",
            "from dragoman.chat_models import init_chat_model",
        ),
        ("from langchain.agents import create_agent", "from dragoman.agents import create_agent"),
        (
            "from langchain.agents.middleware import AgentMiddleware",
            "from dragoman.agents.middleware import AgentMiddleware",
        ),
        ("from langchain_openai import ChatOpenAI", "from dragoman.chat_models import ChatOpenAI"),
        (
            "from langgraph.graph.message import add_messages as add",
            "from dragoman.messages import add_messages as add",
        ),
        (
            "from langgraph.checkpoint.memory import InMemorySaver",
            "from dragoman.threads import MemoryThreads as InMemorySaver",
        ),
        (
            "from langgraph.checkpoint.memory import MemorySaver as S",
            "from dragoman.threads import MemoryThreads as S",
        ),
        (
            "from langchain.schema import AIMessage, Document",
            "from dragoman.messages import AIMessage\nfrom dragoman.documents import Document",
        ),
        (
            "from langchain.schema.runnable import RunnablePassthrough",
            "from dragoman.runnables import RunnablePassthrough",
        ),
        (
            "from langgraph.types import Command, interrupt",
            "from dragoman.agents import Command, interrupt",
        ),
        (
            "from langchain_core.messages import (  # all\n    AIMessage,  # ours\n    HumanMessage,\n)",
            "from dragoman.messages import (  # all\n    AIMessage,  # ours\n    HumanMessage,\n)",
        ),
        (
            "if True:\n    # why\n    from langchain_openai import ChatOpenAI, OpenAIEmbeddings  # both\n",
            (
                "if True:\n    # why\n    from dragoman.chat_models import ChatOpenAI\n"
                "    from langchain_openai import OpenAIEmbeddings  # both\n"
            ),
        ),
        (
            "from langchain_core.tools import tool; x = 1",
            "from dragoman.tools import tool; x = 1",
        ),
    ],
)
def test_imports_are_rewritten_and_the_rest_stays(before, after):
    assert rewritten(before) == after


@pytest.mark.parametrize(
    "code",
    [
        "from langchain_core.vectorstores import VectorStore",
        "from langgraph.graph import StateGraph",
        "import langchain_core.vectorstores",
        "import langchain_core.messages, langchain_core.vectorstores\nx = langchain_core.messages.AIMessage",
        "from langchain_community.llms import Anything",
        "from langchain_text_splitters import TokenTextSplitter",
    ],
)
def test_what_has_no_counterpart_stays_and_is_told(code):
    assert rewritten(code) == code
    assert any("has no counterpart" in text for text in told(code))


@pytest.mark.parametrize(
    "code",
    [
        "from .langchain_core import messages",
        "import os\nlangchain_core = 1\nlangchain_core.messages",
        "from langchains import x",
        "# from langchain_core.messages import AIMessage\n",
        "",
    ],
)
def test_what_only_looks_like_it_stays(code):
    done = migrate(code.encode())
    assert (done.code.decode(), done.findings) == (code, [])


def test_a_name_that_is_missing_in_a_module_is_told_at_its_use():
    code = "import langchain_core.messages as m\nm.AIMessage('a')\nm.NoSuchThing\n"
    (text,) = told(code)
    assert "langchain_core.messages.NoSuchThing has no counterpart" in text
    assert rewritten(code) == code


HEAD = "from langchain_core.messages import HumanMessage, trim_messages\n"


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ('HumanMessage("x", foo=1)', "HumanMessage has no field foo"),
        ("class Mine(HumanMessage):\n    a: int\n", "a subclass of HumanMessage is a struct"),
        ("trim_messages([], token_counter=lambda m: 1)", "counter without an annotation"),
        ("def f(m): ...\ntrim_messages([], token_counter=f)", "counter without an annotation"),
        ('HumanMessage("x").pretty_repr(html=True)', "escaped HTML"),
        ("chain.astream_log(1)", "there is no astream_log"),
        ('chain.astream_events(1, version="v1")', 'version "v2" only'),
        ('P.from_template("a {0}")', "this template is refused"),
        ("try: ...\nexcept openai.RateLimitError: ...", "do not raise openai.RateLimitError"),
        ("try: ...\nexcept (A, anthropic.APIError): ...", "do not raise anthropic.APIError"),
        ('patch("langchain_core.messages.AIMessage")', "a text names langchain_core.messages"),
    ],
)
def test_deliberate_differences_are_told(code, words):
    assert any(words in text for text in told(HEAD + code))


@pytest.mark.parametrize(
    "code",
    [
        'HumanMessage("x", name="Ada", id="1", additional_kwargs={}, response_metadata={})',
        "HumanMessage(content_blocks=[], **more)",
        'P.from_template("a {b}")',
        'P.from_template("{% x %} {0}", template_format="jinja2")',
        'HumanMessage("x").pretty_repr()',
        "try: ...\nexcept ValueError: ...\nexcept: ...",
        "def f(m: list) -> int: ...",
    ],
)
def test_what_means_the_same_is_not_told(code):
    assert told(HEAD + code) == []


@pytest.mark.parametrize(
    "module",
    [
        "langchain_core.messages",
        "langchain_core.prompts",
        "langchain_core.output_parsers",
        "langchain_core.runnables",
        "langchain_core.tools",
        "langchain_core.language_models",
    ],
)
def test_the_answer_is_that_of_both_packages(module):
    there = importlib.import_module(module)
    for name in there.__all__:
        place = counterpart(module, name)
        if place is not None:
            found = importlib.import_module(place.module)
            assert hasattr(found, place.name)
    known = [name for name in there.__all__ if counterpart(module, name)]
    assert len(known) > len(there.__all__) * 0.8


def test_modules_of_other_packages_have_no_counterpart():
    assert is_module_here("langchain_core.messages.ai") == "dragoman.messages.ai"
    assert is_module_here("os.path") is None
    assert counterpart("os", "path") is None


@given(
    st.lists(
        st.sampled_from(
            [
                "from langchain_core.messages import AIMessage, nothing_here\n",
                "import langchain_core.tools as t\n",
                "x = 1  # é\n",
                "\n",
                "def f():\n    from langgraph.graph import MessagesState, END\n",
                's = """from langchain_core import x"""\n',
            ]
        ),
        max_size=6,
    )
)
def test_a_rewritten_file_is_python_and_needs_no_second_rewriting(lines):
    once = migrate("".join(lines).encode()).code
    compile(once, "x", "exec")
    assert migrate(once).code == once


def test_by_default_the_change_is_shown_and_nothing_is_written(run, tmp_path):
    file = tmp_path / "a.py"
    file.write_text("from langchain_core.messages import AIMessage\n")
    code, out, err = run(tmp_path)
    assert code == 0
    assert "-from langchain_core.messages import AIMessage\n" in out
    assert "+from dragoman.messages import AIMessage\n" in out
    assert "1 import in 1 file to rewrite" in err
    assert file.read_text() == "from langchain_core.messages import AIMessage\n"


def test_write_keeps_line_ends_encoding_and_mode(run, tmp_path):
    file = tmp_path / "a.py"
    before = "# -*- coding: latin-1 -*-\r\nfrom langchain_core.tools import tool\r\ns = 'é'\r\n"
    file.write_bytes(before.encode("latin-1"))
    file.chmod(0o750)
    code, out, _ = run(tmp_path, "--write")
    assert (code, out) == (0, "")
    assert file.read_bytes() == before.replace("langchain_core", "dragoman").encode("latin-1")
    assert file.stat().st_mode & 0o777 == 0o750
    assert [path.name for path in tmp_path.iterdir()] == ["a.py"]


def test_nothing_outside_of_the_path_is_touched(run, tmp_path):
    text = "from langchain_core.messages import AIMessage\n"
    outside = tmp_path / "outside"
    inside = tmp_path / "inside"
    for folder in (outside, inside, inside / ".git", inside / "venv", inside / "node_modules"):
        folder.mkdir()
        (folder / "a.py").write_text(text)
    (inside / "venv" / "pyvenv.cfg").write_text("")
    (inside / "link.py").symlink_to(outside / "a.py")
    (inside / "folder").symlink_to(outside)
    (inside / "notes.txt").write_text(text)
    assert run(inside, "--write")[0] == 0
    changed = [path for path in tmp_path.rglob("*") if path.is_file() and path.read_text() != text]
    assert [path for path in changed if path.name != "pyvenv.cfg"] == [inside / "a.py"]


def test_exit_codes(run, tmp_path):
    file = tmp_path / "a.py"
    file.write_text("x = 1\n")
    assert run(file)[0] == 0
    file.write_text("from langgraph.graph import StateGraph\n")
    code, _, err = run(file)
    assert code == 1
    assert err.startswith(f"{file}:1: no-counterpart: langgraph.graph.StateGraph")
    file.write_text("from langchain_core import (\n")
    code, _, err = run(file)
    assert code == 2
    assert "line 2 is not Python" in err or "line 1 is not Python" in err
    code, out, err = run(tmp_path / "missing")
    assert (code, out) == (2, "")
    assert is_one_line_of_error(err)


PROGRAM = '''\
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
from langchain_core.tools import tool
from langgraph.graph.message import add_messages


@tool
def add(a: int, b: int) -> int:
    """Add."""
    return a + b


prompt = ChatPromptTemplate.from_messages([("system", "Be {mood}"), MessagesPlaceholder("h")])
chain = prompt | FakeListChatModel(responses=["fine"]) | StrOutputParser()
history = add_messages([], [HumanMessage("How are you?", id="1")])
print(chain.invoke({"mood": "brief", "h": history}), add.invoke({"a": 1, "b": 2}))
'''


@pytest.mark.parametrize("name", ["thread.json", "notebook.ipynb", "README.md"])
def test_a_file_that_is_no_python_is_told(run, tmp_path, name):
    (tmp_path / name).write_text("{}")
    code, out, err = run(tmp_path / name)
    assert (code, out) == (2, "")
    assert f"{name}: no Python file" in err


def test_a_program_does_the_same_before_and_after(tmp_path):
    before, after = tmp_path / "before.py", tmp_path / "after.py"
    before.write_text(PROGRAM)
    after.write_text(rewritten(PROGRAM))
    assert "langchain" not in after.read_text()
    said = [
        subprocess.run([sys.executable, str(file)], capture_output=True, text=True).stdout
        for file in (before, after)
    ]
    assert said[0] == said[1] == "fine 3\n"


def test_this_package_has_nothing_to_migrate(run):
    code, out, _ = run(Path(__file__).parents[2] / "src" / "dragoman" / "cli" / "chat.py")
    assert (code, out) == (0, "")


def test_without_libcst_the_error_names_the_extra(run, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "libcst", None)
    code, out, err = run(tmp_path)
    assert (code, out) == (2, "")
    assert is_one_line_of_error(err)
    assert "dragoman[migrate]" in err
