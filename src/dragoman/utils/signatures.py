"""A function's signature as a pydantic model, under any parameter names.

pydantic reserves some names (`schema`, `copy`, a leading underscore). A parameter that has one
gets another field name and its own name as alias, so that schemas and inputs never show the
difference. Arguments that the caller injects are recognised by a mark on their annotation, as
their classes live further up the map.
"""

import inspect
import typing
from collections.abc import Iterable, Mapping
from functools import partial
from types import UnionType
from typing import Annotated, Any, get_args, get_origin

from dragoman.errors import MessageError
from dragoman.utils.typed_dicts import is_typed_dict

__all__ = [
    "function_name",
    "injection_marks",
    "is_injected",
    "model_from_function",
    "parameter_types",
]

INJECTED_MARK = "__injected_tool_arg__"
# Filled by whoever runs the tool; never shown to a model.
RESERVED = frozenset({"run_manager", "callbacks"})


def _unwrap(function: Any) -> Any:
    while isinstance(function, partial):
        function = function.func
    return function


def function_name(function: Any) -> str:
    """Return the name of a function, partial function or callable object."""
    inner = _unwrap(function)
    return getattr(inner, "__name__", None) or type(inner).__name__


def is_injected(annotation: Any) -> bool:
    """Return whether an argument so annotated is supplied by the caller, not by the model.

    True for `Annotated[T, InjectedToolArg]` (class or instance), for classes marked as injected,
    and for unions and Annotated types that hold one.
    """
    return bool(injection_marks(annotation))


def injection_marks(annotation: Any) -> tuple[Any, ...]:
    """Return the marks of an injected argument: what stands in `Annotated`, or a marked class.

    They are looked for through unions and nested `Annotated`, not inside containers.
    """
    origin = get_origin(annotation)
    if origin is Annotated:
        inner, *marks = get_args(annotation)
        return (*(mark for mark in marks if _is_mark(mark)), *injection_marks(inner))
    if _is_mark(annotation):
        return (annotation,)
    if _is_mark(origin):
        return (origin,)
    if origin is typing.Union or origin is UnionType:
        return tuple(mark for item in get_args(annotation) for mark in injection_marks(item))
    return ()


def _is_mark(value: Any) -> bool:
    if getattr(value, INJECTED_MARK, False) is True:
        return True
    # Real langchain-core markers, told by name: tools written for it keep working.
    cls = value if isinstance(value, type) else type(value)
    return any(
        base.__name__ in ("InjectedToolArg", "_DirectlyInjectedToolArg") for base in cls.__mro__
    )


def parameter_types(function: Any) -> dict[str, Any]:
    """Return the annotation of each annotated parameter, with string annotations evaluated.

    One that cannot be evaluated stays a string.
    """
    inner = _unwrap(function)
    target = inner.__init__ if isinstance(inner, type) and not is_typed_dict(inner) else inner
    if not inspect.isroutine(target) and not isinstance(target, type) and callable(target):
        target = type(target).__call__
    try:
        return typing.get_type_hints(target, include_extras=True)
    except Exception:  # noqa: BLE001 - evaluating annotations runs user code, which may raise anything
        return _one_by_one(target)


def _one_by_one(target: Any) -> dict[str, Any]:
    raw: dict[str, Any] = dict(getattr(target, "__annotations__", {}))
    target = inspect.unwrap(target)
    scope = {**vars(typing), **getattr(target, "__globals__", {})}
    for name, annotation in raw.items():
        holder = type("Holder", (), {"__annotations__": {name: annotation}})
        try:
            raw[name] = typing.get_type_hints(holder, scope, include_extras=True)[name]
        except Exception:  # noqa: BLE001, S112 - as above
            continue
    return raw


def model_from_function(
    function: Any,
    *,
    name: str | None = None,
    description: str | None = None,
    descriptions: Mapping[str, str] | None = None,
    leave_out: Iterable[str] = (),
    keep_injected: bool = False,
) -> Any:
    """Return a pydantic model with a field for each parameter of `function`.

    Args:
        function: Any callable; `self` and `cls` of methods are not parameters.
        name: The model's name; the function's by default.
        description: The model's docstring.
        descriptions: Texts of single parameters; they win over those in annotations.
        leave_out: Parameters without a field.
        keep_injected: Whether injected parameters get a field too.

    Returns:
        A subclass of `pydantic.BaseModel`. `*args` and `**kwargs` become the fields `args`
        and `kwargs`.

    Raises:
        MessageError: If an annotation cannot be evaluated; the text names the parameter.
    """
    from pydantic import ConfigDict, create_model

    types = parameter_types(function)
    left_out = {*leave_out, *RESERVED}
    fields: dict[str, Any] = {}
    owner = name or function_name(function)
    for parameter in _parameters(function):
        if parameter.name in left_out:
            continue
        annotation = types.get(parameter.name, Any)
        if isinstance(annotation, str):
            message = (
                f"Cannot evaluate the annotation {annotation!r} of `{parameter.name}` in `{owner}`"
            )
            raise MessageError(message, hint="define or import the type before the tool")
        if is_injected(annotation) and not keep_injected:
            continue
        text = (descriptions or {}).get(parameter.name)
        field, entry = _field(parameter, annotation, text)
        fields[field] = entry
    config = ConfigDict(
        arbitrary_types_allowed=True, populate_by_name=False, protected_namespaces=()
    )
    model: Any = create_model(owner, __config__=config, **fields)
    model.__doc__ = description
    # An alias in it is a parameter's own name, not one for the model alone.
    model.__from_function__ = True
    return model


def _parameters(function: Any) -> list[inspect.Parameter]:
    found = list(inspect.signature(function).parameters.values())
    if found and found[0].name in ("self", "cls") and not inspect.ismethod(function):
        # A function that stands in no class has such a parameter like any other.
        place = str(getattr(function, "__qualname__", ".")).rpartition("<locals>.")[2]
        return found[1:] if "." in place else found
    return found


def _field(parameter: inspect.Parameter, annotation: Any, text: str | None) -> tuple[str, Any]:
    """Return the field's name and its `(annotation, FieldInfo)` pair."""
    from pydantic import BaseModel, Field

    name, default = parameter.name, parameter.default
    if parameter.kind is parameter.VAR_POSITIONAL:
        annotation, default = list[annotation], None
    elif parameter.kind is parameter.VAR_KEYWORD:
        annotation, default = dict[str, annotation], None
    if get_origin(annotation) is Annotated:
        inner, *marks = get_args(annotation)
        words = [mark for mark in marks if isinstance(mark, str)]
        rest = tuple(mark for mark in marks if not isinstance(mark, str))
        text = text or (words[0] if words else None)
        annotation = Annotated[(inner, *rest)] if rest else inner
    options: dict[str, Any] = {}
    if text:
        options["description"] = text
    field = name
    if name.startswith("_") or hasattr(BaseModel, name):
        field = f"p_{name.strip('_')}_"
        options["alias"] = name
        options["title"] = name.replace("_", " ").title().strip()
    if options:
        annotation = Annotated[annotation, Field(**options)]
    return field, (annotation, ... if default is inspect.Parameter.empty else default)
