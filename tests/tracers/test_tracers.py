"""Tracers: whole runs for users' tracers, the collector and the console."""

import pytest

from dragoman.callbacks.ambient import requested
from dragoman.globals import set_debug
from dragoman.language_models.fake_chat_models import FakeListChatModel
from dragoman.output_parsers import StrOutputParser
from dragoman.runnables import RunnableLambda
from dragoman.tools import tool
from dragoman.tracers import BaseTracer, ConsoleCallbackHandler, FunctionCallbackHandler
from dragoman.tracers.context import collect_runs
from dragoman.tracers.stdout import try_json_stringify


class Kept(BaseTracer):
    def __init__(self):
        super().__init__()
        self.done = []
        self.said = []

    def _persist_run(self, run):
        self.done.append(run)

    def _on_run_create(self, run):
        self.said.append(("start", run.name))

    def _on_llm_end(self, run):
        self.said.append(("llm end", run.name))

    def _on_tool_error(self, run):
        self.said.append(("tool error", run.name))

    def _on_chain_end(self, run):
        self.said.append(("chain end", run.name))


def _chain():
    return FakeListChatModel(responses=["hi"]) | StrOutputParser()


def test_a_tracer_keeps_one_tree_for_one_call():
    tracer = Kept()
    _chain().invoke("x", {"callbacks": [tracer]})

    (root,) = tracer.done
    assert (root.name, root.inputs, root.outputs) == (
        "RunnableSequence",
        {"input": "x"},
        {"output": "hi"},
    )
    assert [child.name for child in root.child_runs] == ["FakeListChatModel", "StrOutputParser"]
    assert tracer.said == [
        ("start", "RunnableSequence"),
        ("start", "FakeListChatModel"),
        ("llm end", "FakeListChatModel"),
        ("start", "StrOutputParser"),
        ("chain end", "StrOutputParser"),
        ("chain end", "RunnableSequence"),
    ]
    assert tracer.run_map == {}


def test_a_tool_that_fails_is_told_and_kept():
    @tool
    def bad(a: int) -> int:
        """Fail."""
        raise ValueError("no")

    tracer = Kept()
    with pytest.raises(ValueError, match="no"):
        bad.invoke({"a": 1}, {"callbacks": [tracer]})

    assert ("tool error", "bad") in tracer.said
    assert "ValueError('no')" in tracer.done[0].error


async def test_runs_are_collected_inside_the_block_only():
    with collect_runs() as first:
        await _chain().ainvoke("x")
        with collect_runs() as second:
            _ = [piece async for piece in _chain().astream("y")]
    _chain().invoke("z")

    assert [run.outputs for run in first.traced_runs] == [{"output": "hi"}, {"output": "hi"}]
    assert len(second.traced_runs) == 1


def test_a_block_inside_a_chain_collects_what_runs_in_it():
    def inner(x):
        with collect_runs() as collected:
            _chain().invoke(x)
        return [run.name for run in collected.traced_runs]

    assert RunnableLambda(inner).invoke("x") == ["RunnableSequence"]


def test_the_console_shows_the_way_to_every_run(capsys):
    _chain().invoke("x", {"callbacks": [ConsoleCallbackHandler()]})

    said = capsys.readouterr().out
    assert "[chain:RunnableSequence] Entering Chain run with input:" in said
    assert "[chain:RunnableSequence > llm:FakeListChatModel] Entering LLM run with input:" in said
    assert "> parser:StrOutputParser] [" in said
    assert said.count("Exiting") == 3
    assert '"output": "hi"' in said


def test_an_error_is_shown():
    lines = []

    def boom(_):
        raise ValueError("b")

    with pytest.raises(ValueError, match="b"):
        RunnableLambda(boom).invoke(1, {"callbacks": [FunctionCallbackHandler(lines.append)]})

    assert "[chain/error]" in lines[1]
    assert "ValueError('b')" in lines[1]


def test_what_is_no_json_has_a_fallback():
    assert try_json_stringify({"a": 1}, "-") == '{\n  "a": 1\n}'
    cycle = []
    cycle.append(cycle)
    assert try_json_stringify(cycle, "-") == "-"


def test_debug_prints_every_run_until_it_is_off(capsys):
    set_debug(True)
    try:
        set_debug(True)
        _chain().invoke("x")
        said = capsys.readouterr().out
    finally:
        set_debug(False)
    _chain().invoke("x")

    assert said.count("Entering") == 3
    assert capsys.readouterr().out == ""
    assert requested(None) is False
