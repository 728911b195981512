"""Models that are chosen when they are called."""

import asyncio
import warnings
from typing import Any

import pytest

from dragoman.chat_models import ChatOpenAI, init_chat_model
from dragoman.messages import AIMessage
from dragoman.testing import Reply, ScriptedServer

TOOL = {
    "type": "function",
    "function": {
        "name": "foo",
        "description": "foo",
        "parameters": {"type": "object", "properties": {}},
    },
}


@pytest.fixture
def base(
    server: ScriptedServer, hello: AIMessage, monkeypatch: pytest.MonkeyPatch
) -> dict[str, Any]:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-0123456789")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-0123456789")
    server._handler = lambda request: Reply.message(
        hello,
        api="anthropic" if "messages" in request.path else "openai_chat",
        stream=b'"stream":true' in request.body,
    )
    return {"base_url": server.url}


def body(server: ScriptedServer) -> dict[str, Any]:
    return server.requests[-1].json


def test_the_model_is_chosen_by_the_config(server: ScriptedServer, base: dict, colour: Any) -> None:
    model = init_chat_model(**base)
    for name, path in [("gpt-4o", "/chat/completions"), ("claude-sonnet-4-5", "/v1/messages")]:
        config = {"configurable": {"model": name}}
        assert colour.invoke(model, "hi", config).text == "Hello there, dear world"
        assert server.requests[-1].path == path
        assert body(server)["model"] == name
        chunks = colour.stream(model, "hi", config)
        assert sum(chunks[1:], chunks[0]).text == "Hello there, dear world"


def test_without_a_choice_it_says_what_is_missing(base: dict) -> None:
    with pytest.raises(TypeError, match="no model was chosen"):
        init_chat_model(**base).invoke("hi")


def test_a_choice_that_is_no_name_is_refused(base: dict) -> None:
    model = init_chat_model(**base)
    with pytest.raises(TypeError, match="`model` must be a string"):
        model.invoke("Hi", {"configurable": {"model": 5}})


def test_attributes_before_and_after_a_model_is_known(base: dict) -> None:
    model = init_chat_model(**base)
    for name in ("get_num_tokens", "bogus", "model_dump"):
        with pytest.raises(AttributeError, match=f"{name} is not a BaseChatModel attribute."):
            getattr(model, name)
    with_tools = model.bind_tools([TOOL])
    with pytest.raises(AttributeError):
        _ = with_tools.get_num_tokens
    chosen = with_tools.with_config({"tags": ["foo"], "configurable": {"model": "gpt-4o"}})
    assert chosen.model_name == "gpt-4o"
    dumped = chosen.model_dump()
    assert dumped["config"]["tags"] == ["foo"]
    assert dumped["kwargs"]["tools"][0]["function"]["name"] == "foo"
    default = init_chat_model("gpt-4o", configurable_fields="any", **base)
    assert default.get_num_tokens("hello") > 0
    with pytest.raises(
        AttributeError,
        match="bogus is not a BaseChatModel attribute and is not implemented",
    ):
        _ = default.bogus


def test_what_is_done_before_a_model_is_known_is_done_to_it(
    server: ScriptedServer, base: dict, colour: Any
) -> None:
    model = init_chat_model(**base).bind_tools([TOOL], tool_choice="any").with_config(tags=["t"])
    colour.invoke(model, "hi", {"configurable": {"model": "gpt-4o"}})
    assert body(server)["tools"][0]["function"]["name"] == "foo"
    assert body(server)["tool_choice"] == "required"
    colour.invoke(model, "hi", {"configurable": {"model": "claude-sonnet-4-5"}})
    assert body(server)["tool_choice"] == {"type": "any"}


def test_fields_and_prefix(server: ScriptedServer, base: dict) -> None:
    model = init_chat_model(
        "gpt-4o", configurable_fields=["temperature"], config_prefix="first", **base
    )
    model.invoke(
        "hi",
        {"configurable": {"first_temperature": 0.25, "first_model": "other", "temperature": 2}},
    )
    assert (body(server)["temperature"], body(server)["model"]) == (0.25, "gpt-4o")
    anything = init_chat_model(
        "gpt-4o", configurable_fields="any", config_prefix="bar", temperature=0, **base
    )
    assert anything.temperature == 0
    baked = anything.with_config(
        {"configurable": {"bar_temperature": 0.5, "bar_model": "gpt-4o-mini", "other": 1}}
    )
    assert (baked.temperature, baked.model, baked.config["configurable"]) == (
        0.5,
        "gpt-4o-mini",
        {"other": 1},
    )
    baked.invoke("hi", {"configurable": {"bar_max_tokens": 3}})
    assert (body(server)["temperature"], body(server)["max_completion_tokens"]) == (0.5, 3)


def test_a_prefix_without_fields_is_a_warning(base: dict) -> None:
    with pytest.warns(
        UserWarning, match="config_prefix='x' has been set but no fields are configurable"
    ):
        model = init_chat_model("gpt-4o", config_prefix="x", **base)
    assert type(model) is ChatOpenAI
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        init_chat_model(config_prefix="x")


def test_batches_with_one_config_and_with_several(server: ScriptedServer, base: dict) -> None:
    model = init_chat_model(**base)
    one = {"configurable": {"model": "gpt-4o"}}
    two = {"configurable": {"model": "claude-sonnet-4-5"}}
    assert len(model.batch(["a", "b"], one)) == 2
    assert len(asyncio.run(model.abatch(["a", "b"], [one]))) == 2
    server.requests.clear()
    assert len(model.batch(["a", "b"], [one, two])) == 2
    assert sorted(r.json["model"] for r in server.requests) == ["claude-sonnet-4-5", "gpt-4o"]
    server.requests.clear()
    assert len(asyncio.run(model.abatch(["a", "b"], [two, one]))) == 2
    assert sorted(r.json["model"] for r in server.requests) == ["claude-sonnet-4-5", "gpt-4o"]


def test_it_is_a_step_of_a_chain(base: dict, colour: Any) -> None:
    from dragoman.runnables import RunnableLambda

    chain = (
        RunnableLambda(lambda x: f"Say {x}")
        | init_chat_model(**base)
        | RunnableLambda(lambda m: m.text.upper())
    )
    config = {"configurable": {"model": "gpt-4o"}}
    assert colour.invoke(chain, "hello", config) == "HELLO THERE, DEAR WORLD"
    assert "Hello" in "".join(
        c.text
        for c in colour.stream(RunnableLambda(lambda x: x) | init_chat_model(**base), "a", config)
    )
