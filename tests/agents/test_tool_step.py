"""Tool calls in an agent: every call answered, in order; injected values; commands."""

import asyncio
import contextvars
import threading
import time
from typing import Annotated

import pytest
from tests.agents.support import HI, add, call, calls, fail, kinds, model, results

from dragoman.agents import AgentState, Command, InMemoryStore, create_agent
from dragoman.agents.middleware import AgentMiddleware
from dragoman.messages import AIMessage, HumanMessage, ToolMessage
from dragoman.threads import MemoryThreads
from dragoman.tools import (
    InjectedState,
    InjectedStore,
    InjectedToolArg,
    InjectedToolCallId,
    ToolRuntime,
    tool,
)
from dragoman.transcript import validate_messages


def test_unknown_tools_are_answered():
    state = create_agent(model(calls(call("nope")), "ok"), [add, fail]).invoke(HI)
    assert results(state) == [
        ("1", "Error: nope is not a valid tool, try one of [add, fail].", "error")
    ]


def test_wrong_arguments_are_answered_without_their_values():
    state = create_agent(model(calls(call("add", a="s3cret", b=1)), "ok"), [add]).invoke(HI)
    ((_, text, status),) = results(state)
    assert status == "error"
    assert "a: Input should be a valid integer" in text
    assert "s3cret" not in text


@pytest.mark.parametrize("how", ["invoke", "ainvoke"])
async def test_results_stand_in_call_order(how):
    @tool
    def nap(ms: int) -> str:
        """Nap."""
        time.sleep(ms / 1000)
        return str(ms)

    reply = calls(
        call("nap", "a", ms=40), call("fail", "b"), call("nope", "c"), call("nap", "d", ms=1)
    )
    agent = create_agent(model(reply, "ok"), [nap, fail])
    state = agent.invoke(HI) if how == "invoke" else await agent.ainvoke(HI)
    assert [r[0] for r in results(state)] == ["a", "b", "c", "d"]
    assert [r[2] for r in results(state)] == ["success", "error", "error", "success"]


@pytest.mark.parametrize("how", ["invoke", "ainvoke"])
async def test_calls_run_at_the_same_time(how):
    meeting = threading.Barrier(3, timeout=20)

    @tool
    def meet(n: int) -> str:
        """Meet."""
        meeting.wait()
        return str(n)

    agent = create_agent(model(calls(*(call("meet", str(n), n=n) for n in range(3))), "ok"), [meet])
    state = agent.invoke(HI) if how == "invoke" else await agent.ainvoke(HI)
    assert [r[1] for r in results(state)] == ["0", "1", "2"]


@pytest.mark.parametrize("how", ["invoke", "ainvoke"])
async def test_one_at_a_time_if_asked_for(how):  # B108
    running = []

    @tool
    def alone(n: int) -> str:
        """Alone."""
        running.append(n)
        together = len(running)
        time.sleep(0.01)
        running.remove(n)
        return str(together)

    reply = calls(*(call("alone", str(n), n=n) for n in range(4)))
    agent = create_agent(model(reply, "ok"), [alone], tool_concurrency=1)
    state = agent.invoke(HI) if how == "invoke" else await agent.ainvoke(HI)
    assert [r[1] for r in results(state)] == ["1"] * 4


def test_identical_calls_are_two_calls():  # B108
    seen = []

    @tool
    def note(x: int) -> str:
        """Note."""
        seen.append(x)
        return str(len(seen))

    state = create_agent(
        model(calls(call("note", "a", x=1), call("note", "b", x=1)), "ok"), [note]
    ).invoke(HI)
    assert seen == [1, 1]
    assert [r[0] for r in results(state)] == ["a", "b"]


@pytest.mark.parametrize("id_val", ["", None, "same"])
def test_calls_with_the_same_id_or_none_are_all_answered(id_val):
    reply = calls(call("add", id_val, a=1, b=1), call("add", id_val, a=2, b=2))
    state = create_agent(model(reply, "ok"), [add]).invoke(HI)
    assert [r[1] for r in results(state)] == ["2", "4"]


