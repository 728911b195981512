"""Managers tell handlers of runs, on both doors."""

import asyncio
import logging
import threading
from uuid import uuid4

import pytest

from dragoman.callbacks import (
    AsyncCallbackHandler,
    AsyncCallbackManager,
    BaseCallbackHandler,
    CallbackManager,
    CallbackManagerForLLMRun,
)
from dragoman.callbacks.manager import (
    ahandle_event,
    atrace_as_chain_group,
    handle_event,
    trace_as_chain_group,
)
from dragoman.messages import HumanMessage


class Log(BaseCallbackHandler):
    def __init__(self):
        self.told = []

    def on_chain_start(self, serialized, inputs, **kwargs):
        self.told.append(("chain_start", inputs, kwargs))

    def on_chain_end(self, outputs, **kwargs):
        self.told.append(("chain_end", outputs, kwargs))

    def on_llm_start(self, serialized, prompts, **kwargs):
        self.told.append(("llm_start", prompts, kwargs))

    def on_llm_new_token(self, token, **kwargs):
        self.told.append(("token", token, kwargs))

    def on_tool_start(self, serialized, input_str, **kwargs):
        self.told.append(("tool_start", input_str, kwargs))

    def on_retriever_start(self, serialized, query, **kwargs):
        self.told.append(("retriever_start", query, kwargs))

    def on_custom_event(self, name, data, **kwargs):
        self.told.append(("custom", name, data))


class AsyncLog(AsyncCallbackHandler):
    def __init__(self):
        self.told = []

    async def on_chain_start(self, serialized, inputs, **kwargs):
        await asyncio.sleep(0)
        self.told.append(("chain_start", inputs, kwargs))

    async def on_chain_end(self, outputs, **kwargs):
        self.told.append(("chain_end", outputs, kwargs))


def words(log):
    return [(what, value) for what, value, *_ in log.told]


def test_a_run_is_told_from_start_to_end():
    log = Log()
    run_id = uuid4()
    manager = CallbackManager([log], [log], tags=["t"], metadata={"m": 1})
    run = manager.on_chain_start(None, {"a": 1}, run_id=run_id, name="n")
    run.on_chain_end({"b": 2})

    (_, _, started), (_, _, ended) = log.told
    assert started == {
        "run_id": run_id,
        "parent_run_id": None,
        "tags": ["t"],
        "metadata": {"m": 1},
        "name": "n",
    }
    assert ended == {"run_id": run_id, "parent_run_id": None, "tags": ["t"]}


def test_children_inherit_what_is_inheritable():
    mine, inherited = Log(), Log()
    manager = CallbackManager(
        [mine, inherited],
        [inherited],
        tags=["own"],
        inheritable_tags=["all"],
        inheritable_metadata={"m": 1},
    )
    child = manager.on_chain_start(None, 1).get_child("label")

    assert child.handlers == [inherited]
    assert child.tags == ["all", "label"]
    assert child.inheritable_tags == ["all"]
    assert child.metadata == {"m": 1}
    assert child.on_chain_start(None, 2).parent_run_id == child.parent_run_id


def test_each_prompt_is_a_run_and_the_given_id_is_the_firsts():
    log = Log()
    run_id = uuid4()
    first, second = CallbackManager([log]).on_llm_start({}, ["a", "b"], run_id=run_id)

    assert isinstance(first, CallbackManagerForLLMRun)
    assert first.run_id == run_id != second.run_id
    assert words(log) == [("llm_start", ["a"]), ("llm_start", ["b"])]
    second.on_llm_new_token("x", chunk=None)
    assert log.told[-1][2]["run_id"] == second.run_id


def test_a_handler_without_chat_starts_is_told_of_the_text():
    log = Log()
    CallbackManager([log]).on_chat_model_start({}, [[HumanMessage("hi")]])
    assert words(log) == [("llm_start", ["Human: hi"])]


def test_tools_and_retrievers():
    log = Log()
    manager = CallbackManager([log])
    manager.on_tool_start({}, "text", inputs={"a": 1}).on_tool_end("out")
    manager.on_retriever_start({}, "query").on_retriever_end([])

    assert words(log) == [("tool_start", "text"), ("retriever_start", "query")]
    assert log.told[0][2]["inputs"] == {"a": 1}


