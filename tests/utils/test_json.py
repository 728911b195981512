"""JSON in the text of a model."""

from json import JSONDecodeError

import pytest

from dragoman.errors import OutputParserException
from dragoman.utils.json import (
    parse_and_check_json_markdown,
    parse_json_markdown,
    parse_partial_json,
)


@pytest.mark.parametrize(
    "text",
    [
        '{"a": "x"}',
        '```json\n{"a": "x"}\n```',
        '```\n{"a": "x"}```',
        'Text before\n```json\n\n{"a": "x"}\n\n``` text after',
        '`{"a": "x"}`',
        '```json\n{"a": "x',
        ' \t```JSON\n{"a": "x"}',
    ],
)
def test_fences(text):
    assert parse_json_markdown(text) == {"a": "x"}


def test_fences_inside_strings():
    assert parse_json_markdown('```json\n{"a": "x\\n```py\\ny```"}\n```') == {"a": "x\n```py\ny```"}


@pytest.mark.parametrize(
    ("inner", "value"),
    [
        ("a\nb\tc", "a\nb\tc"),
        ('say "hi" now', 'say "hi" now'),
        ('kept \\" quote', 'kept " quote'),
        ("plain", "plain"),
    ],
)
def test_action_input_is_repaired(inner, value):
    text = '{"action": "x", "action_input": "' + inner + '"}'

    assert parse_json_markdown(text) == {"action": "x", "action_input": value}
    assert parse_json_markdown('{"action_input": "' + inner + '", "b": 1}')["b"] == 1


def test_another_parser():
    assert parse_json_markdown("```json\nx```", parser=str.upper) == "JSON\nX"


def test_no_json():
    for text in ("", "nope", "```", "```json```"):
        with pytest.raises(JSONDecodeError):
            parse_json_markdown(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nope", "Got invalid JSON object"),
        ("[1]", r"Expected JSON object \(dict\), but got: list"),
        ('{"b": 1}', "Expected key `a` to be present"),
    ],
)
def test_expected_keys(text, message):
    with pytest.raises(OutputParserException, match=message) as caught:
        parse_and_check_json_markdown(text, ["a"])
    assert caught.value.llm_output == text
    assert parse_and_check_json_markdown('{"a": 1}', ["a"]) == {"a": 1}


def test_the_partial_parser_is_importable_here():
    assert parse_partial_json('{"a": [1, {"b": "c') == {"a": [1, {"b": "c"}]}


@pytest.mark.parametrize("text", ["}", '{"a":1}}', "{}}", '"abc"} x', "[1]] tail", '{"a": "}"}]'])
def test_a_stray_closing_bracket_gives_none(text):
    assert parse_partial_json(text) is None


@pytest.mark.parametrize("text", ['{"a"1,"b":[1,2]}', '{"a":1,"b":nope}', '{"k": "v", "z": -}'])
def test_whole_text_that_is_no_json_is_refused_not_shortened(text):
    with pytest.raises(JSONDecodeError, match="line 1 column"):
        parse_partial_json(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1} and more', {"a": 1}),
        ('{"a": "}}]', {"a": "}}]"}),
        ('{"a": 1, "b": nope, "c', {"a": 1}),
        ('{"k": "v\nw"}', {"k": "v\nw"}),
    ],
)
def test_text_that_is_cut_off_or_followed_by_text_gives_what_is_there(text, value):
    assert parse_partial_json(text) == value
    assert parse_partial_json(text, strict=True) == value


def test_the_error_is_that_of_the_standard_library():
    with pytest.raises(JSONDecodeError, match="Expecting value: line 1 column 1"):
        parse_partial_json("nope")
