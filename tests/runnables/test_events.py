"""One stream of what happens in a chain."""

import asyncio

import pytest

from dragoman.callbacks import adispatch_custom_event, dispatch_custom_event
from dragoman.language_models.fake_chat_models import FakeListChatModel
from dragoman.output_parsers import StrOutputParser
from dragoman.prompts import ChatPromptTemplate
from dragoman.runnables import RunnableGenerator, RunnableLambda, RunnableParallel


async def events(runnable, value, **options):
    return [event async for event in runnable.astream_events(value, version="v2", **options)]


def short(event):
    data = event["data"]
    return (
        event["event"],
        event["name"],
        {k: data[k] for k in data if k in ("input", "output", "chunk")},
    )


async def test_a_function_starts_streams_and_ends():
    seen = await events(
        RunnableLambda(lambda x: x + 1, name="inc"), 1, config={"tags": ["t"], "metadata": {"m": 1}}
    )

    assert [short(event) for event in seen] == [
        ("on_chain_start", "inc", {"input": 1}),
        ("on_chain_stream", "inc", {"chunk": 2}),
        ("on_chain_end", "inc", {"output": 2}),
    ]
    assert {event["run_id"] for event in seen} == {seen[0]["run_id"]}
    assert all((e["tags"], e["metadata"], e["parent_ids"]) == (["t"], {"m": 1}, []) for e in seen)


async def test_a_chain_tells_of_prompt_model_and_parser():
    chain = (
        ChatPromptTemplate.from_template("{x}")
        | FakeListChatModel(responses=["ab"])
        | StrOutputParser()
    )
    seen = await events(chain, {"x": "1"})

    kinds = [event["event"] for event in seen]
    assert kinds[:4] == [
        "on_chain_start",
        "on_prompt_start",
        "on_prompt_end",
        "on_chat_model_start",
    ]
    assert kinds.count("on_chat_model_stream") == 2
    assert kinds.count("on_parser_stream") == kinds.count("on_chain_stream") == 2
    assert kinds[-3:] == ["on_chat_model_end", "on_parser_end", "on_chain_end"]
    tokens = [e["data"]["chunk"].content for e in seen if e["event"] == "on_chat_model_stream"]
    assert tokens == ["a", "b"]
    root = seen[0]["run_id"]
    assert all(e["parent_ids"] == [root] for e in seen if e["run_id"] != root)
    steps = {e["name"]: e["tags"] for e in seen if e["event"].endswith("_start")}
    assert steps["StrOutputParser"] == ["seq:step:3"]
    assert seen[-1]["data"] == {"output": "ab"}
    (ended,) = [e for e in seen if e["event"] == "on_parser_end"]
    assert (ended["data"]["output"], ended["data"]["input"].content) == ("ab", "ab")


@pytest.mark.parametrize("is_async", [True, False])
async def test_an_invoked_model_inside_a_function_streams_for_the_events(is_async):
    model = FakeListChatModel(responses=["ab"])

    async def ask(x):
        return (await model.ainvoke(x)).content

    step = RunnableLambda(ask) if is_async else RunnableLambda(lambda x: model.invoke(x).content)
    seen = await events(step, "q")

    tokens = [e["data"]["chunk"].content for e in seen if e["event"] == "on_chat_model_stream"]
    assert tokens == ["a", "b"]
    (ended,) = [e for e in seen if e["event"] == "on_chat_model_end"]
    assert ended["data"]["output"].content == "ab"


async def test_user_code_dispatches_events_of_its_own():
    async def asynchronous(x):
        await adispatch_custom_event("mine", {"a": x})
        return x

    def synchronous(x):
        dispatch_custom_event("yours", {"b": x})
        return x

    seen = await events(RunnableLambda(asynchronous) | RunnableLambda(synchronous), 1)
    custom = [(e["name"], e["data"]) for e in seen if e["event"] == "on_custom_event"]
    assert custom == [("mine", {"a": 1}), ("yours", {"b": 1})]


@pytest.mark.parametrize(
    ("options", "names"),
    [
        ({"include_names": ["b"]}, {"b"}),
        ({"exclude_names": ["b"]}, {"a", "RunnableSequence"}),
        ({"include_tags": ["tagged"]}, {"a"}),
        ({"exclude_tags": ["tagged"]}, {"b", "RunnableSequence"}),
        ({"include_types": ["chain"], "exclude_names": ["a", "b"]}, {"RunnableSequence"}),
        ({"include_types": ["llm"]}, set()),
        ({"include_names": ["a"], "include_tags": ["none"]}, {"a"}),
    ],
)
async def test_events_are_chosen_by_name_type_and_tag(options, names):
    chain = RunnableLambda(lambda x: x, name="a").with_config(tags=["tagged"]) | RunnableLambda(
        lambda x: x, name="b"
    )
    assert {event["name"] for event in await events(chain, 1, **options)} == names


async def test_an_error_comes_after_the_events_before_it():
    async def fail(x):
        raise ValueError("no")

    stream = RunnableLambda(fail).astream_events(1, version="v2")
    assert (await anext(stream))["event"] == "on_chain_start"
    with pytest.raises(ValueError, match="no"):
        await anext(stream)


async def test_leaving_the_events_cancels_the_chain():
    cancelled = asyncio.Event()

    async def wait(x):
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            cancelled.set()
            raise

    stream = RunnableLambda(wait).astream_events(1, version="v2")
    assert (await anext(stream))["event"] == "on_chain_start"
    await stream.aclose()
    assert cancelled.is_set()


async def test_parallel_steps_are_told_of_with_their_parents():
    async def letters(pieces):
        async for piece in pieces:
            for letter in piece:
                yield letter

    chain = RunnableParallel(a=RunnableGenerator(letters), b=lambda x: x)
    seen = await events(chain, "xy")
    root = seen[0]["run_id"]

    assert seen[-1]["data"] == {"output": {"a": "xy", "b": "xy"}}
    children = [e for e in seen if e["run_id"] != root]
    assert {tuple(e["tags"]) for e in children} == {("map:key:a",), ("map:key:b",)}
    assert all(e["parent_ids"] == [root] for e in children)


async def test_only_version_2_is_spoken():
    with pytest.raises(NotImplementedError, match="v2"):
        await anext(RunnableLambda(len).astream_events("x", version="v1"))
