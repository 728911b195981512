"""One result a call, directly behind its turn, in call order: whatever tools give and runs leave."""

import asyncio
from typing import Annotated, NotRequired

import pytest
from tests.agents.support import HI, call, calls, kinds, model, results, thread

from dragoman.agents import AgentState, Command, create_agent, interrupt
from dragoman.agents.middleware import HumanInTheLoopMiddleware, after_model
from dragoman.agents.structured_output import ToolStrategy
from dragoman.messages import AIMessage, HumanMessage, RemoveMessage, ToolMessage
from dragoman.threads import MemoryThreads
from dragoman.tools import InjectedToolCallId, tool
from dragoman.transcript import validate_messages

Id = Annotated[str, InjectedToolCallId]
NEXT = {"messages": [("user", "next")]}


class Paid(AgentState):
    paid: NotRequired[int]


def free() -> str:
    """Free."""
    return "FREE"


def ask() -> str:
    """Ask."""
    return f"ASKED {interrupt('?')}"


def pay(id_val: Id) -> Command:
    """Pay."""
    return Command(update={"paid": 7, "messages": [ToolMessage("PAID", tool_call_id=id_val)]})


def invalid(name: str, id_val: str) -> dict:
    return {"name": name, "args": "{", "id": id_val, "error": "x", "type": "invalid_tool_call"}


def giving(*given):
    """Return a tool `give` that gives results made of the id of its call."""

    def give(id_val: Id):
        """Give."""
        made = [entry(id_val) if callable(entry) else entry for entry in given]
        return made if len(made) > 1 else made[0]

    return tool(give)


def said(text, **fields):
    return lambda id_val: ToolMessage(text, tool_call_id=id_val, **fields)


# ---------------------------------------------------------------- ids that repeat


@pytest.mark.parametrize("ids", [("1", "1"), ("", ""), (None, "x"), ("1-2", "1", "1")])
def test_calls_of_one_id_each_get_their_own_result(ids):
    names = ["free", "free", "ask"][-len(ids) :]
    reply = calls(*(call(name, id_val) for name, id_val in zip(names, ids, strict=True)))
    agent = create_agent(model(reply, "ok"), [free, ask], checkpointer=MemoryThreads())
    agent.invoke(HI, thread())
    state = agent.invoke(Command(resume="YES"), thread())
    assert [r[1] for r in results(state)] == [*["FREE"] * (len(ids) - 1), "ASKED YES"]
    assert [c["id"] for c in state["messages"][1].tool_calls] == [r[0] for r in results(state)]
    assert validate_messages(state["messages"], "anthropic") == []


def test_an_invalid_call_with_the_id_of_a_valid_one_is_answered_too():
    reply = AIMessage("", tool_calls=[call("free")], invalid_tool_calls=[invalid("free", "1")])
    state = create_agent(model(reply, "ok"), [free]).invoke(HI)
    assert [(r[0], r[2]) for r in results(state)] == [("1", "success"), ("1-2", "error")]


def test_a_rejected_call_does_not_run_in_place_of_one_with_its_id():
    ran = []

    @tool
    def risky() -> str:
        """Risky."""
        ran.append(1)
        return "x"

    agent = create_agent(
        model(calls(call("free"), call("risky")), "ok"),
        [free, risky],
        checkpointer=MemoryThreads(),
        middleware=[HumanInTheLoopMiddleware({"risky": True})],
    )
    agent.invoke(HI, thread())
    state = agent.invoke(Command(resume={"decisions": [{"type": "reject"}]}), thread())
    assert ran == []
    assert [r[2] for r in results(state)] == ["success", "error"]


# ---------------------------------------------------------------- what tools give


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ([said("a"), said("b"), ToolMessage("alien", tool_call_id="zz")], "a\nb"),
        ([said("a"), said([{"type": "text", "text": "b"}])], "ab"),
        ([lambda i: Command(update={"messages": [said("a")(i)]}), said("b")], "a\nb"),
        ([lambda i: Command(update={"messages": [said("a")(i), said("b")(i)]})], "a\nb"),
        (
            [
                lambda i: Command(
                    update={"messages": [{"role": "tool", "content": "a", "tool_call_id": i}]}
                )
            ],
            "a",
        ),
        ([lambda i: Command(update={"messages": said("a")(i)})], "a"),
        ([Command(update={"messages": [ToolMessage("a", tool_call_id="zz")]})], "a"),
    ],
)
def test_one_result_a_call(given, text):
    state = create_agent(model(calls(call("give")), "ok"), [giving(*given)]).invoke(HI)
    assert kinds(state["messages"]) == ["human", "ai", "tool", "ai"]
    assert state["messages"][2].tool_call_id == "1"
    assert state["messages"][2].text == text


def test_several_orphans_are_no_result():
    given = [ToolMessage("a", tool_call_id="y"), ToolMessage("b", tool_call_id="z")]
    state = create_agent(model(calls(call("give")), "ok"), [giving(*given)]).invoke(HI)
    assert [(r[0], r[2]) for r in results(state)] == [("1", "error")]


