"""The named doors: LangChain's class for each provider, each a row of the providers table.

What a class adds is only what its provider alone needs: the parts of an address, a token function, a
signature. A class is built when it is first asked for.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dragoman.chat_models.named.amazon import ChatBedrockConverse
    from dragoman.chat_models.named.azure import AzureChatOpenAI
    from dragoman.chat_models.named.google import ChatGoogleGenerativeAI, ChatVertexAI
    from dragoman.chat_models.named.listed import (
        ChatBaseten,
        ChatCerebras,
        ChatDeepInfra,
        ChatFireworks,
        ChatGitHub,
        ChatHuggingFace,
        ChatLiteLLM,
        ChatLMStudio,
        ChatMoonshot,
        ChatNVIDIA,
        ChatPerplexity,
        ChatQwen,
        ChatSambaNova,
        ChatTogether,
        ChatUpstage,
        ChatVLLM,
        ChatZAI,
    )
    from dragoman.chat_models.named.openai import ChatOpenAI, ChatOpenAIResponses
    from dragoman.chat_models.named.verified import (
        ChatAnthropic,
        ChatCohere,
        ChatDeepSeek,
        ChatGroq,
        ChatMistralAI,
        ChatOllama,
        ChatOpenRouter,
        ChatXAI,
    )

__all__ = [
    "AzureChatOpenAI",
    "ChatAnthropic",
    "ChatBaseten",
    "ChatBedrockConverse",
    "ChatCerebras",
    "ChatCohere",
    "ChatDeepInfra",
    "ChatDeepSeek",
    "ChatFireworks",
    "ChatGitHub",
    "ChatGoogleGenerativeAI",
    "ChatGroq",
    "ChatHuggingFace",
    "ChatLMStudio",
    "ChatLiteLLM",
    "ChatMistralAI",
    "ChatMoonshot",
    "ChatNVIDIA",
    "ChatOllama",
    "ChatOpenAI",
    "ChatOpenAIResponses",
    "ChatOpenRouter",
    "ChatPerplexity",
    "ChatQwen",
    "ChatSambaNova",
    "ChatTogether",
    "ChatUpstage",
    "ChatVLLM",
    "ChatVertexAI",
    "ChatXAI",
    "ChatZAI",
]

_CLASSES: dict[str, tuple[str, ...]] = {
    "openai": ("ChatOpenAI", "ChatOpenAIResponses"),
    "azure": ("AzureChatOpenAI",),
    "google": ("ChatGoogleGenerativeAI", "ChatVertexAI"),
    "amazon": ("ChatBedrockConverse",),
    "verified": (
        "ChatAnthropic",
        "ChatCohere",
        "ChatDeepSeek",
        "ChatGroq",
        "ChatMistralAI",
        "ChatOllama",
        "ChatOpenRouter",
        "ChatXAI",
    ),
    "listed": (
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
    ),
}
_HOME = {name: home for home, names in _CLASSES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME})
