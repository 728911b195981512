"""The official SDKs and our models against the same real server: the same text, calls and usage."""

import json
from collections.abc import Iterator
from typing import Any

import anthropic
import openai
import pytest

from dragoman.chat_models import ChatAnthropic, ChatOpenAI, local

pytestmark = pytest.mark.local_model

TOOL = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Tell the weather of a city.",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string", "maxLength": 20}},
            "required": ["city"],
        },
    },
}
ASK = [{"role": "user", "content": "What is the capital of France?"}]
# What makes the bundled model call: its own beginning of a call (docs: the embedded model).
CALL = [
    {"role": "user", "content": "Weather in Paris?"},
    {"role": "assistant", "content": "<tool_call>\n"},
]
STOP = ["</tool_call>"]


@pytest.fixture(scope="module")
def real() -> Any:
    return local.server()


@pytest.fixture
def sdk(real: Any) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=real.base_url, api_key=real.api_key, max_retries=0) as client:
        yield client


@pytest.fixture
def claude(real: Any) -> Iterator[anthropic.Anthropic]:
    address = real.base_url.removesuffix("/v1")
    with anthropic.Anthropic(base_url=address, api_key=real.api_key, max_retries=0) as client:
        yield client


def ours(real: Any, **options: Any) -> ChatOpenAI:
    return ChatOpenAI(
        model=real.model,
        base_url=real.base_url,
        api_key=real.api_key,
        temperature=0,
        history="send",
        **options,
    )


def claudes(real: Any, **options: Any) -> ChatAnthropic:
    return ChatAnthropic(
        model=real.model, base_url=real.base_url, api_key=real.api_key, temperature=0,
        history="send", **options,
    )  # fmt: skip


def total(chunks: list[Any]) -> Any:
    return chunks[0] + chunks[1:]


def test_chat_completions(real: Any, sdk: openai.OpenAI, colour: Any) -> None:
    theirs = sdk.chat.completions.create(
        model=real.model, messages=ASK, max_tokens=12, temperature=0
    )
    model = ours(real, max_tokens=12)
    whole, streamed = colour.invoke(model, ASK), total(colour.stream(model, ASK))
    for reply in (whole, streamed):
        assert reply.content == theirs.choices[0].message.content
        assert reply.response_metadata["finish_reason"] == theirs.choices[0].finish_reason
        assert reply.usage_metadata["input_tokens"] == theirs.usage.prompt_tokens
        assert reply.usage_metadata["output_tokens"] == theirs.usage.completion_tokens
        assert reply.usage_metadata["total_tokens"] == theirs.usage.total_tokens


def test_chat_completions_with_a_call(real: Any, sdk: openai.OpenAI, colour: Any) -> None:
    said: dict[str, Any] = {"tools": [TOOL], "tool_choice": "required", "stop": STOP}
    theirs = sdk.chat.completions.create(
        model=real.model, messages=CALL, max_tokens=60, temperature=0, **said
    )
    (call,) = theirs.choices[0].message.tool_calls
    model = ours(real, max_tokens=60, stop=STOP).bind_tools([TOOL], tool_choice="required")
    for reply in (colour.invoke(model, CALL), total(colour.stream(model, CALL))):
        (mine,) = reply.tool_calls
        assert mine["name"] == call.function.name == "get_weather"
        assert mine["args"] == json.loads(call.function.arguments)
        assert reply.usage_metadata["output_tokens"] == theirs.usage.completion_tokens


def test_messages(real: Any, claude: anthropic.Anthropic, colour: Any) -> None:
    theirs = claude.messages.create(
        model=real.model, messages=ASK, max_tokens=12, extra_body={"temperature": 0}
    )
    model = claudes(real, max_tokens=12)
    for reply in (colour.invoke(model, ASK), total(colour.stream(model, ASK))):
        assert reply.text == theirs.content[0].text
        usage = theirs.usage
        cached = (usage.cache_read_input_tokens or 0) + (usage.cache_creation_input_tokens or 0)
        assert reply.usage_metadata["input_tokens"] == usage.input_tokens + cached
        assert reply.usage_metadata["output_tokens"] == usage.output_tokens


def test_messages_with_a_call(real: Any, claude: anthropic.Anthropic, colour: Any) -> None:
    function = TOOL["function"]
    tool = {
        "name": function["name"],
        "description": function["description"],
        "input_schema": function["parameters"],
    }
    theirs = claude.messages.create(
        model=real.model, messages=CALL, max_tokens=60, tools=[tool], tool_choice={"type": "any"},
        stop_sequences=STOP, extra_body={"temperature": 0},
    )  # fmt: skip
    (call,) = [block for block in theirs.content if block.type == "tool_use"]
    model = claudes(real, max_tokens=60, stop=STOP).bind_tools([TOOL], tool_choice="any")
    for reply in (colour.invoke(model, CALL), total(colour.stream(model, CALL))):
        (mine,) = reply.tool_calls
        assert (mine["name"], mine["args"]) == (call.name, call.input)


def test_errors(real: Any, sdk: openai.OpenAI, colour: Any) -> None:
    from dragoman.errors import ContextOverflowError, ModelAuthenticationError

    with pytest.raises(openai.AuthenticationError):
        sdk.with_options(api_key="wrong-key-1").chat.completions.create(model="m", messages=ASK)
    with pytest.raises(ModelAuthenticationError):
        colour.invoke(ChatOpenAI(model="m", base_url=real.base_url, api_key="wrong-key-1"), ASK)
    long = [{"role": "user", "content": "word " * 20_000}]
    with pytest.raises(openai.BadRequestError):
        sdk.chat.completions.create(model="m", messages=long)
    for call in (colour.invoke, colour.stream):
        with pytest.raises(ContextOverflowError):
            call(ours(real), long)
