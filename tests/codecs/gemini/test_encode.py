"""What Gemini asks of a request: signatures, ids, results, schemas, media, both spellings of keys."""

import copy
import json

import pytest

from dragoman.codecs import ChatRequest, get_codec
from dragoman.codecs.gemini.tables import DUMMY_SIGNATURE
from dragoman.errors import DecodeError, EncodeError
from dragoman.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage

CODEC = get_codec("gemini")
H, S, AI = HumanMessage, SystemMessage, AIMessage


def tc(name="f", args=None, id="c1"):
    return {"name": name, "args": args or {}, "id": id, "type": "tool_call"}


def T(content, id="c1", **fields):
    return ToolMessage(content, tool_call_id=id, **fields)


def body(messages, changes=None, **fields):
    return CODEC.encode_request(ChatRequest(messages=messages, **fields), changes)


def test_results_have_name_id_order_and_an_object():  # B42
    sent = body(
        [
            H("q"),
            AI("", tool_calls=[tc("a", id="1"), tc("b", id="2"), tc("c", id="3")]),
            T("no", "2", status="error"),
            T("plain", "1"),
            T('{"t": 21}', "3"),
        ]
    )
    assert sent["contents"][2] == {
        "role": "user",
        "parts": [
            {"functionResponse": {"name": "a", "id": "1", "response": {"output": "plain"}}},
            {"functionResponse": {"name": "b", "id": "2", "response": {"error": "no"}}},
            {"functionResponse": {"name": "c", "id": "3", "response": {"t": 21}}},
        ],
    }


def test_ids_are_made_once_and_not_sent_back():  # B10, B45
    parts = [{"functionCall": {"name": "f", "args": {"n": n}}} for n in range(3)]
    reply = CODEC.decode_response(
        {"candidates": [{"content": {"parts": parts}, "finishReason": "STOP"}], "responseId": "r9"}
    )
    ids = [c["id"] for c in reply.tool_calls]
    assert len(set(ids)) == 3
    assert ids == [c["id"] for c in CODEC.decode_response(
        {"candidates": [{"content": {"parts": parts}}], "responseId": "r9"}
    ).tool_calls]  # fmt: skip
    results = [T(f"r{n}", id) for n, id in enumerate(ids)]
    sent = body([H("q"), reply, *reversed(results)])
    assert [p["functionResponse"] for p in sent["contents"][2]["parts"]] == [
        {"name": "f", "response": {"output": f"r{n}"}} for n in range(3)
    ]
    assert sent["contents"][1]["parts"] == parts
    other = get_codec("openai_chat").encode_request(
        ChatRequest(model="m", messages=[H("q"), reply, *results])
    )
    assert [m["tool_call_id"] for m in other["messages"][2:]] == ids


def test_results_without_ids_find_their_calls_by_name_and_order():
    def call(name):
        return {"functionCall": {"name": name, "args": {}}}

    def result(name, text):
        return {"functionResponse": {"name": name, "response": {"output": text}}}

    given = {
        "contents": [
            {"role": "user", "parts": [{"text": "q"}]},
            {"role": "model", "parts": [call("a"), call("b"), call("a")]},
            {"role": "user", "parts": [result("b", "2"), result("a", "1"), result("a", "3")]},
        ]
    }
    _, model, *results = CODEC.decode_request(given).messages
    ids = [c["id"] for c in model.tool_calls]
    assert [(r.tool_call_id, r.text, r.name) for r in results] == [
        (ids[1], "2", "b"), (ids[0], "1", "a"), (ids[2], "3", "a"),
    ]  # fmt: skip


SIGNED = {
    "type": "tool_call", "id": "c1", "name": "f", "args": {}, "extras": {"signature": "S+/="}
}  # fmt: skip


@pytest.mark.parametrize(
    ("provider", "is_sent"),
    [("google_genai", True), ("google_vertexai", True), ("anthropic", False), ("openai", False)],
)
def test_signatures_go_back_to_google_only(provider, is_sent):  # B52
    reply = AI([SIGNED], tool_calls=[tc()], response_metadata={"model_provider": provider})
    part = body([H("q"), reply, T("r")])["contents"][1]["parts"][0]
    assert part.get("thoughtSignature") == ("S+/=" if is_sent else None)
    other = get_codec("anthropic").encode_request(ChatRequest(messages=[H("q"), reply, T("r")]))
    assert "S+/=" not in json.dumps(other)


