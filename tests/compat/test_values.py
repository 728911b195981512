"""Prompt values and containers cross in both directions."""

import pytest
from langchain_core import prompt_values as theirs
from langchain_core.messages import HumanMessage as TheirHuman
from langchain_core.prompts import ChatPromptTemplate as TheirTemplate

from dragoman import prompt_values as ours
from dragoman.compat import from_langchain, to_langchain
from dragoman.messages import AIMessage, HumanMessage
from dragoman.prompts import ChatPromptTemplate

VALUES = [
    ours.StringPromptValue(text="hi"),
    ours.ChatPromptValue(messages=[HumanMessage("hi"), AIMessage("yes")]),
    ours.ChatPromptValueConcrete(messages=[HumanMessage("hi")]),
    ours.ImagePromptValue(image_url={"url": "https://e.org/a.png", "detail": "low"}),
]


@pytest.mark.parametrize("value", VALUES)
def test_a_prompt_value_comes_back_equal(value):
    crossed = to_langchain(value)

    assert type(crossed) is getattr(theirs, type(value).__name__)
    assert crossed.to_string() == value.to_string()
    assert from_langchain(crossed) == value
    assert to_langchain(from_langchain(crossed)) == crossed


def test_a_template_of_each_side_gives_the_same_value():
    parts = [("system", "Be {mood}"), ("human", "{question}")]
    given = {"mood": "brief", "question": "Why?"}
    here = ChatPromptTemplate.from_messages(parts).invoke(given)
    there = TheirTemplate.from_messages(parts).invoke(given)

    assert to_langchain(here) == there
    assert from_langchain(there) == here


def test_containers_are_converted_inside_and_plain_values_stay():
    state = {"messages": [HumanMessage("a")], "n": 1, "pair": (HumanMessage("b"), None)}
    crossed = to_langchain(state)

    assert crossed == {
        "messages": [TheirHuman("a")],
        "n": 1,
        "pair": (TheirHuman("b"), None),
    }
    assert from_langchain(crossed) == state


def test_what_is_there_already_is_the_same_object():
    there, here = TheirHuman("a"), HumanMessage("a")
    assert to_langchain(there) is there
    assert from_langchain(here) is here
