"""The providers, one row each.

A row is all that dragoman knows about a provider outside its codec: where it answers, which variable
holds the key, how the key is sent, which wire format and dialect it speaks, and which field names
LangChain's class for it uses. Nothing else in `chat_models` knows a provider by name.

`tier` is "verified" (called against recorded or live wire in our tests) or "listed" (the address and
dialect are the provider's published ones, but nobody here has called it).

Addresses and variables: the providers' own documentation, read 2026-11.
"""

from typing import Literal

import msgspec

__all__ = ["ALIASES", "PREFIXES", "PROVIDERS", "Provider", "provider_for_model"]

Auth = Literal["bearer", "x-api-key", "x-goog-api-key", "api-key", "token", "sigv4", "none"]


class Provider(msgspec.Struct, frozen=True, kw_only=True):
    """One provider.

    Attributes:
        name: As `init_chat_model` takes it.
        title: The name of its class.
        api: Its wire format, a name of `dragoman.codecs.SUPPORTED`.
        dialect: Whose dialect of that format.
        base_url: The address before `path`; may hold `{fields}` of the model.
        base_url_variables: Environment variables that replace it.
        path: Of a whole reply.
        stream_path: Of a streamed one, if it is another.
        auth: How the key is sent.
        key_variables: Environment variables that may hold the key, in order.
        key_optional: Whether calls without a key make sense (servers of one's own).
        framing: Of streams.
        headers: Sent with every request.
        asks_for_usage: Whether a stream reports usage only when asked (`stream_options`).
        model_in_body: Whether the body names the model (else the path does).
        stream_in_body: Whether the body says if a stream is wanted (else the path does).
        key_fields: LangChain's other names for `api_key`.
        url_fields: LangChain's other names for `base_url`.
        extra: The extra of dragoman it needs.
        package: The module that extra holds.
        patient: No read or idle timeout: callers queue (models on this machine).
        tier: "verified" or "listed".
    """

    name: str
    title: str
    api: str = "openai_chat"
    dialect: str | None = None
    base_url: str = ""
    base_url_variables: tuple[str, ...] = ()
    path: str = "/chat/completions"
    stream_path: str | None = None
    auth: Auth = "bearer"
    key_variables: tuple[str, ...] = ()
    key_optional: bool = False
    framing: Literal["sse", "ndjson", "aws"] = "sse"
    headers: tuple[tuple[str, str], ...] = ()
    asks_for_usage: bool = True
    model_in_body: bool = True
    stream_in_body: bool = True
    key_fields: tuple[str, ...] = ()
    url_fields: tuple[str, ...] = ()
    extra: str | None = None
    package: str | None = None
    patient: bool = False
    tier: Literal["verified", "listed"] = "listed"


def _openai_like(name: str, title: str, base_url: str, key: str, **more: object) -> Provider:
    """Return the row of a provider that copies OpenAI's chat completions."""
    row: dict[str, object] = {
        "dialect": name,
        "key_variables": (key,),
        "base_url_variables": (f"{key.rsplit('_API_', 1)[0]}_API_BASE",),
        "key_fields": (f"{name}_api_key",),
        "url_fields": (f"{name}_api_base",),
    }
    return Provider(name=name, title=title, base_url=base_url, **{**row, **more})  # type: ignore[arg-type]


_OPENAI = {
    "base_url": "https://api.openai.com/v1",
    "base_url_variables": ("OPENAI_BASE_URL", "OPENAI_API_BASE"),
    "key_variables": ("OPENAI_API_KEY",),
    "key_fields": ("openai_api_key",),
    "url_fields": ("openai_api_base",),
    "tier": "verified",
}
_GOOGLE = {
    "api": "gemini",
    "asks_for_usage": False,
    "model_in_body": False,
    "stream_in_body": False,
    "tier": "verified",
}
_BEDROCK = {
    "title": "ChatBedrockConverse",
    "api": "bedrock_converse",
    "base_url": "https://bedrock-runtime.{region}.amazonaws.com",
    "base_url_variables": ("AWS_ENDPOINT_URL_BEDROCK_RUNTIME",),
    "path": "/model/{model}/converse",
    "stream_path": "/model/{model}/converse-stream",
    "auth": "sigv4",
    "key_variables": ("AWS_BEARER_TOKEN_BEDROCK",),
    "key_optional": True,
    "framing": "aws",
    "asks_for_usage": False,
    "model_in_body": False,
    "stream_in_body": False,
    "url_fields": ("endpoint_url",),
    "key_fields": ("bedrock_api_key",),
    "extra": "bedrock",
    "package": "botocore",
    "tier": "verified",
}
_LOCAL = {
    "auth": "bearer",
    "key_optional": True,
    "patient": True,
    "tier": "verified",
}

