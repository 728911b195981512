"""Requests in the dialects of Chat Completions: what each provider demands, and what nobody may get."""

import pytest

from dragoman.codecs import ChatRequest, get_codec
from dragoman.errors import EncodeError
from dragoman.messages import (
    AIMessage,
    AIMessageChunk,
    ChatMessage,
    FunctionMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
)

CALL = {"name": "f", "args": {"a": 1}, "id": "c1", "type": "tool_call"}
PNG = "iVBORw0KGgoAAAANSUhEUgAA"
JPEG = "/9j/4AAQSkZJRgABAQAAAQAB"


def encode(*messages, provider=None, changes=None, **fields):
    request = ChatRequest(model="m", messages=list(messages), **fields)
    return get_codec("openai_chat", provider).encode_request(request, changes)


def wire(*messages, **kwargs):
    return encode(*messages, **kwargs)["messages"]


@pytest.mark.parametrize(
    ("provider", "content"),
    [
        (None, None),
        ("groq", None),
        ("deepseek", ""),
        ("google", ""),
        ("ollama", ""),
        ("llamacpp", ""),
    ],
)
def test_b36_the_content_of_a_turn_of_calls_is_the_dialects(provider, content):
    (message,) = wire(AIMessage("", tool_calls=[CALL]), provider=provider)
    assert message["content"] == content
    assert message["tool_calls"] == [
        {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a":1}'}}
    ]


@pytest.mark.parametrize("content", ["", None, "absent", []])
def test_b36_every_spelling_of_no_content_is_read(content):
    raw = {
        "role": "assistant",
        "content": content,
        "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
        ],
    }
    if content == "absent":
        del raw["content"]
    (message,) = get_codec("openai_chat").decode_request({"messages": [raw]}).messages
    assert message.tool_calls == [{**CALL, "args": {}}]
    assert not message.content


def test_roles_and_names():
    assert wire(
        SystemMessage("s"),
        SystemMessage("d", additional_kwargs={"__openai_role__": "developer"}),
        HumanMessage("q", name="ann"),
        ChatMessage("c", role="developer"),
        FunctionMessage("r", name="f"),
        AIMessageChunk("a"),
    ) == [
        {"role": "system", "content": "s"},
        {"role": "developer", "content": "d"},
        {"role": "user", "content": "q", "name": "ann"},
        {"role": "developer", "content": "c"},
        {"role": "function", "content": "r", "name": "f"},
        {"role": "assistant", "content": "a"},
    ]


@pytest.mark.parametrize("message", [ChatMessage("x", role="critic"), RemoveMessage(id="x")])
def test_what_the_wire_has_no_role_for_raises_with_its_place(message):
    with pytest.raises(EncodeError) as caught:
        wire(HumanMessage("q"), message)
    assert caught.value.path == "$[1]"


def test_results_stand_behind_their_turn_in_call_order_and_artifacts_stay_home():
    two = AIMessage("", tool_calls=[CALL, {**CALL, "id": "c2"}])
    out = wire(
        HumanMessage("q"),
        two,
        ToolMessage("2", tool_call_id="c2", artifact="SECRET"),
        ToolMessage("1", tool_call_id="c1"),
    )
    assert [(m["role"], m.get("tool_call_id")) for m in out[2:]] == [("tool", "c1"), ("tool", "c2")]
    assert "SECRET" not in str(out)


def test_b49_media_of_a_result_follows_in_a_user_message():
    changes = []
    shot = ToolMessage(
        [
            {"type": "text", "text": "shot"},
            {"type": "image", "base64": PNG, "mime_type": "image/png"},
        ],
        tool_call_id="c1",
    )
    two = AIMessage("", tool_calls=[CALL, {**CALL, "id": "c2"}])
    out = wire(
        two, shot, ToolMessage("ok", tool_call_id="c2"), HumanMessage("so?"), changes=changes
    )
    assert [m["role"] for m in out] == ["assistant", "tool", "tool", "user", "user"]
    assert out[1]["content"] == "shot"
    assert out[3]["content"] == [
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}}
    ]
    assert [(c.code, c.lossy) for c in changes] == [("moved_media", False)]
    alone = ToolMessage([{"type": "image", "url": "https://e.org/a.png"}], tool_call_id="c1")
    out = wire(AIMessage("", tool_calls=[CALL]), alone)
    assert isinstance(out[1]["content"], str)
    assert out[2]["role"] == "user"


