"""Laws of the history verbs, over generated histories: valid, damaged, hostile."""

import copy
from itertools import pairwise

from hypothesis import assume, given
from hypothesis import strategies as st

from dragoman.errors import TranscriptError
from dragoman.messages import AIMessage, HumanMessage, ToolMessage
from dragoman.testing.strategies import damaged_histories, histories
from dragoman.transcript import (
    add_messages,
    count_tokens_approximately,
    filter_messages,
    merge_message_runs,
    repair_messages,
    trim_messages,
    validate_messages,
)

TARGETS = st.sampled_from(
    [None, "openai", "anthropic", "gemini", "bedrock_converse", "mistral", "deepseek", "ollama"]
)


def _ids(messages):
    return [id(message) for message in messages]


def _split(kept, whole):
    """Return the ids of calls of which call and result were parted."""
    results = {m.tool_call_id for m in whole if isinstance(m, ToolMessage)}
    calls = {c["id"] for m in kept if isinstance(m, AIMessage) for c in m.tool_calls}
    answered = {m.tool_call_id for m in kept if isinstance(m, ToolMessage)}
    return (answered - calls) | ((calls & results) - answered)


@given(
    histories(ends_open=True),
    st.integers(0, 14),
    st.sampled_from(["first", "last"]),
    st.booleans(),
    st.sampled_from([None, "human"]),
)
def test_trimming_keeps_a_subsequence_in_budget_with_whole_units(
    messages, budget, strategy, system, start
):
    options = {"max_tokens": budget, "token_counter": len, "strategy": strategy}
    if strategy == "last":
        options |= {"include_system": system, "start_on": start}
    try:
        kept = trim_messages(messages, **options)
    except TranscriptError:
        assume(False)
    positions = [_ids(messages).index(i) for i in _ids(kept)]
    assert positions == sorted(positions)
    assert len(kept) <= budget
    assert not _split(kept, messages)
    assert any(isinstance(m, HumanMessage) for m in kept)
    assert trim_messages(kept, **options) == kept


@given(damaged_histories(), st.integers(40, 300), st.sampled_from(["first", "last"]))
def test_trimming_damaged_histories_stays_in_budget(messages, budget, strategy):
    before = copy.deepcopy(messages)
    try:
        kept = trim_messages(
            messages, max_tokens=budget, token_counter="approximate", strategy=strategy
        )
    except TranscriptError:
        kept = []
    assert count_tokens_approximately(kept) <= budget
    assert messages == before


@given(damaged_histories(), TARGETS)
def test_a_repaired_history_is_clean_and_stays_as_it_is(messages, target):
    before = copy.deepcopy(messages)
    repaired = repair_messages(messages, target)
    assert validate_messages(repaired.messages, target) == []
    again = repair_messages(repaired.messages, target)
    assert _ids(again.messages) == _ids(repaired.messages)
    assert again.changes == []
    assert messages == before


@given(damaged_histories(), TARGETS)
def test_repair_loses_no_human_text_and_marks_every_loss(messages, target):
    repaired = repair_messages(messages, target)
    humans = [m for m in messages if isinstance(m, HumanMessage)]
    assert [m for m in repaired.messages if isinstance(m, HumanMessage)] == humans
    results = [m.content for m in messages if isinstance(m, ToolMessage)]
    kept = [m.content for m in repaired.messages if isinstance(m, ToolMessage)]
    lost = len(results) - sum(1 for content in results if content in kept)
    if lost:
        assert any(change.lossy for change in repaired.changes)


@given(histories(), TARGETS)
def test_a_valid_history_comes_back_as_the_same_objects(messages, target):
    assert validate_messages(messages, target) == []
    repaired = repair_messages(messages, target)
    assert _ids(repaired.messages) == _ids(messages)
    assert repaired.changes == []


@given(damaged_histories())
def test_every_issue_has_a_change_and_names_a_message(messages):
    issues, changes = (
        validate_messages(messages, "openai"),
        repair_messages(messages, "openai").changes,
    )
    assert [(f"$[{i.index}]", i.code) for i in issues] == [(c.path, c.code) for c in changes]
    assert all(0 <= issue.index < len(messages) for issue in issues)


@given(
    histories(),
    st.lists(
        st.sampled_from(["human", "ai", "tool", "system"]), min_size=1, max_size=2, unique=True
    ),
    st.booleans(),
)
def test_filtering_splits_no_unit_and_changes_nothing(messages, types, include):
    before = copy.deepcopy(messages)
    kept = filter_messages(messages, **{"include_types" if include else "exclude_types": types})
    assert not _split(kept, messages)
    assert messages == before


@given(histories(), st.sampled_from(["\n", " ", ""]))
def test_merging_runs_leaves_no_neighbours_of_one_class(messages, separator):
    before = copy.deepcopy(messages)
    merged = merge_message_runs(messages, chunk_separator=separator)
    pairs = pairwise(merged)
    assert not any(type(a) is type(b) and not isinstance(a, ToolMessage) for a, b in pairs)
    assert [c["id"] for m in merged if isinstance(m, AIMessage) for c in m.tool_calls] == [
        c["id"] for m in messages if isinstance(m, AIMessage) for c in m.tool_calls
    ]
    assert messages == before


@given(histories(), histories())
def test_adding_messages_keeps_all_with_ids_and_changes_neither_side(left, right):
    before = copy.deepcopy((left, right))
    state = add_messages(left, right)
    assert len(state) == len(left) + len(right)
    assert all(message.id for message in state)
    assert len({message.id for message in state}) == len(state)
    assert (left, right) == before
    assert add_messages(state, state) == state
