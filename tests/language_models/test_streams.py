"""Streams of chat models: chunks, their sum, ends and breaks."""

import asyncio
import gc

import pytest
from tests.language_models.models import AsyncStreaming, Streaming, Whole

from dragoman.errors import ModelError, ModelStreamError, ModelTimeoutError
from dragoman.language_models import (
    AsyncMessageStream,
    FakeListChatModel,
    GenericFakeChatModel,
    MessageStream,
)
from dragoman.language_models.streams import WAITING
from dragoman.messages import AIMessage, AIMessageChunk


async def drain(model, **kwargs):
    return [chunk async for chunk in model.astream("x", **kwargs)]


def both(model, **kwargs):
    """Return the chunks of the sync and of the async stream."""
    return list(model.stream("x", **kwargs)), asyncio.run(drain(model, **kwargs))


@pytest.mark.parametrize("cls", [Streaming, AsyncStreaming])
def test_chunks_share_the_id_of_the_run_and_the_last_is_marked(cls):
    for chunks in both(cls()):
        assert [c.content for c in chunks] == ["a", "b", ""]
        assert len({c.id for c in chunks}) == 1
        assert chunks[0].id.startswith("lc_run--")
        assert [c.chunk_position for c in chunks] == [None, None, "last"]


def test_a_mark_of_the_models_own_is_enough():
    pieces = ["a", AIMessageChunk("b", chunk_position="last")]
    for chunks in both(Streaming(pieces=pieces)):
        assert [c.content for c in chunks] == ["a", "b"]


def test_the_closing_chunk_has_content_like_the_last():
    pieces = [AIMessageChunk([{"type": "text", "text": "a", "index": 0}])]
    for chunks in both(Streaming(pieces=pieces)):
        assert chunks[-1].content == []


def test_a_providers_id_stays_and_the_hooks_chunks_are_not_changed():
    piece = AIMessageChunk("a")
    model = Streaming(pieces=[piece])
    first, second = next(model.stream("x")), next(model.stream("x"))
    assert first.id != second.id
    assert piece.id is None
    assert next(Streaming(pieces=[AIMessageChunk("a", id="p")]).stream("x")).id == "p"


def test_generation_info_goes_under_the_chunks_metadata():
    from dragoman.outputs import ChatGenerationChunk

    class Model(Whole):
        def _stream(self, messages, stop=None, run_manager=None, **kwargs):
            chunk = AIMessageChunk("a", response_metadata={"q": 1})
            yield ChatGenerationChunk(message=chunk, generation_info={"q": 2, "g": 2})

    assert next(Model().stream("x")).response_metadata == {"q": 1, "g": 2}


def test_the_sum_of_a_stream_is_the_invoked_message():
    model = FakeListChatModel(responses=["Hello you"])
    chunks = list(model.stream("x"))
    whole = model.invoke("x")
    total = sum(chunks[1:], chunks[0])
    assert (total.content, total.tool_calls) == (whole.content, whole.tool_calls)


def test_a_model_that_cannot_stream_gives_its_reply_in_one_item():
    for chunks in both(Whole()):
        assert [type(c) for c in chunks] == [AIMessage]
        assert chunks[0].content == "whole"


def test_a_model_with_only_an_async_stream_does_not_stream_under_sync():
    class Model(Whole):
        async def _astream(self, messages, stop=None, run_manager=None, **kwargs):
            from dragoman.outputs import ChatGenerationChunk

            yield ChatGenerationChunk(message=AIMessageChunk("streamed"))

    chunks, achunks = both(Model())
    assert [c.content for c in chunks] == ["whole"]
    assert [c.content for c in achunks] == ["streamed", ""]


# disable_streaming, stream=, streaming


class Switch(AsyncStreaming):
    """Has the field `streaming`."""

    streaming: bool = False


TOOLS = {"tools": [{"type": "function", "function": {"name": "f"}}]}


