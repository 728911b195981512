"""Every wire's model conforms, over a real socket; and so does the bundled model."""

from typing import Any

import pytest

from dragoman.chat_models import init_chat_model
from dragoman.chat_models.providers import PROVIDERS
from dragoman.messages import AIMessage
from dragoman.testing import ChatModelSuite, Received, Reply, ScriptedServer

NAMES = {
    "openai_chat": "openai:m",
    "openai_responses": "openai_responses:m",
    "anthropic": "anthropic:m",
    "gemini": "google_genai:m",
    "bedrock_converse": "bedrock_converse:m",
    "ollama": "ollama:m",
    "mistral": "mistralai:m",
    "cohere": "cohere:m",
}
CALL = {"name": "find_city", "args": {"city": "Paris"}, "id": "call00001", "type": "tool_call"}


def answer(api: str, request: Received) -> Reply:
    wants_stream = "tream" in request.path or request.json.get("stream", False)
    has_tools = "tools" in request.json or "toolConfig" in request.json
    message = AIMessage(
        "" if has_tools else "Hello there, dear world",
        tool_calls=[CALL] if has_tools else [],
        response_metadata={
            "model_name": "m",
            "finish_reason": "tool_calls" if has_tools else "stop",
        },
        usage_metadata={"input_tokens": 3, "output_tokens": 5, "total_tokens": 8},
    )
    return Reply.message(message, api=api, stream=wants_stream)


class TestModels(ChatModelSuite):
    @pytest.fixture(autouse=True, params=NAMES)
    def _serve(self, request, monkeypatch):
        monkeypatch.setenv("AWS_REGION", "us-east-1")
        self.api = request.param
        with ScriptedServer(lambda received: answer(self.api, received)) as self.server:
            yield

    def model(self) -> Any:
        provider = NAMES[self.api].partition(":")[0]
        assert PROVIDERS[provider].api == self.api
        return init_chat_model(NAMES[self.api], base_url=self.server.url, api_key="k" * 20)


@pytest.mark.local_model
@pytest.mark.soak
class TestBundledModel(ChatModelSuite):
    def model(self) -> Any:
        return init_chat_model("local", temperature=0, max_tokens=40)
