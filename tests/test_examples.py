"""What people who know LangChain's messages type, and what they get."""

import copy
import pickle
from dataclasses import dataclass
from uuid import UUID

import pytest

import dragoman.messages as M
from dragoman.errors import MessageError
from dragoman.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessageChunk,
    ChatMessage,
    FunctionMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
    convert_to_messages,
    get_buffer_string,
    message_to_dict,
    messages_from_dict,
    messages_from_json,
    messages_to_dict,
    messages_to_json,
)
from dragoman.messages.content import ImageContentBlock, PlainTextContentBlock
from dragoman.messages.tool import ToolCall

WEATHER = {
    "name": "get_weather",
    "args": {"city": "Hangzhou"},
    "id": "call_abc123",
    "type": "tool_call",
}


@pytest.mark.parametrize(
    ("message", "kind", "role"),
    [
        (HumanMessage("hi"), "human", "user"),
        (AIMessage("hi"), "ai", "assistant"),
        (SystemMessage("hi"), "system", "system"),
        (ToolMessage("hi", tool_call_id="1"), "tool", "tool"),
        (ChatMessage("hi", role="critic"), "chat", "critic"),
        (FunctionMessage("hi", name="f"), "function", "function"),
        (AIMessageChunk("hi"), "AIMessageChunk", "assistant"),
    ],
)
def test_type_role_and_content(message, kind, role):
    assert (message.type, message.role, message.content) == (kind, role, "hi")
    assert message.get_type() == kind


@pytest.mark.parametrize("name", ["Human", "System", "AI", "Tool", "Function", "Chat"])
def test_chunk_classes_are_both_their_message_and_a_chunk(name):
    cls = getattr(M, f"{name}MessageChunk")
    extra = {"Tool": {"tool_call_id": "1"}, "Function": {"name": "f"}, "Chat": {"role": "r"}}
    made = cls("a", **extra.get(name, {}))
    assert made.type == cls.__name__
    assert isinstance(made, getattr(M, f"{name}Message"))
    assert isinstance(made, BaseMessageChunk)
    assert (made + cls("b", **extra.get(name, {}))).content == "ab"
    assert M.is_ai_message(AIMessageChunk("x"))


@pytest.mark.parametrize(
    "spelling",
    [
        HumanMessage("Hello"),
        ("user", "Hello"),
        ("human", "Hello"),
        {"role": "user", "content": "Hello"},
        ["human", "Hello"],
        "Hello",
    ],
)
def test_spellings_of_one_message(spelling):
    assert convert_to_messages([spelling]) == [HumanMessage("Hello")]


def test_dicts_with_a_type_and_patterns_work():
    assert HumanMessage(type="human", content="x") == HumanMessage("x")
    match AIMessage("hi"):
        case AIMessage(content=content):
            assert content == "hi"


def test_tool_calls_are_taken_with_and_without_their_type():
    assert AIMessage("", tool_calls=[WEATHER]).tool_calls == [WEATHER]
    bare = {key: WEATHER[key] for key in ("name", "args", "id")}
    assert AIMessage("", tool_calls=[bare]).tool_calls == [WEATHER]
    assert AIMessage("", tool_calls=[ToolCall(**WEATHER)]).tool_calls == [WEATHER]


def test_raw_openai_calls_become_calls_or_invalid_ones():
    raw = {
        "id": "t1",
        "type": "function",
        "function": {"name": "search", "arguments": '{"query": "x"}'},
    }
    message = AIMessage("", additional_kwargs={"tool_calls": [raw]})
    assert message.tool_calls == [
        {"name": "search", "args": {"query": "x"}, "id": "t1", "type": "tool_call"}
    ]
    broken = {"id": "t2", "function": {"name": "search", "arguments": '{"query'}}
    message = AIMessage(
        "", additional_kwargs={"tool_calls": [raw, broken, {"id": "t3", "function": 5}]}
    )
    assert len(message.tool_calls) == 1
    assert [call["id"] for call in message.invalid_tool_calls] == ["t2", "t3"]
    assert message.invalid_tool_calls[0]["args"] == '{"query'
    assert message.invalid_tool_calls[0]["error"]


def test_the_oldest_form_of_a_call_stays_where_it_is():
    legacy = {"name": "f", "arguments": '{"city": "Paris"}'}
    message = AIMessage("", additional_kwargs={"function_call": legacy})
    assert message.tool_calls == []
    assert M.convert_to_openai_messages([message])[0]["function_call"] == legacy


def test_results_of_tools():
    message = ToolMessage("25 °C", tool_call_id="call_abc", name="get_weather", artifact=object)
    assert (message.status, message.artifact) == ("success", object)
    assert ToolMessage(12, tool_call_id=UUID(int=1)).tool_call_id == str(UUID(int=1))
    assert ToolMessage(12, tool_call_id=7).content == "12"
    assert ToolMessage(("a", 1), tool_call_id="1").content == ["a", "1"]
    assert ToolMessage({"a": 1}, tool_call_id="1").content == "{'a': 1}"


