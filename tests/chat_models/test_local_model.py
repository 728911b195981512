"""The bundled model behind the same classes as every provider: calls, objects, counts, queues."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from pydantic import BaseModel, Field

from dragoman.chat_models import ChatLlamaCpp, init_chat_model, local
from dragoman.errors import ContextOverflowError, EncodeError
from dragoman.messages import HumanMessage

pytestmark = pytest.mark.local_model


class City(BaseModel):
    """A city."""

    name: str = Field(max_length=20)
    country: str = Field(max_length=20)


def get_weather(city: str) -> str:
    """Tell the weather of a city."""
    return f"sunny in {city}"


@pytest.fixture
def model() -> Any:
    return init_chat_model("local", temperature=0, max_tokens=8)


def test_it_answers(model: Any, colour: Any) -> None:
    whole = colour.invoke(model, "Say hello")
    chunks = colour.stream(model, "Say hello")
    total = chunks[0] + chunks[1:]
    assert whole.content
    assert total.content == whole.content
    assert whole.response_metadata["model_provider"] == "local"
    assert total.usage_metadata["output_tokens"] == whole.usage_metadata["output_tokens"]


def test_it_calls_a_tool_when_it_must(model: Any, colour: Any) -> None:
    for choice in ("any", "get_weather"):
        reply = colour.invoke(
            model.bind_tools([get_weather], tool_choice=choice), "Weather in Paris?", max_tokens=80
        )
        (call,) = reply.tool_calls
        assert call["name"] == "get_weather"
        assert isinstance(call["args"]["city"], str)


@pytest.mark.parametrize("method", ["function_calling", "json_schema"])
def test_it_answers_with_objects(method: str, model: Any, colour: Any) -> None:
    typed = model.with_structured_output(City, method=method)
    assert isinstance(colour.invoke(typed, "Tell me about Paris in France.", max_tokens=100), City)


def test_its_counts_are_exact(model: Any) -> None:
    messages = [HumanMessage("What is the capital of France?")]
    assert (
        model.get_num_tokens_from_messages(messages)
        == model.invoke(messages).usage_metadata["input_tokens"]
    )
    assert model.get_num_tokens("hello world") == 2


def test_many_calls_wait_for_each_other(model: Any) -> None:
    async def many() -> list[Any]:
        return await asyncio.gather(*(model.ainvoke(f"Say {i}", max_tokens=2) for i in range(12)))

    assert all(reply.content for reply in asyncio.run(many()))
    with ThreadPoolExecutor(6) as pool:
        assert all(
            r.content for r in pool.map(lambda i: model.invoke(f"Say {i}", max_tokens=2), range(12))
        )


def test_an_abandoned_reply_frees_its_place(model: Any) -> None:
    for _ in range(3):
        stream = model.stream("Tell me a very long story", max_tokens=2000)
        next(stream)
        stream.close()
    assert model.invoke("Say hello", max_tokens=2).content


def test_what_it_cannot_take(model: Any, colour: Any) -> None:
    with pytest.raises(ContextOverflowError):
        colour.invoke(model, "word " * 20_000)
    image = {"type": "image", "url": "https://example.org/a.png"}
    with pytest.raises((EncodeError, ValueError), match="image"):
        colour.invoke(model, [HumanMessage([image])])


def test_any_gguf_by_its_path() -> None:
    path = str(local.server().path)
    model = ChatLlamaCpp(model=path, max_tokens=2)
    assert model.provider.name == "llamacpp"
    assert init_chat_model(f"llamacpp:{path}").model == path
