"""Parsers that expect data raise a typed error when the model declined."""

import pytest
from pydantic import BaseModel

from dragoman.errors import ModelRefusalError, OutputParserException
from dragoman.messages import AIMessage, AIMessageChunk
from dragoman.output_parsers import (
    JsonOutputKeyToolsParser,
    JsonOutputParser,
    JsonOutputToolsParser,
    PydanticOutputParser,
    PydanticToolsParser,
    StrOutputParser,
)
from dragoman.output_parsers._refusal import raise_if_refused, refusal_of
from dragoman.outputs import Generation


class Answer(BaseModel):
    a: int


PARSERS = [
    JsonOutputParser(),
    PydanticOutputParser(pydantic_object=Answer),
    JsonOutputToolsParser(),
    JsonOutputKeyToolsParser(key_name="a"),
    PydanticToolsParser(tools=[Answer]),
]
REFUSED = [
    AIMessage([{"type": "refusal", "refusal": "I cannot help."}]),
    AIMessage([{"type": "text", "text": "{}"}, {"type": "refusal", "refusal": "I cannot help."}]),
]


@pytest.mark.parametrize("message", REFUSED)
@pytest.mark.parametrize("parser", PARSERS, ids=lambda p: type(p).__name__)
def test_a_refusal_is_an_error_with_the_message(parser, message):
    with pytest.raises(ModelRefusalError, match="I cannot help") as caught:
        parser.invoke(message)

    assert caught.value.raw_message == message
    assert not caught.value.is_retryable


@pytest.mark.parametrize("parser", PARSERS, ids=lambda p: type(p).__name__)
def test_a_streamed_refusal_is_raised_with_its_whole_text(parser):
    chunks = [
        AIMessageChunk([{"type": "refusal", "refusal": "I cannot ", "index": 0}]),
        AIMessageChunk([{"type": "refusal", "refusal": "help.", "index": 0}]),
    ]

    with pytest.raises(ModelRefusalError, match="I cannot help"):
        list(parser.transform(iter(chunks)))


def test_text_that_sounds_like_a_refusal_is_text():
    message = AIMessage("I'm sorry, I can't help with that.")

    assert refusal_of(message) is None
    assert StrOutputParser().invoke(message) == message.content
    with pytest.raises(OutputParserException):
        JsonOutputParser().invoke(message)
    raise_if_refused([Generation(text="no")])
    raise_if_refused([])
