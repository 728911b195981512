"""What a tool returned, as the content of a message."""

from dragoman.tools.output import message_content


def test_a_type_that_is_no_text_makes_no_block():
    assert message_content([{"type": ["a"], "v": 1}]) == '[{"type": ["a"], "v": 1}]'
