"""What Anthropic asks of a request: order, alternation, blank text, ids, marks, media, provenance."""

import copy
import json

import pytest
from anthropic.types.beta.message_create_params import MessageCreateParamsNonStreaming
from codec_kit import case_ids, cases, codec_of, read_json, requests
from hypothesis import given
from pydantic import TypeAdapter

from dragoman.codecs import ChatRequest, get_codec
from dragoman.codecs.turns import PLACEHOLDER
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

CODEC = get_codec("anthropic")
H, S, AI = HumanMessage, SystemMessage, AIMessage


def tc(name="f", args=None, id="toolu_1"):
    return {"name": name, "args": args or {}, "id": id, "type": "tool_call"}


def T(content, id="toolu_1", **fields):
    return ToolMessage(content, tool_call_id=id, **fields)


def body(messages, changes=None, model="claude-sonnet-4-5", **fields):
    return CODEC.encode_request(ChatRequest(model=model, messages=messages, **fields), changes)


def blocks(turn):
    content = turn["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def roles(sent):
    return [m["role"] for m in sent["messages"]]


CALLS_ONLY = [H("q"), AI("", tool_calls=[tc()]), T("r")]


@pytest.mark.parametrize("empty", ["", " \n", [{"type": "text", "text": " "}], []])
def test_a_turn_of_calls_only_has_no_text_block(empty):  # B36
    turn = body([H("q"), AI(empty, tool_calls=[tc()]), T("r")])["messages"][1]
    assert turn["content"] == [{"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}}]


@pytest.mark.parametrize("empty", ["", "  ", [{"type": "text", "text": ""}], []])
def test_empty_user_text_is_never_sent(empty):  # B37
    changes = []
    sent = body([H(empty)], changes)
    assert sent["messages"] == [{"role": "user", "content": PLACEHOLDER}]
    assert [c.code for c in changes] == ["placeholder"]
    assert body([H(empty), H("q")])["messages"] == [{"role": "user", "content": "q"}]
    with_image = [{"type": "text", "text": ""}, {"type": "image", "url": "https://e.org/p.png"}]
    assert [b["type"] for b in blocks(body([H(with_image)])["messages"][0])] == ["image"]
    assert "system" not in body([S(empty), H("q")])


def test_an_empty_result_is_allowed():  # B37
    sent = body([H("q"), AI("", tool_calls=[tc()]), T("")])
    assert blocks(sent["messages"][2]) == [
        {"type": "tool_result", "tool_use_id": "toolu_1", "content": ""}
    ]


def test_an_empty_answer_in_the_middle_is_dropped_and_its_neighbours_join():  # B39
    sent = body([H("q"), AI(""), H("q2")])
    assert roles(sent) == ["user"]
    assert [b["text"] for b in blocks(sent["messages"][0])] == ["q", "q2"]


def test_the_end_of_a_prefill_is_stripped():  # B39
    assert body([H("q"), AI("a  \n")])["messages"][-1] == {"role": "assistant", "content": "a"}
    assert roles(body([H("q"), AI("")])) == ["user"]


LATE = [S("s"), H("u"), AI("a"), S("c"), H("v")]


def test_a_late_system_message_keeps_text_and_place():  # B40
    changes = []
    sent = body(LATE, changes)
    assert sent["system"] == "s"
    assert roles(sent) == ["user", "assistant", "user"]
    assert [b["text"] for b in blocks(sent["messages"][2])] == ["<system>\nc\n</system>", "v"]
    assert [(c.code, c.lossy, c.path) for c in changes] == [("moved_system", False, "$[3]")]


def test_models_that_take_system_turns_get_one_behind_a_user_turn():  # B40
    sent = body([S("s"), H("u"), S("c"), AI("a"), H("v")], model="claude-opus-4-8")
    assert sent["messages"][1] == {"role": "system", "content": "c"}
    assert roles(sent) == ["user", "system", "assistant", "user"]


def test_first_system_messages_go_to_the_top_with_their_marks():  # B40
    marked = {"type": "text", "text": "t", "cache_control": {"type": "ephemeral"}}
    assert body([S("s"), S([marked]), H("u")])["system"] == [{"type": "text", "text": "s"}, marked]
    assert body([S("s"), H("u")])["system"] == "s"


def test_results_stand_in_one_turn_first_and_in_call_order():  # B42, B43
    sent = body(
        [
            H("q"),
            AI("", tool_calls=[tc(id="a"), tc(id="b")]),
            T("rb", "b", status="error"),
            T("ra", "a"),
            H("and now?"),
        ]
    )
    assert roles(sent) == ["user", "assistant", "user"]
    assert blocks(sent["messages"][2]) == [
        {"type": "tool_result", "tool_use_id": "a", "content": "ra"},
        {"type": "tool_result", "tool_use_id": "b", "content": "rb", "is_error": True},
        {"type": "text", "text": "and now?"},
    ]


def test_user_text_before_a_result_in_one_message_goes_behind_it():  # B43
    mixed = [
        {"type": "text", "text": "more"},
        {"type": "tool_result", "tool_use_id": "u1", "content": "r", "is_error": True},
    ]
    use = {"type": "tool_use", "id": "u1", "name": "f", "input": {"a": 1}}
    sent = body([H("q"), AI([use]), H(mixed)])
    assert sent["messages"][1]["content"] == [use]
    assert [b["type"] for b in blocks(sent["messages"][2])] == ["tool_result", "text"]
    assert blocks(sent["messages"][2])[0]["is_error"] is True


def test_ids_fit_the_alphabet_and_are_unique():  # B45, B41
    sent = body(
        [
            H("q"),
            AI("", tool_calls=[tc(id="call_0")]),
            T("one", "call_0"),
            AI("", tool_calls=[tc(id="call_0"), tc(id="functions.f:1"), tc(id="functions.f;1")]),
            T("two", "call_0"),
            T("three", "functions.f:1"),
            T("four", "functions.f;1"),
        ]
    )
    made = [b["id"] for m in sent["messages"] for b in blocks(m) if b["type"] == "tool_use"]
    answered = [
        b["tool_use_id"] for m in sent["messages"] for b in blocks(m) if b["type"] == "tool_result"
    ]
    assert made == answered
    assert len(set(made)) == 4
    assert all(id.replace("_", "").replace("-", "").isalnum() for id in made)
    assert made[0] == "call_0"


PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ"
JPEG = "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAgGBgcGBQgH"


@pytest.mark.parametrize(
    ("block", "media_type"),
    [
        ({"type": "image", "base64": JPEG, "mime_type": "image/jpg"}, "image/jpeg"),
        ({"type": "image", "base64": JPEG}, "image/jpeg"),
        ({"type": "image", "base64": JPEG, "mime_type": "image/png"}, "image/jpeg"),
        ({"type": "image", "url": f"data:image/png;base64,{PNG}"}, "image/png"),
        (
            {"type": "image_url", "image_url": {"url": f"data:image/jpg;base64,{JPEG}"}},
            "image/jpeg",
        ),
        ({"type": "image_url", "image_url": f"data:image/png;base64,{PNG}"}, "image/png"),
        ({"image": {"format": "png", "source": {"bytes": PNG}}}, "image/png"),
        (
            {"type": "image", "source_type": "base64", "data": PNG, "mime_type": "image/png"},
            "image/png",
        ),
        (
            {
                "type": "image",
                "source": {"type": "base64", "media_type": "image/jpg", "data": JPEG},
            },
            "image/jpeg",
        ),
        ({"type": "file", "base64": PNG, "mime_type": "application/octet-stream"}, "image/png"),
    ],
)
def test_images_of_every_spelling_have_the_type_of_their_bytes(block, media_type):  # B46
    (image,) = blocks(body([H([block])])["messages"][0])
    assert image["type"] == "image"
    assert image["source"]["type"] == "base64"
    assert image["source"]["media_type"] == media_type
    assert image["source"]["data"] in (PNG, JPEG)


def test_text_files_go_as_text_and_others_raise():  # B48
    csv = {"type": "file", "base64": "YSxiCjEsMg==", "mime_type": "text/csv"}
    (document,) = blocks(body([H([csv])])["messages"][0])
    assert document == {
        "type": "document",
        "source": {"type": "text", "media_type": "text/plain", "data": "a,b\n1,2"},
    }
    pdf = {
        "type": "file",
        "base64": "JVBERi0xLjQK",
        "mime_type": "application/pdf",
        "extras": {"filename": "r.pdf"},
    }
    (document,) = blocks(body([H([pdf])])["messages"][0])
    assert document["source"]["media_type"] == "application/pdf"
    assert document["title"] == "r.pdf"
    word = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
    with pytest.raises(EncodeError) as caught:
        body([H("q"), H([{"type": "file", "base64": "UEsDBBQ=", "mime_type": word}])])
    assert "$[1].content[0]" in str(caught.value)
    assert "Anthropic" in str(caught.value)
    assert "UEsDB" not in str(caught.value)


@pytest.mark.parametrize("kind", ["audio", "video"])
def test_kinds_that_anthropic_does_not_take_raise_before_the_network(kind):
    block = {"type": kind, "base64": "UklGRg==", "mime_type": f"{kind}/x"}
    with pytest.raises(EncodeError, match=rf"{kind}.*content\[0\]"):
        body([H([block])])


def test_text_documents_are_read_as_text():
    sent = body([H([{"type": "text-plain", "text": "what is this?"}])])
    assert sent["messages"][0]["content"] == "what is this?"
    titled = {"type": "text-plain", "text": "t", "title": "Notes"}
    (document,) = blocks(body([H([titled])])["messages"][0])
    assert (document["type"], document["title"]) == ("document", "Notes")


def test_images_in_results_stay_in_the_result():  # B49
    shot = [
        {"type": "text", "text": "shot"},
        {"type": "image", "base64": PNG, "mime_type": "image/png"},
    ]
    sent = body([H("q"), AI("", tool_calls=[tc()]), T(shot)])
    (result,) = blocks(sent["messages"][2])
    assert [b["type"] for b in result["content"]] == ["text", "image"]
    assert result["content"][1]["source"]["data"] is PNG


REASONING = {"type": "reasoning", "reasoning": "x", "extras": {"signature": "G=="}}


@pytest.mark.parametrize(
    ("provider", "is_sent"),
    [
        ("google_genai", False),
        ("openai", False),
        ("deepseek", False),
        ("anthropic", True),
        ("bedrock_converse", True),
        ("google_anthropic_vertex", True),
        (None, True),
    ],
)
def test_signed_reasoning_goes_to_whoever_takes_the_signature(provider, is_sent):  # B52
    meta = {"model_provider": provider} if provider else {}
    content = [REASONING, {"type": "text", "text": "a"}]
    changes = []
    sent = body([H("q"), AI(content, response_metadata=meta), H("q")], changes)
    kinds = [b["type"] for b in blocks(sent["messages"][1])]
    assert kinds == (["thinking", "text"] if is_sent else ["text"])
    assert [c.code for c in changes] == ([] if is_sent else ["dropped_reasoning"])
    assert ("G==" in json.dumps(sent)) is is_sent


def test_unsigned_reasoning_is_not_sent_as_thinking_but_told():
    changes = []
    plain = AI("a", additional_kwargs={"reasoning_content": "hm"})
    sent = body([H("q"), plain, H("q")], changes)
    assert sent["messages"][1] == {"role": "assistant", "content": "a"}
    assert [(c.code, c.lossy, c.path[:4]) for c in changes] == [("dropped_reasoning", True, "$[1]")]


def test_unsigned_reasoning_goes_back_to_makers_that_do_not_sign():
    codec = get_codec("anthropic", provider="minimax")
    reply = AI(
        "a",
        additional_kwargs={"reasoning_content": "hm"},
        response_metadata={"model_provider": "minimax"},
    )
    sent = codec.encode_request(ChatRequest(model="m", messages=[H("q"), reply, H("q")]))
    assert sent["messages"][1]["content"][0] == {
        "type": "thinking",
        "thinking": "hm",
        "signature": "",
    }


def test_redacted_thinking_crosses_between_the_wires_of_claude():
    other = get_codec("bedrock_converse")
    redacted = {"type": "redacted_thinking", "data": "EmwKAhgB"}
    here = body([H("q"), AI([redacted, {"type": "text", "text": "a"}]), H("q")])
    message = CODEC.decode_request(here).messages[1]
    there = other.encode_request(ChatRequest(messages=[H("q"), message, H("q")]))
    assert there["messages"][1]["content"][0] == {
        "reasoningContent": {"redactedContent": "RW13S0FoZ0I="}
    }
    back = other.decode_request(there).messages[1]
    assert body([H("q"), back, H("q")])["messages"][1]["content"][0] == redacted


def marked(text):
    return {"type": "text", "text": text, "cache_control": {"type": "ephemeral"}}


def n_marks(value):
    if isinstance(value, dict):
        return ("cache_control" in value) + sum(n_marks(v) for v in value.values())
    return sum(n_marks(v) for v in value) if isinstance(value, list) else 0


def test_at_most_four_cache_marks_the_last_ones_and_nothing_is_changed():  # B60
    messages = [S([marked("s")])]
    for n in range(3):
        call = AI([marked(f"a{n}")], tool_calls=[tc(id=f"c{n}")])
        messages += [H([marked(f"q{n}")]), call, T([marked(f"r{n}")], f"c{n}")]
    tools = [
        {"name": "f", "input_schema": {"type": "object"}, "cache_control": {"type": "ephemeral"}}
    ]
    before = copy.deepcopy((messages, tools))
    changes = []
    sent = body(messages, changes, tools=tools)
    again = body(messages, tools=tools)
    assert (messages, tools) == before
    assert sent == again
    assert n_marks(sent) == 4
    assert n_marks(sent["system"]) == n_marks(sent["tools"]) == 0
    assert n_marks(sent["messages"][-3:]) == 4
    assert [c.code for c in changes] == ["dropped_cache_marks"]
    with_top = CODEC.encode_request(
        ChatRequest(messages=messages, extra={"cache_control": {"type": "ephemeral"}})
    )
    assert n_marks(with_top) == 4


def test_a_mark_on_a_result_survives():  # B60
    kept = T("r", additional_kwargs={"cache_control": {"type": "ephemeral"}})
    (result,) = blocks(body([H("q"), AI("", tool_calls=[tc()]), kept])["messages"][2])
    assert result["cache_control"] == {"type": "ephemeral"}
    given = {
        "type": "tool_result",
        "tool_use_id": "toolu_1",
        "content": "r",
        "cache_control": {"type": "ephemeral"},
    }
    (result,) = blocks(body([H("q"), AI("", tool_calls=[tc()]), H([given])])["messages"][2])
    assert result == given


def test_encoding_twice_gives_the_same_and_changes_nothing():  # B61
    messages = [
        S("s"),
        H([{"type": "image", "base64": PNG, "mime_type": "image/png"}, marked("x")]),
        AI([REASONING, {"type": "text", "text": "a"}], tool_calls=[tc(args={"a": {"b": [1]}})]),
        T([{"type": "text", "text": "r"}], artifact={"big": 1}),
    ]
    before = copy.deepcopy(messages)
    assert body(messages) == body(messages)
    assert messages == before
    assert "big" not in json.dumps(body(messages))


def test_a_ten_megabyte_image_is_not_copied():
    payload = PNG + "A" * 10_000_000
    (image,) = blocks(body([H([{"type": "image", "base64": payload}])])["messages"][0])
    assert image["source"]["data"] is payload
    again = CODEC.decode_request(body([H([{"type": "image", "base64": payload}])]))
    assert again.messages[0].content[0]["base64"] is payload


def test_invalid_calls_go_back_in_the_documented_wrapper():  # B33
    broken = {"name": "f", "args": '{"a": 1', "id": "toolu_1", "error": "cut off"}
    sent = body([H("q"), AI("", invalid_tool_calls=[broken]), T("invalid")])
    (call,) = sent["messages"][1]["content"]
    assert call == {
        "type": "tool_use",
        "id": "toolu_1",
        "name": "f",
        "input": {"INVALID_JSON": '{"a": 1'},
    }
    assert blocks(sent["messages"][2])[0]["tool_use_id"] == "toolu_1"


def test_function_messages_are_paired_results():
    legacy = AI("", additional_kwargs={"function_call": {"name": "f", "arguments": '{"a":1}'}})
    sent = body([H("q"), legacy, FunctionMessage("r", name="f")])
    (call,) = sent["messages"][1]["content"]
    assert (call["name"], call["input"]) == ("f", {"a": 1})
    (result,) = blocks(sent["messages"][2])
    assert (result["tool_use_id"], result["content"]) == (call["id"], "r")


def test_chat_messages_have_the_role_they_name():
    sent = body([ChatMessage("s", role="developer"), ChatMessage("q", role="user")])
    assert (sent["system"], roles(sent)) == ("s", ["user"])
    with pytest.raises(EncodeError, match="critic"):
        body([ChatMessage("x", role="critic")])
    with pytest.raises(EncodeError, match="RemoveMessage"):
        body([H("q"), RemoveMessage(id="1")])


def test_chunks_in_a_history_are_messages():
    chunk = AIMessageChunk(
        "a",
        tool_call_chunks=[{"name": "f", "args": '{"a":1}', "id": "toolu_1", "index": 0}],
        chunk_position="last",
    )
    sent = body([H("q"), chunk, T("r")])
    assert [b["type"] for b in sent["messages"][1]["content"]] == ["text", "tool_use"]


def test_names_are_reported_as_left_out():
    changes = []
    body([H("q", name="ann"), AI("", tool_calls=[tc()]), T("r", name="f")], changes)
    assert [(c.code, c.path) for c in changes] == [("dropped_name", "$[0]")]


SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}}


@pytest.mark.parametrize(
    "tool",
    [
        {"name": "f", "description": "d", "parameters": SCHEMA},
        {"type": "function", "function": {"name": "f", "description": "d", "parameters": SCHEMA}},
        {"type": "function", "name": "f", "description": "d", "parameters": SCHEMA},
        {"name": "f", "description": "d", "input_schema": SCHEMA},
        {"toolSpec": {"name": "f", "description": "d", "inputSchema": {"json": SCHEMA}}},
        {"name": "f", "description": "d", "parametersJsonSchema": SCHEMA},
    ],
)
def test_function_tools_of_every_spelling(tool):
    (written,) = body([H("q")], tools=[tool])["tools"]
    assert written == {"name": "f", "description": "d", "input_schema": SCHEMA}


def test_tools_of_other_providers_are_left_out_and_told():
    own = {"type": "web_search_20250305", "name": "web_search"}
    changes = []
    sent = body([H("q")], changes, tools=[{"type": "web_search"}, {"googleSearch": {}}, own])
    assert sent["tools"] == [own]
    assert [(c.code, c.lossy, c.path) for c in changes] == [
        ("dropped_tool", True, "$.tools[0]"),
        ("dropped_tool", True, "$.tools[1]"),
    ]


@pytest.mark.parametrize(
    ("choice", "written"),
    [
        ("auto", {"type": "auto"}),
        ("any", {"type": "any"}),
        ("required", {"type": "any"}),
        ("none", {"type": "none"}),
        ("f", {"type": "tool", "name": "f"}),
        ({"type": "function", "function": {"name": "f"}}, {"type": "tool", "name": "f"}),
        ({"type": "tool", "name": "f"}, {"type": "tool", "name": "f"}),
        ({"any": {}}, {"type": "any"}),
        (
            {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["f"]}},
            {"type": "tool", "name": "f"},
        ),
        (
            {"type": "any", "disable_parallel_tool_use": True},
            {"type": "any", "disable_parallel_tool_use": True},
        ),
        (None, None),
    ],
)
def test_tool_choice_of_every_spelling(choice, written):
    sent = body([H("q")], tools=[{"name": "f", "parameters": SCHEMA}], tool_choice=choice)
    assert sent.get("tool_choice") == written


