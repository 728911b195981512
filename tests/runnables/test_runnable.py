"""The interface, as a subclass of a user's gets it."""

import asyncio
import threading
import time

import pytest

import dragoman.runnables
from dragoman.callbacks.ambient import var_child_runnable_config
from dragoman.runnables import (
    Runnable,
    RunnableLambda,
    RunnablePassthrough,
    RunnableSerializable,
)


class Double(Runnable[str, str]):
    """Writes `invoke` only."""

    def invoke(self, input, config=None, **kwargs):
        return input * 2


class Length(RunnableSerializable[str, int]):
    """Is a pydantic model and uses the frames."""

    extra: int = 0

    def invoke(self, input, config=None, **kwargs):
        return self._call_with_config(self._length, input, config, run_type="tool", **kwargs)

    async def ainvoke(self, input, config=None, **kwargs):
        async def length(text, config):
            return self._length(text)

        return await self._acall_with_config(length, input, config, **kwargs)

    def transform(self, input, config=None, **kwargs):
        def each(pieces, run_manager):
            for piece in pieces:
                yield self._length(piece)

        yield from self._transform_stream_with_config(input, each, config)

    async def atransform(self, input, config=None, **kwargs):
        async def each(pieces, config):
            async for piece in pieces:
                yield self._length(piece)

        async for piece in self._atransform_stream_with_config(input, each, config):
            yield piece

    def _length(self, text):
        return len(text) + self.extra


async def test_everything_follows_from_invoke(colour):
    step = Double()

    assert await colour.invoke(step, "a") == "aa"
    assert await colour.batch(step, ["a", "b"]) == ["aa", "bb"]
    assert await colour.stream(step, "a") == ["aa"]
    assert await colour.transform(step, ["a", "b"]) == ["abab"]
    assert await colour.transform(step, []) == []
    assert sorted(await colour.as_completed(step, ["a", "b"])) == [(0, "aa"), (1, "bb")]


async def test_the_frames_of_a_subclass(colour, log):
    step = Length(extra=1)

    assert await colour.invoke(step, "abc") == 4
    assert await colour.transform(step, ["abc", ""]) == [4, 1]
    await colour.invoke(step, "abc", {"callbacks": [log]})
    await colour.transform(step, ["abc", ""], {"callbacks": [log]})
    assert log.told == [
        ("start", "Length", "abc", []),
        ("end", "Length", 4, []),
        ("start", "Length", {"input": ""}, []),
        ("end", "Length", 5, []),
    ]


async def test_a_batch_keeps_order_and_limits_what_runs(colour):
    running, most, lock = 0, 0, threading.Lock()

    def work(x):
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        time.sleep(0.005 * (3 - x % 3))
        with lock:
            running -= 1
        return x

    step = RunnableLambda(work)
    assert await colour.batch(step, list(range(9)), {"max_concurrency": 3}) == list(range(9))
    assert most == 3
    most = 0
    pairs = await colour.as_completed(step, list(range(9)), {"max_concurrency": 2})
    assert sorted(pairs) == [(n, n) for n in range(9)]
    assert most == 2


async def test_a_failure_in_a_batch_is_raised_or_stands_in_its_place(colour):
    step = RunnableLambda(lambda x: 1 / x)

    with pytest.raises(ZeroDivisionError):
        await colour.batch(step, [1, 0])
    one, error = await colour.batch(step, [1, 0], return_exceptions=True)
    assert (one, type(error)) == (1, ZeroDivisionError)
    with pytest.raises(ZeroDivisionError):
        await colour.as_completed(step, [1, 0])
    pairs = dict(await colour.as_completed(step, [1, 0], return_exceptions=True))
    assert (pairs[0], type(pairs[1])) == (1, ZeroDivisionError)


async def test_what_is_done_first_comes_first():
    gates = [threading.Event(), threading.Event()]

    def wait(n):
        assert gates[n].wait(5)
        return n

    gates[1].set()
    pairs = RunnableLambda(wait).batch_as_completed([0, 1])
    assert next(pairs) == (1, 1)
    gates[0].set()
    assert next(pairs) == (0, 0)

    gates[0].clear()
    apairs = RunnableLambda(wait).abatch_as_completed([0, 1])
    assert await anext(apairs) == (1, 1)
    gates[0].set()
    assert await anext(apairs) == (0, 0)


async def test_leaving_a_batch_as_completed_cancels_the_rest():
    cancelled = []

    async def work(n):
        if n == 0:
            return n
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            cancelled.append(n)
            raise

    stream = RunnableLambda(work).abatch_as_completed([0, 1, 2])
    assert await anext(stream) == (0, 0)
    await stream.aclose()
    assert sorted(cancelled) == [1, 2]


async def test_arguments_reach_every_item(colour):
    step = RunnableLambda(lambda x, n: x + n)
    assert await colour.batch(step, [1, 2], n=1) == [2, 3]


def test_names():
    assert Double().get_name() == "Double"
    assert Double().get_name("Input") == "DoubleInput"
    assert Length(name="mine").get_name() == "mine"
    assert Length(name="mine").get_name("Output") == "mine_output"
    assert Double().get_name(name="other") == "other"


def test_types_are_told_by_the_generic_arguments():
    assert (Double().InputType, Double().OutputType) == (str, str)
    assert (Length().InputType, Length().OutputType) == (str, int)
    assert Length().input_schema.model_json_schema() == {"title": "LengthInput", "type": "string"}
    assert Length().get_output_jsonschema() == {"title": "LengthOutput", "type": "integer"}

    class Untyped(Runnable):
        def invoke(self, input, config=None, **kwargs):
            return input

    with pytest.raises(TypeError, match="doesn't have an inferable InputType"):
        _ = Untyped().InputType


