"""Streams of the Responses API that do not go as the book says."""

import json
from typing import Any

import pytest
from codec_kit import chunks_of, folded

from dragoman.codecs import get_codec
from dragoman.errors import DecodeError, ModelAPIError, ModelError, ModelRateLimitError

CODEC = get_codec("openai_responses")


def event(kind: str, **fields: Any) -> tuple[str, dict[str, Any]]:
    return kind, {"type": kind, **fields}


def completed(*output: dict[str, Any], **fields: Any) -> tuple[str, dict[str, Any]]:
    body = {"id": "resp_1", "status": "completed", "model": "m", "output": list(output), **fields}
    return event("response.completed", response=body)


def added(n: int, item: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    return event("response.output_item.added", output_index=n, item=item)


def done(n: int, item: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    return event("response.output_item.done", output_index=n, item=item)


def text(s: str, n: int = 0) -> tuple[str, dict[str, Any]]:
    return event("response.output_text.delta", output_index=n, content_index=0, delta=s)


MESSAGE: dict[str, Any] = {"type": "message", "id": "msg_1", "role": "assistant", "content": []}
WHOLE: dict[str, Any] = {
    **MESSAGE,
    "content": [{"type": "output_text", "text": "Hello", "annotations": []}],
}
CALL: dict[str, Any] = {
    "type": "function_call",
    "id": "fc_1",
    "call_id": "call_1",
    "name": "f",
    "arguments": "",
}


def test_plain_text_comes_as_strings() -> None:
    chunks = chunks_of(
        CODEC, [added(0, MESSAGE), text("Hel"), text("lo"), done(0, WHOLE), completed(WHOLE)]
    )

    assert [c.content for c in chunks if c.content] == ["Hel", "lo"]
    assert chunks[-1].chunk_position == "last"


def test_text_behind_encrypted_reasoning_comes_as_strings_too() -> None:
    thought = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "E"}
    events = [
        added(0, {**thought, "encrypted_content": "provisional"}),
        done(0, thought),
        added(1, MESSAGE),
        text("Hel", 1),
        text("lo", 1),
        done(1, WHOLE),
        completed(thought, WHOLE),
    ]

    chunks = chunks_of(CODEC, events)
    message = folded(chunks)

    assert [c.text for c in chunks if c.text] == ["Hel", "lo"]
    assert [b["type"] for b in message.content] == ["reasoning", "text"]  # type: ignore[index]
    assert "provisional" not in json.dumps(message.content)
    assert message.content[0]["extras"]["encrypted_content"] == "E"  # type: ignore[index]


def test_items_that_were_never_done_are_settled_by_the_last_event() -> None:
    whole_call = {**CALL, "arguments": '{"a":1}'}
    events = [
        added(0, MESSAGE), text("Hel"), added(1, CALL),
        event("response.function_call_arguments.delta", output_index=1, delta='{"a"'),
        completed(WHOLE, whole_call),
    ]  # fmt: skip

    message = folded(chunks_of(CODEC, events))

    assert message.content == "Hello"
    assert message.tool_calls[0]["args"] == {"a": 1}


def test_a_last_event_without_output_keeps_what_came() -> None:
    message = folded(
        chunks_of(CODEC, [added(0, MESSAGE), text("Hello"), done(0, WHOLE), completed()])
    )

    assert message.content == "Hello"
    assert message.response_metadata["finish_reason"] == "stop"


def test_items_that_come_without_their_first_event() -> None:
    assert folded(chunks_of(CODEC, [text("Hello"), completed(WHOLE)])).content == "Hello"


def test_interleaved_items_keep_the_order_of_the_response() -> None:
    lists = [
        {"type": "mcp_list_tools", "id": f"mcpl_{n}", "server_label": "s", "tools": [n]}
        for n in range(3)
    ]
    events = [added(n, {**i, "tools": []}) for n, i in enumerate(lists)]
    events += [done(n, lists[n]) for n in (1, 0, 2)]

    message = folded(chunks_of(CODEC, [*events, completed(*lists)]))

    calls = [b for b in message.content if b["type"] == "server_tool_call"]  # type: ignore[index]
    assert [b["id"] for b in calls] == ["mcpl_0", "mcpl_1", "mcpl_2"]


def test_interleaved_arguments_of_parallel_calls() -> None:
    # B01
    second = {**CALL, "id": "fc_2", "call_id": "call_2", "name": "g"}
    delta = "response.function_call_arguments.delta"
    events = [
        added(0, CALL), added(1, second),
        event(delta, output_index=0, delta='{"a"'), event(delta, output_index=1, delta='{"b"'),
        event(delta, output_index=0, delta=":1}"), event(delta, output_index=1, delta=":2}"),
        completed({**CALL, "arguments": '{"a":1}'}, {**second, "arguments": '{"b":2}'}),
    ]  # fmt: skip

    chunks = chunks_of(CODEC, events)
    message = folded(chunks)

    assert message.content == ""
    assert [(c["id"], c["name"], c["args"]) for c in message.tool_calls] == [
        ("call_1", "f", {"a": 1}),
        ("call_2", "g", {"b": 2}),
    ]
    # B10: numbered 0, 1 in what we emit
    assert {f["index"] for c in chunks for f in c.tool_call_chunks} == {0, 1}


def test_a_call_cut_off_by_the_limit_is_invalid() -> None:
    # B30
    cut = {**CALL, "arguments": '{"path":"x"', "status": "incomplete"}
    fine = {**CALL, "id": "fc_0", "call_id": "call_0", "arguments": '{"a":1}'}
    body = {
        "status": "incomplete",
        "incomplete_details": {"reason": "max_output_tokens"},
        "output": [fine, cut],
    }
    events = [
        added(0, fine),
        done(0, fine),
        added(1, CALL),
        event("response.incomplete", response=body),
    ]

    for message in (folded(chunks_of(CODEC, events)), CODEC.decode_response(body)):
        assert message.response_metadata["finish_reason"] == "length"
        assert [c["id"] for c in message.tool_calls] == ["call_0"]
        assert [(c["id"], c["args"]) for c in message.invalid_tool_calls] == [
            ("call_1", '{"path":"x"')
        ]
        assert message.invalid_tool_calls[0]["error"]


@pytest.mark.parametrize(
    ("kind", "status"),
    [("server_error", 500), ("rate_limit_exceeded", 429)],
)
def test_errors_inside_a_200(kind: str, status: int) -> None:
    # B114
    error = {"code": kind, "message": "no such luck"}
    failed = event("response.failed", response={"status": "failed", "error": error, "output": []})
    for events in (
        [event("error", code=kind, message="no such luck", param=None)],
        [event("error", error=error)],
        [(None, {"error": error})],
        [failed],
        [added(0, MESSAGE), text("Hel"), failed],
    ):
        with pytest.raises(ModelError, match="no such luck") as caught:
            chunks_of(CODEC, events)
        assert caught.value.status == status
        assert caught.value.is_retryable
        assert isinstance(caught.value, ModelAPIError if status == 500 else ModelRateLimitError)


def test_a_failed_response_is_an_error_too() -> None:
    body = {
        "status": "failed",
        "error": {"code": "server_error", "message": "no such luck"},
        "output": [WHOLE],
    }

    with pytest.raises(ModelError, match="no such luck") as caught:
        CODEC.decode_response(body)

    assert caught.value.partial.content == "Hello"


def test_done_is_the_terminal_marker() -> None:
    decoder = CODEC.stream_decoder()
    decoder.feed(*added(0, MESSAGE))
    decoder.feed(*text("Hello"))
    assert decoder.done is False

    decoder.feed(*completed(WHOLE))
    assert decoder.done is True
    assert decoder.feed(None, "[DONE]") == []
    assert decoder.close()[-1].chunk_position == "last"
    assert decoder.close() == []


def test_a_stream_that_broke_still_gives_what_came() -> None:
    message = folded(chunks_of(CODEC, [added(0, MESSAGE), text("Hel")]))

    assert message.content == "Hel"
    assert message.response_metadata["finish_reason"] is None


def test_broken_json_is_an_error_with_a_path() -> None:
    with pytest.raises(DecodeError) as caught:
        chunks_of(CODEC, [(None, '{"broken": ')])
    assert caught.value.path == "$"


def test_padding_and_progress_are_not_kept() -> None:
    events = [
        event("response.web_search_call.searching", output_index=0, item_id="ws"),
        event(
            "response.image_generation_call.partial_image", output_index=0, partial_image_b64="AAAA"
        ),
        event("response.x_unknown", x=1),
        added(0, MESSAGE),
        ("response.output_text.delta", {**text("Hello")[1], "obfuscation": "padding"}),
        completed(WHOLE),
    ]

    message = folded(chunks_of(CODEC, events))

    assert message.content == "Hello"
    assert "padding" not in repr(message)


def test_an_emoji_cut_into_halves_is_whole_again() -> None:
    # B25
    message = folded(
        chunks_of(CODEC, [added(0, MESSAGE), text("a\ud83d"), text("\ude00b"), completed()])
    )

    assert message.content == "a\U0001f600b"


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        # B18
        (
            {"input_tokens": 1000, "input_tokens_details": {"cached_tokens": 800, "cache_write_tokens": 5},
             "output_tokens": 5, "output_tokens_details": {"reasoning_tokens": 3}, "total_tokens": 1005},
            {"input_tokens": 1000, "output_tokens": 5, "total_tokens": 1005,
             "input_token_details": {"cache_read": 800, "cache_creation": 5},
             "output_token_details": {"reasoning": 3}},
        ),
        ({"input_tokens": 1, "output_tokens": 2}, {"input_tokens": 1, "output_tokens": 2, "total_tokens": 3}),
        (None, None),
    ],
)  # fmt: skip
def test_usage_is_counted_once(usage: Any, expected: Any) -> None:
    # B16
    events = [
        event("response.created", response={"id": "r", "usage": None}),
        added(0, MESSAGE),
        text("Hello"),
        completed(WHOLE, usage=usage),
    ]

    assert folded(chunks_of(CODEC, events)).usage_metadata == expected
    assert (
        CODEC.decode_response(completed(WHOLE, usage=usage)[1]["response"]).usage_metadata
        == expected
    )
