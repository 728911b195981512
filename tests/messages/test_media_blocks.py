"""Every provider's picture, sound, film and document shows as one standard block."""

import pytest

from dragoman.messages import HumanMessage

PNG = "iVBORw0KGgo="
URL = "https://example.org/a"
SAID = {"type": "text", "text": "a"}

BLOCKS = [
    # OpenAI, chat completions
    (
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}},
        {"type": "image", "base64": PNG, "mime_type": "image/png"},
    ),
    ({"type": "image_url", "image_url": {"url": URL}}, {"type": "image", "url": URL}),
    (
        {"type": "input_audio", "input_audio": {"data": PNG, "format": "wav"}},
        {"type": "audio", "base64": PNG, "mime_type": "audio/wav"},
    ),
    ({"type": "file", "file": {"file_id": "f1"}}, {"type": "file", "file_id": "f1"}),
    (
        {"type": "file", "file": {"file_data": f"data:application/pdf;base64,{PNG}"}},
        {"type": "file", "base64": PNG, "mime_type": "application/pdf"},
    ),
    # OpenAI, responses
    ({"type": "input_image", "image_url": URL}, {"type": "image", "url": URL}),
    ({"type": "input_image", "file_id": "f1"}, {"type": "image", "file_id": "f1"}),
    ({"type": "input_file", "file_url": URL}, {"type": "file", "url": URL}),
    # Anthropic
    (
        {
            "type": "image",
            "source": {"type": "base64", "media_type": "image/png", "data": PNG},
        },
        {"type": "image", "base64": PNG, "mime_type": "image/png"},
    ),
    ({"type": "image", "source": {"type": "url", "url": URL}}, {"type": "image", "url": URL}),
    (
        {"type": "document", "source": {"type": "file", "file_id": "f1"}},
        {"type": "file", "file_id": "f1"},
    ),
    (
        {
            "type": "document",
            "source": {"type": "text", "media_type": "text/plain", "data": "words"},
        },
        {"type": "text-plain", "text": "words", "mime_type": "text/plain"},
    ),
    (
        {"type": "document", "source": {"type": "content", "content": [SAID, SAID]}},
        {"type": "text-plain", "text": "a\na", "mime_type": "text/plain"},
    ),
    (
        {"type": "search_result", "title": "T", "content": [SAID]},
        {"type": "text-plain", "text": "a", "mime_type": "text/plain", "title": "T"},
    ),
    # Gemini, in both spellings
    (
        {"inlineData": {"mimeType": "video/mp4", "data": PNG}},
        {"type": "video", "base64": PNG, "mime_type": "video/mp4"},
    ),
    (
        {"inline_data": {"mime_type": "application/pdf", "data": PNG}},
        {"type": "file", "base64": PNG, "mime_type": "application/pdf"},
    ),
    (
        {"fileData": {"fileUri": URL, "mimeType": "image/png"}},
        {"type": "file", "url": URL, "mime_type": "image/png"},
    ),
    # Bedrock Converse
    (
        {"image": {"format": "png", "source": {"bytes": PNG}}},
        {"type": "image", "base64": PNG, "mime_type": "image/png"},
    ),
    ({"text": "hi"}, {"type": "text", "text": "hi"}),
    # Mistral
    ({"type": "document_url", "document_url": URL}, {"type": "file", "url": URL}),
    # LangChain's blocks before version 1
    (
        {"type": "image", "source_type": "base64", "data": PNG, "mime_type": "image/png"},
        {"type": "image", "base64": PNG, "mime_type": "image/png"},
    ),
    ({"type": "image", "source_type": "url", "url": URL}, {"type": "image", "url": URL}),
    (
        {"type": "file", "source_type": "id", "id": "f1"},
        {"type": "file", "file_id": "f1"},
    ),
]


@pytest.mark.parametrize(("given", "expected"), BLOCKS)
def test_a_provider_s_block_shows_as_a_standard_one(given, expected):
    before = repr(given)
    (shown,) = HumanMessage([given]).content_blocks
    assert {key: value for key, value in shown.items() if key not in ("id", "extras")} == expected
    assert repr(given) == before


@pytest.mark.parametrize(
    "given",
    [
        {"type": "image", "source": {"type": "of tomorrow", "at": 1}},
        {"type": "image_url", "image_url": {"url": ""}},
        {"type": "input_audio", "input_audio": "x"},
        {"type": "document", "source": "x"},
        {"type": "search_result", "content": [{"type": "image"}]},
        {"type": "document_url", "document_url": 5},
        {"type": "input_file", "filename": "a.pdf"},
        {"inlineData": {"data": PNG}},
        {"fileData": "x"},
    ],
)
def test_what_is_no_medium_stays_whole_in_a_non_standard_block(given):
    assert HumanMessage([given]).content_blocks == [{"type": "non_standard", "value": given}]
