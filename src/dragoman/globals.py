"""Settings of the whole process: the response cache, verbose and debug.

They exist for compatibility; every model also takes `cache=` and `verbose=` of its own.
"""

from typing import Any

__all__ = ["get_debug", "get_llm_cache", "get_verbose", "set_debug", "set_llm_cache", "set_verbose"]

_settings: dict[str, Any] = {"verbose": False, "debug": False, "llm_cache": None}


def set_verbose(value: bool) -> None:
    """Let models and chains built from now on print what they do."""
    _settings["verbose"] = value


def get_verbose() -> bool:
    """Return whether new models and chains print what they do."""
    return _settings["verbose"]


def set_debug(value: bool) -> None:
    """Let every run print its inputs and outputs, in all threads, until it is set to False."""
    from dragoman.callbacks.ambient import listen_everywhere
    from dragoman.tracers.stdout import ConsoleCallbackHandler

    if value != _settings["debug"]:
        listen_everywhere(ConsoleCallbackHandler if value else None)
    _settings["debug"] = value


def get_debug() -> bool:
    """Return whether every run prints its inputs and outputs."""
    return _settings["debug"]


def set_llm_cache(value: Any) -> None:
    """Use `value`, a `BaseCache` or None, as the cache of models that have none of their own."""
    _settings["llm_cache"] = value


def get_llm_cache() -> Any:
    """Return the process-wide response cache, or None.

    >>> get_llm_cache() is None
    True
    """
    return _settings["llm_cache"]
