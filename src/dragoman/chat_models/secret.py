"""API keys that do not show."""

from typing import Any, Never, NoReturn

__all__ = ["Secret"]

_MASK = "**********"


class Secret:
    """A string that no `repr`, `str`, format, JSON dump or pickle shows.

    Two secrets are equal when their values are. `get_secret_value` is the only way out.

    >>> key = Secret("sk-1234")
    >>> key, f"{key}", key.get_secret_value()
    (Secret('**********'), '**********', 'sk-1234')
    """

    __slots__ = ("__value",)

    def __init__(self, value: "str | Secret | Any") -> None:
        reveal = getattr(value, "get_secret_value", None)
        text = value if reveal is None else reveal()
        if not isinstance(text, str):
            message = f"an API key is a string, not {type(text).__name__}"
            raise TypeError(message)
        self.__value = text

    def get_secret_value(self) -> str:
        """Return the value itself."""
        return self.__value

    def __repr__(self) -> str:
        return f"Secret({_MASK!r})" if self.__value else "Secret('')"

    def __str__(self) -> str:
        return _MASK if self.__value else ""

    def __format__(self, spec: str) -> str:
        return format(str(self), spec)

    def __len__(self) -> int:
        return len(self.__value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and self.__value == other.__value

    def __hash__(self) -> int:
        return hash((Secret, self.__value))

    def __copy__(self) -> "Secret":
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> "Secret":
        return self

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        message = (
            "a secret is not pickled; give the other process the key by its environment variable"
        )
        raise TypeError(message)

    def __getstate__(self) -> Never:
        return self.__reduce_ex__(4)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        """Return the schema of a field: takes a string or a secret, dumps the mask."""
        from pydantic_core import core_schema

        def validate(value: Any) -> Secret:
            if isinstance(value, str) or hasattr(value, "get_secret_value"):
                return cls(value)
            message = "an API key is a string"
            raise ValueError(message)

        return core_schema.no_info_plain_validator_function(
            validate, serialization=core_schema.plain_serializer_function_ser_schema(str)
        )

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: Any, handler: Any) -> dict[str, Any]:
        return {"type": "string", "writeOnly": True, "format": "password"}
