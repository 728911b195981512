"""Values nobody expects, at every place of every case: an error of ours or a result, never a crash."""

import json

import pytest
from codec_kit import _places, cases, chunks_of, codec_of, folded, read_events, read_json

from dragoman.codecs import SUPPORTED
from dragoman.errors import DragomanError


def nested(n, wrap):
    value = wrap(None)
    for _ in range(n):
        value = wrap(value)
    return value


VALUES = {
    "deep objects": nested(3_000, lambda v: {"a": v}),
    "deep lists": nested(3_000, lambda v: [v]),
    "NaN": float("nan"),
    "a huge number": 10**400,
    "half a character": "\ud83d",
    "bytes": b"x",
}


def read(codec, name, body):
    if name == "request.json":
        codec.encode_request(codec.decode_request(body))
    else:
        message = codec.decode_response(body)
        assert isinstance(message.content_blocks, list)
        assert isinstance(message.tool_calls, list)


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
@pytest.mark.parametrize("api", SUPPORTED)
def test_a_hostile_value_anywhere_is_survived(api, value):
    for name in ("request.json", "response.json"):
        for _, folder in [c for c in cases(name) if c[0] == api]:
            codec, body = codec_of(api, folder), read_json(folder / name)
            for holder, key in list(_places(body)):
                kept, holder[key] = holder[key], value
                try:
                    read(codec, name, body)
                except DragomanError as error:
                    told = str(error)
                else:
                    told = ""
                assert len(told) < 3000
                holder[key] = kept


@pytest.mark.parametrize("api", SUPPORTED)
def test_half_a_character_anywhere_in_a_reply_reaches_nobody(api):
    for _, folder in [c for c in cases("response.json") if c[0] == api]:
        codec, body = codec_of(api, folder), read_json(folder / "response.json")
        for holder, key in list(_places(body)):
            if isinstance(holder[key], str):
                kept, holder[key] = holder[key], holder[key] + "\ud83d"
                try:
                    message = codec.decode_response(body)
                    message.text.encode()
                    for block in message.content_blocks:
                        if block["type"] == "reasoning":
                            block.get("reasoning", "").encode()
                except DragomanError:
                    json.dumps(body)
                holder[key] = kept


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
@pytest.mark.parametrize("api", SUPPORTED)
def test_a_hostile_value_anywhere_in_a_stream_is_survived(api, value):
    for _, folder in [c for c in cases("stream.txt") if c[0] == api]:
        codec = codec_of(api, folder)
        events = [(event, parsed(data)) for event, data in read_events(folder / "stream.txt")]
        for data in of_each_kind(events):
            for holder, key in list(_places(data)):
                kept, holder[key] = holder[key], value
                try:
                    message = folded(chunks_of(codec, events))
                    message.text.encode()
                    assert isinstance(message.content_blocks, list)
                except DragomanError:
                    pass
                holder[key] = kept


def of_each_kind(events):
    """Return the first and the last event of each kind, and all of wires that name no kinds.

    What is in between is more of the same, and replaying a stream for each of its places is slow.
    """
    kinds: dict = {}
    for at, (event, data) in enumerate(events):
        kind = event or (data.get("type") if isinstance(data, dict) else None)
        kinds.setdefault(at if kind is None else kind, []).append(data)
    return [data for found in kinds.values() for data in (found[:1] + found[1:][-1:])]


def parsed(data):
    try:
        return json.loads(data)
    except ValueError:
        return data
