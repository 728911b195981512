"""`StructuredPrompt`."""

import pytest
from pydantic import BaseModel

from dragoman.load import dumpd, load
from dragoman.prompts import StructuredPrompt
from dragoman.runnables import RunnableLambda


class Answer(BaseModel):
    text: str


class Model(RunnableLambda):
    def with_structured_output(self, schema, **kwargs):
        return RunnableLambda(lambda value: (value.to_string(), schema, kwargs))


def test_piping_asks_the_model_for_the_schema():
    options = {"method": "json_mode"}
    prompt = StructuredPrompt(
        [("human", "{a}")], Answer, structured_output_kwargs=options, strict=True
    )

    for chain in (prompt | Model(str), prompt.pipe(Model(str))):
        text, schema, kwargs = chain.invoke({"a": 1})
        assert (text, schema) == ("Human: 1", Answer)
        assert kwargs == {"method": "json_mode", "strict": True}
    assert options == {"method": "json_mode"}
    assert prompt.pipe(Model(str), lambda value: value[0]).invoke({"a": 1}) == "Human: 1"


def test_what_is_no_model_is_refused():
    with pytest.raises(NotImplementedError, match="need to be piped to a language model"):
        StructuredPrompt([("human", "x")], Answer) | (lambda value: value)


def test_a_schema_is_needed_under_either_name():
    with pytest.raises(ValueError, match="non-empty structured output schema"):
        StructuredPrompt([("human", "x")])
    named = StructuredPrompt([("human", "x")], schema={"title": "x"})
    assert named == StructuredPrompt.from_messages_and_schema([("human", "x")], {"title": "x"})


def test_storing():
    prompt = StructuredPrompt([("human", "{a}")], {"title": "x"}, method="json_mode")

    stored = dumpd(prompt)

    assert stored["id"] == ["langchain_core", "prompts", "structured", "StructuredPrompt"]
    assert load(stored, allowed_objects="core") == prompt
