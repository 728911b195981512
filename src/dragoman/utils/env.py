"""Settings from a dict or the environment."""

import os
from typing import Any

__all__ = ["env_var_is_set", "get_from_dict_or_env", "get_from_env"]


def env_var_is_set(env_var: str) -> bool:
    """Return whether `env_var` is set to something that does not mean no.

    >>> env_var_is_set("NO_SUCH_VARIABLE_HERE")
    False
    """
    return env_var in os.environ and os.environ[env_var] not in {"", "0", "false", "False"}


def get_from_env(key: str, env_key: str, default: str | None = None) -> str:
    """Return the environment's `env_key`, or `default`.

    Raises:
        ValueError: If there is neither; the text names `key`.

    >>> get_from_env("key", "NO_SUCH_VARIABLE_HERE", "x")
    'x'
    """
    if value := os.getenv(env_key):
        return value
    if default is not None:
        return default
    message = (
        f"Did not find {key}, please add an environment variable `{env_key}` which contains it, "
        f"or pass `{key}` as a named parameter."
    )
    raise ValueError(message)


def get_from_dict_or_env(
    data: dict[str, Any], key: str | list[str], env_key: str, default: str | None = None
) -> str:
    """Return the first true `data[key]`, else the environment's `env_key`, else `default`.

    Raises:
        ValueError: If there is none of them.

    >>> get_from_dict_or_env({"a": "1"}, ["b", "a"], "NO_SUCH_VARIABLE_HERE")
    '1'
    """
    keys = key if isinstance(key, list) else [key]
    for name in keys:
        if data.get(name):
            return data[name]
    return get_from_env(keys[0], env_key, default)
