"""Faults of histories that were reported in the field, with the right value, and variants of each."""

import base64

import pytest

from dragoman.errors import MessageError, TranscriptError
from dragoman.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
)
from dragoman.transcript import (
    add_messages,
    count_tokens_approximately,
    filter_messages,
    merge_message_runs,
    repair_messages,
    trim_messages,
    validate_messages,
)

S, H, T = SystemMessage, HumanMessage, ToolMessage


def ai(*ids, text=""):
    return AIMessage(text, tool_calls=[{"name": "f", "args": {}, "id": i} for i in ids])


def t(id_val, **fields):
    return T("r", tool_call_id=id_val, **fields)


def shape(messages):
    """Return a history as one letter per message, results with their call's id."""
    return [f"T{m.tool_call_id}" if isinstance(m, T) else type(m).__name__[0] for m in messages]


HISTORY = [S("s"), H("q"), ai("c1"), t("c1"), H("q2"), AIMessage("a")]


@pytest.mark.parametrize(
    ("options", "kept"),
    [
        ({"max_tokens": 3}, "HA"),  # B63: no orphaned result at the start
        ({"max_tokens": 4, "include_system": True}, "SHA"),
        ({"max_tokens": 3, "strategy": "first"}, "SH"),  # B64: no unanswered call at the end
        ({"max_tokens": 6}, None),
        ({"max_tokens": 2}, "HA"),
    ],
)
def test_trimming_keeps_units_whole(options, kept):
    result = trim_messages(HISTORY, token_counter=len, **options)
    if kept is None:
        assert result == HISTORY
    else:
        assert [type(m).__name__[0] for m in result] == list(kept)


def test_a_pending_call_at_the_end_of_the_whole_history_stays():  # B64
    history = [H("q"), ai("c1")]
    assert trim_messages(history, max_tokens=9, token_counter=len, strategy="first") == history
    assert trim_messages(history, max_tokens=9, token_counter=len) == history


@pytest.mark.parametrize("budget", [3, 4])
def test_a_result_whose_call_is_nowhere_goes_when_the_history_is_cut(budget):  # B66
    history = [H("q"), ai("a"), t("a"), ai("b"), t("zz"), t("b"), AIMessage("x")]
    kept = trim_messages(history, max_tokens=budget, token_counter=len, keep_last_human=False)
    assert "Tzz" not in shape(kept)
    assert shape(kept) in (["A"], ["A", "Tb", "A"])


def test_the_question_of_a_long_tool_loop_survives():  # B67
    loop = [m for n in range(6) for m in (ai(str(n)), t(str(n)))]
    history = [S("s"), H("task"), *loop]
    kept = trim_messages(
        history, max_tokens=5, token_counter=len, start_on="human", include_system=True
    )
    assert shape(kept) == ["S", "H", "A", "T5"]
    bare = trim_messages(
        history,
        max_tokens=5,
        token_counter=len,
        start_on="human",
        include_system=True,
        keep_last_human=False,
    )
    assert shape(bare) == ["S"]


def test_a_question_that_is_too_long_alone_is_an_error_with_the_number():
    with pytest.raises(TranscriptError, match=r"needs 2 tokens, more than max_tokens=1"):
        trim_messages(
            [S("s"), H("q"), AIMessage("a")],
            max_tokens=1,
            token_counter=len,
            include_system=True,
            start_on="human",
        )


def test_a_counter_of_one_message_without_annotation_is_no_silent_no_op():  # B69
    messages = [H("a")] * 6
    with pytest.raises(TypeError, match="annotate it"):
        trim_messages(messages, max_tokens=3, token_counter=lambda m: 1)
    kept = trim_messages(messages, max_tokens=3, token_counter=lambda m: len(m.content))
    assert len(kept) == 3


