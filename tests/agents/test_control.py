"""Interrupts: questions of tools and hooks, and what answers them."""

import pickle
from dataclasses import replace

import pytest
from tests.agents.support import HI, add, call, calls, kinds, model, results, texts, thread

from dragoman.agents import Command, Interrupt, create_agent, interrupt
from dragoman.agents.middleware import (
    HumanInTheLoopMiddleware,
    after_model,
    before_agent,
    before_model,
)
from dragoman.errors import DragomanError
from dragoman.messages import HumanMessage
from dragoman.threads import MemoryThreads, SQLiteThreads
from dragoman.tools import tool
from dragoman.transcript import validate_messages


@tool
def ask(question: str) -> str:
    """Ask."""
    return f"you said {interrupt({'q': question})}"


@pytest.mark.parametrize("how", ["invoke", "ainvoke"])
async def test_a_tool_asks_and_goes_on_with_the_answer(how):
    fake = model(calls(call("ask", "c", question="ok?")), "done")
    agent = create_agent(fake, [ask], checkpointer=MemoryThreads())

    async def run(given):
        return (
            agent.invoke(given, thread())
            if how == "invoke"
            else await agent.ainvoke(given, thread())
        )

    state = await run(HI)
    (question,) = state["__interrupt__"]
    assert isinstance(question, Interrupt)
    assert question.value == {"q": "ok?"}
    assert kinds(state["messages"]) == ["human", "ai"]
    state = await run(Command(resume="yes"))
    assert "__interrupt__" not in state
    assert results(state) == [("c", "you said yes", "success")]
    assert state["messages"][-1].text == "done"


@pytest.mark.parametrize("answer", [None, 0, "", False, [], {}, {"a": 1}])
def test_any_answer_arrives(answer):
    seen = []

    @tool
    def look() -> str:
        """Look."""
        seen.append(interrupt("?"))
        return "x"

    agent = create_agent(model(calls(call("look")), "ok"), [look], checkpointer=MemoryThreads())
    agent.invoke(HI, thread())
    agent.invoke(Command(resume=answer), thread())
    assert seen == [answer]


def test_one_tool_asks_twice():
    starts = []

    @tool
    def two() -> str:
        """Two."""
        starts.append(1)
        return f"{interrupt('first')} {interrupt('second')}"

    agent = create_agent(model(calls(call("two")), "ok"), [two], checkpointer=MemoryThreads())
    assert agent.invoke(HI, thread())["__interrupt__"][0].value == "first"
    assert agent.invoke(Command(resume="a"), thread())["__interrupt__"][0].value == "second"
    assert results(agent.invoke(Command(resume="b"), thread()))[0][1] == "a b"
    assert len(starts) == 3


def test_parallel_tools_ask_and_the_others_run_once():
    ran = []

    @tool
    def free(x: int) -> str:
        """Free."""
        ran.append(x)
        return "free"

    reply = calls(
        call("ask", "a", question="1"), call("free", "b", x=1), call("ask", "c", question="2")
    )
    agent = create_agent(model(reply, "ok"), [ask, free], checkpointer=MemoryThreads())
    state = agent.invoke(HI, thread())
    questions = {i.value["q"]: i.id for i in state["__interrupt__"]}
    assert set(questions) == {"1", "2"}
    with pytest.raises(ValueError, match="2 interrupts wait"):
        agent.invoke(Command(resume="x"), thread())
    state = agent.invoke(Command(resume={questions["2"]: "two"}), thread())
    assert [i.value["q"] for i in state["__interrupt__"]] == ["1"]
    state = agent.invoke(Command(resume="one"), thread())
    assert [r[:2] for r in results(state)] == [
        ("a", "you said one"),
        ("b", "free"),
        ("c", "you said two"),
    ]
    assert ran == [1]


@pytest.mark.parametrize("decorator", [before_agent, before_model, after_model])
def test_hooks_may_ask(decorator):
    @decorator
    def hook(state, runtime):
        return {"messages": [HumanMessage(f"answer {interrupt('?')}")]}

    agent = create_agent(model("ok"), middleware=[hook], checkpointer=MemoryThreads())
    assert agent.invoke(HI, thread())["__interrupt__"][0].value == "?"
    assert agent.get_state(thread()).next == (f"hook.{decorator.__name__}",)
    assert "answer 7" in texts(agent.invoke(Command(resume=7), thread())["messages"])