def test_ids():
    assert HumanMessage("x", id=7).id == "7"
    assert HumanMessage("x").id is None


@pytest.mark.parametrize(
    "given", [{"url": "https://e.org/c.png", "detail": "auto"}, "https://e.org/c.png"]
)
def test_an_image_url_is_shown_as_an_image(given):
    message = HumanMessage(
        [{"type": "text", "text": "a"}, {"type": "image_url", "image_url": given}]
    )
    before = repr(message)
    assert message.text == "a"
    assert message.content_blocks[1]["type"] == "image"
    assert message.content_blocks[1]["url"] == "https://e.org/c.png"
    assert message.content_blocks == message.content_blocks
    assert repr(message) == before


def test_block_classes_fill_in_their_type():
    blocks = [
        PlainTextContentBlock(text="what is this?"),
        ImageContentBlock(url="https://e.org/p.jpg"),
    ]
    message = HumanMessage(content=blocks)
    assert [block["type"] for block in message.content] == ["text-plain", "image"]
    assert message.text == "what is this?"


def test_pretty_repr_and_cards():
    lines = AIMessage("x").pretty_repr().split("\n")
    assert lines == ["=" * 34 + " Ai Message " + "=" * 34, "", "x"]
    card = HumanMessage("<script>alert(1)</script>").pretty_repr(html=True)
    assert "<script>" not in card
    assert HumanMessage("<b>")._repr_html_() == HumanMessage("<b>").pretty_repr(html=True)
    shown = AIMessage("", tool_calls=[WEATHER]).pretty_repr()
    assert shown.endswith(
        "Tool Calls:\n  get_weather (call_abc123)\n Call ID: call_abc123\n  Args:\n    city: Hangzhou"
    )


def test_pretty_print_prints(capsys):
    HumanMessage("hi", name="bob").pretty_print()
    assert "Name: bob\n\nhi" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("message", "text"),
    [
        (
            HumanMessage("hi"),
            "HumanMessage(content='hi', additional_kwargs={}, response_metadata={})",
        ),
        (
            ToolMessage("x", tool_call_id="1", artifact=[1]),
            "ToolMessage(content='x', tool_call_id='1', artifact=[1])",
        ),
        (
            AIMessageChunk("x"),
            (
                "AIMessageChunk(content='x', additional_kwargs={}, response_metadata={}, "
                "tool_calls=[], invalid_tool_calls=[], tool_call_chunks=[])"
            ),
        ),
        (
            ChatMessage("x", role="r"),
            "ChatMessage(content='x', additional_kwargs={}, response_metadata={}, role='r')",
        ),
    ],
)
def test_repr(message, text):
    assert repr(message) == text


def test_str():
    assert str(AIMessage("hi", id="1", name="n")) == (
        "content='hi' additional_kwargs={} response_metadata={} name='n' id='1' tool_calls=[] "
        "invalid_tool_calls=[]"
    )


def test_text_is_a_str_and_calling_it_is_deprecated():
    message = AIMessage(["a", {"type": "text", "text": "b"}, {"type": "x", "text": "c"}])
    assert message.text == "ab"
    assert isinstance(message.text, str)
    with pytest.warns(DeprecationWarning, match=r"Calling \.text\(\) as a method is deprecated"):
        assert message.text() == "ab"


def test_dicts_hold_every_field_in_order():
    dumped = message_to_dict(HumanMessage("hi"))
    assert dumped["type"] == "human"
    assert list(dumped["data"]) == [
        "content",
        "additional_kwargs",
        "response_metadata",
        "type",
        "name",
        "id",
    ]
    chunk = AIMessageChunk(
        "x", tool_call_chunks=[{"name": "f", "args": '{"a":', "id": "1", "index": 0}]
    )
    data = message_to_dict(chunk)["data"]
    assert data["tool_calls"] == [{"name": "f", "args": {}, "id": "1", "type": "tool_call"}]


