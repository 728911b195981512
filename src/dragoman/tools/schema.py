"""Schemas of tools: from functions, and the part of a schema that a model may see."""

import dataclasses
import inspect
from collections.abc import Mapping, Sequence
from copy import copy
from functools import lru_cache, partial
from types import UnionType
from typing import Annotated, Any, NamedTuple, Union, get_args, get_origin

from pydantic import AliasChoices, AliasPath, BaseModel

from dragoman.runnables import RunnableConfig
from dragoman.tools.errors import SchemaAnnotationError
from dragoman.utils.docstrings import parse_docstring
from dragoman.utils.signatures import injection_marks, model_from_function, parameter_types
from dragoman.utils.typed_dicts import is_typed_dict

__all__ = ["FILTERED_ARGS", "Wants", "create_schema_from_function", "visible_schema", "wants_of"]

FILTERED_ARGS = ("run_manager", "callbacks")
"""Parameters that a run supplies; they are in no schema."""


class Wants(NamedTuple):
    """What a function takes beside its arguments.

    Attributes:
        config: The parameters annotated `RunnableConfig`.
        run_manager: Whether it takes the run's manager.
        callbacks: Whether it takes a manager for what it calls.
        injected: Its injected parameters, with their marks.
        named: The parameters that can be given by name.
        ordered: The parameters that can be given by place, in order.
        only_by_place: Those of them that cannot be given by name.
        positional: Its `*args` parameter, or None.
        keywords: Its `**kwargs` parameter, or None.
    """

    config: frozenset[str]
    run_manager: bool
    callbacks: bool
    injected: Mapping[str, tuple[Any, ...]]
    named: frozenset[str]
    ordered: tuple[str, ...]
    only_by_place: frozenset[str]
    positional: str | None
    keywords: str | None


def wants_of(function: Any) -> Wants:
    """Return what `function` takes; read once per function."""
    inner = getattr(function, "__func__", function)
    # A callable object may have no hash, or one that changes.
    lasts = inspect.isroutine(inner) or isinstance(inner, (type, partial))
    read = _wants if lasts else _wants.__wrapped__
    return read(inner, is_bound=inner is not function)


@lru_cache(maxsize=1024)
def _wants(function: Any, *, is_bound: bool) -> Wants:
    types = parameter_types(function)
    marks = {name: injection_marks(kind) for name, kind in types.items() if name != "return"}
    try:
        parameters = inspect.signature(function).parameters
    except ValueError:  # some functions of C tell none
        parameters = dict[str, inspect.Parameter]()
    kinds = {parameter.kind: name for name, parameter in parameters.items()}
    by_place = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    by_name = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    ordered = [name for name, parameter in parameters.items() if parameter.kind in by_place]
    return Wants(
        config=frozenset(name for name, kind in types.items() if _is_config(kind)),
        run_manager="run_manager" in parameters,
        callbacks="callbacks" in parameters,
        injected={name: found for name, found in marks.items() if found},
        named=frozenset(name for name, p in parameters.items() if p.kind in by_name),
        ordered=tuple(ordered[1:] if is_bound else ordered),
        only_by_place=frozenset(
            name for name, p in parameters.items() if p.kind is inspect.Parameter.POSITIONAL_ONLY
        ),
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
        SchemaAnnotationError: If an injected argument stands inside another.

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
    made = model_from_function(
        func,
        name=model_name,
        description=description,
        descriptions=texts,
        leave_out=left_out,
        keep_injected=include_injected,
    )
    check_injected(made)
    return made


def from_docstring(func: Any, names: list[str], *, strict: bool) -> tuple[str, dict[str, str]]:
    """Return the description and the argument texts in the docstring of `func`."""
    return parse_docstring(func.__doc__, names, strict=strict, allow_unknown=False)


def is_hidden(field: Any) -> bool:
    """Return whether a model's field is injected."""
    return bool(field_marks(field))


def field_marks(field: Any) -> tuple[Any, ...]:
    """Return the marks of a model's field that is injected."""
    return injection_marks(Annotated[(field.annotation, *field.metadata, None)])


def check_injected(schema: Any) -> None:
    """Refuse a schema in which a model could set an injected argument.

    Raises:
        SchemaAnnotationError: If one stands inside another argument, or is reached by a path.
    """
    for name, field in schema.model_fields.items():
        path = field.validation_alias
        choices = path.choices if isinstance(path, AliasChoices) else [path]
        if not is_hidden(field):
            place = _injected_below(field.annotation, frozenset())
            if place is not None:
                raise SchemaAnnotationError(
                    f"`{name}{place}` of `{schema.__name__}` is injected, but stands inside an "
                    "argument that the model gives: make it an argument of the tool itself"
                )
        elif any(isinstance(one, AliasPath) and len(one.path) > 1 for one in choices):
            raise SchemaAnnotationError(
                f"`{name}` of `{schema.__name__}` is injected, but its alias is a path into an "
                "argument that the model gives: give it a plain alias"
            )


def _injected_below(annotation: Any, above: frozenset[Any]) -> str | None:
    """Return where inside the type of an argument a mark stands, or None."""
    if injection_marks(annotation):
        return ""
    annotation = getattr(annotation, "__value__", annotation)  # a type alias
    inner = [_injected_below(item, above) for item in get_args(annotation)]
    kind = get_origin(annotation) or annotation
    if isinstance(kind, type) and kind not in above:
        for name, item in _types_inside(kind).items():
            place = _injected_below(item, above | {kind})
            inner.append(None if place is None else f".{name}{place}")
    return next((place for place in inner if place is not None), None)


def _types_inside(kind: type) -> dict[str, Any]:
    """Return the types of the fields of a model, dataclass or TypedDict."""
    if issubclass(kind, BaseModel):
        return {
            name: Annotated[(field.annotation, *field.metadata, None)]
            for name, field in kind.model_fields.items()
        }
    is_known = dataclasses.is_dataclass(kind) or is_typed_dict(kind)
    return parameter_types(kind) if is_known else {}


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
