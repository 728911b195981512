"""What the tests of chat models share: a server, a model that talks to it, and both colours."""

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from dragoman.chat_models import init_chat_model
from dragoman.messages import AIMessage
from dragoman.testing import ScriptedServer

KEY = "sk-test-0123456789abcdef"


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer() as running:
        yield running


@pytest.fixture
def hello() -> AIMessage:
    return AIMessage(
        "Hello there, dear world",
        id="chatcmpl-1",
        response_metadata={"model_name": "gpt-4o", "finish_reason": "stop"},
        usage_metadata={"input_tokens": 3, "output_tokens": 5, "total_tokens": 8},
    )


@pytest.fixture
def make(server: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Return a maker of models whose waits between attempts are short."""
    from dragoman.chat_models.exchange import retry

    monkeypatch.setattr(retry.random, "uniform", lambda low, high: 0.001)

    def maker(name: str = "openai:gpt-4o", **options: Any) -> Any:
        options.setdefault("base_url", f"{server.url}/v1")
        options.setdefault("api_key", KEY)
        return init_chat_model(name, **options)

    return maker


class Colour:
    """Calls a model in one colour; an async call runs in a loop of its own."""

    def __init__(self, is_async: bool) -> None:
        self.is_async = is_async

    def invoke(self, model: Any, *args: Any, **kwargs: Any) -> Any:
        if self.is_async:
            return asyncio.run(model.ainvoke(*args, **kwargs))
        return model.invoke(*args, **kwargs)

    def stream(self, model: Any, *args: Any, **kwargs: Any) -> list[Any]:
        if self.is_async:

            async def collect() -> list[Any]:
                return [chunk async for chunk in model.astream(*args, **kwargs)]

            return asyncio.run(collect())
        return list(model.stream(*args, **kwargs))


@pytest.fixture(params=[False, True], ids=["sync", "async"])
def colour(request: pytest.FixtureRequest) -> Colour:
    return Colour(request.param)
