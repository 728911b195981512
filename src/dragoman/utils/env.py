"""Settings from a dict or the environment; secrets as pydantic's `SecretStr`."""

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pydantic import SecretStr

__all__ = [
    "convert_to_secret_str",
    "env_var_is_set",
    "from_env",
    "get_from_dict_or_env",
    "get_from_env",
    "secret_from_env",
]

_NO_DEFAULT: Any = object()


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


def from_env(
    key: str | Sequence[str],
    /,
    *,
    default: str | None = _NO_DEFAULT,
    error_message: str | None = None,
) -> Callable[[], str | None]:
    """Return a function that reads the environment, for use as a field's `default_factory`.

    It gives the first variable of `key` that is set, else `default`, else raises a ValueError with
    `error_message` or one that names `key`.

    >>> from_env("NO_SUCH_VARIABLE_HERE", default="x")()
    'x'
    """
    names = [key] if isinstance(key, str) else list(key)

    def read() -> str | None:
        for name in names:
            if name in os.environ:
                return os.environ[name]
        if default is not _NO_DEFAULT:
            return default
        shown = " or ".join(f"`{name}`" for name in names)
        message = error_message or (
            f"Did not find {key}, please add an environment variable {shown} which contains it, "
            f"or pass `{key}` as a named parameter."
        )
        raise ValueError(message)

    return read


def secret_from_env(
    key: str | Sequence[str],
    /,
    *,
    default: str | None = _NO_DEFAULT,
    error_message: str | None = None,
) -> "Callable[[], SecretStr | None]":
    """Return a function like that of `from_env`, whose value hides itself when printed.

    >>> secret_from_env("NO_SUCH_VARIABLE_HERE", default="x")()
    SecretStr('**********')
    """
    read = from_env(key, default=default, error_message=error_message)

    def secret() -> "SecretStr | None":
        value = read()
        return None if value is None else convert_to_secret_str(value)

    return secret


def convert_to_secret_str(value: "SecretStr | str") -> "SecretStr":
    """Return `value` as a string that hides itself when printed.

    >>> convert_to_secret_str("key")
    SecretStr('**********')
    """
    from pydantic import SecretStr

    return value if isinstance(value, SecretStr) else SecretStr(value)
