"""Trimming: what is kept of whom, other counters and splitters, and what is refused."""

import pytest

from dragoman.errors import MessageError
from dragoman.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from dragoman.transcript import add_messages, count_tokens_approximately, trim_messages

CALL = {"name": "f", "args": {}, "id": "c", "type": "tool_call"}
HISTORY = [
    SystemMessage("s"),
    HumanMessage("one"),
    AIMessage("", tool_calls=[CALL]),
    ToolMessage("r", tool_call_id="c"),
    AIMessage("two"),
    HumanMessage("three"),
]


def kept(max_tokens, **options):
    options = {"token_counter": len} | options
    result = trim_messages(HISTORY, max_tokens=max_tokens, **options)
    return [HISTORY.index(message) for message in result]


@pytest.mark.parametrize(
    ("max_tokens", "options", "expected"),
    [
        (9, {}, [0, 1, 2, 3, 4, 5]),
        (2, {}, [4, 5]),
        (4, {}, [2, 3, 4, 5]),
        (3, {}, [4, 5]),  # a call without its result is not kept
        (3, {"include_system": True}, [0, 4, 5]),
        (4, {"start_on": "human"}, [5]),
        (4, {"start_on": [HumanMessage, "system"]}, [5]),
        (6, {"end_on": "ai", "keep_last_human": False}, [0, 1, 2, 3, 4]),
        (4, {"strategy": "first"}, [0, 1, 2, 3]),
        (3, {"strategy": "first"}, [0, 1]),
        (5, {"strategy": "first", "end_on": HumanMessage}, [0, 1]),
    ],
)
def test_which_messages_are_kept(max_tokens, options, expected):
    assert kept(max_tokens, **options) == expected


def test_dicts_are_made_messages_as_they_are_looked_at():
    history = [{"role": "user", "content": "a"}, ("ai", "b"), "c"]
    assert trim_messages(history, max_tokens=2, token_counter=len) == [
        AIMessage("b"),
        HumanMessage("c"),
    ]
    assert trim_messages("c", max_tokens=2, token_counter=len) == [HumanMessage("c")]
    assert trim_messages([], max_tokens=2, token_counter=len) == []


@pytest.mark.parametrize("strategy", ["first", "last"])
def test_what_is_no_message_behind_the_cut_is_not_looked_at(strategy):
    def one(message: BaseMessage) -> int:
        return 1

    kept = [HumanMessage("a"), AIMessage("b")]
    nonsense = [object()] * 3
    history = [*kept, ("human", "c"), *nonsense]
    if strategy == "last":
        history = [*kept, *nonsense, ("human", "c"), *kept]

    assert trim_messages(history, max_tokens=2, token_counter=one, strategy=strategy) == kept


@pytest.mark.parametrize("strategy", ["first", "last"])
@pytest.mark.parametrize("n", [63, 64, 65, 200])
def test_long_histories_of_any_kinds_are_cut_at_the_same_place(n, strategy):
    def one(message: BaseMessage) -> int:
        return 1

    plain = [HumanMessage(str(i)) for i in range(300)]
    mixed = [("human", str(i)) if i % 70 == 3 else plain[i] for i in range(300)]
    expected = plain[:n] if strategy == "first" else plain[-n:]

    for history in (plain, mixed):
        options = {"max_tokens": n, "token_counter": one, "strategy": strategy}
        assert trim_messages(history, **options) == expected


def letters(messages):
    return sum(len(message.text) for message in messages)


class Words:
    def split_text(self, text):
        return [piece + " " for piece in text.split()]


@pytest.mark.parametrize(
    ("splitter", "strategy", "expected"),
    [
        (None, "last", "cc dd"),
        (Words(), "last", "cc dd "),
        (lambda text: list(text), "last", "\ncc dd"),
        (None, "first", "aa bb\n"),
    ],
)
def test_part_of_a_message_may_be_kept(splitter, strategy, expected):
    (part,) = trim_messages(
        [HumanMessage("aa bb\ncc dd")], max_tokens=6, token_counter=letters, strategy=strategy,
        allow_partial=True, text_splitter=splitter,
    )  # fmt: skip
    assert part.content == expected


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"strategy": "middle"}, "Unrecognized strategy='middle'"),
        ({"strategy": "first", "start_on": "human"}, "start_on parameter is only valid"),
        ({"strategy": "first", "include_system": True}, "include_system parameter is only valid"),
        ({"max_tokens": "5"}, "max_tokens has to be a number"),
        ({"max_tokens": True}, "max_tokens has to be a number"),
        ({"start_on": 5}, "start_on takes type words and message classes"),
        ({"end_on": ["ai", None]}, "end_on takes type words and message classes"),
        ({"text_splitter": 5}, "text_splitter has to be a function"),
    ],
)
def test_what_cannot_be_asked_is_refused(options, text):
    with pytest.raises(MessageError, match=text):
        trim_messages(HISTORY, **{"max_tokens": 5, "token_counter": len} | options)


def test_tools_count_and_a_reported_usage_scales():
    def search(query: str) -> str:
        """Search."""
        return query

    plain = count_tokens_approximately(HISTORY)
    schema = {"name": "search", "description": "Search.", "parameters": {}}
    for tool in (search, schema):
        assert count_tokens_approximately(HISTORY, tools=[tool]) > plain
    usage = {"input_tokens": 1000, "output_tokens": 1, "total_tokens": 1001}
    metadata = {"model_provider": "openai"}
    told = [
        HumanMessage("a" * 400),
        AIMessage("b", usage_metadata=usage, response_metadata=metadata),
    ]
    base = count_tokens_approximately(told)
    scaled = count_tokens_approximately(told, use_usage_metadata_scaling=True)
    assert base < scaled <= base * 1.25 + 1  # never more than a quarter on top
    told.append(AIMessage("c", response_metadata={"model_provider": "other"}))
    assert count_tokens_approximately(
        told, use_usage_metadata_scaling=True
    ) == count_tokens_approximately(told)


def test_adding_in_openai_s_form_and_by_parts():
    plus = add_messages(format="langchain-openai")
    image = {"type": "image", "base64": "aGk=", "mime_type": "image/png"}
    (message,) = plus([], [HumanMessage([image], id="1")])
    assert message.id == "1"
    assert message.content[0]["type"] == "image_url"
    for wrong, text in (
        ({"format": "xml"}, "Unrecognized format='xml'"),
        ({"left": []}, "Must specify non-null arguments"),
        ({"right": []}, "Must specify non-null arguments"),
    ):
        with pytest.raises(MessageError, match=text):
            add_messages(**wrong)


@pytest.mark.parametrize(
    ("word", "meant"),
    [("humn", "human"), ("user", "human"), ("assistant", "ai"), ("tools", "tool")],
)
@pytest.mark.parametrize("option", ["start_on", "end_on"])
def test_a_word_that_is_nearly_a_type_is_refused_and_not_an_empty_history(option, word, meant):
    with pytest.raises(ValueError, match=f"{option}='{word}'.*did you mean '{meant}'"):
        trim_messages([HumanMessage("a")], max_tokens=9, token_counter=len, **{option: word})
