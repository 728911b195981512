"""Anthropic's streams: usage totals, errors inside a 200, what other servers do differently."""

import json

import pytest
from codec_kit import cases, chunks_of, folded, read_events

from dragoman.codecs import get_codec
from dragoman.errors import DecodeError, ModelAPIError, ModelError, ModelInvalidRequestError

CODEC = get_codec("anthropic")
STREAMS = [folder for api, folder in cases("stream.txt") if api == "anthropic"]


def event(kind, **fields):
    return kind, json.dumps({"type": kind, **fields})


def start(**usage):
    message = {"id": "msg_1", "model": "m", "content": [], "usage": usage}
    return event("message_start", message=message)


def end(reason="end_turn", **usage):
    return event("message_delta", delta={"stop_reason": reason}, usage=usage)


def block(index, content, *deltas):
    return [
        event("content_block_start", index=index, content_block=content),
        *(event("content_block_delta", index=index, delta=d) for d in deltas),
        event("content_block_stop", index=index),
    ]


def test_usage_of_the_end_replaces_that_of_the_start():  # B16
    events = [start(input_tokens=8, output_tokens=1), end(input_tokens=0, output_tokens=9)]
    usage = folded(chunks_of(CODEC, events)).usage_metadata
    # What is told again counts, zero too; what is null or missing stays.
    assert (usage["input_tokens"], usage["output_tokens"], usage["total_tokens"]) == (0, 9, 9)
    events = [start(input_tokens=8, output_tokens=1), end(input_tokens=None, output_tokens=9)]
    usage = folded(chunks_of(CODEC, events)).usage_metadata
    assert (usage["input_tokens"], usage["output_tokens"], usage["total_tokens"]) == (8, 9, 17)
    events = [
        start(input_tokens=8, output_tokens=1, cache_read_input_tokens=30),
        end(output_tokens=4),
        end(output_tokens=9),
    ]
    usage = folded(chunks_of(CODEC, events)).usage_metadata
    assert (usage["input_tokens"], usage["output_tokens"], usage["total_tokens"]) == (38, 9, 47)


@pytest.mark.parametrize(
    ("kind", "error", "status", "retry"),
    [
        ("overloaded_error", ModelAPIError, 529, True),
        ("api_error", ModelAPIError, 500, True),
        ("invalid_request_error", ModelInvalidRequestError, 400, False),
        ("something_new", ModelError, None, True),
    ],
)
def test_an_error_event_is_an_error(kind, error, status, retry):
    decoder = CODEC.stream_decoder()
    decoder.feed(*start(input_tokens=1, output_tokens=1))
    decoder.feed(*block(0, {"type": "text", "text": ""}, {"type": "text_delta", "text": "Hel"})[1])
    with pytest.raises(error, match="Overloaded") as caught:
        decoder.feed(
            "error",
            json.dumps(
                {
                    "type": "error",
                    "error": {"type": kind, "message": "Overloaded"},
                    "request_id": "req_1",
                }
            ),
        )
    assert (caught.value.status, caught.value.is_retryable) == (status, retry)
    assert caught.value.request_id == "req_1"
    assert decoder.done is False


def test_an_error_body_with_status_200_is_an_error():
    body = {"type": "error", "error": {"type": "rate_limit_error", "message": "slow down"}}
    with pytest.raises(ModelError, match="slow down") as caught:
        CODEC.decode_response(body)
    assert caught.value.status == 429


def test_done_tells_that_the_end_was_seen():
    decoder = CODEC.stream_decoder()
    for name, data in [start(), end(output_tokens=1)]:
        decoder.feed(name, data)
        assert decoder.done is False
    decoder.feed("message_stop", '{"type": "message_stop"}')
    assert decoder.done is True
    assert decoder.close()[-1].chunk_position == "last"
    assert decoder.close() == []


@pytest.mark.parametrize("folder", STREAMS, ids=lambda f: f.name)
def test_events_without_names_parsed_or_as_bytes_say_the_same(folder):
    events = read_events(folder / "stream.txt")
    expected = folded(chunks_of(CODEC, events))
    assert folded(chunks_of(CODEC, [(None, data) for _, data in events])) == expected
    assert folded(chunks_of(CODEC, [(n, json.loads(d)) for n, d in events])) == expected
    assert folded(chunks_of(CODEC, [(n, d.encode()) for n, d in events])) == expected


@pytest.mark.parametrize("folder", STREAMS, ids=lambda f: f.name)
def test_a_stream_cut_after_any_event_is_a_message(folder):
    events = read_events(folder / "stream.txt")
    for n in range(1, len(events)):
        message = folded(chunks_of(CODEC, events[:n]))
        assert isinstance(message.content_blocks, list)