def test_b43_results_in_a_user_message_become_tool_messages_before_its_text():
    out = wire(
        AIMessage([{"type": "tool_use", "id": "u1", "name": "f", "input": {"a": 1}}]),
        HumanMessage(
            [
                {"type": "text", "text": "more"},
                {"type": "tool_result", "tool_use_id": "u1", "content": "r"},
            ]
        ),
    )
    assert [m["role"] for m in out] == ["assistant", "tool", "user"]
    assert out[0]["tool_calls"][0]["id"] == out[1]["tool_call_id"] == "u1"


@pytest.mark.parametrize(
    ("block", "part"),
    [
        ({"type": "image", "base64": JPEG, "mime_type": "image/jpg"}, f"data:image/jpeg;base64,{JPEG}"),
        ({"type": "image", "base64": JPEG}, f"data:image/jpeg;base64,{JPEG}"),
        ({"type": "image", "base64": JPEG, "mime_type": "image/png"}, f"data:image/jpeg;base64,{JPEG}"),
        ({"type": "image", "url": f"data:image/jpg;base64,{JPEG}"}, f"data:image/jpeg;base64,{JPEG}"),
        ({"type": "image_url", "image_url": f"data:image/png;base64,{PNG}"}, f"data:image/png;base64,{PNG}"),
        ({"type": "image_url", "image_url": {"url": "https://e.org/a"}}, "https://e.org/a"),
        ({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}, f"data:image/png;base64,{PNG}"),
        ({"type": "image", "source_type": "url", "url": "https://e.org/a"}, "https://e.org/a"),
    ],
)  # fmt: skip
def test_b46_images_of_every_form_go_out_rightly_labelled(block, part):
    (message,) = wire(HumanMessage([block, {"type": "text", "text": "?"}]))
    assert message["content"] == [
        {"type": "image_url", "image_url": {"url": part}},
        {"type": "text", "text": "?"},
    ]


def test_an_image_url_with_data_is_shared():
    url = "data:image/png;base64," + PNG + "A" * 1_000_000
    body = {
        "messages": [
            {"role": "user", "content": [{"type": "image_url", "image_url": {"url": url}}]}
        ]
    }
    codec = get_codec("openai_chat")
    out = codec.encode_request(codec.decode_request(body))
    assert out["messages"][0]["content"][0]["image_url"]["url"] is url


def test_other_media():
    blocks = [
        {"type": "audio", "base64": "SUQz", "mime_type": "audio/mp3"},
        {
            "type": "file",
            "base64": "JVBERi0x",
            "mime_type": "application/pdf",
            "extras": {"filename": "a.pdf"},
        },
        {"type": "file", "base64": "YSxi", "mime_type": "text/csv"},
        {"type": "file", "file_id": "file-1"},
        {"type": "text-plain", "text": "plain", "mime_type": "text/plain"},
    ]
    (message,) = wire(HumanMessage(blocks))
    assert message["content"] == [
        {"type": "input_audio", "input_audio": {"data": "SUQz", "format": "mp3"}},
        {
            "type": "file",
            "file": {"file_data": "data:application/pdf;base64,JVBERi0x", "filename": "a.pdf"},
        },
        {"type": "text", "text": "a,b"},
        {"type": "file", "file": {"file_id": "file-1"}},
        {"type": "text", "text": "plain"},
    ]


