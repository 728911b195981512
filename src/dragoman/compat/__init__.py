"""To and from the objects of an installed `langchain_core` (extra `langchain`).

For those who have LangChain in the house: messages, chunks, prompt values and tools cross in both
directions without a loss, a dragoman model serves where LangChain wants one of its own
(`wrap_model`), and a LangChain model serves here (`from_langchain_model`). `langchain_core` is
imported when one of these is called, never before.
"""

from typing import TYPE_CHECKING, Any

from dragoman._need import need

if TYPE_CHECKING:
    from dragoman.compat.adopted import AdoptedChatModel
    from dragoman.compat.wrapped import WrappedChatModel
    from dragoman.language_models.chat_models import BaseChatModel

__all__ = ["from_langchain", "from_langchain_model", "to_langchain", "wrap_model"]


def to_langchain(value: Any) -> Any:
    """Return `langchain_core`'s counterpart of a message, chunk, prompt value or tool.

    Lists, tuples and dicts of them are converted inside; numbers, texts and None are themselves;
    what is LangChain's already stays the same object. Nothing is shared with the input but a
    tool message's artifact.

    Raises:
        MissingExtraError: If `langchain_core` is not installed.
        EncodeError: If there is no counterpart; the text names the class and the place.

    >>> from dragoman.messages import HumanMessage
    >>> type(to_langchain(HumanMessage("hi"))).__module__
    'langchain_core.messages.human'
    """
    need("langchain_core", "langchain")
    from dragoman.compat.values import outward

    return outward(value, "$")


def from_langchain(value: Any) -> Any:
    """Return our counterpart of a LangChain message, chunk, prompt value or tool.

    The reverse of `to_langchain`: `from_langchain(to_langchain(x)) == x`, and the other way round.

    Raises:
        MissingExtraError: If `langchain_core` is not installed.
        DecodeError: If there is no counterpart; the text names the class and the place.
    """
    need("langchain_core", "langchain")
    from dragoman.compat.values import inward

    return inward(value, "$")


def wrap_model(model: "BaseChatModel | str", **options: Any) -> "WrappedChatModel":
    """Return a `langchain_core` chat model that asks a dragoman model.

    LangChain's agents, graphs and chains take it as one of theirs: `invoke`, `stream`, their async
    twins, `bind_tools`, `with_structured_output`, usage, ids and callbacks work. Errors are
    LangChain's classes of the same name, with ours as their cause.

    Args:
        model: A chat model, or what `init_chat_model` takes.
        options: Further options of `init_chat_model`, if `model` is a text.

    Raises:
        MissingExtraError: If `langchain_core` is not installed.
        TypeError: If `model` is something else.
    """
    need("langchain_core", "langchain")
    from dragoman.compat.wrapped import wrapped

    return wrapped(model, options)


def from_langchain_model(model: Any) -> "AdoptedChatModel":
    """Return a dragoman chat model that asks a LangChain chat model.

    The reverse of `wrap_model`; a wrapped model is unwrapped by `model.dragoman_model` instead.

    Raises:
        MissingExtraError: If `langchain_core` is not installed.
        TypeError: If `model` is no LangChain chat model.
    """
    need("langchain_core", "langchain")
    from dragoman.compat.adopted import adopted

    return adopted(model)
