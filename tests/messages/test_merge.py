"""Addition of content, metadata and usage."""

import pytest

from dragoman.errors import MergeError
from dragoman.messages import (
    AIMessageChunk,
    ChatMessageChunk,
    FunctionMessageChunk,
    HumanMessageChunk,
    ToolMessageChunk,
    add_usage,
    merge_content,
    subtract_usage,
)

T = {"type": "text", "text": "a"}


@pytest.mark.parametrize(
    ("pieces", "whole"),
    [
        (["a", "b"], "ab"),
        ([None, "b"], "b"),
        (["", [T]], [T]),
        (["a", []], "a"),
        ([[], "a"], "a"),
        (["", ""], ""),
        ([[], ""], []),
        (["x", [T]], [{"type": "text", "text": "xa"}]),
        ([[T], "b"], [{"type": "text", "text": "ab"}]),
        (
            [[{"type": "image", "url": "u"}], "b"],
            [{"type": "image", "url": "u"}, {"type": "text", "text": "b"}],
        ),
        ([["p"], "q"], ["pq"]),
        (
            [
                [{"type": "text", "text": "a", "index": 0}],
                [{"type": "text", "text": "b", "index": 0}],
            ],
            [{"type": "text", "text": "ab", "index": 0}],
        ),
        (  # B13: one index, two types
            [
                [{"type": "reasoning", "reasoning": "think", "index": 0}],
                [{"type": "text", "text": "answer", "index": 0}],
            ],
            [
                {"type": "reasoning", "reasoning": "think", "index": 0},
                {"type": "text", "text": "answer", "index": 0},
            ],
        ),
        (  # B19: three blocks, each with its own signature
            [
                [{"type": "thinking", "thinking": "al", "index": 0}],
                [{"type": "thinking", "thinking": "pha", "index": 0}],
                [{"type": "thinking", "signature": "S1", "index": 0}],
                [{"type": "redacted_thinking", "data": "R", "index": 1}],
                [{"type": "thinking", "thinking": "beta", "index": 2}],
                [{"type": "thinking", "signature": "S2", "index": 2}],
            ],
            [
                {"type": "thinking", "thinking": "alpha", "index": 0, "signature": "S1"},
                {"type": "redacted_thinking", "data": "R", "index": 1},
                {"type": "thinking", "thinking": "beta", "index": 2, "signature": "S2"},
            ],
        ),
        (
            ["a", [{"type": "image", "url": "u"}], "b", "c"],
            [T, {"type": "image", "url": "u"}, {"type": "text", "text": "bc"}],
        ),
    ],
)
def test_content_joins_like_this_and_no_piece_changes(pieces, whole):
    before = repr(pieces)
    assert merge_content(*pieces) == whole
    assert repr(pieces) == before


def test_scalars_of_metadata_are_the_last_that_is_not_none():  # B15
    meta = {
        "finish_reason": "stop",
        "model_name": "m",
        "system_fingerprint": "f",
        "service_tier": "t",
    }
    twice = AIMessageChunk("", response_metadata=meta) + AIMessageChunk("", response_metadata=meta)
    assert twice.response_metadata == meta
    mixed = (
        AIMessageChunk("", response_metadata={"finish_reason": "tool_calls", "n": 1})
        + AIMessageChunk("", response_metadata={"finish_reason": "stop", "n": 2})
        + AIMessageChunk("", response_metadata={"finish_reason": None})
    )
    assert mixed.response_metadata == {"finish_reason": "stop", "n": 2}


def test_reasoning_text_and_lists_accumulate():
    total = AIMessageChunk(
        "",
        additional_kwargs={"reasoning_content": "a"},
        response_metadata={"logprobs": {"content": [1]}},
    ) + AIMessageChunk(
        "",
        additional_kwargs={"reasoning_content": "b"},
        response_metadata={"logprobs": {"content": [2]}},
    )
    assert total.additional_kwargs == {"reasoning_content": "ab"}
    assert total.response_metadata == {"logprobs": {"content": [1, 2]}}


@pytest.mark.parametrize(
    ("ids", "kept"),
    [
        (["lc_1", "lc_run-2", "p1", "p2"], "p1"),
        (["lc_run--1", "msg_9", "chatcmpl-1"], "msg_9"),  # B28
        (["lc_1", "lc_run-2", None], "lc_run-2"),
        ([None, "lc_1", "lc_2"], "lc_1"),
        ([None, None], None),
    ],
)
def test_the_id_that_identifies_best_is_kept(ids, kept):
    assert sum(AIMessageChunk("", id=i) for i in ids).id == kept


def test_usage_adds_and_subtracts_key_by_key():
    a = {
        "input_tokens": 5,
        "output_tokens": 0,
        "total_tokens": 5,
        "input_token_details": {"cache_read": 2},
    }
    b = {
        "input_tokens": 0,
        "output_tokens": 3,
        "total_tokens": 3,
        "output_token_details": {"reasoning": 1},
    }
    assert add_usage(a, b) == {
        "input_tokens": 5,
        "output_tokens": 3,
        "total_tokens": 8,
        "input_token_details": {"cache_read": 2},
        "output_token_details": {"reasoning": 1},
    }
    assert add_usage(None, None) == {"input_tokens": 0, "output_tokens": 0, "total_tokens": 0}
    assert add_usage(a, None) == a
    assert subtract_usage(b, a)["input_tokens"] == 0
    total = AIMessageChunk("", usage_metadata=a) + AIMessageChunk("", usage_metadata=b)
    assert total.usage_metadata == add_usage(a, b)


@pytest.mark.parametrize("bad", ["x", 1.5, [1]])
def test_usage_of_the_wrong_kind_is_an_error(bad):
    with pytest.raises(ValueError, match="whole numbers"):
        add_usage({"input_tokens": 1}, {"input_tokens": bad})


@pytest.mark.parametrize(
    ("left", "right", "text"),
    [
        (ChatMessageChunk("a", role="x"), ChatMessageChunk("b", role="y"), "different roles"),
        (
            FunctionMessageChunk("a", name="x"),
            FunctionMessageChunk("b", name="y"),
            "different names",
        ),
        (
            ToolMessageChunk("a", tool_call_id="x"),
            ToolMessageChunk("b", tool_call_id="y"),
            "tool call id",
        ),
    ],
)
def test_chunks_that_are_not_of_one_message_do_not_add(left, right, text):
    with pytest.raises(MergeError, match=text):
        left + right


def test_tool_chunks_merge_artifacts_and_an_error_stays_one():
    total = ToolMessageChunk("a", tool_call_id="x", artifact=[1]) + ToolMessageChunk(
        "b", tool_call_id="x", artifact=[2], status="error"
    )
    assert (total.content, total.artifact, total.status) == ("ab", [1, 2], "error")


def test_the_left_class_type_and_id_stay_and_the_last_name_counts():
    total = HumanMessageChunk("a", id="1", name="n") + HumanMessageChunk("b", id="2", name="m")
    assert (type(total), total.content, total.id, total.name) == (HumanMessageChunk, "ab", "1", "m")
    assert (AIMessageChunk("a") + HumanMessageChunk("b")).content == "ab"