@pytest.mark.parametrize(
    "block",
    [
        {"type": "image", "file_id": "f"},
        {"type": "audio", "url": "https://e.org/a.wav"},
        {"type": "video", "base64": "AAAA", "mime_type": "video/mp4"},
        {"type": "file", "url": "https://e.org/a.pdf"},
    ],
)
def test_media_the_wire_cannot_carry_raises_naming_kind_place_and_provider(block):
    with pytest.raises(EncodeError) as caught:
        wire(HumanMessage([{"type": "text", "text": "q"}, block]))
    text = str(caught.value)
    assert caught.value.path == "$[0].content[1]"
    assert block["type"] in text
    assert "openai" in text
    assert "AAAA" not in text
    assert "e.org" not in text


def test_openrouter_takes_videos_and_file_addresses():
    blocks = [
        {"type": "video", "url": "https://e.org/v"},
        {"type": "file", "url": "https://e.org/f"},
    ]
    (message,) = wire(HumanMessage(blocks), provider="openrouter")
    assert [p["type"] for p in message["content"]] == ["video_url", "file"]


LOOP = (
    HumanMessage("old"),
    AIMessage("older answer", additional_kwargs={"reasoning_content": "old thought"}),
    HumanMessage("q"),
    AIMessage("", tool_calls=[CALL], additional_kwargs={"reasoning_content": "thought"}),
    ToolMessage("r", tool_call_id="c1"),
)


@pytest.mark.parametrize(
    ("provider", "field", "old"),
    [
        ("deepseek", "reasoning_content", False),
        ("moonshot", "reasoning_content", False),
        ("vllm", "reasoning", False),
        ("ollama", "reasoning", False),
        ("zai", "reasoning_content", True),
        ("cerebras", "reasoning", True),
        (None, None, False),
        ("groq", None, False),
        ("together", None, False),
    ],
)
def test_b54_reasoning_goes_back_where_the_dialect_wants_it(provider, field, old):
    changes = []
    out = wire(*LOOP, provider=provider, changes=changes)
    assert {k: v for k, v in out[3].items() if k.startswith("reasoning")} == (
        {field: "thought"} if field else {}
    )
    assert any(k.startswith("reasoning") for k in out[1]) is old
    assert [c.code for c in changes].count("dropped_reasoning") == 2 - (field is not None) - old


def test_b54_after_streaming_too():
    codec = get_codec("openai_chat", "deepseek")
    reader = codec.stream_decoder()
    chunks = []
    for delta in (
        {"role": "assistant", "content": None, "reasoning_content": "tho"},
        {"content": None, "reasoning_content": "ught"},
        {
            "tool_calls": [
                {
                    "index": 0,
                    "id": "c1",
                    "type": "function",
                    "function": {"name": "f", "arguments": "{}"},
                }
            ]
        },
    ):
        chunks += reader.feed(None, {"model": "m", "choices": [{"index": 0, "delta": delta}]})
    reply = sum(chunks + reader.close())
    out = wire(HumanMessage("q"), reply, ToolMessage("r", tool_call_id="c1"), provider="deepseek")
    assert out[1]["reasoning_content"] == "thought"


def test_b52_reasoning_of_another_maker_is_never_sent_as_ones_own():
    signed = AIMessage(
        [
            {"type": "reasoning", "reasoning": "x", "extras": {"signature": "SIGNED=="}},
            {"type": "text", "text": "answer"},
        ],
        response_metadata={"model_provider": "google_genai"},
    )
    plain = AIMessage(
        "answer",
        additional_kwargs={"reasoning_content": "x"},
        response_metadata={"model_provider": "groq"},
    )
    for provider in (None, "deepseek", "openrouter", "google"):
        changes = []
        out = wire(HumanMessage("q"), signed, plain, provider=provider, changes=changes)
        assert out[1] == {"role": "assistant", "content": "answer"}
        assert out[2] == {"role": "assistant", "content": "answer"}
        assert "SIGNED" not in str(out)
        assert [c.code for c in changes] == ["dropped_reasoning"] * 2