_ROWS = (
    Provider(name="openai", title="ChatOpenAI", dialect="openai", **_OPENAI),  # type: ignore[arg-type]
    Provider(
        name="openai_responses", title="ChatOpenAIResponses", api="openai_responses", dialect="openai",
        path="/responses", asks_for_usage=False, **_OPENAI,  # type: ignore[arg-type]
    ),
    Provider(
        name="anthropic", title="ChatAnthropic", api="anthropic", dialect="anthropic",
        base_url="https://api.anthropic.com", path="/v1/messages", auth="x-api-key",
        base_url_variables=("ANTHROPIC_API_URL", "ANTHROPIC_BASE_URL"),
        key_variables=("ANTHROPIC_API_KEY",), key_fields=("anthropic_api_key",),
        url_fields=("anthropic_api_url",), headers=(("anthropic-version", "2023-06-01"),),
        asks_for_usage=False, tier="verified",
    ),
    Provider(
        name="google_genai", title="ChatGoogleGenerativeAI", dialect="google_genai",
        base_url="https://generativelanguage.googleapis.com",
        path="/v1beta/models/{model}:generateContent",
        stream_path="/v1beta/models/{model}:streamGenerateContent?alt=sse",
        auth="x-goog-api-key", key_variables=("GOOGLE_API_KEY", "GEMINI_API_KEY"),
        key_fields=("google_api_key", "gemini_api_key"), **_GOOGLE,  # type: ignore[arg-type]
    ),
    Provider(
        name="google_vertexai", title="ChatVertexAI", dialect="google_vertexai",
        base_url="https://{location_host}",
        path="/v1/projects/{project}/locations/{location}/publishers/google/models/{model}:generateContent",
        stream_path="/v1/projects/{project}/locations/{location}/publishers/google/models/{model}:streamGenerateContent?alt=sse",
        auth="token", key_variables=("GOOGLE_VERTEX_ACCESS_TOKEN",), key_fields=("access_token",),
        **{**_GOOGLE, "tier": "listed"},  # type: ignore[arg-type]
    ),
    Provider(name="bedrock_converse", dialect="bedrock_converse", **_BEDROCK),  # type: ignore[arg-type]
    Provider(name="bedrock", dialect="bedrock_converse", **_BEDROCK),  # type: ignore[arg-type]
    Provider(
        name="azure_openai", title="AzureChatOpenAI", dialect="azure_openai",
        base_url="{azure_endpoint}",
        path="/openai/deployments/{deployment}/chat/completions?api-version={api_version}",
        auth="api-key", key_variables=("AZURE_OPENAI_API_KEY", "OPENAI_API_KEY"),
        key_fields=("openai_api_key",), tier="verified",
    ),
    _openai_like("deepseek", "ChatDeepSeek", "https://api.deepseek.com/v1", "DEEPSEEK_API_KEY", tier="verified"),
    _openai_like(
        "groq", "ChatGroq", "https://api.groq.com/openai/v1", "GROQ_API_KEY", tier="verified",
        asks_for_usage=False,
    ),
    _openai_like("xai", "ChatXAI", "https://api.x.ai/v1", "XAI_API_KEY", tier="verified"),
    _openai_like("openrouter", "ChatOpenRouter", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY", tier="verified"),
    Provider(
        name="mistralai", title="ChatMistralAI", api="mistral", dialect="mistral",
        base_url="https://api.mistral.ai/v1", base_url_variables=("MISTRAL_BASE_URL",),
        key_variables=("MISTRAL_API_KEY",), key_fields=("mistral_api_key",), url_fields=("endpoint",),
        asks_for_usage=False, tier="verified",
    ),
    Provider(
        name="ollama", title="ChatOllama", api="ollama", dialect="ollama", base_url="http://127.0.0.1:11434",
        base_url_variables=("OLLAMA_HOST",), path="/api/chat", key_variables=("OLLAMA_API_KEY",),
        key_optional=True, framing="ndjson", asks_for_usage=False, tier="verified",
    ),
    Provider(
        name="cohere", title="ChatCohere", api="cohere", dialect="cohere", base_url="https://api.cohere.com",
        base_url_variables=("CO_API_URL",), path="/v2/chat",
        key_variables=("COHERE_API_KEY", "CO_API_KEY"), key_fields=("cohere_api_key",),
        asks_for_usage=False,
    ),
    Provider(name="local", title="ChatLocal", dialect="local", **_LOCAL),  # type: ignore[arg-type]
    Provider(name="llamacpp", title="ChatLlamaCpp", dialect="llamacpp", **_LOCAL),  # type: ignore[arg-type]
    _openai_like("fireworks", "ChatFireworks", "https://api.fireworks.ai/inference/v1", "FIREWORKS_API_KEY"),
    _openai_like("together", "ChatTogether", "https://api.together.xyz/v1", "TOGETHER_API_KEY"),
    _openai_like("perplexity", "ChatPerplexity", "https://api.perplexity.ai", "PERPLEXITY_API_KEY", asks_for_usage=False, key_variables=("PERPLEXITY_API_KEY", "PPLX_API_KEY"), key_fields=("pplx_api_key",)),
    _openai_like("upstage", "ChatUpstage", "https://api.upstage.ai/v1", "UPSTAGE_API_KEY"),
    _openai_like("nvidia", "ChatNVIDIA", "https://integrate.api.nvidia.com/v1", "NVIDIA_API_KEY"),
    _openai_like("huggingface", "ChatHuggingFace", "https://router.huggingface.co/v1", "HF_TOKEN", key_variables=("HF_TOKEN", "HUGGINGFACEHUB_API_TOKEN"), key_fields=("huggingfacehub_api_token",)),
    _openai_like("cerebras", "ChatCerebras", "https://api.cerebras.ai/v1", "CEREBRAS_API_KEY"),
    _openai_like("sambanova", "ChatSambaNova", "https://api.sambanova.ai/v1", "SAMBANOVA_API_KEY"),
    _openai_like("deepinfra", "ChatDeepInfra", "https://api.deepinfra.com/v1/openai", "DEEPINFRA_API_KEY"),
    _openai_like("baseten", "ChatBaseten", "https://inference.baseten.co/v1", "BASETEN_API_KEY"),
    _openai_like("moonshot", "ChatMoonshot", "https://api.moonshot.ai/v1", "MOONSHOT_API_KEY"),
    _openai_like("zai", "ChatZAI", "https://api.z.ai/api/paas/v4", "ZAI_API_KEY", asks_for_usage=False),
    _openai_like("qwen", "ChatQwen", "https://dashscope-intl.aliyuncs.com/compatible-mode/v1", "DASHSCOPE_API_KEY"),
    _openai_like("github", "ChatGitHub", "https://models.github.ai/inference", "GITHUB_TOKEN"),
    _openai_like("litellm", "ChatLiteLLM", "http://127.0.0.1:4000", "LITELLM_API_KEY", key_optional=True),
    _openai_like("vllm", "ChatVLLM", "http://127.0.0.1:8000/v1", "VLLM_API_KEY", key_optional=True),
    _openai_like("lmstudio", "ChatLMStudio", "http://127.0.0.1:1234/v1", "LMSTUDIO_API_KEY", key_optional=True),
)  # fmt: skip

PROVIDERS: dict[str, Provider] = {row.name: row for row in _ROWS}
"""All rows by name."""

ALIASES = {
    "mistral": "mistralai",
    "google": "google_genai",
    "gemini": "google_genai",
    "azure": "azure_openai",
}
"""Other names that `provider:model` takes."""

# The first letters of a model's name tell its provider, when nobody said it. The rows and their order
# are LangChain's (`init_chat_model`, langchain 1.5).
PREFIXES: tuple[tuple[tuple[str, ...], str], ...] = (
    (("gpt-", "o1", "o3", "chatgpt", "text-davinci"), "openai"),
    (("claude",), "anthropic"),
    (("command",), "cohere"),
    (("accounts/fireworks",), "fireworks"),
    (("gemini",), "google_vertexai"),
    (("amazon.", "anthropic.", "meta."), "bedrock"),
    (("mistral", "mixtral"), "mistralai"),
    (("deepseek",), "deepseek"),
    (("grok",), "xai"),
    (("sonar",), "perplexity"),
    (("solar",), "upstage"),
)


def provider_for_model(model: str) -> str | None:
    """Return the provider that the model's name tells, or None.

    >>> provider_for_model("Claude-sonnet-4-5"), provider_for_model("my-model")
    ('anthropic', None)
    """
    name = model.lower()
    return next((provider for starts, provider in PREFIXES if name.startswith(starts)), None)
