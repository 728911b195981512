"""Reading Anthropic's JSON: odd shapes travel whole, wrong ones are errors with a path."""

import copy

import pytest

from dragoman.codecs import get_codec
from dragoman.errors import DecodeError
from dragoman.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage

CODEC = get_codec("anthropic")

ODD = [
    {"type": "text", "text": None},
    {"type": "text", "text": "x", "colour": "red"},
    {"type": "text", "text": "x", "citations": [3, {"type": "page_location", "page": 1}]},
    {"type": "text", "text": "x", "citations": [{"type": "x", "cited_text": "c", "title": None}]},
    {"type": "text", "text": "x", "citations": [
        {"type": "char_location", "cited_text": "c", "document_title": "D", "start_char_index": 0}]},
    {"type": "image", "source": None},
    {"type": "image", "source": {"type": "base64", "data": 3}},
    {"type": "image", "source": {"type": "hologram", "data": "x"}},
    {"type": "image", "source": {"type": "url", "url": "https://e.org", "more": 1}},
    {"type": "document", "source": {"type": "content", "content": [{"type": "image"}]}},
    {"type": "document", "source": {"type": "content", "content": "one text"}},
    {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": 3}},
    {"type": "document", "source": "nowhere"},
    {"type": "search_result", "source": "s", "title": 3, "content": []},
    {"type": "search_result", "source": "s", "title": "t", "content": [{"type": "x"}]},
    {"type": "tool_use", "id": 3, "name": "f", "input": {}},
    {"type": "server_tool_use", "id": "s", "name": "web_search", "input": []},
    {"type": "mcp_tool_use", "id": "s", "name": "f", "input": None},
    {"type": "mcp_tool_use", "id": "mcptoolu_1", "name": "f", "input": {}, "server_name": 3},
    {"type": "web_search_tool_result", "tool_use_id": None, "content": []},
    {"type": "thinking", "thinking": None, "signature": "s"},
    {"type": "thinking", "thinking": "x", "signature": 3},
    {"type": "container_upload", "file_id": "f"},
    {"type": None},
    {},
]  # fmt: skip


@pytest.mark.parametrize("block", ODD, ids=str)
def test_an_odd_block_comes_back_as_it_was(block):
    body = {
        "model": "m",
        "max_tokens": 1,
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "q"}, block]},
            {"role": "assistant", "content": [block, {"type": "text", "text": "a"}]},
            {"role": "user", "content": "end"},
        ],
    }
    before = copy.deepcopy(body)
    sent = CODEC.encode_request(CODEC.decode_request(body))
    assert body == before
    assert sent["messages"][0] == before["messages"][0]
    if block.get("type") not in ("image", "document", "search_result") or "api" in str(sent):
        assert sent["messages"][1] == before["messages"][1]
    reply = CODEC.decode_response({"id": "m", "content": [block], "usage": None})
    assert isinstance(reply.content_blocks, list)


@pytest.mark.parametrize(
    "tool",
    [
        {"name": "f", "input_schema": {"anyOf": [{"type": "object"}]}},
        {"name": "f", "description": None, "input_schema": {"type": "object"}},
        {"name": "f", "input_schema": 3},
        {"name": 3, "input_schema": {}},
        {"type": "bash_20250124", "name": "bash"},
        {"name": "f", "input_schema": {"type": "object"}, "input_examples": []},
    ],
)
def test_tools_that_say_more_than_the_common_form_stay(tool):
    body = {"model": "m", "max_tokens": 1, "messages": [], "tools": [tool]}
    (again,) = CODEC.encode_request(CODEC.decode_request(body))["tools"]
    assert {k: v for k, v in again.items() if v is not None} == {
        k: v for k, v in tool.items() if v is not None
    }


@pytest.mark.parametrize(
    "choice",
    [
        {"type": "tool", "name": "auto"}, {"type": "tool"}, {"type": "any", "x": 1},
        {"type": "auto", "disable_parallel_tool_use": True},
    ],
)  # fmt: skip
def test_choices_that_say_more_stay(choice):
    body = {"max_tokens": 1, "messages": [], "tool_choice": choice}
    assert CODEC.encode_request(CODEC.decode_request(body))["tool_choice"] == choice


@pytest.mark.parametrize(
    "wrong",
    [
        {"max_tokens": "9"}, {"temperature": "hot"}, {"stop_sequences": [3]}, {"tools": "all"},
        {"stream": "yes"}, {"system": ""}, {"metadata": {"user_id": "u"}}, {"output_config": 3},
    ],
)  # fmt: skip
def test_parameters_of_a_wrong_type_come_back_as_they_were(wrong):
    body = {"max_tokens": 1, "messages": [{"role": "user", "content": "q"}], **wrong}
    assert CODEC.encode_request(CODEC.decode_request(body)) == body


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ([], r"\$"),
        ({}, r"\$\.messages"),
        ({"messages": [3]}, r"messages\[0\]"),
        ({"messages": [{"role": "robot", "content": "x"}]}, r"messages\[0\]\.role"),
        ({"messages": [{"role": "user", "content": 3}]}, r"messages\[0\]\.content"),
        ({"messages": [{"role": "user", "content": [3]}]}, r"messages\[0\]\.content\[0\]"),
        ({"messages": [{"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "a", "content": [None]}]}]},
         r"content\[0\]\.content\[0\]"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_an_error_with_a_path(body, path):
    with pytest.raises(DecodeError, match=path):
        CODEC.decode_request(body)


@pytest.mark.parametrize("body", [{}, {"content": 3}, 3])
def test_what_is_no_reply_is_an_error(body):
    with pytest.raises(DecodeError, match=r"\$"):
        CODEC.decode_response(body)


def test_a_reply_with_text_in_place_of_blocks_is_read():
    assert CODEC.decode_response({"content": "hi"}).content == "hi"
    assert CODEC.decode_response({"content": None, "stop_reason": "end_turn"}).content == ""


def test_plain_requests_are_plain_messages():
    body = {
        "model": "m",
        "max_tokens": 9,
        "system": "s",
        "messages": [
            {"role": "user", "content": "q"},
            {"role": "assistant", "content": [
                {"type": "text", "text": "a"},
                {"type": "tool_use", "id": "t", "name": "f", "input": {"x": 1}}]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "t", "content": "r", "is_error": True}]},
        ],
    }  # fmt: skip
    request = CODEC.decode_request(body)
    assert request.messages == [
        SystemMessage("s"),
        HumanMessage("q"),
        AIMessage("a", tool_calls=[{"name": "f", "args": {"x": 1}, "id": "t"}]),
        ToolMessage("r", tool_call_id="t", status="error"),
    ]
    assert (request.model, request.max_tokens, request.extra) == ("m", 9, {})


def test_unknown_fields_of_turns_and_results_come_back():
    body = {
        "max_tokens": 1,
        "messages": [
            {"role": "user", "content": "q", "x": 1},
            {"role": "assistant", "content": [
                {"type": "tool_use", "id": "t", "name": "f", "input": {}, "y": 2}], "x": 3},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "t", "content": [], "z": 4},
                {"type": "text", "text": "go"}], "x": 5},
        ],
    }  # fmt: skip
    assert CODEC.encode_request(CODEC.decode_request(body)) == body
