"""What lasts: kills at every step, cancels, stores that fail, the size of what is written."""

import asyncio
import os
import random
import sqlite3
import subprocess
import sys
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Annotated, NotRequired

import pytest
from tests.agents.support import HI, add, call, calls, kinds, model, results, texts, thread

from dragoman.agents import AgentState, Command, create_agent
from dragoman.agents.middleware import AgentMiddleware, before_model
from dragoman.errors import EncodeError, StoreError
from dragoman.messages import AIMessage, ToolMessage
from dragoman.threads import MemoryThreads, SQLiteThreads, ThreadConflict
from dragoman.tools import InjectedToolCallId, ToolRuntime, tool
from dragoman.transcript import validate_messages

CHILD = Path(__file__).parent / "kill_child.py"

# Every point a run passes, with how often it does.
POINTS = [
    *(f"before_model/{n}" for n in range(1, 5)),
    *(f"model/{n}" for n in range(1, 5)),
    *(f"after_model/{n}" for n in range(1, 5)),
    *(f"in once/{n}" for n in range(1, 5)),
    *(f"in again/{n}" for n in range(1, 3)),
    "before_agent/1",
    "after_agent/1",
    *(f"append/{n}" for n in range(2, 29)),
    *(f"appended/{n}" for n in range(1, 29)),
]
# Ten in `make test`, of every kind.
CHOSEN = [
    "before_agent/1", "model/2", "after_model/1", "in once/1", "in once/4", "in again/1",
    "append/9", "appended/6", "appended/12", "after_agent/1",
]  # fmt: skip


def run_child(path: Path, *args: str) -> int:
    root = Path(__file__).parents[2]
    process = subprocess.run(
        [sys.executable, str(CHILD), str(path), *args],
        env={**os.environ, "PYTHONPATH": str(root)},
        capture_output=True,
        timeout=120,
    )
    if process.returncode not in (0, -9):
        raise AssertionError(process.stderr.decode())
    return process.returncode


def check_kill(point: str, path: Path) -> None:
    """Kill a run at a point, resume it, and check what holds after every kill."""
    assert run_child(path, point) == -9
    before = SQLiteThreads(path).thread("t").load()
    stored = {
        *(m.tool_call_id for m in before.messages if isinstance(m, ToolMessage)),
        *before.state["agent"]["results"],
    }
    ended_before = _lines(path, "end ")
    assert before.messages[0].text == "hi"
    if before.state["agent"]["node"] is not None:
        assert run_child(path, "none", "resume") == 0
    after = SQLiteThreads(path).thread("t").load().messages
    assert validate_messages(after, "openai") == []
    assert kinds(after) == [
        "human",
        "ai",
        "tool",
        "tool",
        "ai",
        "tool",
        "ai",
        "tool",
        "tool",
        "tool",
        "ai",
    ]
    assert after[-1].text == "finished"
    starts = Counter(_lines(path, "start "))
    named = {
        "a1": "once 1", "b1": "again 1", "a2": "once 2", "b3": "again 3", "a3": "once 3", "c3": "once 4",
    }  # fmt: skip
    for message in after:
        if not isinstance(message, ToolMessage):
            continue
        what = named[message.tool_call_id]
        if message.status == "error":
            # Only a call that was running and may not run again.
            assert what.startswith("once")
            assert message.tool_call_id not in stored
            assert "may or may not have taken effect" in message.text
            assert starts[what] <= 1
        else:
            assert message.text == what
        if message.tool_call_id in stored or what.startswith("once"):
            assert starts[what] <= 1 if what.startswith("once") else True
        if message.tool_call_id in stored:
            assert starts[what] == 1
    assert set(ended_before) <= set(_lines(path, "end "))
    errors = [m for m in after if isinstance(m, ToolMessage) and m.status == "error"]
    assert len(errors) <= 1


