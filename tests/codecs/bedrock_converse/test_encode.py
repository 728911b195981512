"""What Bedrock asks of a Converse request: alternation, blank text, ids, media, marks, provenance."""

import copy
import json
import re

import botocore.session
import pytest
from botocore.validate import ParamValidator
from codec_kit import case_ids, cases, codec_of, read_json, requests
from hypothesis import given

from dragoman.codecs import ChatRequest, get_codec
from dragoman.errors import EncodeError
from dragoman.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage

CODEC = get_codec("bedrock_converse")
H, S, AI = HumanMessage, SystemMessage, AIMessage
SHAPE = (
    botocore.session.Session()
    .get_service_model("bedrock-runtime")
    .operation_model("Converse")
    .input_shape
)


def tc(name="f", args=None, id="tooluse_1"):
    return {"name": name, "args": args or {}, "id": id, "type": "tool_call"}


def T(content, id="tooluse_1", **fields):
    return ToolMessage(content, tool_call_id=id, **fields)


def body(messages, changes=None, **fields):
    return CODEC.encode_request(ChatRequest(messages=messages, **fields), changes)


def valid(sent):
    """Assert that botocore's own model of the service takes the body."""
    report = ParamValidator().validate({"modelId": "m", **sent}, SHAPE)
    assert not report.has_errors(), report.generate_report()
    return sent


REQUESTS = [folder for api, folder in cases("request.json") if api == "bedrock_converse"]


@pytest.mark.parametrize("folder", REQUESTS, ids=lambda f: f.name)
def test_written_requests_fit_the_service_model(folder):
    sent = CODEC.encode_request(CODEC.decode_request(read_json(folder / "request.json")))
    sent.get("inferenceConfig", {}).pop("topK", None)  # a model's own parameter
    valid(sent)


@given(request=requests())
def test_any_request_fits_the_service_model(request):
    valid(CODEC.encode_request(request))


def test_a_turn_of_calls_only_and_blank_text():  # B36, B37, B39
    changes = []
    sent = body([H(" "), AI(" ", tool_calls=[tc()]), T("")], changes)
    assert [list(b) for m in sent["messages"] for b in m["content"]] == [
        ["text"], ["toolUse"], ["toolResult"],
    ]  # fmt: skip
    assert [c.code for c in changes] == ["placeholder", "declared_tools"]
    assert sent["messages"][2]["content"][0]["toolResult"]["content"] == []
    joined = body([H("q"), AI(""), H("q2")])["messages"]
    assert joined == [{"role": "user", "content": [{"text": "q"}, {"text": "q2"}]}]


def test_system_messages():  # B40
    changes = []
    sent = body([S("s"), S("t"), H("u"), AI("a"), S("c"), H("v")], changes)
    assert sent["system"] == [{"text": "s"}, {"text": "t"}]
    assert [m["role"] for m in sent["messages"]] == ["user", "assistant", "user"]
    assert [b["text"] for b in sent["messages"][2]["content"]] == ["<system>\nc\n</system>", "v"]
    assert [(c.code, c.lossy) for c in changes] == [("moved_system", False)]


def test_results_stand_in_one_turn_first_and_in_call_order():  # B42
    sent = body(
        [
            H("q"),
            AI("", tool_calls=[tc(id="a"), tc(id="b")]),
            T("rb", "b", status="error"),
            T("ra", "a"),
            H("go"),
        ]
    )
    assert sent["messages"][2]["content"] == [
        {"toolResult": {"toolUseId": "a", "content": [{"text": "ra"}]}},
        {"toolResult": {"toolUseId": "b", "content": [{"text": "rb"}], "status": "error"}},
        {"text": "go"},
    ]


def test_ids_fit_and_are_unique():  # B45
    long = "call_" + "x" * 100
    sent = body(
        [
            H("q"),
            AI("", tool_calls=[tc(id="call_0"), tc(id=long), tc(id=None)]),
            T("1", "call_0"),
            T("2", long),
            T("3", ""),
            AI("", tool_calls=[tc(id="call_0")]),
            T("4", "call_0"),
        ]
    )
    found = [b for m in sent["messages"] for b in m["content"]]
    made = [b["toolUse"]["toolUseId"] for b in found if "toolUse" in b]
    answered = [b["toolResult"]["toolUseId"] for b in found if "toolResult" in b]
    assert made == answered
    assert len(set(made)) == 4
    assert all(re.fullmatch(r"[a-zA-Z0-9_.:-]{1,64}", id) for id in made)


PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ"
JPEG = "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAgGBgcGBQgH"