@pytest.mark.parametrize("given", [-1, float("nan"), "many", None, True])
def test_a_counter_that_gives_nonsense_is_an_error(given):
    def count(message: BaseMessage) -> int:
        return given

    with pytest.raises(MessageError, match="token counter gave"):
        trim_messages([H("a"), H("b")], max_tokens=3, token_counter=count)


def test_a_counter_of_one_message_is_asked_once_per_visited_message():
    seen = []

    def count(message: BaseMessage) -> int:
        seen.append(message)
        return 1

    history = [H(str(n)) for n in range(1000)]
    assert len(trim_messages(history, max_tokens=20, token_counter=count)) == 20
    assert len(seen) == 21


def test_a_counter_of_lists_is_asked_a_few_times():
    calls = []

    def count(messages: list) -> int:
        calls.append(len(messages))
        return len(messages)

    history = [H(str(n)) for n in range(100_000)]
    assert len(trim_messages(history, max_tokens=50, token_counter=count)) == 50
    assert len(calls) <= 14
    assert max(calls) < 130


BINARY = [
    lambda data: {"type": "image", "base64": data, "mime_type": "image/png"},
    lambda data: {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}},
    lambda data: {"type": "input_image", "image_url": f"data:image/png;base64,{data}"},
    lambda data: {"type": "file", "base64": data, "mime_type": "application/pdf"},
    lambda data: {"type": "file", "file": {"file_data": f"data:application/pdf;base64,{data}"}},
    lambda data: {"type": "input_audio", "input_audio": {"data": data, "format": "wav"}},
    lambda data: {"type": "document", "source": {"type": "base64", "data": data}},
    lambda data: {"type": "tool_result", "content": [{"type": "image", "source": {"data": data}}]},
    lambda data: {"inlineData": {"data": data, "mimeType": "image/png"}},
]


@pytest.mark.parametrize("block", BINARY)
def test_payloads_cost_by_kind_and_never_by_length(block):  # B70
    small, large = (base64.b64encode(b"x" * n).decode() for n in (3_000, 300_000))
    costs = [count_tokens_approximately([H([block(data)])]) for data in (small, large)]
    assert costs[0] == costs[1]
    assert costs[0] < 300


def test_filtering_one_call_out_of_several():  # B72
    calls = [{"name": "f", "args": {}, "id": i} for i in "ab"]
    reply = AIMessage(
        [{"type": "text", "text": "x"}, {"type": "tool_use", "id": "a", "name": "f", "input": {}}],
        tool_calls=calls,
    )
    before = repr(reply)
    kept = filter_messages([reply, t("a"), t("b")], exclude_tool_calls=["a"])
    assert shape(kept) == ["A", "Tb"]
    assert kept[0].content == [{"type": "text", "text": "x"}]
    assert [call["id"] for call in kept[0].tool_calls] == ["b"]
    assert filter_messages([ai("a"), t("a")], exclude_tool_calls=["a"]) == []
    assert repr(reply) == before


@pytest.mark.parametrize(
    ("history", "repaired", "codes"),
    [
        ([H("q"), ai("a", "b"), t("a"), H("go")], "H A Ta Tb H", ["unanswered_call"]),
        ([t("x"), H("q")], "H", ["orphan_result"]),
        ([ai("a"), H("q"), t("a")], "A Ta H", ["late_result"]),
        ([ai("a"), t("a"), t("a")], "A Ta", ["duplicate_result"]),
        ([ai("call_abc"), t("call_xyz")], "A Tcall_abc", ["mismatched_result"]),
        ([ai("a"), t("a"), H("q"), ai("a"), t("a")], "A Ta H A Ta", []),  # B45: ids used again
        ([t("a"), ai("a"), H("q")], "A Ta H", ["late_result"]),
        ([H("q"), RemoveMessage(id="1")], "H", ["remove_message"]),
        ([], "", []),
        ([S("s")], "S", []),
    ],
)
@pytest.mark.parametrize("target", ["openai", "anthropic", "gemini", None])
def test_broken_histories_are_mended(history, repaired, codes, target):  # B73
    repair = repair_messages(history, target)
    assert " ".join(shape(repair.messages)) == repaired
    assert [change.code for change in repair.changes] == codes
    assert validate_messages(repair.messages, target) == []


