"""What Cohere's chat wants that others do not."""

from typing import Any

import pytest
from codec_kit import chunks_of

from dragoman.codecs import ChatRequest, get_codec
from dragoman.errors import EncodeError, ModelError
from dragoman.messages import AIMessage, HumanMessage, ToolMessage

CODEC = get_codec("cohere")


def encoded(*messages: Any, changes: Any = None, **fields: Any) -> dict[str, Any]:
    return CODEC.encode_request(ChatRequest(model="m", messages=list(messages), **fields), changes)


def test_a_plan_goes_back_as_a_plan_and_thinking_as_thinking() -> None:
    plan = CODEC.decode_response(
        {
            "message": {
                "tool_plan": "I look.",
                "tool_calls": [{"id": "f_1", "function": {"name": "f", "arguments": "{}"}}],
            }
        }
    )
    thought = CODEC.decode_response(
        {
            "message": {
                "content": [
                    {"type": "thinking", "thinking": "Hm."},
                    {"type": "text", "text": "Yes"},
                ]
            }
        }
    )

    messages = encoded(HumanMessage("q"), plan, ToolMessage("1", tool_call_id="f_1"), thought)[
        "messages"
    ]

    assert messages[1]["tool_plan"] == "I look."
    assert "content" not in messages[1]
    assert messages[3]["content"] == [
        {"type": "thinking", "thinking": "Hm."},
        {"type": "text", "text": "Yes"},
    ]


def test_foreign_reasoning_is_left_out_and_reported() -> None:
    # B52
    changes: list[Any] = []
    message = AIMessage(
        "ok",
        additional_kwargs={"reasoning_content": "r"},
        response_metadata={"model_provider": "deepseek"},
    )

    messages = encoded(HumanMessage("q"), message, changes=changes)["messages"]

    assert messages[1] == {"role": "assistant", "content": "ok"}
    assert [c.code for c in changes] == ["dropped_reasoning"]


@pytest.mark.parametrize(
    ("choice", "word"), [("any", "REQUIRED"), ("none", "NONE"), ("auto", None), (None, None)]
)
def test_tool_choices(choice: Any, word: str | None) -> None:
    assert (
        encoded(HumanMessage("q"), tools=[{"name": "f"}], tool_choice=choice).get("tool_choice")
        == word
    )


def test_one_named_tool_is_the_only_one_offered() -> None:
    body = encoded(HumanMessage("q"), tools=[{"name": "f"}, {"name": "g"}], tool_choice="g")

    assert body["tool_choice"] == "REQUIRED"
    assert [t["function"]["name"] for t in body["tools"]] == ["g"]


def test_an_output_schema() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
    asked = {"type": "json_schema", "json_schema": {"name": "n", "schema": schema}}

    assert encoded(HumanMessage("q"), response_format=asked)["response_format"] == {
        "type": "json_object", "schema": schema,
    }  # fmt: skip


def test_tokens_are_the_true_count() -> None:
    usage = {
        "billed_units": {"input_tokens": 5},
        "tokens": {"input_tokens": 20, "output_tokens": 3},
        "cached_tokens": 7,
    }

    assert CODEC.decode_response({"message": {}, "usage": usage}).usage_metadata == {
        "input_tokens": 20, "output_tokens": 3, "total_tokens": 23,
        "input_token_details": {"cache_read": 7},
    }  # fmt: skip


@pytest.mark.parametrize("kind", ["audio", "video"])
def test_media_that_cannot_be_sent_is_an_error_before_the_call(kind: str) -> None:
    with pytest.raises(EncodeError, match=kind):
        encoded(HumanMessage([{"type": kind, "url": "https://e.org/a"}]))


def test_errors_inside_a_200() -> None:
    # B114
    with pytest.raises(ModelError, match="no such luck"):
        chunks_of(CODEC, [(None, {"message": "no such luck"})])
    with pytest.raises(ModelError, match="no such luck"):
        CODEC.decode_response({"message": "no such luck"})
