"""Anything as an OpenAI function: the rows of the table, schema by schema."""

import copy
import dataclasses
import enum
from functools import partial
from typing import Annotated, Any, Literal, NotRequired, Optional, TypedDict, Union

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from dragoman.messages import AIMessage, HumanMessage, ToolMessage
from dragoman.utils.function_calling import (
    convert_to_json_schema,
    convert_to_openai_function,
    convert_to_openai_tool,
    tool_example_to_messages,
)


class Marker:
    """Marks an argument as injected."""

    __injected_tool_arg__ = True


class Directly:
    """A type that is injected by itself."""

    __injected_tool_arg__ = True


class Colour(enum.Enum):
    """Colours."""

    RED = "red"
    BLUE = "blue"


class Inner(BaseModel):
    """Inner doc"""

    title: str
    x: int = Field(3, description="xx")


class Model(BaseModel):
    """Doc of the model."""

    a: int
    title: str = Field(description="the title")
    inner: Inner
    many: list[Inner] = []
    maybe: int | None = None
    colour: Colour = Colour.RED
    word: Literal["p", "q"] = "p"
    aliased: str = Field(alias="Alias")
    tags: list[str] = Field(default_factory=list)


INNER = {
    "description": "Inner doc",
    "properties": {
        "title": {"type": "string"},
        "x": {"default": 3, "description": "xx", "type": "integer"},
    },
    "required": ["title"],
    "type": "object",
}


def properties(value: Any, **options: Any) -> dict[str, Any]:
    return convert_to_openai_function(value, **options)["parameters"]["properties"]


def test_a_pydantic_class_is_inlined_and_a_property_called_title_stays():
    found = convert_to_openai_function(Model)
    assert (found["name"], found["description"]) == ("Model", "Doc of the model.")
    assert found["parameters"]["properties"] == {
        "a": {"type": "integer"},
        "title": {"description": "the title", "type": "string"},
        "inner": INNER,
        "many": {"default": [], "items": INNER, "type": "array"},
        "maybe": {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None},
        "colour": {
            "description": "Colours.",
            "enum": ["red", "blue"],
            "type": "string",
            "default": "red",
        },
        "word": {"default": "p", "enum": ["p", "q"], "type": "string"},
        "Alias": {"type": "string"},
        "tags": {"items": {"type": "string"}, "type": "array"},
    }
    assert found["parameters"]["required"] == ["a", "title", "inner", "Alias"]
    assert "$defs" not in found["parameters"]


class Node(BaseModel):
    """A tree."""

    v: int
    kids: list["Node"] = []


def test_b96_a_recursive_model_keeps_its_definition():
    schema = convert_to_openai_function(Node)["parameters"]
    jsonschema.validate({"v": 1, "kids": [{"v": 2, "kids": [{"v": 3}]}]}, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"v": 1, "kids": [{"v": 2, "kids": [{"v": "x"}]}]}, schema)


def test_b96_an_unresolved_forward_reference_is_an_error_that_names_the_parameter():
    def f(a: "Nowhere") -> None:  # noqa: F821 - the point
        """Do."""

    with pytest.raises(ValueError, match="'Nowhere' of `a` in `f`"):
        convert_to_openai_function(f)


class Described(TypedDict):
    """Doc of the dict.

    Args:
        a: the a
    """

    a: int
    b: Annotated[str, ..., "b text"]
    c: Annotated[int, 3, "c text"]
    d: Annotated[int | None, None, "d text"]
    e: NotRequired[int]


class Nested(TypedDict):
    one: Described
    many: list[Described]
    word: Literal["a"]
    any: Any
    anything: dict


def test_a_typed_dict_with_defaults_and_descriptions():
    assert convert_to_openai_function(Described) == {
        "name": "Described",
        "description": "Doc of the dict.",
        "parameters": {
            "type": "object",
            "properties": {
                "a": {"description": "the a", "type": "integer"},
                "b": {"description": "b text", "type": "string"},
                "c": {"description": "c text", "default": 3, "type": "integer"},
                "d": {"description": "d text", "type": "integer"},
                "e": {"type": "integer"},
            },
            "required": ["a", "b"],
        },
    }
    assert list(convert_to_openai_function(Described)["parameters"]) == [
        "type",
        "properties",
        "required",
    ]