def test_a_pending_call_is_left_alone_until_it_is_to_be_sent():  # B73
    history = [H("q"), ai("a", "b"), t("a")]
    assert repair_messages(history).changes == []
    sent = repair_messages(history, "openai")
    assert shape(sent.messages) == ["H", "A", "Ta", "Tb"]
    assert sent.messages[-1].status == "error"
    assert sent.changes[0].lossy is False


def test_a_result_is_paired_by_name_when_one_call_has_it():
    calls = [{"name": n, "args": {}, "id": i} for n, i in (("f", "a"), ("g", "b"))]
    repair = repair_messages([AIMessage("", tool_calls=calls), t("??", name="g"), t("a")])
    assert shape(repair.messages) == ["A", "Tb", "Ta"]
    assert not any(change.lossy for change in repair.changes)


def test_an_answered_invalid_call_is_no_orphan():
    broken = {"name": "f", "args": "{", "id": "a", "error": "e", "type": "invalid_tool_call"}
    history = [H("q"), AIMessage("", invalid_tool_calls=[broken]), t("a"), AIMessage("x")]
    assert validate_messages(history, "openai") == []


def test_media_that_a_provider_does_not_take_is_named():
    film = H([{"type": "text", "text": "see"}, {"type": "video", "url": "https://e.org/a.mp4"}])
    issue = validate_messages([film], "anthropic")[0]
    assert (issue.code, issue.lossy) == ("unsupported_media", True)
    mended = repair_messages([film], "anthropic").messages[0]
    assert mended.content == [{"type": "text", "text": "see"}, {"type": "text", "text": "[video]"}]
    assert validate_messages([film], "gemini") == []


def test_an_unknown_target_is_named_with_the_known_ones():
    with pytest.raises(MessageError, match=r"no target named 'opnai'.*openai"):
        validate_messages([], "opnai")


def test_runs_merge_without_touching_what_they_are_made_of():  # B75
    history = [
        AIMessage("x", id="1", response_metadata={"model_name": "m"}),
        AIMessage("y", tool_calls=[{"name": "f", "args": {}, "id": "c"}]),
        t("c"),
        t("d"),
        H("a"),
        H([{"type": "image", "url": "u"}]),
    ]
    before = repr(history)
    merged = merge_message_runs(history)
    assert shape(merged) == ["A", "Tc", "Td", "H"]
    assert merged[0].content == "x\ny"
    assert merged[0].id == "1"
    assert merged[0].response_metadata == {"model_name": "m"}
    assert merged[0].tool_calls[0]["id"] == "c"
    assert merged[3].content == ["a", {"type": "image", "url": "u"}]
    assert repr(history) == before


def test_state_replaces_removes_and_gives_ids_without_surprise():  # B78
    stale = [H("old", id="1"), AIMessage("older", id="1")]
    assert add_messages(stale, AIMessage("new", id="1")) == [AIMessage("new", id="1")]
    assert add_messages([H("a", id="1")], [RemoveMessage("1"), RemoveMessage("1")]) == []
    with pytest.raises(ValueError, match="doesn't exist \\('zz'\\)"):
        add_messages([H("a", id="1")], RemoveMessage("zz"))
    again = add_messages(
        [H("a", id="1"), H("b", id="2")], [RemoveMessage("1"), AIMessage("c", id="1")]
    )
    assert again == [AIMessage("c", id="1"), H("b", id="2")]
    mine = H("no id")
    assert add_messages([], [mine])[0].id
    assert mine.id is None
    everything = RemoveMessage("__remove_all__")
    assert add_messages([H("a", id="1")], [H("b"), everything, H("c", id="3")]) == [H("c", id="3")]
