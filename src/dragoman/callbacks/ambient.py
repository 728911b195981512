"""What surrounds a call without being passed to it.

That is the config of the chain it stands in, and the handlers that a `with` block put in force.

`requested` is the one question every call asks first. While it answers no, no manager is built.
"""

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from dragoman.callbacks.base import BaseCallbackHandler, BaseCallbackManager

__all__ = [
    "ambient_handlers",
    "is_bare",
    "listen_everywhere",
    "register_configure_hook",
    "requested",
    "var_child_runnable_config",
    "with_handler",
]

var_child_runnable_config: ContextVar[Any] = ContextVar("child_runnable_config", default=None)
"""The config that calls inside a running chain inherit, or None outside of any."""

_handlers: ContextVar[tuple[BaseCallbackHandler, ...]] = ContextVar("handlers", default=())
_EVERYWHERE = "dragoman_everywhere"
_hooks: list[tuple[ContextVar[Any], bool]] = []


def register_configure_hook(
    context_var: ContextVar[Any],
    inheritable: bool,
    handle_class: type[BaseCallbackHandler] | None = None,
    env_var: str | None = None,
) -> None:
    """Let the handler that `context_var` holds, when it holds one, hear of every call.

    Raises:
        ValueError: If `env_var` is given: no environment variable switches on code here.
    """
    if env_var is not None:
        text = "`env_var` is not supported: set the context variable instead"
        raise ValueError(text)
    _hooks.append((context_var, inheritable))


def listen_everywhere(handler_class: Callable[[], BaseCallbackHandler] | None) -> None:
    """Let one handler of `handler_class` hear of every call of the process; None ends it."""
    for hook in [hook for hook in _hooks if hook[0].name == _EVERYWHERE]:
        _hooks.remove(hook)
    if handler_class is not None:
        variable: ContextVar[Any] = ContextVar(_EVERYWHERE, default=handler_class())  # noqa: B039 - one for all contexts is the point
        _hooks.append((variable, True))


@contextmanager
def with_handler(handler: BaseCallbackHandler) -> Generator[None, None, None]:
    """Let `handler` hear of every call made inside the block, also from tasks started there."""
    token = _handlers.set((*_handlers.get(), handler))
    try:
        yield
    finally:
        _handlers.reset(token)


def ambient_handlers() -> list[tuple[BaseCallbackHandler, bool]]:
    """Return the handlers in force and whether what is called inherits them."""
    found = [(handler, True) for handler in _handlers.get()]
    for variable, inheritable in _hooks:
        if (handler := variable.get()) is not None:
            found.append((handler, inheritable))
    return found


_surrounding = var_child_runnable_config.get
_in_force = _handlers.get


def is_bare(config: Mapping[str, Any] | None) -> bool:
    """Return whether a call with the config as given has nothing around it.

    That is: no config, no surrounding chain's, and nobody who listens. It is the shortest way to know
    that there is nothing to do but the work.
    """
    return config is None and _surrounding() is None and not _in_force() and not _hooks


def requested(config: Mapping[str, Any] | None) -> bool:
    """Return whether some handler wants to hear of a call with `config`.

    `config` is the effective one; this does not look at a surrounding chain's.

    >>> requested(None), requested({"callbacks": []})
    (False, False)
    """
    callbacks = None if config is None else config.get("callbacks")
    if callbacks and (not isinstance(callbacks, BaseCallbackManager) or callbacks.handlers):
        return True
    return bool(_handlers.get()) or (bool(_hooks) and bool(ambient_handlers()))