def test_a_question_without_a_checkpointer_is_a_typed_error():
    with pytest.raises(DragomanError, match="needs a checkpointer"):
        create_agent(model(calls(call("ask", question="?")), "ok"), [ask]).invoke(HI)


def test_interrupt_outside_an_agent_is_named():
    with pytest.raises(RuntimeError, match="only inside a tool or a hook"):
        interrupt("?")


def test_an_answer_nobody_asked_for_is_refused():
    agent = create_agent(model("ok"), checkpointer=MemoryThreads())
    with pytest.raises(DragomanError, match="no interrupt to answer"):
        agent.invoke(Command(resume=1), thread())
    with pytest.raises(DragomanError, match="no unfinished run"):
        agent.invoke(None, thread())


def test_a_command_says_whether_it_answers():
    assert not Command(update={}).resume
    assert Command(resume=None) != Command()
    assert pickle.loads(pickle.dumps(Command())) == Command()
    assert replace(Command(update=1), update=2) == Command(update=2)
    agent = create_agent(model("ok"), checkpointer=MemoryThreads())
    with pytest.raises(DragomanError, match="no interrupt to answer"):
        agent.invoke(Command(resume=None), thread())
    state = agent.invoke(Command(update=HI, resume=None), thread())
    assert texts(state["messages"]) == ["hi", "ok"]


def test_a_checkpointer_needs_a_thread_id():
    with pytest.raises(ValueError, match="thread_id"):
        create_agent(model("ok"), checkpointer=MemoryThreads()).invoke(HI)


@pytest.mark.parametrize(
    ("option", "stops"),
    [({"interrupt_before": ["tools"]}, "tools"), ({"interrupt_after": ["model"]}, "tools")],
)
def test_fixed_stops(option, stops):
    agent = create_agent(
        model(calls(call("add", a=1, b=1)), "ok"), [add], checkpointer=MemoryThreads(), **option
    )
    state = agent.invoke(HI, thread())
    assert kinds(state["messages"]) == ["human", "ai"]
    assert agent.get_state(thread()).next == (stops,)
    assert agent.invoke(None, thread())["messages"][-1].text == "ok"
    assert agent.get_state(thread()).next == ()


def test_the_state_of_a_thread():
    agent = create_agent(
        model(calls(call("ask", question="?")), "ok"), [ask], checkpointer=MemoryThreads()
    )
    assert agent.get_state(thread()).values == {"messages": []}
    agent.invoke(HI, thread())
    snapshot = agent.get_state(thread())
    assert kinds(snapshot.values["messages"]) == ["human", "ai"]
    assert snapshot.next == ("tools",)
    assert [i.value for i in snapshot.interrupts] == [{"q": "?"}]
    agent.update_state(thread(), {"messages": [HumanMessage("added")]})
    assert texts(agent.get_state(thread()).values["messages"])[-1] == "added"


def test_the_state_of_a_thread_is_shown_without_its_messages():
    agent = create_agent(
        model(calls(call("ask", question="?")), "ok"), [ask], checkpointer=MemoryThreads()
    )
    agent.invoke(HI, thread())
    snapshot = agent.get_state(thread())
    assert repr(snapshot) == (
        "StateSnapshot(values={'messages': <2 messages>}, next=('tools',), "
        f"interrupts={snapshot.interrupts!r}, config={thread()!r})"
    )


# ---------------------------------------------------------------- people decide


def guarded(*decided, store=None, fake=None, on=True):
    """Return (agent, what ran) whose tool `risky` needs approval and whose tool `free` does not."""
    ran = []

    @tool
    def risky(x: int) -> str:
        """Risky."""
        ran.append(("risky", x))
        return f"risky {x}"

    @tool
    def free(x: int) -> str:
        """Free."""
        ran.append(("free", x))
        return f"free {x}"

    agent = create_agent(
        fake,
        [risky, free],
        middleware=[HumanInTheLoopMiddleware({"risky": on})],
        checkpointer=store if store is not None else MemoryThreads(),
    )
    return agent, ran


