"""Reasoning and what it led to travel together, and nothing that is not on the server is named."""

import copy
from typing import Any

import pytest
from codec_kit import chunks_of, folded, leaves

from dragoman.codecs import ChatRequest, get_codec
from dragoman.messages import AIMessage, HumanMessage, ToolMessage

REASONING = {
    "type": "reasoning",
    "id": "rs_1",
    "summary": [{"type": "summary_text", "text": "Plan."}],
    "encrypted_content": "gAAA-secret",
}
BARE = {"type": "reasoning", "id": "rs_1", "summary": []}
TEXT = {
    "type": "message",
    "id": "msg_1",
    "role": "assistant",
    "status": "completed",
    "phase": "commentary",
    "content": [{"type": "output_text", "text": "Let me look.", "annotations": []}],
}
CALL = {
    "type": "function_call",
    "id": "fc_1",
    "call_id": "call_1",
    "name": "f",
    "arguments": '{"a":1}',
    "status": "completed",
}


def reply(*items: dict[str, Any], provider: str | None = None) -> AIMessage:
    body = {"id": "resp_1", "status": "completed", "model": "m", "output": list(items)}
    return get_codec("openai_responses", provider).decode_response(body)


def sent(
    message: AIMessage, *, provider: str | None = None, changes: Any = None, **extra: Any
) -> list[dict[str, Any]]:
    """Return the items that stand for the message in the next request."""
    history = [HumanMessage("q"), message]
    history += [ToolMessage("r", tool_call_id=c["id"]) for c in message.tool_calls]
    before = copy.deepcopy(history)
    request = ChatRequest(model="m", messages=[*history, HumanMessage("and?")], extra=extra)
    body = get_codec("openai_responses", provider).encode_request(request, changes)
    assert history == before
    return [i for i in body["input"][1:-1] if i.get("type") != "function_call_output"]


def kinds(items: list[dict[str, Any]]) -> list[str]:
    return [i.get("type", "message") for i in items]


@pytest.mark.parametrize("thought", [REASONING, BARE])
def test_a_reply_goes_back_in_order_with_its_ids(thought: dict[str, Any]) -> None:
    # B57
    items = sent(reply(thought, TEXT, CALL))

    assert kinds(items) == ["reasoning", "message", "function_call"]
    assert [i["id"] for i in items] == ["rs_1", "msg_1", "fc_1"]
    assert items[1]["phase"] == "commentary"
    assert items[0].get("encrypted_content") == thought.get("encrypted_content")
    assert items[0]["summary"] == thought["summary"]


def test_items_lose_their_ids_when_their_reasoning_was_taken_out() -> None:
    # B57
    message = reply(REASONING, TEXT, CALL)
    message.content = [b for b in message.content if b["type"] != "reasoning"]  # type: ignore[index]

    items = sent(message)

    assert kinds(items) == ["message", "function_call"]
    assert not any("id" in i for i in items)
    assert "Let me look." in leaves(items)
    assert items[1]["call_id"] == "call_1"
    assert items[1]["arguments"] == '{"a":1}'


def test_items_lose_their_ids_when_plain_reasoning_was_taken_out() -> None:
    # B57
    summary = [{"type": "summary_text", "text": "Plan."}]
    message = reply({**BARE, "summary": summary}, TEXT, CALL)
    assert isinstance(message.content, str)
    del message.additional_kwargs["reasoning_content"]

    items = sent(message)

    assert kinds(items) == ["message", "function_call"]
    assert not any("id" in i for i in items)


@pytest.mark.parametrize("thought", [REASONING, BARE])
def test_reasoning_is_left_out_when_what_it_led_to_was_taken_out(thought: dict[str, Any]) -> None:
    # B57, the other way round: 400 "was provided without its required following item"
    message = reply(thought, CALL)
    message.tool_calls = []
    if isinstance(message.content, list):
        message.content = [b for b in message.content if b["type"] == "reasoning"]  # type: ignore[index]
    changes: list[Any] = []

    assert sent(message, changes=changes) == []
    assert [c.code for c in changes] == ["dropped_reasoning"]


def test_reasoning_alone_goes_back() -> None:
    assert kinds(sent(reply(REASONING))) == ["reasoning"]


def test_interleaved_plain_reasoning_keeps_its_places() -> None:
    second = {**CALL, "id": "fc_2", "call_id": "call_2"}
    items = sent(reply(BARE, CALL, {**BARE, "id": "rs_2"}, second))

    assert [i["id"] for i in items] == ["rs_1", "fc_1", "rs_2", "fc_2"]


def test_without_a_store_bare_reasoning_and_message_ids_are_not_sent() -> None:
    # B58
    bare = sent(reply(BARE, TEXT, CALL), store=False)
    sealed = sent(reply(REASONING, TEXT, CALL), store=False)

    assert kinds(bare) == ["message", "function_call"]
    assert "rs_1" not in leaves(bare)
    assert "msg_1" not in leaves(bare)
    assert kinds(sealed) == ["reasoning", "message", "function_call"]
    assert sealed[0]["encrypted_content"] == "gAAA-secret"
    assert "msg_1" not in leaves(sealed)
    assert "Let me look." in leaves(sealed)


def test_without_a_store_a_history_that_was_read_is_cleaned_too() -> None:
    # B58
    codec = get_codec("openai_responses")
    body = {"model": "m", "store": False, "input": [BARE, TEXT, {"role": "user", "content": "q"}]}

    items = codec.encode_request(codec.decode_request(body))["input"]

    assert kinds(items) == ["message", "message"]
    assert "msg_1" not in leaves(items)


