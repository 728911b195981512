"""The models that answer from a list."""

import asyncio

import pytest

from dragoman.language_models import (
    FakeChatModel,
    FakeListChatModel,
    FakeListLLM,
    FakeMessagesListChatModel,
    FakeStreamingListLLM,
    GenericFakeChatModel,
    ParrotFakeChatModel,
)
from dragoman.language_models.fake import FakeListLLMError
from dragoman.language_models.fake_chat_models import FakeListChatModelError
from dragoman.messages import AIMessage, HumanMessage


def test_list_model_cycles_in_every_way_of_calling():
    model = FakeListChatModel(responses=["a", "b"])
    assert [m.content for m in model.batch(["x"] * 3)] == ["a", "b", "a"]
    assert [m.content for m in asyncio.run(model.abatch(["x"] * 3))] == ["b", "a", "b"]
    assert model.i == 0
    assert model._llm_type == "fake-list-chat-model"
    assert model._identifying_params == {"responses": ["a", "b"]}


@pytest.mark.parametrize("is_async", [False, True])
def test_list_model_raises_at_a_chunk(is_async):
    model = FakeListChatModel(responses=["abc"], error_on_chunk_number=1)
    seen = []

    async def consume():
        async for chunk in model.astream("x"):
            seen.append(chunk.content)

    def consume_sync():
        seen.extend(chunk.content for chunk in model.stream("x"))

    with pytest.raises(FakeListChatModelError):
        asyncio.run(consume()) if is_async else consume_sync()
    assert seen == ["a"]


def test_list_model_batch_keeps_exceptions_in_place():
    model = FakeListChatModel(responses=["a"])
    results = model.batch(["x", 3, "y"], return_exceptions=True)
    assert [type(r) for r in results] == [AIMessage, ValueError, AIMessage]
    with pytest.raises(ValueError, match="Invalid input type"):
        model.batch(["x", 3])


def test_a_subclass_that_writes_call_is_asked_in_both_colours():
    class Mine(FakeListChatModel):
        def _call(self, *args, **kwargs):
            return "mine"

    model = Mine(responses=["a"])
    assert model.invoke("x").content == "mine"
    assert asyncio.run(model.ainvoke("x")).content == "mine"


def test_list_model_sleeps_without_blocking_the_loop():
    async def two():
        model = FakeListChatModel(responses=["a"], sleep=0.05)
        ticks = []

        async def ticker():
            for _ in range(3):
                await asyncio.sleep(0.005)
                ticks.append(1)

        await asyncio.gather(model.ainvoke("x"), ticker())
        return ticks

    assert len(asyncio.run(two())) == 3


def test_messages_model_cycles():
    model = FakeMessagesListChatModel(responses=[AIMessage("a"), AIMessage("b")])
    assert [model.invoke("x").content for _ in range(3)] == ["a", "b", "a"]
    assert asyncio.run(model.ainvoke("x")).content == "b"


def test_generic_model_streams_what_stands_between_single_blanks():
    model = GenericFakeChatModel(messages=iter(["a  b\n"]))
    pieces = ["a", " ", "", " ", "b", "\n", ""]
    assert [chunk.content for chunk in model.stream("x")] == pieces


def test_generic_model_ends_with_its_iterator():
    model = GenericFakeChatModel(messages=iter(["a"]))
    assert model.invoke("x").content == "a"
    with pytest.raises(StopIteration):
        model.invoke("x")
    with pytest.raises(StopIteration):
        model.generate([["x"]])
    with pytest.raises(RuntimeError, match="StopIteration"):
        asyncio.run(model.ainvoke("x"))


def test_parrot_repeats_the_last_message():
    reply = ParrotFakeChatModel().invoke([HumanMessage("a"), HumanMessage("b", id="1")])
    assert reply == HumanMessage("b", id="1")
    with pytest.raises(ValueError, match=r"messages list cannot be empty\."):
        ParrotFakeChatModel().invoke([])


def test_fake_model_has_one_answer():
    assert FakeChatModel().invoke("x").content == "fake response"
    assert asyncio.run(FakeChatModel().ainvoke("x")).content == "fake response"


def test_text_models_cycle_and_stream():
    assert FakeListLLM(responses=["a", "b"]).batch(["x", "y", "z"]) == ["a", "b", "a"]
    assert list(FakeStreamingListLLM(responses=["abc"]).stream("x")) == ["a", "b", "c"]
    with pytest.raises(FakeListLLMError):
        list(FakeStreamingListLLM(responses=["abc"], error_on_chunk_number=2).stream("x"))
