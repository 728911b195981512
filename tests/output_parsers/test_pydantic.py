"""`PydanticOutputParser`."""

from typing import Literal

import pytest
from pydantic import BaseModel

from dragoman.errors import OutputParserException
from dragoman.output_parsers import PydanticOutputParser


class Move(BaseModel):
    direction: Literal["up", "down"]
    steps: int


PARSER = PydanticOutputParser(pydantic_object=Move)


def test_instances():
    move = Move(direction="up", steps=3)

    assert PARSER.parse('```json\n{"direction": "up", "steps": 3}\n```') == move
    assert PARSER.invoke('{"direction": "up", "steps": "3"}') == move
    assert PARSER.OutputType is Move
    assert PARSER.asdict()["_type"] == "pydantic"


def test_failures():
    with pytest.raises(
        OutputParserException, match="Failed to parse Move from completion"
    ) as caught:
        PARSER.parse('{"direction": "left", "steps": 3}')
    assert "Got: 1 validation error for Move" in str(caught.value)
    assert caught.value.llm_output == '{"direction": "left", "steps": 3}'
    with pytest.raises(OutputParserException, match="Invalid json output"):
        PARSER.parse("up")
    with pytest.raises(OutputParserException):
        PARSER.parse("null")


def test_streaming_yields_what_is_valid():
    parts = ['{"direction": "up"', ', "steps": 1', "2}"]

    assert list(PARSER.transform(iter(parts))) == [
        Move(direction="up", steps=1),
        Move(direction="up", steps=12),
    ]


def test_format_instructions_hold_the_schema():
    text = PARSER.get_format_instructions()

    assert '"enum": ["up", "down"]' in text
    assert text.count("{{") == 0