def test_b51_blocks_nobody_here_knows_are_dropped_and_told():
    changes = []
    history = [
        AIMessage(
            [
                {"type": "text", "text": "a"},
                {"type": "server_tool_call", "id": "s", "name": "web_search", "args": {}},
                {"type": "server_tool_result", "tool_call_id": "s", "status": "success", "output": []},
                {"type": "non_standard", "value": {"type": "x"}, "api": "anthropic"},
                {"type": "tool_call", "id": "c1", "name": "f", "args": {"a": 1}},
                {"type": "text", "text": "b"},
            ],
            tool_calls=[CALL],
        ),
        HumanMessage([{"type": "non_standard", "value": {"type": "y"}, "api": "gemini"}, {"type": "text", "text": "q"}]),
    ]  # fmt: skip
    out = wire(*history, changes=changes)
    assert out[0]["content"] == "ab"
    assert len(out[0]["tool_calls"]) == 1
    assert out[1]["content"] == "q"
    assert [(c.path, c.lossy) for c in changes] == [
        ("$[0].content[1]", True),
        ("$[0].content[2]", True),
        ("$[0].content[3]", True),
        ("$[1].content[0]", True),
    ]


def test_signed_reasoning_and_call_signatures_return_verbatim():
    codec = get_codec("openai_chat", "google")
    body = {
        "model": "m",
        "choices": [
            {
                "index": 0,
                "finish_reason": "tool_calls",
                "message": {
                    "role": "assistant",
                    "content": "ok",
                    "thought_signature": "TOP",
                    "tool_calls": [
                        {
                            "id": "",
                            "type": "function",
                            "function": {"name": "f", "arguments": "{}"},
                            "extra_content": {"google": {"thought_signature": "SIG"}},
                        }
                    ],
                },
            }
        ],
    }
    reply = codec.decode_response(body)
    out = codec.encode_request(ChatRequest(messages=[HumanMessage("q"), reply]))["messages"][1]
    assert out["thought_signature"] == "TOP"
    assert out["tool_calls"][0]["extra_content"] == {"google": {"thought_signature": "SIG"}}
    assert out["tool_calls"][0]["id"] == reply.tool_calls[0]["id"] != ""
    other = get_codec("openai_chat").encode_request(ChatRequest(messages=[reply]))
    assert "SIG" not in str(other)
    assert "TOP" not in str(other)


def test_ids_too_long_for_the_api_are_mapped_with_their_results():
    long = "toolu_" + "x" * 60
    out = wire(
        AIMessage("", tool_calls=[{**CALL, "id": long}, {**CALL, "id": long + "y"}]),
        ToolMessage("1", tool_call_id=long),
        ToolMessage("2", tool_call_id=long + "y"),
    )
    ids = [c["id"] for c in out[0]["tool_calls"]]
    assert len(set(ids)) == 2
    assert all(len(i) <= 40 for i in ids)
    assert [m["tool_call_id"] for m in out[1:]] == ids
    assert (
        wire(AIMessage("", tool_calls=[{**CALL, "id": long}]), provider="groq")[0]["tool_calls"][0][
            "id"
        ]
        == long
    )


def test_b33_a_broken_call_is_kept_with_its_raw_text():
    raw = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1'}}
    body = {"messages": [{"role": "assistant", "content": None, "tool_calls": [raw]}]}
    codec = get_codec("openai_chat")
    request = codec.decode_request(body)
    (message,) = request.messages
    assert message.tool_calls == []
    assert message.invalid_tool_calls[0]["args"] == '{"a": 1'
    assert codec.encode_request(request)["messages"][0]["tool_calls"] == [raw]


def test_the_oldest_form_of_a_call_goes_back_as_it_came():
    call = {"name": "f", "arguments": "{}"}
    (message,) = wire(AIMessage("", additional_kwargs={"function_call": call}))
    assert message == {"role": "assistant", "content": None, "function_call": call}


