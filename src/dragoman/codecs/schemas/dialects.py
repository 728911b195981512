"""What each provider accepts of JSON Schema, as rows.

A row says what may stay; `convert` does the rest. Read 2026-11 in the providers' guides on
structured output and function calling (OpenAI, Anthropic, Gemini API, Amazon Bedrock), and checked
against recorded requests that were answered with 200.
"""

from typing import Literal

import msgspec

__all__ = ["ANNOTATIONS", "DIALECTS", "RECURSION_DEPTH", "Dialect"]

RECURSION_DEPTH = 3
"""How often a recursive definition is written out where a provider does not take `$ref`."""

ANNOTATIONS = frozenset(
    {
        "$schema", "$id", "$comment", "$anchor", "$dynamicAnchor", "id", "title", "examples",
        "example", "deprecated", "readOnly", "writeOnly", "discriminator", "xml", "externalDocs",
        "contentMediaType", "contentEncoding", "$defs", "definitions", "$vocabulary",
    }
)  # fmt: skip
"""Keywords that no reply depends on: leaving them out is not a loss."""

_CORE = frozenset({"type", "description", "enum", "properties", "required", "items", "anyOf"})
_REFS = frozenset({"$ref", "$defs", "definitions"})
_RANGES = frozenset(
    {
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
        "pattern",
        "format",
    }
)
_FORMATS = frozenset(
    {"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"}
)


class Dialect(msgspec.Struct, frozen=True, kw_only=True):
    """What one provider accepts.

    Attributes:
        name: The key in `DIALECTS`.
        refs: `keep` all, keep them unless they are recursive (`acyclic`), or `inline` them.
        keywords: The keywords that may stay; None for all.
        formats: The values of `format` that may stay; None for all.
        type_lists: Whether `"type": ["string", "null"]` is understood; else `nullable`.
        string_enums: Whether `enum` may hold strings only.
        closed: Objects must say `additionalProperties: false`.
        all_required: Every property must be listed in `required`.
        typed: A schema without a type is not accepted.
        small_min_items: `minItems` may only be 0 or 1.
        plain_ref: `$ref` may have no neighbours.
        plain_root: The outermost schema must be an object that is no union.
        root_properties: The outermost schema must have `properties`.
    """

    name: str
    refs: Literal["keep", "acyclic", "inline"] = "keep"
    keywords: frozenset[str] | None = None
    formats: frozenset[str] | None = None
    type_lists: bool = True
    string_enums: bool = False
    closed: bool = False
    all_required: bool = False
    typed: bool = False
    small_min_items: bool = False
    plain_ref: bool = False
    plain_root: bool = True
    root_properties: bool = False


_CLOSED = Dialect(
    name="anthropic_strict",
    refs="acyclic",
    keywords=_CORE
    | _REFS
    | {"title", "const", "default", "format", "minItems", "additionalProperties", "pattern"},
    formats=_FORMATS | {"uri"},
    closed=True,
    small_min_items=True,
    plain_root=False,
)

DIALECTS: dict[str, Dialect] = {
    # Tools without `strict` are read leniently; only the outermost schema must be a plain object.
    "openai": Dialect(name="openai", root_properties=True),
    "openai_strict": Dialect(
        name="openai_strict",
        keywords=_CORE
        | _REFS
        | _RANGES
        | {"title", "const", "minItems", "maxItems", "additionalProperties"},
        formats=_FORMATS,
        closed=True,
        all_required=True,
        typed=True,
        plain_ref=True,
        root_properties=True,
    ),
    "anthropic": Dialect(name="anthropic"),
    "anthropic_strict": _CLOSED,
    # `parameters` and `responseSchema`: the OpenAPI subset, without references.
    "gemini": Dialect(
        name="gemini",
        refs="inline",
        keywords=_CORE
        | {
            "nullable", "format", "minItems", "maxItems", "minimum", "maximum", "minLength",
            "maxLength", "minProperties", "maxProperties", "pattern", "propertyOrdering",
        },
        formats=frozenset({"date-time", "enum", "int32", "int64", "float", "double"}),
        type_lists=False,
        string_enums=True,
        typed=True,
        plain_root=False,
    ),
    # `parametersJsonSchema` and `responseJsonSchema`: JSON Schema proper, references included.
    "gemini_json": Dialect(name="gemini_json", plain_root=False),
    "bedrock": Dialect(name="bedrock"),
    "bedrock_strict": msgspec.structs.replace(_CLOSED, name="bedrock_strict"),
}  # fmt: skip