async def test_async_managers_tell_handlers_of_both_colours():
    log, alog, threads = Log(), AsyncLog(), []

    class Where(BaseCallbackHandler):
        def on_chain_start(self, serialized, inputs, **kwargs):
            threads.append(threading.current_thread() is threading.main_thread())

    class Inline(Where):
        run_inline = True

    manager = AsyncCallbackManager([log, alog, Where(), Inline()])
    run = await manager.on_chain_start(None, 1)
    await run.on_chain_end(2)

    assert words(log) == words(alog) == [("chain_start", 1), ("chain_end", 2)]
    assert threads == [False, True]
    assert run.get_sync().run_id == run.run_id


@pytest.mark.parametrize("inside_a_loop", [False, True])
def test_sync_managers_run_async_handlers_to_their_end(inside_a_loop):
    log = AsyncLog()

    def tell():
        CallbackManager([log]).on_chain_start(None, 1).on_chain_end(2)

    async def inside():
        tell()

    if inside_a_loop:
        asyncio.run(inside())
    else:
        tell()
    assert words(log) == [("chain_start", 1), ("chain_end", 2)]


class Broken(BaseCallbackHandler):
    def on_chain_start(self, serialized, inputs, **kwargs):
        raise ValueError("broken")


class Loud(Broken):
    raise_error = True


async def test_a_broken_handler_is_logged_and_skipped(caplog):
    log = Log()
    with caplog.at_level(logging.WARNING):
        CallbackManager([Broken(), log]).on_chain_start(None, 1)
        await AsyncCallbackManager([Broken(), log]).on_chain_start(None, 2)

    assert words(log) == [("chain_start", 1), ("chain_start", 2)]
    assert [record.getMessage() for record in caplog.records] == [
        "Error in Broken.on_chain_start callback: ValueError('broken')"
    ] * 2


async def test_a_handler_may_insist_on_its_error():
    with pytest.raises(ValueError, match="broken"):
        CallbackManager([Loud()]).on_chain_start(None, 1)
    with pytest.raises(ValueError, match="broken"):
        await AsyncCallbackManager([Loud()]).on_chain_start(None, 1)


async def test_a_handler_may_ignore_kinds_of_events():
    class Deaf(Log):
        @property
        def ignore_chain(self):
            return True

    log = Deaf()
    manager = CallbackManager([log])
    manager.on_chain_start(None, 1)
    manager.on_llm_start({}, ["p"])
    assert words(log) == [("llm_start", ["p"])]
    handle_event([log], "on_chain_end", "ignore_chain", 1)
    await ahandle_event([log], "on_chain_end", "ignore_chain", 1)
    assert len(log.told) == 1


def test_configuring_joins_what_is_inherited_and_what_is_local():
    inherited, local = Log(), Log()
    manager = CallbackManager.configure(
        [inherited],
        [local],
        inheritable_tags=["i"],
        local_tags=["l"],
        inheritable_metadata={"i": 1},
        local_metadata={"l": 1},
    )
    assert manager.handlers == [inherited, local]
    assert manager.inheritable_handlers == [inherited]
    assert (manager.tags, manager.inheritable_tags) == (["i", "l"], ["i"])
    assert (manager.metadata, manager.inheritable_metadata) == ({"i": 1, "l": 1}, {"i": 1})
    again = CallbackManager.configure(manager, manager)
    assert again.handlers == [inherited, local]
    again.add_handler(Log())
    assert len(manager.handlers) == 2


def test_handlers_tags_and_metadata_can_be_changed():
    one, two = Log(), Log()
    manager = CallbackManager([one], [one])
    manager.add_handler(two, inherit=False)
    manager.add_handler(two, inherit=False)
    assert (manager.handlers, manager.inheritable_handlers) == ([one, two], [one])
    manager.remove_handler(one)
    assert (manager.handlers, manager.inheritable_handlers) == ([two], [])
    manager.set_handler(one)
    assert manager.inheritable_handlers == [one]
    manager.add_tags(["a", "b"])
    manager.add_tags(["a"], inherit=False)
    manager.remove_tags(["b"])
    assert (manager.tags, manager.inheritable_tags) == (["a"], ["a"])
    manager.add_metadata({"a": 1, "b": 2})
    manager.remove_metadata(["b", "z"])
    assert manager.metadata == manager.inheritable_metadata == {"a": 1}


