"""Language models: what chains call, and what users subclass.

`BaseChatModel` takes messages and gives one, `BaseLLM` takes and gives text. Names are loaded when
first used, as the base classes need pydantic.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dragoman.language_models.base import (
        BaseLanguageModel,
        LangSmithParams,
        LanguageModelInput,
        LanguageModelLike,
        LanguageModelOutput,
    )
    from dragoman.language_models.chat_models import BaseChatModel, SimpleChatModel
    from dragoman.language_models.fake import FakeListLLM, FakeStreamingListLLM
    from dragoman.language_models.fake_chat_models import (
        FakeChatModel,
        FakeListChatModel,
        FakeMessagesListChatModel,
        GenericFakeChatModel,
        ParrotFakeChatModel,
    )
    from dragoman.language_models.inputs import is_openai_data_block
    from dragoman.language_models.llms import LLM, BaseLLM
    from dragoman.language_models.model_profile import ModelProfile, ModelProfileRegistry
    from dragoman.language_models.streams import AsyncMessageStream, MessageStream

__all__ = [
    "LLM",
    "AsyncMessageStream",
    "BaseChatModel",
    "BaseLLM",
    "BaseLanguageModel",
    "FakeChatModel",
    "FakeListChatModel",
    "FakeListLLM",
    "FakeMessagesListChatModel",
    "FakeStreamingListLLM",
    "GenericFakeChatModel",
    "LangSmithParams",
    "LanguageModelInput",
    "LanguageModelLike",
    "LanguageModelOutput",
    "MessageStream",
    "ModelProfile",
    "ModelProfileRegistry",
    "ParrotFakeChatModel",
    "SimpleChatModel",
    "is_openai_data_block",
]

_PLACES = {
    "LLM": "llms",
    "AsyncMessageStream": "streams",
    "BaseChatModel": "chat_models",
    "BaseLLM": "llms",
    "BaseLanguageModel": "base",
    "FakeChatModel": "fake_chat_models",
    "FakeListChatModel": "fake_chat_models",
    "FakeListLLM": "fake",
    "FakeMessagesListChatModel": "fake_chat_models",
    "FakeStreamingListLLM": "fake",
    "GenericFakeChatModel": "fake_chat_models",
    "LangSmithParams": "base",
    "LanguageModelInput": "base",
    "LanguageModelLike": "base",
    "LanguageModelOutput": "base",
    "MessageStream": "streams",
    "ModelProfile": "model_profile",
    "ModelProfileRegistry": "model_profile",
    "ParrotFakeChatModel": "fake_chat_models",
    "SimpleChatModel": "chat_models",
    "is_openai_data_block": "inputs",
}


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    value = getattr(import_module(f"{__name__}.{_PLACES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
