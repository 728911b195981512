"""`init_chat_model`: any model by a string (the errors are LangChain's)."""

import subprocess
import sys
import warnings

import pytest

from dragoman import chat_models
from dragoman.chat_models import ChatBedrockConverse, ChatLocal, ChatOpenAI, init_chat_model
from dragoman.chat_models.factory import split_model
from dragoman.chat_models.providers import PROVIDERS
from dragoman.errors import DragomanError

KEY = "sk-0123456789"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("openai:gpt-4o", ("gpt-4o", "openai")),
        ("OpenAI:gpt-4o", ("gpt-4o", "openai")),
        ("azure-openai:d", ("d", "azure_openai")),
        ("google-genai:gemini-3-pro", ("gemini-3-pro", "google_genai")),
        ("mistral:m", ("m", "mistralai")),
        ("ollama:llama3:8b", ("llama3:8b", "ollama")),
        ("gpt-4o", ("gpt-4o", "openai")),
        ("GPT-4O", ("GPT-4O", "openai")),
        ("o1-mini", ("o1-mini", "openai")),
        ("o3", ("o3", "openai")),
        ("chatgpt-4o-latest", ("chatgpt-4o-latest", "openai")),
        ("text-davinci-003", ("text-davinci-003", "openai")),
        ("claude-sonnet-4-5", ("claude-sonnet-4-5", "anthropic")),
        ("command-r", ("command-r", "cohere")),
        ("accounts/fireworks/models/x", ("accounts/fireworks/models/x", "fireworks")),
        ("amazon.nova-pro", ("amazon.nova-pro", "bedrock")),
        ("anthropic.claude-3", ("anthropic.claude-3", "bedrock")),
        ("meta.llama3", ("meta.llama3", "bedrock")),
        ("mixtral-8x7b", ("mixtral-8x7b", "mistralai")),
        ("deepseek-chat", ("deepseek-chat", "deepseek")),
        ("grok-4", ("grok-4", "xai")),
        ("sonar-pro", ("sonar-pro", "perplexity")),
        ("solar-mini", ("solar-mini", "upstage")),
        ("local", ("local", "local")),
        ("llamacpp:/models/a:b.gguf", ("/models/a:b.gguf", "llamacpp")),
    ],
)
def test_the_provider_is_read_from_the_string(name: str, expected: tuple[str, str]) -> None:
    assert split_model(name) == expected


def test_gemini_means_vertex_with_a_warning() -> None:
    with pytest.warns(DeprecationWarning, match="google_genai"):
        assert split_model("gemini-3-pro") == ("gemini-3-pro", "google_vertexai")


@pytest.mark.parametrize(
    ("args", "kind", "text"),
    [
        ({"model": 7}, TypeError, "`model` must be a string"),
        ({"model": ["a"]}, TypeError, "`model` must be a string"),
        ({"model": "my-model"}, ValueError, "Unable to infer model provider for model='my-model'"),
        ({"model": "bar:foo"}, ValueError, "Unable to infer model provider for model='bar:foo'"),
        ({"model": "my-model"}, DragomanError, "write 'PROVIDER:my-model'"),
        ({"model": "opnai:gpt-5"}, DragomanError, "write 'openai:gpt-5'"),
        ({"model": "openai/gpt-5"}, DragomanError, "write 'openai:gpt-5'"),
        ({"model": "openai"}, DragomanError, "write 'openai:' and the model's name"),
        ({"model": "locl"}, DragomanError, "write 'local'."),
        ({"model": "Local"}, DragomanError, "write 'local'."),
        ({"model": "llamacp"}, DragomanError, "write 'llamacpp:' and the path of a file"),
        ({"model": "llama3:8b"}, DragomanError, "write 'PROVIDER:llama3:8b'"),
        ({"model": "foo", "model_provider": "opnai"}, DragomanError, "Did you mean 'openai'?"),
        ({"model": "foo", "model_provider": 7}, TypeError, "`model_provider` must be a string"),
        (
            {"model": "openai:foo", "configurable_fields": "temperature"},
            TypeError,
            "'any' or a list of names, got 'temperature'",
        ),
        ({"model": "foo", "configurable_fields": 7}, TypeError, "'any' or a list of names"),
        ({"model": "foo", "model_provider": "bar"}, ValueError, "Unsupported provider='bar'."),
        (
            {"model": "foo", "model_provider": "my-bar"},
            ValueError,
            "Unsupported provider='my_bar'.",
        ),
    ],
)
def test_errors(args: dict, kind: type, text: str) -> None:
    with pytest.raises(kind) as caught:
        init_chat_model(**args)
    assert text in str(caught.value)


