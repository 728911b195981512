"""Chat models of every provider.

`init_chat_model("provider:model")` makes any of them; the named classes (`ChatOpenAI`,
`ChatAnthropic` ...) are thin doors to the same machinery. Importing this package loads neither
pydantic nor an HTTP client: classes are imported when first used, the client and its certificates at
the first request.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from dragoman.chat_models.factory import init_chat_model
from dragoman.chat_models.providers import PROVIDERS

if TYPE_CHECKING:
    from dragoman.chat_models.local_model import ChatLlamaCpp, ChatLocal
    from dragoman.chat_models.named import (
        AzureChatOpenAI,
        ChatAnthropic,
        ChatBedrockConverse,
        ChatCohere,
        ChatDeepSeek,
        ChatFireworks,
        ChatGoogleGenerativeAI,
        ChatGroq,
        ChatMistralAI,
        ChatOllama,
        ChatOpenAI,
        ChatOpenAIResponses,
        ChatOpenRouter,
        ChatPerplexity,
        ChatTogether,
        ChatVertexAI,
        ChatXAI,
    )
    from dragoman.language_models.chat_models import BaseChatModel

__all__ = [
    "PROVIDERS",
    "AzureChatOpenAI",
    "BaseChatModel",
    "ChatAnthropic",
    "ChatBedrockConverse",
    "ChatCohere",
    "ChatDeepSeek",
    "ChatFireworks",
    "ChatGoogleGenerativeAI",
    "ChatGroq",
    "ChatLlamaCpp",
    "ChatLocal",
    "ChatMistralAI",
    "ChatOllama",
    "ChatOpenAI",
    "ChatOpenAIResponses",
    "ChatOpenRouter",
    "ChatPerplexity",
    "ChatTogether",
    "ChatVertexAI",
    "ChatXAI",
    "init_chat_model",
]

_HOME = {
    "BaseChatModel": "dragoman.language_models.chat_models",
    "ChatLlamaCpp": "dragoman.chat_models.local_model",
    "ChatLocal": "dragoman.chat_models.local_model",
    "OpenAI": "dragoman.chat_models.completions",
    "usage_cost": "dragoman.chat_models.prices",
}
_CLASSES = {row.title for row in PROVIDERS.values()}


def __getattr__(name: str) -> Any:
    home = _HOME.get(name) or ("dragoman.chat_models.named" if name in _CLASSES else None)
    if home is None:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    value = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME, *_CLASSES})
