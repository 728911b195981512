"""Chat histories as objects."""

import asyncio

import pytest

from dragoman.chat_history import BaseChatMessageHistory, InMemoryChatMessageHistory
from dragoman.messages import AIMessage, HumanMessage, SystemMessage


def test_in_memory():
    history = InMemoryChatMessageHistory()
    history.add_user_message("a")
    history.add_ai_message(AIMessage("b"))
    history.add_message(SystemMessage("c"))
    asyncio.run(history.aadd_messages([HumanMessage("d")]))

    assert [m.content for m in history.messages] == ["a", "b", "c", "d"]
    assert asyncio.run(history.aget_messages()) == history.messages
    assert str(history) == "Human: a\nAI: b\nSystem: c\nHuman: d"
    history.clear()
    assert history.messages == []
    asyncio.run(history.aclear())
    assert InMemoryChatMessageHistory(messages=[HumanMessage("x")]).messages == [HumanMessage("x")]


class Stored(BaseChatMessageHistory):
    def __init__(self):
        self.kept = []

    @property
    def messages(self):
        return self.kept

    def clear(self):
        self.kept = []


class ByOne(Stored):
    def add_message(self, message):
        self.kept.append(message)


class ByMany(Stored):
    def add_messages(self, messages):
        self.kept = [*self.kept, *messages]


@pytest.mark.parametrize("cls", [ByOne, ByMany])
def test_one_of_the_two_methods_is_enough(cls):
    history = cls()
    history.add_user_message("a")
    history.add_messages([AIMessage("b"), HumanMessage("c")])
    asyncio.run(history.aadd_messages([AIMessage("d")]))

    assert [m.content for m in asyncio.run(history.aget_messages())] == ["a", "b", "c", "d"]
    asyncio.run(history.aclear())
    assert history.messages == []


def test_neither_is_an_error():
    for use in (
        lambda: Stored().add_message(HumanMessage("x")),
        lambda: Stored().add_messages([HumanMessage("x")]),
        lambda: Stored().add_user_message("x"),
    ):
        with pytest.raises(NotImplementedError, match="add_message is not implemented"):
            use()


def test_both_say_that_they_are_the_older_way():
    for cls in (BaseChatMessageHistory, InMemoryChatMessageHistory):
        assert "deprecated" in cls.__doc__
