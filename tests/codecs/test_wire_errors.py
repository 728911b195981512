"""Provider errors: the class by status, the text quoted and masked."""

import pytest

from dragoman.codecs.wire_errors import message_of_error, wire_error
from dragoman.errors import (
    ContextOverflowError,
    ModelAPIError,
    ModelAuthenticationError,
    ModelInvalidRequestError,
    ModelNotFoundError,
    ModelPermissionDeniedError,
    ModelRateLimitError,
    ModelTimeoutError,
)


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, ModelInvalidRequestError), (401, ModelAuthenticationError), (403, ModelPermissionDeniedError),
        (404, ModelNotFoundError), (408, ModelTimeoutError), (413, ModelInvalidRequestError),
        (422, ModelInvalidRequestError), (429, ModelRateLimitError), (500, ModelAPIError), (529, ModelAPIError),
    ],
)  # fmt: skip
def test_the_class_goes_by_the_status(status, kind):
    error = wire_error(status, {"error": {"message": "no"}}, provider="p", request_id="r")
    assert type(error) is kind
    assert (error.status, error.provider, error.request_id) == (status, "p", "r")


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ({"error": {"message": "m", "code": 429, "metadata": {}}}, "m"),
        ({"type": "error", "error": {"type": "overloaded_error", "message": "m"}}, "m"),
        ([{"error": {"message": "m", "status": "UNKNOWN"}}], "m"),
        ({"message": "m"}, "m"),
        ({"detail": "m"}, "m"),
        ({"detail": [{"msg": "m", "loc": []}]}, "m"),
        ({"error": "m"}, "m"),
        ("m", "m"),
        (None, None), ({}, None), ([], None), ({"error": None}, None), (3, None), ({"error": {"message": 3}}, None),
    ],
)  # fmt: skip
def test_the_text_is_found_in_every_spelling(body, text):
    assert message_of_error(body)[0] == text
    assert str(wire_error(500, body))


@pytest.mark.parametrize(
    "text",
    [
        "This model's maximum context length is 128000 tokens.",
        "prompt is too long: 210000 tokens > 200000 maximum",
        "The input token count (1200000) exceeds the maximum number of tokens allowed",
        "the request exceeds the available context size, try increasing it",
    ],
)
def test_an_overflow_is_told_by_its_text(text):
    error = wire_error(400, {"error": {"message": text}})
    assert isinstance(error, ContextOverflowError)
    assert not error.is_retryable


def test_an_error_inside_a_200_gets_its_status_from_its_words():
    assert wire_error(None, {"error": {"type": "overloaded_error", "message": "m"}}).is_retryable
    assert wire_error(None, {"error": {"code": 429, "message": "m"}}).status == 429
    assert wire_error(None, {"error": {"message": "m", "status_code": 400}}).is_retryable is False
    assert wire_error(None, {"error": {"message": "m"}}).is_retryable is True


def test_keys_and_base64_are_masked_and_long_texts_cut():
    key, blob = "sk-" + "a1b2" * 8, "QUJD" * 100
    error = wire_error(401, {"error": {"message": f"bad key {key} and {blob} " + "x y " * 2000}})
    assert key not in str(error)
    assert blob not in str(error)
    assert "bad key" in str(error)
    assert len(str(error)) < 2300
