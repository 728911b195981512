"""Pydantic models and JSON Schemas of what a runnable takes, gives and lets configure."""

import inspect
import typing
from functools import lru_cache
from typing import Any

from pydantic import BaseModel, ConfigDict, RootModel, create_model
from pydantic.json_schema import DEFAULT_REF_TEMPLATE, GenerateJsonSchema

from dragoman.runnables._fields import ConfigurableFieldSpec

__all__ = [
    "config_model",
    "configurable_model",
    "fields_model",
    "generic_argument",
    "model_of",
]

PROTECTED = ConfigDict(arbitrary_types_allowed=True, protected_namespaces=())


class _Root(RootModel[Any]):
    """A root model whose JSON Schema is titled by its name, whatever its type says."""

    @classmethod
    def model_json_schema(  # pyright: ignore[reportIncompatibleMethodOverride]
        cls,
        by_alias: bool = True,
        ref_template: str = DEFAULT_REF_TEMPLATE,
        schema_generator: type[GenerateJsonSchema] = GenerateJsonSchema,
        mode: Any = "validation",
        **kwargs: Any,
    ) -> dict[str, Any]:
        """Return the JSON Schema."""
        schema = super().model_json_schema(
            by_alias=by_alias,
            ref_template=ref_template,
            schema_generator=schema_generator,
            mode=mode,
            **kwargs,
        )
        schema.pop("description", None)
        schema["title"] = cls.__name__
        return schema

    @classmethod
    def schema(cls, **kwargs: Any) -> dict[str, Any]:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Return the JSON Schema, as under pydantic 1."""
        return cls.model_json_schema(**kwargs)


@lru_cache(maxsize=256)
def _cached_root(name: str, kind: Any, module: str | None) -> type[BaseModel]:
    return _new_root(name, kind, module)


def _new_root(name: str, kind: Any, module: str | None) -> type[BaseModel]:
    config = ConfigDict(arbitrary_types_allowed=True)
    namespace = {
        "__annotations__": {"root": kind},
        "model_config": config,
        "__module__": module or __name__,
        "__doc__": None,
    }
    build: Any = type(_Root)
    return build(name, (_Root,), namespace)


def model_of(name: str, kind: Any, *, module: str | None = None) -> type[BaseModel]:
    """Return `kind` itself if it is a model, else a root model of it called `name`."""
    if inspect.isclass(kind) and not typing.get_args(kind) and issubclass(kind, BaseModel):
        return kind
    try:
        return _cached_root(name, kind, module)
    except TypeError:  # not hashable
        return _new_root(name, kind, module)


def fields_model(
    name: str, fields: dict[str, Any], *, module: str | None = None
) -> type[BaseModel]:
    """Return a model with the given fields `(type, default)`.

    A field whose name a model cannot have (`_x`, `copy`, `model_config` ...) stands under an alias.
    """
    from pydantic import Field
    from pydantic.fields import FieldInfo

    taken = set(dir(BaseModel))
    safe: dict[str, Any] = {}
    has_alias = False
    for key, (kind, default) in fields.items():
        if key in taken or key.startswith(("_", "model_")):
            has_alias = True
            given = default if isinstance(default, FieldInfo) else FieldInfo(default=default)
            title = given.title or key.lstrip("_").replace("_", " ").title()
            info = Field(given.default, alias=key, title=title, description=given.description)
            safe[f"private_{key.lstrip('_')}" if key.startswith("_") else f"{key}_"] = (kind, info)
        else:
            safe[key] = (kind, default)
    config = ConfigDict(arbitrary_types_allowed=True, protected_namespaces=())
    if has_alias:
        config["populate_by_name"] = True
    build: Any = create_model
    return build(name, __config__=config, __module__=module or __name__, **safe)


def generic_argument(cls: type, index: int) -> Any:
    """Return the type a class gives for the `index`-th parameter of `Runnable`, or None."""
    for base in cls.__mro__:
        meta = getattr(base, "__pydantic_generic_metadata__", None)
        args = meta["args"] if meta and "__pydantic_generic_metadata__" in base.__dict__ else ()
        if len(args) == 2 and not isinstance(args[index], typing.TypeVar):
            return args[index]
    for base in cls.__mro__:
        for original in base.__dict__.get("__orig_bases__", ()):
            args = typing.get_args(original)
            if len(args) == 2 and not isinstance(args[index], typing.TypeVar):
                return args[index]
    return None


def configurable_model(
    name: str, specs: list[ConfigurableFieldSpec], *, module: str | None = None
) -> type[BaseModel]:
    """Return the model of the `configurable` dict."""
    from pydantic import Field

    fields = {
        spec.id: (
            spec.annotation,
            Field(spec.default, title=spec.name, description=spec.description),
        )
        for spec in specs
    }
    return fields_model(name, fields, module=module)


def config_model(
    name: str, configurable: type[BaseModel] | None, include: list[str], kinds: dict[str, Any]
) -> type[BaseModel]:
    """Return the model of a config with the keys of `include`."""
    fields: dict[str, Any] = {}
    if configurable is not None:
        fields["configurable"] = (configurable, None)
    for key in include:
        if key != "configurable":
            fields[key] = (kinds[key], None)
    return fields_model(name, fields)
