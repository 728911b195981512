"""Media kinds told from bytes, data URLs of every form, payloads never copied without need."""

import base64
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.codecs.media import (
    as_data_url,
    is_right_data_url,
    media_of,
    mime_of,
    parse_data_url,
    sniff,
    text_of_media,
)

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"\0" * 20).decode()
JPEG = base64.b64encode(b"\xff\xd8\xff\xe0\0\x10JFIF" + b"\0" * 20).decode()
GIF = base64.b64encode(b"GIF89a" + b"\0" * 20).decode()
WEBP = base64.b64encode(b"RIFF\x24\0\0\0WEBPVP8 " + b"\0" * 20).decode()
WAV = base64.b64encode(b"RIFF\x24\0\0\0WAVEfmt " + b"\0" * 20).decode()
PDF = base64.b64encode(b"%PDF-1.7\n" + b"\0" * 20).decode()
MP4 = base64.b64encode(b"\0\0\0\x18ftypisom" + b"\0" * 20).decode()
MP3 = base64.b64encode(b"ID3\x04" + b"\0" * 20).decode()


@pytest.mark.parametrize(
    ("data", "mime"),
    [
        (PNG, "image/png"), (JPEG, "image/jpeg"), (GIF, "image/gif"), (WEBP, "image/webp"),
        (PDF, "application/pdf"), (WAV, "audio/wav"), (MP4, "video/mp4"), (MP3, "audio/mpeg"),
        ("", None), ("a", None), ("!!!!", None), ("aGVsbG8gd29ybGQ=", None), ("UklG", None),
    ],
)  # fmt: skip
def test_the_first_bytes_tell_the_kind(data, mime):
    assert sniff(data) == mime


@pytest.mark.parametrize(
    ("data", "label", "kind", "mime"),
    [
        (JPEG, "image/jpg", "image", "image/jpeg"),  # B46
        (JPEG, None, "image", "image/jpeg"),
        (JPEG, "image/png", "image", "image/jpeg"),
        (PNG, "image/PNG", "image", "image/png"),
        ("aGVsbG8=", "image/jpg", "image", "image/jpeg"),
        ("aGVsbG8=", None, "image", "image/png"),
        ("YSxi", "text/csv", "file", "text/csv"),  # B48: never relabelled
        (WAV, "audio/x-wav", "audio", "audio/wav"),
        (MP3, "audio/mp3", "audio", "audio/mpeg"),
        ("aGVsbG8=", None, "file", "application/octet-stream"),
    ],
)
def test_bytes_beat_labels_and_labels_are_corrected(data, label, kind, mime):
    assert mime_of(data, label, kind) == mime


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        (f"data:image/png;base64,{PNG}", (PNG, "image/png")),
        (f"DATA:image/png;BASE64,{PNG}", (PNG, "image/png")),
        (
            f"data:image/png;charset=utf-8;name=a.png;base64,{PNG}",
            (PNG, "image/png;charset=utf-8;name=a.png"),
        ),
        (f"data:;base64,{PNG}", (PNG, None)),
        (f"data:base64,{PNG}", (PNG, None)),
        ("data:,a%20b", ("YSBi", "text/plain")),
        ("data:;charset=utf-8,a", ("YQ==", "text/plain;charset=utf-8")),
        ("data:text/plain,%C3%A9", ("w6k=", "text/plain")),
        ("data:image/png;base64,_-8", ("/+8=", "image/png")),
        ("data:image/png;base64,aG Vs\r\nbG8=", ("aGVsbG8=", "image/png")),
        ("data:image/png;base64,aGVsbG8%3D", ("aGVsbG8=", "image/png")),
        ("data:image/png;base64", None),
        ("https://e.org/a.png", None),
        ("", None),
    ],
)
def test_data_urls_of_every_legal_form(url, expected):
    assert parse_data_url(url) == expected


@given(st.binary(max_size=40), st.sampled_from(["image/png", "text/plain;charset=utf-8", ""]))
def test_any_bytes_come_back_from_a_data_url(data, label):
    url = f"data:{label};base64,{base64.b64encode(data).decode()}"
    parsed = parse_data_url(url)
    assert parsed is not None
    assert base64.b64decode(parsed[0]) == data


@given(st.text(max_size=60))
def test_no_text_breaks_the_readers(text):
    parse_data_url("data:" + text)
    is_right_data_url("data:" + text)
    sniff(text)
    text_of_media(text)
    media_of({"type": "image", "url": text, "base64": text, "mime_type": text})


def test_payload_strings_are_shared():
    payload = PNG + "A" * 1_000_000
    assert media_of({"type": "image", "base64": payload}).base64 is payload
    assert (
        media_of({"type": "image", "base64": payload, "mime_type": "image/jpg"}).base64 is payload
    )
    url = f"data:image/png;base64,{payload}"
    assert is_right_data_url(url)
    assert not is_right_data_url(f"data:image/jpg;base64,{payload}")


def test_cutting_a_data_url_apart_costs_linear_time(scale):
    def cost(n: int) -> float:
        url = "data:image/png;base64," + "A" * n
        start = time.perf_counter()
        for _ in range(3):
            parse_data_url(url)
        return time.perf_counter() - start

    n = 2_000_000 * scale
    assert cost(4 * n) < 40 * max(cost(n), 1e-3)


@pytest.mark.parametrize(
    ("block", "fields"),
    [
        ({"type": "image", "url": "https://e.org/a.png"}, {"url": "https://e.org/a.png", "base64": None}),
        ({"type": "image", "url": f"data:image/jpg;base64,{JPEG}"}, {"url": None, "base64": JPEG, "mime_type": "image/jpeg"}),
        ({"type": "image", "base64": f"data:image/png;base64,{PNG}"}, {"base64": PNG, "mime_type": "image/png"}),
        ({"type": "file", "file_id": "f", "url": None}, {"file_id": "f", "url": None}),
        ({"type": "text-plain", "text": "a"}, {"text": "a", "mime_type": "text/plain"}),
        ({"type": "text-plain", "base64": "w6k="}, {"text": "é"}),
        ({"type": "image", "base64": 3, "url": [], "mime_type": {}}, {"url": None, "base64": None}),
        ({"type": "image", "base64": b"GIF89a"}, {"base64": "R0lGODlh", "mime_type": "image/gif"}),
    ],
)  # fmt: skip
def test_media_blocks_are_read_in_every_form(block, fields):
    media = media_of(block)
    assert {k: getattr(media, k) for k in fields} == fields


def test_media_as_a_url():
    assert as_data_url(media_of({"type": "image", "url": "https://e.org/a"})) == "https://e.org/a"
    assert as_data_url(media_of({"type": "text-plain", "text": "a b"})).endswith("a%20b")
