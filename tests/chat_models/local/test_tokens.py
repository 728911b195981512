import pytest
from tests.chat_models.local.test_servers import client

from dragoman.chat_models import local
from dragoman.chat_models.local import tokens
from dragoman.errors import ModelConnectionError, ModelInvalidRequestError

pytestmark = pytest.mark.local_model


@pytest.mark.parametrize(("text", "expected"), [("", 0), ("hello world", 2), ("你好", 4)])
def test_text_is_counted_exactly(text, expected):
    assert local.count_tokens(text) == expected


@pytest.mark.soak
def test_a_prompt_counts_as_the_usage_of_its_reply():
    body = {
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "hi"}],
        "tools": [
            {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}
        ],
        "max_tokens": 1,
    }
    with client(local.server()) as http:
        usage = http.post("/chat/completions", json=body).json()["usage"]
    assert local.count_prompt_tokens(body) == usage["prompt_tokens"]


def test_a_prompt_the_server_cannot_read_is_our_error():
    with pytest.raises(ModelInvalidRequestError, match="cannot count the tokens of this"):
        local.count_prompt_tokens({"messages": "hi"})


def test_a_server_that_is_gone_is_our_error(monkeypatch):
    gone = local.LocalServer(base_url="http://127.0.0.1:9/v1", api_key="k", model="m", path="p")
    monkeypatch.setattr(tokens, "server", lambda path: gone)
    with pytest.raises(ModelConnectionError, match="ConnectionRefusedError; try again") as caught:
        local.count_tokens("hi")
    assert caught.value.is_retryable
