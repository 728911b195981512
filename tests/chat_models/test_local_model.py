"""The bundled model behind the same classes as every provider: calls, objects, counts.

That it answers, streams and survives being left is in `testing/conformance`; queues are in
`local/test_servers.py`.
"""

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


def get_time(city: str) -> str:
    """Tell the time in a city."""
    return f"noon in {city}"


@pytest.fixture
def model() -> Any:
    return init_chat_model("local", temperature=0, max_tokens=8)


@pytest.mark.soak
def test_it_calls_the_tool_that_is_named(model: Any) -> None:
    bound = model.bind_tools([get_weather, get_time], tool_choice="get_time")
    reply = bound.invoke("Weather in Paris?", max_tokens=80)
    (call,) = reply.tool_calls
    assert call["name"] == "get_time"
    assert isinstance(call["args"]["city"], str)
    assert reply.response_metadata["model_provider"] == "local"


@pytest.mark.parametrize(
    "method", [pytest.param("function_calling", marks=pytest.mark.soak), "json_schema"]
)
def test_it_answers_with_objects(method: str, model: Any) -> None:
    typed = model.with_structured_output(City, method=method)
    assert isinstance(typed.invoke("Tell me about Paris in France.", max_tokens=100), City)


def test_its_counts_are_exact(model: Any) -> None:
    messages = [HumanMessage("What is the capital of France?")]
    assert (
        model.get_num_tokens_from_messages(messages)
        == model.invoke(messages).usage_metadata["input_tokens"]
    )
    assert model.get_num_tokens("hello world") == 2


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