def _lines(path: Path, start: str) -> list[str]:
    file = Path(f"{path}.ran")
    lines = file.read_text().splitlines() if file.exists() else []
    return [line.removeprefix(start) for line in lines if line.startswith(start)]


def test_the_kill_matrix(tmp_path, scale):
    """SIGKILL between any two steps and inside tools, then resume: issue H, 3."""
    points = CHOSEN
    if scale > 1:
        points = [*POINTS, *random.Random(7).choices(POINTS, k=max(0, 10 * scale - len(POINTS)))]
    with ThreadPoolExecutor(2) as pool:
        jobs = [
            pool.submit(check_kill, point, tmp_path / f"{n}.db") for n, point in enumerate(points)
        ]
        for point, job in zip(points, jobs, strict=True):
            try:
                job.result()
            except AssertionError as error:
                error.add_note(f"killed at {point}")
                raise


def test_without_a_kill_the_same_history(tmp_path):
    path = tmp_path / "t.db"
    assert run_child(path, "none") == 0
    after = SQLiteThreads(path).thread("t").load()
    assert len(after.messages) == 11
    assert after.state["agent"]["node"] is None
    assert all(count == 1 for count in Counter(_lines(path, "start ")).values())


# ---------------------------------------------------------------- going on


class Crash(BaseException):
    """As good as a kill for this process: nothing is written after it."""


def crashing(agent_tools, reply, **options):
    """Run until a tool crashes, and return an agent of the same store to go on with."""
    store = MemoryThreads()
    middleware = options.pop("middleware", [])

    class Die(AgentMiddleware):
        def wrap_tool_call(self, request, handler):
            if request.tool_call["name"] == "die":
                raise Crash
            return handler(request)

    agent = create_agent(
        model(reply), agent_tools, checkpointer=store, middleware=[Die(), *middleware], **options
    )
    with pytest.raises(Crash):
        agent.invoke(HI, thread())
    return create_agent(
        model("ok"), agent_tools, checkpointer=store, middleware=middleware, **options
    )


@tool
def die() -> str:
    """Die."""
    return "alive"


def test_a_stored_result_is_kept_and_the_lost_call_is_answered():
    ran = []

    @tool
    def note(x: int) -> str:
        """Note."""
        ran.append(x)
        return f"note {x}"

    reply = calls(call("note", "a", x=1), call("die", "b"), call("note", "c", x=2))
    agent = crashing([note, die], reply, tool_concurrency=1)
    state = agent.invoke(None, thread())
    assert [(r[0], r[2]) for r in results(state)] == [
        ("a", "success"),
        ("b", "error"),
        ("c", "success"),
    ]
    assert ran == [1, 2]


def test_a_stored_command_is_kept():
    class Named(AgentState):
        user: NotRequired[str]

    ran = []

    @tool
    def rename(id_val: Annotated[str, InjectedToolCallId]) -> Command:
        """Rename."""
        ran.append(1)
        return Command(
            update={"user": "bob", "messages": [ToolMessage("done", tool_call_id=id_val)]}
        )

    reply = calls(call("rename", "a"), call("die", "b"))
    state = crashing([rename, die], reply, tool_concurrency=1, state_schema=Named).invoke(
        None, thread()
    )
    assert state["user"] == "bob"
    assert results(state)[0][:2] == ("a", "done")
    assert ran == [1]


@pytest.mark.parametrize(
    "mark", [{"metadata": {"idempotent": True}}, {"extras": {"idempotent": True}}]
)
def test_what_is_marked_idempotent_runs_again(mark):
    again = die.model_copy(update=mark)
    state = crashing([again], calls(call("die"))).invoke(None, thread())
    assert results(state) == [("1", "alive", "success")]


def test_a_new_message_after_a_crash_says_what_is_known_of_each_call():
    reply = calls(call("add", "a", a=1, b=1), call("die", "b"), call("add", "c", a=2, b=2))
    agent = crashing([add, die], reply, tool_concurrency=1)
    state = agent.invoke({"messages": [("user", "again")]}, thread())
    assert kinds(state["messages"]) == ["human", "ai", "tool", "tool", "tool", "human", "ai"]
    first, second, third = results(state)
    assert first == ("a", "2", "success")
    assert "may or may not have taken effect" in second[1]
    assert "not executed: a new message came first" in third[1]


