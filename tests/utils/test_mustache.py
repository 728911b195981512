"""Mustache without reach."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.utils.mustache import ChevronError, lookup, render, tokenize, top_level_names


@pytest.mark.parametrize(
    ("template", "data", "text"),
    [
        ("{{a}}", {"a": '<&">'}, "&lt;&amp;&quot;&gt;"),
        ("{{{a}}}{{&a}}", {"a": "<"}, "<<"),
        ("{{a.b.c}}", {"a": {"b": {"c": 0}}}, "0"),
        ("{{missing}}{{a.b}}", {"a": None}, ""),
        ("{{#l}}{{.}},{{/l}}", {"l": [1, 0, 2]}, "1,0,2,"),
        ("{{#o}}{{x}}{{y}}{{/o}}", {"o": {"x": 1}, "y": 2}, "12"),
        ("{{#t}}yes{{/t}}{{^t}}no{{/t}}", {"t": True}, "yes"),
        ("{{#t}}yes{{/t}}{{^t}}no{{/t}}", {"t": []}, "no"),
        ("{{#t}}yes{{/t}}{{^t}}no{{/t}}", {}, "no"),
        ("a{{! comment }}b", {}, "ab"),
        ("{{=<% %>=}}<% a %>", {"a": 1}, "1"),
        ("{{#a}}{{#b}}{{c}}{{/b}}{{/a}}", {"a": [{"b": {"c": 1}}, {"b": {"c": 2}}]}, "12"),
        ("{{a}}", {"a": False}, "False"),
    ],
)
def test_rendering(template, data, text):
    assert render(template, data) == text


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("{{}}", "empty tag"),
        ("{{a", "unclosed tag"),
        ("a {{", "unclosed tag"),
        ("{{#a}}", "never closed"),
        ("{{/a}}", "not opened"),
        ("{{#a}}{{/b}}", "close"),
        ("{{#a}}" * 200 + "{{/a}}" * 200, "nested more than"),
    ],
)
def test_syntax_errors(template, text):
    with pytest.raises(ChevronError, match=text) as caught:
        render(template, {})
    assert isinstance(caught.value, SyntaxError)


def test_partials_come_from_the_caller_and_end():
    assert render("{{>p}}", {"a": 1}, {"p": "<{{a}}>"}) == "<1>"
    assert render("{{>/etc/passwd}}", {}) == ""
    with pytest.raises(ValueError, match="partials nested"):
        render("{{>p}}", {}, {"p": "{{>p}}"})


class Thing:
    secret = "hunter2"

    def method(self):
        raise AssertionError("called")


@given(
    st.lists(
        st.sampled_from(["secret", "__class__", "__dict__", "method", "0", "mro", "keys"]),
        min_size=1,
        max_size=4,
    )
)
def test_no_name_reaches_an_attribute(steps):
    name = ".".join(["o", *steps])
    data = {"o": Thing(), "f": Thing().method}

    for template in (
        f"{{{{{name}}}}}",
        f"{{{{#o}}}}{{{{{'.'.join(steps)}}}}}{{{{/o}}}}",
        "{{#f}}{{/f}}",
    ):
        assert render(template, data) == ""


def test_small_functions():
    assert top_level_names("{{a.b}}{{#c}}{{d}}{{/c}}{{.}}") == ["a", "c"]
    assert lookup(".", [1]) == 1
    assert lookup("l.1", [{"l": [5, 6]}]) == 6
    assert lookup("l.9", [{"l": [5, 6]}]) == ""
    assert list(tokenize("a{{b}}")) == [("literal", "a"), ("variable", "b")]
