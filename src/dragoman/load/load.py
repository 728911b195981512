"""`load`, `loads`, `Reviver`: LangChain's JSON back to objects, safely.

Read depth first: members, then the object itself. A class is built only if its id is allowed *and*
stands in the fixed table of `mapping` (or is a class the caller passed); nothing is imported by a
path from the data, no environment variable is read unless asked, and what `dumps` escaped comes
back as the plain dict it was.

The default allows messages only. `"messages"` leaves out the legacy ChatMessage and
FunctionMessage, `"core"` allows all classes of the table, `"all"` also the chat models.
"""

import json
import os
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any, Literal, NoReturn, cast

import msgspec

from dragoman.errors import DecodeError, short
from dragoman.load import fast
from dragoman.load.dump import ESCAPED, MAX_DEPTH
from dragoman.load.mapping import CORE, MESSAGES, NAMESPACES, PARTNERS, PLAIN_MESSAGES, target
from dragoman.load.tags import decode_tag, is_tag

__all__ = [
    "AllowedObjects",
    "InitValidator",
    "Reviver",
    "default_init_validator",
    "load",
    "loads",
]

AllowedObjects = Iterable[type[Any]] | Literal["all", "core", "messages"]
InitValidator = Callable[[tuple[str, ...], dict[str, Any]], None]
ImportMappings = dict[tuple[str, ...], tuple[str, ...]]

_MODES: dict[str | None, frozenset[tuple[str, ...]]] = {
    None: frozenset(MESSAGES),
    "messages": frozenset(PLAIN_MESSAGES),
    "core": CORE,
    "all": CORE | frozenset(PARTNERS),
}


def default_init_validator(class_path: tuple[str, ...], kwargs: dict[str, Any]) -> None:
    """Refuse templates in jinja2, which is a programming language.

    In a prompt also deeper inside: pydantic would make a prompt of a plain dict, unseen by `load`.

    Raises:
        ValueError: If `kwargs` ask for it.
    """
    if kwargs.get("template_format") == "jinja2" or (
        "prompts" in class_path and any(map(_asks_for_jinja, kwargs.values()))
    ):
        message = (
            "Jinja2 templates are not allowed during deserialization for security reasons. "
            "Use 'f-string' template format instead, or explicitly allow jinja2 by providing a "
            "custom init_validator."
        )
        raise ValueError(message)


def _asks_for_jinja(value: Any) -> bool:
    if isinstance(value, dict):
        fields = cast("dict[str, Any]", value)
        return fields.get("template_format") == "jinja2" or any(
            map(_asks_for_jinja, fields.values())
        )
    return isinstance(value, list) and any(map(_asks_for_jinja, cast("list[Any]", value)))


