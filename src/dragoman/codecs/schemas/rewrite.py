"""The rewritings of one schema object: keyword in, keyword out, nothing nested is visited.

Each function takes a schema, returns it unchanged or a changed copy, and says through `report`
what it did: `report(code, lossy, text)`.
"""

from collections.abc import Callable
from typing import Any

from dragoman.codecs.schemas.dialects import ANNOTATIONS, Dialect

__all__ = [
    "ANY",
    "Report",
    "close_objects",
    "drop_keywords",
    "one_of",
    "ranges",
    "standard",
    "strings_only",
    "tuples",
    "type_named",
    "without_null",
]

Report = Callable[[str, bool, str], None]

ANY: list[dict[str, Any]] = [{"type": "string"}, {"type": "number"}, {"type": "boolean"}]
"""What "any value" becomes where every schema needs a type."""

_TYPES: tuple[tuple[type, str], ...] = (
    (str, "string"), (bool, "boolean"), (int, "integer"), (float, "number"), (list, "array"),
    (dict, "object"), (type(None), "null"),
)  # fmt: skip
_IMPLIED = (
    ({"properties", "required", "additionalProperties", "patternProperties"}, "object"),
    ({"items", "prefixItems", "minItems", "maxItems", "uniqueItems", "contains"}, "array"),
    ({"pattern", "minLength", "maxLength", "format"}, "string"),
    ({"minimum", "maximum", "multipleOf"}, "number"),
)


def _type_of(value: object) -> str:
    return next(name for kind, name in _TYPES if isinstance(value, kind))


def standard(schema: dict[str, Any], report: Report) -> dict[str, Any]:
    """Return the OpenAPI spellings (`nullable`, `"type": "OBJECT"`) as JSON Schema has them."""
    kind = schema.get("type")
    if isinstance(kind, str) and not kind.islower():
        schema = {**schema, "type": kind.lower()}
    if "nullable" not in schema or not isinstance(schema["nullable"], bool):
        return schema
    rest = {k: v for k, v in schema.items() if k != "nullable"}
    if not schema["nullable"]:
        return rest
    if isinstance(kind, str):
        if isinstance(enum := rest.get("enum"), list) and None not in enum:
            rest["enum"] = [*enum, None]
        return {**rest, "type": [kind.lower(), "null"]}
    if isinstance(branches := rest.get("anyOf"), list):
        return {**rest, "anyOf": [*branches, {"type": "null"}]}
    report("dropped_keyword", True, "`nullable` without a type is left out")
    return rest


def one_of(schema: dict[str, Any], report: Report) -> dict[str, Any]:
    """Return `oneOf` as `anyOf`."""
    if "oneOf" not in schema:
        return schema
    rest = {k: v for k, v in schema.items() if k not in ("oneOf", "discriminator")}
    if "anyOf" in rest:
        report("dropped_keyword", True, "`oneOf` beside `anyOf` is left out")
        return rest
    report("one_of_to_any_of", False, "`oneOf` is written as `anyOf`")
    return {**rest, "anyOf": schema["oneOf"]}


def without_null(schema: dict[str, Any], report: Report) -> dict[str, Any]:
    """Return type lists and unions with null in the `nullable` form of OpenAPI."""
    result = dict(schema)
    nullable = False
    kinds = result.get("type")
    if isinstance(kinds, list):
        named = [k for k in kinds if isinstance(k, str) and k != "null"]
        nullable = "null" in kinds
        if len(named) + kinds.count("null") < len(kinds):
            report("dropped_keyword", True, "a type that is no text is left out")
        del result["type"]
        if len(named) == 1:
            result["type"] = named[0]
        elif named and "anyOf" in result:
            report("dropped_keyword", True, "a list of types beside `anyOf` is left out")
        elif named:
            inner = {k: result.pop(k) for k in list(result) if k not in _OUTER}
            result["anyOf"] = [{**_fitting(inner, kind), "type": kind} for kind in named]
    branches = result.get("anyOf")
    if isinstance(branches, list) and any(_is_null(b) for b in branches):
        nullable = True
        kept = [b for b in branches if not _is_null(b)]
        del result["anyOf"]
        if len(kept) == 1 and isinstance(kept[0], dict):
            result = {**kept[0], **result}
        elif kept:
            result["anyOf"] = kept
    if isinstance(enum := result.get("enum"), list) and None in enum and len(enum) > 1:
        nullable = True
        result["enum"] = [v for v in enum if v is not None]
    if nullable:
        result["nullable"] = True
    return result