def test_qualifiers_inside_annotated_count_as_those_around_it():
    class Place(TypedDict):
        near: Annotated[NotRequired[int], ..., "How near"]
        far: NotRequired[Annotated[int, ..., "How far"]]

    assert convert_to_openai_function(Place)["parameters"] == {
        "type": "object",
        "properties": {
            "near": {"type": "integer", "description": "How near"},
            "far": {"type": "integer", "description": "How far"},
        },
    }


def test_typed_dicts_inside_typed_dicts_are_expanded():
    found = convert_to_openai_function(Nested)
    inner = convert_to_openai_function(Described)["parameters"]
    assert found["description"] == ""
    assert found["parameters"]["properties"] == {
        "one": {**inner, "description": "Doc of the dict."},
        "many": {"type": "array", "items": {**inner, "description": "Doc of the dict."}},
        "word": {"type": "string", "enum": ["a"]},
        "any": {},
        "anything": {"type": "object"},
    }


def test_a_strict_typed_dict_can_still_say_null():
    found = properties(Described, strict=True)
    assert found["d"]["anyOf"] == [{"type": "integer"}, {"type": "null"}]


def test_a_description_that_is_no_text_is_refused():
    class Bad(TypedDict):
        a: Annotated[str, ..., 3]

    with pytest.raises(ValueError, match="Invalid annotation for field a"):
        convert_to_openai_function(Bad)


def test_typed_dicts_nested_without_end_are_refused():
    deep: Any = str
    for level in range(30):
        deep = TypedDict(f"D{level}", {"x": deep})  # noqa: UP013 - built in a loop
    with pytest.raises(ValueError, match="25 levels"):
        convert_to_openai_function(deep)


@dataclasses.dataclass
class Data:
    """A record.

    Args:
        a: the a
    """

    a: int
    b: list[str] = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Undocumented:
    a: int


def test_a_dataclass():
    found = convert_to_openai_function(Data)
    assert (found["name"], found["description"]) == ("Data", "A record.")
    assert found["parameters"]["properties"]["a"] == {"type": "integer", "description": "the a"}
    assert found["parameters"]["required"] == ["a"]
    assert convert_to_openai_function(Undocumented)["description"] == ""


def test_a_function():
    def f(
        a: int,
        b: str = "x",
        *,
        c: list[int] | None = None,
        d: Annotated[int, "d text"] = 1,
        hidden: Annotated[int, Marker] = 3,
        hidden2: Annotated[int, Marker()] = 3,
        hidden3: Directly | None = None,
        run_manager: Any = None,
        callbacks: Any = None,
    ) -> str:
        """Do f.

        More text.

        Args:
            a: the a
            b: the b
              continued
            unknown: no such argument
        """
        return ""

    assert convert_to_openai_function(f) == {
        "name": "f",
        "description": "Do f. More text.",
        "parameters": {
            "properties": {
                "a": {"description": "the a", "type": "integer"},
                "b": {"default": "x", "description": "the b continued", "type": "string"},
                "c": {
                    "anyOf": [{"items": {"type": "integer"}, "type": "array"}, {"type": "null"}],
                    "default": None,
                },
                "d": {"default": 1, "description": "d text", "type": "integer"},
            },
            "required": ["a"],
            "type": "object",
        },
    }


def test_any_parameter_name():
    def f(schema: str, copy: int, _x: int, model_y: str, json: str, type: str, title: str):
        """Do."""

    names = ["schema", "copy", "_x", "model_y", "json", "type", "title"]
    assert list(properties(f)) == names
    assert convert_to_openai_function(f)["parameters"]["required"] == names


def test_methods_partials_and_callable_objects():
    class Thing:
        """Call me."""

        def method(self, a: int) -> None:
            """A method."""

        def __call__(self, q: int) -> None: ...

    def add(a: int, b: int) -> int:
        """Add."""
        return a + b

    assert convert_to_openai_function(Thing().method)["parameters"]["required"] == ["a"]
    bound = convert_to_openai_function(partial(add, b=2))
    assert (bound["name"], bound["parameters"]["required"]) == ("add", ["a"])
    called = convert_to_openai_function(Thing())
    assert (called["name"], called["description"]) == ("Thing", "Call me.")
    assert list(called["parameters"]["properties"]) == ["q"]


