import io
import sys

import pytest

from dragoman.cli.output import clean, console, is_terminal, print_error


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain\n\ttext é 你", "plain\n\ttext é 你"),
        ("\x1b[31mred\x1b[0m", "[31mred[0m"),
        ("\x1b]0;title\x07x", "]0;titlex"),
        ("a\rb\x00\x08\x7f\x9b1mc", "ab1mc"),
    ],
)
def test_clean_takes_out_what_a_terminal_would_obey(text, expected):
    assert clean(text) == expected


def test_an_error_is_one_line_on_stderr(capsys):
    print_error("first\n  second\t\x1b[2Jthird")
    out, err = capsys.readouterr()
    assert (out, err) == ("", "dragoman: first second [2Jthird\n")


def test_the_console_prints_text_as_it_is(monkeypatch):
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stdout", stream)
    assert not is_terminal()
    console().print("[bold]no markup[/bold] :smile: " + "long " * 60)
    assert stream.getvalue() == "[bold]no markup[/bold] :smile: " + "long " * 60 + "\n"
