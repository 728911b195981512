"""Reading Converse's JSON: odd shapes travel whole, wrong ones are errors with a path."""

import copy

import pytest

from dragoman.codecs import get_codec
from dragoman.errors import DecodeError
from dragoman.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage

CODEC = get_codec("bedrock_converse")

ODD = [
    {"text": 3},
    {"text": "x", "more": 1},
    {"image": {"format": "bmp", "source": {"bytes": "AA=="}}},
    {"image": {"format": "png", "source": {"bytes": 3}}},
    {"image": {"format": "png", "source": {"hologram": "x"}}},
    {"image": {"format": "png", "source": {"bytes": "AA==", "s3Location": {"uri": "s3://b/x"}}}},
    {"image": 3},
    {"image": {"format": "png", "source": {"bytes": "AA=="}, "error": {"message": "m"}}},
    {"document": {"name": "n", "source": {"content": [{"image": {}}]}}},
    {"document": {"name": "n", "format": "pdf", "source": {"bytes": "JVBERi0="}, "more": 1}},
    {"video": {"format": "three_gp", "source": {"bytes": "AA=="}}},
    {"toolUse": {"toolUseId": 3, "name": "f", "input": {}}},
    {"toolUse": {"toolUseId": "t", "name": "f", "input": {}, "more": 1}},
    {"toolUse": {"toolUseId": "t", "name": "f", "input": {}, "type": "other_tool_use"}},
    {"reasoningContent": {"reasoningText": {"text": 3}}},
    {"reasoningContent": {"reasoningText": {"text": "x", "signature": "s", "more": 1}}},
    {"citationsContent": {"content": [{"x": 1}], "citations": []}},
    {"citationsContent": {"content": [{"text": "a"}, {"text": "b"}], "citations": [{"title": "t"}]}},
    {"citationsContent": {"content": [{"text": "a"}], "citations": 3}},
    {"guardContent": {"image": {"format": "png", "source": {"bytes": "AA=="}}}},
    {"searchResult": {"source": "s", "title": "t", "content": [{"x": 1}]}},
    {"toolAddition": {"tool": {"name": "x"}}},
    {"cachePoint": {"type": "other"}},
    {"hologram": {"frames": [1]}},
    {},
]  # fmt: skip


@pytest.mark.parametrize("block", ODD, ids=str)
def test_an_odd_block_comes_back_as_it_was(block):
    is_call = "toolUse" in block
    body = {
        "messages": [
            {"role": "user", "content": [{"text": "q"}, *([] if is_call else [block])]},
            {"role": "assistant", "content": [block, {"text": "a"}]},
            {"role": "user", "content": [{"text": "end"}]},
        ]
    }
    before = copy.deepcopy(body)
    sent = CODEC.encode_request(CODEC.decode_request(body))
    assert body == before
    assert sent["messages"] == before["messages"]
    reply = CODEC.decode_response({"output": {"message": {"content": [block]}}, "stopReason": "x"})
    assert isinstance(reply.content_blocks, list)


@pytest.mark.parametrize(
    "result",
    [
        {"toolUseId": "t", "content": [{"text": "r"}], "status": "pending"},
        {"toolUseId": "t", "content": [{"text": "r"}], "more": 1},
        {"toolUseId": "t", "content": [{"hologram": 1}]},
        {"toolUseId": "t", "content": [{"searchResult": {"source": "s", "title": "t",
                                                         "content": [{"text": "f"}]}}]},
        {"toolUseId": "t", "content": "r"},
    ],
)  # fmt: skip
def test_an_odd_result_comes_back_as_it_was(result):
    call = {"toolUse": {"toolUseId": "t", "name": "f", "input": {}}}
    messages = [
        {"role": "user", "content": [{"text": "q"}]},
        {"role": "assistant", "content": [call]},
        {"role": "user", "content": [{"toolResult": result}, {"text": "go"}], "more": 1},
    ]
    assert (
        CODEC.encode_request(CODEC.decode_request({"messages": messages}))["messages"] == messages
    )


@pytest.mark.parametrize(
    "config",
    [
        {"tools": [{"toolSpec": {"name": "f", "inputSchema": {"other": 1}}}]},
        {"tools": [{"toolSpec": {"name": "f", "description": "", "inputSchema": {"json": {}}}}]},
        {"tools": [{"toolSpec": {"name": "f", "inputSchema": {"json": {}}, "more": 1}}]},
        {"tools": [{"toolSpec": 3}]},
        {"tools": [{"hologramTool": {}}, {"systemTool": {"name": "n"}}], "toolChoice": {"any": {"x": 1}}},
        {"tools": [{"systemTool": {"name": "n"}}, {"cachePoint": {"type": "default"}}]},
        {"tools": [{"systemTool": {"name": "n"}}], "toolChoice": {"tool": {"name": "auto"}}},
        {"tools": "all"},
    ],
)  # fmt: skip
def test_tools_that_say_more_than_the_common_form_stay(config):
    body = {"messages": [{"role": "user", "content": [{"text": "q"}]}], "toolConfig": config}
    assert CODEC.encode_request(CODEC.decode_request(body))["toolConfig"] == config


