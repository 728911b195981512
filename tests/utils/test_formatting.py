"""f-string templates, made safe."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.utils.formatting import StrictFormatter, compile_f_string, formatter


@pytest.mark.parametrize(
    ("template", "values", "text"),
    [
        ("{a}", {"a": "x"}, "x"),
        ("{a:>3}|{a!r}|{a!s:<3}|", {"a": "x"}, "  x|'x'|x  |"),
        ("{{a}}", {}, "{a}"),
        ("{n:,} {f:.1%}", {"n": 1234, "f": 0.5}, "1,234 50.0%"),
        ("{größe}", {"größe": 1}, "1"),
        ("{class}", {"class": 1}, "1"),
        ("", {}, ""),
    ],
)
def test_safe_templates(template, values, text):
    assert formatter.format(template, **values) == text
    assert compile_f_string(template).render(values) == text


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("{a.b}", r"attribute access \(\.\) or indexing \(\[\]\)"),
        ("{a[0]}", "attribute access"),
        ("{0}", "all digits"),
        ("{}", "double braces"),
        ("{a b}", "double braces"),
        ('{"a": 1}', "double braces"),
        ("{a-b}", "double braces"),
        ("{a:{b}}", "Nested replacement fields are not allowed"),
        ("{a:>1000}", "end at 999"),
        ("{a:.1000}", "end at 999"),
        ("{a:" + "9" * 5000 + "}", "end at 999"),
        ("{a!z}", "conversion"),
        ("{a", "expected '}'"),
        ("a}", "Single '}'"),
    ],
)
def test_unsafe_templates(template, text):
    for use in (compile_f_string, lambda t: formatter.format(t, a=1, b=2)):
        with pytest.raises(ValueError, match=text):
            use(template)


def test_keywords_only():
    with pytest.raises(ValueError, match="No arguments should be provided"):
        formatter.format("{a}", 1)
    with pytest.raises(KeyError, match="a"):
        formatter.format("{a}")
    assert StrictFormatter().vformat("{a}", [], {"a": 1}) == "1"


def test_input_variables_can_be_checked():
    formatter.validate_input_variables("{a}", ["a", "b"])
    with pytest.raises(KeyError):
        formatter.validate_input_variables("{a}", ["b"])


@given(st.text(max_size=20), st.text(max_size=20))
def test_text_with_doubled_braces_comes_back(text, value):
    escaped = text.replace("{", "{{").replace("}", "}}")

    assert formatter.format(escaped + "{v}", v=value) == text + value