@pytest.mark.parametrize(
    ("style", "doc"),
    [
        ("rest", "Add.\n\n:param a: the a\n:returns: x"),
        ("numpy", "Add.\n\nParameters\n----------\na : int\n    the a\n"),
    ],
)
def test_other_docstring_styles_are_read_with_the_extra(style, doc, monkeypatch):
    def f(a: int) -> None: ...

    f.__doc__ = doc
    found = convert_to_openai_function(f)
    assert found["description"] == "Add."
    assert found["parameters"]["properties"]["a"]["description"] == "the a"
    monkeypatch.setattr("dragoman.utils.docstrings.find_spec", lambda name: None)
    assert convert_to_openai_function(f)["description"].startswith("Add.")


class FakeTool:
    """Has the shape of a tool."""

    name = "tool"
    description = "a tool"
    args_schema: Any = Inner
    tool_call_schema: Any = Inner
    metadata: Any = None

    def invoke(self, value: Any) -> Any: ...


def test_a_tool_by_its_shape():
    found = convert_to_openai_function(FakeTool())
    parameters = {key: value for key, value in INNER.items() if key != "description"}
    assert found == {"name": "tool", "description": "a tool", "parameters": parameters}


def test_a_tool_with_a_json_schema():
    tool = FakeTool()
    schema = {"title": "T", "description": "d", "type": "object", "properties": {"title": {}}}
    tool.args_schema = tool.tool_call_schema = schema
    assert convert_to_openai_function(tool)["parameters"] == {
        "type": "object",
        "properties": {"title": {}},
    }


def test_a_tool_of_one_text():
    class Tool(FakeTool):
        args_schema = None

    assert convert_to_openai_function(Tool())["parameters"] == {
        "properties": {"__arg1": {"title": "__arg1", "type": "string"}},
        "required": ["__arg1"],
        "type": "object",
    }


def test_a_custom_tool():
    tool = FakeTool()
    tool.metadata = {"type": "custom_tool", "format": {"type": "grammar"}}
    assert convert_to_openai_tool(tool) == {
        "type": "custom",
        "name": "tool",
        "description": "a tool",
        "format": {"type": "grammar"},
    }


OBJECT = {"type": "object", "properties": {"a": {"type": "string", "title": "A"}}}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (
            {"name": "n", "description": "d", "input_schema": OBJECT},
            {"name": "n", "description": "d", "parameters": OBJECT},
        ),
        (
            {"toolSpec": {"name": "n", "description": "d", "inputSchema": {"json": OBJECT}}},
            {"name": "n", "description": "d", "parameters": OBJECT},
        ),
        (
            {"name": "n", "other": 1, "parameters": OBJECT, "strict": True},
            {"name": "n", "parameters": OBJECT, "strict": True},
        ),
        ({"name": "n"}, {"name": "n"}),
        (
            {"title": "n", "description": "d", **OBJECT},
            {"name": "n", "description": "d", "parameters": OBJECT},
        ),
        ({"title": "n"}, {"name": "n"}),
        ({"type": "function", "function": {"name": "n"}}, {"name": "n"}),
    ],
)
def test_dicts(given, expected):
    assert convert_to_openai_function(given) == expected


@pytest.mark.parametrize(
    "kind",
    [
        "function",
        "file_search",
        "computer",
        "computer_use_preview",
        "code_interpreter",
        "mcp",
        "image_generation",
        "web_search_preview",
        "web_search_preview_2025_03_11",
        "web_search",
        "tool_search",
        "apply_patch",
        "namespace",
    ],
)
def test_openai_tools_pass_as_they_are(kind):
    tool = {"type": kind, "x": 1}
    assert convert_to_openai_tool(tool) is tool


@pytest.mark.parametrize("given", [3, "x", None, {"type": "object"}, {"type": "banana"}, {}])
def test_anything_else_is_refused(given):
    with pytest.raises(ValueError, match="Unsupported function"):
        convert_to_openai_function(given)
    if isinstance(given, dict):
        with pytest.raises(ValueError, match="top-level 'title' key"):
            convert_to_openai_tool(given)


# Strict


