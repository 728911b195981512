"""`JsonOutputParser`."""

import pytest
from pydantic import BaseModel, Field

from dragoman.errors import OutputParserException
from dragoman.messages import AIMessage
from dragoman.output_parsers import JsonOutputParser, SimpleJsonOutputParser


class Author(BaseModel):
    """Doc."""

    name: str = Field(description="科学文章的作者")


@pytest.mark.parametrize(
    "text",
    [
        '{"a": [1]}',
        '  \n{"a": [1]}\n',
        '```json\n{"a": [1]}\n```',
        'Sure!\n```\n{"a": [1]}\n```\nDone.',
        '```json\n{"a": [1]}\n``` and ```json\n{"b": 2}\n```',
        '{"a": [1]} trailing',
        '{"a": [1',
    ],
)
def test_json_is_found(text):
    assert JsonOutputParser().parse(text) == {"a": [1]}
    assert JsonOutputParser().invoke(AIMessage(text)) == {"a": [1]}


@pytest.mark.parametrize("text", ["", "   ", "nope", "```json\n```"])
def test_what_is_no_json(text):
    with pytest.raises(OutputParserException, match="Invalid json output") as caught:
        JsonOutputParser().parse(text)

    assert caught.value.llm_output == text.strip()
    assert "OUTPUT_PARSING_FAILURE" in str(caught.value)
    assert list(JsonOutputParser().transform(iter([text]))) == []


def test_streaming():
    parts = ['{"set', 'up": "W', 'hy", "n', '": [1, ', "2]}"]

    assert list(JsonOutputParser().transform(iter(parts))) == [
        {},
        {"setup": "W"},
        {"setup": "Why"},
        {"setup": "Why", "n": [1]},
        {"setup": "Why", "n": [1, 2]},
    ]


def test_streaming_patches():
    parts = ['{"a"', ': 1, "b', '": [1,', "2]}"]

    assert list(JsonOutputParser(diff=True).transform(iter(parts))) == [
        [{"op": "replace", "path": "", "value": {}}],
        [{"op": "add", "path": "/a", "value": 1}],
        [{"op": "add", "path": "/b", "value": [1]}],
        [{"op": "add", "path": "/b/1", "value": 2}],
    ]


def test_format_instructions():
    plain = JsonOutputParser().get_format_instructions()
    shown = JsonOutputParser(pydantic_object=Author).get_format_instructions()

    assert plain == "Return a JSON object."
    assert "科学文章的作者" in shown
    assert '"title": "Author"' not in shown
    assert SimpleJsonOutputParser is JsonOutputParser
    assert JsonOutputParser().asdict()["_type"] == "simple_json_output_parser"
