"""One schema in every provider's subset: nothing lost in silence, no property mistaken for a keyword."""

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from dragoman.codecs.schemas import DIALECTS, RECURSION_DEPTH, encode_schema
from dragoman.errors import DragomanError, EncodeError

KEYWORD_NAMES = [
    "title", "default", "const", "$ref", "properties", "type", "enum", "required", "items", "anyOf",
    "oneOf", "allOf", "additionalProperties", "$schema", "$defs", "definitions", "nullable", "not",
    "format", "description", "examples", "prefixItems", "$id",
]  # fmt: skip
NODE = {
    "$defs": {
        "Node": {
            "type": "object",
            "properties": {
                "v": {"type": "integer"},
                "kids": {"type": "array", "items": {"$ref": "#/$defs/Node"}},
            },
            "required": ["v", "kids"],
        }
    },
    "$ref": "#/$defs/Node",
}


def encoded(schema: dict[str, Any], dialect: str, **kw: Any) -> tuple[dict[str, Any], list[Any]]:
    changes: list[Any] = []
    before = copy.deepcopy(schema)
    result = encode_schema(schema, dialect, changes=changes, **kw)
    assert schema == before
    return result, changes


def schemas_in(schema: Any) -> list[dict[str, Any]]:
    """Every schema object of a schema, found without the code under test."""
    found = [schema]
    for key, value in schema.items():
        if key in {"properties", "$defs", "definitions"}:
            children = list(value.values())
        elif key in {"anyOf", "oneOf", "allOf", "prefixItems"}:
            children = value
        elif key in {"items", "additionalProperties", "not"}:
            children = value if isinstance(value, list) else [value]
        else:
            continue
        for child in children:
            if isinstance(child, dict):
                found += schemas_in(child)
    return found


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("name", KEYWORD_NAMES)
def test_a_property_named_like_a_keyword_survives(dialect: str, name: str) -> None:
    # B99
    inner = {
        "type": "object",
        "properties": {name: {"type": "string", "description": "mine"}},
        "required": [name],
        "additionalProperties": False,
    }
    schema = {
        "type": "object",
        "properties": {
            name: {"type": "integer"},
            "nested": inner,
            "list": {"type": "array", "items": inner},
        },
        "required": [name, "nested", "list"],
        "additionalProperties": False,
    }

    result, _ = encoded(schema, dialect)

    properties = result["properties"]
    assert properties[name] == {"type": "integer"}
    for holder in (properties["nested"], properties["list"]["items"]):
        assert holder["properties"] == {name: {"type": "string", "description": "mine"}}
        assert holder["required"] == [name]


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": ["number", "null"]}, {"type": "number", "nullable": True}),
        (
            {"type": ["string", "integer"], "description": "d", "minLength": 1},
            {
                "description": "d",
                "anyOf": [{"minLength": 1, "type": "string"}, {"type": "integer"}],
            },
        ),
        ({"const": "a"}, {"type": "string", "enum": ["a"]}),
        ({"const": 5}, {"type": "integer"}),
        (
            {"enum": ["a", "b", None]},
            {"type": "string", "enum": ["a", "b"], "nullable": True},
        ),
        (
            {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None, "title": "T"},
            {"type": "integer", "nullable": True},
        ),
        (
            {"anyOf": [{"type": "integer"}, {"type": "string"}, {"type": "null"}]},
            {"anyOf": [{"type": "integer"}, {"type": "string"}], "nullable": True},
        ),
        (
            {"oneOf": [{"type": "integer"}, {"type": "string"}]},
            {"anyOf": [{"type": "integer"}, {"type": "string"}]},
        ),
        (
            {"allOf": [{"type": "integer", "minimum": 1}, {"minimum": 3}]},
            {"type": "integer", "minimum": 3},
        ),
        ({"type": "integer", "exclusiveMinimum": 0}, {"type": "integer", "minimum": 1}),
        (
            {"type": "array", "prefixItems": [{"type": "number"}, {"type": "number"}]},
            {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2},
        ),
        ({"type": "object", "properties": {}}, {"type": "object"}),
        (
            {"type": "object", "additionalProperties": {"type": "string"}},
            {"type": "object"},
        ),
        ({"type": "string", "format": "email"}, {"type": "string"}),
    ],
)
def test_gemini_subset(schema: dict[str, Any], expected: dict[str, Any]) -> None:
    # B99
    whole = {"type": "object", "properties": {"p": schema}, "$schema": "x", "title": "Whole"}
    listed = {"type": "object", "properties": {"p": {"type": "array", "items": schema}}}

    assert encoded(whole, "gemini")[0]["properties"]["p"] == expected
    assert "$schema" not in encoded(whole, "gemini")[0]
    assert encoded(listed, "gemini")[0]["properties"]["p"]["items"] == expected


