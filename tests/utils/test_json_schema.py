"""Schemas: references, titles, strict form; nothing given is changed."""

import copy
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.errors import MessageError
from dragoman.utils.json_schema import dereference_refs, remove_titles, strict_schema

names = st.sampled_from(["title", "default", "properties", "type", "$ref", "items", "a"])
leaves = st.fixed_dictionaries({"type": st.sampled_from(["string", "integer"]), "title": st.text()})


def objects(children: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(
        st.fixed_dictionaries(
            {"type": st.just("object"), "properties": st.dictionaries(names, children, max_size=3)}
        ),
        st.fixed_dictionaries({"type": st.just("array"), "items": children}),
        st.fixed_dictionaries({"anyOf": st.lists(children, min_size=1, max_size=2)}),
    )


schemas = st.recursive(leaves, objects, max_leaves=8)


def property_names(schema: Any) -> list[str]:
    found: list[str] = []
    if isinstance(schema.get("properties"), dict):
        for name, inner in schema["properties"].items():
            found += [name, *property_names(inner)]
    for inner in [schema["items"]] if "items" in schema else []:
        found += property_names(inner)
    for inner in schema.get("anyOf", []):
        found += property_names(inner)
    return found


@given(schemas)
def test_b99_properties_called_like_keywords_survive_every_function(schema):
    before = copy.deepcopy(schema)
    for change in (remove_titles, strict_schema, dereference_refs):
        assert property_names(change(schema)) == property_names(schema)
    assert schema == before


@given(schemas)
def test_titles_are_gone_and_twice_is_once(schema):
    once = remove_titles(schema)
    assert remove_titles(once) == once
    jsonschema.Draft202012Validator.check_schema(strict_schema(once))


@pytest.mark.parametrize("properties", [True, 5, "ab", None, ["a"]])
def test_properties_that_are_none_are_not_required(properties):
    closed = strict_schema({"type": "object", "properties": properties})
    assert closed == {"type": "object", "properties": properties, "additionalProperties": False}


def test_keys_beside_a_reference_win():
    schema = {
        "properties": {"a": {"$ref": "#/$defs/A", "description": "own"}},
        "$defs": {"A": {"type": "string", "description": "its"}},
    }
    assert dereference_refs(schema)["properties"]["a"] == {"type": "string", "description": "own"}


def test_mutual_recursion_keeps_what_is_needed():
    schema = {
        "$ref": "#/$defs/A",
        "$defs": {
            "A": {"type": "object", "properties": {"b": {"$ref": "#/$defs/B"}}},
            "B": {"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}, "n": {}}},
        },
    }
    found = dereference_refs(schema)
    jsonschema.validate({"b": {"a": {"b": {}}}}, found)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"b": {"a": {"b": 3}}}, found)


@pytest.mark.parametrize(
    "reference", ["#/$defs/Missing", "https://e.org/schema", "other.json#/A", "#/a/9"]
)
def test_references_that_cannot_be_followed_are_errors(reference):
    with pytest.raises(MessageError, match=r"reference|Reference"):
        dereference_refs({"properties": {"a": {"$ref": reference}}, "a": [1]})


def test_pointers_may_be_escaped():
    schema = {"items": {"$ref": "#/$defs/a~1b~0c"}, "$defs": {"a/b~c": {"type": "string"}}}
    assert dereference_refs(schema) == {"items": {"type": "string"}}
