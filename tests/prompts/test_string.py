"""The three template formats: what they read, what they refuse, what they put in."""

import collections
from types import MappingProxyType

import pytest

from dragoman.prompts import PromptTemplate
from dragoman.prompts.string import (
    DEFAULT_FORMATTER_MAPPING,
    check_valid_template,
    get_template_variables,
    is_subsequence,
    jinja2_formatter,
    mustache_formatter,
    mustache_template_vars,
    validate_f_string_template,
    validate_jinja2,
)


@pytest.mark.parametrize(
    ("template", "template_format", "variables"),
    [
        ("{b} {a} {b}", "f-string", ["a", "b"]),
        ("{{a}} {b!r:>3}", "f-string", ["b"]),
        (
            "{{x.y}} {{#l}}{{z}}{{/l}}{{^m}}{{/m}}{{{n}}}{{&o}}{{!c}}",
            "mustache",
            ["l", "m", "n", "o", "x"],
        ),
        ("{{ a.b }}{% for x in rows %}{{ x }}{% endfor %}", "jinja2", ["a", "rows"]),
    ],
)
def test_variables_are_found_and_sorted(template, template_format, variables):
    assert get_template_variables(template, template_format) == variables
    prompt = PromptTemplate.from_template(template, template_format=template_format)
    assert prompt.input_variables == variables


def test_an_unknown_format_is_named():
    for call in (
        lambda: get_template_variables("{a}", "bar"),
        lambda: PromptTemplate.from_template("{a}", template_format="bar"),
        lambda: PromptTemplate(template="{a}", template_format="bar"),
        lambda: check_valid_template("{a}", "bar", ["a"]),
    ):
        with pytest.raises(ValueError, match="Unsupported template format: bar"):
            call()


def test_mustache_reads_mappings_and_lists_and_nothing_else():
    class Secret:
        password = "hunter2"

        def __call__(self):
            raise AssertionError("called")

    data = {"o": Secret(), "d": MappingProxyType({"k": "v"}), "l": [{"x": 1}, {"x": 2}]}

    assert mustache_formatter("{{o.password}}", **data) == ""
    assert mustache_formatter("{{o.__class__.__name__}}{{o.__init__.__globals__}}", **data) == ""
    assert mustache_formatter("{{#o}}{{password}}{{/o}}", **data) == ""
    assert mustache_formatter("{{d.k}} {{l.1.x}} {{#l}}{{x}}{{/l}}", **data) == "v 2 12"
    assert mustache_formatter("{{s.upper}}{{s.0}}", s="text") == ""
    assert mustache_formatter("{{d.k}}", d=collections.ChainMap({"k": 1})) == "1"


def test_jinja2_formatter_is_sandboxed():
    jinja2 = pytest.importorskip("jinja2")

    assert jinja2_formatter("{{ a }}", a=1) == "1"
    with pytest.raises(jinja2.exceptions.SecurityError):
        jinja2_formatter("{{ ''.__class__.__bases__[0] }}")


def test_checking_input_variables():
    check_valid_template("{a}", "f-string", ["a", "extra"])
    with pytest.raises(ValueError, match=r"mismatched or missing input parameters from \['b'\]\."):
        check_valid_template("{a}", "f-string", ["b"])
    with pytest.raises(ValueError, match="Mustache templates cannot be validated"):
        check_valid_template("{{a}}", "mustache", ["a"])


def test_jinja2_variables_are_compared_with_a_warning_only():
    with pytest.warns(
        UserWarning, match=r"Missing variables: \{'foo'\} Extra variables: \{'bar'\}"
    ):
        validate_jinja2("{{ foo }}", ["bar"])
    with pytest.warns(UserWarning, match=r"Missing variables: \{'foo'\}"):
        PromptTemplate(
            template="{{ foo }}",
            template_format="jinja2",
            input_variables=[],
            validate_template=True,
        )


def test_small_functions():
    assert validate_f_string_template("{b}{a}") == ["a", "b"]
    assert mustache_template_vars("{{a}}") == {"a"}
    assert is_subsequence([1], [1, 2])
    assert not is_subsequence([], [1])
    assert DEFAULT_FORMATTER_MAPPING["f-string"]("{a}", a=1) == "1"
    assert DEFAULT_FORMATTER_MAPPING["mustache"]("{{a}}", a=1) == "1"
    assert DEFAULT_FORMATTER_MAPPING["jinja2"]("{{ a }}", a=1) == "1"


def test_the_schema_of_a_mustache_template_is_nested_and_optional():
    prompt = PromptTemplate.from_template(
        "{{foo}} {{x.y}} {{#l}}{{z}}{{/l}}", template_format="mustache"
    )

    schema = prompt.get_input_schema()

    assert schema.__name__ == "PromptInput"
    assert schema().model_dump() == {"foo": None, "x": None, "l": None}
    assert schema.model_json_schema()["$defs"]["x"]["properties"]["y"] == {
        "default": None,
        "title": "Y",
        "type": "string",
    }
    assert "z" in schema.model_json_schema()["$defs"]["l"]["properties"]
    bare = PromptTemplate.from_template("{{#s}}yes{{/s}}{{^s}}no{{/s}}", template_format="mustache")
    assert bare.get_input_jsonschema()["properties"]["s"]["type"] == "object"