def test_gemini_has_no_references() -> None:
    schema = {
        "type": "object",
        "properties": {
            "a": {"$ref": "#/$defs/P"},
            "b": {"type": "array", "items": {"$ref": "#/$defs/P"}},
        },
        "$defs": {
            "P": {"type": "object", "properties": {"x": {"$ref": "#/$defs/Q"}}},
            "Q": {"type": "number"},
        },
    }

    result, changes = encoded(schema, "gemini")

    point = {"type": "object", "properties": {"x": {"type": "number"}}}
    assert result == {
        "type": "object",
        "properties": {"a": point, "b": {"type": "array", "items": point}},
    }
    assert not [c for c in changes if c.lossy]


@pytest.mark.parametrize("depth", [1, 2, RECURSION_DEPTH, 5])
@pytest.mark.parametrize("dialect", ["gemini", "anthropic_strict", "bedrock_strict"])
def test_recursion_is_written_out_to_the_documented_depth(dialect: str, depth: int) -> None:
    # B96
    result, changes = encoded(NODE, dialect, depth=depth)

    node, seen = result, 0
    while "kids" in node.get("properties", {}):
        node, seen = node["properties"]["kids"]["items"], seen + 1
    assert seen == depth
    assert node["type"] == "object"
    assert "$ref" not in json.dumps(result)
    assert "$defs" not in result
    assert next(c.code for c in changes if c.lossy) == "cut_recursion"
    assert not any("$defs" in c.path for c in changes)


@pytest.mark.parametrize(
    "dialect", ["openai", "openai_strict", "anthropic", "bedrock", "gemini_json"]
)
def test_recursion_stays_a_reference_where_it_may(dialect: str) -> None:
    # B96
    result, changes = encoded(NODE, dialect)

    assert result["$defs"]["Node"]["properties"]["kids"]["items"] == {"$ref": "#/$defs/Node"}
    assert not [c for c in changes if c.lossy]


def test_a_mutually_recursive_pair_is_cut_too() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/A"}},
        "$defs": {
            "A": {"type": "object", "properties": {"b": {"$ref": "#/$defs/B"}}},
            "B": {"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}},
        },
    }

    result, changes = encoded(schema, "gemini", depth=2)

    assert json.dumps(result).count('"b"') == 2
    assert [c.code for c in changes if c.lossy] == ["cut_recursion"]


def test_openai_strict_closes_every_object_and_requires_everything() -> None:
    # B97
    schema = {
        "type": "object",
        "properties": {
            "tags": {"type": "array", "items": {"type": "string"}, "default": []},
            "opt": {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None},
            "kind": {"const": "a"},
            "p": {"$ref": "#/$defs/P", "description": "a point"},
            "free": {"type": "object", "additionalProperties": {"type": "string"}},
            "any": {},
        },
        "required": ["kind"],
        "$defs": {"P": {"type": "object", "properties": {"x": {"type": "number", "minLength": 2}}}},
    }

    result, changes = encoded(schema, "openai_strict")

    for each in schemas_in(result):
        assert "default" not in each
        if each.get("type") == "object":
            assert each["additionalProperties"] is False
            assert each["required"] == list(each["properties"])
        assert each.keys() & {"type", "anyOf", "$ref"}
    assert result["properties"]["kind"] == {"const": "a", "type": "string"}
    assert result["properties"]["p"] == {"description": "a point", "anyOf": [{"$ref": "#/$defs/P"}]}
    assert result["properties"]["any"]["anyOf"]
    lossy = {(c.path, c.code) for c in changes if c.lossy}
    assert ("$.properties.tags", "dropped_keyword") in lossy
    assert ("$.properties.opt", "dropped_keyword") not in lossy
    assert ("$.properties.free", "closed_object") in lossy
    assert ("$.properties.any", "any_type") in lossy
    assert ("$.$defs.P.properties.x", "dropped_keyword") in lossy


