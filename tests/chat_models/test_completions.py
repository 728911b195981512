"""The completion model: a prompt in, a `str` out."""

from typing import Any

import pytest

from dragoman.chat_models import OpenAI, local
from dragoman.errors import ModelInvalidRequestError, ModelStreamError
from dragoman.testing import Reply, ScriptedServer

KEY = "sk-0123456789ab"


def whole(*texts: str) -> Reply:
    choices = [{"text": t, "index": i, "finish_reason": "stop"} for i, t in enumerate(texts)]
    return Reply.json(
        {"model": "m", "choices": choices, "usage": {"prompt_tokens": 1, "completion_tokens": 2}}
    )


EVENTS = [
    (None, '{"choices":[{"text":"Pa","index":0,"finish_reason":null}]}'),
    (None, '{"choices":[{"text":"ris","index":0,"finish_reason":null}]}'),
    (None, '{"choices":[{"text":"","index":0,"finish_reason":"stop"}],"model":"m"}'),
    (None, "[DONE]"),
]


@pytest.fixture
def model(server: ScriptedServer) -> OpenAI:
    return OpenAI(
        model="m", api_key=KEY, base_url=f"{server.url}/v1", max_retries=0, temperature=0, best_of=2
    )


def test_text_in_text_out(model: OpenAI, server: ScriptedServer, colour: Any) -> None:
    server.add(whole("Paris"), Reply.events(EVENTS))
    assert colour.invoke(model, "The capital of France is", stop=["."], max_tokens=5) == "Paris"
    assert server.requests[0].path == "/v1/completions"
    assert server.requests[0].json == {
        "model": "m", "prompt": "The capital of France is", "temperature": 0, "max_tokens": 5, "stop": ["."], "best_of": 2,
    }  # fmt: skip
    assert [t for t in colour.stream(model, "x") if t] == ["Pa", "ris"]
    assert server.requests[1].json["stream"] is True


def test_a_batch_is_one_request(model: OpenAI, server: ScriptedServer) -> None:
    server.add(whole("a", "b"))
    assert model.batch(["1", "2"]) == ["a", "b"]
    assert server.requests[0].json["prompt"] == ["1", "2"]
    server.add(whole("a", "b"))
    result = model.generate(["1", "2"])
    assert [g[0].text for g in result.generations] == ["a", "b"]
    assert result.generations[0][0].generation_info["finish_reason"] == "stop"


def test_several_candidates_of_one_prompt(model: OpenAI, server: ScriptedServer) -> None:
    server.add(whole("a", "b", "c", "d"))
    assert [[g.text for g in gs] for gs in model.generate(["1", "2"], n=2).generations] == [
        ["a", "b"],
        ["c", "d"],
    ]


def test_messages_are_taken_too(model: OpenAI, server: ScriptedServer) -> None:
    server.add(whole("x"))
    model.invoke([("user", "hi")])
    assert server.requests[0].json["prompt"] == "Human: hi"


def test_faults(model: OpenAI, server: ScriptedServer, colour: Any) -> None:
    server.add(Reply.json({"error": {"message": "bad"}}, status=400), Reply.events(EVENTS, only=2))
    with pytest.raises(ModelInvalidRequestError, match="bad"):
        colour.invoke(model, "x")
    with pytest.raises(ModelStreamError) as caught:
        colour.stream(model, "x")
    assert caught.value.partial.text == "Paris"


def test_bad_parameters(model: OpenAI) -> None:
    assert KEY not in repr(model) + str(model)
    with pytest.raises(ValueError, match="did you mean `temperature`"):
        OpenAI(model="m", api_key=KEY, temprature=0)
    with pytest.raises(ValueError, match="has no parameter 'zzz'"):
        model.invoke("x", zzz=1)


@pytest.mark.local_model
@pytest.mark.soak
def test_the_bundled_model_completes() -> None:
    server = local.server()
    model = OpenAI(
        model="local", base_url=server.base_url, api_key=server.api_key, max_tokens=6, temperature=0
    )
    text = model.invoke("The capital of France is")
    assert "Paris" in text
    assert "".join(model.stream("The capital of France is")) == text
