"""B82: jinja2 templates read keys of plain data, and nothing else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.prompts import PromptTemplate
from dragoman.prompts.jinja import check_jinja, jinja_variables, render_jinja

jinja2 = pytest.importorskip("jinja2")
SecurityError = jinja2.exceptions.SecurityError


class Thing:
    secret = "hunter2"

    def __call__(self):
        raise AssertionError("called")

    def method(self):
        raise AssertionError("called")


VALUES = {"a": {"b": 1, "keys": "own"}, "o": Thing(), "x": "text", "l": [3, 4]}

REFUSED_WHEN_BUILT = [
    "{{ ''.__class__.__mro__ }}",
    "{{ cycler.__init__.__globals__ }}",
    '{{ x|attr("__class__") }}',
    '{{ "%s"|format(x) }}',
    "{{ x.upper() }}",
    "{{ a['__class__'] }}",
    "{{ o._private }}",
    "{{ o.method() }}",
    "{% include 'x' %}",
    "{% import 'x' as y %}",
    "{% extends 'x' %}",
    "{{ x.format(x) }}",
    "{% set y = x.__class__ %}{{ y }}",
]

REFUSED_WHEN_RENDERED = [
    "{{ o.secret }}",
    "{{ o['secret'] }}",
    "{{ o() }}",
    "{{ x.format }}",
    "{{ 'a' * 1000000000 }}",
    "{{ 9 ** 999999999 }}",
    "{{ '%999999999s' % x }}",
    "{{ x|center(999999999) }}",
    "{{ [1]|batch(999999999, 'x')|list }}",
    "{{ [o]|map(attribute='secret')|list }}",
    "{{ [o]|sum('secret') }}",
    "{{ range(999999999)|list }}",
]


@pytest.mark.parametrize("template", REFUSED_WHEN_BUILT)
def test_b82_what_cannot_be_right_is_refused_when_built(template):
    for build in (
        check_jinja,
        lambda t: PromptTemplate.from_template(t, template_format="jinja2"),
        lambda t: PromptTemplate(template=t, template_format="jinja2"),
        lambda t: PromptTemplate.model_construct(template=t, template_format="jinja2"),
    ):
        with pytest.raises(SecurityError) as caught:
            build(template)
        assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize("template", REFUSED_WHEN_RENDERED)
def test_b82_the_rest_is_refused_when_rendered(template):
    with pytest.raises((SecurityError, OverflowError)):
        render_jinja(template, VALUES)


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("{{ a.b }}", "1"),
        ("{{ a['b'] }}", "1"),
        ("{{ a.keys }}", "own"),
        ("{{ a.items }}", ""),
        ("{{ l[1] }}{{ l[9] }}", "4"),
        ("{% for i in l %}{{ loop.index }}:{{ i }} {% endfor %}", "1:3 2:4 "),
        ("{% if x %}{{ x|upper }}{% endif %}", "TEXT"),
        ("{% macro m(z) %}<{{ z }}>{% endmacro %}{{ m(1) }}", "<1>"),
        ("{{ 3 * 4 }} {{ 2 ** 8 }}", "12 256"),
        ("{{ range(3)|list }}", "[0, 1, 2]"),
        ("{{ missing.a.b }}{{ missing|default('q') }}", "q"),
        ("{{ [a]|map(attribute='b')|list }}", "[1]"),
        ("{{ a|tojson }}", '{"b": 1, "keys": "own"}'),
        ("{{ '<b>' }}", "<b>"),
    ],
)
def test_what_templates_are_for_works(template, text):
    assert render_jinja(template, VALUES) == text


def test_a_template_that_does_not_parse_is_refused_when_built():
    with pytest.raises(jinja2.exceptions.TemplateSyntaxError):
        PromptTemplate.from_template("{{ a", template_format="jinja2")


def test_variables_are_what_the_caller_must_supply():
    assert jinja_variables("{% set y = 1 %}{{ y }}{{ z }}{% for r in q %}{{ r }}{% endfor %}") == [
        "q",
        "z",
    ]


PIECES = st.sampled_from(
    ["x", "o", "a", "''", "cycler", "self", "loop", "[o]", "(o)", "range", "a.b", "lipsum", "dict"]
)
STEPS = st.sampled_from(
    [
        ".__class__",
        "['__class__']",
        "|attr('__class__')",
        ".mro()",
        "|map('attr', '__init__')|list",
        "[0]",
        ".secret",
        "['sec' ~ 'ret']",
        "()",
        "|list",
        "|format(o)",
        "|join",
        "|first",
        "|map(attribute='secret')|list",
        "|groupby('secret')|list",
        "|selectattr('secret')|list",
        "|xmlattr",
        "|string",
        "|tojson",
        "~ 'x'",
    ]
)


@given(PIECES, st.lists(STEPS, max_size=4))
def test_b82_no_expression_reaches_an_attribute(piece, steps):
    template = "{{ " + piece + "".join(steps) + " }}"

    try:
        text = render_jinja(template, VALUES)
    except Exception:
        return

    assert "hunter2" not in text
    assert "<class" not in text
    assert "bound method" not in text


@pytest.mark.parametrize(
    "template", ["{{ range }}", "{{ range ~ '' }}", "{{ [range]|join }}", "{{ range|string }}"]
)
def test_b82_a_range_that_is_not_called_is_a_variable(template):
    prompt = PromptTemplate.from_template(template, template_format="jinja2")

    assert prompt.input_variables == ["range"]
    assert prompt.format(range="1-9") == "1-9"
    assert prompt.format() == ""


def test_b82_the_function_range_is_not_printed():
    template = "{% for i in range(3) %}{{ i }}{% endfor %}"
    assert PromptTemplate.from_template(template, template_format="jinja2").format() == "012"
    with pytest.raises(ValueError, match="range"):
        PromptTemplate.from_template(template + "{{ range ~ '' }}", template_format="jinja2")


@pytest.mark.parametrize(
    ("template", "value"),
    [
        ("{{ a }}", len),
        ("{{ a }}", "x".upper),
        ("{{ a }}", dict),
        ("{{ self }}", 1),
        ("{% macro f() %}x{% endmacro %}{{ f }}", 1),
    ],
)
def test_b82_no_function_or_class_is_printed(template, value):
    prompt = PromptTemplate.from_template(template, template_format="jinja2")

    with pytest.raises(ValueError, match="function or class"):
        prompt.format(**dict.fromkeys(prompt.input_variables, value))


def test_functions_of_the_template_are_called_as_before():
    template = (
        "{% macro f(x) %}<{{ x }}>{% endmacro %}{% for i in range(2) %}{{ f(i) }}{% endfor %}"
    )

    assert PromptTemplate.from_template(template, template_format="jinja2").format() == "<0><1>"
