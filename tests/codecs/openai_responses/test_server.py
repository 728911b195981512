"""The server side, read by OpenAI's own client library."""

import json
from typing import Any

from codec_kit import chunks_of, cut, folded, replies
from hypothesis import given
from hypothesis import strategies as st
from openai.types.responses import Response, ResponseStreamEvent
from pydantic import TypeAdapter

from dragoman.codecs import get_codec
from dragoman.messages import AIMessage

CODEC = get_codec("openai_responses")
EVENT: TypeAdapter[Any] = TypeAdapter(ResponseStreamEvent)


def test_the_official_client_reads_a_reply() -> None:
    message = AIMessage(
        "Let me look.",
        id="resp_1",
        tool_calls=[{"name": "f", "args": {"city": "Zürich"}, "id": "call_1"}],
        additional_kwargs={"reasoning_content": "Hm."},
        response_metadata={
            "finish_reason": "tool_calls",
            "model_name": "m",
            "created_at": 1761000000,
        },
        usage_metadata={"input_tokens": 3, "output_tokens": 2, "total_tokens": 5},
    )

    response = Response.model_validate(CODEC.encode_response(message), strict=True)

    assert response.id == "resp_1"
    assert response.output_text == "Let me look."
    assert [item.type for item in response.output] == ["reasoning", "message", "function_call"]
    call = response.output[2]
    assert call.type == "function_call"
    assert json.loads(call.arguments) == {"city": "Zürich"}
    assert call.call_id == "call_1"
    assert response.usage is not None
    assert response.usage.total_tokens == 5
    assert response.status == "completed"


def test_a_reply_that_was_cut_off() -> None:
    message = AIMessage("I", response_metadata={"finish_reason": "length"})

    response = Response.model_validate(CODEC.encode_response(message))

    assert response.status == "incomplete"
    assert response.incomplete_details is not None
    assert response.incomplete_details.reason == "max_output_tokens"


def test_what_was_read_is_told_again() -> None:
    items = [
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "E"},
        {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search", "query": "q"}},
        {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "phase": "final_answer",
         "content": [{"type": "output_text", "text": "Hi", "annotations": [
             {"type": "url_citation", "url": "u", "title": "t", "start_index": 0, "end_index": 2}]}]},
    ]  # fmt: skip
    message = CODEC.decode_response(
        {"id": "resp_1", "status": "completed", "model": "m", "output": items}
    )

    body = CODEC.encode_response(message)

    assert body["output"] == items
    Response.model_validate(body)


@given(reply=replies())
def test_every_reply_is_read_by_the_official_client(reply: AIMessage) -> None:
    response = Response.model_validate(CODEC.encode_response(reply))

    assert response.output_text == reply.text
    assert [json.loads(i.arguments) for i in response.output if i.type == "function_call"] == [
        c["args"] for c in reply.tool_calls
    ]


@given(data=st.data())
def test_the_events_of_a_reply_are_read_as_that_reply(data: st.DataObject) -> None:
    reply = data.draw(replies())
    writer = CODEC.stream_encoder()
    events = [e for chunk in data.draw(cut(reply)) for e in writer.feed(chunk)] + writer.close()

    parsed = [EVENT.validate_json(told) for _, told in events]
    message = folded(chunks_of(CODEC, events))

    assert [e.sequence_number for e in parsed] == list(range(len(events)))
    assert message.text == reply.text
    assert message.usage_metadata is not None
    assert reply.usage_metadata is not None
    assert message.usage_metadata.items() >= reply.usage_metadata.items()
    assert [(c["name"], c["args"], c["id"]) for c in message.tool_calls] == [
        (c["name"], c["args"], c["id"]) for c in reply.tool_calls
    ]
    assert message.additional_kwargs.get("reasoning_content") == reply.additional_kwargs.get(
        "reasoning_content"
    )
    assert message.response_metadata["finish_reason"] == reply.response_metadata["finish_reason"]