class Reviver:
    """Turns one dict, whose members are revived already, into the object it stands for.

    Args:
        allowed_objects: None (messages), `"messages"`, `"core"`, `"all"`, or classes.
        secrets_map: Environment name -> secret.
        valid_namespaces: Further roots of ids.
        secrets_from_env: Whether a secret may be read from the environment.
        additional_import_mappings: Id -> path of a class, both chosen by the caller.
        ignore_unserializable_fields: Whether a `not_implemented` marker becomes None.
        init_validator: Called with id and keywords before an object is built; None for no check.

    Raises:
        TypeError: If `allowed_objects` holds something that cannot be stored.

    >>> Reviver()({"lc": 1, "type": "secret", "id": ["HOME"]}) is None
    True
    """

    def __init__(
        self,
        allowed_objects: AllowedObjects | None = None,
        secrets_map: dict[str, str] | None = None,
        valid_namespaces: list[str] | None = None,
        secrets_from_env: bool = False,
        additional_import_mappings: ImportMappings | None = None,
        *,
        ignore_unserializable_fields: bool = False,
        init_validator: InitValidator | None = default_init_validator,
    ) -> None:
        self.secrets_map: dict[str, str] = secrets_map or {}
        self.secrets_from_env = secrets_from_env
        self.namespaces: set[str] = {*NAMESPACES, *(valid_namespaces or ())}
        self.import_mappings: ImportMappings = additional_import_mappings or {}
        self.ignore_unserializable_fields = ignore_unserializable_fields
        self.init_validator = init_validator
        self.classes: dict[tuple[str, ...], type[Any]] = {}
        if allowed_objects is None or isinstance(allowed_objects, str):
            if allowed_objects not in _MODES:
                message = "allowed_objects must contain Serializable subclasses."
                raise TypeError(message)
            self.allowed: frozenset[tuple[str, ...]] = _MODES[allowed_objects] | set(
                self.import_mappings
            )
        else:
            self._allow_classes(allowed_objects)

    def _allow_classes(self, classes: Iterable[Any]) -> None:
        for cls in classes:
            if not (isinstance(cls, type) and callable(getattr(cls, "lc_id", None))):
                message = "allowed_objects must contain Serializable subclasses."
                raise TypeError(message)
            kind = cast("Any", cls)
            ids = {tuple(kind.lc_id()), (*kind.__module__.split("."), kind.__name__)}
            place = (kind.__module__, kind.__name__)
            ids |= {identifier for identifier in CORE if target(identifier) == place}
            self.classes.update(dict.fromkeys(ids, kind))
        self.allowed = frozenset(self.classes)

    def __call__(self, value: dict[str, Any]) -> Any:
        """Return the object `value` stands for, or `value` itself when it is a plain dict.

        Raises:
            NotImplementedError: For the marker of an object that could not be stored.
            ValueError: If its class is not allowed, or refuses its keywords.
        """
        if value.get("lc") == 1 and isinstance(value.get("id"), list):
            match value.get("type"):
                case "secret":
                    return self._secret(value["id"])
                case "not_implemented":
                    return self._not_implemented(value["id"])
                case "constructor":
                    return self._construct(value)
                case _:
                    pass
        if is_tag(value):
            return decode_tag(value)
        return value

    def _secret(self, identifier: list[Any]) -> str | None:
        name = identifier[0] if len(identifier) == 1 else None
        if not isinstance(name, str):
            message = "a secret has one name"
            raise DecodeError(message)
        if name in self.secrets_map:
            return self.secrets_map[name]
        return os.environ.get(name) if self.secrets_from_env and name else None

    def _not_implemented(self, identifier: list[Any]) -> None:
        if self.ignore_unserializable_fields:
            return
        message = (
            "Trying to load an object that doesn't implement serialization: "
            f"{'.'.join(map(str, identifier))[:80]}"
        )
        raise NotImplementedError(message)

    def _construct(self, value: dict[str, Any]) -> Any:
        identifier = tuple(value["id"])
        if not identifier or not all(isinstance(step, str) for step in identifier):
            message = "the id of a stored object is a list of names"
            raise DecodeError(message)
        if identifier not in self.allowed:
            message = (
                f"Deserialization of {identifier!r:.200} is not allowed. By default only messages "
                "are; pass allowed_objects='core' for prompts, parsers and chains you trust, 'all' "
                "for chat models too, or allowed_objects=[...] with the classes you expect"
            )
            raise DecodeError(message)
        known_root = identifier[0] in self.namespaces and identifier[:-1] != ("langchain",)
        if not known_root and identifier not in {**self.classes, **self.import_mappings}:
            message = f"Invalid namespace: {identifier[:-1]!r:.200}; add it to valid_namespaces"
            raise DecodeError(message)
        kwargs = value.get("kwargs", {})
        if not isinstance(kwargs, dict) or not all(isinstance(key, str) for key in kwargs):
            message = f"the kwargs of a stored {identifier[-1]:.80} are no dict of names"
            raise DecodeError(message)
        if self.init_validator is not None:
            self.init_validator(identifier, kwargs)
        return _build(self._class(identifier), kwargs)

    def _class(self, identifier: tuple[str, ...]) -> type[Any]:
        if identifier in self.classes:
            return self.classes[identifier]
        if identifier in self.import_mappings:
            path = self.import_mappings[identifier]
            place = target(path) or (".".join(path[:-1]), path[-1])
        else:
            place = target(identifier)
            assert place is not None  # every allowed id of a mode stands in the table
        cls = getattr(import_module(place[0]), place[1], None)
        if not isinstance(cls, type) or not hasattr(cls, "is_lc_serializable"):
            message = f"{place[0]}.{place[1]} is no class that can be loaded"
            raise DecodeError(message)
        return cls


