"""Verbs on odd histories: nothing is lost in silence, nothing crashes."""

import copy

import pytest

from dragoman.errors import DragomanError, MessageError
from dragoman.messages import (
    AIMessage,
    AIMessageChunk,
    ChatMessage,
    FunctionMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
    convert_to_messages,
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


@pytest.mark.parametrize(
    "run",
    [
        [ChatMessage("a", role="x"), ChatMessage("b", role="y")],
        [FunctionMessage("a", name="x"), FunctionMessage("b", name="y")],
        [ToolMessage("a", tool_call_id="1"), ToolMessage("b", tool_call_id="2")],
        [RemoveMessage("1"), RemoveMessage("2")],
    ],
)
def test_messages_that_would_lose_something_are_not_merged(run):
    merged = merge_message_runs(run)
    assert [id(m) for m in merged] == [id(m) for m in run]


def test_chat_and_function_messages_of_one_kind_merge():
    chats = [ChatMessage("a", role="x"), ChatMessage("b", role="x")]
    assert merge_message_runs(chats) == [ChatMessage("a\nb", role="x")]
    results = [FunctionMessage("a", name="f"), FunctionMessage("b", name="f")]
    assert merge_message_runs(results) == [FunctionMessage("a\nb", name="f")]


def test_a_merged_message_bears_a_name_only_if_all_agree():
    assert (
        merge_message_runs([HumanMessage("a", name="n"), HumanMessage("b", name="n")])[0].name
        == "n"
    )
    assert (
        merge_message_runs([HumanMessage("a", name="n"), HumanMessage("b", name="m")])[0].name
        is None
    )


def test_keys_of_dicts_that_belong_to_other_roles_are_kept():
    human = convert_to_messages([{"role": "user", "content": "x", "tool_call_id": "5"}])[0]
    assert human.tool_call_id == "5"
    system = convert_to_messages([{"role": "system", "content": "x", "example": True}])[0]
    assert system.additional_kwargs == {"example": True}


def test_none_as_content_of_a_pair_is_an_error():
    with pytest.raises(MessageError, match=r"\$\[0\]\[1\]"):
        convert_to_messages([("user", None)])


@pytest.mark.parametrize(("strategy", "piece"), [("last", "o"), ("first", "o")])
def test_a_partial_message_of_blocks_keeps_the_end_that_is_kept(strategy, piece):
    blocks = [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]
    history = [HumanMessage(blocks), AIMessage("zz")]
    if strategy == "first":
        history.reverse()
        history = [AIMessage("zz"), HumanMessage(blocks)]
    kept = trim_messages(
        history,
        max_tokens=3,
        token_counter=lambda messages: sum(len(m.text) for m in messages),
        strategy=strategy,
        allow_partial=True,
        text_splitter=list,
    )
    human = next(m for m in kept if isinstance(m, HumanMessage))
    assert human.content == piece


def _hostile():
    call = {"name": "f", "args": {"a": 1}, "id": "c", "type": "tool_call"}
    fragment = {"name": "f", "args": '{"a', "id": "q", "index": 0, "type": "tool_call_chunk"}
    result = ToolMessage("r", tool_call_id="c")
    return {
        "nothing": [],
        "system only": [SystemMessage("s")],
        "two systems": [SystemMessage("s"), SystemMessage("t", id="1")],
        "result first": [result, HumanMessage("h"), AIMessage("", tool_calls=[call])],
        "only results": [result, result],
        "same object twice": [HumanMessage("h", id="1")] * 3,
        "legacy": [
            HumanMessage("h"),
            AIMessage("", additional_kwargs={"function_call": {"name": "f", "arguments": "{"}}),
            FunctionMessage("r", name="f"),
        ],
        "chat roles": [ChatMessage("x", role="critic"), ChatMessage("y", role="user")],
        "chunks": [
            HumanMessage("h"),
            AIMessageChunk("", tool_call_chunks=[fragment]),
            AIMessageChunk("", tool_call_chunks=[fragment], chunk_position="last"),
        ],
        "removals": [HumanMessage("h"), RemoveMessage("x")],
        "call without id": [
            HumanMessage("h"),
            AIMessage("", tool_calls=[{**call, "id": None}, {**call, "id": ""}]),
            ToolMessage("r", tool_call_id="", name="f"),
        ],
        "one id in one turn twice": [
            HumanMessage("h"),
            AIMessage("", tool_calls=[call, call]),
            result,
            ToolMessage("s", tool_call_id="c"),
        ],
        "one id in two turns": [
            HumanMessage("h"),
            AIMessage("", tool_calls=[call]),
            result,
            AIMessage("", tool_calls=[call]),
            ToolMessage("s", tool_call_id="c"),
        ],
        "invalid calls": [
            HumanMessage("h"),
            AIMessage("", invalid_tool_calls=[{"name": None, "args": None, "id": None}]),
        ],
        "odd blocks": [
            HumanMessage([{}, {"type": None}, {"type": 5}, "", {"text": "t"}, {"type": "image"}]),
            AIMessage([{"type": "tool_use"}, {"type": "tool_call"}, {"type": "text"}]),
        ],
        "odd characters": [HumanMessage("\ud83d\x00"), AIMessage("\udc00", name="\x00")],
        "deep": [HumanMessage([{"type": "x", "value": _deep(3000)}])],
    }


def _deep(levels):
    value = {}
    for _ in range(levels):
        value = {"a": value}
    return value


VERBS = {
    "trim last": lambda m: trim_messages(m, max_tokens=2, token_counter=len, keep_last_human=False),
    "trim approximately": lambda m: trim_messages(
        m, max_tokens=10, token_counter="approximate", keep_last_human=False
    ),
    "trim first": lambda m: trim_messages(
        m, max_tokens=2, token_counter=len, strategy="first", keep_last_human=False
    ),
    "trim partly": lambda m: trim_messages(
        m,
        max_tokens=9,
        token_counter="approximate",
        allow_partial=True,
        include_system=True,
        start_on="human",
        keep_last_human=False,
    ),
    "trim to nothing": lambda m: trim_messages(
        m, max_tokens=0, token_counter=len, keep_last_human=False
    ),
    "trim below nothing": lambda m: trim_messages(
        m, max_tokens=-5, token_counter="approximate", keep_last_human=False
    ),
    "filter": lambda m: filter_messages(m, exclude_tool_calls=True),
    "filter ids": lambda m: filter_messages(m, exclude_tool_calls=["c"]),
    "filter types": lambda m: filter_messages(m, include_types=["human", AIMessage]),
    "merge": merge_message_runs,
    "count": count_tokens_approximately,
    "validate": validate_messages,
    "validate for": lambda m: validate_messages(m, "anthropic"),
    "repair": lambda m: repair_messages(m).messages,
    "repair for": lambda m: repair_messages(m, "openai").messages,
}


@pytest.mark.parametrize("history", _hostile())
@pytest.mark.parametrize("verb", VERBS)
def test_verbs_take_any_history_and_change_none(history, verb):
    messages = _hostile()[history]
    run = VERBS[verb]
    shown = repr(messages) if history != "deep" else None
    listed = list(messages)

    result = run(messages)

    assert [id(m) for m in messages] == [id(m) for m in listed]
    if shown is not None:
        assert repr(messages) == shown
    if isinstance(result, list) and verb != "validate" and verb != "validate for":
        again = run(result)
        assert len(again) == len(result)
        if history != "deep":
            assert again == result


@pytest.mark.parametrize("target", [None, "openai", "anthropic", "gemini", "mistral", "ollama"])
@pytest.mark.parametrize("history", [name for name in _hostile() if name != "deep"])
def test_what_is_repaired_is_clean(history, target):
    messages = _hostile()[history]
    before = copy.deepcopy(messages)
    repaired = repair_messages(messages, target)
    assert validate_messages(repaired.messages, target) == []
    assert repair_messages(repaired.messages, target).changes == []
    assert messages == before


def _raising(_messages):
    raise OSError("the tokenizer is gone")


@pytest.mark.parametrize(
    "counter",
    [
        lambda messages: None,
        lambda messages: "5",
        lambda messages: float("nan"),
        lambda messages: float("inf"),
        lambda messages: -1,
        lambda messages: True,
        lambda: 5,
        5,
        "exact",
        None,
    ],
)
@pytest.mark.parametrize("strategy", ["first", "last"])
def test_a_counter_that_talks_nonsense_is_an_error(counter, strategy):
    history = [HumanMessage("a"), AIMessage("b"), HumanMessage("c")]
    with pytest.raises((DragomanError, TypeError)):
        trim_messages(history, max_tokens=1, token_counter=counter, strategy=strategy)


def test_the_error_of_a_counter_comes_through():
    with pytest.raises(OSError, match="tokenizer"):
        trim_messages([HumanMessage("a"), HumanMessage("b")], max_tokens=1, token_counter=_raising)


def test_a_list_counter_that_is_not_monotone_keeps_the_budget():
    def odd(messages: list) -> int:
        return 1 if len(messages) % 2 else 5

    history = [HumanMessage(str(n)) for n in range(9)]
    for strategy in ("first", "last"):
        kept = trim_messages(history, max_tokens=3, token_counter=odd, strategy=strategy)
        assert odd(kept) <= 3 or kept == []


def test_adding_messages_of_every_kind():
    human = HumanMessage("a")
    state = add_messages(
        [], [human, AIMessageChunk("b"), ("user", "c"), {"role": "ai", "content": "d"}]
    )
    assert [type(m) for m in state] == [HumanMessage, AIMessage, HumanMessage, AIMessage]
    assert human.id is None
    assert len({m.id for m in state}) == 4
    assert add_messages(state, RemoveMessage(state[0].id)) == state[1:]
    twice = add_messages(state, [RemoveMessage(state[0].id), RemoveMessage(state[0].id)])
    assert twice == state[1:]


def test_state_in_openai_form_keeps_texts_texts_and_ids():
    blocks = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    state = add_messages(
        [], [HumanMessage(blocks, id="1"), AIMessage("x", id="2")], format="langchain-openai"
    )
    assert state == [HumanMessage("a\nb", id="1"), AIMessage("x", id="2")]


def test_a_single_word_is_as_good_as_a_list_of_it():
    call = {"name": "f", "args": {}, "id": "c1"}
    history = [
        HumanMessage("a", name="bob", id="10"),
        HumanMessage("b", name="b", id="1"),
        AIMessage("c", tool_calls=[call, {**call, "id": "c"}]),
        ToolMessage("r1", tool_call_id="c1"),
        ToolMessage("r", tool_call_id="c"),
    ]

    assert [m.text for m in filter_messages(history, include_names="bob")] == ["a"]
    assert [m.text for m in filter_messages(history, exclude_names="bob")] == ["b", "c", "r1", "r"]
    assert [m.text for m in filter_messages(history, include_ids="10")] == ["a"]
    assert filter_messages(history, exclude_ids="10")[0].text == "b"
    left = filter_messages(history, exclude_tool_calls="c1")
    assert [c["id"] for c in left[2].tool_calls] == ["c"]
    assert [m.text for m in left[3:]] == ["r"]


@pytest.mark.parametrize("target", [5, b"openai", ["openai"]])
def test_a_target_that_is_no_text_is_an_error_of_ours(target):
    with pytest.raises(MessageError, match="a target is named by a text"):
        validate_messages([], target)
