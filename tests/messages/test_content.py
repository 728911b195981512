"""Blocks made by function: what was given, an id, and unknown keywords in `extras`."""

import pytest

from dragoman.errors import MessageError
from dragoman.messages.content import (
    create_audio_block,
    create_citation,
    create_file_block,
    create_image_block,
    create_non_standard_block,
    create_plaintext_block,
    create_reasoning_block,
    create_text_block,
    create_tool_call,
    create_video_block,
    is_data_content_block,
)

URL = "https://example.org/a"


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda **k: create_text_block("a", index=0, **k),
            {"type": "text", "text": "a", "index": 0},
        ),
        (lambda **k: create_reasoning_block(**k), {"type": "reasoning", "reasoning": ""}),
        (lambda **k: create_citation(url=URL, **k), {"type": "citation", "url": URL}),
        (
            lambda **k: create_tool_call("f", {"a": 1}, **k),
            {"type": "tool_call", "name": "f", "args": {"a": 1}},
        ),
        (lambda **k: create_image_block(base64="aa", **k), {"type": "image", "base64": "aa"}),
        (lambda **k: create_audio_block(file_id="f", **k), {"type": "audio", "file_id": "f"}),
        (
            lambda **k: create_video_block(base64="aa", mime_type="video/mp4", **k),
            {"type": "video", "base64": "aa", "mime_type": "video/mp4"},
        ),
        (lambda **k: create_file_block(url=URL, **k), {"type": "file", "url": URL}),
        (
            lambda **k: create_plaintext_block("a", title="t", **k),
            {"type": "text-plain", "mime_type": "text/plain", "text": "a", "title": "t"},
        ),
    ],
)
def test_a_made_block(made, expected):
    assert made(id="x") == expected | {"id": "x"}
    assert made(id="x", zoom=2, nothing=None) == expected | {"id": "x", "extras": {"zoom": 2}}
    ids = {made()["id"] for _ in range(2)}
    assert len(ids) == 2
    assert all(name.startswith("lc_") for name in ids)


def test_a_block_of_no_standard_kind():
    assert create_non_standard_block({"a": 1}, id="x", index=3) == {
        "type": "non_standard", "value": {"a": 1}, "id": "x", "index": 3,
    }  # fmt: skip


@pytest.mark.parametrize(
    "make", [create_image_block, create_audio_block, create_video_block, create_file_block]
)
def test_a_medium_has_a_source(make):
    with pytest.raises(MessageError, match="Must provide one of: url, base64, or file_id"):
        make()


@pytest.mark.parametrize("make", [create_audio_block, create_video_block, create_file_block])
def test_a_payload_says_what_it_is(make):
    with pytest.raises(MessageError, match="mime_type is required"):
        make(base64="aa")


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        ({"type": "file", "file_id": "f"}, True),
        ({"type": "text-plain", "text": "a"}, True),
        ({"type": "image", "source_type": "base64", "data": "aa"}, True),
        ({"type": "image", "source_type": "id", "id": "f"}, True),
        ({"type": "image", "source_type": "base64"}, False),
        ({"type": "image", "source_type": "of tomorrow", "data": "aa"}, False),
        ({"type": "image"}, False),
        ({"type": "text", "text": "a"}, False),
    ],
)
def test_what_is_a_data_block(block, expected):
    assert is_data_content_block(block) is expected
