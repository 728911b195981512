"""The short way gives what the long way gives, or steps aside."""

import json

import pytest

from dragoman.load import dumpd, dumps, load, loads
from dragoman.load.fast import dump_messages, id_of, load_messages
from dragoman.messages import AIMessage, AIMessageChunk, HumanMessage, SystemMessage, ToolMessage

FLAT = [
    HumanMessage("hi", id="1"),
    SystemMessage("é 漢字", name="n"),
    AIMessage("", tool_calls=[{"name": "f", "args": {"a": [1, {"b": None}]}, "id": "1"}]),
    AIMessage("x", usage_metadata={"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}),
    ToolMessage("x", tool_call_id="1", artifact={"a": 1}),
    HumanMessage([{"type": "text", "text": "a"}, "b"], additional_kwargs={"k": 1.5}),
]


@pytest.mark.parametrize("message", FLAT)
def test_both_ways_write_the_same(message):
    text = dump_messages([message])

    assert text is not None
    assert json.loads(text) == dumpd([message])
    assert text.isascii()


def test_touched_empty_dicts_are_left_out():
    message = AIMessage("x")
    assert (message.additional_kwargs, message.tool_calls) == ({}, [])

    assert json.loads(dump_messages([message])) == dumpd([AIMessage("x")])


@pytest.mark.parametrize("message", FLAT)
def test_both_ways_read_the_same(message):
    text = dumps([message])

    assert load_messages(text) == load(json.loads(text)) == [message]


@pytest.mark.parametrize(
    "value",
    [
        [],
        "text",
        [1],
        (HumanMessage("x"),),
        [AIMessageChunk("x")],
        [HumanMessage("x", additional_kwargs={"t": (1,)})],
        [HumanMessage("x", additional_kwargs={"lc": 1})],
        [HumanMessage("x", additional_kwargs={"n": float("nan")})],
        [HumanMessage("\ud800")],
    ],
)
def test_what_is_not_flat_takes_the_long_way(value):
    assert dump_messages(value) is None


HEAD = '[{"lc":1,"type":"constructor","id":["langchain","schema","messages","HumanMessage"],'
DATA = HEAD + '"kwargs":{"type":"human","content":"","additional_kwargs":%s}}]'


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "{}",
        '[{"lc"',
        HEAD.replace('"langchain","schema"', '"os","path"') + '"kwargs":{"type":"human"}}]',
        HEAD + '"kwargs":{"type":"ai","content":""}}]',  # id and class do not belong together
        DATA % '{"a":{"lc":1}}',
        DATA % '{"a":{"\\u006cc":1}}',  # a marker spelled with an escape
        DATA % '{"a":{"__lc_escaped__":{}}}',
        DATA % '{"a":{"__type__":"bytes","value":""}}',
    ],
)
def test_text_that_holds_more_than_messages_takes_the_long_way(text):
    assert load_messages(text) is None


def test_a_spelled_marker_is_a_marker():
    text = (
        '[{"lc":1,"type":"constructor","id":["langchain","schema","messages","HumanMessage"],'
        '"kwargs":{"type":"human","content":"","additional_kwargs":'
        '{"a":{"\\u006cc":1,"type":"secret","id":["HOME"]}}}}]'
    )

    assert loads(text)[0].additional_kwargs == {"a": None}


def test_a_class_that_names_itself_keeps_its_id():
    class Mine(HumanMessage):
        @classmethod
        def get_lc_namespace(cls):
            return ["mine"]

    assert id_of(Mine) == ["mine", "Mine"]
    assert id_of(HumanMessage) == ["langchain", "schema", "messages", "HumanMessage"]
