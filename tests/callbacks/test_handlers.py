"""The handlers that come with the package."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

import pytest

from dragoman.callbacks import (
    BaseCallbackHandler,
    FileCallbackHandler,
    StdOutCallbackHandler,
    StreamingStdOutCallbackHandler,
    UsageMetadataCallbackHandler,
    adispatch_custom_event,
    dispatch_custom_event,
    get_usage_metadata_callback,
)
from dragoman.language_models.fake_chat_models import FakeListChatModel, FakeMessagesListChatModel
from dragoman.messages import AIMessage
from dragoman.runnables import RunnableLambda

CHAIN = "\n\n\033[1m> Entering new mine chain...\033[0m\n\n\033[1m> Finished chain.\033[0m\n"


def test_chains_are_printed(capsys):
    RunnableLambda(lambda x: x, name="mine").invoke(1, {"callbacks": [StdOutCallbackHandler()]})
    assert capsys.readouterr().out == CHAIN


def test_texts_are_coloured(capsys):
    handler = StdOutCallbackHandler(color="red")
    handler.on_text("a", run_id=uuid4())
    handler.on_text("b", color="green", end="\n", run_id=uuid4())
    handler.on_tool_end("c", observation_prefix="see: ", llm_prefix="say: ", run_id=uuid4())
    assert capsys.readouterr().out == (
        "\033[31;1ma\033[0m\033[32;1mb\033[0m\n\nsee: \033[31;1mc\033[0m\nsay: "
    )


def test_chains_are_written_to_a_file(tmp_path):
    path = tmp_path / "log.txt"
    with FileCallbackHandler(str(path)) as handler:
        RunnableLambda(lambda x: x, name="mine").invoke(1, {"callbacks": [handler]})
    assert path.read_text() == CHAIN
    with pytest.raises(RuntimeError, match="File is not open"):
        handler.on_text("late", run_id=uuid4())


async def test_tokens_are_printed_as_they_come(capsys):
    model = FakeListChatModel(responses=["hello"])
    config = {"callbacks": [StreamingStdOutCallbackHandler()]}
    list(model.stream("x", config))
    assert [chunk async for chunk in model.astream("x", config)]
    assert capsys.readouterr().out == "hellohello"


def reply(name, n):
    usage = {"input_tokens": n, "output_tokens": 1, "total_tokens": n + 1}
    return AIMessage("x", response_metadata={"model_name": name}, usage_metadata=usage)


async def test_usage_is_added_up_per_model():
    handler = UsageMetadataCallbackHandler()
    model = FakeMessagesListChatModel(responses=[reply("a", 1), reply("b", 5), reply("a", 2)])
    for _ in range(2):
        model.invoke("x", {"callbacks": [handler]})
    await model.ainvoke("x", {"callbacks": [handler]})

    assert handler.usage_metadata == {
        "a": {"input_tokens": 3, "output_tokens": 2, "total_tokens": 5},
        "b": {"input_tokens": 5, "output_tokens": 1, "total_tokens": 6},
    }
    assert repr(handler) == str(handler.usage_metadata)


async def test_usage_of_a_block_is_that_of_every_call_inside():
    model = FakeMessagesListChatModel(responses=[reply("a", 1)])
    with get_usage_metadata_callback() as outer:
        (RunnableLambda(lambda x: x) | model).invoke("x")
        with get_usage_metadata_callback() as inner:
            await asyncio.gather(model.ainvoke("x"), model.ainvoke("x"))
    model.invoke("x")

    assert inner.usage_metadata["a"]["input_tokens"] == 2
    assert outer.usage_metadata["a"]["input_tokens"] == 3


def test_usage_is_safe_from_threads():
    handler = UsageMetadataCallbackHandler()
    model = FakeMessagesListChatModel(responses=[reply("a", 1)])
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: model.invoke("x", {"callbacks": [handler]}), range(200)))
    assert handler.usage_metadata["a"]["input_tokens"] == 200


def test_a_reply_without_usage_or_name_counts_nothing():
    handler = UsageMetadataCallbackHandler()
    FakeListChatModel(responses=["x"]).invoke("x", {"callbacks": [handler]})
    handler.on_llm_end(object(), run_id=uuid4())
    assert handler.usage_metadata == {}


class Custom(BaseCallbackHandler):
    def __init__(self):
        self.told = []

    def on_custom_event(self, name, data, *, run_id, tags=None, metadata=None, **kwargs):
        self.told.append((name, data, tags, metadata))


async def test_custom_events_reach_the_handlers_of_the_run():
    handler = Custom()

    def synchronous(x):
        dispatch_custom_event("a", {"x": x})
        return x

    async def asynchronous(x, config):
        await adispatch_custom_event("b", x, config=config)
        return x

    chain = RunnableLambda(synchronous) | RunnableLambda(asynchronous)
    await chain.ainvoke(1, {"callbacks": [handler], "tags": ["t"], "metadata": {"m": 1}})

    assert handler.told == [("a", {"x": 1}, ["t"], {"m": 1}), ("b", 1, ["t"], {"m": 1})]


async def test_a_custom_event_without_listeners_goes_nowhere():
    def synchronous(x):
        dispatch_custom_event("a", x)
        return x

    assert RunnableLambda(synchronous).invoke(1, {"tags": ["t"]}) == 1


async def test_a_custom_event_outside_of_a_run_is_an_error():
    with pytest.raises(RuntimeError, match="without a parent run id"):
        dispatch_custom_event("a", 1)
    with pytest.raises(RuntimeError, match="without a parent run id"):
        await adispatch_custom_event("a", 1)
