"""Hooks: order, effects, jumps, decorators, state of their own."""

from typing import Annotated, NotRequired

import pytest
from tests.agents.support import HI, add, call, calls, kinds, model, results, texts, thread

from dragoman.agents import AgentState, AgentStateError, Command, create_agent
from dragoman.agents.middleware import (
    AgentMiddleware,
    OmitFromInput,
    OmitFromOutput,
    PrivateStateAttr,
    after_agent,
    after_model,
    before_agent,
    before_model,
    dynamic_prompt,
    hook_config,
    wrap_model_call,
)
from dragoman.messages import (
    REMOVE_ALL_MESSAGES,
    AIMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
)
from dragoman.threads import MemoryThreads
from dragoman.tools import InjectedState, ToolRuntime, tool

HOOKS = ("before_agent", "before_model", "after_model", "after_agent")


def recorder(name, seen):
    def note(hook):
        def method(self, state, runtime):
            seen.append(f"{name}.{hook}")

        return method

    def wrap(self, request, handler):
        seen.append(f"{name} in")
        response = handler(request)
        seen.append(f"{name} out")
        return response

    async def awrap(self, request, handler):
        seen.append(f"{name} in")
        response = await handler(request)
        seen.append(f"{name} out")
        return response

    body = {hook: note(hook) for hook in HOOKS} | {
        "wrap_model_call": wrap,
        "awrap_model_call": awrap,
    }
    return type(name, (AgentMiddleware,), body)()


@pytest.mark.parametrize("how", ["invoke", "ainvoke"])
async def test_hooks_run_in_order_and_after_hooks_in_reverse(how):
    seen: list[str] = []
    fake = model(calls(call("add", a=1, b=1)), "ok")
    agent = create_agent(fake, [add], middleware=[recorder("A", seen), recorder("B", seen)])
    _ = agent.invoke(HI) if how == "invoke" else await agent.ainvoke(HI)
    turn = [
        "A.before_model", "B.before_model", "A in", "B in", "B out", "A out", "B.after_model", "A.after_model",
    ]  # fmt: skip
    assert seen == [
        "A.before_agent", "B.before_agent", *turn, *turn, "B.after_agent", "A.after_agent",
    ]  # fmt: skip


@pytest.mark.parametrize("hook", HOOKS)
@pytest.mark.parametrize("how", ["invoke", "ainvoke"])
async def test_a_hook_updates_the_state(hook, how):
    def update(self, state, runtime):
        return {"messages": [HumanMessage(f"from {hook}")]}

    made = type("M", (AgentMiddleware,), {hook: update})()
    agent = create_agent(model("ok"), middleware=[made])
    state = agent.invoke(HI) if how == "invoke" else await agent.ainvoke(HI)
    expected = (
        ["hi", f"from {hook}", "ok"] if hook.startswith("before") else ["hi", "ok", f"from {hook}"]
    )
    assert texts(state["messages"]) == expected
    assert all(m.id for m in state["messages"])


@pytest.mark.parametrize("hook", HOOKS)
async def test_an_async_hook_runs_in_async_runs_and_is_named_in_sync_ones(hook):
    async def update(self, state, runtime):
        return {"messages": [HumanMessage("x")]}

    made = type("M", (AgentMiddleware,), {f"a{hook}": update})()
    agent = create_agent(model("ok"), middleware=[made])
    assert "x" in texts((await agent.ainvoke(HI))["messages"])
    with pytest.raises(TypeError, match=f'No synchronous function provided to "M.{hook}"'):
        agent.invoke(HI)


async def test_of_two_colours_each_run_takes_its_own():
    class Both(AgentMiddleware):
        def before_model(self, state, runtime):
            return {"messages": [HumanMessage("sync")]}

        async def abefore_model(self, state, runtime):
            return {"messages": [HumanMessage("async")]}

    assert texts(create_agent(model("ok"), middleware=[Both()]).invoke(HI)["messages"])[1] == "sync"
    state = await create_agent(model("ok"), middleware=[Both()]).ainvoke(HI)
    assert texts(state["messages"])[1] == "async"


async def test_the_missing_colour_of_wrap_model_call_is_named():
    @wrap_model_call
    def only_sync(request, handler):
        return handler(request)

    @wrap_model_call
    async def only_async(request, handler):
        return await handler(request)

    with pytest.raises(
        NotImplementedError,
        match="Asynchronous implementation of awrap_model_call is not available",
    ):
        await create_agent(model("ok"), middleware=[only_sync]).ainvoke(HI)
    with pytest.raises(
        NotImplementedError, match="Synchronous implementation of wrap_model_call is not available"
    ):
        create_agent(model("ok"), middleware=[only_async]).invoke(HI)


