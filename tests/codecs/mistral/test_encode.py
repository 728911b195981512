"""What Mistral's chat completions want that others do not."""

import copy
import re
from typing import Any

import pytest
from codec_kit import chunks_of, folded, leaves
from hypothesis import given
from hypothesis import strategies as st

from dragoman.codecs import ChatRequest, get_codec
from dragoman.errors import EncodeError, ModelError
from dragoman.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage

CODEC = get_codec("mistral")
PNG = "iVBORw0KGgoAAAANSUhEUgAA"


def encoded(*messages: Any, changes: Any = None, **fields: Any) -> dict[str, Any]:
    request = ChatRequest(model="m", messages=list(messages), **fields)
    before = copy.deepcopy(request)
    body = CODEC.encode_request(request, changes)
    assert request == before
    return body


@given(st.lists(st.text(max_size=40), min_size=1, max_size=8, unique=True))
def test_call_ids_are_nine_letters_and_digits_and_differ(ids: list[str]) -> None:
    calls = [{"name": "f", "args": {}, "id": i} for i in ids]
    results = [ToolMessage("r", tool_call_id=i) for i in ids]

    messages = encoded(HumanMessage("q"), AIMessage("", tool_calls=calls), *results)["messages"]

    wire = [c["id"] for c in messages[1]["tool_calls"]]
    assert all(re.fullmatch("[A-Za-z0-9]{9}", i) for i in wire)
    assert len(set(wire)) == len(ids)
    assert [m["tool_call_id"] for m in messages[2:]] == wire


def test_an_id_that_fits_stays() -> None:
    call = {"name": "f", "args": {}, "id": "FI5qQGzDE"}

    messages = encoded(HumanMessage("q"), AIMessage("", tool_calls=[call]))["messages"]

    assert messages[1]["tool_calls"][0]["id"] == "FI5qQGzDE"
    assert messages[1]["content"] == ""  # B36


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        ("any", "any"),
        ("auto", "auto"),
        ("none", "none"),
        ("f", {"type": "function", "function": {"name": "f"}}),
        ({"type": "tool", "name": "f"}, {"type": "function", "function": {"name": "f"}}),
        ("required", "any"),
    ],
)
def test_tool_choices(choice: Any, expected: Any) -> None:
    assert encoded(HumanMessage("q"), tool_choice=choice)["tool_choice"] == expected


def test_a_last_assistant_message_is_a_prefix() -> None:
    messages = encoded(HumanMessage("q"), AIMessage("The answer is"))["messages"]

    assert messages[-1] == {"role": "assistant", "content": "The answer is", "prefix": True}


def test_empty_assistant_turns_are_left_out() -> None:
    # B39
    messages = encoded(HumanMessage("q"), AIMessage(""), HumanMessage("r"))["messages"]

    assert [m["role"] for m in messages] == ["user", "user"]


def test_system_messages_stay_in_their_places() -> None:
    # B40
    messages = encoded(SystemMessage("a"), HumanMessage("q"), SystemMessage("b"))["messages"]

    assert [(m["role"], m["content"]) for m in messages] == [
        ("system", "a"), ("user", "q"), ("system", "b"),
    ]  # fmt: skip


def test_pictures_of_results_follow_in_a_user_message() -> None:
    # B49
    call = AIMessage(
        "", tool_calls=[{"name": "f", "args": {}, "id": "c"}, {"name": "g", "args": {}, "id": "d"}]
    )
    shot = [
        {"type": "text", "text": "shot"},
        {"type": "image", "base64": PNG, "mime_type": "image/png"},
    ]

    messages = encoded(
        HumanMessage("q"),
        call,
        ToolMessage(shot, tool_call_id="c"),
        ToolMessage("2", tool_call_id="d"),
        AIMessage("ok"),
    )["messages"]

    assert [m["role"] for m in messages] == [
        "user",
        "assistant",
        "tool",
        "tool",
        "user",
        "assistant",
    ]
    assert messages[2]["content"] == "shot"
    assert messages[4]["content"] == [
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}}
    ]