def test_encrypted_reasoning_goes_to_its_signer_only() -> None:
    # B52
    message = reply(REASONING, TEXT, provider="openai")
    changes: list[Any] = []

    assert "gAAA-secret" in leaves(sent(message, provider="azure"))
    elsewhere = sent(message, provider="openrouter", changes=changes)
    assert "gAAA-secret" not in leaves(elsewhere)
    assert "rs_1" not in leaves(elsewhere)
    assert "Let me look." in leaves(elsewhere)
    assert "dropped_reasoning" in [c.code for c in changes]


@pytest.mark.parametrize(
    "made_by", ["anthropic", "google_genai", "deepseek", "bedrock_converse", "mistral"]
)
def test_foreign_signatures_are_not_sent(made_by: str) -> None:
    # B52
    message = AIMessage(
        [
            {"type": "reasoning", "reasoning": "x", "extras": {"signature": "G=="}},
            {"type": "text", "text": "ok"},
        ],
        response_metadata={"model_provider": made_by},
    )

    assert sent(message) == [{"role": "assistant", "content": "ok"}]


def test_plain_reasoning_goes_back_where_open_models_want_it() -> None:
    message = AIMessage(
        "ok",
        additional_kwargs={"reasoning_content": "hm"},
        response_metadata={"model_provider": "deepseek"},
    )

    assert sent(message) == [{"role": "assistant", "content": "ok"}]
    assert sent(message, provider="deepseek")[0] == {
        "type": "reasoning",
        "summary": [],
        "content": [{"type": "reasoning_text", "text": "hm"}],
    }


def test_edited_plain_reasoning_is_sent_as_it_was_edited() -> None:
    thought = {"type": "reasoning", "id": "r", "summary": [], "content": [
        {"type": "reasoning_text", "text": "one"}, {"type": "reasoning_text", "text": "two"}]}  # fmt: skip
    message = reply(thought, TEXT, provider="deepseek")
    assert message.additional_kwargs["reasoning_content"] == "one\n\ntwo"
    assert sent(message, provider="deepseek")[0]["content"] == thought["content"]

    message.additional_kwargs["reasoning_content"] = "other"

    assert sent(message, provider="deepseek")[0]["content"] == [
        {"type": "reasoning_text", "text": "other"}
    ]


@pytest.mark.parametrize("item_id", ["fc_1", None])
def test_a_call_is_written_once_with_the_arguments_of_tool_calls(item_id: str | None) -> None:
    # B12
    block = {"type": "tool_call", "id": "call_1", "name": "w", "args": {}}
    if item_id:
        block["extras"] = {"item_id": item_id}
    message = AIMessage(
        [{"type": "text", "text": "t"}, block],
        tool_calls=[{"name": "w", "args": {"c": 1}, "id": "call_1"}],
        response_metadata={"model_provider": "openai"},
    )

    items = sent(message)

    calls = [i for i in items if i.get("type") == "function_call"]
    assert len(calls) == 1
    assert (calls[0]["call_id"], calls[0]["arguments"]) == ("call_1", '{"c":1}')
    assert calls[0].get("id") == item_id


def test_a_call_in_a_rich_reply_shows_its_item_id() -> None:
    # B12
    message = reply(REASONING, CALL)

    blocks = [b for b in message.content_blocks if b["type"] == "tool_call"]

    assert [(b["id"], b["args"]) for b in blocks] == [("call_1", {"a": 1})]
    assert blocks[0]["extras"]["item_id"] == "fc_1"


def test_a_stream_goes_back_like_its_response() -> None:
    # B21
    items = [REASONING, TEXT, CALL]
    events: list[tuple[str, Any]] = []
    for n, item in enumerate(items):
        events.append(
            ("e", {"type": "response.output_item.added", "output_index": n, "item": item})
        )
        events.append(("e", {"type": "response.output_item.done", "output_index": n, "item": item}))
    body = {"id": "resp_1", "status": "completed", "model": "m", "output": items}
    events.append(("e", {"type": "response.completed", "response": body}))

    streamed = folded(chunks_of(get_codec("openai_responses"), events))

    assert streamed == reply(*items)
    assert sent(streamed) == sent(reply(*items))


def test_two_messages_of_one_reply_stay_two() -> None:
    second = {**TEXT, "id": "msg_2", "phase": "final_answer"}

    items = sent(reply(TEXT, second))

    assert [(i["id"], i["phase"]) for i in items] == [
        ("msg_1", "commentary"),
        ("msg_2", "final_answer"),
    ]


def test_an_edited_text_is_sent_as_it_was_edited() -> None:
    message = reply(TEXT, CALL)
    message.content = "Something else."

    items = sent(message)

    assert kinds(items) == ["message", "function_call"]
    assert items[0]["content"][0]["text"] == "Something else."


def test_plain_reasoning_that_led_to_a_rich_item_stays_before_it() -> None:
    cited = {**TEXT, "content": [{"type": "output_text", "text": "t", "annotations": [
        {"type": "url_citation", "url": "u", "title": "t", "start_index": 0, "end_index": 1}]}]}  # fmt: skip
    thought = {**BARE, "summary": [{"type": "summary_text", "text": "Plan."}]}
    message = reply(CALL, thought, cited)

    assert [i.get("id") for i in sent(message)] == ["fc_1", "rs_1", "msg_1"]

    del message.additional_kwargs["reasoning_content"]
    assert [i.get("id") for i in sent(message)] == ["fc_1", None]