def test_after_model_can_remove_messages():  # examples.md
    @after_model
    def forget(state, runtime):
        return {"messages": [RemoveMessage(id=state["messages"][0].id)]}

    assert texts(create_agent(model("ok"), middleware=[forget]).invoke(HI)["messages"]) == ["ok"]


def test_a_hook_s_command_that_an_agent_does_not_do_is_refused():
    jump = before_model(lambda s, r: Command(goto="tools"), name="hook")
    with pytest.raises(NotImplementedError, match=r"hook\.before_model cannot have `goto`"):
        create_agent(model("ok"), middleware=[jump]).invoke(HI)


def test_before_model_can_replace_the_history():
    @before_model
    def short(state, runtime):
        return {"messages": [RemoveMessage(REMOVE_ALL_MESSAGES), HumanMessage("short")]}

    fake = model("ok")
    state = create_agent(fake, middleware=[short]).invoke(
        {"messages": [("user", "a"), ("user", "b")]}
    )
    assert texts(fake.asked[0]) == ["short"]
    assert texts(state["messages"]) == ["short", "ok"]


@pytest.mark.parametrize("given", ["text", 3, [HumanMessage("x")]])
def test_an_update_that_is_no_dict_is_refused(given):
    with pytest.raises(ValueError, match=r"hook\.before_model has to return a dict or None"):
        create_agent(
            model("ok"), middleware=[before_model(lambda s, r: given, name="hook")]
        ).invoke(HI)


def test_an_update_of_an_unknown_field_is_refused():
    hook = before_model(lambda s, r: {"nope": 1}, name="hook")
    with pytest.raises(ValueError, match="'nope', which no state schema has"):
        create_agent(model("ok"), middleware=[hook]).invoke(HI)


def test_a_hook_may_return_a_command():
    hook = before_model(lambda s, r: Command(update={"messages": [HumanMessage("x")]}), name="hook")
    state = create_agent(model("ok"), middleware=[hook]).invoke(HI)
    assert texts(state["messages"]) == ["hi", "x", "ok"]


# ---------------------------------------------------------------- jumps


@pytest.mark.parametrize("hook", ["before_agent", "before_model"])
@pytest.mark.parametrize("how", ["invoke", "ainvoke"])
async def test_jump_to_end_skips_the_model(hook, how):
    seen: list[str] = []

    @hook_config(can_jump_to=["end"])
    def leave(self, state, runtime):
        return {"jump_to": "end", "messages": [AIMessage("bye")]}

    def last(self, state, runtime):
        seen.append("after_agent")

    made = type("Leave", (AgentMiddleware,), {hook: leave, "after_agent": last})()
    fake = model("never")
    agent = create_agent(fake, middleware=[made])
    state = agent.invoke(HI) if how == "invoke" else await agent.ainvoke(HI)
    assert texts(state["messages"]) == ["hi", "bye"]
    assert fake.asked == []
    assert seen == ["after_agent"]
    assert "jump_to" not in state


@pytest.mark.parametrize("target", [["end"], "__end__", "nonsense", 5])
def test_a_jump_to_nowhere_is_refused(target):
    hook = before_model(lambda s, r: {"jump_to": target}, name="hook", can_jump_to=["end"])
    with pytest.raises(AgentStateError, match=r"hook\.before_model has jump_to="):
        create_agent(model("ok"), middleware=[hook]).invoke(HI)


@pytest.mark.parametrize("declared", [["__end__"], ["nonsense"], "end", [["end"]]])
def test_a_declared_jump_to_nowhere_is_refused_when_the_agent_is_made(declared):
    hook = before_model(lambda s, r: None, name="hook", can_jump_to=declared)
    with pytest.raises(ValueError, match=r"hook\.before_model has can_jump_to="):
        create_agent(model("ok"), middleware=[hook])


def test_a_jump_that_was_not_declared_is_no_jump():
    hook = before_model(lambda s, r: {"jump_to": "end"}, name="hook")
    assert texts(create_agent(model("ok"), middleware=[hook]).invoke(HI)["messages"]) == [
        "hi",
        "ok",
    ]
    other = before_model(lambda s, r: {"jump_to": "end"}, name="hook", can_jump_to=["model"])
    assert texts(create_agent(model("ok"), middleware=[other]).invoke(HI)["messages"]) == [
        "hi",
        "ok",
    ]


