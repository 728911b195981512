"""Lines of JSON: any cut of the bytes gives the same lines."""

from dragoman.chat_models.framing import Ndjson

DATA = '{"a":"你🌍"}\n\r\n{"b":2}\r\n{"c":"\u2028"}'.encode()
LINES = ['{"a":"你🌍"}', '{"b":2}', '{"c":"\u2028"}']


def read(pieces: list[bytes]) -> list[str]:
    machine = Ndjson()
    out = [event for piece in pieces for event in machine.feed(piece)]
    return [data.decode() for name, data in out + machine.close() if name is None]


def test_every_cut_gives_the_same_lines() -> None:
    assert read([DATA]) == LINES
    assert read([DATA[i : i + 1] for i in range(len(DATA))]) == LINES
    for at in range(len(DATA) + 1):
        assert read([DATA[:at], DATA[at:]]) == LINES


def test_nothing_is_left_after_close() -> None:
    machine = Ndjson()
    machine.feed(b"{}")
    assert machine.close() == [(None, b"{}")]
    assert machine.close() == []
