"""Reading Gemini's JSON: odd shapes travel whole, wrong ones are errors with a path."""

import copy

import pytest

from dragoman.codecs import get_codec
from dragoman.errors import DecodeError
from dragoman.messages import AIMessage, HumanMessage, SystemMessage

CODEC = get_codec("gemini")

ODD = [
    {"text": 3},
    {"text": "x", "thought": False},
    {"text": "x", "thoughtSignature": 3},
    {"text": "x", "partMetadata": {"a": 1}},
    {"text": "x", "inlineData": {"mimeType": "image/png", "data": "AA=="}},
    {"inlineData": {"mimeType": "image/png"}},
    {"inlineData": {"mimeType": 3, "data": "AA=="}},
    {"inlineData": {"data": "AA==", "mimeType": "image/png", "hologram": 1}},
    {"inlineData": {"data": "AA==", "mimeType": "image/bmp", "displayName": "n"}},
    {"inlineData": 3},
    {"fileData": {"fileUri": "gs://b/x"}, "mediaResolution": {"level": "LOW"}},
    {"functionCall": {"name": 3}},
    {"functionCall": {"name": "f"}},
    {"functionCall": {"name": "f", "args": {}, "more": 1}},
    {"functionCall": {"name": "f", "args": {}, "id": 3}},
    {"executableCode": {"code": 3}},
    {"executableCode": {"code": "1", "language": "LANGUAGE_UNSPECIFIED", "id": "e"}},
    {"codeExecutionResult": {"outcome": "OUTCOME_OK", "more": 1}},
    {"toolCall": {"toolType": "X", "id": "t"}},
    {"toolCall": {"toolType": "X", "args": 3}},
    {"toolCall": {"toolType": "X", "args": {}, "more": 1}},
    {"toolResponse": {"toolType": 3}},
    {"toolResponse": {"toolType": "X", "id": "t", "response": {"a": 1}}, "thoughtSignature": "S="},
    {"videoMetadata": {"fps": 1}},
    {"hologram": {"frames": [1]}},
    {},
]  # fmt: skip


@pytest.mark.parametrize("part", ODD, ids=str)
def test_an_odd_part_comes_back_as_it_was(part):
    body = {
        "contents": [
            {"role": "user", "parts": [{"text": "q"}, part]},
            {"role": "model", "parts": [part, {"text": "a"}]},
            {"role": "user", "parts": [{"text": "end"}]},
        ]
    }
    before = copy.deepcopy(body)
    sent = CODEC.encode_request(CODEC.decode_request(body))
    assert body == before
    assert sent["contents"][1] == before["contents"][1]
    if "toolCall" not in part and "toolResponse" not in part:
        assert sent["contents"] == before["contents"]
    reply = CODEC.decode_response({"candidates": [{"content": {"parts": [part]}}]})
    assert isinstance(reply.content_blocks, list)


@pytest.mark.parametrize(
    "response",
    [
        {"name": "f", "response": {"a": 1}, "scheduling": "SILENT"},
        {"name": "f", "response": {"a": 1}, "id": "x", "willContinue": True},
        {"name": "f"},
        {"name": 3, "response": {}},
        {"name": "f", "response": "text"},
    ],
)
def test_an_odd_response_comes_back_as_it_was(response):
    contents = [
        {"role": "user", "parts": [{"text": "q"}]},
        {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}]},
        {"role": "user", "parts": [{"functionResponse": response}], "more": 1},
    ]
    assert (
        CODEC.encode_request(CODEC.decode_request({"contents": contents}))["contents"] == contents
    )


@pytest.mark.parametrize(
    "given",
    [
        {"tools": [{"functionDeclarations": [{"name": 3}]}]},
        {"tools": [{"functionDeclarations": [
            {"name": "f", "parameters": {}, "parametersJsonSchema": {}}]}]},
        {"tools": [{"functionDeclarations": [{"name": "f", "parameters": 3}]}]},
        {"tools": [{"functionDeclarations": [{"name": "f", "behavior": "NON_BLOCKING"}]}]},
        {"tools": [{"functionDeclarations": [{"name": "f"}], "googleSearch": {}}]},
        {"tools": [{"functionDeclarations": [{"name": "f", "description": "d",
                                              "parametersJsonSchema": {"$ref": "#/$defs/A"}}]}]},
        {"tools": "all"},
        {"toolConfig": 3},
        {"toolConfig": {"functionCallingConfig": 3}},
        {"toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["any"]}}},
        {"toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": []}}},
        {"generationConfig": 3},
        {"generationConfig": {"temperature": "hot", "maxOutputTokens": 1.5, "stopSequences": [3]}},
        {"generationConfig": {"responseMimeType": "text/x.enum", "responseSchema": {"type": "STRING"}}},
        {"generationConfig": {"responseMimeType": "application/json", "responseSchema": {},
                              "responseJsonSchema": {}}},
        {"generationConfig": {"responseMimeType": "application/json"}},
        {"generationConfig": {"responseMimeType": "application/json", "responseJsonSchema": 3}},
        {"systemInstruction": {"parts": [{"text": "a"}, {"text": "b"}], "more": 1}},
        {"safetySettings": []},
    ],
)  # fmt: skip
def test_parameters_that_say_more_or_are_wrong_come_back_as_they_were(given):
    body = {"contents": [{"role": "user", "parts": [{"text": "q"}]}], **given}
    assert CODEC.encode_request(CODEC.decode_request(body)) == body


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"contents": 3}, r"\$\.contents"),
        ({"contents": [3]}, r"contents\[0\]"),
        ({"contents": [{"role": "robot", "parts": []}]}, r"contents\[0\]\.role"),
        ({"contents": [{"role": "user", "parts": 3}]}, r"contents\[0\]\.parts"),
        ({"contents": [{"role": "user", "parts": [3]}]}, r"contents\[0\]\.parts\[0\]"),
    ],
)
def test_what_cannot_be_read_is_an_error_with_a_path(body, path):
    with pytest.raises(DecodeError, match=path):
        CODEC.decode_request(body)


def test_short_forms_that_google_accepts_are_read():
    body = {"contents": "q", "systemInstruction": "s", "model": "m"}
    request = CODEC.decode_request(body)
    assert request.messages == [SystemMessage("s"), HumanMessage("q")]
    assert request.model == "m"
    request = CODEC.decode_request({"contents": {"role": "user", "parts": {"text": "q"}}})
    assert request.messages == [HumanMessage("q")]


def test_plain_requests_are_plain_messages():
    body = {
        "contents": [
            {"role": "user", "parts": [{"text": "q"}]},
            {"role": "model", "parts": [{"text": "a"}]},
        ],
        "generationConfig": {"maxOutputTokens": 9},
    }
    request = CODEC.decode_request(body)
    assert request.messages == [HumanMessage("q"), AIMessage("a")]
    assert (request.max_tokens, request.extra) == (9, {})