def test_plain_text_and_arguments_go_out_as_they_come():
    decoder = CODEC.stream_decoder()
    decoder.feed(*start())
    said = block(0, {"type": "text", "text": ""}, {"type": "text_delta", "text": "Hi"})
    call = block(
        1,
        {"type": "tool_use", "id": "t", "name": "f", "input": {}},
        {"type": "input_json_delta", "partial_json": '{"a":'},
    )
    assert [c.content for e in said for c in decoder.feed(*e)] == ["Hi"]
    fragments = [c.tool_call_chunks[0] for e in call for c in decoder.feed(*e)]
    assert [(f["name"], f["args"], f["id"], f["index"]) for f in fragments] == [
        ("f", None, "t", 0),
        (None, '{"a":', None, 0),
    ]


def test_input_in_the_start_event_counts_if_no_deltas_come():
    events = [start(), *block(0, {"type": "tool_use", "id": "t", "name": "f", "input": {"a": 1}})]
    assert folded(chunks_of(CODEC, events)).tool_calls[0]["args"] == {"a": 1}


def test_annotations_after_the_text_of_a_plain_block():
    cited = {"type": "char_location", "cited_text": "x", "document_index": 0, "start_char_index": 0}
    events = [
        start(),
        *block(
            0,
            {"type": "text", "text": ""},
            {"type": "text_delta", "text": "It is."},
            {"type": "citations_delta", "citation": cited},
        ),
    ]
    (shown,) = folded(chunks_of(CODEC, events)).content
    assert shown["text"] == "It is."
    assert shown["annotations"][0]["cited_text"] == "x"


def test_calls_are_numbered_without_holes():  # B10
    text = {"type": "text", "text": ""}
    events = [
        start(),
        *block(0, text, {"type": "text_delta", "text": "a"}),
        *block(1, {"type": "tool_use", "id": "a", "name": "f", "input": {}}),
        *block(2, text),
        *block(3, {"type": "tool_use", "id": "b", "name": "f", "input": {}}),
    ]
    chunks = [c for chunk in chunks_of(CODEC, events) for c in chunk.tool_call_chunks]
    assert [(c["id"], c["index"]) for c in chunks if c["id"]] == [("a", 0), ("b", 1)]


@pytest.mark.parametrize("data", ["{", "[]", "3", "null", "\ud800"])
def test_what_is_no_event_is_an_error_of_ours(data):
    with pytest.raises(DecodeError):
        CODEC.stream_decoder().feed("x", data)


def test_half_a_character_is_held_back_until_its_other_half():  # B25
    events = [
        start(),
        *block(
            0,
            {"type": "text", "text": ""},
            {"type": "text_delta", "text": "\ud83d"},
            {"type": "text_delta", "text": "\ude00"},
        ),
    ]
    chunks = chunks_of(CODEC, events)
    assert folded(chunks).text == "😀"
    assert all(c < "\ud800" or c > "\udfff" for chunk in chunks for c in chunk.text)


def test_what_other_servers_do_differently_is_read():
    # A delta without a start, pieces of a wrong type, blocks inside the start, a late signature.
    first = {"type": "text", "text": "Hi "}
    message = {"id": "m", "content": [first], "usage": None}
    events = [
        event("message_start", message=message),
        event("content_block_delta", index=0, delta={"type": "text_delta", "text": "there"}),
        event("content_block_delta", index=0, delta={"type": "text_delta", "text": None}),
        event("content_block_delta", index=1, delta={"type": "thinking_delta", "thinking": "hm"}),
        event("content_block_delta", index=1, delta={"type": "x_delta", "x": 1}),
        event("content_block_stop", index=7),
        *block(2, {"type": "thinking", "thinking": "so", "signature": ""},
               {"type": "signature_delta", "signature": "S="}),
        *block(3, {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}},
               {"type": "input_json_delta", "partial_json": '{"q'}),
        *block(4, {"type": "hologram", "frames": []}, {"type": "x_delta", "frames": [1]}),
        *block(5, {"type": "server_tool_use", "id": "t", "name": "web_search", "input": {"q": 1}}),
    ]  # fmt: skip
    found = folded(chunks_of(CODEC, events))
    assert found.text == "Hi there"
    kinds = [b["type"] for b in found.content]
    assert kinds.count("server_tool_call") == 2
    broken, whole = (b for b in found.content if b["type"] == "server_tool_call")
    assert broken["extras"] == {"arguments": '{"q'}
    assert whole["args"] == {"q": 1}
    assert {
        "type": "non_standard",
        "value": {"type": "hologram", "frames": [1]},
        "api": "anthropic",
    }.items() <= next(b for b in found.content if b["type"] == "non_standard").items()