def test_jump_to_model_asks_again():
    @after_model(can_jump_to=["model"])
    def again(state, runtime):
        if state["messages"][-1].text == "bad":
            return {"jump_to": "model", "messages": [HumanMessage("better")]}
        return None

    fake = model("bad", "good")
    state = create_agent(fake, middleware=[again]).invoke(HI)
    assert texts(state["messages"]) == ["hi", "bad", "better", "good"]


def test_jump_to_tools_runs_the_calls_of_the_last_reply():
    @before_model(can_jump_to=["tools"])
    def use(state, runtime):
        if len(state["messages"]) == 1:
            return {"jump_to": "tools", "messages": [calls(call("add", a=1, b=2))]}
        return None

    fake = model("ok")
    state = create_agent(fake, [add], middleware=[use]).invoke(HI)
    assert texts(state["messages"]) == ["hi", "", "3", "ok"]
    assert len(fake.asked) == 1


def test_jump_to_end_from_after_model_leaves_calls_alone():
    @after_model(can_jump_to=["end"])
    def stop(state, runtime):
        return {"jump_to": "end"}

    state = create_agent(model(calls(call("add", a=1, b=2))), [add], middleware=[stop]).invoke(HI)
    assert kinds(state["messages"]) == ["human", "ai"]


def test_jumping_for_ever_is_bounded():
    @before_model(can_jump_to=["model"])
    def again(state, runtime):
        return {"jump_to": "model"}

    with pytest.raises(RecursionError):
        create_agent(model("ok"), middleware=[again], max_steps=3).invoke(HI)


# ---------------------------------------------------------------- decorators


@pytest.mark.parametrize("decorator", [before_agent, before_model, after_model, after_agent])
@pytest.mark.parametrize("is_async", [False, True])
async def test_decorated_functions_are_middleware(decorator, is_async):
    if is_async:

        @decorator
        async def my_hook(state, runtime):
            return {"messages": [HumanMessage(f"ctx {runtime.context}")]}
    else:

        @decorator
        def my_hook(state, runtime):
            return {"messages": [HumanMessage(f"ctx {runtime.context}")]}

    assert isinstance(my_hook, AgentMiddleware)
    assert my_hook.name == "my_hook"
    state = await create_agent(model("ok"), middleware=[my_hook]).ainvoke(HI, context=7)
    assert "ctx 7" in texts(state["messages"])


def test_decorators_take_options():
    class Mine(AgentState):
        n: NotRequired[int]

    @before_model(state_schema=Mine, tools=[add], name="Named")
    def hook(state, runtime):
        return {"n": state.get("n", 0) + 1}

    assert hook.name == "Named"
    fake = model(calls(call("add", a=1, b=1)), "ok")
    state = create_agent(fake, middleware=[hook]).invoke(HI)
    assert state["n"] == 2
    assert results(state) == [("1", "2", "success")]


@pytest.mark.parametrize("given", ["be kind", SystemMessage("be kind")])
@pytest.mark.parametrize("how", ["invoke", "ainvoke"])
async def test_a_dynamic_prompt_serves_both_colours(given, how):
    @dynamic_prompt
    def prompt(request):
        assert request.system_prompt == "base"
        return given

    fake = model("ok")
    agent = create_agent(fake, system_prompt="base", middleware=[prompt])
    _ = agent.invoke(HI) if how == "invoke" else await agent.ainvoke(HI)
    assert prompt.name == "prompt"
    assert texts(fake.asked[0]) == ["be kind", "hi"]


async def test_an_async_dynamic_prompt_serves_async_runs():
    @dynamic_prompt
    async def prompt(request):
        return f"n={len(request.messages)}"

    fake = model("ok")
    await create_agent(fake, middleware=[prompt]).ainvoke(HI)
    assert texts(fake.asked[0]) == ["n=1", "hi"]
    with pytest.raises(NotImplementedError):
        create_agent(fake, middleware=[prompt]).invoke(HI)


# ---------------------------------------------------------------- state of their own


class Hidden(AgentState):
    given: NotRequired[str]
    no_input: NotRequired[Annotated[str, OmitFromInput]]
    no_output: NotRequired[Annotated[str, OmitFromOutput]]
    private: NotRequired[Annotated[str, PrivateStateAttr]]


