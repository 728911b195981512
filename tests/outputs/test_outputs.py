"""Generations and results: values that add up."""

import copy
import pickle
from uuid import UUID

import pytest
from pydantic import BaseModel

from dragoman.errors import MessageError
from dragoman.messages import AIMessage, AIMessageChunk
from dragoman.outputs import (
    ChatGeneration,
    ChatGenerationChunk,
    ChatResult,
    Generation,
    GenerationChunk,
    LLMResult,
    RunInfo,
)


def chunk(text: str, **info: object) -> ChatGenerationChunk:
    return ChatGenerationChunk(message=AIMessageChunk(text), generation_info=info or None)


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("x", "x"),
        ([{"type": "text", "text": "a"}, "b", {"type": "x", "text": "q"}], "ab"),
        ([], ""),
    ],
)
def test_text_of_a_chat_generation_is_that_of_its_message(content, text):
    assert ChatGeneration(message=AIMessage(content)).text == text


def test_text_follows_the_message_and_a_given_one_is_ignored():
    generation = ChatGeneration(message=AIMessage("x"), text="other")
    assert generation.text == "x"
    generation.message = AIMessage("y")
    assert generation.text == "y"


def test_reprs_show_what_was_set():
    assert repr(Generation(text="a")) == "Generation(text='a')"
    assert str(Generation(text="a")) == "text='a'"
    assert repr(ChatGeneration(message=AIMessage("x"))).startswith(
        "ChatGeneration(text='x', message=AIMessage(content='x'"
    )


def test_dump_holds_every_field():
    assert Generation(text="a").model_dump() == {
        "text": "a",
        "generation_info": None,
        "type": "Generation",
    }
    dumped = ChatGeneration(message=AIMessage("x")).model_dump()
    assert dumped["type"] == "ChatGeneration"
    assert dumped["message"]["content"] == "x"


def test_generations_compare_by_class_and_fields_and_are_not_hashable():
    assert Generation(text="a") == Generation(text="a")
    assert Generation(text="a") != GenerationChunk(text="a")
    with pytest.raises(TypeError):
        hash(Generation(text="a"))


def test_text_chunks_add_up_and_repeated_scalars_stay_one():
    total = GenerationChunk(text="a", generation_info={"r": "stop", "n": [1]}) + GenerationChunk(
        text="b", generation_info={"r": "stop", "n": [2]}
    )
    assert total == GenerationChunk(text="ab", generation_info={"r": "stop", "n": [1, 2]})


def test_chat_chunks_add_up_one_by_one_and_in_lists():
    others = [chunk("b"), chunk("c")]
    assert chunk("a", k=1) + others[0] == chunk("a", k=1) + others[:1]
    assert (chunk("a") + others).text == "abc"
    assert (chunk("a") + chunk("b")).generation_info is None


@pytest.mark.parametrize("other", [1, "x", None, [1]])
def test_adding_anything_else_is_a_type_error(other):
    with pytest.raises(TypeError, match="unsupported operand"):
        chunk("a") + other
    if not isinstance(other, list):
        with pytest.raises(TypeError, match="unsupported operand"):
            GenerationChunk(text="a") + other


def test_sum_of_many_chunks_is_linear_in_reads():
    total = chunk("a")
    for _ in range(2000):
        total = total + chunk("b")
    assert len(total.text) == 2001


def test_flatten_counts_usage_once():
    result = LLMResult(
        generations=[[Generation(text="a")], [Generation(text="b")]],
        llm_output={"token_usage": {"t": 1}, "m": 2},
    )
    first, second = result.flatten()
    assert first.llm_output == {"token_usage": {"t": 1}, "m": 2}
    assert second.llm_output == {"token_usage": {}, "m": 2}
    assert [r.generations[0][0].text for r in (first, second)] == ["a", "b"]


def test_results_compare_without_their_runs():
    run = RunInfo(run_id=UUID(int=5))
    assert LLMResult(generations=[]) == LLMResult(generations=[], run=[run])


@pytest.mark.parametrize(
    "build",
    [
        lambda: Generation(),
        lambda: Generation(text=1),
        lambda: Generation(text="x", type="y"),
        lambda: ChatGeneration(),
        lambda: ChatGeneration(message="x"),
        lambda: ChatGenerationChunk(message=AIMessage("x")),
        lambda: ChatResult(generations=["x"]),
        lambda: ChatResult(generations="x"),
        lambda: RunInfo(run_id="no uuid"),
        lambda: Generation.model_validate(3),
    ],
)
def test_wrong_fields_are_message_errors(build):
    with pytest.raises(MessageError):
        build()


def test_pydantic_fields_take_objects_and_dumps():
    class Box(BaseModel):
        generation: ChatGeneration

    box = Box(generation=ChatGeneration(message=AIMessage("x")))
    assert Box.model_validate(box.model_dump()) == box
    assert Box.model_json_schema()["title"] == "Box"


def test_copies_and_pickles_are_equal():
    for value in (chunk("a", k=[1]), ChatResult(generations=[chunk("a")])):
        assert copy.deepcopy(value) == value
        assert pickle.loads(pickle.dumps(value)) == value
        assert value.model_copy() == value
    assert Generation(text="a").model_copy(update={"text": "b"}).text == "b"


def test_ids_are_those_of_the_established_loader():
    assert ChatGeneration.lc_id() == ["langchain", "schema", "output", "ChatGeneration"]
    assert Generation.is_lc_serializable()


def test_text_of_a_generation_counts_old_blocks_without_a_type():
    message = AIMessage(
        ["a", {"text": "old"}, {"type": "text", "text": "b"}, {"type": "x", "text": "no"}]
    )

    assert ChatGeneration(message=message).text == "aoldb"
