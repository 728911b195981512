"""What `dumpd` and `dumps` write, and what they refuse."""

import json
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from uuid import UUID

import pytest
from pydantic import BaseModel

from dragoman.documents import Document
from dragoman.errors import EncodeError
from dragoman.load import dumpd, dumps, loads
from dragoman.messages import AIMessage, AIMessageChunk, HumanMessage, RemoveMessage, ToolMessage
from dragoman.output_parsers import JsonOutputParser, StrOutputParser
from dragoman.outputs import ChatGeneration
from dragoman.prompts import ChatPromptTemplate, PromptTemplate


class Model(BaseModel):
    x: int


@pytest.mark.parametrize(
    ("message", "kwargs"),
    [
        (HumanMessage("hi"), {"content": "hi", "type": "human"}),
        (
            AIMessage("hi"),
            {"content": "hi", "type": "ai", "tool_calls": [], "invalid_tool_calls": []},
        ),
        (
            AIMessageChunk("hi"),
            {"content": "hi", "type": "AIMessageChunk", "tool_calls": [], "invalid_tool_calls": []},
        ),
        (
            ToolMessage("x", tool_call_id="1"),
            {"content": "x", "type": "tool", "tool_call_id": "1", "status": "success"},
        ),
        (RemoveMessage(id="1"), {"content": "", "type": "remove", "id": "1"}),
    ],
)
def test_a_message_is_written_with_its_useful_fields(message, kwargs):
    stored = dumpd(message)

    assert stored == {
        "lc": 1,
        "type": "constructor",
        "id": ["langchain", "schema", "messages", type(message).__name__],
        "kwargs": kwargs,
    }
    assert json.loads(dumps(message)) == stored
    assert json.loads(dumps([message])) == [stored]


def test_plain_data_is_written_as_langchain_does():
    assert dumps({"a": (1, 2), 3: object}) == (
        '{"a": [1, 2], "3": {"lc": 1, "type": "not_implemented", '
        '"id": ["builtins", "object"], "repr": "<class \'object\'>"}}'
    )


def test_a_chat_prompt_is_written_with_its_variables_and_name():
    stored = dumpd(ChatPromptTemplate([("system", "{a}"), ("placeholder", "{h}")]))

    assert stored["name"] == "ChatPromptTemplate"
    assert stored["kwargs"]["input_variables"] == ["a"]
    assert stored["kwargs"]["optional_variables"] == ["h"]
    assert stored["kwargs"]["partial_variables"] == {"h": []}
    assert stored["kwargs"]["messages"][1]["kwargs"] == {"variable_name": "h", "optional": True}


def test_a_parser_that_cannot_be_stored_leaves_a_marker_with_its_name():
    assert dumpd(JsonOutputParser()) == {
        "lc": 1,
        "type": "not_implemented",
        "id": ["langchain_core", "output_parsers", "json", "JsonOutputParser"],
        "repr": "JsonOutputParser()",
        "name": "JsonOutputParser",
    }
    assert dumpd(StrOutputParser())["type"] == "constructor"


@pytest.mark.parametrize(
    "value",
    [
        {"lc": 1, "type": "secret", "id": ["HOME"]},
        {"lc": 2},
        {"__lc_escaped__": 1},
        {"__lc_escaped__": {"lc": 1}},
        {"__type__": "datetime", "value": "2026-01-02"},
    ],
)
def test_a_dict_that_looks_like_a_marker_is_escaped_unchanged(value):
    assert dumpd({"a": [value]}) == {"a": [{"__lc_escaped__": value}]}
    assert loads(dumps({"a": [value]})) == {"a": [value]}


VALUES = {
    "datetime": datetime(2026, 1, 2, 3, 4, 5, 6),
    "aware": datetime(2026, 1, 2, tzinfo=UTC),
    "date": date(2026, 1, 2),
    "time": time(1, 2),
    "timedelta": timedelta(days=-1, seconds=3),
    "bytes": b"\x00\xff",
    "decimal": Decimal("1.50"),
    "uuid": UUID(int=7),
    "set": {1, "a"},
    "frozenset": frozenset({2}),
    "tuple": (1, [2, (3,)]),
    "int keys": {1: "a", None: 2, (1, 2): 3},
    "infinity": float("inf"),
    "lc with a date": {"lc": 1, "at": date(2026, 1, 2)},
    "big": 2**200,
    "text": "\ud83d \x00 \u2028 é",
}


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
def test_b88_what_json_lacks_comes_back_as_it_was(value):
    messages = [
        AIMessage(
            "x",
            additional_kwargs={"v": value},
            response_metadata={"deep": [{"v": value}]},
            tool_calls=[{"name": "f", "args": {"v": value}, "id": "1"}],
        ),
        ToolMessage("x", tool_call_id="1", artifact=value),
        HumanMessage([{"type": "odd", "v": value}]),
    ]

    assert loads(dumps(messages)) == messages
    assert [loads(dumps(message)) for message in messages] == messages
    document = Document("x", metadata={"v": value})
    assert loads(dumps(document), allowed_objects="core") == document