@pytest.mark.parametrize(
    "given",
    [
        *(int, str, list, dict, object, BaseModel, Any, enum.Enum("Colour", ["RED"])),
        *(list[int], dict[str, int], int | None, Optional[int], Union[int, str]),  # noqa: UP007, UP045 - both spellings
        *(Literal["a"], Annotated[int, "a number"]),
    ],
)
def test_a_type_without_fields_is_refused(given):
    with pytest.raises(ValueError, match="write a pydantic class with a field of this type"):
        convert_to_openai_tool(given)


def test_strict_closes_every_object_and_requires_everything():
    given = {
        "name": "n",
        "parameters": {
            "type": "object",
            "properties": {
                "a": {"anyOf": [{"type": "object", "properties": {"b": {}}}, {"type": "null"}]},
                "list": {"type": "array", "items": {"type": "object", "properties": {"c": {}}}},
                "properties": {"type": "object", "properties": {"default": {}}},
            },
            "$defs": {"X": {"type": "object", "properties": {"z": {}}}},
        },
    }
    before = repr(given)
    found = convert_to_openai_function(given, strict=True)
    closed = {"additionalProperties": False, "type": "object"}
    assert found["strict"] is True
    assert found["parameters"] == {
        **closed,
        "properties": {
            "a": {
                "anyOf": [
                    {**closed, "properties": {"b": {}}, "required": ["b"]},
                    {"type": "null"},
                ]
            },
            "list": {
                "type": "array",
                "items": {**closed, "properties": {"c": {}}, "required": ["c"]},
            },
            "properties": {**closed, "properties": {"default": {}}, "required": ["default"]},
        },
        "required": ["a", "list", "properties"],
        "$defs": {"X": {**closed, "properties": {"z": {}}, "required": ["z"]}},
    }
    assert repr(given) == before


def test_strict_false_only_adds_the_key():
    assert convert_to_openai_function({"name": "n"}, strict=False) == {
        "name": "n",
        "strict": False,
    }


def test_a_conflicting_strict_is_refused():
    with pytest.raises(ValueError, match="already has a 'strict' key with value False"):
        convert_to_openai_function({"name": "n", "strict": False}, strict=True)


# The other functions


def test_json_schema_of_anything():
    assert convert_to_json_schema(Described)["title"] == "Described"
    assert convert_to_json_schema({"name": "n", "parameters": OBJECT}) == {"title": "n", **OBJECT}
    with pytest.raises(ValueError, match="Input must be a valid OpenAI-format tool"):
        convert_to_json_schema({"type": "web_search"})


def test_an_example_as_messages():
    found = tool_example_to_messages(
        "in", [Inner(title="t"), Inner(title="u")], ["o1", "o2"], ai_response="done"
    )
    human, ai, first, second, last = found
    assert human == HumanMessage("in")
    assert [call["args"]["title"] for call in ai.tool_calls] == ["t", "u"]
    assert [call["name"] for call in ai.tool_calls] == ["Inner", "Inner"]
    assert [m.tool_call_id for m in (first, second)] == [c["id"] for c in ai.tool_calls]
    assert last == AIMessage("done")
    result = tool_example_to_messages("in", [Inner(title="t")])[-1]
    assert isinstance(result, ToolMessage)
    assert result.content == "You have correctly called this tool."
    with pytest.raises(ValueError, match="must match the number of tool_calls"):
        tool_example_to_messages("in", [Inner(title="t")], ["a", "b"])


json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=5)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(
                [
                    "name",
                    "title",
                    "type",
                    "function",
                    "parameters",
                    "properties",
                    "toolSpec",
                    "inputSchema",
                    "json",
                    "input_schema",
                    "strict",
                    "description",
                    "$ref",
                    "required",
                ]
            ),
            inner,
            max_size=4,
        ),
    ),
    max_leaves=10,
)


@given(json_values, st.sampled_from([None, True, False]))
def test_any_json_becomes_a_function_or_a_value_error(value, strict):
    before = copy.deepcopy(value)
    for convert in (convert_to_openai_function, convert_to_openai_tool, convert_to_json_schema):
        try:
            found = convert(value, strict=strict)
        except ValueError:
            continue
        assert isinstance(found, dict)
    assert value == before
