"""`LengthBasedExampleSelector`."""

import asyncio

from dragoman.example_selectors import BaseExampleSelector, LengthBasedExampleSelector
from dragoman.prompts import PromptTemplate

PROMPT = PromptTemplate.from_template("{q}: {a}")
EXAMPLES = [{"q": "a b", "a": "c"}] * 5


def selector(**fields):
    return LengthBasedExampleSelector(
        **{"examples": list(EXAMPLES), "example_prompt": PROMPT, "max_length": 9, **fields}
    )


def test_as_many_as_fit_beside_the_input():
    choose = selector()

    assert choose.example_text_lengths == [3] * 5
    assert choose.select_examples({"input": "x y"}) == EXAMPLES[:2]
    assert choose.select_examples({"input": "x y z"}) == EXAMPLES[:2]
    assert choose.select_examples({"input": " ".join("x" * 9)}) == []
    assert asyncio.run(choose.aselect_examples({"input": "x y"})) == EXAMPLES[:2]
    assert len(selector(max_length=2048).select_examples({})) == 5


def test_the_first_that_does_not_fit_ends_the_choice():
    examples = [{"q": "long " * 20, "a": "c"}, {"q": "a", "a": "b"}]

    assert selector(examples=examples).select_examples({"input": "x"}) == []


def test_own_measure_and_growth():
    choose = selector(get_text_length=len, max_length=20)
    choose.add_example({"q": "z", "a": "z"})
    asyncio.run(choose.aadd_example({"q": "z", "a": "z"}))

    assert choose.example_text_lengths == [6, 6, 6, 6, 6, 4, 4]
    assert isinstance(choose, BaseExampleSelector)


def test_async_defaults_run_in_a_thread():
    class Plain(BaseExampleSelector):
        def add_example(self, example):
            return "added"

        def select_examples(self, input_variables):
            return [input_variables]

    assert asyncio.run(Plain().aadd_example({})) == "added"
    assert asyncio.run(Plain().aselect_examples({"a": "1"})) == [{"a": "1"}]
