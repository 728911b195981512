"""JSON bodies."""

import pytest

from dragoman.chat_models.exchange.body import read_json, write_json
from dragoman.errors import DecodeError, EncodeError


def test_a_lone_surrogate_is_replaced_and_the_input_is_not_changed() -> None:
    body = {"a": ["x\ud83d", "😀"], "b\udc00": 1}
    assert read_json(write_json(body)) == {"a": ["x\ufffd", "😀"], "b\ufffd": 1}
    assert body["a"] == ["x\ud83d", "😀"]


def test_what_json_cannot_carry_is_an_error_without_the_value() -> None:
    with pytest.raises(EncodeError) as caught:
        write_json({"a": object()})
    assert "JSON" in str(caught.value)


def test_bodies_of_servers_that_break_the_rules_are_read() -> None:
    assert read_json(b'{"a":"\xff\\ud83d"}') == {"a": "\ufffd\ufffd"}
    for bad in (b"", b"<html>", b'{"a":'):
        with pytest.raises(DecodeError):
            read_json(bad)