def resume(*decisions):
    return Command(resume={"decisions": list(decisions)})


EDIT = {"type": "edit", "edited_action": {"name": "risky", "args": {"x": 9}}}


@pytest.mark.parametrize("order", ["risky first", "free first"])
@pytest.mark.parametrize("reload", [False, True])
@pytest.mark.parametrize("how", ["invoke", "ainvoke"])
@pytest.mark.parametrize(
    ("decision", "result", "ran_risky"),
    [
        ({"type": "approve"}, ("risky 1", "success"), [("risky", 1)]),
        (EDIT, ("risky 9", "success"), [("risky", 9)]),
        (
            {"type": "reject", "message": "too dangerous"},
            ("User rejected the tool call for `risky` with reason: too dangerous", "error"),
            [],
        ),
        ({"type": "respond", "message": "I did it"}, ("I did it", "success"), []),
    ],
)
async def test_decisions_with_another_call_in_parallel(
    decision, result, ran_risky, how, reload, order, tmp_path
):  # B103
    pair = [call("risky", "a", x=1), call("free", "b", x=2)]
    if order == "free first":
        pair.reverse()
    fake = model(calls(*pair), "done")
    store = SQLiteThreads(tmp_path / "t.db") if reload else MemoryThreads()
    agent, ran = guarded(store=store, fake=fake)
    state = agent.invoke(HI, thread())
    (question,) = state["__interrupt__"]
    assert question.value["action_requests"][0]["name"] == "risky"
    assert question.value["action_requests"][0]["args"] == {"x": 1}
    assert ran == []
    if reload:  # another process
        store.close()
        agent, ran = guarded(store=SQLiteThreads(tmp_path / "t.db"), fake=fake)
        assert [i.id for i in agent.get_state(thread()).interrupts] == [question.id]
    given = resume(decision)
    state = (
        agent.invoke(given, thread()) if how == "invoke" else await agent.ainvoke(given, thread())
    )
    assert {r[0]: r[1:] for r in results(state)} == {"a": result, "b": ("free 2", "success")}
    assert [r[0] for r in results(state)] == [c["id"] for c in pair]
    assert sorted(ran) == sorted([("free", 2), *ran_risky])
    assert len(fake.asked) == 2
    assert validate_messages(state["messages"]) == []
    assert state["messages"] == agent.get_state(thread()).values["messages"]


def test_mixed_decisions_for_several_calls():  # B103
    reply = calls(*(call("risky", str(n), x=n) for n in range(3)))
    agent, ran = guarded(fake=model(reply, "done"))
    state = agent.invoke(HI, thread())
    assert len(state["__interrupt__"][0].value["action_requests"]) == 3
    state = agent.invoke(resume({"type": "reject"}, EDIT, {"type": "approve"}), thread())
    assert [(r[0], r[2]) for r in results(state)] == [
        ("0", "error"),
        ("1", "success"),
        ("2", "success"),
    ]
    assert sorted(ran) == [("risky", 2), ("risky", 9)]


def test_a_new_message_instead_of_a_decision_answers_both():  # B103
    fake = model(calls(call("risky", "a", x=1), call("free", "b", x=2)), "fine")
    agent, ran = guarded(fake=fake)
    agent.invoke(HI, thread())
    state = agent.invoke({"messages": [("user", "never mind")]}, thread())
    assert kinds(state["messages"]) == ["human", "ai", "tool", "tool", "human", "ai"]
    assert [(r[0], r[2]) for r in results(state)] == [("a", "error"), ("b", "error")]
    assert ran == []
    assert validate_messages(fake.asked[1], "openai") == []


def test_rejecting_for_ever_is_bounded_by_the_model_alone():
    fake = model(lambda messages: calls(call("risky", str(len(messages)), x=1)))
    agent, ran = guarded(fake=fake)
    agent.invoke(HI, thread())
    for _ in range(5):
        state = agent.invoke(resume({"type": "reject"}), thread())
        assert len(state["__interrupt__"]) == 1
    assert ran == []
    assert len(fake.asked) == 6


