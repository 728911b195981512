"""Questions about pydantic classes; only version 2 counts."""

from typing import Any, TypeGuard

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

__all__ = [
    "faults_text",
    "get_fields",
    "get_pydantic_major_version",
    "is_basemodel_instance",
    "is_basemodel_subclass",
    "is_pydantic_v2_subclass",
]


def get_pydantic_major_version() -> int:
    """Return 2.

    >>> get_pydantic_major_version()
    2
    """
    return 2


def is_basemodel_subclass(cls: Any) -> TypeGuard[type[BaseModel]]:
    """Return whether `cls` is a pydantic class; generic aliases such as `list[int]` are none.

    >>> is_basemodel_subclass(list[int])
    False
    """
    return isinstance(cls, type) and issubclass(cls, BaseModel)


is_pydantic_v2_subclass = is_basemodel_subclass


def is_basemodel_instance(obj: Any) -> TypeGuard[BaseModel]:
    """Return whether `obj` is a pydantic object.

    >>> is_basemodel_instance({})
    False
    """
    return isinstance(obj, BaseModel)


def get_fields(model: type[BaseModel] | BaseModel) -> dict[str, FieldInfo]:
    """Return the fields of a pydantic class or object by name.

    Raises:
        TypeError: If it is neither.
    """
    cls = model if isinstance(model, type) else type(model)
    if not is_basemodel_subclass(cls):
        message = f"Expected a Pydantic model. Got {cls!r}"
        raise TypeError(message)
    return cls.model_fields


def faults_text(error: ValidationError, whole: str) -> str:
    """Return what is wrong where, without the values that were given; `whole` names the top.

    >>> from pydantic import TypeAdapter
    >>> try:
    ...     TypeAdapter(dict[str, int]).validate_python({"age": "old"})
    ... except ValidationError as error:
    ...     faults_text(error, "answer")
    'age: Input should be a valid integer, unable to parse string as an integer'
    """
    faults = error.errors(include_input=False, include_url=False, include_context=False)
    return "; ".join(
        f"{'.'.join(str(part) for part in fault['loc']) or whole}: {fault['msg']}"
        for fault in faults
    )
