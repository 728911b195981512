"""Nothing of ours, and no secret, stands in an error text."""

import pytest

from dragoman.chat_models.exchange.redact import clean, page_text, safe_url

KEYS = [
    "sk-proj-abcDEF0123456789_xyz", "sk-ant-api03-AAAAbbbb1111", "gsk_1234567890abcdefghij",
    "xai-1234567890abcdef", "AIzaSyA1234567890abcdefghijklmnopqrstu", "AKIAIOSFODNN7EXAMPLE",
    "hf_abcdefghijklmnop", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl",
    "sk-abcd****************wxyz",
]  # fmt: skip


@pytest.mark.parametrize("key", KEYS)
def test_keys_are_masked_wherever_they_stand(key: str) -> None:
    for text in (f"Incorrect API key provided: {key}.", f'{{"key":"{key}"}}', f"({key})", key):
        assert key not in clean(text)
        assert "***" in clean(text)


def test_the_model_s_own_key_is_masked_whatever_it_looks_like() -> None:
    assert clean("bad token hunter22 here", ["hunter22"]) == "bad token *** here"
    assert clean("an abc", ["abc"]) == "an abc"  # too short to be a key


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("Authorization: Bearer abcdefgh12345", "abcdefgh12345"),
        ("GET https://x.org/v1?key=qwertyuiop12", "qwertyuiop12"),
        ("https://user:passw0rd@x.org/", "passw0rd"),
        ("data " + "QUJD" * 50, "QUJD" * 50),
    ],
)
def test_other_secrets_and_data(text: str, hidden: str) -> None:
    assert hidden not in clean(text)


def test_ordinary_words_stay() -> None:
    text = "The model `gpt-4o-mini` does not exist or you do not have access to it: sk-learn, task-force."
    assert clean(text) == text


def test_a_quote_has_at_most_2000_characters() -> None:
    assert len(clean("word " * 100_000)) == 2000
    assert clean("word " * 400) == "word " * 400


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ("plain", "plain"),
        (
            "<html><head><title>504 Gateway</title></head><body><h1>504  Gateway</h1></body></html>",
            "504 Gateway",
        ),
        ("<!DOCTYPE html><body><script>var a=1</script>Sorry &amp; bye</body>", "Sorry &amp; bye"),
        ("", ""),
    ],
)
def test_pages_are_read_as_a_person_would(page: str, expected: str) -> None:
    assert page_text(page) == expected


def test_addresses_lose_their_secrets() -> None:
    assert safe_url("https://u:p@h.org:8/v1/x?key=1#f") == "https://h.org:8/v1/x"
