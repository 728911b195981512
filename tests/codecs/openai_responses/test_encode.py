"""Requests for the Responses API: every kind of message, tool and choice, from any source."""

import copy
from typing import Any

import pytest
from codec_kit import leaves

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

JPEG = "/9j/4AAQSkZJRgABAQ=="
PNG = "iVBORw0KGgoAAAANSUhEUgAA"


def encoded(*messages: Any, changes: Any = None, **fields: Any) -> dict[str, Any]:
    request = ChatRequest(model="m", messages=list(messages), **fields)
    before = copy.deepcopy(request)
    body = get_codec("openai_responses").encode_request(request, changes)
    assert request == before
    return body


def test_the_first_system_message_is_the_instructions() -> None:
    body = encoded(SystemMessage("s"), SystemMessage("t"), HumanMessage("u"), SystemMessage("c"))

    assert body["instructions"] == "s"
    assert body["input"] == [
        {"role": "system", "content": "t"},
        {"role": "user", "content": "u"},
        {"role": "system", "content": "c"},
    ]


def test_instructions_given_beside_a_system_message_win() -> None:
    body = encoded(SystemMessage("s"), HumanMessage("u"), extra={"instructions": "other"})

    assert body["instructions"] == "other"
    assert body["input"][0] == {"role": "system", "content": "s"}


def test_a_system_message_of_blocks_stays_in_the_input() -> None:
    body = encoded(SystemMessage([{"type": "text", "text": "s"}]), HumanMessage("u"))

    assert "instructions" not in body
    assert body["input"][0]["content"] == [{"type": "input_text", "text": "s"}]


@pytest.mark.parametrize(
    ("block", "part"),
    [
        # B46
        (
            {"type": "image", "base64": JPEG, "mime_type": "image/jpg"},
            {"type": "input_image", "image_url": f"data:image/jpeg;base64,{JPEG}"},
        ),
        (
            {"type": "image", "base64": JPEG},
            {"type": "input_image", "image_url": f"data:image/jpeg;base64,{JPEG}"},
        ),
        (
            {"type": "image", "base64": JPEG, "mime_type": "image/png"},
            {"type": "input_image", "image_url": f"data:image/jpeg;base64,{JPEG}"},
        ),
        ({"type": "image", "file_id": "f"}, {"type": "input_image", "file_id": "f"}),
        (
            {"type": "image", "url": "https://e.org/a.png", "extras": {"detail": "low"}},
            {"type": "input_image", "image_url": "https://e.org/a.png", "detail": "low"},
        ),
        (
            {"type": "image_url", "image_url": "https://e.org/a.png"},
            {"type": "input_image", "image_url": "https://e.org/a.png"},
        ),
        (
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}},
            {"type": "input_image", "image_url": f"data:image/png;base64,{PNG}"},
        ),
        (
            {
                "type": "file",
                "base64": "JVBERi0=",
                "mime_type": "application/pdf",
                "filename": "a.pdf",
            },
            {
                "type": "input_file",
                "file_data": "data:application/pdf;base64,JVBERi0=",
                "filename": "a.pdf",
            },
        ),
        (
            {"type": "file", "url": "https://e.org/a.pdf"},
            {"type": "input_file", "file_url": "https://e.org/a.pdf"},
        ),
        (
            {"type": "text-plain", "mime_type": "text/plain", "text": "what?"},
            {"type": "input_text", "text": "what?"},
        ),
    ],
)
def test_media_in_any_form(block: dict[str, Any], part: dict[str, Any]) -> None:
    assert encoded(HumanMessage([block]))["input"] == [{"role": "user", "content": [part]}]


@pytest.mark.parametrize(
    "block",
    [
        {"type": "audio", "base64": "UklGRg==", "mime_type": "audio/wav"},
        {"type": "video", "url": "https://e.org/a.mp4"},
        {"type": "image"},
    ],
)
def test_media_that_cannot_be_sent_is_an_error_before_the_call(block: dict[str, Any]) -> None:
    with pytest.raises(EncodeError, match="content\\[1\\]"):
        encoded(HumanMessage([{"type": "text", "text": "x"}, block]))


def test_pictures_in_results_stay_with_the_result() -> None:
    # B49
    call = AIMessage("", tool_calls=[{"name": "f", "args": {}, "id": "c"}])
    result = ToolMessage(
        [
            {"type": "text", "text": "shot"},
            {"type": "image", "base64": PNG, "mime_type": "image/png"},
        ],
        tool_call_id="c",
    )

    assert encoded(HumanMessage("q"), call, result)["input"][-1] == {
        "type": "function_call_output",
        "call_id": "c",
        "output": [
            {"type": "input_text", "text": "shot"},
            {"type": "input_image", "image_url": f"data:image/png;base64,{PNG}"},
        ],
    }


