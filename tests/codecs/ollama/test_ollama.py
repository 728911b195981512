"""Ollama's own wire: arguments are objects, there are no ids, images are bare base64."""

import json

import pytest
from codec_kit import chunks_of, folded

from dragoman.codecs import ChatRequest, get_codec
from dragoman.errors import EncodeError, ModelError
from dragoman.messages import AIMessage, ChatMessage, HumanMessage, SystemMessage, ToolMessage

PNG = "iVBORw0KGgoAAAANSUhEUgAA"
CALL = {"name": "f", "args": {"a": 1}, "id": "c1", "type": "tool_call"}


def encode(*messages, changes=None, **fields):
    return get_codec("ollama").encode_request(
        ChatRequest(model="m", messages=list(messages), **fields), changes
    )


def test_a_history_in_ollamas_words():
    out = encode(
        SystemMessage("s"),
        HumanMessage([{"type": "text", "text": "look"}, {"type": "image", "base64": PNG}]),
        AIMessage("", tool_calls=[CALL, {**CALL, "name": "g", "id": "c2"}], additional_kwargs={"reasoning_content": "hm"}),
        ToolMessage("2", tool_call_id="c2", artifact="SECRET"),
        ToolMessage("1", tool_call_id="c1"),
        ChatMessage("x", role="user"),
    )["messages"]  # fmt: skip
    assert out == [
        {"role": "system", "content": "s"},
        {"role": "user", "content": "look", "images": [PNG]},
        {
            "role": "assistant",
            "content": "",
            "thinking": "hm",
            "tool_calls": [
                {"function": {"name": "f", "arguments": {"a": 1}}},
                {"function": {"name": "g", "arguments": {"a": 1}}},
            ],
        },
        {"role": "tool", "content": "1", "tool_name": "f"},
        {"role": "tool", "content": "2", "tool_name": "g"},
        {"role": "user", "content": "x"},
    ]
    assert out[1]["images"][0] is PNG


def test_options_formats_tools_and_choices():
    schema = {"type": "object", "properties": {}}
    changes = []
    body = encode(
        HumanMessage("q"),
        changes=changes,
        tools=[{"name": "f", "parameters": schema}, {"name": "g", "parameters": schema}],
        tool_choice="g",
        max_tokens=5,
        temperature=0.5,
        stop=["x"],
        stream=True,
        response_format={"type": "json_schema", "json_schema": {"name": "r", "schema": schema}},
        extra={"options": {"num_ctx": 9}, "keep_alive": "5m"},
    )
    assert body["options"] == {"num_predict": 5, "temperature": 0.5, "stop": ["x"], "num_ctx": 9}
    assert body["format"] is schema
    assert [t["function"]["name"] for t in body["tools"]] == ["g"]
    assert (body["stream"], body["keep_alive"]) == (True, "5m")
    assert [c.path for c in changes] == ["$.tool_choice"]
    assert "tools" not in encode(HumanMessage("q"), tools=[{"name": "f"}], tool_choice="none")
    assert encode(HumanMessage("q"), response_format={"type": "json_object"})["format"] == "json"


@pytest.mark.parametrize(
    "block",
    [
        {"type": "audio", "base64": "SECRET", "mime_type": "audio/wav"},
        {"type": "image", "url": "https://e.org/SECRET"},
        {"type": "file", "base64": "SECRET", "mime_type": "application/pdf"},
    ],
)
def test_other_media_raises_with_its_place(block):
    with pytest.raises(EncodeError) as caught:
        encode(HumanMessage([block]))
    assert caught.value.path == "$[0].content[0]"
    assert "SECRET" not in str(caught.value)


def test_text_parts_are_joined_and_what_has_no_place_is_told():
    changes = []
    blocks = [
        {"type": "text", "text": "a"},
        {"type": "text-plain", "text": "b"},
        {"type": "non_standard", "value": {}},
    ]
    (message,) = encode(HumanMessage(blocks, name="ann"), changes=changes)["messages"]
    assert message == {"role": "user", "content": "a\nb"}
    assert [c.code for c in changes] == ["dropped_block", "dropped_name"]


def test_another_makers_reasoning_stays_out():
    changes = []
    reply = AIMessage(
        "a",
        additional_kwargs={"reasoning_content": "x"},
        response_metadata={"model_provider": "groq"},
    )
    (message,) = encode(reply, changes=changes)["messages"]
    assert message == {"role": "assistant", "content": "a"}
    assert [c.code for c in changes] == ["dropped_reasoning"]


def test_results_find_their_calls_by_name_and_order():
    body = {
        "messages": [
            {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": n, "arguments": {}}} for n in "fgf"]},
            {"role": "tool", "tool_name": "g", "content": "g"},
            {"role": "tool", "content": "f1"},
            {"role": "tool", "tool_name": "f", "content": "f2"},
        ]
    }  # fmt: skip
    messages = get_codec("ollama").decode_request(body).messages
    ids = [c["id"] for c in messages[0].tool_calls]
    assert len(set(ids)) == 3
    assert [m.tool_call_id for m in messages[1:]] == [ids[1], ids[0], ids[2]]


def test_b22_thinking_beside_null_content():
    lines = [
        {
            "model": "m",
            "message": {"role": "assistant", "content": None, "thinking": "Ok"},
            "done": False,
        }
    ] * 5
    lines += [{"model": "m", "message": {"role": "assistant", "content": "done"}, "done": False}]
    message = folded(chunks_of(get_codec("ollama"), [(None, json.dumps(line)) for line in lines]))
    assert message.additional_kwargs["reasoning_content"] == "Ok" * 5
    assert message.content == "done"
    assert message.response_metadata["finish_reason"] is None


def test_calls_get_ids_that_are_stable_and_different():
    line = {"model": "m", "message": {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "f", "arguments": {"a": 1.5}}}] * 2}, "done": True}  # fmt: skip
    one, two = (get_codec("ollama").decode_response(line) for _ in range(2))
    assert one.tool_calls == two.tool_calls
    assert len({c["id"] for c in one.tool_calls}) == 2
    assert one.content == ""
    assert one.response_metadata["finish_reason"] == "tool_calls"


def test_an_error_line_is_an_error():
    decoder = get_codec("ollama").stream_decoder()
    with pytest.raises(ModelError, match="no such model"):
        decoder.feed(None, '{"error": "no such model"}')


def test_a_lost_reply_is_not_done():
    decoder = get_codec("ollama").stream_decoder()
    decoder.feed(None, '{"model":"m","message":{"role":"assistant","content":"a"},"done":false}')
    assert decoder.done is False
    decoder.feed(None, '{"model":"m","message":{"role":"assistant","content":""},"done":true}')
    assert decoder.done is True
