"""The door of the package: nothing of LangChain is loaded before it is asked for."""

import subprocess
import sys

import pytest

from dragoman import compat
from dragoman.errors import MissingExtraError
from dragoman.messages import HumanMessage
from dragoman.testing import FakeListChatModel


def test_importing_it_loads_neither_langchain_nor_pydantic():
    code = (
        "import sys, dragoman.compat\n"
        "print([m for m in ('langchain_core', 'pydantic', 'langgraph') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.stdout.strip(), done.stderr) == ("[]", "")


def test_messages_cross_without_loading_langgraph():
    code = (
        "import sys\n"
        "from dragoman.compat import to_langchain\n"
        "from dragoman.messages import HumanMessage\n"
        "print(to_langchain(HumanMessage('hi')).content, 'langgraph' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "hi False"


@pytest.mark.parametrize(
    "use",
    [
        lambda: compat.to_langchain(HumanMessage("hi")),
        lambda: compat.from_langchain("hi"),
        lambda: compat.wrap_model(FakeListChatModel(responses=["a"])),
        lambda: compat.from_langchain_model(object()),
    ],
)
def test_without_langchain_the_error_names_the_extra(monkeypatch, use):
    monkeypatch.setitem(sys.modules, "langchain_core", None)
    with pytest.raises(MissingExtraError, match=r"dragoman\[langchain\]"):
        use()
