"""Helpers for people who write integrations."""

from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from pydantic import BaseModel

from dragoman.messages.content import ensure_id
from dragoman.utils.env import convert_to_secret_str, from_env, secret_from_env

__all__ = [
    "convert_to_secret_str",
    "ensure_id",
    "from_env",
    "get_pydantic_field_names",
    "secret_from_env",
    "xor_args",
]

P = ParamSpec("P")
T = TypeVar("T")


def xor_args(*arg_groups: tuple[str, ...]) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Return a decorator: of each group of keywords exactly one has to be given and not None.

    >>> @xor_args(("path", "url"))
    ... def read(path=None, url=None):
    ...     return path or url
    >>> read(url="u")
    'u'
    """

    def decorate(function: Callable[P, T]) -> Callable[P, T]:
        @wraps(function)
        def checked(*args: P.args, **kwargs: P.kwargs) -> T:
            wrong = [
                group
                for group in arg_groups
                if sum(kwargs.get(name) is not None for name in group) != 1
            ]
            if wrong:
                names = ", ".join(", ".join(group) for group in wrong)
                message = (
                    "Exactly one argument in each of the following groups must be defined: " + names
                )
                raise ValueError(message)
            return function(*args, **kwargs)

        return checked

    return decorate


def get_pydantic_field_names(pydantic_cls: type[BaseModel]) -> set[str]:
    """Return the names of the fields of a class, and their aliases."""
    fields: dict[str, Any] = dict(pydantic_cls.model_fields)
    aliases = {field.alias for field in fields.values() if field.alias}
    return {*fields, *aliases}
