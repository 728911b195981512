"""Text models."""

import asyncio
from typing import Any
from uuid import UUID

import pytest

from dragoman.caches import InMemoryCache
from dragoman.callbacks import BaseCallbackHandler
from dragoman.language_models import LLM, BaseLLM, FakeListLLM, FakeStreamingListLLM
from dragoman.messages import AIMessage, HumanMessage
from dragoman.outputs import Generation, GenerationChunk, LLMResult


class Echo(BaseLLM):
    """Answers with the prompts; keeps them."""

    asked: list[list[str]] = []
    fails: bool = False

    @property
    def _llm_type(self) -> str:
        return "echo"

    def _generate(self, prompts, stop=None, run_manager=None, **kwargs) -> LLMResult:
        self.asked.append(prompts)
        if self.fails:
            raise ValueError("no")
        return LLMResult(generations=[[Generation(text=p)] for p in prompts])


class Recorder(BaseCallbackHandler):
    """Keeps the names of events."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.tags: list[Any] = []

    def on_llm_start(self, serialized, prompts, **kwargs):
        self.names.append("start")
        self.tags.append(kwargs["tags"])

    def on_llm_new_token(self, token, **kwargs):
        self.names.append(token)

    def on_llm_end(self, response, **kwargs):
        self.names.append("end")

    def on_llm_error(self, error, **kwargs):
        self.names.append("error")


def test_every_input_form_becomes_a_text():
    model = Echo()
    assert model.invoke("x") == "x"
    assert model.invoke([HumanMessage("a"), AIMessage("b")]) == "Human: a\nAI: b"
    assert asyncio.run(model.ainvoke([("user", "a")])) == "Human: a"
    with pytest.raises(ValueError, match="Invalid input type"):
        model.invoke(3)


@pytest.mark.parametrize("is_async", [False, True])
def test_a_batch_is_one_call_unless_limited(is_async):
    def batch(model, *args, **kwargs):
        if is_async:
            return asyncio.run(model.abatch(*args, **kwargs))
        return model.batch(*args, **kwargs)

    model = Echo(asked=[])
    assert batch(model, ["a", "b", "c"]) == ["a", "b", "c"]
    assert model.asked == [["a", "b", "c"]]
    model = Echo(asked=[])
    assert batch(model, ["a", "b", "c"], {"max_concurrency": 2}) == ["a", "b", "c"]
    assert model.asked == [["a", "b"], ["c"]]
    results = batch(Echo(fails=True), ["a", "b"], return_exceptions=True)
    assert [type(r) for r in results] == [ValueError, ValueError]
    with pytest.raises(ValueError, match="no"):
        batch(Echo(fails=True), ["a"])
    assert batch(Echo(), []) == []


def test_each_input_of_a_batch_has_its_config():
    recorder = Recorder()
    configs = [{"callbacks": [recorder], "tags": ["a"]}, {"callbacks": [recorder], "tags": ["b"]}]
    Echo().batch(["x", "y"], configs)
    assert recorder.names == ["start", "start", "end", "end"]
    assert recorder.tags == [["a"], ["b"]]


def test_generate_takes_one_for_all_or_one_for_each():
    recorder = Recorder()
    result = Echo().generate(
        ["x", "y"], callbacks=[recorder], tags=[["a"], ["b"]], run_id=UUID(int=3)
    )
    assert [row[0].text for row in result.generations] == ["x", "y"]
    assert recorder.tags == [["a"], ["b"]]
    assert result.run[0].run_id == UUID(int=3)
    assert result.run[1].run_id != UUID(int=3)
    with pytest.raises(ValueError, match="expected to be of type list"):
        Echo().generate("x")
    with pytest.raises(ValueError, match="`run_name` must have one entry"):
        Echo().generate(["x", "y"], run_name=["a"])


def test_only_what_the_cache_has_not_is_asked():
    model = Echo(cache=InMemoryCache(), asked=[])
    assert model.invoke("a") == "a"
    assert model.batch(["a", "b"]) == ["a", "b"]
    assert asyncio.run(model.ainvoke("b")) == "b"
    assert model.asked == [["a"], ["b"]]
    with pytest.raises(ValueError, match="No global cache was configured"):
        Echo(cache=True).invoke("x")


@pytest.mark.parametrize("is_async", [False, True])
def test_handlers_hear_of_pieces_and_errors(is_async):
    async def drain(model, config):
        return [p async for p in model.astream("x", config)]

    recorder = Recorder()
    model, config = FakeStreamingListLLM(responses=["ab"]), {"callbacks": [recorder]}
    pieces = asyncio.run(drain(model, config)) if is_async else list(model.stream("x", config))
    assert pieces == ["a", "b"]
    assert recorder.names == ["start", "a", "b", "end"]
    recorder = Recorder()
    with pytest.raises(ValueError, match="no"):
        Echo(fails=True).invoke("x", {"callbacks": [recorder]})
    assert recorder.names == ["start", "error"]


def test_a_model_that_cannot_stream_gives_its_text_whole():
    async def drain():
        return [p async for p in Echo().astream("x")]

    assert list(Echo().stream("x")) == ["x"]
    assert asyncio.run(drain()) == ["x"]


def test_a_sync_stream_serves_async():
    class Model(Echo):
        def _stream(self, prompt, stop=None, run_manager=None, **kwargs):
            yield GenerationChunk(text=prompt)
            yield GenerationChunk(text="!")

    async def drain():
        return [p async for p in Model().astream("x")]

    assert asyncio.run(drain()) == ["x", "!"]


def test_llm_is_written_with_call_alone():
    class Model(LLM):
        @property
        def _llm_type(self):
            return "m"

        def _call(self, prompt, stop=None, run_manager=None, **kwargs):
            return f"{prompt}{stop}{kwargs}"

    assert Model().invoke("x", stop=["."], k=1) == "x['.']{'k': 1}"
    assert asyncio.run(Model().ainvoke("x")) == "xNone{}"
    assert asyncio.run(Model().abatch(["a", "b"])) == ["aNone{}", "bNone{}"]


def test_str_shows_the_parameters():
    assert str(FakeListLLM(responses=["a"])) == "FakeListLLM\nParams: {'responses': ['a']}"