@pytest.mark.parametrize(
    ("block", "kind", "form"),
    [
        ({"type": "image", "base64": JPEG, "mime_type": "image/jpg"}, "image", "jpeg"),
        ({"type": "image", "url": "s3://b/p.jpg"}, "image", "jpeg"),
        ({"type": "image_url", "image_url": f"data:image/png;base64,{PNG}"}, "image", "png"),
        ({"type": "file", "base64": "JVBERi0xLjQK"}, "document", "pdf"),
        ({"type": "file", "base64": "YSxiCg==", "mime_type": "text/csv"}, "document", "csv"),
        ({"type": "file", "base64": "e30=", "mime_type": "application/json"}, "document", "txt"),
        ({"type": "text-plain", "text": "é", "title": "Notes"}, "document", "txt"),
        ({"type": "video", "base64": "AAAA", "mime_type": "video/3gpp"}, "video", "three_gp"),
        ({"type": "audio", "base64": "UklGRiQAAABXQVZF"}, "audio", "wav"),
        (
            {"type": "document", "source": {"type": "base64", "media_type": "application/pdf",
             "data": "JVBERi0xLjQK"}}, "document", "pdf",
        ),
        ({"document": {"format": "md", "name": "n", "source": {"bytes": "IyBh"}}}, "document", "md"),
    ],
)  # fmt: skip
def test_media_of_every_spelling(block, kind, form):  # B46, B48
    sent = body([H([{"type": "text", "text": "see"}, block])])
    media = sent["messages"][0]["content"][1][kind]
    assert media["format"] == form
    valid(sent)


@pytest.mark.parametrize(
    "block",
    [
        {"type": "image", "url": "https://e.org/p.png"},
        {"type": "image", "base64": "AAAA", "mime_type": "image/tiff"},
        {"type": "file", "file_id": "file_1"},
        {"type": "file", "base64": "AAAA", "mime_type": "application/zip"},
    ],
)
def test_what_bedrock_does_not_take_raises_with_its_place(block):
    with pytest.raises(EncodeError, match=r"Bedrock.*\$\[0\]\.content\[1\]"):
        body([H([{"type": "text", "text": "see"}, block])])


def test_documents_have_names_that_bedrock_takes_and_text_beside_them():
    pdf = {"type": "file", "base64": "JVBERi0xLjQK"}
    named = {**pdf, "extras": {"filename": "report_2026.final.pdf"}}
    changes = []
    content = body([H([named, pdf])], changes)["messages"][0]["content"]
    assert [b["document"]["name"] for b in content[:2]] == ["report 2026 final pdf", "Document 2"]
    assert "text" in content[2]
    assert [c.code for c in changes] == ["added_text"]


def test_text_documents_without_a_name_are_text():
    sent = body([H([{"type": "text-plain", "text": "what is this?"}])])
    assert sent["messages"][0]["content"] == [{"text": "what is this?"}]


def test_images_in_results_stay_there_and_are_shared():  # B49
    shot = [{"type": "text", "text": "shot"}, {"type": "image", "base64": PNG}]
    result = body([H("q"), AI("", tool_calls=[tc()]), T(shot)])["messages"][2]["content"][0]
    image = result["toolResult"]["content"][1]["image"]
    assert image["source"]["bytes"] is PNG


SIGNED = {"type": "reasoning", "reasoning": "x", "extras": {"signature": "G=="}}


@pytest.mark.parametrize(
    ("provider", "is_sent"),
    [("google_genai", False), ("openai", False), ("anthropic", True), ("bedrock_converse", True)],
)
def test_signed_reasoning_goes_to_whoever_takes_the_signature(provider, is_sent):  # B52
    content = [SIGNED, {"type": "text", "text": "a"}]
    changes = []
    reply = AI(content, response_metadata={"model_provider": provider})
    sent = body([H("q"), reply, H("q")], changes)["messages"][1]["content"]
    signed = {"reasoningContent": {"reasoningText": {"text": "x", "signature": "G=="}}}
    assert sent == ([signed, {"text": "a"}] if is_sent else [{"text": "a"}])
    assert [c.code for c in changes] == ([] if is_sent else ["dropped_reasoning"])


def test_plain_reasoning_goes_back_to_bedrock_only():
    plain = {"additional_kwargs": {"reasoning_content": "hm"}}
    own = AI("a", response_metadata={"model_provider": "bedrock_converse"}, **plain)
    other = AI("a", response_metadata={"model_provider": "deepseek"}, **plain)
    sent = body([H("q"), own, H("q"), other, H("q")])["messages"]
    assert sent[1]["content"][0] == {"reasoningContent": {"reasoningText": {"text": "hm"}}}
    assert sent[3]["content"] == [{"text": "a"}]


@pytest.mark.parametrize(
    ("model", "sent"),
    [
        ("us.anthropic.claude-sonnet-4-6", ["signed"]), ("us.deepseek.r1-v1:0", []),
        ("us.amazon.nova-2-lite-v1:0", ["plain"]), (None, ["signed", "plain"]),
        ("arn:aws:bedrock:us-east-1:1:application-inference-profile/x", ["signed", "plain"]),
    ],
)  # fmt: skip
def test_each_model_gets_the_reasoning_it_takes(model, sent):  # B52
    plain = {"type": "reasoning", "reasoning": "y"}
    meta = {"response_metadata": {"model_provider": "bedrock_converse"}}
    history = [H("q"), AI([SIGNED, plain, {"type": "text", "text": "a"}], **meta), H("q")]
    turn = body(history, model=model)["messages"][1]["content"]
    said = [b["reasoningContent"]["reasoningText"] for b in turn if "reasoningContent" in b]
    assert ["signed" if "signature" in r else "plain" for r in said] == sent


