"""Runs as a tree of objects."""

from uuid import uuid4

from dragoman.callbacks import CallbackManager
from dragoman.callbacks.tracer import RunTree
from dragoman.messages import HumanMessage
from dragoman.outputs import LLMResult


class Ended(RunTree):
    def __init__(self):
        super().__init__()
        self.ended = []

    def run_ended(self, run):
        self.ended.append(run)


def test_every_kind_of_run_is_a_node():
    tree = Ended()
    manager = CallbackManager([tree], [tree])
    root = manager.on_chain_start(None, {"a": 1}, name="root")
    child = root.get_child()
    (chat,) = child.on_chat_model_start({"name": "chat"}, [[HumanMessage("hi")]])
    chat.on_llm_end(LLMResult(generations=[[]]))
    (text,) = child.on_llm_start({}, ["p"], name="text")
    text.on_llm_error(ValueError("bad"))
    child.on_tool_start({}, "x", name="tool").on_tool_end("out")
    child.on_tool_start({}, "x", inputs={"i": 1}).on_tool_error(ValueError("bad"))
    child.on_retriever_start({}, "q").on_retriever_end([])
    child.on_retriever_start({}, "q").on_retriever_error(ValueError("bad"))
    root.on_chain_end("done")

    (run,) = [run for run in tree.ended if run.name == "root"]
    assert [(c.run_type, c.name) for c in run.child_runs] == [
        ("chat_model", "chat"),
        ("llm", "text"),
        ("tool", "tool"),
        ("tool", "tool"),
        ("retriever", "retriever"),
        ("retriever", "retriever"),
    ]
    assert [c.error is not None for c in run.child_runs] == [False, True, False, True, False, True]
    assert (run.inputs, run.outputs) == ({"a": 1}, {"output": "done"})
    assert run.child_runs[3].inputs == {"i": 1}
    assert run.child_runs[2].outputs == {"output": "out"}
    assert run.metadata == {}
    assert repr(run) == f"Run(id={run.id}, name='root', run_type='chain')"
    assert tree.runs == {}


def test_the_end_of_an_unknown_run_is_ignored():
    tree = Ended()
    tree.on_chain_end(1, run_id=uuid4())
    assert tree.ended == []
