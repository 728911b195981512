"""What a model sends, and what it makes of its parameters."""

import asyncio
import copy
import pickle
import traceback
from typing import Any

import httpx2
import pytest
from pydantic import SecretStr

from dragoman.chat_models import ChatAnthropic, ChatOllama, ChatOpenAI, init_chat_model
from dragoman.chat_models.parameters import ParameterError
from dragoman.errors import ModelAuthenticationError, ModelError
from dragoman.messages import AIMessage, HumanMessage, SystemMessage
from dragoman.testing import Reply, ScriptedServer, refused_url

KEY = "sk-test-0123456789abcdef"
TOOL = {
    "type": "function",
    "function": {
        "name": "weather",
        "description": "Tell the weather.",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}},
            "required": ["city"],
        },
    },
}


def sent(server: ScriptedServer) -> dict[str, Any]:
    return server.requests[-1].json


@pytest.fixture
def echo(server: ScriptedServer, hello: AIMessage) -> ScriptedServer:
    """A server that always says hello, in the wire of the request."""
    apis = {"/v1/messages": "anthropic", "/api/chat": "ollama", "/v1/responses": "openai_responses"}

    def answer(request: Any) -> Reply:
        path = request.path.partition("?")[0]
        api = apis.get(path) or ("gemini" if "enerateContent" in path else "openai_chat")
        wants_stream = b'"stream":true' in request.body or "streamGenerate" in path
        return Reply.message(hello, api=api, stream=wants_stream)

    server._handler = answer
    return server


def test_a_plain_request(make: Any, echo: ScriptedServer) -> None:
    reply = make(temperature=0, max_tokens=9, top_p=0.5, stop=["X"]).invoke(
        [("system", "s"), ("user", "u")]
    )
    assert reply.text == "Hello there, dear world"
    assert reply.response_metadata["model_name"] == "gpt-4o"
    assert reply.response_metadata["model_provider"] == "openai"
    assert reply.usage_metadata == {"input_tokens": 3, "output_tokens": 5, "total_tokens": 8}
    assert sent(echo) == {
        "model": "gpt-4o",
        "messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "u"}],
        "temperature": 0,
        "top_p": 0.5,
        "max_completion_tokens": 9,
        "stop": ["X"],
    }
    request = echo.requests[-1]
    assert request.path == "/v1/chat/completions"
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.headers["content-type"] == "application/json"
    assert request.headers["user-agent"].startswith("dragoman/")


def test_arguments_of_a_call_win_over_the_model_s(make: Any, echo: ScriptedServer) -> None:
    make(temperature=0, stop=["A"]).invoke(
        "hi", temperature=1, stop=["B"], model="other", seed=7, extra_body={"x": {"y": 1}},
        extra_headers={"X-Mine": "1"}, extra_query={"q": "1"},
    )  # fmt: skip
    body = sent(echo)
    assert (body["temperature"], body["stop"], body["model"], body["seed"]) == (
        1,
        ["B"],
        "other",
        7,
    )
    assert body["x"] == {"y": 1}
    assert echo.requests[-1].headers["x-mine"] == "1"
    assert echo.requests[-1].path == "/v1/chat/completions?q=1"


