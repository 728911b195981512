"""What a tool returned, as the content of a message."""

from itertools import count
from typing import Any

import pytest

from dragoman.tools.output import cut, listed, max_chars, message_content, told


def test_a_type_that_is_no_text_makes_no_block():
    assert message_content([{"type": ["a"], "v": 1}]) == '[{"type": ["a"], "v": 1}]'


class Mute(Exception):
    def __str__(self) -> str:
        raise ValueError("no text")


@pytest.mark.parametrize(
    ("error", "text"),
    [(ValueError("v"), "ValueError: v"), (KeyError(), "KeyError"), (Mute("x"), "Mute")],
)
def test_an_error_is_told_whatever_its_text_does(error, text):
    assert told(error) == text
    assert message_content(error) == text


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


IMAGE = {"type": "image", "base64": "x" * 50}


@pytest.mark.parametrize(
    ("content", "limit", "result"),
    [
        ("abcd", 4, "abcd"),
        ("abcde", 4, "abcd\n[cut: 4 of 5 characters]"),
        (["ab", text("cd")], 4, ["ab", text("cd")]),
        (
            [text("abc"), "def", text("ghi"), IMAGE],
            4,
            [text("abc"), "d\n[cut: 4 of 9 characters]", IMAGE],
        ),
        ([text("abcd"), "e"], 4, [text("abcd"), "\n[cut: 4 of 5 characters]"]),
        ([IMAGE], 4, [IMAGE]),
    ],
)
def test_the_text_of_all_blocks_together_is_cut(content, limit, result):
    assert cut(content, limit) == result


def test_an_iterator_is_read_until_its_text_is_long_enough():
    assert listed(iter(["a", 1])) == '["a", 1]'
    numbers = count()
    endless = listed(numbers)
    assert len(endless) == 200_000
    assert endless.startswith("[0, 1, 2, ")
    assert endless.endswith("\n[cut: 200000 characters of more]")
    assert next(numbers) < 100_000


def test_the_bound_is_that_of_whoever_runs_the_calls():
    token = max_chars.set(50)
    try:
        assert listed("y" * 9 for _ in range(9)) == (
            '["yyyyyyyyy", "yyyyyy\n[cut: 50 characters of more]'
        )
    finally:
        max_chars.reset(token)