def test_results_stand_in_call_order_before_what_the_user_says() -> None:
    # B43
    calls = [{"name": "f", "args": {}, "id": i} for i in ("a", "b")]
    user = HumanMessage(
        [
            {"type": "text", "text": "more"},
            {"type": "tool_result", "tool_use_id": "b", "content": "2"},
            {"type": "tool_result", "tool_use_id": "a", "content": "1", "is_error": True},
        ]
    )

    items = encoded(HumanMessage("q"), AIMessage("", tool_calls=calls), user)["input"]

    assert [i.get("call_id") for i in items[3:5]] == ["a", "b"]
    assert items[3]["status"] == "incomplete"
    assert items[5] == {"role": "user", "content": [{"type": "input_text", "text": "more"}]}


def test_an_invalid_call_goes_back_with_its_raw_text() -> None:
    # B33
    call = {"name": "f", "args": '{"a": 1', "id": "c", "error": "cut", "type": "invalid_tool_call"}

    items = encoded(HumanMessage("q"), AIMessage("", invalid_tool_calls=[call]))["input"]

    assert items[1] == {
        "type": "function_call", "call_id": "c", "name": "f", "arguments": '{"a": 1',
    }  # fmt: skip


def test_long_and_missing_call_ids_become_ids_that_fit() -> None:
    long = "x" * 100
    calls = [{"name": "f", "args": {}, "id": i} for i in (long, long + "y", None)]
    results = [ToolMessage("r", tool_call_id=c["id"] or "") for c in calls]

    items = encoded(HumanMessage("q"), AIMessage("", tool_calls=calls), *results)["input"]

    ids = [i["call_id"] for i in items[1:4]]
    assert all(0 < len(i) <= 64 for i in ids)
    assert len(set(ids)) == 3
    assert [i["call_id"] for i in items[4:]] == ids


def test_an_empty_assistant_turn_is_left_out() -> None:
    # B39
    items = encoded(HumanMessage("q"), AIMessage(""), HumanMessage("r"))["input"]

    assert [i["role"] for i in items] == ["user", "user"]


def test_roles_of_chat_messages() -> None:
    items = encoded(
        HumanMessage("q"), ChatMessage("d", role="developer"), ChatMessage("a", role="assistant")
    )["input"]

    assert items[1:] == [
        {"role": "developer", "content": "d"},
        {"role": "assistant", "content": "a"},
    ]
    with pytest.raises(EncodeError, match="role"):
        encoded(ChatMessage("x", role="critic"))


def test_a_function_message_is_a_paired_result() -> None:
    call = AIMessage("", additional_kwargs={"function_call": {"name": "f", "arguments": '{"a":1}'}})

    items = encoded(HumanMessage("q"), call, FunctionMessage("r", name="f"))["input"]

    assert items[1]["type"] == "function_call"
    assert items[1]["arguments"] == '{"a":1}'
    assert items[2] == {
        "type": "function_call_output", "call_id": items[1]["call_id"], "output": "r",
    }  # fmt: skip


def test_a_remove_message_is_refused() -> None:
    with pytest.raises(EncodeError):
        encoded(RemoveMessage("m1"))


def test_names_and_stop_sequences_are_reported() -> None:
    changes: list[Any] = []

    encoded(HumanMessage("q", name="ann"), stop=["x"], changes=changes)

    assert {c.code for c in changes} == {"dropped_name", "dropped_parameter"}


def test_a_chunk_is_a_message() -> None:
    items = encoded(HumanMessage("q"), AIMessageChunk("a") + AIMessageChunk("b"))["input"]

    assert items[1] == {"role": "assistant", "content": "ab"}


SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
FLAT = {"type": "function", "name": "f", "description": "d", "parameters": SCHEMA}


@pytest.mark.parametrize(
    "tool",
    [
        {"name": "f", "description": "d", "parameters": SCHEMA},
        {"type": "function", "function": {"name": "f", "description": "d", "parameters": SCHEMA}},
        {"name": "f", "description": "d", "input_schema": SCHEMA},
        {"toolSpec": {"name": "f", "description": "d", "inputSchema": {"json": SCHEMA}}},
        FLAT,
    ],
)
def test_tools_in_any_spelling(tool: dict[str, Any]) -> None:
    assert encoded(HumanMessage("q"), tools=[tool])["tools"] == [FLAT]


def test_a_strict_tool_gets_a_strict_schema() -> None:
    tool = {
        "name": "f",
        "parameters": {"type": "object", "properties": {"a": {"type": "string"}}},
        "strict": True,
    }

    written = encoded(HumanMessage("q"), tools=[tool])["tools"][0]

    assert written["strict"] is True
    assert written["parameters"]["required"] == ["a"]
    assert written["parameters"]["additionalProperties"] is False


