"""Verbs that give a runnable when they are called without messages."""

from collections.abc import Callable
from functools import partial, wraps
from typing import Any, TypeVar, cast

__all__ = ["verb"]

F = TypeVar("F", bound=Callable[..., Any])


def verb(function: F) -> F:
    """Return `function`; called without messages it gives a runnable that takes them."""

    @wraps(function)
    def called(messages: Any = None, **options: Any) -> Any:
        if messages is not None:
            return function(messages, **options)
        from dragoman.runnables import RunnableLambda

        return RunnableLambda(partial(function, **options), name=function.__name__)

    return cast("F", called)
