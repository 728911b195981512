"""Fragments of tool calls: the cases of the field with the right values, and variants of each kind."""

import pytest

from dragoman.errors import MergeError
from dragoman.messages import AIMessageChunk, message_chunk_to_message


def piece(**fields):
    empty = {"name": None, "args": None, "id": None, "index": None, "type": "tool_call_chunk"}
    return {**empty, **fields}


def chunk(*pieces, **fields):
    return AIMessageChunk("", tool_call_chunks=[piece(**p) for p in pieces], **fields)


def total(*deltas):
    return sum(chunk(*(delta if isinstance(delta, list) else [delta])) for delta in deltas)


def call(name, args, id_val):
    return {"name": name, "args": args, "id": id_val, "type": "tool_call"}


CASES = {
    "B01 parallel calls, one index, different ids": (
        [
            {"name": "read", "args": '{"p":1}', "id": "a", "index": 0},
            {"name": "find", "args": '{"q":2}', "id": "b", "index": 0},
        ],
        [call("read", {"p": 1}, "a"), call("find", {"q": 2}, "b")],
    ),
    "B01 interleaved fragments of two ids at one index": (
        [
            {"name": "r", "args": '{"p"', "id": "a", "index": 0},
            {"name": "f", "args": '{"q"', "id": "b", "index": 0},
            {"args": ":1}", "id": "a", "index": 0},
            {"args": ":2}", "id": "b", "index": 0},
        ],
        [call("r", {"p": 1}, "a"), call("f", {"q": 2}, "b")],
    ),
    "B03 name repeated in every delta": (
        [
            {"name": "my_tool", "args": '{"a"', "id": "x", "index": 0},
            {"name": "my_tool", "args": ":1}", "id": "x", "index": 0},
        ],
        [call("my_tool", {"a": 1}, "x")],
    ),
    "B03 name repeated without ids": (
        [
            {"name": "t", "args": "{", "index": 0},
            {"name": "t", "args": '"a":1', "index": 0},
            {"name": "t", "args": "}", "index": 0},
        ],
        [call("t", {"a": 1}, None)],
    ),
    "B03 another name opens a call": (
        [
            {"name": "t", "args": "{}", "index": 0},
            {"name": "u", "args": "{}", "index": 0},
        ],
        [call("t", {}, None), call("u", {}, None)],
    ),
    "B04 two fragments of one call in one delta": (
        [
            [{"name": "my_tool", "id": "x", "index": 0, "args": ""}, {"index": 0, "args": "{"}],
            {"index": 0, "args": '"a":1}'},
        ],
        [call("my_tool", {"a": 1}, "x")],
    ),
    "B04 a delta ends call 0 and starts call 1": (
        [
            {"name": "f", "id": "x", "index": 0, "args": '{"a"'},
            [{"index": 0, "args": ":1}"}, {"name": "g", "id": "y", "index": 1, "args": "{"}],
            {"index": 1, "args": "}"},
        ],
        [call("f", {"a": 1}, "x"), call("g", {}, "y")],
    ),
    "B06 index as number, then as text": (
        [
            {"name": "f", "id": "x", "index": 0, "args": '{"a"'},
            {"index": "0", "args": ":1}"},
        ],
        [call("f", {"a": 1}, "x")],
    ),
    "B06 named indices are different keys": (
        [
            {"name": "f", "id": "x", "index": "lc_1", "args": '{"a"'},
            {"name": "g", "id": "y", "index": "lc_2", "args": '{"b"'},
            {"index": "lc_1", "args": ":1}"},
            {"index": "lc_2", "args": ":2}"},
        ],
        [call("f", {"a": 1}, "x"), call("g", {"b": 2}, "y")],
    ),
    "B07 empty strings are absent": (
        [
            {"name": "s", "id": "c1", "args": "", "index": 0},
            {"name": "", "id": "", "args": '{"q":1}', "index": 0},
        ],
        [call("s", {"q": 1}, "c1")],
    ),
    "B09 name first, arguments with the same id and no name": (
        [{"id": "c", "name": "w"}, {"id": "c", "args": "{}"}],
        [call("w", {}, "c")],
    ),
    "B10 whole calls all at index 0 without ids": (
        [
            {"name": "f", "args": '{"a":1}', "index": 0},
            {"name": "f", "args": '{"a":2}', "index": 0},
            {"name": "f", "args": '{"a":3}', "index": 0},
        ],
        [call("f", {"a": n}, None) for n in (1, 2, 3)],
    ),
    "late id": (
        [{"name": "f", "args": '{"a"', "index": 0}, {"id": "x", "args": ":1}", "index": 0}],
        [call("f", {"a": 1}, "x")],
    ),
    "late name": (
        [{"id": "x", "args": '{"a"', "index": 0}, {"name": "f", "args": ":1}", "index": 0}],
        [call("f", {"a": 1}, "x")],
    ),
    "no index: by id": (
        [
            {"name": "f", "id": "x", "args": '{"a"'},
            {"name": "g", "id": "y", "args": '{"b"'},
            {"id": "x", "args": ":1}"},
            {"id": "y", "args": ":2}"},
        ],
        [call("f", {"a": 1}, "x"), call("g", {"b": 2}, "y")],
    ),
    "neither index nor id: the last open call": (
        [{"name": "f", "id": "x", "args": '{"a"'}, {"args": ":1}"}],
        [call("f", {"a": 1}, "x")],
    ),
    "arguments encoded twice": (
        [{"name": "f", "id": "x", "args": '"{\\"a\\": 1}"', "index": 0}],
        [call("f", {"a": 1}, "x")],
    ),
}