EVERY = [
    HumanMessage("a", id="1", name="n"),
    SystemMessage([{"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}}]),
    AIMessage("", tool_calls=[WEATHER], response_metadata={"model_name": "m"}),
    AIMessage("", invalid_tool_calls=[{"name": "f", "args": "{", "id": "1", "error": "e"}]),
    ToolMessage("r", tool_call_id="1", artifact={"x": [1, 2.5, None]}, status="error"),
    FunctionMessage("r", name="f"),
    ChatMessage("x", role="critic"),
    RemoveMessage("gone"),
    AIMessageChunk("a", tool_call_chunks=[{"name": "f", "args": '{"a"', "id": "1", "index": 0}]),
    M.HumanMessageChunk("a"),
    M.SystemMessageChunk("a"),
    M.ToolMessageChunk("a", tool_call_id="1"),
    M.FunctionMessageChunk("a", name="f"),
    M.ChatMessageChunk("a", role="r"),
]


@pytest.mark.parametrize("message", EVERY, ids=lambda m: type(m).__name__)
def test_every_message_survives_every_form(message):
    forms = [
        copy.copy(message),
        copy.deepcopy(message),
        pickle.loads(pickle.dumps(message)),
        *messages_from_json(messages_to_json([message])),
        *messages_from_dict(messages_to_dict([message])),
        type(message).model_validate(message.model_dump()),
        type(message).model_validate_json(message.model_dump_json()),
        message.model_copy(),
    ]
    for form in forms:
        assert form == message
        assert type(form) is type(message)
    with pytest.raises(TypeError):
        hash(message)


def test_unknown_fields_survive_reading_and_writing():
    data = b'[{"type":"human","content":"x","foo":{"a":[1]},"@new":2}]'
    message = messages_from_json(data)[0]
    assert message.foo == {"a": [1]}
    assert message != HumanMessage("x")
    assert messages_from_json(messages_to_json([message])) == [message]
    assert copy.deepcopy(message) == pickle.loads(pickle.dumps(message)) == message
    assert messages_from_dict([message_to_dict(message)]) == [message]
    with pytest.raises(TypeError):
        HumanMessage("x", foo=1)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: HumanMessage(None), "content has to be a string or a list"),
        (lambda: HumanMessage(5), "content has to be a string or a list"),
        (lambda: HumanMessage(b"x"), "content has to be a string or a list"),
        (lambda: HumanMessage({"content": "x"}), r"HumanMessage\(\*\*d\)"),
        (lambda: HumanMessage([1]), r"content\[0\]"),
        (lambda: HumanMessage(), "needs content"),
        (lambda: HumanMessage("x", type="ai"), "the type of HumanMessage is 'human'"),
        (lambda: HumanMessage("x", additional_kwargs=5), "additional_kwargs"),
        (
            lambda: AIMessage("", tool_calls=[{"name": "f", "args": "{}", "id": "1"}]),
            r"tool_calls\[0\]\.args",
        ),
        (lambda: AIMessage("", tool_calls=[{"args": {}, "id": "1"}]), "needs name"),
        (lambda: AIMessage("", tool_calls=["f"]), r"tool_calls\[0\]"),
        (
            lambda: AIMessage("", usage_metadata={"input_tokens": "1"}),
            r"usage_metadata\.input_tokens",
        ),
        (lambda: ToolMessage(None, tool_call_id="1"), "content has to be"),
        (lambda: ToolMessage("x"), "needs tool_call_id"),
        (lambda: ToolMessage("x", tool_call_id="1", status="ok"), "'success' or 'error'"),
        (lambda: ChatMessage("x"), "needs a role"),
        (lambda: FunctionMessage("x"), "needs a name"),
        (lambda: RemoveMessage(), "needs the id"),
        (lambda: RemoveMessage("x", content="y"), "does not support 'content'"),
        (
            lambda: convert_to_messages([{"role": "meow", "content": "x"}]),
            "Unexpected message type: 'meow'",
        ),
        (lambda: convert_to_messages([{"content": "x"}]), "must contain 'role' and 'content' keys"),
        (lambda: convert_to_messages([object()]), "Unsupported message type"),
        (lambda: convert_to_messages([("a", "b", "c")]), "must be .role string, template."),
        (lambda: messages_from_json(b"{"), "cut off"),
        (lambda: messages_from_json(b'{"a": 1}'), "expected a list"),
        (lambda: messages_from_json(b'[{"type":"meow"}]'), "unknown message type"),
        (lambda: messages_from_json(b'[{"type":"human","content":5}]'), r"\$\[0\]\.content"),
        (lambda: messages_from_dict([{"type": "meow", "data": {}}]), "Got unexpected message type"),
        (
            lambda: messages_to_json([AIMessage("", additional_kwargs={"x": object()})]),
            r"\$\[0\]\.additional_kwargs\.x",
        ),
    ],
)
def test_bad_input_is_an_error_that_says_what_to_do(make, text):
    with pytest.raises(MessageError, match=text):
        make()


def test_errors_show_no_payload():
    with pytest.raises(MessageError) as caught:
        HumanMessage([b"secret" * 100_000])
    assert len(str(caught.value)) < 200
    assert "secret" not in str(caught.value)


