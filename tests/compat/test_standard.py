"""LangChain's own unit suites over what crosses; docs/langchain.md explains each line.

`test_serdes` is skipped by the suite itself for models that LangChain cannot dump: a wrapped model
holds one of ours, which LangChain's loader does not know.
"""

from langchain_tests.unit_tests import ChatModelUnitTests, ToolsUnitTests
from pydantic import SecretStr

from dragoman.compat import to_langchain
from dragoman.compat.wrapped import WrappedChatModel
from dragoman.tools import tool


class Wrapped(WrappedChatModel):
    """A wrapped model that shows its key where the suite looks for it."""

    @property
    def openai_api_key(self):
        return SecretStr(self.dragoman_model.api_key.get_secret_value())


class TestModel(ChatModelUnitTests):
    @property
    def chat_model_class(self):
        return Wrapped

    @property
    def chat_model_params(self):
        return {"model": "openai:gpt-5-mini", "api_key": "k"}

    @property
    def init_from_env_params(self):
        env = {"OPENAI_API_KEY": "from the environment"}
        return env, {"model": "openai:gpt-5-mini"}, {"openai_api_key": "from the environment"}


@tool
def multiply(a: int, b: int) -> int:
    """Multiply two numbers."""
    return a * b


class TestTool(ToolsUnitTests):
    @property
    def tool_constructor(self):
        return to_langchain(multiply)

    @property
    def tool_invoke_params_example(self):
        return {"a": 2, "b": 3}