def test_anthropic_strict_keeps_plain_references_and_drops_ranges() -> None:
    schema = {
        "type": "object",
        "properties": {
            "p": {"$ref": "#/$defs/P"},
            "n": {"type": "integer", "minimum": 1},
            "l": {"type": "array", "items": {"type": "string"}, "minItems": 3},
            "u": {"type": "string", "format": "uri"},
        },
        "$defs": {"P": {"type": "object", "properties": {"x": {"type": "number"}}}},
    }

    result, changes = encoded(schema, "anthropic_strict")

    assert result["properties"]["p"] == {"$ref": "#/$defs/P"}
    assert result["properties"]["n"] == {"type": "integer"}
    assert result["properties"]["l"] == {"type": "array", "items": {"type": "string"}}
    assert result["properties"]["u"] == {"type": "string", "format": "uri"}
    assert result["$defs"]["P"]["additionalProperties"] is False
    assert "required" not in result
    assert sorted(c.path for c in changes if c.lossy) == ["$.properties.l", "$.properties.n"]


@pytest.mark.parametrize("dialect", ["openai", "openai_strict", "anthropic", "bedrock"])
@pytest.mark.parametrize("word", ["anyOf", "oneOf"])
def test_a_union_at_the_root_becomes_one_object(dialect: str, word: str) -> None:
    schema = {
        word: [
            {
                "type": "object",
                "properties": {"a": {"type": "string"}, "c": {"type": "string"}},
                "required": ["a", "c"],
            },
            {"$ref": "#/$defs/B"},
        ],
        "$defs": {
            "B": {
                "type": "object",
                "properties": {"b": {"type": "string"}, "c": {"type": "number"}},
                "required": ["c"],
            }
        },
    }

    result, changes = encoded(schema, dialect)

    assert result["type"] == "object"
    assert not result.keys() & {"anyOf", "oneOf"}
    assert set(result["properties"]) == {"a", "b", "c"}
    assert result["properties"]["c"]["anyOf"] == [{"type": "string"}, {"type": "number"}]
    if dialect != "openai_strict":
        assert result["required"] == ["c"]
    assert ("merged_union", True) in {(c.code, c.lossy) for c in changes}


@pytest.mark.parametrize("dialect", sorted(set(DIALECTS) - {"gemini"}))
def test_openapi_spellings_become_json_schema(dialect: str) -> None:
    schema = {
        "type": "OBJECT",
        "properties": {"a": {"type": "STRING", "nullable": True}},
        "required": ["a"],
        "additionalProperties": False,
    }

    result, _ = encoded(schema, dialect)

    assert result["type"] == "object"
    assert result["properties"]["a"] == {"type": ["string", "null"]}


@pytest.mark.parametrize(
    ("schema", "dialect"),
    [
        ({"$ref": "https://example.org/x"}, "gemini"),
        ({"properties": {"a": {"$ref": "#/$defs/Gone"}}}, "gemini"),
        ({"properties": {"a": {"$ref": "#/$defs/Gone"}}}, "openai_strict"),
        ({"properties": {"a": 5}}, "gemini"),
        (
            {
                "$defs": {"A": {"allOf": [{"$ref": "#/$defs/A"}, {"$ref": "#/$defs/A"}]}},
                "$ref": "#/$defs/Gone",
            },
            "gemini",
        ),
        ({}, "klingon"),
        ([], "openai"),
    ],
)
def test_what_is_no_schema_is_an_error_with_a_path(schema: Any, dialect: str) -> None:
    with pytest.raises(EncodeError) as caught:
        encode_schema(schema, dialect, path="$.tools[0].parameters")
    assert caught.value.path is not None
    assert caught.value.path.startswith("$.tools[0].parameters")