def test_what_json_has_no_form_for_comes_back():
    from datetime import UTC, datetime
    from decimal import Decimal

    value = {
        "t": datetime(2026, 1, 2, tzinfo=UTC),
        "b": b"\x00\xff",
        "d": Decimal("1.5"),
        "s": {1, 2},
        3: (1,),
    }
    message = ToolMessage("x", tool_call_id="c", artifact=value)
    assert messages_from_json(messages_to_json([message])) == [message]
    tagged = AIMessage("x", additional_kwargs={"__type__": "datetime", "value": "x"})
    assert messages_from_json(messages_to_json([tagged])) == [tagged]


@pytest.mark.parametrize("text", ["a\x00b", "\ud83d", "\\u0000", "😀", "\u2028"])
def test_odd_characters_survive(text):
    message = HumanMessage(text)
    assert messages_from_json(messages_to_json([message])) == [message]


def test_users_subclasses_are_read_as_themselves_or_as_their_parent():
    class Critic(HumanMessage, kw_only=True):
        score: int

    message = Critic("x", score=3)
    data = messages_to_json([message])
    assert messages_from_json(data, classes=[Critic]) == [message]
    plain = messages_from_json(data)[0]
    assert type(plain) is HumanMessage
    assert plain.score == 3
    assert messages_from_json(messages_to_json([plain]), classes=[Critic]) == [message]


def test_buffer_strings():
    calls = AIMessage("x", tool_calls=[{"name": "a", "args": {"x": 1}, "id": "c"}])
    assert get_buffer_string([calls]) == (
        "AI: x[{'name': 'a', 'args': {'x': 1}, 'id': 'c', 'type': 'tool_call'}]"
    )
    xml = get_buffer_string([HumanMessage("a < b"), calls], format="xml")
    assert xml == (
        '<message type="human">a &lt; b</message>\n<message type="ai">\n  <content>x</content>\n'
        '  <tool_call id="c" name="a">{"x": 1}</tool_call>\n</message>'
    )
    with pytest.raises(ValueError, match="Unrecognized format="):
        get_buffer_string([], format="yaml")


def test_conversion_keeps_what_it_does_not_know():
    message = convert_to_messages(
        [{"role": "assistant", "content": "", "additional_kwargs": {"k": 1}, "refusal": "no"}]
    )[0]
    assert message.additional_kwargs == {"refusal": "no", "k": 1}
    assert convert_to_messages([{"role": "developer", "content": "x"}])[0] == SystemMessage(
        "x", additional_kwargs={"__openai_role__": "developer"}
    )
    mine = HumanMessage("x")
    assert convert_to_messages([mine])[0] is mine


@pytest.mark.parametrize("content", [{"content": None}, {"content": ""}, {}])
@pytest.mark.parametrize("arguments", ["", " ", None, "{}"])
def test_assistant_turns_of_calls_only_are_read_in_every_spelling(content, arguments):  # B31, B36
    call = {"id": "c", "type": "function", "function": {"name": "ping", "arguments": arguments}}
    message = convert_to_messages([{"role": "assistant", **content, "tool_calls": [call]}])[0]
    assert message.content == ""
    assert message.tool_calls == [{"name": "ping", "args": {}, "id": "c", "type": "tool_call"}]


def test_one_broken_call_does_not_make_a_history_unreadable():  # B33
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"a": 1'}}
    history = convert_to_messages(
        ["q", {"role": "assistant", "content": None, "tool_calls": [call]}]
    )
    assert history[1].invalid_tool_calls[0]["args"] == '{"a": 1'
    sent = M.convert_to_openai_messages(history)
    assert sent[1]["tool_calls"][0]["function"]["arguments"] == '{"a": 1'


def test_messages_are_pydantic_fields_and_fastapi_bodies():
    from pydantic import BaseModel, ValidationError

    class Body(BaseModel):
        messages: list[M.AnyMessage]
        last: HumanMessage | None = None

    body = Body(messages=[*EVERY[:3]], last={"type": "human", "content": "x", "foo": 1})
    again = Body.model_validate(body.model_dump())
    assert again.messages == body.messages
    assert [type(m) for m in again.messages] == [type(m) for m in body.messages]
    assert Body.model_validate_json(body.model_dump_json()).messages == body.messages
    assert body.last.foo == 1
    assert "$ref" not in str(HumanMessage.model_json_schema())
    assert Body.model_json_schema()["properties"]["messages"]["type"] == "array"
    with pytest.raises(ValidationError):
        Body(messages=[{"type": "meow", "content": "x"}])
    with pytest.raises((TypeError, ValidationError)):
        Body(messages=[{"content": "x"}])


@dataclass
class _Foreign:
    content: str


def test_foreign_objects_are_refused_by_name():
    with pytest.raises(NotImplementedError, match="Unsupported message type"):
        convert_to_messages([_Foreign("x")])