def test_turns_of_a_thread_go_on():
    fake = model("one", "two")
    agent = create_agent(fake, checkpointer=MemoryThreads())
    agent.invoke(HI, thread())
    state = agent.invoke({"messages": [("user", "more")]}, thread())
    assert texts(state["messages"]) == ["hi", "one", "more", "two"]
    assert texts(fake.asked[1]) == ["hi", "one", "more"]
    assert len(agent.invoke(HI, thread("other"))["messages"]) == 2


def test_fields_of_the_state_last_and_answers_do_not():
    class Counted(AgentState):
        n: NotRequired[int]

    hook = before_model(lambda s, r: {"n": s.get("n", 0) + 1}, state_schema=Counted, name="h")
    agent = create_agent(model("ok"), middleware=[hook], checkpointer=MemoryThreads())
    assert [agent.invoke(HI, thread())["n"] for _ in range(3)] == [1, 2, 3]
    assert agent.get_state(thread()).values["n"] == 3


def test_the_state_after_each_run_is_what_the_store_gives():
    fake = model(calls(call("add", a=1, b=1)), "ok")
    agent = create_agent(fake, [add], checkpointer=MemoryThreads())
    assert agent.invoke(HI, thread())["messages"] == agent.get_state(thread()).values["messages"]


def test_max_steps_leaves_a_thread_that_goes_on():
    store = MemoryThreads()
    looping = create_agent(
        model(lambda m: calls(call("add", str(len(m)), a=1, b=1))),
        [add],
        checkpointer=store,
        max_steps=3,
    )
    with pytest.raises(RecursionError):
        looping.invoke(HI, thread())
    state = create_agent(model("ok"), [add], checkpointer=store).invoke(HI, thread())
    assert validate_messages(state["messages"]) == []
    assert state["messages"][-1].text == "ok"


# ---------------------------------------------------------------- cancelling


@pytest.mark.parametrize("n_done", [0, 1])
async def test_cancelling_answers_open_calls_and_goes_on_cancelling(n_done):  # B102
    started, stopped = asyncio.Event(), []

    @tool
    async def hang() -> str:
        """Hang."""
        started.set()
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            stopped.append(1)
            raise
        return "late"

    done = [call("add", f"d{n}", a=n, b=n) for n in range(n_done)]
    agent = create_agent(
        model(calls(*done, call("hang", "h")), "ok"), [hang, add], checkpointer=MemoryThreads()
    )
    task = asyncio.create_task(agent.ainvoke(HI, thread()))
    await started.wait()
    while n_done and not agent.get_state(thread()).values["messages"][1:]:
        await asyncio.sleep(0)
    journal = agent.checkpointer.thread("t")
    while len(journal.load().state["agent"]["results"]) < n_done:
        await asyncio.sleep(0.005)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert task.cancelled()
    assert stopped == [1]
    state = agent.get_state(thread())
    assert state.next == ()
    assert validate_messages(state.values["messages"], "openai") == []
    assert [r[2] for r in results(state.values)] == ["success"] * n_done + ["error"]
    assert (await agent.ainvoke(HI, thread()))["messages"][-1].text == "ok"


async def test_a_sync_tool_that_goes_on_in_its_thread_changes_nothing_afterwards():  # B102
    started, release, ended = threading.Event(), threading.Event(), threading.Event()

    @tool
    def slow() -> str:
        """Slow."""
        started.set()
        release.wait(20)
        ended.set()
        return "late"

    agent = create_agent(model(calls(call("slow")), "ok"), [slow], checkpointer=MemoryThreads())
    task = asyncio.create_task(agent.ainvoke(HI, thread()))
    await asyncio.to_thread(started.wait, 20)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    before = agent.checkpointer.thread("t").load()
    release.set()
    await asyncio.to_thread(ended.wait, 20)
    after = agent.checkpointer.thread("t").load()
    assert after.head == before.head
    assert kinds(after.messages) == ["human", "ai", "tool"]
    assert (await agent.ainvoke(HI, thread()))["messages"][-1].text == "ok"