def test_every_provider_has_its_class() -> None:
    options = {
        "azure_openai": {"azure_endpoint": "https://r.example", "api_version": "2026-01-01"},
        "google_vertexai": {"project": "p"},
        "bedrock": {"region": "us-east-1"},
        "bedrock_converse": {"region": "us-east-1"},
        "local": {},
        "llamacpp": {},
    }
    for name, row in PROVIDERS.items():
        more = options.get(name, {})
        model = init_chat_model(
            "smollm2-135m" if name == "local" else "m",
            model_provider=name,
            **({} if name in ("local", "llamacpp") else {"api_key": KEY}),
            **more,
        )
        assert type(model).__name__ == row.title
        assert model.provider.api == row.api
        assert isinstance(model, getattr(chat_models, row.title))
        assert KEY not in repr(model)
        assert row.tier in ("verified", "listed")


def test_the_verified_ones_are_those_of_the_design() -> None:
    assert {name for name, row in PROVIDERS.items() if row.tier == "verified"} == {
        "openai", "openai_responses", "anthropic", "google_genai", "bedrock_converse", "bedrock", "azure_openai",
        "deepseek", "groq", "mistralai", "xai", "openrouter", "ollama", "llamacpp", "local",
    }  # fmt: skip


def test_an_address_makes_an_openai_like_model_of_any_name() -> None:
    model = init_chat_model("my-model", base_url="http://127.0.0.1:9/v1")
    assert type(model) is ChatOpenAI
    assert (
        type(init_chat_model("openai:m", api_key=KEY, use_responses_api=True)).__name__
        == "ChatOpenAI"
    )


def test_local_needs_no_name_and_takes_no_address() -> None:
    assert type(init_chat_model("local")) is ChatLocal
    assert ChatLocal().model == "local"
    assert init_chat_model("local:smollm2-135m").model == "smollm2-135m"
    with pytest.raises(ValueError, match=r"one model, smollm2-135m, not 'llama-3'.*llamacpp:"):
        init_chat_model("local:llama-3")
    with pytest.raises(ValueError, match="starts its own server"):
        init_chat_model("local", base_url="http://127.0.0.1:9/v1")


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(
        ImportError,
        match=r"Initializing ChatBedrockConverse requires the botocore package\. Please install",
    ):
        init_chat_model("bedrock_converse:m", region="us-east-1")


def test_no_warning_for_a_plain_model() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        init_chat_model("openai:gpt-4o", api_key=KEY)


def test_importing_loads_neither_pydantic_nor_a_client() -> None:
    code = (
        "import sys, dragoman.chat_models\n"
        "from dragoman.chat_models import init_chat_model\n"
        "print([m for m in ('pydantic', 'httpx2', 'asyncio', 'dragoman.messages') if m in sys.modules])\n"
        "init_chat_model('openai:gpt-4o', api_key='x' * 10, base_url='http://127.0.0.1:9/v1')\n"
        "print([m for m in ('httpx2', 'botocore', 'genai_prices', 'opentelemetry') if m in sys.modules])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.split("\n") == ["[]", "[]", ""]


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ({"model": "m", "aws_access_key_id": "AKIAXXXXXXXXXXXXXXXX"}, "give both"),
        ({"model": "m", "regio": "x"}, "did you mean `region`"),
    ],
)
def test_bedrock_s_contradictions(data: dict, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        ChatBedrockConverse(**data)


def test_names_of_the_module() -> None:
    for name in chat_models.__all__:
        assert getattr(chat_models, name) is not None
    assert not hasattr(chat_models, "ChatBogus")
    assert {"OpenAI", "usage_cost", "ChatVLLM"} <= set(dir(chat_models))


def test_langchain_s_module_path() -> None:
    from dragoman.chat_models import base
    from dragoman.language_models.chat_models import BaseChatModel

    assert base.__all__ == ["BaseChatModel", "init_chat_model"]
    assert base.init_chat_model is init_chat_model
    assert base.BaseChatModel is BaseChatModel is chat_models.BaseChatModel
    assert not hasattr(base, "bogus")
