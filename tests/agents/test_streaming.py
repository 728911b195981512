"""Streams of a run: modes, order, a reader who leaves."""

import asyncio
import signal
import threading

import pytest
from tests.agents.support import HI, add, call, calls, kinds, model, texts, thread

from dragoman.agents import Command, create_agent, interrupt
from dragoman.agents.middleware import before_model
from dragoman.messages import AIMessageChunk, ToolMessage
from dragoman.threads import MemoryThreads
from dragoman.tools import ToolRuntime, tool
from dragoman.transcript import validate_messages


async def taken(agent, given, how, **options):
    if how == "stream":
        return list(agent.stream(given, thread(), **options))
    return [event async for event in agent.astream(given, thread(), **options)]


HOWS = pytest.mark.parametrize("how", ["stream", "astream"])


def agent_of(*script, tools=(add,), **options):
    return create_agent(model(*script), list(tools), **options)


@HOWS
async def test_updates_are_what_each_step_gave(how):
    hook = before_model(lambda s, r: None, name="hook")
    agent = agent_of(calls(call("add", a=1, b=2)), "ok", middleware=[hook])
    steps = await taken(agent, HI, how)
    assert [next(iter(step)) for step in steps] == [
        "hook.before_model", "model", "tools", "hook.before_model", "model",
    ]  # fmt: skip
    assert steps[0] == {"hook.before_model": None}
    assert texts(steps[2]["tools"]["messages"]) == ["3"]
    assert texts(steps[4]["model"]["messages"]) == ["ok"]


@HOWS
async def test_values_are_the_state_after_each_step(how):
    agent = agent_of(calls(call("add", a=1, b=2)), "ok")
    states = await taken(agent, HI, how, stream_mode="values")
    assert [len(s["messages"]) for s in states] == [1, 2, 3, 4]


@HOWS
async def test_messages_are_tokens_and_results(how):
    agent = agent_of(calls(call("add", a=1, b=2)), "all is well")
    events = await taken(agent, HI, how, stream_mode="messages")
    assert {node["langgraph_node"] for _, node in events} == {"model", "tools"}
    told = [m for m, node in events if node["langgraph_node"] == "tools"]
    assert [type(m) for m in told] == [ToolMessage]
    chunks = [m for m, node in events if node["langgraph_node"] == "model"]
    assert all(isinstance(m, AIMessageChunk) for m in chunks)
    assert "".join(m.text for m in chunks) == "alliswell"


@HOWS
async def test_custom_is_what_tools_write(how):
    @tool
    def work(n: int, runtime: ToolRuntime) -> str:
        """Work."""
        for i in range(n):
            runtime.stream_writer({"at": i})
        return "done"

    agent = agent_of(calls(call("work", n=3)), "ok", tools=[work])
    assert await taken(agent, HI, how, stream_mode="custom") == [{"at": 0}, {"at": 1}, {"at": 2}]


@HOWS
async def test_a_list_of_modes_gives_pairs(how):
    agent = agent_of(calls(call("add", a=1, b=2)), "ok")
    events = await taken(agent, HI, how, stream_mode=["updates", "values"])
    assert [mode for mode, _ in events] == ["values"] + ["updates", "values"] * 3
    (only, *_) = await taken(agent_of("ok"), HI, how, stream_mode=["updates"])
    assert only[0] == "updates"


@HOWS
@pytest.mark.parametrize("mode", ["nope", ["updates", "nope"]])
async def test_an_unknown_mode_is_refused(how, mode):
    with pytest.raises(ValueError, match=r"unknown stream_mode \['nope'\]"):
        await taken(agent_of("ok"), HI, how, stream_mode=mode)


@HOWS
async def test_an_interrupt_is_an_update(how):
    @tool
    def ask() -> str:
        """Ask."""
        return interrupt("?")

    agent = agent_of(calls(call("ask")), "ok", tools=[ask], checkpointer=MemoryThreads())
    steps = await taken(agent, HI, how)
    (question,) = steps[-1]["__interrupt__"]
    assert question.value == "?"
    steps = await taken(agent, Command(resume="yes"), how)
    assert [next(iter(s)) for s in steps] == ["tools", "model"]


@HOWS
async def test_what_goes_wrong_is_raised_where_the_stream_is_read(how):
    with pytest.raises(ValueError, match="boom"):
        await taken(agent_of(ValueError("boom")), HI, how)


@HOWS
async def test_no_step_runs_before_the_reader_asks_for_it(how):
    ran = []

    @tool
    def note() -> str:
        """Note."""
        ran.append(1)
        return "x"

    agent = agent_of(calls(call("note")), "ok", tools=[note], checkpointer=MemoryThreads())
    if how == "stream":
        stream = agent.stream(HI, thread())
        assert "model" in next(stream)
        stream.close()
    else:
        astream = agent.astream(HI, thread())
        assert "model" in await anext(astream)
        await astream.aclose()
    assert ran == []
    messages = agent.get_state(thread()).values["messages"]
    assert kinds(messages) == ["human", "ai", "tool"]
    assert messages[2].status == "error"
    assert validate_messages(messages) == []
    assert agent.invoke(HI, thread())["messages"][-1].text == "ok"


@HOWS
async def test_leaving_in_the_middle_of_tokens_leaves_a_valid_thread(how):
    agent = agent_of("one two three", checkpointer=MemoryThreads())
    if how == "stream":
        stream = agent.stream(HI, thread(), stream_mode="messages")
        next(stream)
        stream.close()
    else:
        astream = agent.astream(HI, thread(), stream_mode="messages")
        await anext(astream)
        await astream.aclose()
    assert kinds(agent.get_state(thread()).values["messages"])[0] == "human"
    assert agent.invoke(HI, thread())["messages"][-1].text == "one two three"


def test_no_thread_is_left_behind():
    before = threading.active_count()
    for _ in range(5):
        stream = agent_of("ok").stream(HI)
        next(stream)
        stream.close()
    assert threading.active_count() <= before


def test_ctrl_c_does_not_wait_for_a_tool_that_hangs():
    release, ended, workers = threading.Event(), [], []
    reader = threading.get_ident()

    @tool
    def hang() -> str:
        """Hang."""
        workers.append(threading.current_thread())
        signal.pthread_kill(reader, signal.SIGINT)
        ended.append(release.wait(8))
        return "late"

    agent = agent_of(calls(call("hang")), "ok", tools=[hang], checkpointer=MemoryThreads())
    with pytest.raises(KeyboardInterrupt):
        list(agent.stream(HI, thread()))
    assert ended == []
    release.set()
    workers[0].join()
    messages = agent.invoke(HI, thread())["messages"]
    assert kinds(messages) == ["human", "ai", "tool", "human", "ai"]
    assert validate_messages(messages, "openai") == []


async def test_cancelling_the_reader_cancels_the_run():
    started = asyncio.Event()
    ended = []

    @tool
    async def hang() -> str:
        """Hang."""
        started.set()
        try:
            await asyncio.sleep(60)
        finally:
            ended.append(1)
        return "late"

    agent = agent_of(calls(call("hang")), "ok", tools=[hang], checkpointer=MemoryThreads())
    task = asyncio.create_task(taken(agent, HI, "astream"))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ended == [1]
    assert kinds(agent.get_state(thread()).values["messages"]) == ["human", "ai", "tool"]
