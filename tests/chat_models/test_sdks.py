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


def crossed(mine: str, theirs: str) -> pytest.MarkDecorator:
    """Let our model answer in one way and the SDK in the other; in `make soak` in every way."""
    ways = [(m, t) for m in ("whole", "streamed") for t in ("whole", "streamed")]
    ways.remove((mine, theirs))
    rest = [pytest.param(*way, marks=pytest.mark.soak) for way in ways]
    return pytest.mark.parametrize(("mine", "theirs"), [(mine, theirs), *rest])


def of_ours(model: Any, messages: list[Any], way: str) -> Said:
    """Return what our model says, whole on the sync door or streamed on the async one."""

    async def collect() -> list[Any]:
        return [chunk async for chunk in model.astream(messages)]

    reply = model.invoke(messages) if way == "whole" else sum(asyncio.run(collect()))
    usage = reply.usage_metadata
    assert usage["total_tokens"] == usage["input_tokens"] + usage["output_tokens"]
    calls = [(call["name"], call["args"]) for call in reply.tool_calls]
    return reply.text, calls, usage["input_tokens"], usage["output_tokens"]


def of_openai(sdk: openai.OpenAI, way: str, **body: Any) -> Said:
    """Return what the SDK gives, whole or through its own stream helper."""
    if way == "whole":
        reply: Any = sdk.chat.completions.create(**body)
    else:
        with sdk.chat.completions.stream(**body, stream_options={"include_usage": True}) as stream:
            reply = stream.get_final_completion()
    message, usage = reply.choices[0].message, reply.usage
    calls = [
        (call.function.name, json.loads(call.function.arguments))
        for call in message.tool_calls or []
    ]
    return message.content or "", calls, usage.prompt_tokens, usage.completion_tokens


def of_anthropic(claude: anthropic.Anthropic, way: str, **body: Any) -> Said:
    """Return what the SDK gives, whole or through its own stream helper."""
    body |= {"extra_body": {"temperature": 0}}
    if way == "whole":
        reply: Any = claude.messages.create(**body)
    else:
        with claude.messages.stream(**body) as stream:
            reply = stream.get_final_message()
    usage = reply.usage
    cached = (usage.cache_read_input_tokens or 0) + (usage.cache_creation_input_tokens or 0)
    text = "".join(block.text for block in reply.content if block.type == "text")
    calls = [(b.name, b.input) for b in reply.content if b.type == "tool_use"]
    return text, calls, usage.input_tokens + cached, usage.output_tokens


@crossed("streamed", "whole")
def test_chat_completions(real: Any, sdk: openai.OpenAI, mine: str, theirs: str) -> None:
    said = of_openai(sdk, theirs, model=real.model, messages=ASK, max_tokens=12, temperature=0)
    assert said[0]
    assert of_ours(ours(real, max_tokens=12), ASK, mine) == said


@crossed("whole", "streamed")
def test_chat_completions_with_a_call(
    real: Any, sdk: openai.OpenAI, mine: str, theirs: str
) -> None:
    said = of_openai(
        sdk, theirs, model=real.model, messages=CALL, max_tokens=60, temperature=0, tools=[TOOL],
        tool_choice="required", stop=STOP,
    )  # fmt: skip
    assert [name for name, _ in said[1]] == ["get_weather"]
    model = ours(real, max_tokens=60, stop=STOP).bind_tools([TOOL], tool_choice="required")
    assert of_ours(model, CALL, mine) == said


@crossed("whole", "streamed")
def test_messages(real: Any, claude: anthropic.Anthropic, mine: str, theirs: str) -> None:
    said = of_anthropic(claude, theirs, model=real.model, messages=ASK, max_tokens=12)
    assert said[0]
    assert of_ours(claudes(real, max_tokens=12), ASK, mine) == said


@crossed("streamed", "whole")
def test_messages_with_a_call(
    real: Any, claude: anthropic.Anthropic, mine: str, theirs: str
) -> None:
    function = TOOL["function"]
    tool = {
        "name": function["name"],
        "description": function["description"],
        "input_schema": function["parameters"],
    }
    # Anthropic refuses a last turn that ends with white space, and so we send none.
    begun = [CALL[0], {"role": "assistant", "content": "<tool_call>"}]
    said = of_anthropic(
        claude, theirs, model=real.model, messages=begun, max_tokens=60, tools=[tool],
        tool_choice={"type": "any"}, stop_sequences=STOP,
    )  # fmt: skip
    assert [name for name, _ in said[1]] == ["get_weather"]
    model = claudes(real, max_tokens=60, stop=STOP).bind_tools([TOOL], tool_choice="any")
    assert of_ours(model, begun, mine) == said


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
