"""The assembler: content by the rule, calls by the rules of fragments, usage as increments."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.codecs.reply import Reply, join_surrogates
from dragoman.messages import AIMessage, message_chunk_to_message


def told(*steps, ordered=True, seed=""):
    """Tell a reply the steps at once and one by one; both must give the same message."""
    once, piecewise = Reply("p", ordered=ordered), Reply("p", ordered=ordered)
    once.seed = piecewise.seed = seed
    chunks = []
    for step in steps:
        step(once)
        step(piecewise)
        chunks += piecewise.take()
    chunks += piecewise.close()
    message = once.message()
    whole = chunks[0]
    for chunk in chunks[1:]:
        whole = whole + chunk
    assert message_chunk_to_message(whole) == message
    assert chunks[-1].chunk_position == "last"
    assert piecewise.close() == []
    return message


def text(t):
    return lambda r: r.text(t)


def call(key, **fields):
    return lambda r: r.call(key, **fields)


def block(key, b):
    return lambda r: r.block(key, b)


def shown(message):
    return [(c["name"], c["args"], c["id"]) for c in message.tool_calls]


def test_text_stays_a_string():
    assert told(text("a"), text(""), text("b")).content == "ab"
    assert told().content == ""


def test_calls_and_unsigned_reasoning_need_no_list():
    message = told(lambda r: r.reasoning("hm"), text("a"), call(0, id="c", name="f", args="{}"))
    assert message.content == "a"
    assert message.additional_kwargs == {"reasoning_content": "hm"}
    assert shown(message) == [("f", {}, "c")]
    assert told(call(0, id="c", name="f", args="{}")).content == ""


def test_text_after_a_call_makes_a_list_in_wire_order():
    steps = (
        text("a"),
        call(0, id="c", name="f", args='{"x":'),
        call(0, args="1}"),
        text("b"),
        text("c"),
    )
    message = told(*steps)
    assert message.content == [
        {"type": "text", "text": "a"},
        {"type": "tool_call", "id": "c", "name": "f", "args": {"x": 1}, "index": 0},
        {"type": "text", "text": "bc"},
    ]
    assert told(*steps, ordered=False).content == "abc"


def test_a_call_with_extras_stands_in_the_content():
    message = told(call(0, id="c", name="f", args="{}", extras={"signature": "S"}))
    assert message.content == [
        {
            "type": "tool_call",
            "id": "c",
            "name": "f",
            "args": {},
            "index": 0,
            "extras": {"signature": "S"},
        }
    ]


def test_blocks_stream_by_their_key_and_keep_order():
    # B19: three blocks in order, byte-exact
    message = told(
        block(0, {"type": "reasoning", "reasoning": "al"}),
        block(0, {"reasoning": "pha"}),
        block(0, {"extras": {"signature": "S1"}}),
        block(None, {"type": "non_standard", "value": {"data": "R"}}),
        block(2, {"type": "reasoning", "reasoning": "beta", "extras": {"signature": "S2"}}),
        text("answer"),
    )
    assert message.content == [
        {"type": "reasoning", "reasoning": "alpha", "extras": {"signature": "S1"}, "index": 0},
        {"type": "non_standard", "value": {"data": "R"}, "index": 1},
        {"type": "reasoning", "reasoning": "beta", "extras": {"signature": "S2"}, "index": 2},
        {"type": "text", "text": "answer"},
    ]


def test_annotations_join_the_text_before_them():
    citation = {"type": "citation", "url": "u"}
    message = told(text("a"), text("b"), lambda r: r.annotate(annotations=[citation]))
    assert message.content == [{"type": "text", "text": "ab", "annotations": [citation]}]


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        # B01: same index, different ids
        ([call(0, id="a", name="read", args='{"p":1}'), call(0, id="b", name="find", args='{"q":2}')],
         [("read", {"p": 1}, "a"), ("find", {"q": 2}, "b")]),
        # B03: the name in every delta, with and without id
        ([call(0, id="x", name="f", args='{"a"'), call(0, id="x", name="f", args=":1}")], [("f", {"a": 1}, "x")]),
        ([call(0, id="x", name="f", args='{"a"'), call(0, name="f", args=":1}")], [("f", {"a": 1}, "x")]),
        ([call(0, id="x", name="f", args='{"a":1}'), call(0, name="g", args="{}")], [("f", {"a": 1}, "x"), ("g", {}, None)]),
        # B06: indices as text
        ([call(0, id="x", name="f", args='{"a"'), call("0", args=":1}")], [("f", {"a": 1}, "x")]),
        # B07: "" is absent
        ([call(0, id="c1", name="s", args=""), call(0, id="", name="", args='{"q":1}')], [("s", {"q": 1}, "c1")]),
        # B09: name first, then the same id without a name, no index
        ([call(None, id="c", name="w"), call(None, id="c", args="{}")], [("w", {}, "c")]),
        # B10: whole calls, all at index 0, without ids
        ([call(0, name="f", args='{"a":1}'), call(0, name="f", args='{"a":2}')], [("f", {"a": 1}, None), ("f", {"a": 2}, None)]),
        # neither index nor id: the last call
        ([call(None, id="c", name="f", args='{"a"'), call(None, args=":1}")], [("f", {"a": 1}, "c")]),
        # late id and name
        ([call(0, args='{"a"'), call(0, name="f", args=":1}"), call(0, id="c")], [("f", {"a": 1}, "c")]),
        # interleaved
        ([call(0, id="a", name="f", args="{"), call(1, id="b", name="g", args="{"), call(0, args="}"), call(1, args="}")],
         [("f", {}, "a"), ("g", {}, "b")]),
        # dicts whole
        ([call(None, id="a", name="f", args={"é": [1.5]})], [("f", {"é": [1.5]}, "a")]),
    ],
)  # fmt: skip
def test_fragments_find_their_call(steps, expected):
    message = told(*steps)
    found = [
        (name, args, id if wanted is not None else None)
        for (name, args, id), (_, _, wanted) in zip(shown(message), expected, strict=True)
    ]
    assert found == expected
    assert message.invalid_tool_calls == []
    assert all(id for _, _, id in shown(message))


def test_invented_ids_are_stable_and_depend_on_the_reply():
    steps = [call(0, name="f", args="{}"), call(1, name="f", args="{}")]
    one, same, other = (told(*steps, seed=s) for s in ("r1", "r1", "r2"))
    assert shown(one) == shown(same)
    assert len({c["id"] for m in (one, other) for c in m.tool_calls}) == 4


def test_b30_a_call_that_was_cut_off_is_invalid_and_the_others_stay():
    message = told(
        call(0, id="a", name="ok", args='{"x":1}'),
        call(1, id="b", name="write", args='{"path":"x"'),
        lambda r: r.finished("length"),
    )
    assert shown(message) == [("ok", {"x": 1}, "a")]
    (bad,) = message.invalid_tool_calls
    assert (bad["name"], bad["args"], bad["id"]) == ("write", '{"path":"x"', "b")
    assert bad["error"]
    assert message.response_metadata["finish_reason"] == "length"


def test_b16_totals_that_are_repeated_are_counted_once():
    def usage(i, o):
        return lambda r: r.usage({"input_tokens": i, "output_tokens": o, "total_tokens": i + o})

    message = told(usage(35, 0), text("a"), usage(35, 1), usage(35, 2))
    assert message.usage_metadata == {"input_tokens": 35, "output_tokens": 2, "total_tokens": 37}
    message = told(lambda r: r.add_usage({"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}), text("x"),
                   lambda r: r.add_usage({"input_tokens": 0, "output_tokens": 2, "total_tokens": 2}))  # fmt: skip
    assert message.usage_metadata == {"input_tokens": 1, "output_tokens": 3, "total_tokens": 4}


def test_b15_metadata_is_told_once_and_the_last_wins():
    message = told(
        lambda r: r.meta(model_name="m", fp="f"),
        lambda r: r.meta(model_name="m", fp="f"),
        lambda r: r.finished("tool_calls"),
        lambda r: r.late(x=1),
        lambda r: r.late(x=2),
        lambda r: r.finished("stop"),
    )
    assert message.response_metadata == {
        "model_provider": "p", "model_name": "m", "fp": "f", "x": 2, "finish_reason": "stop",
    }  # fmt: skip


def test_b25_a_character_cut_in_half_is_whole_again():
    high, low = "\ud83d", "\ude00"
    assert told(text("a" + high), text(low + "b")).content == "a😀b"
    assert told(text("a" + high)).content == "a\ufffd"
    assert told(text(low)).content == "\ufffd"
    message = told(call(0, id="c", name="f", args='{"a":"' + high), call(0, args=low + '"}'))
    assert message.tool_calls[0]["args"] == {"a": "😀"}
    message = told(block(0, {"type": "reasoning", "reasoning": high}), block(0, {"reasoning": low}))
    assert message.content[0]["reasoning"] == "😀"
    message = told(lambda r: r.reasoning(high), lambda r: r.reasoning(low))
    assert message.additional_kwargs["reasoning_content"] == "😀"


@given(st.text(alphabet=st.characters(), max_size=8))
def test_joined_text_can_be_written(t):
    joined = join_surrogates(t)
    joined.encode()
    assert joined == t or any("\ud800" <= c <= "\udfff" for c in t)


@given(st.lists(st.sampled_from("tcbr"), max_size=8), st.booleans())
def test_however_a_reply_is_told_its_fold_is_its_message(kinds, ordered):
    steps = []
    for n, kind in enumerate(kinds):
        steps.append(
            {
                "t": text(f"t{n}"),
                "c": call(n, id=f"c{n}", name="f", args=f'{{"n":{n}}}'),
                "b": block(n, {"type": "reasoning", "reasoning": f"r{n}"}),
                "r": lambda r, n=n: r.reasoning(f"u{n}"),
            }[kind]
        )
    message = told(*steps, ordered=ordered)
    assert message.text == "".join(f"t{n}" for n, k in enumerate(kinds) if k == "t")
    assert [c["args"]["n"] for c in message.tool_calls] == [
        n for n, k in enumerate(kinds) if k == "c"
    ]
    if isinstance(message.content, list):
        in_content = [b["id"] for b in message.content if b["type"] == "tool_call"]
        assert in_content == [c["id"] for c in message.tool_calls]
    assert isinstance(message, AIMessage)
