"""Docstrings: descriptions and arguments."""

import pytest

from dragoman.utils.docstrings import parse_docstring

NAMES = ["bar", "baz"]


@pytest.mark.parametrize(
    ("doc", "description", "arguments"),
    [
        (
            "Sum.\n\n    Args:\n        bar: the bar\n        baz: the baz\n",
            "Sum.",
            "the bar|the baz",
        ),
        ("Sum.\n\nMore.\nline two.\n\nArgs:\n  bar: a\n\n  baz: c", "Sum. More.\nline two.", "a|c"),
        ("Sum.\n\nArgs:\n  bar: a:\n    foo: b\n  baz (int): c", "Sum.", "a: foo: b|c"),
        ("Sum.\n\nExample:\n  x\n\nArgs:\n  bar: a", "Sum.", "a|"),
        ("Sum.\n\nArgs:\n  bar: a\nReturns:\n  x: y", "Sum.", "a|"),
        ("Sum.\n\nArguments:\n  bar: a\n", "Sum.", "a|"),
        ("Sum.\n\nArgs:\n  bar: a\n  callbacks: x\n  runtime: y\n", "Sum.", "a|"),
        ("Sum.", "Sum.", "|"),
        ("Args:\n  bar: a", "", "a|"),
        (None, "", "|"),
    ],
)
def test_google_style(doc, description, arguments):
    found, texts = parse_docstring(doc, NAMES)
    assert found == description
    assert "|".join(texts.get(name, "") for name in NAMES) == arguments


@pytest.mark.parametrize(
    "doc",
    [
        None,
        "Sum.",
        "Sum.\nArgs:\n    bar: the bar",
        "Args:\n  bar: a",
        "Sum.\n\nReturns:\n  a",
    ],
)
def test_strict_refuses_what_is_no_google_docstring(doc):
    with pytest.raises(ValueError, match=r"Found invalid Google-Style docstring\."):
        parse_docstring(doc, NAMES, strict=True)


def test_an_argument_that_is_not_there():
    doc = "Sum.\n\nArgs:\n  banana: a"
    assert parse_docstring(doc, NAMES) == ("Sum.", {})
    with pytest.raises(ValueError, match="Arg banana in docstring not found in function signature"):
        parse_docstring(doc, NAMES, allow_unknown=False)


def test_a_function_without_arguments_needs_no_args_block():
    assert parse_docstring("Sum.", [], strict=True) == ("Sum.", {})