def test_tools_of_other_providers_are_reported() -> None:
    changes: list[Any] = []
    tools = [
        {"type": "web_search_20250305", "name": "web_search"},
        {"googleSearch": {}},
        {"type": "openrouter:web_search"},
        {"type": "web_search"},
        {"type": "custom", "custom": {"name": "run", "format": {"type": "text"}}},
    ]

    body = encoded(HumanMessage("q"), tools=tools, changes=changes)

    assert body["tools"] == [
        {"type": "web_search"},
        {"type": "custom", "name": "run", "format": {"type": "text"}},
    ]
    assert [c.code for c in changes] == ["dropped_tool"] * 3
    assert [c.path for c in changes] == ["$.tools[0]", "$.tools[1]", "$.tools[2]"]


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        ("auto", "auto"),
        ("none", "none"),
        ("any", "required"),
        ("f", {"type": "function", "name": "f"}),
        ("run", {"type": "custom", "name": "run"}),
        ("web_search", {"type": "web_search"}),
        ({"type": "function", "function": {"name": "f"}}, {"type": "function", "name": "f"}),
        ({"type": "tool", "name": "f"}, {"type": "function", "name": "f"}),
        ({"type": "any"}, "required"),
        ({"type": "auto"}, "auto"),
        ({"type": "mcp", "server_label": "s"}, {"type": "mcp", "server_label": "s"}),
        ({"functionCallingConfig": {"mode": "ANY"}}, "required"),
    ],
)
def test_tool_choices(choice: Any, expected: Any) -> None:
    tools = [{"name": "f"}, {"type": "custom", "name": "run"}, {"type": "web_search"}]

    assert encoded(HumanMessage("q"), tools=tools, tool_choice=choice)["tool_choice"] == expected


def test_one_call_at_a_time_is_a_parameter_here() -> None:
    choice = {"type": "any", "disable_parallel_tool_use": True}

    body = encoded(HumanMessage("q"), tools=[{"name": "f"}], tool_choice=choice)

    assert (body["tool_choice"], body["parallel_tool_calls"]) == ("required", False)


@pytest.mark.parametrize(
    "asked",
    [
        {"type": "json_schema", "json_schema": {"name": "n", "schema": SCHEMA}},
        {"type": "json_schema", "name": "n", "schema": SCHEMA},
    ],
)
def test_output_schemas_are_flat_here(asked: dict[str, Any]) -> None:
    body = encoded(HumanMessage("q"), response_format=asked, extra={"text": {"verbosity": "low"}})

    assert body["text"] == {
        "format": {"type": "json_schema", "name": "n", "schema": SCHEMA},
        "verbosity": "low",
    }


@pytest.mark.parametrize("kind", ["custom", "apply_patch", "computer", "local_shell", "shell"])
def test_a_result_has_the_kind_of_its_call(kind: str) -> None:
    calls = {
        "custom": {"type": "custom_tool_call", "call_id": "c", "name": "run", "input": "x"},
        "apply_patch": {"type": "apply_patch_call", "call_id": "c", "operation": {}, "id": "i"},
        "computer": {"type": "computer_call", "call_id": "c", "action": {}, "id": "i"},
        "local_shell": {"type": "local_shell_call", "call_id": "c", "action": {}, "id": "i"},
        "shell": {"type": "shell_call", "call_id": "c", "action": {}, "id": "i"},
    }
    codec = get_codec("openai_responses")
    message = codec.decode_response({"status": "completed", "output": [calls[kind]]})
    shot = [{"type": "image", "base64": PNG, "mime_type": "image/png"}]
    content: Any = shot if kind == "computer" else "done"

    items = encoded(HumanMessage("q"), message, ToolMessage(content, tool_call_id="c"))["input"]

    assert items[1] == calls[kind]
    assert items[2]["type"] == f"{calls[kind]['type']}_output"
    if kind == "computer":
        assert items[2]["output"]["type"] == "computer_screenshot"
        assert items[2]["output"]["image_url"].startswith("data:image/png;base64,")
    else:
        assert "done" in leaves(items[2])


def test_a_foreign_item_never_leaks() -> None:
    # B51
    message = AIMessage(
        [
            {
                "type": "non_standard",
                "value": {"type": "compaction", "content": "c"},
                "api": "anthropic",
            },
            {"type": "server_tool_call", "id": "srvtoolu_1", "name": "web_search", "args": {}},
            {
                "type": "server_tool_result",
                "tool_call_id": "srvtoolu_1",
                "status": "success",
                "output": [],
            },
            {
                "type": "text",
                "text": "ok",
                "annotations": [
                    {"type": "citation", "url": "u", "extras": {"encrypted_index": "E"}}
                ],
            },
        ],
        response_metadata={"model_provider": "anthropic"},
    )
    changes: list[Any] = []

    items = encoded(HumanMessage("q"), message, changes=changes)["input"]

    assert items[1:] == [{"role": "assistant", "content": "ok"}]
    assert [c.code for c in changes] == ["dropped_block"] * 3


