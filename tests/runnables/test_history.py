"""Chains that remember."""

import pytest

from dragoman.messages import AIMessage, AIMessageChunk, HumanMessage
from dragoman.runnables import (
    ConfigurableFieldSpec,
    RunnableGenerator,
    RunnableLambda,
    RunnableWithMessageHistory,
)


class History:
    def __init__(self):
        self.messages = []

    def add_messages(self, messages):
        self.messages.extend(messages)

    async def aget_messages(self):
        return list(self.messages)

    async def aadd_messages(self, messages):
        self.add_messages(messages)


@pytest.fixture
def store():
    return {}


@pytest.fixture
def get(store):
    return lambda session_id: store.setdefault(session_id, History())


ONE = {"configurable": {"session_id": "1"}}


async def test_messages_are_put_before_the_input_and_stored(colour, get, store):
    model = RunnableLambda(lambda messages: f"{len(messages)}:{messages[-1].content}")
    chain = RunnableWithMessageHistory(model, get)

    assert await colour.invoke(chain, "hi", ONE) == "1:hi"
    assert await colour.invoke(chain, HumanMessage("ho"), ONE) == "3:ho"
    assert await colour.invoke(chain, [HumanMessage("hey")], ONE) == "5:hey"
    assert await colour.invoke(chain, "other", {"configurable": {"session_id": "2"}}) == "1:other"
    assert store["1"].messages == [
        HumanMessage("hi"),
        AIMessage("1:hi"),
        HumanMessage("ho"),
        AIMessage("3:ho"),
        HumanMessage("hey"),
        AIMessage("5:hey"),
    ]


async def test_the_history_may_stand_under_a_key(colour, get, store):
    model = RunnableLambda(lambda x: AIMessage(f"{x['q']} {len(x['past'])} {x['lang']}"))
    chain = RunnableWithMessageHistory(
        model, get, input_messages_key="q", history_messages_key="past"
    )

    await colour.invoke(chain, {"q": "a", "lang": "en"}, ONE)
    assert (await colour.invoke(chain, {"q": "b", "lang": "en"}, ONE)).content == "b 2 en"
    assert [m.content for m in store["1"].messages] == ["a", "a 0 en", "b", "b 2 en"]


async def test_input_messages_in_a_dict_get_the_history_before_them(colour, get):
    model = RunnableLambda(lambda x: str(len(x["messages"])))
    chain = RunnableWithMessageHistory(model, get, input_messages_key="messages")

    assert await colour.invoke(chain, {"messages": [HumanMessage("a")]}, ONE) == "1"
    assert await colour.invoke(chain, {"messages": "b"}, ONE) == "3"


@pytest.mark.parametrize(
    ("output", "key"),
    [
        ("o", None),
        (AIMessage("o"), None),
        ([AIMessage("o")], None),
        ({"x": "o"}, None),
        ({"x": "o", "y": 1}, "x"),
    ],
)
async def test_what_an_output_may_be(colour, get, store, output, key):
    chain = RunnableWithMessageHistory(
        RunnableLambda(lambda x: output), get, output_messages_key=key
    )

    assert await colour.invoke(chain, "i", ONE) == output
    assert store["1"].messages == [HumanMessage("i"), AIMessage("o")]


async def test_a_stream_is_stored_whole(colour, get, store):
    def say(pieces):
        list(pieces)
        yield AIMessageChunk("a")
        yield AIMessageChunk("b")

    async def asay(pieces):
        async for _ in pieces:
            pass
        yield AIMessageChunk("a")
        yield AIMessageChunk("b")

    chain = RunnableWithMessageHistory(RunnableGenerator(say, asay), get)

    pieces = await colour.stream(chain, "hi", ONE)
    assert [piece.content for piece in pieces] == ["a", "b"]
    assert store["1"].messages == [HumanMessage("hi"), AIMessage("ab")]


async def test_a_failed_run_stores_nothing(colour, get, store):
    def fail(x):
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        await colour.invoke(RunnableWithMessageHistory(fail, get), "hi", ONE)
    assert store["1"].messages == []


@pytest.mark.parametrize("config", [None, {"configurable": {"a": 1}}])
async def test_a_missing_session_is_named(colour, get, config):
    chain = RunnableWithMessageHistory(RunnableLambda(str), get)
    with pytest.raises(
        ValueError, match=r"Missing keys \['session_id'\].*Expected keys are \['session_id'\]"
    ):
        await colour.invoke(chain, "hi", config)


async def test_a_session_may_have_several_keys(colour, store):
    specs = [
        ConfigurableFieldSpec(id="user", annotation=str),
        ConfigurableFieldSpec(id="talk", annotation=str),
    ]
    chain = RunnableWithMessageHistory(
        RunnableLambda(lambda x: "o"),
        lambda user, talk: store.setdefault((user, talk), History()),
        history_factory_config=specs,
    )

    await colour.invoke(chain, "hi", {"configurable": {"user": "u", "talk": "t"}})
    assert list(store) == [("u", "t")]
    assert [spec.id for spec in chain.config_specs] == ["talk", "user"]
    with pytest.raises(ValueError, match=r"Missing keys \['talk'\]"):
        await colour.invoke(chain, "hi", {"configurable": {"user": "u"}})


async def test_what_is_no_message_is_refused(colour, get):
    chain = RunnableWithMessageHistory(RunnableLambda(lambda x: "o"), get)
    with pytest.raises(ValueError, match="Expected str, BaseMessage"):
        await colour.invoke(chain, 3, ONE)