@pytest.mark.parametrize(
    "wrong",
    [
        {"inferenceConfig": {"maxTokens": "9", "temperature": None, "stopSequences": [3]}},
        {"inferenceConfig": 3}, {"system": "s"}, {"toolConfig": 3}, {"outputConfig": 3},
        {"outputConfig": {"textFormat": {"type": "json_schema"}}},
        {"outputConfig": {"textFormat": {"type": "x", "structure": {"jsonSchema": {"schema": "{}"}}}}},
        {"outputConfig": {"textFormat": {"type": "json_schema",
                                         "structure": {"jsonSchema": {"schema": "not json"}}}}},
        {"requestMetadata": {"a": "b"}},
    ],
)  # fmt: skip
def test_parameters_of_a_wrong_type_come_back_as_they_were(wrong):
    body = {"messages": [{"role": "user", "content": [{"text": "q"}]}], **wrong}
    assert CODEC.encode_request(CODEC.decode_request(body)) == body


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({}, r"\$\.messages"),
        ({"messages": [3]}, r"messages\[0\]"),
        ({"messages": [{"role": "robot", "content": []}]}, r"messages\[0\]\.role"),
        ({"messages": [{"role": "user", "content": "x"}]}, r"messages\[0\]\.content"),
        ({"messages": [{"role": "user", "content": [3]}]}, r"messages\[0\]\.content"),
    ],
)
def test_what_cannot_be_read_is_an_error_with_a_path(body, path):
    with pytest.raises(DecodeError, match=path):
        CODEC.decode_request(body)


def test_plain_requests_are_plain_messages():
    body = {
        "system": [{"text": "s"}],
        "messages": [
            {"role": "user", "content": [{"text": "q"}]},
            {"role": "assistant", "content": [
                {"text": "a"}, {"toolUse": {"toolUseId": "t", "name": "f", "input": {"x": 1}}}]},
            {"role": "user", "content": [
                {"toolResult": {"toolUseId": "t", "content": [{"text": "r"}], "status": "error"}}]},
        ],
        "inferenceConfig": {"maxTokens": 9},
    }  # fmt: skip
    request = CODEC.decode_request(body)
    assert request.messages == [
        SystemMessage("s"),
        HumanMessage("q"),
        AIMessage("a", tool_calls=[{"name": "f", "args": {"x": 1}, "id": "t"}]),
        ToolMessage("r", tool_call_id="t", status="error"),
    ]
    assert (request.max_tokens, request.extra) == (9, {})


def test_a_system_turn_inside_the_list_stays_there():
    messages = [
        {"role": "user", "content": [{"text": "q"}]},
        {"role": "system", "content": [{"text": "s"}], "more": 1},
        {"role": "user", "content": [{"text": "r"}]},
    ]
    assert (
        CODEC.encode_request(CODEC.decode_request({"messages": messages}))["messages"] == messages
    )


def test_an_assistant_turn_of_nothing_but_an_unknown_field_comes_back():
    messages = [
        {"role": "user", "content": [{"text": "q"}]},
        {"role": "assistant", "content": [], "more": 1},
    ]
    assert (
        CODEC.encode_request(CODEC.decode_request({"messages": messages}))["messages"] == messages
    )
    call = {"toolUse": {"toolUseId": "t", "name": "f", "input": {}}}
    empty = {"toolResult": {"toolUseId": "t", "content": [{}]}}
    messages[1:] = [{"role": "assistant", "content": [call]}, {"role": "user", "content": [empty]}]
    assert (
        CODEC.encode_request(CODEC.decode_request({"messages": messages}))["messages"] == messages
    )


def test_an_unknown_member_of_a_block_hides_no_known_one():
    said = [
        {"reasoningContent": {"reasoningText": {"text": "hm", "signature": "s"}, "x": 2}, "y": 3},
        {"text": "21", "x": 1},
        {"toolUse": {"toolUseId": "a", "name": "f", "input": {"q": 1}}, "y": {"z": 2}},
    ]
    body = {
        "messages": [
            {"role": "user", "content": [{"text": "hi", "x": 1}]},
            {"role": "assistant", "content": said},
            {
                "role": "user",
                "content": [
                    {"toolResult": {"toolUseId": "a", "content": [{"text": "r", "k": 3}]}, "w": 5},
                    {"text": "more"},
                ],
            },
        ]
    }
    codec = get_codec("bedrock_converse")
    request = codec.decode_request(body)
    _, reply, result, _ = request.messages
    assert [m.text for m in request.messages] == ["hi", "21", "r", "more"]
    assert [(c["name"], c["args"]) for c in reply.tool_calls] == [("f", {"q": 1})]
    assert reply.content_blocks[0]["reasoning"] == "hm"
    assert result.tool_call_id == "a"
    assert codec.encode_request(request)["messages"] == body["messages"]
    other = get_codec("openai_chat").encode_request(request)["messages"]
    assert [m.get("content") for m in other] == ["hi", "21", "r", "more"]
    response = {
        "output": {"message": {"role": "assistant", "content": said}},
        "stopReason": "tool_use",
    }
    assert codec.decode_response(response).text == "21"
