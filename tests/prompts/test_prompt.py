"""`PromptTemplate`, and the safety of f-strings however a template came to be."""

import copy
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from dragoman.prompts import ChatPromptTemplate, HumanMessagePromptTemplate, PromptTemplate

pytestmark = pytest.mark.filterwarnings("ignore:.*is deprecated:DeprecationWarning")

UNSAFE = [
    "{a.b}",
    "{a[0]}",
    "{a.__class__.__init__.__globals__}",
    "{0}",
    "{}",
    "{a:{b}}",
    "{a:>50000000}",
    "{a:.99999f}",
    "{a!z}",
    '{"answer": "value"}',
    "{a b}",
    "{ a }",
    "{a",
    "a}",
]


def test_filling():
    prompt = PromptTemplate.from_template("{a} {b:.2f} {c!r:>5} {{d}}")

    assert prompt.input_variables == ["a", "b", "c"]
    assert prompt.format(a="{x}", b=1.239, c="q") == "{x} 1.24   'q' {d}"
    assert prompt.format(a=0, b=0, c=None) == "0 0.00  None {d}"
    with pytest.raises(KeyError, match="'b'"):
        prompt.format(a=1)


@pytest.mark.parametrize("template", UNSAFE)
def test_b79_b81_an_unsafe_template_is_refused_when_built(template):
    safe = PromptTemplate.from_template("{a}")
    state = safe.__getstate__()
    state["__dict__"] = {**state["__dict__"], "template": template}
    ways = [
        lambda: PromptTemplate.from_template(template),
        lambda: PromptTemplate(template=template),
        lambda: PromptTemplate.model_validate({"template": template}),
        lambda: PromptTemplate.model_construct(template=template, input_variables=[]),
        lambda: safe.model_copy(update={"template": template}),
        lambda: PromptTemplate.__new__(PromptTemplate).__setstate__(state),
        lambda: safe + template,
        lambda: HumanMessagePromptTemplate.from_template(template),
        lambda: HumanMessagePromptTemplate.from_template([template]),
        lambda: HumanMessagePromptTemplate.from_template([{"x": {"y": [template]}}]),
        lambda: ChatPromptTemplate([("system", template)]),
        lambda: ChatPromptTemplate(["x"]) + template,
        lambda: ChatPromptTemplate(["x"]).append(template),
    ]
    for way in ways:
        with pytest.raises(ValueError, match="string"):
            way()


def test_a_template_made_unsafe_afterwards_is_never_rendered_nor_copied():
    prompt = PromptTemplate.from_template("{a}")
    prompt.template = "{a.__class__}"

    for use in (
        lambda: prompt.format(a=1),
        lambda: copy.deepcopy(prompt),
        lambda: copy.copy(prompt),
        lambda: pickle.loads(pickle.dumps(prompt)),
        lambda: prompt.partial(a=1),
        lambda: prompt + "x",
        lambda: ChatPromptTemplate(
            [HumanMessagePromptTemplate.model_construct(prompt=prompt, additional_kwargs={})]
        ),
    ):
        with pytest.raises(ValueError, match="f-string"):
            use()


def test_b79_the_error_names_the_braces_and_says_what_to_do():
    with pytest.raises(ValueError, match=r"""'"answer"'.*double braces.*\{\{ and \}\}"""):
        PromptTemplate.from_template('reply {"answer": "value"}')
    with pytest.raises(ValueError, match=r"Variable names cannot contain attribute access \(\.\)"):
        PromptTemplate.from_template("{a.b}")
    with pytest.raises(ValueError, match="Nested replacement fields are not allowed"):
        PromptTemplate.from_template("{a:{b}}")


@given(st.text(alphabet='{}a.[]0:!"r> ', max_size=12), st.text(alphabet="{}ab", max_size=6))
def test_b79_values_are_never_read_as_templates(template, value):
    try:
        prompt = PromptTemplate.from_template(template)
    except ValueError:
        return
    text = prompt.format(**dict.fromkeys(prompt.input_variables, value))
    plain = template.format(**dict.fromkeys(prompt.input_variables, value))
    assert text == plain
    assert len(text) < 20_000


def test_copies_are_equal_and_independent():
    prompt = PromptTemplate.from_template("{a} {b}", partial_variables={"b": 1})

    for twin in (
        pickle.loads(pickle.dumps(prompt)),
        copy.deepcopy(prompt),
        prompt.model_copy(),
        PromptTemplate.model_validate(prompt.model_dump()),
    ):
        assert twin == prompt
        assert twin.format(a=1) == "1 1"
    with pytest.raises(TypeError):
        hash(prompt)


def test_partial_values_may_be_functions_and_users_win():
    calls = []
    prompt = PromptTemplate.from_template("{a} {b}").partial(
        b=lambda: calls.append(1) or len(calls)
    )

    assert prompt.input_variables == ["a"]
    assert [prompt.format(a="x"), prompt.format(a="x")] == ["x 1", "x 2"]
    assert prompt.format(a="x", b="own") == "x own"
    assert len(calls) == 2


def test_adding():
    one = PromptTemplate.from_template("{a} ", partial_variables={"x": 1})
    two = PromptTemplate.from_template("{b}", partial_variables={"y": 2})

    both = one + two

    assert both.template == "{a} {b}"
    assert both.input_variables == ["a", "b"]
    assert both.partial_variables == {"x": 1, "y": 2}
    with pytest.raises(ValueError, match="Cannot add templates of different formats"):
        one + PromptTemplate.from_template("{{a}}", template_format="mustache")
    with pytest.raises(ValueError, match="partialed twice"):
        one + one
    with pytest.raises(NotImplementedError, match="Unsupported operand type for"):
        one + 3


def test_input_variables_are_computed_whatever_was_passed():
    prompt = PromptTemplate(template="{a} {b}", input_variables=["z"], partial_variables={"b": 1})

    assert prompt.input_variables == ["a"]


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"template": "{a}", "validate_template": True}, "Input variables must be provided"),
        (
            {"template": "{a}", "input_variables": [], "validate_template": True},
            r"missing input parameters from \[\]\.",
        ),
        (
            {
                "template": "{{a}}",
                "template_format": "mustache",
                "input_variables": [],
                "validate_template": True,
            },
            "Mustache templates cannot be validated",
        ),
        ({"template": "{stop}"}, "Cannot have an input variable named 'stop'"),
        ({"template": "{a}", "partial_variables": {"stop": 1}}, "partial variable named 'stop'"),
        ({"input_variables": []}, "Field required"),
    ],
)
def test_bad_fields(fields, text):
    with pytest.raises(ValidationError, match=text):
        PromptTemplate(**fields)


def test_other_ways_to_build(tmp_path):
    file = tmp_path / "prompt.txt"
    file.write_text("é {a}", encoding="utf-8")

    assert PromptTemplate.from_file(file, encoding="utf-8").format(a=1) == "é 1"
    examples = PromptTemplate.from_examples(["e1", "e2"], "s {q}", ["q"], prefix="p")
    assert examples.format(q=1) == "p\n\ne1\n\ne2\n\ns 1"


def test_showing():
    prompt = PromptTemplate.from_template("{a} b")

    assert repr(prompt) == (
        "PromptTemplate(input_variables=['a'], input_types={}, partial_variables={}, "
        "template='{a} b')"
    )
    assert prompt.pretty_repr() == "{a} b"
    assert prompt.pretty_repr(html=True) == "\x1b[33;1m\x1b[1;3m{a}\x1b[0m b"
    assert prompt.asdict()["_type"] == "prompt"
    assert prompt.dict() == prompt.asdict()
