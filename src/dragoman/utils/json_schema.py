"""JSON Schemas as models want them: references inlined, titles gone, strict where asked.

Every function here is pure: it returns a new schema and leaves its input alone. Walking follows
the keywords that hold schemas, so a *property* that is called `title`, `default` or `properties`
is never mistaken for the keyword.
"""

from collections.abc import Callable, Mapping
from functools import cache
from math import isfinite
from typing import Any, cast

from dragoman.errors import MessageError, short

__all__ = ["dereference_refs", "remove_titles", "schema_of_model", "strict_schema"]

# Keywords that hold one schema, a list of schemas, or a map from names to schemas
# (JSON Schema 2020-12, https://json-schema.org/draft/2020-12, read 2026-11).
ONE = frozenset(
    {
        "additionalProperties", "contains", "else", "if", "items", "not", "propertyNames", "then",
        "unevaluatedItems", "unevaluatedProperties",
    }
)  # fmt: skip
MANY = frozenset({"allOf", "anyOf", "items", "oneOf", "prefixItems"})
NAMED = frozenset({"$defs", "definitions", "dependentSchemas", "patternProperties", "properties"})

Schema = dict[str, Any]


def map_schemas(schema: Mapping[str, Any], change: Callable[[Schema], Any]) -> Schema:
    """Return `schema` with `change` applied to each schema directly inside it."""
    result: Schema = {}
    for key, value in schema.items():
        if key in NAMED and isinstance(value, dict):
            value = {n: change(s) if isinstance(s, dict) else s for n, s in value.items()}
        elif key in MANY and isinstance(value, list):
            value = [change(s) if isinstance(s, dict) else s for s in value]
        elif key in ONE and isinstance(value, dict):
            value = change(value)
        result[key] = value
    return result


def remove_titles(schema: Mapping[str, Any]) -> Schema:
    """Return `schema` without its `title` keywords; properties called `title` stay.

    >>> remove_titles({"title": "M", "properties": {"title": {"title": "Title", "type": "string"}}})
    {'properties': {'title': {'type': 'string'}}}
    """
    result = map_schemas(schema, remove_titles)
    if isinstance(result.get("title"), str):
        del result["title"]
    return result


def dereference_refs(
    schema_obj: Mapping[str, Any], *, full_schema: Mapping[str, Any] | None = None
) -> Schema:
    """Return the schema with each `$ref` replaced by what it names.

    Keys beside a `$ref` win over those of its target. A definition that contains itself cannot be
    written out: its inner references stay, and `$defs` keeps what they name. Other definitions
    are dropped, as nothing refers to them any more.

    Raises:
        MessageError: If a reference points nowhere or out of the document.

    >>> dereference_refs(
    ...     {"properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": {"type": "string"}}}
    ... )
    {'properties': {'a': {'type': 'string'}}}
    """
    full = schema_obj if full_schema is None else full_schema
    kept: dict[str, Schema] = {}

    def inline(schema: Mapping[str, Any], open_refs: tuple[str, ...]) -> Schema:
        if isinstance(schema.get("discriminator"), dict):
            # OpenAPI's hint beside `oneOf`: its mapping names definitions that are written out.
            schema = {key: value for key, value in schema.items() if key != "discriminator"}
        reference = schema.get("$ref")
        if not isinstance(reference, str):
            return map_schemas(schema, lambda inner: inline(inner, open_refs))
        if reference in open_refs:
            name = reference.rsplit("/", 1)[-1]
            if name not in kept:
                kept[name] = {}
                kept[name] = map_schemas(
                    _lookup(full, reference), lambda inner: inline(inner, (reference,))
                )
            return {**schema, "$ref": f"#/$defs/{name}"}
        target = inline(_lookup(full, reference), (*open_refs, reference))
        beside = {key: value for key, value in schema.items() if key != "$ref"}
        return {**target, **inline(beside, open_refs)}

    root = {key: value for key, value in schema_obj.items() if key not in ("$defs", "definitions")}
    result = inline(root, ())
    if kept:
        result["$defs"] = kept
    return result


def _lookup(full: Mapping[str, Any], reference: str) -> Schema:
    """Return the schema at a JSON pointer such as `#/$defs/A`."""
    node: Any = full
    if not reference.startswith("#"):
        message = f"Cannot resolve the reference {short(reference)}: it points out of the schema"
        raise MessageError(message)
    for part in reference[1:].split("/")[1:]:
        part = part.replace("~1", "/").replace("~0", "~")
        if isinstance(node, list) and part.isdigit() and int(part) < len(node):
            node = node[int(part)]
        elif isinstance(node, dict) and part in node:
            node = node[part]
        else:
            message = f"Reference {short(reference)} not found in the schema"
            raise MessageError(message, hint="add it to `$defs`")
    return node if isinstance(node, dict) else {}


def schema_of_model(model: Any) -> Schema:
    """Return the JSON Schema of a pydantic class, references and titles in place.

    A default that JSON cannot say (an object, infinity) is left out in silence: the argument is
    optional all the same.
    """
    return _without_infinity(model.model_json_schema(schema_generator=_quiet_generator()))


@cache
def _quiet_generator() -> Any:
    from pydantic.json_schema import GenerateJsonSchema

    class Quiet(GenerateJsonSchema):
        """Says nothing of defaults that are no JSON."""

        ignored_warning_kinds = {"skipped-choice", "non-serializable-default"}  # noqa: RUF012 - pydantic's declaration

    return Quiet


def _without_infinity(schema: Mapping[str, Any]) -> Schema:
    result = map_schemas(schema, _without_infinity)
    default = result.get("default")
    if isinstance(default, float) and not isfinite(default):
        del result["default"]
    return result


def strict_schema(schema: Mapping[str, Any]) -> Schema:
    """Return `schema` with every object closed and all its properties required.

    This is what OpenAI's strict mode asks for (platform.openai.com/docs/guides/structured-outputs,
    read 2026-11).

    >>> strict_schema({"type": "object", "properties": {"a": {"type": "string"}}})["required"]
    ['a']
    """
    result = map_schemas(schema, strict_schema)
    if result.get("type") == "object" or "properties" in result:
        properties = result.get("properties")
        if isinstance(properties, dict) and properties:
            result["required"] = list(cast("Schema", properties))
        result["additionalProperties"] = False
    return result