def test_invalid_calls_are_answered_before_the_next_turn():
    broken = {
        "name": "add",
        "args": '{"a": 1',
        "id": "9",
        "error": "cut off",
        "type": "invalid_tool_call",
    }
    fake = model(AIMessage("", invalid_tool_calls=[broken]), "ok")
    state = create_agent(fake, [add]).invoke(HI)
    assert results(state) == [
        (
            "9",
            "Tool call add with id 9 could not be executed - arguments were malformed or truncated.",
            "error",
        )
    ]
    assert kinds(fake.asked[1]) == ["human", "ai", "tool"]


def test_invalid_calls_beside_valid_ones():
    broken = {"name": "add", "args": "{", "id": "9", "error": "x", "type": "invalid_tool_call"}
    reply = AIMessage("", tool_calls=[call("add", "1", a=1, b=1)], invalid_tool_calls=[broken])
    state = create_agent(model(reply, "ok"), [add]).invoke(HI)
    assert [(r[0], r[2]) for r in results(state)] == [("1", "success"), ("9", "error")]


def test_invalid_calls_for_ever_are_bounded():
    broken = {"name": "add", "args": "{", "id": "9", "error": "x", "type": "invalid_tool_call"}
    fake = model(lambda _: AIMessage("", invalid_tool_calls=[broken]))
    with pytest.raises(RecursionError):
        create_agent(fake, [add], max_steps=7).invoke(HI)
    assert len(fake.asked) == 7


def test_a_call_cut_off_by_the_token_limit_is_not_run():  # B30
    from dragoman.testing import Reply, ScriptedServer

    ran = []

    def write(path: str) -> str:
        """Write."""
        ran.append(path)
        return "ok"

    def body(message, reason):
        choice = {"index": 0, "finish_reason": reason, "message": {"role": "assistant", **message}}
        return Reply.json({"id": "c", "model": "m", "choices": [choice]})

    cut = {
        "id": "c1",
        "type": "function",
        "function": {"name": "write", "arguments": '{"path":"x"'},
    }
    whole = {
        "id": "c2",
        "type": "function",
        "function": {"name": "write", "arguments": '{"path":"y"}'},
    }
    with ScriptedServer(
        body({"content": None, "tool_calls": [whole, cut]}, "length"),
        body({"content": "ok"}, "stop"),
    ) as server:
        from dragoman.chat_models import init_chat_model

        chat = init_chat_model("openai:m", base_url=server.url, api_key="k")
        state = create_agent(chat, [write]).invoke(HI)
    assert ran == ["y"]
    assert [(r[0], r[2]) for r in results(state)] == [("c2", "success"), ("c1", "error")]


# ---------------------------------------------------------------- injected values


class Custom(AgentState):
    user: str


def test_the_whole_state_or_a_field_is_injected():
    seen = {}

    @tool
    def look(
        x: int,
        state: Annotated[dict, InjectedState],
        user: Annotated[str, InjectedState("user")],
        id_val: Annotated[str, InjectedToolCallId],
    ) -> str:
        """Look."""
        seen.update(x=x, kinds=kinds(state["messages"]), user=user, id=id_val)
        return "seen"

    fake = model(calls(call("look", "c7", x=1)), "ok")
    create_agent(fake, [look], state_schema=Custom).invoke({**HI, "user": "ada"})
    assert seen == {"x": 1, "kinds": ["human", "ai"], "user": "ada", "id": "c7"}


@pytest.mark.parametrize("how", ["invoke", "ainvoke"])
async def test_a_tool_runtime_is_injected(how):
    seen = {}

    @tool
    def look(x: int, runtime: ToolRuntime) -> str:
        """Look."""
        seen.update(
            id=runtime.tool_call_id,
            context=runtime.context,
            n=len(runtime.state["messages"]),
            store=runtime.store.get(("a",), "k").value,
            tags=runtime.config["tags"],
        )
        runtime.stream_writer("nobody reads")
        return "seen"

    store = InMemoryStore()
    store.put(("a",), "k", {"v": 1})
    agent = create_agent(model(calls(call("look", "c7", x=1)), "ok"), [look], store=store)
    run = agent.invoke if how == "invoke" else agent.ainvoke
    state = run(HI, {"tags": ["t"]}, context={"u": 1})
    if how == "ainvoke":
        state = await state
    assert results(state)[0][1] == "seen"
    assert seen == {"id": "c7", "context": {"u": 1}, "n": 2, "store": {"v": 1}, "tags": ["t"]}