_OUTER = frozenset({"description", "title", "default", "nullable", "$defs", "definitions"})
_FOR_TYPE = {
    "string": {"minLength", "maxLength", "pattern", "format", "enum", "const"},
    "integer": {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"},
    "array": {"items", "prefixItems", "minItems", "maxItems", "uniqueItems", "contains"},
    "object": {"properties", "required", "additionalProperties", "minProperties", "maxProperties"},
}


def _fitting(keywords: dict[str, Any], kind: str) -> dict[str, Any]:
    names = _FOR_TYPE.get("integer" if kind == "number" else kind, set())
    return {k: v for k, v in keywords.items() if k in names}


def _is_null(schema: Any) -> bool:
    return isinstance(schema, dict) and (
        schema.get("type") == "null" or ("const" in schema and schema["const"] is None)
    )


def strings_only(schema: dict[str, Any], report: Report) -> dict[str, Any]:
    """Return `const` and `enum` for a provider whose `enum` holds strings."""
    if "const" in schema:
        schema = {k: v for k, v in schema.items() if k != "const"} | {"enum": [schema["const"]]}
    enum = schema.get("enum")
    if not isinstance(enum, list) or all(isinstance(v, str) for v in enum):
        return {"type": "string", **schema} if isinstance(enum, list) and enum else schema
    rest = {k: v for k, v in schema.items() if k != "enum"}
    report("dropped_enum", True, "values that are not strings cannot be listed and are left out")
    kinds = {_type_of(v) for v in enum} - {"null"}
    if "type" not in rest and len(kinds) == 1:
        rest["type"] = kinds.pop()
    return rest


def tuples(schema: dict[str, Any], report: Report) -> dict[str, Any]:
    """Return an array whose places have schemas of their own as one with a union of them."""
    places = schema.get("prefixItems", schema.get("items"))
    if not isinstance(places, list):
        return schema
    rest = {k: v for k, v in schema.items() if k not in ("prefixItems", "items", "additionalItems")}
    distinct = [p for i, p in enumerate(places) if p not in places[:i]]
    report("tuple_to_array", len(distinct) > 1, "the places of a tuple share one schema")
    if len(distinct) == 1:
        rest["items"] = distinct[0]
    elif distinct:
        rest["items"] = {"anyOf": distinct}
    return {"minItems": len(places), "maxItems": len(places), **rest}


def ranges(schema: dict[str, Any], report: Report) -> dict[str, Any]:
    """Return open ranges of integers as closed ones."""
    for key, closed, step in (
        ("exclusiveMinimum", "minimum", 1),
        ("exclusiveMaximum", "maximum", -1),
    ):
        limit = schema.get(key)
        if isinstance(limit, bool) or not isinstance(limit, (int, float)) or closed in schema:
            continue
        exact = schema.get("type") == "integer" and isinstance(limit, int)
        schema = {k: v for k, v in schema.items() if k != key}
        schema[closed] = limit + step if exact else limit
        if not exact:
            report("widened_range", True, f"`{key}` is written as `{closed}`")
    return schema


def type_named(schema: dict[str, Any], report: Report) -> dict[str, Any]:
    """Return the schema with a type, and an array with `items`."""
    if not schema.keys() & {"type", "anyOf", "$ref"}:
        values = schema.get("enum")
        values = [schema["const"]] if "const" in schema else values
        kinds = {_type_of(v) for v in values} if isinstance(values, list) else set[str]()
        implied = next((kind for keys, kind in _IMPLIED if schema.keys() & keys), None)
        if len(kinds) == 1:
            schema = {**schema, "type": kinds.pop()}
        elif implied is not None:
            schema = {**schema, "type": implied}
        elif not kinds:
            report("any_type", True, "any value becomes a string, a number or a boolean")
            schema = {**schema, "anyOf": ANY}
    if schema.get("type") == "array" and "items" not in schema:
        report("any_type", True, "an array needs `items`; any value is narrowed to scalars")
        schema = {**schema, "items": {"anyOf": ANY}}
    return schema


def close_objects(schema: dict[str, Any], dialect: Dialect, report: Report) -> dict[str, Any]:
    """Return an object as the providers' strict modes want it."""
    kind = schema.get("type")
    if kind != "object" and not (isinstance(kind, list) and "object" in kind):
        return schema
    more = schema.get("additionalProperties", True)
    if more is not False:
        if isinstance(more, dict) or ("properties" not in schema) or more is not True:
            report("closed_object", True, "properties without a fixed name are not allowed")
        else:
            report("closed_object", False, "`additionalProperties: false` is added")
        schema = {**schema, "additionalProperties": False}
    if dialect.all_required:
        properties = schema.get("properties")
        names = list(properties) if isinstance(properties, dict) else []
        listed = schema.get("required")
        if not isinstance(listed, list) or set(names) != {n for n in listed if isinstance(n, str)}:
            optional = [n for n in names if not isinstance(listed, list) or n not in listed]
            if optional:
                report("made_required", False, f"{len(optional)} optional properties are required")
            schema = {**schema, "properties": properties or {}, "required": names}
    return schema


def drop_keywords(schema: dict[str, Any], dialect: Dialect, report: Report) -> dict[str, Any]:
    """Return the schema with the keywords the dialect knows, each with a value it knows."""
    if dialect.keywords is None:
        return schema
    dropped: list[str] = []
    for key, value in schema.items():
        known = key in dialect.keywords
        if key == "format" and known and dialect.formats is not None:
            known = isinstance(value, str) and value in dialect.formats
        elif key == "minItems" and known and dialect.small_min_items:
            known = value in (0, 1)
        if known:
            continue
        dropped.append(key)
        harmless = (
            key in ANNOTATIONS
            or key.startswith(("x-", "x_"))
            or (key == "default" and value is None)
            or (key == "additionalProperties" and value in (True, False))
            or (key == "minItems" and value == 0)
            or (key == "uniqueItems" and value is False)
        )
        report("dropped_keyword", not harmless, f"`{key[:40]}` is not understood and is left out")
    return {k: v for k, v in schema.items() if k not in dropped} if dropped else schema
