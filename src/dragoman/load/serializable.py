"""`Serializable`: the pydantic base of everything users subclass and may want to store.

A subclass opts in with `is_lc_serializable`; what is stored then is its *useful* fields: the
required ones, and those that differ from their default. A field named in `lc_secrets` is replaced
by the name of the environment variable that holds it, so that a dump never carries a key.

The id under which a class is stored is LangChain's (`langchain_core.prompts...` for a class of
`dragoman.prompts...`): what is dumped here loads there. Messages and generations are structs, no
subclasses of this; they answer the same four questions.
"""

from abc import ABC
from collections.abc import Iterator
from typing import Any, ClassVar, Literal, NotRequired, TypedDict, cast

from pydantic import BaseModel, ConfigDict
from pydantic.fields import FieldInfo

__all__ = [
    "BaseSerialized",
    "Secret",
    "Serializable",
    "SerializedConstructor",
    "SerializedNotImplemented",
    "SerializedSecret",
    "namespace_of",
    "to_json_not_implemented",
    "try_neq_default",
]


class BaseSerialized(TypedDict):
    """What every stored object has."""

    lc: int
    id: list[str]
    name: NotRequired[str]
    graph: NotRequired[dict[str, Any]]


class SerializedConstructor(BaseSerialized):
    """An object that is built again by calling its class with `kwargs`."""

    type: Literal["constructor"]
    kwargs: dict[str, Any]


class SerializedSecret(BaseSerialized):
    """The place of a secret; `id` holds the name of its environment variable."""

    type: Literal["secret"]


class SerializedNotImplemented(BaseSerialized):
    """The place of an object that cannot be stored."""

    type: Literal["not_implemented"]
    repr: str | None


def namespace_of(cls: type) -> list[str]:
    """Return the parts of the module path under which LangChain's loader knows `cls`.

    >>> namespace_of(Serializable)
    ['langchain_core', 'load', 'serializable']
    """
    root, *rest = cls.__module__.split(".")
    return ["langchain_core" if root == "dragoman" else root, *rest]


def try_neq_default(value: Any, key: str, model: BaseModel) -> bool:
    """Return whether `value` differs from the default of the field `key`; doubt counts as yes.

    A field whose default is made by a factory differs always: LangChain's reprs show it.
    """
    try:
        return bool(value != type(model).model_fields[key].get_default())
    except Exception:  # noqa: BLE001 - a foreign `!=` may raise anything
        return True


def is_useful(field: FieldInfo, value: Any) -> bool:
    """Return whether a field's value must be stored to get the same object back."""
    if field.is_required():
        return True
    try:
        if value:
            return True
    except Exception:  # noqa: BLE001 - truth of a foreign object (an array) may raise anything
        return True
    if field.default_factory is dict and isinstance(value, dict):
        return False
    if field.default_factory is list and isinstance(value, list):
        return False
    try:
        default = field.get_default(call_default_factory=True)
        return bool(value != default)
    except Exception:  # noqa: BLE001 - as in try_neq_default
        return True


def replace_secrets(kwargs: dict[str, Any], secrets: dict[str, str]) -> dict[str, Any]:
    """Return `kwargs` with each value that a (dotted) path of `secrets` reaches replaced by its marker."""
    result = dict(kwargs)
    for path, env in secrets.items():
        *parents, last = path.split(".")
        current: Any = result
        for parent in parents:
            if not isinstance(current.get(parent), dict):
                break
            current[parent] = dict(current[parent])  # the object itself keeps its secret
            current = current[parent]
        else:
            if last in current:
                current[last] = Secret({"lc": 1, "type": "secret", "id": [env]})
    return result


class Secret(dict[str, Any]):
    """A secret's marker made here; a user's dict of the same shape is no marker, and is escaped."""