def test_the_store_is_injected():
    @tool
    def remember(text: str, store: Annotated[object, InjectedStore()]) -> str:
        """Remember."""
        store.put(("notes",), "k", {"text": text})
        return "kept"

    store = InMemoryStore()
    create_agent(model(calls(call("remember", text="x")), "ok"), [remember], store=store).invoke(HI)
    assert store.get(("notes",), "k").value == {"text": "x"}


def test_injected_arguments_are_hidden_from_the_model_and_cannot_be_set_by_it():
    seen = []

    @tool
    def look(
        state: Annotated[dict, InjectedState],
        user: Annotated[str, InjectedState("user")],
        store: Annotated[object, InjectedStore()],
        id_val: Annotated[str, InjectedToolCallId],
        runtime: ToolRuntime,
        x: int = 0,
    ) -> str:
        """Look."""
        seen.append((kinds(state["messages"]), user, store, id_val, runtime.tool_call_id, x))
        return "seen"

    spoofed = call(
        "look", "c1", state={"messages": []}, user="root", store="s", id_val="z", runtime="r", x=3
    )
    fake = model(calls(spoofed), "ok")
    create_agent(fake, [look], state_schema=Custom).invoke({**HI, "user": "ada"})
    assert seen == [(["human", "ai"], "ada", None, "c1", "c1", 3)]
    assert set(fake.bound[0]["tools"][0].tool_call_schema.model_json_schema()["properties"]) == {
        "x"
    }


def test_a_caller_s_argument_that_nobody_injects_is_an_error_result():
    @tool
    def odd(x: int, key: Annotated[str, InjectedToolArg]) -> str:
        """Odd."""
        return key

    state = create_agent(model(calls(call("odd", x=1, key="spoof")), "ok"), [odd]).invoke(HI)
    ((_, text, status),) = results(state)
    assert status == "error"
    assert "spoof" not in text


# ---------------------------------------------------------------- commands and outputs


def test_a_command_updates_the_state():
    @tool
    def rename(name: str, id_val: Annotated[str, InjectedToolCallId]) -> Command:
        """Rename."""
        return Command(
            update={"user": name, "messages": [ToolMessage("done", tool_call_id=id_val)]}
        )

    fake = model(calls(call("rename", "c", name="bob")), "ok")
    state = create_agent(fake, [rename], state_schema=Custom).invoke({**HI, "user": "ada"})
    assert state["user"] == "bob"
    assert results(state) == [("c", "done", "success")]


def test_commands_and_results_keep_call_order_and_later_updates_win():  # B108
    @tool
    def rename(name: str, id_val: Annotated[str, InjectedToolCallId]) -> Command:
        """Rename."""
        return Command(update={"user": name, "messages": [ToolMessage(name, tool_call_id=id_val)]})

    reply = calls(
        call("rename", "a", name="first"),
        call("add", "b", a=1, b=1),
        call("rename", "c", name="last"),
    )
    state = create_agent(model(reply, "ok"), [rename, add], state_schema=Custom).invoke(
        {**HI, "user": "x"}
    )
    assert [r[0] for r in results(state)] == ["a", "b", "c"]
    assert state["user"] == "last"
    assert validate_messages(state["messages"]) == []


@pytest.mark.parametrize("update", [None, {}, {"messages": []}, {"messages": [HumanMessage("x")]}])
def test_a_command_without_a_result_is_answered_by_an_error(update):
    @tool
    def odd() -> Command:
        """Odd."""
        return Command(update=update)

    state = create_agent(model(calls(call("odd")), "ok"), [odd]).invoke(HI)
    assert [(r[0], r[2]) for r in results(state)] == [("1", "error")]