@pytest.mark.parametrize(
    ("update", "told"),
    [([ToolMessage("r", tool_call_id="1")], "has to be a dict, got list"), ({"messages": [5]}, "")],
)
def test_a_command_that_updates_nothing_known_is_an_error_result(update, told):
    fake = model(calls(call("give")), "ok")
    state = create_agent(fake, [giving(Command(update=update))]).invoke(HI)
    ((_, text, status),) = results(state)
    assert status == "error"
    assert told in text


@pytest.mark.parametrize("how", ["invoke", "ainvoke"])
async def test_results_stand_together_and_the_rest_behind_them(how):
    note = giving(lambda i: Command(update={"messages": [HumanMessage("note"), said("r")(i)]}))
    agent = create_agent(model(calls(call("give"), call("free", "2")), "ok"), [note, free])
    state = agent.invoke(HI) if how == "invoke" else await agent.ainvoke(HI)
    assert kinds(state["messages"]) == ["human", "ai", "tool", "tool", "human", "ai"]
    assert [r[:2] for r in results(state)] == [("1", "r"), ("2", "FREE")]


def test_a_hook_s_message_does_not_come_between_a_call_and_its_result():
    @after_model
    def note(state, runtime):
        return {"messages": [HumanMessage("note")]} if len(state["messages"]) == 2 else None

    store = MemoryThreads()
    fake = model(calls(call("free")), "ok")
    agent = create_agent(fake, [free], middleware=[note], checkpointer=store)
    state = agent.invoke(HI, thread())
    assert kinds(state["messages"]) == ["human", "ai", "tool", "human", "ai"]
    assert store.thread("t").load().messages == state["messages"]


def test_a_command_may_take_the_history_away():
    clear = giving(
        lambda i: Command(
            update={
                "messages": [
                    RemoveMessage("__remove_all__"),
                    AIMessage("", tool_calls=[call("give", i)]),
                    said("r")(i),
                ]
            }
        )
    )
    state = create_agent(model(calls(call("give")), "ok"), [clear]).invoke(HI)
    assert kinds(state["messages"]) == ["ai", "tool", "ai"]


def test_results_of_one_message_id_are_two_messages():
    fixed = giving(said("r", id="fixed"))
    fake = model(calls(call("give", "1"), call("give", "2")), calls(call("give", "3")), "ok")
    state = create_agent(fake, [fixed]).invoke(HI)
    assert [r[0] for r in results(state)] == ["1", "2", "3"]
    assert len({m.id for m in state["messages"]}) == len(state["messages"])


# ---------------------------------------------------------------- what runs leave


def test_a_new_message_keeps_what_finished_tools_did():
    fake = model(calls(call("pay"), call("ask", "2")), "ok")
    agent = create_agent(fake, [pay, ask], state_schema=Paid, checkpointer=MemoryThreads())
    agent.invoke(HI, thread())
    state = agent.invoke(NEXT, thread())
    assert kinds(state["messages"]) == ["human", "ai", "tool", "tool", "human", "ai"]
    assert [r[2] for r in results(state)] == ["success", "error"]
    assert state["paid"] == 7


async def test_a_cancel_keeps_what_finished_tools_did():
    @tool
    async def slow() -> str:
        """Slow."""
        await asyncio.sleep(60)
        return "late"

    fake = model(calls(call("pay"), call("slow", "2")), "ok")
    agent = create_agent(fake, [pay, slow], state_schema=Paid, checkpointer=MemoryThreads())
    task = asyncio.create_task(agent.ainvoke(HI, thread()))
    while not agent.checkpointer.thread("t").load().state.get("agent", {}).get("results"):
        await asyncio.sleep(0.005)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    state = agent.get_state(thread()).values
    assert results(state)[0][1] == "PAID"
    assert [r[2] for r in results(state)] == ["success", "error"]
    assert state["paid"] == 7


def test_an_update_that_the_state_refused_does_not_close_the_thread_for_ever():
    bad = giving(lambda i: Command(update={"nope": 1, "messages": [said("r")(i)]}))
    agent = create_agent(model(calls(call("give")), "ok"), [bad], checkpointer=MemoryThreads())
    with pytest.raises(ValueError, match="nope"):
        agent.invoke(HI, thread())
    state = agent.invoke(NEXT, thread())
    assert kinds(state["messages"]) == ["human", "ai", "tool", "human", "ai"]
    assert results(state)[0][1] == "r"


