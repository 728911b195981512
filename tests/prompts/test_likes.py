"""What a chat prompt's list may hold, and how the rest is refused."""

import pytest

from dragoman.prompts import ChatPromptTemplate, MessagesPlaceholder


@pytest.mark.parametrize("role", ["human", "user", "ai", "assistant", "system"])
def test_roles(role):
    assert ChatPromptTemplate([(role, "{a}")]).input_variables == ["a"]


@pytest.mark.parametrize(
    ("item", "error", "text"),
    [
        (
            ("meow", "x"),
            ValueError,
            "Unexpected message type: meow. Use one of 'human', 'user', 'ai'",
        ),
        (("a", "b", "c"), ValueError, "Expected 2-tuple of \\(role, template\\), got"),
        ({"a": 1}, ValueError, "Expected dict to have exact keys 'role' and 'content'"),
        ({"role": "user", "content": "x", "y": 1}, ValueError, "exact keys 'role' and 'content'"),
        (1, NotImplementedError, "Unsupported message type"),
        ((1, "x"), NotImplementedError, "Unsupported message type"),
        (("human", False), ValueError, "Invalid template: False"),
        (("human", [1]), ValueError, "Invalid template: 1"),
        (("placeholder", "h"), ValueError, "Invalid placeholder template"),
        (("placeholder", "{}"), ValueError, "Invalid placeholder template"),
        (("placeholder", ["{h}"]), ValueError, "Unexpected arguments for placeholder message type"),
        (("placeholder", 3), ValueError, "Unexpected arguments for placeholder message type"),
        (("placeholder", ["{h}", 1]), ValueError, "Expected is_optional to be a boolean"),
        (("placeholder", [1, True]), ValueError, "Expected variable name to be a string"),
    ],
)
def test_other_items_are_refused(item, error, text):
    with pytest.raises(error, match=text):
        ChatPromptTemplate([item])


@pytest.mark.parametrize(
    ("template", "optional"), [("{h}", True), (["{h}", True], True), (["{h}", False], False)]
)
def test_placeholders(template, optional):
    prompt = ChatPromptTemplate([("placeholder", template)])

    assert prompt.messages == [MessagesPlaceholder("h", optional=optional)]
    assert prompt.input_variables == ([] if optional else ["h"])