def test_merging_and_copying():
    one, two = Log(), Log()
    left, right = CallbackManager([one], tags=["l"]), CallbackManager([two], [two], tags=["r"])
    merged = left.merge(right)

    assert merged.handlers == [one, two]
    assert merged.inheritable_handlers == [two]
    assert merged.tags == ["l", "r"]
    assert left.handlers == [one]
    copy = left.copy()
    copy.add_handler(two)
    assert left.handlers == [one]


async def test_a_group_is_one_run_around_its_calls():
    log = Log()
    with trace_as_chain_group(
        "group", CallbackManager([log], [log]), inputs={"i": 1}, tags=["t"]
    ) as group:
        group.on_chain_start(None, "inner")
        group.on_chain_end({"o": 1})
    assert [what for what, *_ in log.told] == ["chain_start", "chain_start", "chain_end"]
    assert log.told[1][2]["parent_run_id"] == log.told[0][2]["run_id"]
    assert log.told[0][2]["name"] == "group"

    async with atrace_as_chain_group("again", AsyncCallbackManager([log], [log])) as agroup:
        assert agroup.copy().parent_run_manager is agroup.parent_run_manager
    assert words(log)[-1] == ("chain_end", {})

    with pytest.raises(ZeroDivisionError), trace_as_chain_group("g", CallbackManager([Log()])):
        _ = 1 / 0


def test_a_manager_without_handlers_tells_nobody():
    run = CallbackManagerForLLMRun.get_noop_manager()
    run.on_llm_new_token("x")
    run.on_text("y")
    assert run.handlers == []


async def test_a_group_may_be_ended_by_its_user_with_an_error():
    class Ends(Log):
        def on_chain_error(self, error, **kwargs):
            self.told.append(("error", str(error)))

    log = Ends()
    manager, amanager = CallbackManager([log], [log]), AsyncCallbackManager([log], [log])
    with trace_as_chain_group("g", manager) as group:
        group.on_chain_error(ValueError("mine"))
    async with atrace_as_chain_group("g", amanager) as agroup:
        await agroup.on_chain_error(ValueError("yours"))
    async with atrace_as_chain_group("g", amanager) as agroup:
        await agroup.on_chain_end({"o": 1})
    with pytest.raises(ZeroDivisionError):
        async with atrace_as_chain_group("g", amanager):
            _ = 1 / 0

    assert [told[:2] for told in log.told if told[0] != "chain_start"] == [
        ("error", "mine"),
        ("error", "yours"),
        ("chain_end", {"o": 1}),
        ("error", "division by zero"),
    ]


async def test_async_starts_of_every_kind():
    log = Log()
    manager = AsyncCallbackManager([log])
    (first, second) = await manager.on_llm_start({}, ["a", "b"])
    (chat,) = await manager.on_chat_model_start({}, [[HumanMessage("hi")]])
    await (await manager.on_tool_start({}, "t")).on_tool_end(1)
    await (await manager.on_retriever_start({}, "r")).on_retriever_end([])
    await manager.on_custom_event("name", {"d": 1})
    CallbackManager([log]).on_custom_event("name", {"d": 2})

    assert len({first.run_id, second.run_id, chat.run_id}) == 3
    assert words(log) == [
        ("llm_start", ["a"]),
        ("llm_start", ["b"]),
        ("llm_start", ["Human: hi"]),
        ("tool_start", "t"),
        ("retriever_start", "r"),
        ("custom", "name"),
        ("custom", "name"),
    ]


def test_verbose_prints_once(capsys):
    from dragoman.callbacks import StdOutCallbackHandler

    manager = CallbackManager.configure(None, None, True)
    assert [type(handler) for handler in manager.handlers] == [StdOutCallbackHandler]
    assert len(CallbackManager.configure(manager, None, True).handlers) == 1