STORED = [
    {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "x"}], "encrypted_content": "E"},
    {"type": "text", "text": "hi", "id": "msg_1", "annotations": [
        {"type": "url_citation", "url": "u", "title": "t", "start_index": 0, "end_index": 1}]},
    {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "f", "arguments": "{}"},
    {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search", "query": "q"}},
    {"type": "code_interpreter_call", "id": "ci_1", "status": "completed", "code": "1", "container_id": "c", "outputs": []},
    {"type": "compaction", "id": "cmp_1", "encrypted_content": "C"},
]  # fmt: skip


@pytest.mark.parametrize("metadata", [{"model_provider": "openai"}, {}])
def test_items_that_stand_in_content_as_the_provider_has_them(metadata: dict[str, Any]) -> None:
    message = AIMessage(
        STORED,
        tool_calls=[{"name": "f", "args": {}, "id": "call_1"}],
        response_metadata=metadata,
    )
    changes: list[Any] = []

    items = encoded(
        HumanMessage("q"), message, ToolMessage("r", tool_call_id="call_1"), changes=changes
    )["input"]

    assert items[1] == STORED[0]
    assert items[2]["id"] == "msg_1"
    assert items[2]["content"][0]["annotations"] == STORED[1]["annotations"]
    assert items[3] == STORED[2]
    assert items[4] == STORED[3]
    assert items[5] == STORED[4]
    assert items[6] == STORED[5]
    assert changes == []


def test_parts_that_users_give_as_the_provider_has_them() -> None:
    parts = [
        {"type": "input_text", "text": "a"},
        {"type": "input_image", "image_url": "https://e.org/a.png"},
        {"type": "input_file", "file_id": "f"},
    ]

    assert encoded(HumanMessage(parts))["input"] == [{"role": "user", "content": parts}]
    assert encoded(HumanMessage("q"), AIMessage([{"type": "output_text", "text": "x", "annotations": []}]))["input"][1] == {
        "role": "assistant", "content": "x",
    }  # fmt: skip


def test_a_refusal_in_the_old_place_is_not_lost() -> None:
    items = encoded(HumanMessage("q"), AIMessage("", additional_kwargs={"refusal": "no"}))["input"]

    assert items[1]["content"] == [{"type": "refusal", "refusal": "no"}]


def test_calls_stand_together_where_text_between_them_is_refused() -> None:
    message = AIMessage(
        [
            {"type": "tool_call", "id": "a", "name": "f", "args": {}},
            {"type": "text", "text": "and"},
            {"type": "tool_call", "id": "b", "name": "f", "args": {}},
        ],
        tool_calls=[{"name": "f", "args": {}, "id": i} for i in ("a", "b")],
    )
    request = ChatRequest(model="m", messages=[HumanMessage("q"), message])

    def kinds(provider: str | None) -> list[str]:
        body = get_codec("openai_responses", provider).encode_request(request)
        return [i.get("type", "text") for i in body["input"][1:]]

    assert kinds(None) == ["function_call", "text", "function_call"]
    assert kinds("deepseek") == ["text", "function_call", "function_call"]


def test_a_made_picture_is_shared_not_copied() -> None:
    payload = "iVBORw0KGgo" + "A" * 1_000_000
    item = {"type": "image_generation_call", "id": "ig_1", "status": "completed", "result": payload}
    message = get_codec("openai_responses").decode_response(
        {"status": "completed", "output": [item]}
    )

    assert message.content[0]["base64"] is payload  # type: ignore[index]
    assert encoded(HumanMessage("q"), message)["input"][1]["result"] is payload
    body = {
        "input": [
            {
                "role": "user",
                "content": [
                    {"type": "input_image", "image_url": f"data:image/png;base64,{payload}"}
                ],
            }
        ]
    }
    request = get_codec("openai_responses").decode_request(body)
    assert request.messages[0].content[0]["url"] is body["input"][0]["content"][0]["image_url"]  # type: ignore[index]


def test_url_safe_base64_becomes_standard() -> None:
    block = {"type": "image", "base64": "_9j_4AAQSkZJRgABAQ", "mime_type": "image/jpeg"}

    assert encoded(HumanMessage([block]))["input"][0]["content"] == [
        {"type": "input_image", "image_url": "data:image/jpeg;base64,/9j/4AAQSkZJRgABAQ=="}
    ]
