"""Server-sent events: any cut of the bytes gives the same events (faults B24 and its kind)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.chat_models.framing import Sse

TEXT = '{"t":"你好🌍 a\u2028b\u0085c"}'

CASES = [
    ("lf", b"data: a\n\ndata: b\n\n", [(None, b"a"), (None, b"b")]),
    ("crlf", b"data: a\r\n\r\ndata: b\r\n\r\n", [(None, b"a"), (None, b"b")]),
    ("cr", b"data: a\r\rdata: b\r\r", [(None, b"a"), (None, b"b")]),
    ("mixed", b"data: a\r\n\rdata: b\n\r\n", [(None, b"a"), (None, b"b")]),
    ("no space", b"data:a\n\n", [(None, b"a")]),
    ("two spaces", b"data:  a\n\n", [(None, b" a")]),
    ("event", b"event: ping\ndata: {}\n\n", [("ping", b"{}")]),
    ("event after data", b"data: {}\nevent: x\n\n", [("x", b"{}")]),
    ("multi-line", b"data: a\ndata: b\ndata:\n\n", [(None, b"a\nb\n")]),
    ("comments", b": PROCESSING\n\n: x\ndata: a\n: y\n\n", [(None, b"a")]),
    ("only comments", b": a\n\n:\n\n", []),
    ("event without data", b"event: a\n\ndata: b\n\n", [(None, b"b")]),
    ("id and retry", b"id: 1\nretry: 5\ndata: a\n\n", [(None, b"a")]),
    ("field without colon", b"data\n\n", [(None, b"")]),
    ("many blank lines", b"\n\n\n\ndata: a\n\n\n\n\ndata: b\n\n\n", [(None, b"a"), (None, b"b")]),
    ("no last blank line", b"data: a\n\ndata: b", [(None, b"a"), (None, b"b")]),
    ("one last line end", b"data: a\n\ndata: b\n", [(None, b"a"), (None, b"b")]),
    ("bom", b"\xef\xbb\xbfdata: a\n\n", [(None, b"a")]),
    ("bom once", b"\xef\xbb\xbf\xef\xbb\xbfdata: a\n\ndata: b\n\n", [(None, b"b")]),
    ("text", f"data: {TEXT}\n\n".encode(), [(None, TEXT.encode())]),
    ("empty", b"", []),
]


def read(pieces: list[bytes]) -> list[tuple[str | None, bytes]]:
    machine = Sse()
    out = [event for piece in pieces for event in machine.feed(piece)]
    return out + machine.close()


@pytest.mark.parametrize(("data", "expected"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_every_cut_gives_the_same_events(data: bytes, expected: list) -> None:
    assert read([data]) == expected
    assert read([data[i : i + 1] for i in range(len(data))]) == expected
    for at in range(len(data) + 1):
        assert read([data[:at], data[at:]]) == expected, at
        assert read([data[:at], b"", data[at:]]) == expected, at


@given(
    st.lists(st.text(max_size=12), max_size=6),
    st.sampled_from(["\n", "\r", "\r\n"]),
    st.lists(st.integers(1, 9), min_size=1, max_size=20),
)
def test_random_texts_at_random_cuts(texts: list[str], end: str, sizes: list[int]) -> None:
    lines = [t.replace("\r", " ").replace("\n", " ") for t in texts]
    data = "".join(f"event: e{end}data: {t}{end}{end}" for t in lines).encode("utf-8", "replace")
    pieces, at, turn = [], 0, 0
    while at < len(data):
        size = sizes[turn % len(sizes)]
        pieces.append(data[at : at + size])
        at, turn = at + size, turn + 1
    assert read(pieces) == [("e", t.encode("utf-8", "replace")) for t in lines]


def test_a_huge_event_in_tiny_reads_costs_one_join() -> None:
    machine = Sse()
    payload = b"x" * 300_000
    machine.feed(b"data: ")
    for at in range(0, len(payload), 100):
        assert machine.feed(payload[at : at + 100]) == []
    assert machine.feed(b"\n") == []
    assert machine.feed(b"\n") == [(None, payload)]