class Serializable(BaseModel, ABC):
    """A pydantic model that `dumps` can store and `loads` can build again.

    A user's class answers `is_lc_serializable` with True, and is loaded by passing it in
    `allowed_objects`:

    >>> class City(Serializable):
    ...     name: str
    ...
    ...     @classmethod
    ...     def is_lc_serializable(cls):
    ...         return True
    >>> City(name="Bursa").to_json()["kwargs"]
    {'name': 'Bursa'}
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(extra="ignore", defer_build=True)

    lc_keeps_data: ClassVar[bool] = False
    """Whether the fields are a user's data: kept to the letter, or refused when dumped."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Build from keywords; subclasses may give positional arguments a meaning."""
        super().__init__(*args, **kwargs)

    @classmethod
    def is_lc_serializable(cls) -> bool:
        """Return whether `dumps` may store instances; False unless a class says otherwise."""
        return False

    @classmethod
    def get_lc_namespace(cls) -> list[str]:
        """Return the parts of the id that stand before the class name."""
        return namespace_of(cls)

    @property
    def lc_secrets(self) -> dict[str, str]:
        """Return a map from field names (or dotted paths) to names of environment variables."""
        return {}

    @property
    def lc_attributes(self) -> dict[str, Any]:
        """Return values that are always stored beside the useful fields; must be constructor keywords."""
        return {}

    @classmethod
    def lc_id(cls) -> list[str]:
        """Return the id under which instances are stored: namespace and class name."""
        original = cls.__pydantic_generic_metadata__.get("origin")
        return [*cls.get_lc_namespace(), (original or cls).__name__]

    def to_json(self) -> SerializedConstructor | SerializedNotImplemented:
        """Return the stored form, one level deep: values inside `kwargs` are still objects."""
        if not self.is_lc_serializable():
            return self.to_json_not_implemented()
        fields = type(self).model_fields
        kwargs: dict[str, Any] = {}
        for key, value in self:
            field = fields.get(key)
            if field is None:
                kwargs[key] = value  # an extra of a class that allows extras
            elif not field.exclude and is_useful(field, value):
                kwargs[key] = getattr(self, key, value)
        secrets: dict[str, str] = {}
        for cls in reversed(type(self).__mro__):
            if "lc_secrets" in cls.__dict__:
                secrets.update(_own(cls, "lc_secrets", self))
            if "lc_attributes" in cls.__dict__:
                kwargs.update(_own(cls, "lc_attributes", self))
        for key in list(secrets):
            field = fields.get(key)
            if field is not None and field.alias:
                secrets[field.alias] = secrets[key]
        for key in secrets:
            value = getattr(self, key, None)
            if value is not None and "." not in key:
                kwargs[key] = value
        return {
            "lc": 1,
            "type": "constructor",
            "id": self.lc_id(),
            "kwargs": replace_secrets(kwargs, secrets) if secrets else kwargs,
        }

    def to_json_not_implemented(self) -> SerializedNotImplemented:
        """Return the marker of an object that cannot be stored."""
        return to_json_not_implemented(self)

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        fields = type(self).model_fields
        for key, value in super().__repr_args__():
            if key not in fields or try_neq_default(value, key, self):
                yield key, value


def _own(cls: type, name: str, instance: Serializable) -> dict[str, Any]:
    """Return what the property `name` as written on `cls` gives for `instance`."""
    return cls.__dict__[name].__get__(instance, cls)


def to_json_not_implemented(obj: object) -> SerializedNotImplemented:
    """Return the marker `dumps` leaves in the place of `obj`: the id of its class, and its repr.

    >>> to_json_not_implemented(object)["id"]
    ['builtins', 'object']
    """
    identifier: list[str] = []
    text: str | None = None
    try:
        cls = cast("type", obj if isinstance(obj, type) else type(obj))
        name = cls.__name__
        if isinstance(cls, type) and issubclass(cls, BaseModel):
            name = (cls.__pydantic_generic_metadata__.get("origin") or cls).__name__
        identifier = [*namespace_of(cls), name]
        text = repr(obj)
    except Exception:  # noqa: BLE001 - a foreign repr may raise anything; the marker stands without it
        text = None
    return {"lc": 1, "type": "not_implemented", "id": identifier, "repr": text}
