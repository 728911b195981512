"""`FewShotPromptWithTemplates`."""

import asyncio

import pytest

from dragoman.prompts import FewShotPromptWithTemplates, PromptTemplate

T = PromptTemplate.from_template


def few(**fields):
    return FewShotPromptWithTemplates(
        **{
            "examples": [{"q": "{1}", "a": "2"}],
            "example_prompt": T("{q}={a}"),
            "prefix": T("p {x}"),
            "suffix": T("s {y}"),
            **fields,
        }
    )


def test_filling():
    prompt = few()

    assert prompt.input_variables == ["x", "y"]
    assert prompt.format(x=1, y=2) == "p 1\n\n{1}=2\n\ns 2"
    assert asyncio.run(prompt.aformat(x=1, y=2)) == prompt.format(x=1, y=2)
    assert few(prefix=None).format(y=2) == "{1}=2\n\ns 2"
    assert few().partial(x=1).format(y=2) == "p 1\n\n{1}=2\n\ns 2"


def test_bad_fields(tmp_path):
    with pytest.raises(
        ValueError, match=r"Got input_variables=\[\], but based on prefix/suffix expected"
    ):
        few(input_variables=[], validate_template=True)
    with pytest.raises(ValueError, match="Extra inputs are not permitted"):
        few(foo=1)
    with pytest.raises(ValueError, match="One of 'examples'"):
        few(examples=None)
