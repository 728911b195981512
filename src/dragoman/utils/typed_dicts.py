"""TypedDict classes as pydantic models.

A field may be written `Annotated[T, default, "description"]`, where `...` as default means
required. Without a default a field is required, unless the class says otherwise (`total=False`,
`NotRequired`). TypedDicts inside others are turned too, up to a depth.
"""

import inspect
import typing
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from dragoman.errors import MessageError, short
from dragoman.utils.docstrings import parse_docstring

__all__ = ["is_typed_dict", "model_from_typed_dict"]

MAX_DEPTH = 25
QUALIFIERS = ("Required", "NotRequired", "ReadOnly")


def is_typed_dict(cls: Any) -> bool:
    """Return whether `cls` is a TypedDict class, of `typing` or `typing_extensions`."""
    return isinstance(cls, type) and issubclass(cls, dict) and hasattr(cls, "__required_keys__")


def model_from_typed_dict(cls: Any, *, keep_none: bool = False, depth: int = MAX_DEPTH) -> Any:
    """Return a pydantic model with the fields of the TypedDict `cls`.

    Args:
        cls: The TypedDict class.
        keep_none: Whether `Optional[T]` stays `T | None`; otherwise it becomes `T`, as a model
            that has nothing to say may leave an optional field out.
        depth: How many TypedDicts may stand inside each other.

    Raises:
        ValueError: If a description is no str, or the nesting is deeper than `depth`.
    """
    from pydantic import ConfigDict, Field, create_model

    if depth < 0:
        raise MessageError(f"TypedDicts are nested more than {MAX_DEPTH} levels deep")
    own_doc = cls.__doc__ if cls.__doc__ != dict.__doc__ else None
    hints = _hints(cls)
    description, texts = parse_docstring(own_doc, hints)
    fields: dict[str, Any] = {}
    for name, annotation in hints.items():
        annotation, is_required = _qualifiers(annotation, name in cls.__required_keys__)
        options: dict[str, Any] = {"alias": name, "title": name.replace("_", " ").title()}
        if text := texts.get(name):
            options["description"] = text
        if get_origin(annotation) is Annotated:
            inner, *marks = get_args(annotation)
            if len(marks) > 1 and not isinstance(marks[1], str):
                message = (
                    f"Invalid annotation for field {name}. Third argument to Annotated must be a "
                    f"string description, received value of type {type(marks[1])}."
                )
                raise ValueError(message)
            if len(marks) > 1:
                options["description"] = marks[1]
            annotation, is_required = _qualifiers(inner, is_required)
            is_required = is_required and marks[0] is ...
            if marks[0] is not ... and marks[0] is not None:
                options["default"] = marks[0]
        annotation = _expand(annotation, keep_none, depth)
        if not is_required:
            options.setdefault("default", None)
        # Field names are made up: a TypedDict may use any key, pydantic may not.
        fields[f"f{len(fields)}_"] = (annotation, Field(**options))
    config = ConfigDict(arbitrary_types_allowed=True, protected_namespaces=())
    model = create_model(cls.__name__, __config__=config, **fields)
    model.__doc__ = description or None
    return model


def _hints(cls: Any) -> dict[str, Any]:
    try:
        return typing.get_type_hints(cls, include_extras=True)
    except NameError as error:
        message = f"Cannot evaluate an annotation of `{cls.__name__}`: {short(str(error))}"
        raise MessageError(message, hint="define or import the type before its use") from error


def _qualifiers(annotation: Any, is_required: bool) -> tuple[Any, bool]:
    """Return the annotation without `Required`, `NotRequired`, `ReadOnly`, and whether it is required."""
    while (word := getattr(get_origin(annotation), "_name", None)) in QUALIFIERS:
        is_required = is_required if word == "ReadOnly" else word == "Required"
        annotation = get_args(annotation)[0]
    return annotation, is_required


def _expand(annotation: Any, keep_none: bool, depth: int) -> Any:
    """Return the annotation with TypedDicts replaced by models."""
    if is_typed_dict(annotation):
        return model_from_typed_dict(annotation, keep_none=keep_none, depth=depth - 1)
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is None or not arguments or origin is typing.Literal:
        return annotation
    if origin is Annotated:
        return Annotated[(_expand(arguments[0], keep_none, depth), *arguments[1:])]
    if origin is Union or origin is UnionType:
        items = [a for a in arguments if keep_none or a is not type(None)]
        return Union[tuple(_expand(item, keep_none, depth) for item in items)]  # noqa: UP007
    generic: Any = origin
    if inspect.isclass(origin) and hasattr(origin, "__class_getitem__"):
        expanded: list[Any] = [
            _expand(a, keep_none, depth) if not isinstance(a, list) else a for a in arguments
        ]
        return generic[tuple(expanded) if len(expanded) > 1 else expanded[0]]
    return annotation