def test_one_call_at_a_time():
    sent = body([H("q")], tools=[{"name": "f"}], extra={"parallel_tool_calls": False})
    assert sent["tool_choice"] == {"type": "auto", "disable_parallel_tool_use": True}
    assert "parallel_tool_calls" not in sent


def test_structured_output_of_every_spelling():
    closed = {**SCHEMA, "additionalProperties": False}
    for wanted in (
        {"type": "json_schema", "json_schema": {"name": "n", "schema": closed, "strict": True}},
        {"type": "json_schema", "name": "n", "schema": closed},
        {"type": "json_schema", "schema": closed},
    ):
        sent = body([H("q")], response_format=wanted, extra={"output_config": {"effort": "low"}})
        assert sent["output_config"] == {
            "effort": "low",
            "format": {"type": "json_schema", "schema": closed},
        }
    changes = []
    assert "output_config" not in body([H("q")], changes, response_format={"type": "json_object"})
    assert [c.code for c in changes] == ["dropped_response_format"]


def test_the_required_limit_is_filled_in():
    assert body([H("q")])["max_tokens"] == 4096
    thinking = {"thinking": {"type": "enabled", "budget_tokens": 8000}}
    assert body([H("q")], extra=thinking)["max_tokens"] == 12096
    assert body([H("q")], max_tokens=5)["max_tokens"] == 5