@pytest.mark.parametrize("reload", [False, True])
@pytest.mark.parametrize(
    ("reply", "options"),
    [
        (calls(call("free")), {"middleware": ["stop"]}),
        (
            AIMessage("", tool_calls=[call("rd")], invalid_tool_calls=[invalid("rd", "2")]),
            {},
        ),
        (
            AIMessage("", tool_calls=[call("O", n=1)], invalid_tool_calls=[invalid("rd", "2")]),
            {"response_format": {"title": "O", "type": "object", "properties": {"n": {}}}},
        ),
    ],
    ids=["jump", "return_direct", "structured"],
)
def test_calls_that_a_run_left_open_are_answered_behind_their_turn(reply, options, reload):
    @tool(return_direct=True)
    def rd() -> str:
        """Return directly."""
        return "RD"

    @after_model(can_jump_to=["end"])
    def stop(state, runtime):
        return {"jump_to": "end"}

    options = {**options, "middleware": [stop] if "middleware" in options else []}
    if "response_format" in options:
        options["response_format"] = ToolStrategy(options["response_format"])
    fake = model(reply, "ok")
    store = None if reload else MemoryThreads()
    agent = create_agent(fake, [free, rd], checkpointer=store, **options)
    first = agent.invoke(HI, thread())
    given = {"messages": [*first["messages"], ("user", "next")]} if reload else NEXT
    agent.invoke(given, thread())
    asked = fake.asked[1]
    n_calls = len(reply.tool_calls) + len(reply.invalid_tool_calls)
    assert kinds(asked) == ["human", "ai", *["tool"] * n_calls, "human"]
    assert validate_messages(asked, "openai") == []


def test_a_hook_that_jumps_to_the_model_leaves_no_call_open():
    @after_model(can_jump_to=["model"])
    def again(state, runtime):
        return {"jump_to": "model"} if len(state["messages"]) == 2 else None

    fake = model(calls(call("free")), "ok")
    create_agent(fake, [free], middleware=[again]).invoke(HI)
    assert kinds(fake.asked[1]) == ["human", "ai", "tool"]
    assert "not executed" in fake.asked[1][2].text


def test_the_input_may_hold_the_results_of_calls_that_were_left_open():
    @after_model(can_jump_to=["end"])
    def stop(state, runtime):
        return {"jump_to": "end"} if state["messages"][-1].tool_calls else None

    fake = model(calls(call("free", "a"), call("free", "b"), call("free", "c")), "ok")
    agent = create_agent(fake, [free], middleware=[stop], checkpointer=MemoryThreads())
    agent.invoke(HI, thread())
    given = [
        ("user", "here"),
        ToolMessage("C", tool_call_id="c"),
        ToolMessage("A", tool_call_id="a"),
    ]
    state = agent.invoke({"messages": given}, thread())
    assert kinds(state["messages"]) == ["human", "ai", "tool", "tool", "tool", "human", "ai"]
    assert [(r[0], r[2]) for r in results(state)] == [
        ("a", "success"),
        ("b", "error"),
        ("c", "success"),
    ]


@pytest.mark.parametrize("how", ["all", "reply"])
def test_an_input_that_takes_the_reply_away_leaves_no_result_behind(how):
    @after_model(can_jump_to=["end"])
    def stop(state, runtime):
        return {"jump_to": "end"} if state["messages"][-1].tool_calls else None

    agent = create_agent(
        model(calls(call("free")), "ok"), [free], middleware=[stop], checkpointer=MemoryThreads()
    )
    reply = agent.invoke(HI, thread())["messages"][1]
    gone = "__remove_all__" if how == "all" else reply.id
    state = agent.invoke({"messages": [RemoveMessage(gone), ("user", "next")]}, thread())
    assert "tool" not in kinds(state["messages"])


def test_open_calls_of_an_input_are_answered_behind_their_turns():
    history = [
        HumanMessage("a"),
        AIMessage("", tool_calls=[call("free", "1"), call("free", "2")]),
        ToolMessage("r", tool_call_id="1"),
        HumanMessage("b"),
        AIMessage("", invalid_tool_calls=[invalid("free", "1")]),
        HumanMessage("c"),
        AIMessage("fine"),
        HumanMessage("d"),
    ]
    fake = model("ok")
    state = create_agent(fake, [free], checkpointer=MemoryThreads()).invoke(
        {"messages": history}, thread()
    )
    assert kinds(fake.asked[0]) == [
        "human", "ai", "tool", "tool", "human", "ai", "tool", "human", "ai", "human",
    ]  # fmt: skip
    assert validate_messages(fake.asked[0], "openai") == []
    assert [r[2] for r in results(state)] == ["success", "error", "error"]


def test_an_older_reply_that_is_given_again_keeps_its_results():
    fake = model(calls(call("free")), "ok")
    agent = create_agent(fake, [free], checkpointer=MemoryThreads())
    reply = agent.invoke(HI, thread())["messages"][1]
    edited = reply.model_copy(update={"content": "edited"})
    state = agent.invoke({"messages": [edited, ("user", "next")]}, thread())
    assert kinds(state["messages"]) == ["human", "ai", "tool", "ai", "human", "ai"]
    assert state["messages"][1].text == "edited"


@pytest.mark.parametrize("given", [None, "own"])
def test_the_result_in_a_command_has_the_name_of_its_tool(given):
    @tool
    def note(tool_call_id: Annotated[str, InjectedToolCallId]) -> Command:
        """Note."""
        answer = ToolMessage("noted", tool_call_id=tool_call_id, name=given)
        return Command(update={"messages": [answer]})

    state = create_agent(model(calls(call("note")), "ok"), [note]).invoke(HI)
    assert state["messages"][2].name == (given or "note")
