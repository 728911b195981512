"""Few-shot prompts, as text and as messages."""

import asyncio

import pytest

from dragoman.example_selectors import BaseExampleSelector
from dragoman.load import dumpd
from dragoman.messages import AIMessage, HumanMessage
from dragoman.prompts import (
    ChatPromptTemplate,
    FewShotChatMessagePromptTemplate,
    FewShotPromptTemplate,
    PromptTemplate,
)

ONE = PromptTemplate.from_template("{q}={a}")
EXAMPLES = [{"q": "1+1", "a": "2", "note": "unused"}, {"q": "2+2", "a": "4"}]


class Chooser(BaseExampleSelector):
    def add_example(self, example):
        raise NotImplementedError

    def select_examples(self, input_variables):
        return [e for e in EXAMPLES if e["q"] != input_variables.get("q")]


def few(**fields):
    return FewShotPromptTemplate(
        **{"examples": EXAMPLES, "example_prompt": ONE, "suffix": "{q}=", **fields}
    )


def test_prefix_examples_and_suffix_are_joined():
    prompt = few(prefix="Add, {name}.")

    assert prompt.input_variables == ["name", "q"]
    assert prompt.format(name="N", q="3+3") == "Add, N.\n\n1+1=2\n\n2+2=4\n\n3+3="
    assert few(example_separator="|", suffix="").format() == "1+1=2|2+2=4"
    assert few(examples=[]).format(q="x") == "x="


def test_b79_examples_are_data():
    prompt = few(examples=[{"q": '{"json": 1}', "a": "{q}"}])

    assert prompt.format(q="x") == '{"json": 1}={q}\n\nx='


def test_a_selector_chooses_by_the_input():
    prompt = few(examples=None, example_selector=Chooser())

    assert prompt.format(q="1+1") == "2+2=4\n\n1+1="
    assert asyncio.run(prompt.aformat(q="1+1")) == "2+2=4\n\n1+1="


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"example_selector": Chooser()}, "Only one of 'examples' and 'example_selector'"),
        ({"examples": None}, "One of 'examples' and 'example_selector' should be provided"),
        ({"examples": None, "example_selector": 3}, "no BaseExampleSelector"),
        ({"suffix": "{a.b}"}, "attribute access"),
        ({"prefix": "{0}"}, "all digits"),
        ({"template_format": "mustache"}, "template_format"),
        ({"foo": 1}, "Extra inputs are not permitted"),
        ({"input_variables": [], "validate_template": True}, r"input parameters from \[\]"),
    ],
)
def test_bad_fields(fields, text):
    with pytest.raises(ValueError, match=text):
        few(**fields)


def test_partials_and_jinja2():
    assert few().partial(q="9").format() == "1+1=2\n\n2+2=4\n\n9="
    assert few(template_format="jinja2", suffix="{{ q }}").format(q=1).endswith("\n\n1")


def test_storing(tmp_path):
    assert dumpd(few())["type"] == "not_implemented"
    with pytest.raises(ValueError, match="selector"):
        few(examples=None, example_selector=Chooser()).save(tmp_path / "p.json")


TURN = ChatPromptTemplate([("human", "{q}"), ("ai", "{a}")])


def test_examples_as_messages():
    prompt = FewShotChatMessagePromptTemplate(examples=EXAMPLES[:1], example_prompt=TURN)

    assert prompt.format_messages() == [HumanMessage("1+1"), AIMessage("2")]
    assert prompt.format() == "Human: 1+1\nAI: 2"
    assert prompt.input_variables == []
    assert dumpd(prompt)["type"] == "not_implemented"
    with pytest.raises(ValueError, match="Extra inputs are not permitted"):
        FewShotChatMessagePromptTemplate(examples=[], example_prompt=TURN, foo=1)


def test_a_selector_inside_a_chat_prompt():
    shots = FewShotChatMessagePromptTemplate(
        example_selector=Chooser(), example_prompt=TURN, input_variables=["q"]
    )
    prompt = ChatPromptTemplate([shots, ("human", "{q}")])

    expected = [HumanMessage("2+2"), AIMessage("4"), HumanMessage("1+1")]
    assert prompt.invoke({"q": "1+1"}).messages == expected
    assert asyncio.run(prompt.ainvoke({"q": "1+1"})).messages == expected
