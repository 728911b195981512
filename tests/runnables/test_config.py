"""The config of a call."""

import asyncio
import contextvars
import threading
import uuid
from concurrent.futures import ThreadPoolExecutor

import pytest

from dragoman.agents import create_agent
from dragoman.callbacks import BaseCallbackHandler, CallbackManager
from dragoman.language_models import FakeListChatModel
from dragoman.output_parsers import StrOutputParser
from dragoman.prompts import ChatPromptTemplate
from dragoman.runnables import RunnableLambda, ensure_config, get_config_list, patch_config
from dragoman.runnables.config import (
    ContextThreadPoolExecutor,
    get_callback_manager_for_config,
    get_executor_for_config,
    merge_configs,
    resolve_config,
    run_in_executor,
    set_config_context,
    var_child_runnable_config,
)
from dragoman.threads import MemoryThreads
from dragoman.tools import tool

EMPTY = {"tags": [], "metadata": {}, "callbacks": None, "recursion_limit": 25, "configurable": {}}


def test_a_full_config_has_defaults():
    assert ensure_config() == EMPTY
    assert ensure_config({"tags": None}) == EMPTY


def test_unknown_keys_are_configurable_and_two_are_shown_as_metadata():
    given = {"foo": 1, "configurable": {"model": "m", "checkpoint_ns": "n", "thread_id": "t"}}
    full = ensure_config(given)

    assert full["configurable"] == {"model": "m", "checkpoint_ns": "n", "thread_id": "t", "foo": 1}
    assert full["metadata"] == {"model": "m", "checkpoint_ns": "n"}
    assert ensure_config({"model": "m", "metadata": {"model": "own"}})["metadata"] == {
        "model": "own"
    }
    assert "foo" not in given["configurable"]


def test_a_full_config_shares_nothing_with_what_was_given():
    given = {"tags": ["a"], "metadata": {"m": 1}, "configurable": {"c": 1}}
    full = ensure_config(given)
    full["tags"].append("b")
    full["metadata"]["n"] = 1
    full["configurable"]["d"] = 1

    assert given == {"tags": ["a"], "metadata": {"m": 1}, "configurable": {"c": 1}}


def test_a_surrounding_config_holds_where_nothing_is_said():
    surrounding = {"tags": ["outer"], "metadata": {"q": 1}, "recursion_limit": 7}
    with set_config_context(surrounding) as context:
        full = context.run(ensure_config, {"tags": ["inner"]})
        assert (full["tags"], full["metadata"], full["recursion_limit"]) == (["inner"], {"q": 1}, 7)
        assert context.run(resolve_config, None) is surrounding
        assert context.run(resolve_config, {"tags": ["inner"]})["recursion_limit"] == 7
    assert var_child_runnable_config.get() is None
    assert resolve_config(None) is None


def test_merging():
    merged = merge_configs(
        {"tags": ["b", "a"], "metadata": {"a": 1}, "foo": 2, "recursion_limit": 10},
        {"tags": ["a", "c"], "metadata": {"b": 1}, "run_name": "x", "recursion_limit": 25},
        None,
        {"max_concurrency": None},
    )
    assert merged == {
        "tags": ["a", "b", "c"],
        "metadata": {"a": 1, "b": 1},
        "configurable": {"foo": 2},
        "run_name": "x",
        "recursion_limit": 10,
    }


def test_merging_callbacks_keeps_everybody():
    one, two = BaseCallbackHandler(), BaseCallbackHandler()
    manager = CallbackManager([two], [two])
    cases = [
        ([one], [two]),
        ([one], manager),
        (manager, [one]),
        (manager, CallbackManager([one], [one])),
    ]
    for ours, theirs in cases:
        merged = merge_configs({"callbacks": ours}, {"callbacks": theirs})["callbacks"]
        handlers = merged if isinstance(merged, list) else merged.handlers
        assert {id(handler) for handler in handlers} == {id(one), id(two)}
    assert merge_configs({"callbacks": [one]}, {"callbacks": None})["callbacks"] == [one]
    assert manager.handlers == [two]


def test_patching_with_callbacks_begins_a_new_run():
    config = {"run_name": "a", "run_id": uuid.uuid4(), "configurable": {"x": 1}}

    patched = patch_config(config, callbacks=CallbackManager([]), configurable={"y": 2})
    assert "run_name" not in patched
    assert "run_id" not in patched
    assert patched["configurable"] == {"x": 1, "y": 2}
    assert patch_config(None, run_name="n", recursion_limit=3, max_concurrency=2) == {
        **EMPTY,
        "run_name": "n",
        "recursion_limit": 3,
        "max_concurrency": 2,
    }


def test_one_config_for_all_or_one_for_each():
    assert [c["tags"] for c in get_config_list({"tags": ["a"]}, 2)] == [["a"], ["a"]]
    assert [c["tags"] for c in get_config_list([{"tags": ["a"]}, {}], 2)] == [["a"], []]
    with pytest.raises(ValueError, match="but got 1 configs for 2 inputs"):
        get_config_list([{}], 2)
    with pytest.raises(ValueError, match="length must be >= 0, but got -1"):
        get_config_list(None, -1)