def test_b88_not_a_number_comes_back():
    message = loads(dumps(HumanMessage("x", additional_kwargs={"v": float("nan")})))

    assert message.additional_kwargs["v"] != message.additional_kwargs["v"]


class Colour(Enum):
    RED = 1


@pytest.mark.parametrize("value", [Model(x=1), object(), Colour.RED, lambda: 0, {1, object()}])
@pytest.mark.parametrize(
    ("make", "path"),
    [
        (lambda v: HumanMessage("x", additional_kwargs={"k": [v]}), "$.additional_kwargs.k[0]"),
        (
            lambda v: [HumanMessage("x"), AIMessage("x", response_metadata={"k": v})],
            "$[1].response_metadata.k",
        ),
        (lambda v: {"m": ToolMessage("x", tool_call_id="1", artifact=v)}, "$.m.artifact"),
        (lambda v: Document("x", metadata={"k": v}), "$.metadata.k"),
        (
            lambda v: ChatGeneration(message=HumanMessage("x"), generation_info={"k": v}),
            "$.generation_info.k",
        ),
    ],
)
def test_b88_what_cannot_come_back_fails_at_dump_and_names_the_path(value, make, path):
    for dump in (dumpd, dumps):
        with pytest.raises(EncodeError) as caught:
            dump(make(value))
        assert caught.value.path is not None
        assert caught.value.path.startswith(path)


def test_a_parsed_pydantic_object_is_written_as_its_dict():
    message = AIMessage("x", additional_kwargs={"parsed": Model(x=1)})

    assert dumpd(message)["kwargs"]["additional_kwargs"] == {"parsed": {"x": 1}}
    assert message.additional_kwargs == {"parsed": Model(x=1)}


def test_cycles_and_great_depth_are_refused():
    ring: list = []
    ring.append(ring)
    deep: list = []
    for _ in range(300):
        deep = [deep]

    for value in (ring, deep, HumanMessage("x", additional_kwargs={"a": deep})):
        with pytest.raises(EncodeError, match="200 levels"):
            dumps(value)


def test_whatever_depth_is_written_can_be_read():
    value: object = 1
    for depth in range(205):
        try:
            text = dumps(AIMessage("x", additional_kwargs={"a": value}))
        except EncodeError:
            assert depth > 60
            break
        assert loads(text).additional_kwargs == {"a": value}
        value = [value] if depth % 2 else {"k": (value,)}


def test_options_go_to_json():
    assert dumps([1], pretty=True) == "[\n  1\n]"
    assert dumps([1], pretty=True, indent=4) == "[\n    1\n]"
    assert dumps({"b": 1, "a": "é"}, sort_keys=True, ensure_ascii=False) == '{"a": "é", "b": 1}'
    with pytest.raises(ValueError, match="`default` should not be passed to dumps"):
        dumps({}, default=str)


def test_dumping_changes_nothing():
    calls = [{"name": "f", "args": {"a": [1, {"lc": 1}]}, "id": "1", "type": "tool_call"}]
    message = AIMessage(
        [{"type": "text", "text": "a"}], tool_calls=calls, additional_kwargs={"t": (1,)}
    )
    before = message.model_copy(deep=True)
    prompt = PromptTemplate.from_template("{a}", partial_variables={"b": [1]})

    dumps([message])
    dumpd([message, prompt])

    assert message == before


def test_a_subclass_of_a_message_is_written_as_the_class_it_comes_from():
    class Mine(HumanMessage, kw_only=True):
        score: int = 0

    stored = dumpd(Mine("x", score=3))

    assert stored["id"][-1] == "HumanMessage"
    assert loads(dumps([Mine("x", score=3)]))[0].score == 3
