"""Prompt values."""

import copy
import pickle

import pytest
from pydantic import BaseModel

from dragoman.errors import MessageError
from dragoman.messages import AIMessage, HumanMessage
from dragoman.prompt_values import (
    ChatPromptValue,
    ChatPromptValueConcrete,
    ImagePromptValue,
    PromptValue,
    StringPromptValue,
)

VALUES = [
    (StringPromptValue(text="hi"), "hi", [HumanMessage("hi")]),
    (
        ChatPromptValue(messages=[HumanMessage("a"), AIMessage("b")]),
        "Human: a\nAI: b",
        [HumanMessage("a"), AIMessage("b")],
    ),
    (ChatPromptValueConcrete(messages=[HumanMessage("a")]), "Human: a", [HumanMessage("a")]),
    (
        ImagePromptValue(image_url={"url": "u", "detail": "low"}),
        "u",
        [HumanMessage([{"url": "u", "detail": "low"}])],
    ),
]


@pytest.mark.parametrize(("value", "text", "messages"), VALUES)
def test_both_faces(value, text, messages):
    assert value.to_string() == text
    assert value.to_messages() == messages
    assert isinstance(value, PromptValue)


@pytest.mark.parametrize("value", [value for value, _, _ in VALUES])
def test_values_are_values(value):
    assert pickle.loads(pickle.dumps(value)) == value
    assert copy.deepcopy(value) == value
    assert type(value).model_validate(value.model_dump()) == value
    assert value.is_lc_serializable()
    with pytest.raises(TypeError):
        hash(value)


def test_messages_are_copied_as_a_list():
    messages = [HumanMessage("a")]

    assert ChatPromptValue(messages=messages).to_messages() is not messages


@pytest.mark.parametrize(
    "make",
    [
        lambda: StringPromptValue(),
        lambda: StringPromptValue(text=3),
        lambda: ChatPromptValue(),
        lambda: ChatPromptValue(messages="text"),
        lambda: ImagePromptValue(),
        lambda: ImagePromptValue(image_url="u"),
    ],
)
def test_wrong_fields_are_value_errors(make):
    with pytest.raises(MessageError):
        make()


def test_ids_reprs_and_pydantic_fields():
    class Holder(BaseModel):
        value: ChatPromptValue

    assert StringPromptValue.lc_id() == ["langchain", "prompts", "base", "StringPromptValue"]
    assert ChatPromptValue.lc_id() == ["langchain", "prompts", "chat", "ChatPromptValue"]
    assert repr(StringPromptValue(text="x")) == "StringPromptValue(text='x')"
    value = VALUES[1][0]
    assert Holder(value=value).value == value
    assert Holder.model_validate({"value": value.model_dump()}).value == value


def test_users_values():
    class Shout(PromptValue):
        text: str

        def to_string(self):
            return self.text.upper()

        def to_messages(self):
            return [HumanMessage(self.to_string())]

    assert Shout(text="x").to_messages() == [HumanMessage("X")]
    with pytest.raises(NotImplementedError):
        PromptValue().to_string()