async def test_cancelling_while_the_model_answers():
    started = asyncio.Event()

    class Hang(AgentMiddleware):
        async def awrap_model_call(self, request, handler):
            started.set()
            await asyncio.sleep(60)

    agent = create_agent(model("ok"), middleware=[Hang()], checkpointer=MemoryThreads())
    task = asyncio.create_task(agent.ainvoke(HI, thread()))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert kinds(agent.get_state(thread()).values["messages"]) == ["human"]
    assert agent.get_state(thread()).next == ()


async def test_cancelling_while_the_store_writes_loses_and_doubles_nothing():
    entered, release = threading.Event(), threading.Event()

    class Slow(MemoryThreads):
        def thread(self, thread_id, branch="main"):
            made = super().thread(thread_id, branch)
            append = made.append

            def slow(messages, *args, **kwargs):
                if any(m.type == "ai" for m in messages) and not entered.is_set():
                    entered.set()
                    release.wait(20)
                return append(messages, *args, **kwargs)

            made.append = slow  # pyright: ignore[reportAttributeAccessIssue]
            return made

    agent = create_agent(model(calls(call("add", a=1, b=1)), "ok"), [add], checkpointer=Slow())
    task = asyncio.create_task(agent.ainvoke(HI, thread()))
    await asyncio.to_thread(entered.wait, 20)
    task.cancel()
    threading.Timer(0.05, release.set).start()
    with pytest.raises(asyncio.CancelledError):
        await task
    messages = agent.checkpointer.thread("t").load().messages
    assert kinds(messages) == ["human", "ai", "tool"]
    assert messages[2].status == "error"


@pytest.mark.parametrize("n_calls", [1, 2])
def test_ctrl_c_in_a_sync_run_leaves_a_valid_thread(n_calls):  # B102
    @tool
    def interrupted(n: int) -> str:
        """Be interrupted."""
        if n == 0:
            raise KeyboardInterrupt
        return "x"

    reply = calls(*(call("interrupted", str(n), n=n) for n in range(n_calls)))
    agent = create_agent(model(reply, "ok"), [interrupted], checkpointer=MemoryThreads())
    with pytest.raises(KeyboardInterrupt):
        agent.invoke(HI, thread())
    messages = agent.get_state(thread()).values["messages"]
    assert validate_messages(messages, "openai") == []
    assert messages[2].status == "error"
    assert agent.invoke(HI, thread())["messages"][-1].text == "ok"


async def test_a_timeout_of_the_caller_is_a_cancel():
    @tool
    async def hang() -> str:
        """Hang."""
        await asyncio.sleep(60)
        return "late"

    agent = create_agent(model(calls(call("hang")), "ok"), [hang], checkpointer=MemoryThreads())
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.1):
            await agent.ainvoke(HI, thread())
    assert kinds(agent.get_state(thread()).values["messages"]) == ["human", "ai", "tool"]


# ---------------------------------------------------------------- stores that fail


class Failing(MemoryThreads):
    def __init__(self, at: int, error: Exception) -> None:
        super().__init__()
        self.n_left, self.error = at, error

    def thread(self, thread_id, branch="main"):
        made = super().thread(thread_id, branch)
        append = made.append

        def counted(*args, **kwargs):
            self.n_left -= 1
            if self.n_left == 0:
                raise self.error
            return append(*args, **kwargs)

        made.append = counted  # pyright: ignore[reportAttributeAccessIssue]
        return made


