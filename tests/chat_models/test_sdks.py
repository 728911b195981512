"""The official SDKs and our models against the same real server: the same text, calls and usage."""

import asyncio
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


# The server closes idle connections, on a busy machine between two calls: the SDKs may retry.
@pytest.fixture
def sdk(real: Any) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=real.base_url, api_key=real.api_key) as client:
        yield client


@pytest.fixture
def claude(real: Any) -> Iterator[anthropic.Anthropic]:
    address = real.base_url.removesuffix("/v1")
    with anthropic.Anthropic(base_url=address, api_key=real.api_key) as client:
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


Said = tuple[str, list[tuple[str, Any]], int, int]
"""Text, calls as `(name, arguments)`, tokens in and tokens out."""


def of_ours(model: Any, messages: list[Any]) -> list[Said]:
    """Return what our model says, whole on the sync door and streamed on the async one."""

    async def collect() -> list[Any]:
        return [chunk async for chunk in model.astream(messages)]

    chunks = asyncio.run(collect())
    out: list[Said] = []
    for reply in (model.invoke(messages), chunks[0] + chunks[1:]):
        usage = reply.usage_metadata
        assert usage["total_tokens"] == usage["input_tokens"] + usage["output_tokens"]
        calls = [(call["name"], call["args"]) for call in reply.tool_calls]
        out.append((reply.text, calls, usage["input_tokens"], usage["output_tokens"]))
    return out


def of_openai(sdk: openai.OpenAI, **body: Any) -> list[Said]:
    """Return what the SDK gives, whole and through its own stream helper."""
    with sdk.chat.completions.stream(**body, stream_options={"include_usage": True}) as stream:
        streamed = stream.get_final_completion()
    out: list[Said] = []
    for reply in (sdk.chat.completions.create(**body), streamed):
        message, usage = reply.choices[0].message, reply.usage
        calls = [
            (call.function.name, json.loads(call.function.arguments))
            for call in message.tool_calls or []
        ]
        out.append((message.content or "", calls, usage.prompt_tokens, usage.completion_tokens))
    return out


def of_anthropic(claude: anthropic.Anthropic, **body: Any) -> list[Said]:
    """Return what the SDK gives, whole and through its own stream helper."""
    body |= {"extra_body": {"temperature": 0}}
    with claude.messages.stream(**body) as stream:
        streamed = stream.get_final_message()
    out: list[Said] = []
    for reply in (claude.messages.create(**body), streamed):
        usage = reply.usage
        cached = (usage.cache_read_input_tokens or 0) + (usage.cache_creation_input_tokens or 0)
        text = "".join(block.text for block in reply.content if block.type == "text")
        calls = [(b.name, b.input) for b in reply.content if b.type == "tool_use"]
        out.append((text, calls, usage.input_tokens + cached, usage.output_tokens))
    return out


def test_chat_completions(real: Any, sdk: openai.OpenAI) -> None:
    theirs = of_openai(sdk, model=real.model, messages=ASK, max_tokens=12, temperature=0)
    assert theirs[0][0]
    assert of_ours(ours(real, max_tokens=12), ASK) == theirs == [theirs[0]] * 2


def test_chat_completions_with_a_call(real: Any, sdk: openai.OpenAI) -> None:
    theirs = of_openai(
        sdk, model=real.model, messages=CALL, max_tokens=60, temperature=0, tools=[TOOL],
        tool_choice="required", stop=STOP,
    )  # fmt: skip
    assert [name for name, _ in theirs[0][1]] == ["get_weather"]
    model = ours(real, max_tokens=60, stop=STOP).bind_tools([TOOL], tool_choice="required")
    assert of_ours(model, CALL) == theirs == [theirs[0]] * 2


def test_messages(real: Any, claude: anthropic.Anthropic) -> None:
    theirs = of_anthropic(claude, model=real.model, messages=ASK, max_tokens=12)
    assert theirs[0][0]
    assert of_ours(claudes(real, max_tokens=12), ASK) == theirs == [theirs[0]] * 2


def test_messages_with_a_call(real: Any, claude: anthropic.Anthropic) -> None:
    function = TOOL["function"]
    tool = {
        "name": function["name"],
        "description": function["description"],
        "input_schema": function["parameters"],
    }
    # Anthropic refuses a last turn that ends with white space, and so we send none.
    begun = [CALL[0], {"role": "assistant", "content": "<tool_call>"}]
    theirs = of_anthropic(
        claude, model=real.model, messages=begun, max_tokens=60, tools=[tool],
        tool_choice={"type": "any"}, stop_sequences=STOP,
    )  # fmt: skip
    assert [name for name, _ in theirs[0][1]] == ["get_weather"]
    model = claudes(real, max_tokens=60, stop=STOP).bind_tools([TOOL], tool_choice="any")
    assert of_ours(model, begun) == theirs == [theirs[0]] * 2


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