@pytest.mark.parametrize(("deltas", "calls"), CASES.values(), ids=CASES)
def test_fragments_make_these_calls(deltas, calls):
    message = total(*deltas)
    assert message.tool_calls == calls
    assert message.invalid_tool_calls == []
    ended = message + AIMessageChunk("", chunk_position="last")
    assert ended.tool_calls == calls
    assert message_chunk_to_message(message).tool_calls == calls


@pytest.mark.parametrize("reason", ["length", "max_tokens", "MAX_TOKENS"])
def test_a_call_that_was_cut_off_is_invalid_and_complete_ones_stay(reason):  # B30
    message = total(
        {"name": "ok", "args": '{"a":1}', "id": "x", "index": 0},
        {"name": "write", "args": '{"path":"x"', "id": "y", "index": 1},
    )
    assert message.tool_calls[1]["args"] == {"path": "x"}  # while it streams
    ended = message + AIMessageChunk(
        "", response_metadata={"finish_reason": reason}, chunk_position="last"
    )
    assert ended.tool_calls == [call("ok", {"a": 1}, "x")]
    assert ended.invalid_tool_calls[0]["name"] == "write"
    assert ended.invalid_tool_calls[0]["args"] == '{"path":"x"'
    assert "cut off" in ended.invalid_tool_calls[0]["error"]
    assert message_chunk_to_message(message).invalid_tool_calls[0]["id"] == "y"


def test_a_call_cut_off_before_its_arguments_is_not_run_with_none():
    ended = total({"name": "rm", "args": "", "id": "x", "index": 0}) + AIMessageChunk(
        "", response_metadata={"finish_reason": "length"}, chunk_position="last"
    )
    assert ended.tool_calls == []
    assert "cut off" in ended.invalid_tool_calls[0]["error"]


@pytest.mark.parametrize("raw", ['{"a":1}{"b":2}', '{"a":1}</s>', "[1]", "12", '{"a":NaN}', "nope"])
def test_what_is_no_object_is_an_invalid_call_with_its_raw_text(raw):  # B34
    ended = total({"name": "f", "args": raw, "id": "x", "index": 0}) + AIMessageChunk(
        "", chunk_position="last"
    )
    assert ended.tool_calls == []
    assert ended.invalid_tool_calls[0]["args"] == raw
    assert ended.invalid_tool_calls[0]["error"]


