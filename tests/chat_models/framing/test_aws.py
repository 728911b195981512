"""Amazon's event stream: frames, checksums, cuts; botocore as the independent reader and judge."""

import struct
import zlib

import pytest

from dragoman.chat_models.framing import AwsEventStream
from dragoman.chat_models.framing.aws import aws_frame
from dragoman.errors import DecodeError

FRAMES = [
    ("messageStart", b'{"role":"assistant"}'),
    ("contentBlockDelta", b'{"p":"abc"}'),
    ("x", b""),
]
DATA = b"".join(aws_frame(name, payload) for name, payload in FRAMES)


def read(pieces: list[bytes]) -> list:
    machine = AwsEventStream()
    out = [event for piece in pieces for event in machine.feed(piece)]
    return out + machine.close()


def test_every_cut_gives_the_same_events() -> None:
    assert read([DATA]) == FRAMES
    assert read([DATA[i : i + 1] for i in range(len(DATA))]) == FRAMES
    for at in range(0, len(DATA) + 1, 7):
        assert read([DATA[:at], DATA[at:]]) == FRAMES


def test_botocore_reads_our_frames() -> None:
    from botocore.eventstream import EventStreamBuffer

    buffer = EventStreamBuffer()
    buffer.add_data(DATA)
    assert [(m.headers[":event-type"], m.payload) for m in buffer] == FRAMES


def test_an_exception_frame_is_named_by_its_exception() -> None:
    frame = aws_frame("throttlingException", b'{"message":"slow down"}', kind="exception")
    assert read([frame]) == [("throttlingException", b'{"message":"slow down"}')]


def test_an_error_frame_carries_its_text() -> None:
    head = b"".join(
        bytes([len(k)]) + k + b"\x07" + struct.pack(">H", len(v)) + v
        for k, v in [
            (b":message-type", b"error"),
            (b":error-code", b"Internal"),
            (b":error-message", b'a "b"'),
        ]
    )
    start = struct.pack(">II", 16 + len(head), len(head))
    body = start + struct.pack(">I", zlib.crc32(start)) + head
    assert read([body + struct.pack(">I", zlib.crc32(body))]) == [
        ("InternalException", b'{"message":"a \\"b\\""}')
    ]


def test_headers_of_every_type_are_skipped() -> None:
    values = [
        (0, b""),
        (1, b""),
        (2, b"a"),
        (3, b"ab"),
        (4, b"abcd"),
        (5, b"a" * 8),
        (8, b"a" * 8),
        (9, b"a" * 16),
    ]
    head = b"".join(b"\x01h" + bytes([kind]) + value for kind, value in values)
    head += b"\x01b\x06\x00\x02zz" + b"\x0b:event-type\x07\x00\x01e"
    start = struct.pack(">II", 16 + len(head) + 2, len(head))
    body = start + struct.pack(">I", zlib.crc32(start)) + head + b"{}"
    assert read([body + struct.pack(">I", zlib.crc32(body))]) == [("e", b"{}")]


@pytest.mark.parametrize("at", range(0, len(aws_frame("e", b"{}")), 5))
def test_a_flipped_bit_anywhere_is_found(at: int) -> None:
    frame = bytearray(aws_frame("e", b"{}"))
    frame[at] ^= 1
    with pytest.raises(DecodeError):
        read([bytes(frame)])


def test_a_cut_frame_is_an_error_at_the_end() -> None:
    with pytest.raises(DecodeError, match="inside a frame"):
        read([DATA[:-1]])


def test_the_frames_before_a_broken_one_are_given_out() -> None:
    machine = AwsEventStream()
    assert machine.feed(DATA + b"\x00" * 20) == FRAMES
    with pytest.raises(DecodeError):
        machine.feed(b"")
