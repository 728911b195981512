"""The methods that every output has: dumping, copying, validation, and pydantic's hook.

Outputs are msgspec Structs, because a model makes one for each streamed chunk; users know them as
pydantic models. This base gives them the methods people call on those, and nothing else.
"""

from collections.abc import Mapping
from copy import copy, deepcopy
from typing import Any, ClassVar, Self

import msgspec

from dragoman.errors import MessageError
from dragoman.messages.merge import fold_metadata

__all__ = ["OutputModel", "merge_info", "plain"]


def plain(value: Any) -> Any:
    """Return `value` with every object that has `model_dump` replaced by its dump, recursively."""
    if isinstance(value, (str, int, float, bool)) or value is None:
        return value
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value.model_dump() if hasattr(value, "model_dump") else value


def merge_info(
    left: Mapping[str, Any] | None, right: Mapping[str, Any] | None
) -> dict[str, Any] | None:
    """Return two `generation_info` dicts as one, or None when both are empty.

    Scalars: the last that is not None wins, so that a repeated finish reason stays one word. Dicts
    merge, lists are joined, as in `response_metadata`.

    >>> merge_info({"finish_reason": None, "n": [1]}, {"finish_reason": "stop", "n": [2]})
    {'finish_reason': 'stop', 'n': [1, 2]}
    """
    return fold_metadata([dict(info) for info in (left, right) if info]) or None


class OutputModel(msgspec.Struct, kw_only=True):
    """The base of all outputs."""

    __hash__: ClassVar[None] = None  # pyright: ignore[reportIncompatibleMethodOverride] - as pydantic models without `frozen`

    show_defaults: ClassVar[bool] = True

    def model_dump(self, **options: Any) -> dict[str, Any]:
        """Return all fields as a dict, messages dumped too; `exclude_none` as in pydantic."""
        values = {name: plain(getattr(self, name)) for name in self.__struct_fields__}
        if options.get("exclude_none"):
            values = {name: value for name, value in values.items() if value is not None}
        return values

    def model_dump_json(self) -> str:
        """Return `model_dump()` as JSON text."""
        return msgspec.json.encode(self.model_dump()).decode()

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Return a copy with the fields of `update` replaced."""
        copied = deepcopy(self) if deep else copy(self)
        for name, value in (update or {}).items():
            setattr(copied, name, value)
        return copied

    @classmethod
    def model_validate(cls, value: Any) -> Self:
        """Return `value` if it is one of this class, or the object that a dumped dict describes.

        Raises:
            MessageError: If `value` is something else, or its fields are wrong.
        """
        if isinstance(value, cls):
            return value
        if not isinstance(value, Mapping):
            message = f"Expected a `{cls.__name__}` or its dict, got `{type(value).__name__}`"
            raise MessageError(message)
        known = {name: value[name] for name in cls.__struct_fields__ if name in value}
        return cls(**known)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        from pydantic_core import core_schema

        return core_schema.union_schema(
            [
                core_schema.is_instance_schema(cls),
                core_schema.no_info_plain_validator_function(cls.model_validate),
            ],
            serialization=core_schema.plain_serializer_function_ser_schema(
                lambda value: value.model_dump()
            ),
        )

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: Any, handler: Any) -> dict[str, Any]:
        return {"title": cls.__name__, "type": "object"}

    def _shown(self) -> list[str]:
        fields = self.__struct_fields__
        if self.show_defaults:
            return [f"{name}={getattr(self, name)!r}" for name in fields]
        return [
            f"{name}={value!r}"
            for name in fields
            if (value := getattr(self, name)) and name != "type"
        ]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(self._shown())})"

    def __str__(self) -> str:
        return " ".join(self._shown())

    def dict(self, **options: Any) -> Any:
        """Return `model_dump()`; the older name."""
        return self.model_dump(**options)
