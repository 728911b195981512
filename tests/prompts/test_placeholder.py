"""`MessagesPlaceholder`."""

import pytest

from dragoman.messages import AIMessage, HumanMessage, SystemMessage
from dragoman.prompts import ChatPromptTemplate, MessagesPlaceholder


def test_b84_all_spellings_of_messages_are_taken():
    value = [{"role": "system", "content": "s"}, ("ai", "x"), "str", HumanMessage("m")]

    assert MessagesPlaceholder("h").format_messages(h=value) == [
        SystemMessage("s"),
        AIMessage("x"),
        HumanMessage("str"),
        HumanMessage("m"),
    ]


@pytest.mark.parametrize("value", ["text", None, 3, {"role": "user", "content": "x"}])
def test_what_is_no_list_is_refused(value):
    with pytest.raises(ValueError, match="variable h should be a list of base messages, got"):
        MessagesPlaceholder("h").format_messages(h=value)
    with pytest.raises(ValueError, match="variable h should be a list of base messages"):
        ChatPromptTemplate([MessagesPlaceholder("h")]).invoke({"h": value})


def test_b84_an_optional_one_may_be_missing_or_none():
    optional = MessagesPlaceholder("h", optional=True)

    assert optional.format_messages() == optional.format_messages(h=None) == []
    assert optional.input_variables == []
    with pytest.raises(ValueError, match="should be a list"):
        optional.format_messages(h="text")
    with pytest.raises(KeyError):
        MessagesPlaceholder("h").format_messages()


def test_the_last_n_messages_are_kept():
    last = MessagesPlaceholder("h", n_messages=2)

    assert last.format_messages(h=["a", "b", "c"]) == [HumanMessage("b"), HumanMessage("c")]
    with pytest.raises(ValueError, match="n_messages"):
        MessagesPlaceholder("h", n_messages=0)


def test_the_list_is_a_new_one_of_the_same_messages():
    history = [HumanMessage("a")]

    result = MessagesPlaceholder("h").format_messages(h=history)

    assert result == history
    assert result is not history
    assert result[0] is history[0]


def test_users_message_classes_pass():
    class Mine(HumanMessage):
        pass

    assert type(MessagesPlaceholder("h").format_messages(h=[Mine("x")])[0]) is Mine


def test_showing():
    assert MessagesPlaceholder("h").pretty_repr().endswith("\n\n{h}")
    assert "\x1b[33;1m" in MessagesPlaceholder("h").pretty_repr(html=True)


@pytest.mark.parametrize("value", [("human", "x"), "x", HumanMessage("x"), {"role": "user"}, 5])
def test_only_a_list_is_a_list_of_messages(value):
    # A tuple would be taken for two human messages, "human" and "x".
    with pytest.raises(ValueError, match="variable h should be a list of base messages, got"):
        MessagesPlaceholder("h").format_messages(h=value)