def test_a_command_with_an_unknown_field_is_refused():
    @tool
    def odd(id_val: Annotated[str, InjectedToolCallId]) -> Command:
        """Odd."""
        return Command(update={"nope": 1, "messages": [ToolMessage("x", tool_call_id=id_val)]})

    with pytest.raises(ValueError, match="'nope', which no state schema has"):
        create_agent(model(calls(call("odd")), "ok"), [odd]).invoke(HI)


@pytest.mark.parametrize(
    ("more", "name"),
    [({"goto": "model"}, "goto"), ({"graph": "up"}, "graph"), ({"resume": 0}, "resume")],
)
def test_a_command_that_an_agent_does_not_do_is_refused(more, name):
    @tool
    def odd(id_val: Annotated[str, InjectedToolCallId]) -> Command:
        """Odd."""
        return Command(update={"messages": [ToolMessage("x", tool_call_id=id_val)]}, **more)

    agent = create_agent(
        model(calls(call("odd")), "ok"), [odd], checkpointer=(store := MemoryThreads())
    )
    config = {"configurable": {"thread_id": "t"}}
    with pytest.raises(NotImplementedError, match=f"the tool odd cannot have `{name}`"):
        agent.invoke(HI, config)
    agent.invoke(HI, config)
    assert validate_messages(store.thread("t").load().messages, "openai") == []


@pytest.mark.parametrize("given", [Command(goto="tools"), Command(resume="yes", goto="tools")])
def test_an_input_that_an_agent_does_not_do_is_refused(given):
    with pytest.raises(NotImplementedError, match="the input cannot have `goto`"):
        create_agent(model("ok")).invoke(given)


def test_a_result_with_a_wrong_id_gets_the_call_s():
    @tool
    def odd() -> ToolMessage:
        """Odd."""
        return ToolMessage("x", tool_call_id="other")

    assert results(create_agent(model(calls(call("odd")), "ok"), [odd]).invoke(HI)) == [
        ("1", "x", "success")
    ]


@pytest.mark.parametrize(
    "value", [b"\x00", object(), {1, 2}, float("nan"), None, [{"type": "user"}]]
)
def test_whatever_a_tool_gives_is_text(value):  # B100
    @tool
    def odd():
        """Odd."""
        return value

    ((_, text, status),) = results(create_agent(model(calls(call("odd")), "ok"), [odd]).invoke(HI))
    assert status == "success"
    assert isinstance(text, str)


def test_artifacts_are_kept():
    @tool(response_format="content_and_artifact")
    def both():
        """Both."""
        return "text", [1, 2]

    state = create_agent(model(calls(call("both")), "ok"), [both]).invoke(HI)
    assert state["messages"][2].artifact == [1, 2]


@pytest.mark.parametrize(
    "error",
    [
        SystemExit(3),
        asyncio.CancelledError(),
        StopIteration(),
        GeneratorExit(),
        MemoryError("m"),
    ],
)
@pytest.mark.parametrize("how", ["invoke", "ainvoke", "ainvoke async", "stream", "astream"])
async def test_a_tool_that_ends_oddly_is_an_error_result(error, how):  # B102
    @tool
    def odd():
        """Odd."""
        raise error

    if how == "ainvoke async":

        @tool
        async def odd():
            """Odd."""
            raise error

    agent = create_agent(model(calls(call("odd")), "ok"), [odd], checkpointer=MemoryThreads())
    config = {"configurable": {"thread_id": "t"}}
    if "stream" in how:
        _ = (
            list(agent.stream(HI, config))
            if how == "stream"
            else [e async for e in agent.astream(HI, config)]
        )
        state = agent.get_state(config).values
    else:
        state = agent.invoke(HI, config) if how == "invoke" else await agent.ainvoke(HI, config)
    assert [r[2] for r in results(state)] == ["error"]
    assert state["messages"][-1].text == "ok"


