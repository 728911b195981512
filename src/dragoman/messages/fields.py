"""Fields of message classes: properties in front of slots, lazy containers, and their coercion.

What a constructor takes is made exact here: subclasses of `str` become `str` (msgspec encodes no other),
mappings become dicts, lists are new lists. Everything else is a `MessageError` that names the field.
"""

from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from msgspec import UNSET

from dragoman.errors import MessageError, short

if TYPE_CHECKING:
    # For type checkers; at run time the constructor checks, and msgspec reads anything.
    Content: TypeAlias = str | list[str | dict[str, Any]]
    Fields: TypeAlias = dict[str, Any]

    class Slot:
        """What a type checker is told about `_raw_<field>`: anything, and no field of its own."""

        def __get__(self, instance: object, owner: Any = None) -> Any: ...
        def __set__(self, instance: object, value: Any) -> None: ...

else:
    Content = Fields = Any

__all__ = [
    "ASIDE",
    "NOT_GIVEN",
    "Content",
    "Fields",
    "as_content",
    "as_dict",
    "as_id",
    "as_text",
    "field_names",
    "lazy_field",
    "shadow",
]

ASIDE = "_aside"
"""The attribute that holds unknown keys whose names the class itself uses (`role`, `text`)."""

NOT_GIVEN: Any = UNSET
"""The default of fields that have to be given; checked in `__post_init__`."""


def shadow(cls: type, name: str, view: Any) -> None:
    """Put a property in front of a field; msgspec goes on using the slot."""
    setattr(cls, name, view)


def lazy_field(cls: type, name: str, make: Callable[[], Any], doc: str) -> None:
    """Shadow a field by a property that makes its value when first read.

    The slot stays reachable as `_raw_<name>` at the speed of a slot.
    """
    slot = cls.__dict__[name]
    raw = f"_raw_{name}"
    setattr(cls, raw, slot)
    read, write = slot.__get__, slot.__set__

    def get(self: Any) -> Any:
        value = read(self)
        if value is UNSET:
            value = make()
            write(self, value)
        return value

    setattr(cls, name, property(get, write, doc=doc))


@cache
def field_names(cls: type) -> tuple[str, ...]:
    """Return the names of a message class's fields, in the order of dumps."""
    names = cast("tuple[str, ...]", cls.__struct_fields__)
    rest = (name for name in names if name not in _BASE_FIELDS and name != "content_blocks")
    return (*_BASE_FIELDS, *rest)


_BASE_FIELDS = ("content", "additional_kwargs", "response_metadata", "type", "name", "id")


def as_content(value: Any, field: str) -> Any:
    """Return content as an exact `str`, or as a new list of exact strings and dicts."""
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, list):
        items: list[Any] = []
        for position, item in enumerate(value):
            if item.__class__ is str or item.__class__ is dict:
                items.append(item)
            elif isinstance(item, str):
                items.append(str.__str__(item))
            elif isinstance(item, Mapping):
                items.append(dict(item))
            else:
                message = f"a block has to be a string or a dict, not {type(item).__name__}"
                raise MessageError(message, path=f"{field}[{position}]")
        return items
    hint = "use the class with **: HumanMessage(**d)" if isinstance(value, Mapping) else None
    message = f"content has to be a string or a list of blocks, not {type(value).__name__}"
    raise MessageError(message, path=field, hint=hint)


def as_dict(value: Any, field: str) -> dict[str, Any]:
    """Return a new dict of what was given for a field."""
    if isinstance(value, Mapping):
        return dict(value)
    message = f"expected a dict, got {type(value).__name__}"
    raise MessageError(message, path=field)


def as_text(value: Any, field: str) -> str:
    """Return an exact `str`."""
    if isinstance(value, str):
        return str.__str__(value)
    message = f"expected text, got {short(value)}"
    raise MessageError(message, path=field)


def as_id(value: Any) -> str:
    """Return an id; numbers become text."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    return value if hasattr(value, "__eq__") and isinstance(value, str) else as_text(value, "id")