def test_an_exponential_document_is_refused() -> None:
    defs: dict[str, Any] = {
        f"D{i}": {
            "type": "object",
            "properties": {"a": {"$ref": f"#/$defs/D{i + 1}"}, "b": {"$ref": f"#/$defs/D{i + 1}"}},
        }
        for i in range(40)
    }
    defs["D40"] = {"type": "string"}

    with pytest.raises(EncodeError, match="too large"):
        encode_schema({"$ref": "#/$defs/D0", "$defs": defs}, "gemini")


def test_a_very_deep_document_is_refused() -> None:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(3000):
        schema = {"type": "array", "items": schema}

    for dialect in DIALECTS:
        with pytest.raises(EncodeError, match="too deep"):
            encode_schema(schema, dialect)


def test_a_json_pointer_is_unescaped() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/x~1y%20z"}},
        "$defs": {"x/y z": {"type": "number"}},
    }

    assert encoded(schema, "gemini")[0]["properties"] == {"a": {"type": "number"}}


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(KEYWORD_NAMES) | st.text(max_size=4), inner, max_size=4)
    ),
    max_leaves=12,
)


def _objects(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.dictionaries(
        st.sampled_from(["a", "title", "$ref", "type", "default"]), inner, max_size=3
    ).flatmap(
        lambda props: st.fixed_dictionaries(
            {"type": st.just("object"), "properties": st.just(props)},
            optional={
                "required": st.lists(st.sampled_from(sorted(props)), unique=True)
                if props
                else st.just([]),
                "additionalProperties": st.booleans(),
                "title": st.just("T"),
            },
        )
    )


good_schemas = st.recursive(
    st.sampled_from(
        [
            {"type": "string"}, {"type": "integer", "minimum": 2}, {"type": ["number", "null"]},
            {"enum": ["a", "b"]}, {"const": 3}, {"type": "boolean", "default": True}, {},
            {"$ref": "#/$defs/Leaf"}, {"type": "string", "format": "date"}, {"enum": ["a", 1, None]},
        ]
    ),
    lambda inner: _objects(inner)
    | st.fixed_dictionaries({"type": st.just("array"), "items": inner})
    | st.fixed_dictionaries({"anyOf": st.lists(inner, min_size=1, max_size=3)})
    | st.fixed_dictionaries({"oneOf": st.lists(inner, min_size=1, max_size=2)}),
    max_leaves=8,
).map(
    lambda schema: {
        "type": "object",
        "properties": {"x": schema},
        "$defs": {"Leaf": {"type": "object", "properties": {"const": {"type": "string"}}}},
    }
)  # fmt: skip


@given(good_schemas, st.sampled_from(sorted(DIALECTS)))
def test_a_written_schema_fits_its_dialect(schema: dict[str, Any], dialect: str) -> None:
    result, changes = encoded(schema, dialect)
    row = DIALECTS[dialect]

    for each in schemas_in(result):
        if row.keywords is not None:
            assert each.keys() <= row.keywords
        if row.refs == "inline":
            assert "$ref" not in each
        if row.string_enums:
            assert all(isinstance(v, str) for v in each.get("enum", []))
        if not row.type_lists:
            assert not isinstance(each.get("type"), list)
        if row.closed and each.get("type") == "object":
            assert each["additionalProperties"] is False
    if row.type_lists:
        Draft202012Validator.check_schema(result)
    assert encode_schema(result, dialect) is result
    if result == schema:
        assert not changes


@given(json_values, st.sampled_from(sorted(DIALECTS)))
def test_any_json_is_written_or_refused(schema: Any, dialect: str) -> None:
    before = copy.deepcopy(schema)
    try:
        result = encode_schema(schema, dialect)
    except DragomanError:
        pass
    else:
        json.dumps(result)
    assert schema == before


@pytest.mark.parametrize("dialect", list(DIALECTS))
@pytest.mark.parametrize(
    "kinds", [["string", ["x"]], ["string", {"a": 1}, "integer"], [5, None], [["x"], ["y"], "null"]]
)
def test_types_that_are_no_text_are_no_accident(dialect, kinds):
    schema = {"type": "object", "properties": {"a": {"type": kinds}}}
    before = repr(schema)
    assert encode_schema(schema, dialect)["properties"].keys() == {"a"}
    assert repr(schema) == before