@pytest.mark.parametrize(
    ("fields", "kwargs", "streams"),
    [
        ({}, {}, True),
        ({}, TOOLS, True),
        ({"disable_streaming": True}, {}, False),
        ({"disable_streaming": True}, TOOLS, False),
        ({"disable_streaming": "tool_calling"}, {}, True),
        ({"disable_streaming": "tool_calling"}, TOOLS, False),
        ({"disable_streaming": "tool_calling"}, {"tools": []}, True),
        ({"disable_streaming": False}, TOOLS, True),
        ({}, {"stream": False}, False),
        ({"streaming": False}, {}, False),
        ({"streaming": True}, {}, True),
        ({"streaming": True, "disable_streaming": True}, {}, False),
    ],
)
def test_when_stream_streams(fields, kwargs, streams):
    expected = "ab" if streams else "whole"
    for chunks in both(Switch(**fields), **kwargs):
        assert "".join(c.content for c in chunks) == expected


@pytest.mark.parametrize(
    ("fields", "kwargs", "streams"),
    [
        ({}, {}, False),
        ({}, {"stream": True}, True),
        ({}, {"stream": False}, False),
        ({"streaming": True}, {}, True),
        ({"streaming": True}, {"stream": False}, False),
        ({"streaming": False}, {"stream": True}, True),
        ({"streaming": True, "disable_streaming": True}, {}, False),
        ({"streaming": True, "disable_streaming": "tool_calling"}, {}, True),
        ({"streaming": True, "disable_streaming": "tool_calling"}, TOOLS, False),
        ({"disable_streaming": True}, {"stream": True}, False),
    ],
)
def test_when_invoke_streams(fields, kwargs, streams):
    expected = "ab" if streams else "whole"
    model = Switch(**fields)
    for reply in (model.invoke("x", **kwargs), asyncio.run(model.ainvoke("x", **kwargs))):
        assert type(reply) is AIMessage
        assert reply.content == expected
        assert reply.id.startswith("lc_run--")


# The stream object


def test_the_stream_knows_the_message_so_far():
    stream = Streaming(pieces=["a", "b", "c"]).stream("x")
    assert isinstance(stream, MessageStream)
    assert stream.message.content == ""
    seen = []
    for _ in stream:
        seen.append(stream.message.content)
    assert seen == ["a", "ab", "abc", "abc"]
    assert stream.message.chunk_position == "last"


async def test_the_async_stream_knows_it_too():
    stream = AsyncStreaming().astream("x")
    assert isinstance(stream, AsyncMessageStream)
    async for _ in stream:
        pass
    assert stream.message.content == "ab"


def test_a_long_stream_is_summed_without_being_read():
    count = WAITING * 3 + 7
    stream = Streaming(pieces=["x"] * count).stream("q")
    for _ in stream:
        pass
    assert len(stream.message.content) == count


def test_closing_reaches_the_hook_at_once():
    model = Streaming(opened=[], closed=[])
    with model.stream("x") as stream:
        next(stream)
        assert model.closed == []
    assert model.closed == ["sync"]
    assert list(stream) == []
    assert stream.message.content == "a"


def test_dropping_a_stream_closes_it():
    model = Streaming(opened=[], closed=[])
    for _ in model.stream("x"):
        break
    gc.collect()
    assert model.closed == ["sync"]


@pytest.mark.parametrize("cls", [Streaming, AsyncStreaming])
async def test_closing_an_async_stream_reaches_the_hook(cls):
    model = cls(opened=[], closed=[])
    async with model.astream("x") as stream:
        await anext(stream)
    assert model.closed == model.opened
    assert len(model.closed) == 1


async def test_cancelling_closes_the_hook():
    started = asyncio.Event()
    closed = []

    class Model(Whole):
        async def _achunks(self, messages, stop=None, **kwargs):
            try:
                yield AIMessageChunk("a")
                started.set()
                await asyncio.sleep(60)
            finally:
                closed.append(1)

    async def consume():
        async for _ in Model().astream("x"):
            pass

    task = asyncio.create_task(consume())
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert closed == [1]


def test_nothing_is_opened_before_the_first_chunk_is_asked_for():
    model = Streaming(opened=[])
    stream = model.stream("x")
    assert model.opened == []
    stream.close()
    assert model.opened == []


# Breaks