@pytest.mark.parametrize("raw", [None, "", "  \n", "null"])
def test_absent_arguments_are_empty(raw):  # B31
    ended = total({"name": "ping", "args": raw, "id": "x", "index": 0}) + AIMessageChunk(
        "", chunk_position="last"
    )
    assert ended.tool_calls == [call("ping", {}, "x")]


def test_half_a_surrogate_pair_is_held_back():  # B25
    first = chunk({"name": "f", "args": '{"a":"\\ud83d', "id": "x", "index": 0})
    assert first.tool_calls[0]["args"] == {"a": ""}
    both = first + chunk({"args": '\\ude00"}', "index": 0})
    assert both.tool_calls[0]["args"] == {"a": "😀"}


def test_depth_is_an_invalid_call_and_no_crash():
    deep = "[" * 1_000_000
    ended = total({"name": "f", "args": '{"a":' + deep, "id": "x", "index": 0})
    assert ended.tool_calls == []
    assert ended.invalid_tool_calls[0]["name"] == "f"
    assert (ended + AIMessageChunk("", chunk_position="last")).tool_calls == []


def test_control_characters_and_nul_in_arguments_are_kept():
    ended = total({"name": "f", "args": '{"a":"x\ny\x00\\u0000"}', "id": "x", "index": 0})
    assert ended.tool_calls[0]["args"] == {"a": "x\ny\x00\x00"}


def test_a_repeated_key_counts_once_its_value_is_complete():
    growing = chunk({"name": "f", "args": '{"a":"xyz","a":"q', "id": "x", "index": 0})
    assert growing.tool_calls[0]["args"] == {"a": "xyz"}
    assert (growing + chunk({"args": '"}', "index": 0})).tool_calls[0]["args"] == {"a": "q"}


@pytest.mark.parametrize(
    "fragment",
    [
        {"args": 1},
        {"name": 2},
        {"id": 3},
        {"index": 1.5},
        {"index": True},
        {"index": [0]},
        {"args": b"{}"},
        {"other": 1},
    ],
)
def test_a_malformed_fragment_is_a_merge_error_with_its_path(fragment):
    with pytest.raises(MergeError, match=r"tool_call_chunks\[0\]"):
        chunk(fragment)


@pytest.mark.parametrize("other", ["text", 1, None, {"a": 1}, ["x"]])
def test_only_chunks_can_be_added(other):
    with pytest.raises(TypeError, match="unsupported operand"):
        AIMessageChunk("a") + other


def test_cost_per_fragment_does_not_grow_with_their_number():  # B27
    import time

    def cost(n):
        start = time.process_time()
        message = chunk({"name": "f", "args": '{"t": "', "id": "x", "index": 0})
        for _ in range(n):
            message = message + chunk({"args": "word ", "index": 0})
        assert len(message.tool_calls[0]["args"]["t"]) == 5 * n
        return (time.process_time() - start) / n

    cost(500)
    assert min(cost(8000) for _ in range(3)) < 5 * min(cost(1000) for _ in range(3))


ESCAPES = r"line\nquote \" slash \\ accent \u00e9 face \ud83d\ude00 end\\\\"


def test_a_string_with_escapes_only_grows_wherever_the_stream_is_cut():
    text = '{"text": "' + ESCAPES + '"}'
    whole = 'line\nquote " slash \\ accent é face \U0001f600 end\\\\'
    so_far = chunk({"name": "write", "args": "", "id": "a", "index": 0})
    shown = ""
    for character in text:
        so_far += chunk({"args": character, "index": 0})
        now = so_far.tool_calls[0]["args"].get("text", "")
        assert whole.startswith(now)
        assert now.startswith(shown)
        shown = now
    assert shown == whole


@pytest.mark.parametrize("cut", range(len(ESCAPES)))
def test_an_unfinished_escape_is_read_without_the_slow_scanner(cut, monkeypatch):
    from dragoman.messages import scanner

    with_scanner = scanner.scan('{"text": "' + ESCAPES[:cut])[0]
    monkeypatch.delattr(scanner, "scan")
    so_far = chunk({"name": "write", "args": '{"text": "' + ESCAPES[:cut], "id": "a", "index": 0})
    assert so_far.tool_calls[0]["args"] == with_scanner
