"""Parsers of the oldest form of a call."""

import pytest
from pydantic import BaseModel

from dragoman.errors import OutputParserException
from dragoman.messages import AIMessage, AIMessageChunk
from dragoman.output_parsers.openai_functions import (
    JsonKeyOutputFunctionsParser,
    JsonOutputFunctionsParser,
    OutputFunctionsParser,
    PydanticAttrOutputFunctionsParser,
    PydanticOutputFunctionsParser,
)


class f(BaseModel):
    a: int


def call(arguments, name="f", cls=AIMessage):
    return cls("", additional_kwargs={"function_call": {"name": name, "arguments": arguments}})


@pytest.mark.parametrize(
    ("parser", "value"),
    [
        (OutputFunctionsParser(), '{"a": 1}'),
        (OutputFunctionsParser(args_only=False), {"name": "f", "arguments": '{"a": 1}'}),
        (JsonOutputFunctionsParser(), {"a": 1}),
        (JsonOutputFunctionsParser(args_only=False), {"name": "f", "arguments": {"a": 1}}),
        (JsonKeyOutputFunctionsParser(key_name="a"), 1),
        (PydanticOutputFunctionsParser(pydantic_schema=f), f(a=1)),
        (PydanticOutputFunctionsParser(pydantic_schema={"f": f}), f(a=1)),
        (PydanticAttrOutputFunctionsParser(pydantic_schema=f, attr_name="a"), 1),
    ],
)
def test_values(parser, value):
    message = call('{"a": 1}')

    assert parser.invoke(message) == value
    assert message.additional_kwargs["function_call"]["arguments"] == '{"a": 1}'


@pytest.mark.parametrize("parser", [OutputFunctionsParser(), JsonOutputFunctionsParser()])
def test_what_is_no_call(parser):
    with pytest.raises(OutputParserException, match="can only be used with a chat generation"):
        parser.invoke("x")
    with pytest.raises(
        OutputParserException, match="Could not parse function call: 'function_call'"
    ):
        parser.invoke(AIMessage("x"))


@pytest.mark.parametrize("arguments", ["{", None, "noqweqwe"])
def test_arguments_that_are_no_json(arguments):
    with pytest.raises(OutputParserException, match="Could not parse function call data"):
        JsonOutputFunctionsParser().invoke(call(arguments))


def test_control_characters_are_allowed_unless_strict():
    message = call('{"a": "x\ny"}')

    assert JsonOutputFunctionsParser().invoke(message) == {"a": "x\ny"}
    with pytest.raises(OutputParserException):
        JsonOutputFunctionsParser(strict=True).invoke(message)


def test_schemas():
    with pytest.raises(ValueError, match="args_only should be False"):
        PydanticOutputFunctionsParser(pydantic_schema={"f": f}, args_only=True)
    with pytest.raises(KeyError):
        PydanticOutputFunctionsParser(pydantic_schema={"g": f}).invoke(call("{}"))
    with pytest.raises(KeyError):
        JsonKeyOutputFunctionsParser(key_name="z").invoke(call("{}"))
    assert JsonOutputFunctionsParser().asdict()["_type"] == "json_functions"
    with pytest.raises(NotImplementedError):
        JsonOutputFunctionsParser().parse("x")


def test_streams():
    parts = [call(text, cls=AIMessageChunk) for text in ('{"a', '": 1', ', "b": "x', '"}')]
    for part in parts[1:]:
        part.additional_kwargs["function_call"]["name"] = ""

    assert list(JsonOutputFunctionsParser().transform(iter(parts))) == [
        {},
        {"a": 1},
        {"a": 1, "b": "x"},
    ]
    assert list(JsonKeyOutputFunctionsParser(key_name="b").transform(iter(parts))) == ["x"]
    patches = list(JsonOutputFunctionsParser(diff=True).transform(iter(parts)))
    assert patches[1] == [{"op": "add", "path": "/a", "value": 1}]