@pytest.mark.parametrize("cls", [Streaming, AsyncStreaming])
@pytest.mark.parametrize("error", [ModelStreamError("cut"), ModelTimeoutError("late")])
def test_a_break_keeps_its_class_and_carries_what_arrived(cls, error):
    model = cls(pieces=["a", "b", error])
    stream = model.stream("x")
    assert [next(stream).content, next(stream).content] == ["a", "b"]
    with pytest.raises(type(error)) as caught:
        next(stream)
    assert caught.value.partial.content == "ab"
    error.partial = None
    with pytest.raises(ModelError) as caught:
        asyncio.run(drain(model))
    assert caught.value.partial.content == "ab"


def test_a_partial_that_the_model_set_itself_stays():
    error = ModelStreamError("cut", partial=AIMessageChunk("mine"))
    with pytest.raises(ModelStreamError) as caught:
        list(Streaming(pieces=["a", error]).stream("x"))
    assert caught.value.partial.content == "mine"


def test_errors_of_other_kinds_pass_unchanged():
    with pytest.raises(KeyError):
        list(Streaming(pieces=["a", KeyError("k")]).stream("x"))


def test_b30_a_call_cut_off_by_a_break_is_invalid_in_the_partial():
    cut = AIMessageChunk(
        "",
        tool_call_chunks=[
            {
                "name": "write",
                "args": '{"path":"x"',
                "id": "1",
                "index": 0,
                "type": "tool_call_chunk",
            }
        ],
    )
    stream = Streaming(pieces=[cut, ModelStreamError("cut")]).stream("x")
    assert next(stream).tool_calls[0]["args"] == {"path": "x"}
    with pytest.raises(ModelStreamError) as caught:
        next(stream)
    for message in (caught.value.partial, stream.message):
        assert message.tool_calls == []
        assert message.invalid_tool_calls[0]["name"] == "write"


def test_b30_leaving_the_stream_early_makes_open_calls_invalid_too():
    cut = AIMessageChunk(
        "",
        tool_call_chunks=[
            {"name": "w", "args": '{"a":', "id": "1", "index": 0, "type": "tool_call_chunk"}
        ],
    )
    with Streaming(pieces=[cut, "x"]).stream("x") as stream:
        next(stream)
    assert stream.message.tool_calls == []
    assert len(stream.message.invalid_tool_calls) == 1


def test_no_chunks_at_all_is_an_error():
    with pytest.raises(ValueError, match="No generation chunks were returned"):
        list(Streaming(pieces=[]).stream("x"))
    with pytest.raises(ValueError, match="No generation chunks were returned"):
        asyncio.run(drain(AsyncStreaming(pieces=[])))


def test_a_stream_can_be_made_a_result():
    from dragoman.language_models.chat_models import agenerate_from_stream, generate_from_stream

    model = AsyncStreaming()
    result = generate_from_stream(model._stream([]))
    assert type(result.generations[0].message) is AIMessage
    assert result.generations[0].text == "ab"
    assert asyncio.run(agenerate_from_stream(model._astream([]))) == result
    with pytest.raises(ValueError, match="No generations found in stream"):
        generate_from_stream(iter([]))


def test_generic_fake_streams_words_calls_and_kwargs():
    call = {"name": "f", "args": {"a": 1}, "id": "q", "type": "tool_call"}
    message = AIMessage(
        "a b",
        id="i",
        tool_calls=[call],
        additional_kwargs={"function_call": {"name": "f", "arguments": '{"a":1,"b":2}'}, "x": 3},
    )
    chunks = list(GenericFakeChatModel(messages=iter([message])).stream("x"))
    assert [c.content for c in chunks[:3]] == ["a", " ", "b"]
    assert [c.additional_kwargs for c in chunks[4:-1]] == [
        {"function_call": {"name": "f"}},
        {"function_call": {"arguments": '{"a":1'}},
        {"function_call": {"arguments": ","}},
        {"function_call": {"arguments": '"b":2}'}},
        {"x": 3},
    ]
    assert {c.id for c in chunks[:-1]} == {"i"}
    total = sum(chunks[1:], chunks[0])
    assert total.tool_calls == [call]
    assert total.additional_kwargs == message.additional_kwargs
