"""Templates for one message, of one string or of parts."""

import asyncio

import pytest

from dragoman.messages import AIMessage, ChatMessage, HumanMessage
from dragoman.prompts import (
    AIMessagePromptTemplate,
    ChatMessagePromptTemplate,
    HumanMessagePromptTemplate,
    PromptTemplate,
    SystemMessagePromptTemplate,
)

PARTS = [
    "{a}",
    {"type": "text", "text": "{b}"},
    {"type": "image_url", "image_url": "https://e.org/{c}.png"},
    {"type": "image_url", "image_url": {"url": "{d}", "detail": "low"}},
    {"type": "custom", "data": {"deep": ["{e}", 1, True]}},
    {"type": "text", "text": "{f}", "cache_control": {"type": "ephemeral"}},
]


def test_parts_are_filled():
    template = HumanMessagePromptTemplate.from_template(PARTS)

    message = template.format(**{k: k.upper() for k in "abcdef"})

    assert template.input_variables == list("abcdef")
    assert message == HumanMessage(
        [
            {"type": "text", "text": "A"},
            {"type": "text", "text": "B"},
            {"type": "image_url", "image_url": {"url": "https://e.org/C.png"}},
            {"type": "image_url", "image_url": {"url": "D", "detail": "low"}},
            {"type": "custom", "data": {"deep": ["E", 1, True]}},
            {"type": "text", "text": "F", "cache_control": {"type": "ephemeral"}},
        ]
    )
    assert asyncio.run(template.aformat(**{k: k.upper() for k in "abcdef"})) == message


def test_text_parts_that_come_out_empty_are_left_out():
    message = HumanMessagePromptTemplate.from_template(["{a}", "x"]).format(a="")

    assert message.content == [{"type": "text", "text": "x"}]
    assert HumanMessagePromptTemplate.from_template("").format() == HumanMessage("")


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ([1], "Invalid template: 1"),
        (None, "Invalid template: None"),
        ([{"type": "text", "text": 1}], "Invalid template"),
        (
            [{"type": "image_url", "image_url": "{a}{b}"}],
            "Only one format variable allowed per image",
        ),
        ([{"type": "image_url", "image_url": 1}], "Invalid image template"),
        ([{"type": "image_url", "image_url": "{a.b}"}], "attribute access"),
        ([{"x": "{a[0]}"}], "indexing"),
    ],
)
def test_parts_that_are_no_templates(template, text):
    with pytest.raises(ValueError, match=text):
        HumanMessagePromptTemplate.from_template(template)


def test_what_lists_do_not_support():
    with pytest.raises(
        ValueError, match="Partial variables are not supported for list of templates"
    ):
        HumanMessagePromptTemplate.from_template(["{a}"], partial_variables={"a": 1})
    with pytest.raises(ValueError, match="jinja2"):
        HumanMessagePromptTemplate.from_template([{"x": "y"}], template_format="jinja2")


def test_classes_of_messages():
    for cls, kind in (
        (HumanMessagePromptTemplate, "human"),
        (AIMessagePromptTemplate, "ai"),
        (SystemMessagePromptTemplate, "system"),
    ):
        template = cls.from_template("{a}", partial_variables={"a": 1})
        assert template.format().type == kind
        assert template.format_messages() == [template.format()]
        assert asyncio.run(template.aformat_messages()) == [template.format()]
        assert cls(prompt=PromptTemplate.from_template("x")).format().content == "x"
    assert AIMessagePromptTemplate.from_template("x").format() == AIMessage("x")


def test_a_role_of_ones_own():
    template = ChatMessagePromptTemplate.from_template("{a}", role="critic")

    assert template.format(a=1) == ChatMessage("1", role="critic")
    assert asyncio.run(template.aformat_messages(a=1)) == [ChatMessage("1", role="critic")]
    assert template.input_variables == ["a"]
    assert "Chat Message" in template.pretty_repr()


def test_files(tmp_path):
    file = tmp_path / "t.txt"
    file.write_text("{a}")

    assert HumanMessagePromptTemplate.from_template_file(file, []).format(a=1) == HumanMessage("1")
    critic = ChatMessagePromptTemplate.from_template_file(file, role="r")
    assert critic.format(a=1).content == "1"


def test_showing():
    shown = HumanMessagePromptTemplate.from_template("{a}").pretty_repr()

    assert shown == "=" * 32 + " Human Message " + "=" * 33 + "\n\n{a}"