def test_the_schema_of_the_config():
    assert Double().config_schema().model_json_schema()["properties"] == {}
    schema = Double().get_config_jsonschema(include=["tags", "max_concurrency"])
    assert list(schema["properties"]) == ["tags", "max_concurrency"]


async def test_nothing_is_left_behind_in_the_context(colour, log):
    for config in (None, {"tags": ["t"]}, {"callbacks": [log]}):
        await colour.invoke(RunnableLambda(lambda x: x), 1, config)
        await colour.stream(RunnableLambda(lambda x: x) | (lambda x: x), 1, config)
        with pytest.raises(ZeroDivisionError):
            await colour.invoke(RunnableLambda(lambda x: 1 / 0), 1, config)
        assert var_child_runnable_config.get() is None


def test_nothing_is_built_when_nobody_listens(monkeypatch):
    """PERF W13: no manager, no full config, no signature per call."""
    import inspect

    from dragoman.runnables import _scope, config

    chain = RunnableLambda(lambda x: x + 1) | RunnablePassthrough() | RunnableLambda(str)
    assert chain.invoke(1) == "2"

    def forbidden(*args, **kwargs):
        raise AssertionError("built although nobody listens")

    monkeypatch.setattr(inspect, "signature", forbidden)
    monkeypatch.setattr(config, "ensure_config", forbidden)
    monkeypatch.setattr(_scope, "ensure_config", forbidden)
    monkeypatch.setattr(_scope, "get_callback_manager_for_config", forbidden)
    assert chain.invoke(1) == "2"
    assert chain.batch([1, 2]) == ["2", "3"]
    assert list(chain.stream(1)) == ["2"]


def test_the_public_names_are_langchains():
    import langchain_core.runnables as theirs

    assert set(theirs.__all__) <= set(dragoman.runnables.__all__)


@pytest.mark.parametrize(
    "module",
    ["base", "branch", "config", "configurable", "fallbacks", "graph", "graph_ascii", "graph_mermaid",
     "history", "passthrough", "retry", "router", "schema", "utils"],
)  # fmt: skip
def test_the_modules_are_langchains(module):
    import importlib

    theirs = importlib.import_module(f"langchain_core.runnables.{module}")
    ours = importlib.import_module(f"dragoman.runnables.{module}")
    defined = {
        name
        for name, value in vars(theirs).items()
        if name.isidentifier()
        and not name.startswith("_")
        and getattr(value, "__module__", None) == theirs.__name__
    }
    missing = {name for name in defined if not hasattr(ours, name)}
    assert missing <= NOT_OURS.get(module, set())


# Helpers of LangChain's own machinery: parts of its syntax-tree walks and of its pydantic 1 support.
NOT_OURS = {
    "utils": {"FunctionNonLocals", "GetLambdaSource", "IsFunctionArgDict", "IsLocalDict", "NonLocals",
              "accepts_context", "asyncio_accepts_context", "Input", "Output"},
    "graph": {"MermaidDrawMethod"},
    "graph_ascii": {"AsciiCanvas", "VertexViewer"},
    "graph_mermaid": {"draw_mermaid_png"},
    "config": {"P", "T"},
    "base": {"Other"},
    "retry": {"U"},
}  # fmt: skip


async def test_a_runnable_becomes_a_tool(colour):
    def multiply(x):
        return x["a"] * x["b"]

    structured = RunnableLambda(multiply).as_tool(
        name="multiply", description="a times b", arg_types={"a": int, "b": int}
    )
    plain = RunnableLambda(str.upper).with_types(input_type=str).as_tool(name="up", description="d")

    assert (structured.name, sorted(structured.args)) == ("multiply", ["a", "b"])
    assert await colour.invoke(structured, {"a": 2, "b": 3}) == 6
    assert await colour.invoke(plain, "a") == "A"


async def test_a_cancelled_stream_closes_its_steps():
    closed = []

    async def endless(pieces):
        try:
            yield "first"
            await asyncio.sleep(60)
        finally:
            closed.append(True)

    chain = RunnableLambda(lambda x: x) | endless | RunnablePassthrough()
    stream = chain.astream("x")
    assert await anext(stream) == "first"
    task = asyncio.ensure_future(anext(stream))
    await asyncio.sleep(0.005)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert closed == [True]


async def test_a_users_class_in_a_chain_is_always_given_a_config(colour):
    """As in LangChain: its `invoke` may say `config["tags"]` without asking."""

    class Tags(Runnable):
        def invoke(self, input, config=None, **kwargs):
            return config["tags"], config["metadata"], config["configurable"]

    step, nothing = Tags(), ([], {}, {})
    chain = RunnablePassthrough() | step

    assert await colour.invoke(chain, 1) == nothing
    assert await colour.stream(chain, 1) == [nothing]
    assert await colour.batch(chain, [1, 2]) == [nothing, nothing]
    assert await colour.batch(step, [1, 2]) == [nothing, nothing]
    assert await colour.as_completed(step, [1]) == [(0, nothing)]
    assert await colour.invoke(step.map(), [1]) == [nothing]
    assert await colour.invoke(step.bind(a=1), 1) == nothing
    assert await colour.invoke(step.with_retry(), 1) == nothing
    assert await colour.invoke(step.with_fallbacks([step]), 1) == nothing
    assert await colour.invoke(RunnablePassthrough() | {"a": step}, 1) == {"a": nothing}
    assert await colour.invoke(RunnableLambda(lambda x: step), 1) == nothing
    assert await colour.invoke(chain, 1, {"tags": ["t"]}) == (["t"], {}, {})