def test_a_run_id_is_that_of_the_first_only():
    run_id = uuid.uuid4()
    with pytest.warns(RuntimeWarning, match="only for the first element"):
        first, second = get_config_list({"run_id": run_id}, 2)
    assert first["run_id"] == run_id
    assert "run_id" not in second


async def test_work_in_a_thread_sees_context_variables():
    variable = contextvars.ContextVar("variable", default="none")
    variable.set("here")

    def work(x, *, y):
        return variable.get(), x, y, threading.current_thread() is threading.main_thread()

    assert await run_in_executor(None, work, 1, y=2) == ("here", 1, 2, False)
    with ThreadPoolExecutor() as pool:
        assert await run_in_executor(pool, work, 1, y=2) == ("here", 1, 2, False)
    with get_executor_for_config({"max_concurrency": 1}) as pool:
        assert pool.submit(work, 1, y=2).result() == ("here", 1, 2, False)
        assert list(pool.map(lambda x: (variable.get(), x), [1, 2])) == [("here", 1), ("here", 2)]
    assert issubclass(ContextThreadPoolExecutor, ThreadPoolExecutor)


async def test_a_stop_iteration_of_a_thread_becomes_a_runtime_error():
    def stop():
        raise StopIteration

    with pytest.raises(RuntimeError):
        await run_in_executor(None, stop)
    with pytest.raises(RuntimeError):
        await RunnableLambda(lambda x: stop()).ainvoke(1)


def test_the_manager_of_a_config_holds_what_it_says():
    handler = BaseCallbackHandler()
    manager = get_callback_manager_for_config(
        {"callbacks": [handler], "tags": ["t"], "metadata": {"m": 1}}
    )
    assert manager.handlers == [handler]
    assert (manager.tags, manager.inheritable_metadata) == (["t"], {"m": 1})


async def test_concurrent_calls_do_not_see_each_others_config():
    async def show(x, config):
        await asyncio.sleep(0)
        return (await RunnableLambda(lambda y, config: config["tags"]).ainvoke(x)), config["tags"]

    step = RunnableLambda(show)
    outputs = await asyncio.gather(*(step.ainvoke(n, {"tags": [str(n)]}) for n in range(20)))
    assert outputs == [([str(n)], [str(n)]) for n in range(20)]


async def test_functions_are_given_what_they_ask_for():
    from dragoman.callbacks import CallbackManagerForChainRun
    from dragoman.runnables.config import (
        acall_func_with_variable_args,
        call_func_with_variable_args,
        get_async_callback_manager_for_config,
    )

    manager = CallbackManagerForChainRun.get_noop_manager()

    def all_of_it(x, config, run_manager):
        return x, config["tags"], run_manager is manager

    async def only_config(x, config):
        return x, config["tags"]

    config = ensure_config({"tags": ["t"]})
    assert call_func_with_variable_args(all_of_it, 1, config, manager) == (1, ["t"], True)
    assert call_func_with_variable_args(lambda x, n: x + n, 1, config, n=2) == 3
    assert await acall_func_with_variable_args(only_config, 1, config) == (1, ["t"])
    assert get_async_callback_manager_for_config(config).is_async


@pytest.mark.parametrize(
    ("config", "said"),
    [
        (5, "a config has to be a dict, such as .*, not int"),
        ("tags", "not str"),
        ([{"tags": []}], "not list"),
        ({"tags": "a"}, "'tags' of a config has to be a list, not str"),
        ({"metadata": 5}, "'metadata' of a config has to be a dict, not int"),
        ({"configurable": []}, "'configurable' of a config has to be a dict, not list"),
        ({"callbacks": 5}, "'callbacks' of a config has to be a list, not int"),
        ({"callbacks": [5]}, "the item at 0 is no handler, but int"),
    ],
)
@pytest.mark.parametrize(
    "call",
    [
        lambda config: RunnableLambda(str).invoke(1, config),
        lambda config: (RunnableLambda(str) | str).invoke(1, config),
        lambda config: list((RunnableLambda(str) | str).stream(1, config)),
        lambda config: RunnableLambda(str).batch([1], config if type(config) is dict else [config]),
        lambda config: asyncio.run(RunnableLambda(str).ainvoke(1, config)),
        lambda config: RunnableLambda(str).with_config(config),
        lambda config: FakeListChatModel(responses=["a"]).invoke("q", config),
        lambda config: list(FakeListChatModel(responses=["a"]).stream("q", config)),
        lambda config: StrOutputParser().invoke("a", config),
        lambda config: ChatPromptTemplate.from_messages(["a"]).invoke({}, config),
        lambda config: tool(abs_of).invoke({"x": 1}, config),
        lambda config: create_agent(FakeListChatModel(responses=["a"])).invoke(HI, config),
        lambda config: create_agent(
            FakeListChatModel(responses=["a"]), checkpointer=MemoryThreads()
        ).get_state(config),
    ],
)
def test_what_is_no_config_is_told_wherever_it_is_given(call, config, said):
    with pytest.raises(TypeError, match=said):
        call(config)


HI = {"messages": [("user", "hi")]}


def abs_of(x: int) -> int:
    """Return the amount of x."""
    return abs(x)