def test_tools_choices_and_formats_of_every_spelling():
    schema = {"type": "object", "properties": {}}
    claude = {"name": "g", "description": "d", "input_schema": schema}
    body = encode(
        HumanMessage("q"),
        tools=[
            {"name": "f", "parameters": schema},
            claude,
            {"type": "function", "function": {"name": "h"}},
        ],
        tool_choice="any",
        max_tokens=5,
        stop=["x"],
        response_format={"type": "json_schema", "json_schema": {"name": "r", "schema": schema}},
        extra={"seed": 1},
    )
    assert [t["function"]["name"] for t in body["tools"]] == ["f", "g", "h"]
    assert body["tools"][1]["function"]["parameters"] is schema
    assert body["tool_choice"] == "required"
    assert (body["max_completion_tokens"], body["stop"], body["seed"]) == (5, ["x"], 1)
    assert body["response_format"]["json_schema"]["schema"] is schema
    named = encode(HumanMessage("q"), tool_choice="f")["tool_choice"]
    assert named == {"type": "function", "function": {"name": "f"}}
    assert encode(HumanMessage("q"), provider="together", max_tokens=5)["max_tokens"] == 5
    choice = {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": []}}
    assert encode(HumanMessage("q"), tool_choice=choice)["tool_choice"] == choice
    assert encode(HumanMessage("q"), tool_choice={"type": "any"})["tool_choice"] == "required"


def test_a_tool_of_another_provider_is_dropped_and_told():
    changes = []
    body = encode(
        HumanMessage("q"),
        tools=[{"type": "web_search_20250305", "name": "web_search"}],
        changes=changes,
    )
    assert body["tools"] == []
    assert [c.path for c in changes] == ["$.tools[0]"]


def test_a_custom_call_is_shown_and_returns_as_it_came():
    codec = get_codec("openai_chat")
    call = {"id": "c1", "type": "custom", "custom": {"name": "sql", "input": "SELECT 1"}}
    body = {
        "choices": [
            {
                "index": 0,
                "finish_reason": "tool_calls",
                "message": {"role": "assistant", "content": None, "tool_calls": [call]},
            }
        ]
    }
    reply = codec.decode_response(body)
    assert reply.tool_calls[0]["args"] == {"input": "SELECT 1"}
    assert codec.encode_request(ChatRequest(messages=[reply]))["messages"][0]["tool_calls"] == [
        call
    ]
    history = {"messages": [{"role": "assistant", "tool_calls": [call]}]}
    request = codec.decode_request(history)
    assert request.messages[0].tool_calls[0]["args"] == {"input": "SELECT 1"}
    assert codec.encode_request(request)["messages"][0]["tool_calls"] == [call]


def test_an_edited_call_of_a_read_history_goes_out_edited():
    codec = get_codec("openai_chat")
    raw = {"id": "c1", "type": "function", "index": 0, "function": {"name": "f", "arguments": "{}"}}
    request = codec.decode_request(
        {"messages": [{"role": "assistant", "content": "", "tool_calls": [raw]}]}
    )
    assert codec.encode_request(request)["messages"][0]["tool_calls"] == [raw]
    request.messages[0].tool_calls = [{**CALL, "args": {"a": 2}}]
    (call,) = codec.encode_request(request)["messages"][0]["tool_calls"]
    assert call["function"]["arguments"] == '{"a":2}'


@pytest.mark.parametrize(
    "message",
    [
        AIMessage([{"type": "refusal", "refusal": "no", "index": 0}]),
        AIMessage("", additional_kwargs={"refusal": "no"}),
    ],
)
def test_a_refusal_goes_back_as_one(message):
    assert wire(message) == [{"role": "assistant", "content": None, "refusal": "no"}]


def test_what_a_read_message_had_for_its_own_provider_stays_there_and_is_told():
    body = {"messages": [{"role": "assistant", "content": "a", "reasoning": "r", "x_new": 1}]}
    request = get_codec("openai_chat", "vllm").decode_request(body)
    assert get_codec("openai_chat", "vllm").encode_request(request) == body
    changes = []
    out = get_codec("openai_chat", "groq").encode_request(request, changes)
    assert out == {"messages": [{"role": "assistant", "content": "a"}]}
    assert [c.code for c in changes] == ["dropped_fields", "dropped_reasoning"]