@pytest.mark.parametrize(
    ("decisions", "error"),
    [
        ([], r"Number of human decisions \(0\) does not match number of hanging tool calls \(1\)"),
        ([{"type": "approve"}] * 2, r"Number of human decisions \(2\)"),
        ([EDIT], "decision type 'edit' is not allowed for tool 'risky'"),
        ([{"type": "nope"}], "not allowed"),
        ([5], "a list of dicts"),
    ],
)
def test_wrong_decisions_are_refused_and_may_be_given_again(decisions, error):
    fake = model(calls(call("risky", "a", x=1)), "done")
    agent, ran = guarded(fake=fake, on={"allowed_decisions": ["approve", "reject"]})
    agent.invoke(HI, thread())
    for _ in range(2):
        with pytest.raises(ValueError, match=error):
            agent.invoke(resume(*decisions), thread())
    assert ran == []
    state = agent.invoke(resume({"type": "approve"}), thread())
    assert texts(state["messages"])[-1] == "done"
    assert len(ran) == 1
    with pytest.raises(ValueError, match="no interrupt to answer"):
        agent.invoke(resume({"type": "approve"}), thread())


@pytest.mark.parametrize("edited", [{}, {"edited_action": 5}, {"edited_action": {"name": "risky"}}])
def test_an_edit_without_its_action_is_refused_and_may_be_given_again(edited):
    agent, ran = guarded(fake=model(calls(call("risky", "a", x=1)), "done"))
    agent.invoke(HI, thread())
    with pytest.raises(ValueError, match="needs edited_action"):
        agent.invoke(resume({"type": "edit", **edited}), thread())
    action = {"name": "risky", "args": {"x": 2}}
    agent.invoke(resume({"type": "edit", "edited_action": action}), thread())
    assert len(ran) == 1


def test_an_answer_outlives_a_failure_that_it_did_not_cause():
    fails = [OSError("down"), None]

    @after_model
    def ask(state, runtime):
        if state["messages"][-1].type != "ai":
            return None
        answer = interrupt("?")
        if (error := fails.pop(0)) is not None:
            raise error
        return {"messages": [HumanMessage(f"answer {answer}")]}

    agent = create_agent(model("ok"), middleware=[ask], checkpointer=MemoryThreads())
    agent.invoke(HI, thread())
    with pytest.raises(OSError, match="down"):
        agent.invoke(Command(resume=7), thread())
    assert texts(agent.invoke(None, thread())["messages"])[-1] == "answer 7"


@pytest.mark.parametrize(("on", "asks"), [(True, True), (False, False)])
def test_true_asks_and_false_does_not(on, asks):
    agent, ran = guarded(fake=model(calls(call("risky", x=1)), "done"), on=on)
    state = agent.invoke(HI, thread())
    assert ("__interrupt__" in state) is asks
    assert bool(ran) is not asks


def test_the_question_describes_the_call():
    agent, _ = guarded(fake=model(calls(call("risky", x=1)), "done"))
    (request,) = agent.invoke(HI, thread())["__interrupt__"][0].value["action_requests"]
    assert (
        request["description"] == "Tool execution requires approval\n\nTool: risky\nArgs: {'x': 1}"
    )
    own = {"allowed_decisions": ["approve"], "description": lambda c, s, r: f"really {c['name']}?"}
    agent, _ = guarded(fake=model(calls(call("risky", x=1)), "done"), on=own)
    value = agent.invoke(HI, thread())["__interrupt__"][0].value
    assert value["action_requests"][0]["description"] == "really risky?"
    assert value["review_configs"] == [{"action_name": "risky", "allowed_decisions": ["approve"]}]


def test_when_decides_whether_to_ask():
    own = {"allowed_decisions": ["approve"], "when": lambda c, s, r: c["args"]["x"] > 5}
    agent, ran = guarded(fake=model(calls(call("risky", x=1)), "done"), on=own)
    assert "__interrupt__" not in agent.invoke(HI, thread())
    assert ran == [("risky", 1)]