def _build(cls: type[Any], kwargs: dict[str, Any]) -> Any:
    """Return the object; structs read tolerantly, so that fields of later versions survive.

    Raises:
        DecodeError: If the constructor fails on the stored values, of whatever shape they are; what
            it raised is the cause. Its ValueErrors, pydantic's among them, come as they are.
    """
    if issubclass(cls, msgspec.Struct) and hasattr(cls, "model_validate"):
        return cast("Any", cls).model_validate(kwargs)
    try:
        return cls(**kwargs)
    # NotImplementedError is LangChain's word for a value that is no message.
    except (TypeError, KeyError, AttributeError, NotImplementedError) as error:
        message = f"a stored {cls.__name__} cannot be built: {short(str(error))}"
        raise DecodeError(message) from error


def _revive(value: Any, reviver: Reviver, depth: int) -> Any:
    if isinstance(value, dict):
        if depth > MAX_DEPTH:
            _too_deep()
        if len(value) == 1 and ESCAPED in value:
            inner = value[ESCAPED]
            return cast("Any", inner) if isinstance(inner, dict) else value
        return reviver({k: _revive(v, reviver, depth + 1) for k, v in value.items()})
    if isinstance(value, list):
        if depth > MAX_DEPTH:
            _too_deep()
        return [_revive(member, reviver, depth + 1) for member in value]
    return value


def _too_deep() -> NoReturn:
    message = f"Cannot load object nested more than {MAX_DEPTH} levels deep."
    raise DecodeError(message)


def load(
    obj: Any,
    *,
    allowed_objects: AllowedObjects | None = None,
    secrets_map: dict[str, str] | None = None,
    valid_namespaces: list[str] | None = None,
    secrets_from_env: bool = False,
    additional_import_mappings: ImportMappings | None = None,
    ignore_unserializable_fields: bool = False,
    init_validator: InitValidator | None = default_init_validator,
) -> Any:
    """Return the objects that `obj`, as `dumpd` gives it, stands for; `obj` is not changed.

    The options are those of `Reviver`.

    Raises:
        ValueError: If a class is not allowed, or the data is wrong or nested too deep.
        NotImplementedError: For the marker of an object that could not be stored.

    >>> stored = {
    ...     "lc": 1,
    ...     "type": "constructor",
    ...     "kwargs": {"content": "hi"},
    ...     "id": ["langchain", "schema", "messages", "HumanMessage"],
    ... }
    >>> load(stored).content
    'hi'
    """
    reviver = Reviver(
        allowed_objects,
        secrets_map,
        valid_namespaces,
        secrets_from_env,
        additional_import_mappings,
        ignore_unserializable_fields=ignore_unserializable_fields,
        init_validator=init_validator,
    )
    return _revive(obj, reviver, 0)


def loads(
    text: str,
    *,
    allowed_objects: AllowedObjects | None = None,
    secrets_map: dict[str, str] | None = None,
    valid_namespaces: list[str] | None = None,
    secrets_from_env: bool = False,
    additional_import_mappings: ImportMappings | None = None,
    ignore_unserializable_fields: bool = False,
    init_validator: InitValidator | None = default_init_validator,
) -> Any:
    """Return the objects that JSON text, as `dumps` gives it, stands for.

    The options are those of `Reviver`; the errors those of `load`.

    >>> loads('[1, {"a": null}]')
    [1, {'a': None}]
    """
    if (
        (allowed_objects is None or allowed_objects in ("messages", "core", "all"))
        and init_validator is default_init_validator
        and not additional_import_mappings
        and (messages := fast.load_messages(text, legacy=allowed_objects != "messages")) is not None
    ):
        return messages
    try:
        parsed = json.loads(text)
    except RecursionError:
        _too_deep()
    return load(
        parsed,
        allowed_objects=allowed_objects,
        secrets_map=secrets_map,
        valid_namespaces=valid_namespaces,
        secrets_from_env=secrets_from_env,
        additional_import_mappings=additional_import_mappings,
        ignore_unserializable_fields=ignore_unserializable_fields,
        init_validator=init_validator,
    )
