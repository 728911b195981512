"""What counts as a step: a runnable, a function, or a dict of steps."""

import inspect
from collections.abc import Callable
from typing import Any

from dragoman.runnables.runnable import Runnable, RunnableLike
from dragoman.runnables.utils import is_async_generator

__all__ = ["chain", "coerce_to_runnable"]


def coerce_to_runnable(thing: RunnableLike) -> Runnable[Any, Any]:
    """Return a runnable: itself, a lambda of a function, a generator's, or a dict's parallel.

    Raises:
        TypeError: For anything else.
    """
    from dragoman.runnables.generator import RunnableGenerator
    from dragoman.runnables.lambdas import RunnableLambda
    from dragoman.runnables.parallel import RunnableParallel

    if isinstance(thing, Runnable):
        return thing
    if is_async_generator(thing) or inspect.isgeneratorfunction(thing):
        return RunnableGenerator(thing)
    if callable(thing):
        return RunnableLambda(thing)
    if isinstance(thing, dict):
        return RunnableParallel(thing)
    text = f"Expected a Runnable, callable or dict.Instead got an unsupported type: {type(thing)}"
    if callable(getattr(thing, "invoke", None)):  # another package's runnable
        text += ". Give its method: RunnableLambda(x.invoke, x.ainvoke)"
    raise TypeError(text)


def chain(func: Callable[..., Any]) -> Runnable[Any, Any]:
    """Return a function as a runnable that is named after it; a decorator.

    Runnables it calls inherit its config.

    >>> @chain
    ... def twice(x):
    ...     return x * 2
    >>> twice.invoke(2)
    4
    """
    from dragoman.runnables.lambdas import RunnableLambda

    return RunnableLambda(func)
