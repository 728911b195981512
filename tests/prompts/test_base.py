"""What all prompts share: invoking, variables, schemas, saving."""

import asyncio
import json

import pytest

from dragoman.documents import Document
from dragoman.prompts import (
    ChatPromptTemplate,
    MessagesPlaceholder,
    PromptTemplate,
    StringPromptTemplate,
    aformat_document,
    format_document,
    load_prompt,
)
from dragoman.runnables import RunnableLambda

pytestmark = pytest.mark.filterwarnings("ignore:.*is deprecated:DeprecationWarning")


def test_invoking_with_a_dict_or_the_only_value():
    prompt = PromptTemplate.from_template("<{a}>")

    for value in ({"a": 1}, {"a": 1, "extra": 2, 3: 4}, 1):
        assert prompt.invoke(value).text == "<1>"
        assert asyncio.run(prompt.ainvoke(value)).text == "<1>"
    assert prompt.batch([{"a": 1}, {"a": 2}])[1].text == "<2>"
    assert [value.text for value in prompt.stream({"a": ""})] == ["<>"]


def test_wrong_input_is_named():
    prompt = PromptTemplate.from_template("{a} {b}")

    with pytest.raises(
        TypeError, match=r"Expected mapping type as input to PromptTemplate\. Received"
    ):
        prompt.invoke("x")
    with pytest.raises(KeyError) as caught:
        prompt.invoke({"a": 1})
    text = caught.value.args[0]
    assert "Input to PromptTemplate is missing variables {'b'}" in text
    assert "'{{b}}'" in text
    assert "INVALID_PROMPT_INPUT" in text
    with pytest.raises(KeyError, match="missing variables"):
        asyncio.run(prompt.ainvoke({"a": 1}))


@pytest.mark.parametrize("value", [0, "", False, None, []])
def test_false_values_are_values(value):
    assert PromptTemplate.from_template("{a}").invoke({"a": value}).text == str(value)


def test_metadata_and_tags_reach_the_run():
    from dragoman.callbacks import BaseCallbackHandler

    seen = {}

    class Handler(BaseCallbackHandler):
        def on_chain_start(self, serialized, inputs, *, tags=None, metadata=None, **kwargs):
            seen.update(tags=tags, metadata=metadata, run_type=kwargs.get("run_type"))

    prompt = PromptTemplate.from_template("{a}", metadata={"v": 1}, tags=["t"])
    prompt.invoke({"a": 1}, {"callbacks": [Handler()], "tags": ["u"], "metadata": {"w": 2}})

    assert set(seen["tags"]) == {"t", "u"}
    assert seen["metadata"]["v"] == 1
    assert seen["metadata"]["w"] == 2


def test_schemas_name_the_variables():
    prompt = ChatPromptTemplate(
        [("system", "{_private} {json} {schema} {a}"), MessagesPlaceholder("h", optional=True)]
    )

    schema = prompt.get_input_schema()

    assert schema.__name__ == "PromptInput"
    assert schema.model_json_schema()["required"] == ["_private", "a", "json", "schema"]
    assert schema.model_json_schema()["properties"]["_private"] == {
        "title": "Private",
        "type": "string",
    }
    assert schema.model_validate({"_private": "1", "a": "2", "json": "3", "schema": "4"})


def test_prompts_pipe():
    chain = PromptTemplate.from_template("{a}") | RunnableLambda(lambda value: value.text + "!")

    assert chain.invoke({"a": 1}) == "1!"


class Shout(StringPromptTemplate):
    def format(self, **kwargs):
        return str(kwargs["a"]).upper()


def test_users_prompts_need_format_only():
    prompt = Shout(input_variables=["a"])

    assert prompt.invoke({"a": "x"}).to_string() == "X"
    assert asyncio.run(prompt.ainvoke("y")).to_string() == "Y"
    with pytest.raises(NotImplementedError, match="does not support saving"):
        prompt.save("x.json")


def test_saving_and_loading(tmp_path):
    prompt = PromptTemplate.from_template("{a} é")

    for name in ("p.json", "deep/p.yaml", "p.yml"):
        prompt.save(tmp_path / name)
        assert load_prompt(tmp_path / name) == prompt
    assert json.loads((tmp_path / "p.json").read_text())["_type"] == "prompt"


def test_what_cannot_be_saved(tmp_path):
    prompt = PromptTemplate.from_template("{a}")
    target = tmp_path / "evil.py"
    link = tmp_path / "link.json"
    target.write_text("")
    link.symlink_to(target)

    with pytest.raises(ValueError, match="must be json or yaml"):
        prompt.save(tmp_path / "p.txt")
    with pytest.raises(ValueError, match="must be json or yaml"):
        prompt.save(link)
    assert target.read_text() == ""
    with pytest.raises(ValueError, match="Cannot save prompt with partial variables"):
        prompt.partial(a=1).save(tmp_path / "p.json")
    with pytest.raises(NotImplementedError):
        ChatPromptTemplate(["x"]).save(tmp_path / "p.json")


def test_documents_are_formatted():
    doc = Document("text", metadata={"page": 3})

    assert format_document(doc, PromptTemplate.from_template("{page}: {page_content}")) == "3: text"
    prompt = PromptTemplate.from_template("{page_content} {missing}")
    with pytest.raises(ValueError, match=r"missing metadata: \['missing'\]"):
        format_document(doc, prompt)
    assert asyncio.run(aformat_document(doc, PromptTemplate.from_template("{page}"))) == "3"


def test_overlap_of_input_and_partial_variables_is_refused():
    with pytest.raises(ValueError, match="Found overlapping input and partial variables"):
        Shout(input_variables=["a"], partial_variables={"a": 1})