def test_hidden_fields():
    seen = {}

    class M(AgentMiddleware):
        state_schema = Hidden

        def before_model(self, state, runtime):
            seen.update(state)
            return {"no_input": "x", "no_output": "y", "private": "z"}

        def after_model(self, state, runtime):
            seen.update(after=dict(state))

    given = {"given": "g", "no_input": "bad", "no_output": "ok", "private": "bad", "jump_to": "end"}
    state = create_agent(model("ok"), middleware=[M()]).invoke({**HI, **given})
    assert {k: v for k, v in seen.items() if k not in ("messages", "after")} == {
        "given": "g",
        "no_output": "ok",
    }
    assert {k: v for k, v in seen["after"].items() if k != "messages"} == {
        "given": "g",
        "no_input": "x",
        "no_output": "y",
        "private": "z",
    }
    assert {k: v for k, v in state.items() if k != "messages"} == {"given": "g", "no_input": "x"}


def test_schemas_of_all_middleware_and_the_agent_s_are_merged():
    class A(AgentState):
        a: NotRequired[int]

    class B(AgentState):
        b: NotRequired[Annotated[list, lambda old, new: [*old, *new]]]

    class C(AgentState):
        c: NotRequired[int]

    one = before_model(lambda s, r: {"a": 1, "b": [1]}, state_schema=A, name="one")
    two = after_model(lambda s, r: {"b": [2]}, state_schema=B, name="two")
    state = create_agent(model("ok"), middleware=[one, two], state_schema=C).invoke(
        {**HI, "c": 5, "zzz": 1}
    )
    assert {k: v for k, v in state.items() if k != "messages"} == {"a": 1, "b": [1, 2], "c": 5}


def test_what_a_hook_does_to_its_state_dict_changes_nothing():
    class Rude(AgentMiddleware):
        def before_model(self, state, runtime):
            state["messages"] = []

    fake = model("ok")
    create_agent(fake, middleware=[Rude()]).invoke(HI)
    assert texts(fake.asked[0]) == ["hi"]


def test_a_hook_sees_context_and_store():
    seen = []
    hook = before_agent(
        lambda s, r: seen.append((r.context, r.store, r.stream_writer("x"))), name="h"
    )
    create_agent(model("ok"), middleware=[hook], store="the store").invoke(HI, context="ctx")
    assert seen == [("ctx", "the store", None)]


def test_answers_of_after_model_take_the_place_of_tools():
    @after_model
    def answer(state, runtime):
        reply = state["messages"][-1]
        return {"messages": [ToolMessage("no", tool_call_id=c["id"]) for c in reply.tool_calls]}

    fake = model(calls(call("add", a=1, b=1)), "ok")
    state = create_agent(fake, [add], middleware=[answer]).invoke(HI)
    assert texts(state["messages"]) == ["hi", "", "no", "ok"]


@pytest.mark.parametrize("hook", [*HOOKS, "wrap_model_call", "wrap_tool_call", "tool"])
def test_what_is_added_to_a_hook_s_list_is_neither_in_the_output_nor_in_the_thread(hook):
    def sneak(state):
        state["messages"].append(HumanMessage("sneaky"))

    def method(self, first, second):
        if not hook.startswith("wrap"):
            return sneak(first)
        first.messages.append(HumanMessage("seen")) if hook == "wrap_model_call" else None
        sneak(first.state)
        return second(first)

    @tool
    def look(state: Annotated[dict, InjectedState], runtime: ToolRuntime) -> str:
        """Look."""
        if hook == "tool":
            sneak(state)
            sneak(runtime.state)
        return "x"

    sneaky = type("Sneaky", (AgentMiddleware,), {} if hook == "tool" else {hook: method})()
    agent = create_agent(
        model(calls(call("look")), "ok"), [look], middleware=[sneaky], checkpointer=MemoryThreads()
    )
    state = agent.invoke(HI, thread())
    assert kinds(state["messages"]) == ["human", "ai", "tool", "ai"]
    assert agent.get_state(thread()).values["messages"] == state["messages"]


def test_what_a_reader_adds_to_a_state_is_not_in_it():
    agent = create_agent(model("ok"))
    for state in agent.stream(HI, stream_mode="values"):
        state["messages"].append(HumanMessage("sneaky"))
    assert texts(state["messages"]) == ["hi", "ok", "sneaky"]