def test_media_that_another_model_made_are_told_as_left_out():
    image = {"type": "image", "base64": PNG, "mime_type": "image/png"}
    changes = []
    reply = AI(
        [{"type": "text", "text": "a"}, image], response_metadata={"model_provider": "google_genai"}
    )
    sent = body([H("q"), reply, H("q")], changes)
    assert sent["messages"][1]["content"] == "a"
    assert [c.code for c in changes] == ["dropped_media"]


def test_server_tools_go_back_to_their_own_provider_only():
    call = {"type": "server_tool_call", "id": "ws_1", "name": "web_search", "args": {"q": 1}}
    result = {
        "type": "server_tool_result",
        "tool_call_id": "ws_1",
        "status": "success",
        "output": {},
    }
    text = {"type": "text", "text": "a"}
    changes = []
    reply = AI([call, result, text], response_metadata={"model_provider": "openai"})
    assert body([H("q"), reply, H("q")], changes)["messages"][1]["content"] == "a"
    assert [c.code for c in changes] == ["dropped_server_tool"] * 2


SDK = TypeAdapter(MessageCreateParamsNonStreaming)


def fits_the_sdk(sent):
    """Assert that the official SDK's types take the body; its lists are checked when read."""

    def walk(value):
        if isinstance(value, dict):
            return [walk(v) for v in value.values()]
        return None if isinstance(value, (str, bytes)) or not hasattr(value, "__iter__") else [
            walk(v) for v in value
        ]  # fmt: skip

    walk(SDK.validate_python({k: v for k, v in sent.items() if k != "stream"}))


