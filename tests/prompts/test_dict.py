"""`DictPromptTemplate`."""

import asyncio

import pytest

from dragoman.load import dumpd, load
from dragoman.prompts import DictPromptTemplate

TEMPLATE = {"a": "{x}", "b": [1, "{y}", ("{x}", 2.5)], "c": {"d": None, "e": "{{z}}"}}


def test_strings_at_any_depth_are_filled_and_the_rest_is_kept():
    prompt = DictPromptTemplate(template=TEMPLATE, template_format="f-string")

    filled = {"a": "1", "b": [1, "2", ("1", 2.5)], "c": {"d": None, "e": "{z}"}}
    assert prompt.input_variables == ["x", "y"]
    assert prompt.format(x=1, y=2) == prompt.invoke({"x": 1, "y": 2}) == filled
    assert asyncio.run(prompt.aformat(x=1, y=2)) == filled
    assert TEMPLATE["a"] == "{x}"


def test_mustache():
    prompt = DictPromptTemplate(template={"a": "{{x.y}}"}, template_format="mustache")

    assert prompt.invoke({"x": {"y": 1}}) == {"a": "1"}


@pytest.mark.parametrize("text", ["{a.b}", "{a[0]}", "{}", '{"x": 1}', "{a:>9999999}"])
def test_unsafe_strings_are_refused_when_built(text):
    for template in ({"a": text}, {"a": [{"b": (text,)}]}):
        with pytest.raises(ValueError, match="f-string"):
            DictPromptTemplate(template=template, template_format="f-string")
        with pytest.raises(ValueError, match="f-string"):
            DictPromptTemplate.model_construct(template=template, template_format="f-string")


def test_jinja2_is_refused():
    with pytest.raises(ValueError, match="template_format"):
        DictPromptTemplate(template={"a": "x"}, template_format="jinja2")


def test_a_path_of_an_image_only_warns():
    with pytest.warns(UserWarning, match="security"):
        DictPromptTemplate(template={"image_url": {"path": "x"}}, template_format="f-string")


def test_storing():
    prompt = DictPromptTemplate(template={"a": "{x}"}, template_format="f-string")

    stored = dumpd(prompt)

    assert stored["id"] == ["langchain_core", "prompts", "dict", "DictPromptTemplate"]
    assert load(stored, allowed_objects="core") == prompt
    with pytest.raises(NotImplementedError):
        prompt.pretty_repr()