def test_parameters_of_the_wire_and_model_kwargs(make: Any, echo: ScriptedServer) -> None:
    model = make(reasoning_effort="low", seed=3, model_kwargs={"brand_new": [1]})
    assert model.model_kwargs == {"reasoning_effort": "low", "seed": 3, "brand_new": [1]}
    model.invoke("hi")
    assert {
        k: sent(echo)[k] for k in ("reasoning_effort", "seed", "brand_new")
    } == model.model_kwargs


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ({"temprature": 0}, "'temprature'; did you mean `temperature`"),
        ({"max_token": 5}, "did you mean `max_tokens`"),
        ({"zzz": 5}, "'zzz'; pass it in `model_kwargs`"),
        ({"max_tokens": 5, "max_completion_tokens": 6}, "say different things"),
        ({"base_url": "ftp://x.org"}, "http or https"),
        ({"base_url": "x.org/v1"}, "http or https"),
        ({"base_url": "http://"}, "http or https"),
        ({"base_url": "http://h:notaport/v1"}, "not a URL"),
        ({"base_url": f"https://user:{KEY}@h.org/v1"}, "user or password"),
        ({"base_url": f"https://h.org/v1?key={KEY}"}, "holds a query"),
        ({"timeout": -1}, "above zero"),
        ({"timeout": "soon"}, "`timeout` is a number"),
        ({"max_retries": -1}, "max_retries"),
        ({"temperature": "hot"}, "temperature"),
        ({"history": "forget"}, "history"),
        ({"model_kwargs": {"temperature": 1}}, "give it outside `model_kwargs`"),
        ({"model_kwargs": {"max_completion_tokens": 1}}, "give it outside `model_kwargs`"),
        ({"proxy": "nowhere"}, "`proxy` must be an address"),
        ({"http_client": httpx2.AsyncClient()}, "takes a sync client"),
        ({"http_async_client": httpx2.Client()}, "takes an async client"),
        ({"default_headers": {"x": object()}}, "default_headers"),
    ],
)
def test_bad_parameters_are_refused_without_showing_a_key(data: dict, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        ChatOpenAI(model="m", api_key=KEY, **data)
    try:
        ChatOpenAI(model="m", api_key=KEY, **data)
    except ValueError:
        shown = traceback.format_exc()
        assert KEY not in shown.replace(f'api_key="{KEY}"', "")


def test_two_spellings_that_agree_are_one() -> None:
    model = ChatOpenAI(
        model="m", model_name="m", api_key=KEY, max_tokens=5, max_completion_tokens=5
    )
    assert (model.model, model.model_name, model.max_tokens) == ("m", "m", 5)


def test_langchain_s_names() -> None:
    model = ChatOpenAI(
        model_name="m",
        openai_api_key=KEY,
        openai_api_base="https://h.org/v1/",
        request_timeout=3,
        organization="org",
    )
    assert (model.model, model.base_url, model.timeout) == ("m", "https://h.org/v1", 3)
    assert (model.openai_api_base, model.request_timeout) == ("https://h.org/v1", 3)
    assert model.openai_api_key.get_secret_value() == KEY
    assert ChatOpenAI(model="m", api_key=KEY, seed=4).seed == 4
    with pytest.raises(AttributeError, match="bogus"):
        _ = model.bogus
    other = ChatAnthropic(
        model_name="c", anthropic_api_key=SecretStr(KEY), anthropic_api_url="https://h.org", max_tokens_to_sample=9,
        stop_sequences=["x"], default_request_timeout=4,
    )  # fmt: skip
    assert (other.model, other.base_url, other.max_tokens, other.stop) == (
        "c",
        "https://h.org",
        9,
        ["x"],
    )
    ollama = ChatOllama(model="l", num_predict=3, num_ctx=99, keep_alive="5m", reasoning=True)
    assert ollama.max_tokens == 3
    assert ollama.model_kwargs == {"options": {"num_ctx": 99}, "keep_alive": "5m", "think": True}


def test_nested_parameters_reach_their_place(server: ScriptedServer, echo: ScriptedServer) -> None:
    model = ChatOllama(model="l", base_url=server.url, num_predict=3, num_ctx=99, temperature=0.5)
    model.invoke("hi", top_k=7, num_predict=4)
    assert sent(echo)["options"] == {
        "num_ctx": 99,
        "top_k": 7,
        "num_predict": 4,
        "temperature": 0.5,
    }
    assert sent(echo)["stream"] is False
    assert model.model_kwargs == {"options": {"num_ctx": 99}}
    gemini = init_chat_model(
        "google_genai:g", api_key=KEY, base_url=server.url, top_k=5, thinking_budget=0
    )
    gemini.invoke("hi", max_output_tokens=8)
    assert sent(echo)["generationConfig"] == {
        "topK": 5, "thinkingConfig": {"thinkingBudget": 0}, "maxOutputTokens": 8,
    }  # fmt: skip


def test_an_unknown_argument_of_a_call(make: Any) -> None:
    with pytest.raises(ParameterError, match="did you mean `temperature`"):
        make().invoke("hi", temprature=1)


def test_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(
        ModelAuthenticationError,
        match="no API key for openai; set OPENAI_API_KEY, or pass `api_key`",
    ):
        ChatOpenAI(model="m")
    with pytest.raises(ModelAuthenticationError):
        ChatOpenAI(model="m", api_key="  ")
    for nothing in ({}, {"model": ""}, {"model": None}):
        with pytest.raises(ParameterError, match="needs a `model`"):
            ChatOpenAI(api_key=KEY, **nothing)
    assert ChatOpenAI(model="m", base_url="http://127.0.0.1:9/v1").api_key is None
    monkeypatch.setenv("OPENAI_API_KEY", f" {KEY}\n")
    assert ChatOpenAI(model="m").api_key.get_secret_value() == KEY


def test_a_server_without_keys_gets_none(
    server: ScriptedServer, echo: ScriptedServer, monkeypatch: Any
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    init_chat_model("m", base_url=f"{server.url}/v1").invoke("hi")
    assert "authorization" not in echo.requests[-1].headers


def test_the_key_shows_nowhere(make: Any, server: ScriptedServer, colour: Any, caplog: Any) -> None:
    caplog.set_level(0)
    model = make(default_headers={"x-other": KEY})
    assert KEY not in repr(model) + str(model) + str(model.model_dump()) + model.model_dump_json()
    assert KEY not in str(vars(model)["api_key"]) + str(model.asdict())
    from dragoman.load import dumps

    assert KEY not in dumps(model)
    assert copy.deepcopy(model).api_key.get_secret_value() == KEY
    assert model.model_copy(update={"temperature": 1}).api_key.get_secret_value() == KEY
    with pytest.raises(TypeError, match="not pickled"):
        pickle.dumps(model)
    for reply in (
        Reply.json({"error": {"message": f"Incorrect API key provided: {KEY}"}}, status=401),
        Reply.text(f"<p>{KEY}</p>", status=500),
        Reply.text(f"<p>Bearer {KEY}</p>"),
    ):
        server.add(reply, reply)
        for call in (colour.invoke, colour.stream):
            with pytest.raises(ModelError) as caught:
                call(make(max_retries=0), "hi")
            assert KEY not in "".join(traceback.format_exception(caught.value))
    assert KEY not in caplog.text


@pytest.mark.parametrize("bad", [f"{KEY}\nx: y", f"{KEY}ß", f"{KEY}\x00"])
def test_a_key_that_is_no_header_does_not_show(bad: str, make: Any, colour: Any) -> None:
    with pytest.raises(ModelError) as caught:
        colour.invoke(make(api_key=bad, max_retries=0), "hi")
    assert KEY not in "".join(traceback.format_exception(caught.value))


def test_a_function_as_key(make: Any, echo: ScriptedServer, colour: Any) -> None:
    given = iter(["one-token-1", "two-token-2"])
    model = make(api_key=lambda: next(given))
    assert "token" not in repr(model)
    colour.invoke(model, "hi")
    colour.invoke(model, "hi")
    assert [r.headers["authorization"] for r in echo.requests] == [
        "Bearer one-token-1",
        "Bearer two-token-2",
    ]


def test_an_async_function_as_key(make: Any, echo: ScriptedServer) -> None:
    async def token() -> str:
        await asyncio.sleep(0)
        return "later-token"

    asyncio.run(make(api_key=token).ainvoke("hi"))
    assert echo.requests[-1].headers["authorization"] == "Bearer later-token"
    with pytest.raises(ParameterError, match="use the async methods"):
        make(api_key=token).invoke("hi")


def test_no_messages(make: Any) -> None:
    with pytest.raises(ValueError, match="at least one message"):
        make().invoke([])


def test_tools(make: Any, echo: ScriptedServer) -> None:
    model = make().bind_tools([TOOL], tool_choice="any", parallel_tool_calls=False, strict=True)
    model.invoke("hi")
    body = sent(echo)
    assert body["tools"][0]["function"]["name"] == "weather"
    assert body["tools"][0]["function"]["strict"] is True
    assert body["tool_choice"] == "required"
    assert body["parallel_tool_calls"] is False
    for choice, expected in [
        ("auto", "auto"),
        ("none", "none"),
        ("required", "required"),
        (True, "required"),
        ("weather", {"type": "function", "function": {"name": "weather"}}),
    ]:
        make().bind_tools([TOOL], tool_choice=choice).invoke("hi")
        assert sent(echo)["tool_choice"] == expected


def test_tools_of_the_provider_s_own_go_as_they_are(
    server: ScriptedServer, echo: ScriptedServer
) -> None:
    own = {"type": "web_search_20250305", "name": "web_search", "max_uses": 2}
    ChatAnthropic(model="c", api_key=KEY, base_url=server.url).bind_tools([own, TOOL]).invoke("hi")
    assert sent(echo)["tools"][0] == own
    assert sent(echo)["tools"][1]["name"] == "weather"


def test_a_stream_asks_for_usage_unless_told_not_to(make: Any, echo: ScriptedServer) -> None:
    list(make().stream("hi"))
    assert sent(echo)["stream_options"] == {"include_usage": True}
    list(make(stream_usage=False).stream("hi"))
    assert "stream_options" not in sent(echo)
    list(make().stream("hi", stream_options={"include_usage": False}))
    assert sent(echo)["stream_options"] == {"include_usage": False}


def test_the_sum_of_the_chunks_is_the_reply(make: Any, echo: ScriptedServer, colour: Any) -> None:
    whole = colour.invoke(make(), "hi")
    chunks = colour.stream(make(), "hi")
    total = sum(chunks[1:], chunks[0])
    assert (total.content, total.id, total.usage_metadata) == (
        whole.content,
        whole.id,
        whole.usage_metadata,
    )
    for key in ("model_name", "model_provider", "finish_reason"):
        assert total.response_metadata[key] == whole.response_metadata[key]


ADDRESSES = [
    ("openai:m", "/v1/chat/completions", "/v1", {}),
    ("openai_responses:m", "/v1/responses", "/v1", {}),
    ("anthropic:m", "/v1/messages", "", {"x-api-key": KEY, "anthropic-version": "2023-06-01"}),
    ("anthropic:m", "/v1/messages", "/v1", {"x-api-key": KEY}),
    ("google_genai:m", "/v1beta/models/m:generateContent", "", {"x-goog-api-key": KEY}),
    (
        "google_genai:models/m",
        "/v1beta/models/m:generateContent",
        "/v1beta",
        {"x-goog-api-key": KEY},
    ),
    ("ollama:m", "/api/chat", "", {"authorization": f"Bearer {KEY}"}),
    ("deepseek:m", "/v1/chat/completions", "/v1", {"authorization": f"Bearer {KEY}"}),
]


@pytest.mark.parametrize(("name", "path", "base", "headers"), ADDRESSES)
def test_where_requests_go(
    name: str,
    path: str,
    base: str,
    headers: dict,
    server: ScriptedServer,
    echo: ScriptedServer,
    colour: Any,
) -> None:
    model = init_chat_model(name, api_key=KEY, base_url=server.url + base)
    assert colour.invoke(model, "hi").text == "Hello there, dear world"
    assert echo.requests[-1].path == path
    assert headers.items() <= echo.requests[-1].headers.items()
    assert "".join(c.text for c in colour.stream(model, "hi")) == "Hello there, dear world"
    if "generateContent" in path:
        assert echo.requests[-1].path == path.replace(
            ":generateContent", ":streamGenerateContent?alt=sse"
        )
        assert not {"model", "stream"} & sent(echo).keys()


@pytest.mark.parametrize(
    "name", ["ollama:m", "bedrock_converse:m", "anthropic:m", "google_genai:m"]
)
def test_a_page_in_place_of_a_stream_on_every_wire(
    name: str, server: ScriptedServer, colour: Any
) -> None:
    more = {"region": "us-east-1"} if "bedrock" in name else {}
    model = init_chat_model(name, api_key=KEY, base_url=server.url, max_retries=0, **more)
    for call in (colour.invoke, colour.stream):
        server.add(Reply.text("<html><title>Sign in</title></html>"))
        with pytest.raises(ModelError, match="text/html in place of a reply: Sign in"):
            call(model, "hi")


def test_betas_of_anthropic_are_a_header(server: ScriptedServer, echo: ScriptedServer) -> None:
    model = ChatAnthropic(model="c", api_key=KEY, base_url=server.url, betas=["a-1", "b-2"])
    model.invoke("hi")
    assert echo.requests[-1].headers["anthropic-beta"] == "a-1,b-2"
    assert "betas" not in sent(echo)


def test_the_environment_s_address(
    server: ScriptedServer, echo: ScriptedServer, monkeypatch: Any
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1/")
    ChatOpenAI(model="m", api_key=KEY).invoke("hi")
    monkeypatch.setenv("OLLAMA_HOST", server.url.removeprefix("http://"))
    ChatOllama(model="m").invoke("hi")
    assert [r.path for r in echo.requests] == ["/v1/chat/completions", "/api/chat"]


def test_what_a_conversion_loses_is_reported(server: ScriptedServer, echo: ScriptedServer) -> None:
    model = init_chat_model("openai:m", api_key=KEY, base_url=f"{server.url}/v1")
    history = [
        HumanMessage("q"),
        AIMessage(
            [
                {"type": "reasoning", "reasoning": "hm", "extras": {"signature": "S"}},
                {"type": "text", "text": "a"},
            ]
        ),
        HumanMessage("r"),
    ]
    reply = model.invoke(history)
    changes = reply.response_metadata.get("request_changes", [])
    assert all(set(c) == {"path", "code", "lossy", "message"} and c["lossy"] for c in changes)


def test_callers_messages_are_not_changed(make: Any, echo: ScriptedServer) -> None:
    messages = [SystemMessage("s"), HumanMessage([{"type": "text", "text": "x"}])]
    before = copy.deepcopy(messages)
    make().invoke(messages)
    assert messages == before


def test_profiles_are_data() -> None:
    profile = ChatOpenAI(model="gpt-4o", api_key=KEY).profile
    assert (profile["max_input_tokens"], profile["image_inputs"], profile["tool_calling"]) == (
        128000,
        True,
        True,
    )
    assert ChatOpenAI(model="gpt-4o-of-my-own", api_key=KEY).profile is None


def test_a_model_s_identity() -> None:
    model = ChatOpenAI(model="m", api_key=KEY, temperature=0.5)
    assert model._llm_type == "openai-chat"
    assert model._identifying_params == {"model": "m", "temperature": 0.5}
    assert repr(model) == "ChatOpenAI(model='m', temperature=0.5)"
    assert model._get_ls_params()["ls_provider"] == "openai"


def test_nothing_is_connected_before_the_first_call() -> None:
    assert ChatOpenAI(model="m", api_key=KEY, base_url=refused_url())


def test_counting_needs_no_network(make: Any) -> None:
    assert make().get_num_tokens("hello world") > 0
    assert make().get_num_tokens_from_messages([HumanMessage("hello")]) > 0


def test_the_established_hooks_give_the_same(make: Any, echo: ScriptedServer) -> None:
    model, ask = make(), [HumanMessage("hi")]
    text = "Hello there, dear world"
    assert model._generate(ask).generations[0].message.text == text
    assert "".join(chunk.message.text for chunk in model._stream(ask)) == text

    async def later() -> tuple[str, str]:
        whole = (await model._agenerate(ask)).generations[0].message.text
        return whole, "".join([chunk.message.text async for chunk in model._astream(ask)])

    assert asyncio.run(later()) == (text, text)