def test_cache_marks_become_points_and_at_most_four_stay():  # B60
    mark = {"type": "text", "text": "x", "extras": {"cache_control": {"type": "ephemeral"}}}
    other = {"type": "text", "text": "y", "cache_control": {"type": "ephemeral", "ttl": "1h"}}
    messages = [S([mark]), H([mark, other]), AI([mark]), H([mark, other])]
    tools = [
        {"name": "f", "parameters": {"type": "object"}, "cache_control": {"type": "ephemeral"}}
    ]
    before = copy.deepcopy((messages, tools))
    changes = []
    sent = body(messages, changes, tools=tools)
    assert (messages, tools) == before
    assert sent == body(messages, tools=tools)
    assert json.dumps(sent).count("cachePoint") == 4
    assert "cachePoint" not in json.dumps([sent["system"], sent["toolConfig"]])
    assert sent["messages"][2]["content"][-1] == {"cachePoint": {"type": "default", "ttl": "1h"}}
    assert [c.code for c in changes] == ["dropped_cache_marks"]


TOOL = {"name": "f", "parameters": {"type": "object", "properties": {"a": {"type": "string"}}}}


@pytest.mark.parametrize(
    ("choice", "written"),
    [
        ("auto", {"auto": {}}), ("any", {"any": {}}), ("required", {"any": {}}),
        ("f", {"tool": {"name": "f"}}), ({"type": "any"}, {"any": {}}),
        ({"type": "function", "function": {"name": "f"}}, {"tool": {"name": "f"}}),
        ({"tool": {"name": "f"}}, {"tool": {"name": "f"}}), (None, None),
    ],
)  # fmt: skip
def test_tool_choice_of_every_spelling(choice, written):
    sent = body([H("q")], tools=[TOOL], tool_choice=choice)
    assert sent["toolConfig"].get("toolChoice") == written


def test_no_choice_means_no_tools_unless_the_history_holds_calls():
    assert "toolConfig" not in body([H("q")], tools=[TOOL], tool_choice="none")
    changes = []
    history = [H("q"), AI("", tool_calls=[tc()]), T("r")]
    sent = body(history, changes, tools=[TOOL], tool_choice="none")
    assert list(sent["toolConfig"]) == ["tools"]
    assert [(c.code, c.lossy) for c in changes] == [("dropped_tool_choice", True)]
    declared = body(history)["toolConfig"]["tools"]
    assert [t["toolSpec"]["name"] for t in declared] == ["f"]


def test_structured_output_is_a_schema_in_a_string():
    schema = {"type": "object", "properties": {}, "additionalProperties": False}
    wanted = {"type": "json_schema", "json_schema": {"name": "n", "schema": schema}}
    sent = valid(body([H("q")], response_format=wanted))
    written = sent["outputConfig"]["textFormat"]["structure"]["jsonSchema"]
    assert (written["name"], json.loads(written["schema"])) == ("n", schema)


def test_a_schema_this_wire_took_goes_back_as_it_is():
    schema = {"type": "object", "properties": {"a": {"type": "string", "minLength": 1}}}
    structure = {"jsonSchema": {"schema": json.dumps(schema)}}
    output = {"textFormat": {"type": "json_schema", "structure": structure}}
    given = {"messages": [{"role": "user", "content": [{"text": "q"}]}], "outputConfig": output}
    sent = CODEC.encode_request(CODEC.decode_request(given))
    again = sent["outputConfig"]["textFormat"]["structure"]["jsonSchema"]["schema"]
    assert json.loads(again) == schema


def test_json_results_are_read_as_text_by_others_and_go_back_as_json():
    result = {"toolUseId": "a", "content": [{"json": {"t": 21}}]}
    call = {"toolUse": {"toolUseId": "a", "name": "f", "input": {}}}
    given = [
        {"role": "user", "content": [{"text": "q"}]},
        {"role": "assistant", "content": [call]},
        {"role": "user", "content": [{"toolResult": result}]},
    ]
    request = CODEC.decode_request({"messages": given})
    assert request.messages[2].text == '{"t":21}'
    assert CODEC.encode_request(request)["messages"] == given
    other = get_codec("anthropic").encode_request(request)
    assert other["messages"][2]["content"][0]["content"] == [{"type": "text", "text": '{"t":21}'}]


REPLIES = list(cases("response.json"))


@pytest.mark.parametrize(("api", "folder"), REPLIES, ids=case_ids(REPLIES))
def test_a_reply_of_any_wire_goes_on_here_in_the_service_model(api, folder):  # B51
    reply = codec_of(api, folder).decode_response(read_json(folder / "response.json"))
    calls = [*reply.tool_calls, *reply.invalid_tool_calls]
    results = [T("r", c["id"] or "", name=c["name"]) for c in calls]
    sent = body([H("q"), reply, *results, H("go on")])
    if (api, folder.name) != ("bedrock_converse", "unknown_block"):
        valid(sent)
    said = json.dumps(sent, ensure_ascii=False)
    for block in reply.content_blocks:
        if block["type"] == "text" and block["text"].strip():
            assert json.dumps(block["text"], ensure_ascii=False)[1:-1] in said
