"""LangChain's place for `init_chat_model`."""

from typing import TYPE_CHECKING, Any

from dragoman.chat_models.factory import init_chat_model

if TYPE_CHECKING:
    from dragoman.language_models.chat_models import BaseChatModel

__all__ = ["BaseChatModel", "init_chat_model"]


def __getattr__(name: str) -> Any:
    if name == "BaseChatModel":
        from dragoman.language_models.chat_models import BaseChatModel

        return BaseChatModel
    if name == "_ConfigurableModel":
        from dragoman.chat_models.configurable import ConfigurableModel

        return ConfigurableModel
    message = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(message)