@pytest.mark.parametrize("at", range(1, 7))
@pytest.mark.parametrize(
    "error", [OSError("disk full"), sqlite3.OperationalError("x"), StoreError("x")]
)
@pytest.mark.parametrize("how", ["invoke", "ainvoke"])
async def test_a_store_that_fails_is_a_typed_error_and_nothing_is_lost_in_silence(at, error, how):
    ran = []

    @tool
    def note() -> str:
        """Note."""
        ran.append(1)
        return "noted"

    store = Failing(at, error)
    # Six appends: begin, reply, calls begin, one result, all results, the last reply.
    fake = model(lambda messages: "ok" if messages[-1].type == "tool" else calls(call("note")))
    agent = create_agent(fake, [note], checkpointer=store)
    with pytest.raises(StoreError) as caught:
        _ = agent.invoke(HI, thread()) if how == "invoke" else await agent.ainvoke(HI, thread())
    assert caught.value is error or caught.value.__cause__ is error
    state = agent.invoke(None if at > 1 else HI, thread())
    assert state["messages"][-1].text == "ok"
    assert validate_messages(state["messages"], "openai") == []
    assert len(ran) == 1


def test_a_state_that_json_cannot_hold_is_named():
    class Odd(AgentState):
        thing: NotRequired[object]

    hook = before_model(lambda s, r: {"thing": object()}, state_schema=Odd, name="h")
    agent = create_agent(model("ok"), middleware=[hook], checkpointer=MemoryThreads())
    with pytest.raises(EncodeError, match="thing"):
        agent.invoke(HI, thread())


def test_two_runs_on_one_thread_do_not_mix():
    store = MemoryThreads()

    @tool
    def meddle() -> str:
        """Meddle."""
        store.thread("t").append([("user", "from elsewhere")])
        return "x"

    agent = create_agent(model(calls(call("meddle")), "ok"), [meddle], checkpointer=store)
    with pytest.raises(ThreadConflict):
        agent.invoke(HI, thread())
    assert kinds(store.thread("t").load().messages) == ["human", "ai", "human"]


@pytest.mark.parametrize("damage", ["garbage", "newer"])
def test_a_database_that_cannot_be_read_is_refused_untouched(damage, tmp_path):
    path = tmp_path / "t.db"
    if damage == "garbage":
        path.write_bytes(b"this is no database" * 100)
    else:
        with sqlite3.connect(path) as connection:
            connection.execute("CREATE TABLE dragoman_schema (version INTEGER NOT NULL)")
            connection.execute("INSERT INTO dragoman_schema VALUES (999)")
        connection.close()
    before = path.read_bytes()
    fake = model("never")
    with pytest.raises(StoreError):
        create_agent(fake, checkpointer=SQLiteThreads(path)).invoke(HI, thread())
    assert fake.asked == []
    assert path.read_bytes() == before


# ---------------------------------------------------------------- size


def test_n_turns_write_o_of_n_bytes(tmp_path, scale):  # B94
    def size(n_turns: int) -> int:
        path = tmp_path / f"{n_turns}.db"
        agent = create_agent(
            model(lambda m: AIMessage("x" * 200)), checkpointer=SQLiteThreads(path)
        )
        for _ in range(n_turns):
            agent.invoke(HI, thread())
        agent.checkpointer.close()
        with sqlite3.connect(path) as connection:
            found = connection.execute(
                "SELECT sum(length(messages) + length(state)) FROM dragoman_entries"
            ).fetchone()[0]
        connection.close()
        return found

    few, many = 10 * scale, 40 * scale
    assert size(many) < 4.4 * size(few)


def test_a_tool_sees_the_thread_s_id():
    seen = []

    @tool
    def look(runtime: ToolRuntime) -> str:
        """Look."""
        seen.append(runtime.config["configurable"]["thread_id"])
        return "x"

    agent = create_agent(model(calls(call("look")), "ok"), [look], checkpointer=MemoryThreads())
    agent.invoke(HI, thread("a/'%_\x00"))
    assert seen == ["a/'%_\x00"]