def test_calls_of_others_get_the_documented_stand_in_where_it_is_wanted():
    foreign = AI("", tool_calls=[tc(id="1"), tc(id="2")], response_metadata={"model_provider": "x"})
    history = [H("q"), foreign, T("r", "1"), T("r", "2")]
    parts = body(history, model="gemini-3-flash-preview")["contents"][1]["parts"]
    assert [p.get("thoughtSignature") for p in parts] == [DUMMY_SIGNATURE, None]
    assert "thoughtSignature" not in json.dumps(body(history, model="gemini-2.5-flash"))
    own = AI([SIGNED], tool_calls=[tc()], response_metadata={"model_provider": "google_genai"})
    parts = body([H("q"), own, T("r")], model="gemini-3-pro")["contents"][1]["parts"]
    assert parts[0]["thoughtSignature"] == "S+/="


def test_system_messages():  # B40
    changes = []
    sent = body([S("s"), S("t"), H("u"), AI("a"), S("c"), H("v")], changes)
    assert sent["systemInstruction"] == {"parts": [{"text": "s"}, {"text": "t"}]}
    assert [c["role"] for c in sent["contents"]] == ["user", "model", "user", "user"]
    assert sent["contents"][2]["parts"] == [{"text": "<system>\nc\n</system>"}]
    assert [(c.code, c.lossy) for c in changes] == [("moved_system", False)]


def test_turns_of_calls_only_and_empty_texts():  # B36, B39
    sent = body([H(""), AI("", tool_calls=[tc()]), T(""), AI(""), H("q")])
    assert [c["parts"] for c in sent["contents"]] == [
        [{"text": ""}],
        [{"functionCall": {"name": "f", "args": {}, "id": "c1"}}],
        [{"functionResponse": {"name": "f", "id": "c1", "response": {"output": ""}}}],
        [{"text": ""}],
        [{"text": "q"}],
    ]


PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ"


@pytest.mark.parametrize(
    ("block", "part"),
    [
        (
            {"type": "image", "base64": PNG, "mime_type": "image/jpg"},
            {"inlineData": {"mimeType": "image/png", "data": PNG}},
        ),
        (
            {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}},
            {"inlineData": {"mimeType": "image/png", "data": PNG}},
        ),
        (
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}},
            {"inlineData": {"mimeType": "image/png", "data": PNG}},
        ),
        (
            {"type": "file", "url": "gs://b/d.pdf", "mime_type": "application/pdf"},
            {"fileData": {"mimeType": "application/pdf", "fileUri": "gs://b/d.pdf"}},
        ),
        (
            {"type": "video", "url": "https://youtu.be/x"},
            {"fileData": {"fileUri": "https://youtu.be/x"}},
        ),
        ({"type": "text-plain", "text": "what?"}, {"text": "what?"}),
        (
            {"inlineData": {"mimeType": "image/png", "data": PNG}},
            {"inlineData": {"mimeType": "image/png", "data": PNG}},
        ),
    ],
)
def test_media_of_every_spelling(block, part):  # B46
    assert body([H([block])])["contents"][0]["parts"] == [part]


def test_an_id_of_another_provider_raises_with_its_place():
    with pytest.raises(EncodeError, match=r"Gemini.*\$\[0\]\.content\[0\]"):
        body([H([{"type": "file", "file_id": "file_1"}])])


def test_images_in_results_are_parts_of_the_response():  # B49
    shot = [{"type": "text", "text": "shot"}, {"type": "image", "base64": PNG}]
    part = body([H("q"), AI("", tool_calls=[tc()]), T(shot)])["contents"][2]["parts"][0]
    assert part["functionResponse"]["response"] == {"output": "shot"}
    (image,) = part["functionResponse"]["parts"]
    assert image["inlineData"]["data"] is PNG


def test_nothing_given_is_changed_and_no_artifact_is_sent():  # B61
    messages = [
        H([{"type": "image", "base64": PNG}]),
        AI([SIGNED], tool_calls=[tc(args={"a": [1]})]),
        T("r", artifact={"big": 1}),
    ]
    before = copy.deepcopy(messages)
    assert body(messages) == body(messages)
    assert messages == before
    assert "big" not in json.dumps(body(messages))


SCHEMA = {"type": "object", "properties": {"type": {"type": "string"}, "a": {"type": "integer"}}}