@pytest.mark.parametrize("how", ["invoke", "ainvoke"])
async def test_a_tool_that_hangs_is_answered_in_time(how):
    free = threading.Event()

    @tool
    def hang() -> str:
        """Hang."""
        free.wait(20)
        return "late"

    agent = create_agent(model(calls(call("hang")), "ok"), [hang], tool_timeout_s=0.05)
    state = agent.invoke(HI) if how == "invoke" else await agent.ainvoke(HI)
    free.set()
    assert results(state) == [("1", "Error: timed out after 0.05 s", "error")]


async def test_sync_tools_and_hooks_never_block_the_loop():  # B109
    turns = 0
    release = threading.Event()
    mark: contextvars.ContextVar[str] = contextvars.ContextVar("mark")
    seen = []

    @tool
    def wait() -> str:
        """Wait."""
        seen.append(mark.get())
        assert release.wait(20)
        return "ok"

    class Slow(AgentMiddleware):
        def before_model(self, state, runtime):
            seen.append(mark.get())
            assert release.wait(20)

    async def ticker():
        nonlocal turns
        while turns < 5:
            turns += 1
            await asyncio.sleep(0)
        release.set()

    mark.set("here")
    agent = create_agent(model(calls(call("wait")), "ok"), [wait], middleware=[Slow()])
    state, _ = await asyncio.gather(agent.ainvoke(HI), ticker())
    assert turns == 5
    assert results(state) == [("1", "ok", "success")]
    assert seen == ["here"] * 3


async def test_async_tools_run_on_the_loop():
    @tool
    async def where() -> str:
        """Where."""
        return str(threading.current_thread() is threading.main_thread())

    state = await create_agent(model(calls(call("where")), "ok"), [where]).ainvoke(HI)
    assert results(state)[0][1] == "True"


def test_an_async_only_tool_in_a_sync_run_is_an_error_result():
    @tool
    async def only() -> str:
        """Only."""
        return "x"

    ((_, text, status),) = results(
        create_agent(model(calls(call("only")), "ok"), [only]).invoke(HI)
    )
    assert status == "error"
    assert "sync" in text


@pytest.mark.parametrize("id_val", ["", None, "same"])
def test_calls_of_a_reply_that_middleware_made_are_told_apart_too(id_val):
    class Answer(AgentMiddleware):
        def wrap_model_call(self, request, handler):
            if isinstance(request.messages[-1], ToolMessage):
                return handler(request)
            return calls(call("add", id_val, a=1, b=1), call("add", id_val, a=2, b=2))

    state = create_agent(model("ok"), [add], middleware=[Answer()]).invoke(HI)
    assert [r[1] for r in results(state)] == ["2", "4"]
    assert len({r[0] for r in results(state)}) == 2
    assert validate_messages(state["messages"], "openai") == []


def test_a_reply_under_the_id_of_an_older_one_is_a_message_of_its_own():
    first = calls(call("add", a=1, b=1)).model_copy(update={"id": "resp-1"})
    agent = create_agent(model(first, AIMessage("two", id="resp-1")), [add])
    state = agent.invoke(HI)
    assert kinds(state["messages"]) == ["human", "ai", "tool", "ai"]
    assert state["messages"][1].id == "resp-1"
    assert state["messages"][3].id not in (None, "resp-1")


def test_injected_arguments_may_be_optional_or_stand_in_a_union():
    @tool
    def peek(
        x: int,
        runtime: ToolRuntime | None = None,
        state: Annotated[dict | None, InjectedState] = None,
        count: Annotated[int, InjectedState("count")] | None = None,
    ) -> str:
        """Peek."""
        return f"{runtime is not None} {len(state['messages'])} {count}"

    class Counting(AgentState):
        count: int

    assert list(peek.tool_call_schema.model_json_schema()["properties"]) == ["x"]
    agent = create_agent(
        model(calls(call("peek", x=1, count=9)), "ok"), [peek], state_schema=Counting
    )
    state = agent.invoke({"messages": "hi", "count": 3})
    assert [r[1] for r in results(state)] == ["True 2 3"]
