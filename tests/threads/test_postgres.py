"""What is special about a server: it may be restarted, and it keeps passwords."""

import subprocess
import sys
import threading
from contextlib import closing

import pytest

from dragoman.errors import StoreError
from dragoman.messages import HumanMessage
from dragoman.threads import PostgresThreads
from dragoman.threads.store import ANY


def test_a_restart_in_the_middle_loses_and_repeats_nothing(postgres, scale):
    store, each, errors = PostgresThreads(postgres.url), 25 * scale, []
    halfway = threading.Barrier(5)

    def write(writer):
        try:
            for number in range(each):
                if number == each // 2:
                    halfway.wait(60)
                store.thread("restart").append([HumanMessage(f"{writer}/{number}")])
        except Exception as error:
            errors.append(error)
            halfway.abort()

    writers = [threading.Thread(target=write, args=(n,)) for n in range(4)]
    for writer in writers:
        writer.start()
    halfway.wait(60)
    postgres.stop()
    postgres.start()
    for writer in writers:
        writer.join()
    assert errors == []
    texts = [m.content for m in store.thread("restart").load().messages]
    for n in range(4):
        assert [t for t in texts if t.startswith(f"{n}/")] == [f"{n}/{i}" for i in range(each)]
    assert len(texts) == 4 * each
    store.delete("restart")
    store.close()


def test_an_unreachable_server_is_an_error_without_the_password():
    store = PostgresThreads("postgresql://u:s3cret@127.0.0.1:9/db", retry_s=0)
    with pytest.raises(StoreError, match="cannot be used") as caught:
        store.thread("t").load()
    assert "s3cret" not in str(caught.value)


@pytest.mark.parametrize("expect", [None, ANY])
def test_two_appends_with_one_key_at_once_happen_once(postgres, monkeypatch, expect):
    with (
        closing(PostgresThreads(postgres.url)) as store,
        closing(PostgresThreads(postgres.url)) as other,
    ):
        thread, heads = store.thread("key at once"), []
        lock = store._log._lock

        def faster(*given):
            heads.append(other.thread(thread.id).append("x", key="run/1"))
            return lock(*given)

        monkeypatch.setattr(store._log, "_lock", faster)
        assert thread.append("x", expect, key="run/1") == heads[0]
        assert thread.load().messages == [HumanMessage("x")]
        store.delete(thread.id)


def test_what_is_no_url_is_refused():
    for wrong in (object(), None, b"postgresql://"):
        with pytest.raises(TypeError, match="takes a connection string"):
            PostgresThreads(wrong)


PROGRAM = """
import sys
from contextlib import closing
from tests.agents.support import call, calls, model
from dragoman.agents import Command, create_agent
from dragoman.agents.middleware import HumanInTheLoopMiddleware
from dragoman.threads import PostgresThreads

def risky(n: int) -> str:
    \"\"\"Do it.\"\"\"
    print("ran", n)
    return f"done {n}"

url, part = sys.argv[1:]
script = [calls(call("risky", n=3))] if part == "ask" else ["all done"]
with closing(PostgresThreads(url)) as store:
    agent = create_agent(
        model(*script), [risky], checkpointer=store,
        middleware=[HumanInTheLoopMiddleware({"risky": True})],
    )
    given = {"messages": [("user", "go")]} if part == "ask" else Command(
        resume={"decisions": [{"type": "approve"}]}
    )
    state = agent.invoke(given, {"configurable": {"thread_id": "approval"}})
print(len(state.get("__interrupt__", [])), state["messages"][-1].content)
"""


def test_an_agent_is_asked_in_one_process_and_goes_on_in_another(postgres):
    def said(part):
        command = [sys.executable, "-W", "error", "-c", PROGRAM, postgres.url, part]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert done.stderr == ""
        return done.stdout.splitlines()

    assert said("ask") == ["1 "]
    postgres.stop()
    postgres.start()
    assert said("go on") == ["ran 3", "0 all done"]
    with closing(PostgresThreads(postgres.url)) as store:
        kinds = [message.type for message in store.thread("approval").load().messages]
    assert kinds == ["human", "ai", "tool", "ai"]


@pytest.mark.parametrize("moment", ["entered", "left"])
def test_an_interrupt_leaves_no_transaction_open(postgres, monkeypatch, moment):
    import psycopg

    name = {"entered": "__enter__", "left": "__exit__"}[moment]
    real, interrupts = getattr(psycopg.Transaction, name), []

    def interrupted(self, *args):
        if not interrupts:
            if moment == "entered":
                real(self, *args)
            interrupts.append(moment)
            raise KeyboardInterrupt
        return real(self, *args)

    with closing(PostgresThreads(postgres.url)) as store:
        thread = store.thread(f"interrupted/{moment}")
        thread.append("first")
        monkeypatch.setattr(psycopg.Transaction, name, interrupted)
        with pytest.raises(KeyboardInterrupt):
            thread.append("second")
        with closing(PostgresThreads(postgres.url)) as other:  # no lock was left behind
            other.thread(thread.id).append("third")
        thread.append("fourth")
        store.close()
        assert [m.content for m in thread.load().messages] == ["first", "third", "fourth"]
        store.delete(thread.id)


def test_a_chain_that_does_not_lead_back_is_damage(postgres):
    with closing(PostgresThreads(postgres.url)) as store:
        thread = store.thread("damaged")
        first, head = thread.append("a"), thread.append("b")
        change = "UPDATE dragoman_entries SET parent = ? WHERE id = ?"
        store._log.transact(lambda execute: execute(change, (int(head), int(first))), write=True)
        for use in (thread.load, lambda: store.prune(thread.id, 1)):
            with pytest.raises(StoreError, match=r"thread 'damaged' .* is damaged"):
                use()
        assert store.delete(thread.id)
