"""The doors whose provider needs nothing of its own beside its row."""

from typing import ClassVar

from dragoman.chat_models.model import ProviderChatModel

__all__ = [
    "ChatAnthropic",
    "ChatCohere",
    "ChatDeepSeek",
    "ChatGroq",
    "ChatMistralAI",
    "ChatOllama",
    "ChatOpenRouter",
    "ChatXAI",
]


class ChatAnthropic(ProviderChatModel):
    """Anthropic's Messages API. `betas=[...]` goes into the `anthropic-beta` header."""

    provider_name: ClassVar[str] = "anthropic"


class ChatOllama(ProviderChatModel):
    """Ollama's own API, by default on this machine."""

    provider_name: ClassVar[str] = "ollama"


class ChatDeepSeek(ProviderChatModel):
    """DeepSeek."""

    provider_name: ClassVar[str] = "deepseek"


class ChatGroq(ProviderChatModel):
    """Groq."""

    provider_name: ClassVar[str] = "groq"


class ChatMistralAI(ProviderChatModel):
    """Mistral."""

    provider_name: ClassVar[str] = "mistralai"


class ChatXAI(ProviderChatModel):
    """xAI (Grok)."""

    provider_name: ClassVar[str] = "xai"


class ChatOpenRouter(ProviderChatModel):
    """OpenRouter."""

    provider_name: ClassVar[str] = "openrouter"


class ChatCohere(ProviderChatModel):
    """Cohere."""

    provider_name: ClassVar[str] = "cohere"