@pytest.mark.parametrize(
    "tool",
    [
        {"name": "f", "description": "d", "parameters": SCHEMA},
        {"type": "function", "function": {"name": "f", "description": "d", "parameters": SCHEMA}},
        {"name": "f", "description": "d", "input_schema": SCHEMA},
        {"toolSpec": {"name": "f", "description": "d", "inputSchema": {"json": SCHEMA}}},
    ],
)
def test_function_tools_of_every_spelling(tool):
    search = {"googleSearch": {}}
    changes = []
    sent = body([H("q")], changes, tools=[tool, search, {"name": "g"}, {"type": "web_search"}])
    declared = {"name": "f", "description": "d", "parametersJsonSchema": SCHEMA}
    assert sent["tools"] == [{"functionDeclarations": [declared, {"name": "g"}]}, search]
    assert [(c.code, c.path) for c in changes] == [("dropped_tool", "$.tools[3]")]


@pytest.mark.parametrize(
    ("choice", "calling"),
    [
        ("auto", {"mode": "AUTO"}), ("any", {"mode": "ANY"}), ("none", {"mode": "NONE"}),
        ("required", {"mode": "ANY"}), ("f", {"mode": "ANY", "allowedFunctionNames": ["f"]}),
        ({"type": "tool", "name": "f"}, {"mode": "ANY", "allowedFunctionNames": ["f"]}),
        ({"functionCallingConfig": {"mode": "VALIDATED"}}, {"mode": "VALIDATED"}),
    ],
)  # fmt: skip
def test_tool_choice_of_every_spelling(choice, calling):
    sent = body([H("q")], tools=[{"name": "f"}], tool_choice=choice)
    assert sent["toolConfig"] == {"functionCallingConfig": calling}


def test_structured_output():
    wanted = {"type": "json_schema", "json_schema": {"name": "n", "schema": SCHEMA}}
    sent = body([H("q")], response_format=wanted, max_tokens=5)["generationConfig"]
    assert sent == {
        "maxOutputTokens": 5,
        "responseMimeType": "application/json",
        "responseJsonSchema": SCHEMA,
    }
    sent = body([H("q")], response_format={"type": "json_object"})["generationConfig"]
    assert sent == {"responseMimeType": "application/json"}


def test_both_spellings_of_keys_are_read():
    given = {
        "system_instruction": {"parts": [{"text": "s"}]},
        "contents": [
            {"role": "user", "parts": [{"inline_data": {"mime_type": "image/png", "data": PNG}}]},
            {
                "role": "model",
                "parts": [
                    {"function_call": {"name": "f", "args": {"a_b": 1}}, "thought_signature": "S="}
                ],
            },
            {
                "role": "user",
                "parts": [{"function_response": {"name": "f", "response": {"c_d": 2}}}],
            },
        ],
        "tools": {"function_declarations": [{"name": "f", "parameters_json_schema": SCHEMA}]},
        "tool_config": {"function_calling_config": {"mode": "ANY"}},
        "generation_config": {"max_output_tokens": 5, "thinking_config": {"thinking_budget": 0}},
    }
    request = CODEC.decode_request(given)
    assert (request.max_tokens, request.tool_choice) == (5, "any")
    assert request.messages[2].tool_calls[0]["args"] == {"a_b": 1}
    sent = CODEC.encode_request(request)
    assert sent["contents"][1]["parts"][0]["thoughtSignature"] == "S="
    assert sent["contents"][2]["parts"][0]["functionResponse"]["response"] == {"c_d": 2}
    assert sent["tools"] == [
        {"functionDeclarations": [{"name": "f", "parametersJsonSchema": SCHEMA}]}
    ]
    assert CODEC.encode_request(CODEC.decode_request(sent)) == sent


def test_a_function_response_that_looks_like_text_comes_back_as_it_was():
    for response in (
        {"output": "x"}, {"error": "x"}, {"output": '{"a": 1}'}, {"output": 3}, {}, {"a": None},
        {"output": "x", "more": 1}, {"error": {"code": 1}}, {"output": "{broken"},
    ):  # fmt: skip
        given = {
            "contents": [
                {"role": "user", "parts": [{"text": "q"}]},
                {
                    "role": "model",
                    "parts": [{"functionCall": {"name": "f", "args": {}, "id": "1"}}],
                },
                {
                    "role": "user",
                    "parts": [{"functionResponse": {"name": "f", "id": "1", "response": response}}],
                },
            ]
        }
        assert CODEC.encode_request(CODEC.decode_request(given)) == given


def test_a_body_without_contents_is_an_error_with_a_path():
    with pytest.raises(DecodeError, match=r"\$\.contents"):
        CODEC.decode_request({})
