"""Schemas of tools: from functions, and the part of a schema that a model may see."""

import inspect
from collections.abc import Sequence
from copy import copy
from functools import lru_cache
from types import UnionType
from typing import Annotated, Any, NamedTuple, Union, get_args, get_origin

from dragoman.runnables import RunnableConfig
from dragoman.utils.docstrings import parse_docstring
from dragoman.utils.signatures import is_injected, model_from_function, parameter_types

__all__ = ["FILTERED_ARGS", "Wants", "create_schema_from_function", "visible_schema", "wants_of"]

FILTERED_ARGS = ("run_manager", "callbacks")
"""Parameters that a run supplies; they are in no schema."""


class Wants(NamedTuple):
    """What a function takes beside its arguments.

    Attributes:
        config: The parameters annotated `RunnableConfig`.
        run_manager: Whether it takes the run's manager.
        callbacks: Whether it takes a manager for what it calls.
        injected: Its injected parameters.
        positional: Its `*args` parameter, or None.
        keywords: Its `**kwargs` parameter, or None.
    """

    config: frozenset[str]
    run_manager: bool
    callbacks: bool
    injected: frozenset[str]
    positional: str | None
    keywords: str | None


def wants_of(function: Any) -> Wants:
    """Return what `function` takes; read once per function."""
    return _wants(getattr(function, "__func__", function))


@lru_cache(maxsize=1024)
def _wants(function: Any) -> Wants:
    types = parameter_types(function)
    parameters = inspect.signature(function).parameters
    kinds = {parameter.kind: name for name, parameter in parameters.items()}
    return Wants(
        config=frozenset(name for name, kind in types.items() if _is_config(kind)),
        run_manager="run_manager" in parameters,
        callbacks="callbacks" in parameters,
        injected=frozenset(name for name, kind in types.items() if is_injected(kind)),
        positional=kinds.get(inspect.Parameter.VAR_POSITIONAL),
        keywords=kinds.get(inspect.Parameter.VAR_KEYWORD),
    )


def _is_config(annotation: Any) -> bool:
    origin = get_origin(annotation)
    if origin is Union or origin is UnionType:
        return any(_is_config(item) for item in get_args(annotation))
    if origin is Annotated:
        return _is_config(get_args(annotation)[0])
    return annotation is RunnableConfig


def create_schema_from_function(
    model_name: str,
    func: Any,
    *,
    filter_args: Sequence[str] | None = None,
    parse_docstring: bool = False,
    error_on_invalid_docstring: bool = False,
    include_injected: bool = True,
) -> Any:
    """Return a pydantic model with a field for each parameter of `func`.

    Args:
        model_name: The name of the model.
        func: Any callable. A parameter annotated `RunnableConfig`, `run_manager` and `callbacks`
            get no field.
        filter_args: Further parameters without a field.
        parse_docstring: Whether the docstring describes the parameters (Google style).
        error_on_invalid_docstring: Whether a docstring of another form is an error.
        include_injected: Whether injected parameters get a field.

    Raises:
        ValueError: If the docstring is invalid, or names a parameter that is not there.

    >>> def add(a: int, b: int = 1) -> int:
    ...     return a + b
    >>> list(create_schema_from_function("add", add).model_fields)
    ['a', 'b']
    """
    left_out = {*FILTERED_ARGS, *(filter_args or ()), *wants_of(func).config}
    # A class would inherit its base's docstring: pydantic's, for a model without one.
    doc = inspect.cleandoc(func.__doc__ or "") if isinstance(func, type) else inspect.getdoc(func)
    description, texts = doc, dict[str, str]()
    if parse_docstring:
        names = list(inspect.signature(func).parameters)
        description, texts = from_docstring(func, names, strict=error_on_invalid_docstring)
    return model_from_function(
        func,
        name=model_name,
        description=description,
        descriptions=texts,
        leave_out=left_out,
        keep_injected=include_injected,
    )


def from_docstring(func: Any, names: list[str], *, strict: bool) -> tuple[str, dict[str, str]]:
    """Return the description and the argument texts in the docstring of `func`."""
    return parse_docstring(func.__doc__, names, strict=strict, allow_unknown=False)


def is_hidden(field: Any) -> bool:
    """Return whether a model's field is injected."""
    if is_injected(field.annotation):
        return True
    return any(is_injected(Annotated[Any, mark]) for mark in field.metadata)


def visible_schema(model: Any, name: str, description: str) -> Any:
    """Return a pydantic model like `model`, without its injected fields and under another name."""
    from pydantic import ConfigDict, create_model

    fields: dict[str, Any] = {
        key: (field.annotation, copy(field))
        for key, field in model.model_fields.items()
        if not is_hidden(field)
    }
    config = ConfigDict(arbitrary_types_allowed=True, protected_namespaces=())
    visible = create_model(name, __config__=config, **fields)
    visible.__doc__ = description
    return visible