@pytest.mark.parametrize(
    ("block", "part"),
    [
        (
            {"type": "image", "base64": "/9j/4AAQSkZJRgABAQ==", "mime_type": "image/jpg"},
            {
                "type": "image_url",
                "image_url": {"url": "data:image/jpeg;base64,/9j/4AAQSkZJRgABAQ=="},
            },
        ),
        (
            {"type": "file", "url": "https://e.org/a.pdf", "extras": {"filename": "a.pdf"}},
            {
                "type": "document_url",
                "document_url": "https://e.org/a.pdf",
                "document_name": "a.pdf",
            },
        ),
        (
            {"type": "file", "base64": "JVBERi0=", "mime_type": "application/pdf"},
            {"type": "document_url", "document_url": "data:application/pdf;base64,JVBERi0="},
        ),
        (
            {"type": "file", "base64": "YSxi", "mime_type": "text/csv"},
            {"type": "text", "text": "a,b"},
        ),
        ({"type": "file", "file_id": "f"}, {"type": "file", "file_id": "f"}),
        (
            {"type": "audio", "base64": "UklGRg==", "mime_type": "audio/wav"},
            {"type": "input_audio", "input_audio": "UklGRg=="},
        ),
    ],
)
def test_media_in_any_form(block: dict[str, Any], part: dict[str, Any]) -> None:
    # B46, B48
    assert encoded(HumanMessage([block]))["messages"][0]["content"] == [part]


@pytest.mark.parametrize(
    "block", [{"type": "video", "url": "https://e.org/a.mp4"}, {"type": "image", "file_id": "f"}]
)
def test_media_that_cannot_be_sent_is_an_error_before_the_call(block: dict[str, Any]) -> None:
    with pytest.raises(EncodeError, match="content\\[0\\]"):
        encoded(HumanMessage([block]))


def test_thinking_goes_back_to_mistral_only() -> None:
    # B52
    reply = CODEC.decode_response(
        {"choices": [{"message": {"content": [
            {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}], "signature": "S"},
            {"type": "text", "text": "Yes"}]}, "finish_reason": "stop"}]}
    )  # fmt: skip
    plain = AIMessage(
        "ok",
        additional_kwargs={"reasoning_content": "r"},
        response_metadata={"model_provider": "deepseek"},
    )
    changes: list[Any] = []

    messages = encoded(HumanMessage("q"), reply, HumanMessage("r"), plain, changes=changes)[
        "messages"
    ]

    assert messages[1]["content"][0] == {
        "type": "thinking", "thinking": [{"type": "text", "text": "Hm."}], "signature": "S",
    }  # fmt: skip
    assert messages[3]["content"] == "ok"
    assert [c.code for c in changes] == ["dropped_reasoning"]
    other = get_codec("openai_chat").encode_request(
        ChatRequest(model="m", messages=[HumanMessage("q"), reply])
    )
    assert "S" not in leaves(other)


def test_thinking_signed_at_its_end_is_one_block() -> None:
    def delta(content: Any) -> tuple[None, dict[str, Any]]:
        return None, {"choices": [{"index": 0, "delta": {"content": content}}]}

    part = {"type": "thinking", "thinking": [{"type": "text", "text": "a"}]}
    message = folded(
        chunks_of(CODEC, [delta([part]), delta([{**part, "signature": "S"}]), delta("x")])
    )

    assert [b for b in message.content_blocks if b["type"] == "reasoning"] == [
        {"type": "reasoning", "reasoning": "aa", "index": 0, "extras": {"signature": "S"}}
    ]
    assert message.text == "x"


@pytest.mark.parametrize(
    "data",
    [
        {"object": "error", "message": "no such luck", "type": "x", "code": "1300"},
        {"error": {"message": "no such luck"}},
        {"detail": [{"msg": "no such luck", "loc": ["body"]}], "object": "error"},
    ],
)
def test_errors_inside_a_200(data: dict[str, Any]) -> None:
    # B114
    with pytest.raises(ModelError, match="no such luck"):
        chunks_of(CODEC, [(None, data)])
    with pytest.raises(ModelError, match="no such luck"):
        CODEC.decode_response(data)


def test_the_official_finish_words() -> None:
    for raw, word in (
        ("model_length", "length"),
        ("error", "error"),
        ("tool_calls", "tool_calls"),
        ("odd", "odd"),
    ):
        reply = CODEC.decode_response(
            {"choices": [{"message": {"content": "x"}, "finish_reason": raw}]}
        )
        assert reply.response_metadata["finish_reason"] == word


def test_schemas_of_strict_tools_are_strict() -> None:
    tool = {
        "name": "f",
        "parameters": {"type": "object", "properties": {"a": {"type": "string"}}},
        "strict": True,
    }

    function = encoded(HumanMessage("q"), tools=[tool])["tools"][0]["function"]

    assert function["parameters"]["additionalProperties"] is False
