"""The doors of providers that nobody here has called: addresses and dialects as published."""

from typing import ClassVar

from dragoman.chat_models.model import ProviderChatModel

__all__ = [
    "ChatBaseten",
    "ChatCerebras",
    "ChatDeepInfra",
    "ChatFireworks",
    "ChatGitHub",
    "ChatHuggingFace",
    "ChatLMStudio",
    "ChatLiteLLM",
    "ChatMoonshot",
    "ChatNVIDIA",
    "ChatPerplexity",
    "ChatQwen",
    "ChatSambaNova",
    "ChatTogether",
    "ChatUpstage",
    "ChatVLLM",
    "ChatZAI",
]


class ChatFireworks(ProviderChatModel):
    """Fireworks AI; listed, not verified."""

    provider_name: ClassVar[str] = "fireworks"


class ChatTogether(ProviderChatModel):
    """Together AI; listed, not verified."""

    provider_name: ClassVar[str] = "together"


class ChatPerplexity(ProviderChatModel):
    """Perplexity; listed, not verified."""

    provider_name: ClassVar[str] = "perplexity"


class ChatUpstage(ProviderChatModel):
    """Upstage; listed, not verified."""

    provider_name: ClassVar[str] = "upstage"


class ChatNVIDIA(ProviderChatModel):
    """NVIDIA NIM; listed, not verified."""

    provider_name: ClassVar[str] = "nvidia"


class ChatHuggingFace(ProviderChatModel):
    """The Hugging Face router; listed, not verified."""

    provider_name: ClassVar[str] = "huggingface"


class ChatCerebras(ProviderChatModel):
    """Cerebras; listed, not verified."""

    provider_name: ClassVar[str] = "cerebras"


class ChatSambaNova(ProviderChatModel):
    """SambaNova; listed, not verified."""

    provider_name: ClassVar[str] = "sambanova"


class ChatDeepInfra(ProviderChatModel):
    """DeepInfra; listed, not verified."""

    provider_name: ClassVar[str] = "deepinfra"


class ChatBaseten(ProviderChatModel):
    """Baseten; listed, not verified."""

    provider_name: ClassVar[str] = "baseten"


class ChatMoonshot(ProviderChatModel):
    """Moonshot (Kimi); listed, not verified."""

    provider_name: ClassVar[str] = "moonshot"


class ChatZAI(ProviderChatModel):
    """Z.ai (GLM); listed, not verified."""

    provider_name: ClassVar[str] = "zai"


class ChatQwen(ProviderChatModel):
    """Qwen through DashScope's OpenAI wire; listed, not verified."""

    provider_name: ClassVar[str] = "qwen"


class ChatGitHub(ProviderChatModel):
    """GitHub Models; listed, not verified."""

    provider_name: ClassVar[str] = "github"


class ChatLiteLLM(ProviderChatModel):
    """A LiteLLM proxy, by default on this machine; listed, not verified."""

    provider_name: ClassVar[str] = "litellm"


class ChatVLLM(ProviderChatModel):
    """A vLLM server, by default on this machine; listed, not verified."""

    provider_name: ClassVar[str] = "vllm"


class ChatLMStudio(ProviderChatModel):
    """LM Studio, by default on this machine; listed, not verified."""

    provider_name: ClassVar[str] = "lmstudio"