@given(request=requests())
def test_any_request_fits_the_types_of_the_sdk(request):
    fits_the_sdk(CODEC.encode_request(request))


REPLIES = list(cases("response.json"))


@pytest.mark.parametrize(("api", "folder"), REPLIES, ids=case_ids(REPLIES))
def test_a_reply_of_any_wire_goes_on_here_in_the_types_of_the_sdk(api, folder):  # B51
    reply = codec_of(api, folder).decode_response(read_json(folder / "response.json"))
    calls = [*reply.tool_calls, *reply.invalid_tool_calls]
    results = [T("r", c["id"] or "", name=c["name"]) for c in calls]
    sent = body([H("q"), reply, *results, H("go on")])
    if folder.name not in ("unknown_block", "compaction"):
        fits_the_sdk(sent)
    said = json.dumps(sent, ensure_ascii=False)
    assert all(json.dumps(c["name"])[1:-1] in said for c in calls)
    for block in reply.content_blocks:
        if block["type"] == "text" and block["text"].strip():
            assert json.dumps(block["text"].rstrip(), ensure_ascii=False)[1:-1] in said


def test_a_text_file_that_is_no_text_raises():
    broken = {"type": "file", "base64": "/////w==", "mime_type": "text/plain"}
    with pytest.raises(EncodeError, match=r"UTF-8.*\$\[0\]\.content\[0\]"):
        body([H([broken])])
