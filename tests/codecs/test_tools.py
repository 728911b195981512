"""Every wire's spelling of function tools, tool choices and output schemas is read."""

from typing import Any

import pytest

from dragoman.codecs.tools import JsonSchema, function_tool, json_schema_of, tool_choice_of

SCHEMA = {"type": "object", "properties": {"type": {"type": "string"}}}
FULL = {"name": "f", "description": "d", "parameters": SCHEMA, "strict": True}


@pytest.mark.parametrize(
    "tool",
    [
        FULL,
        {"type": "function", "function": FULL},
        {"function": FULL},
        {"type": "function", **FULL},
        {"name": "f", "description": "d", "input_schema": SCHEMA, "strict": True},
        {"type": "custom", "name": "f", "description": "d", "input_schema": SCHEMA, "strict": True},
        {"name": "f", "description": "d", "parametersJsonSchema": SCHEMA, "strict": True},
        {"name": "f", "description": "d", "parameters_json_schema": SCHEMA, "strict": True},
        {
            "toolSpec": {
                "name": "f",
                "description": "d",
                "inputSchema": {"json": SCHEMA},
                "strict": True,
            }
        },
    ],
)
def test_a_function_tool_in_any_spelling(tool: dict[str, Any]) -> None:
    assert function_tool(tool) == FULL
    assert function_tool(tool)["parameters"] is SCHEMA  # type: ignore[index]


@pytest.mark.parametrize(
    "tool",
    [
        {"type": "web_search"},
        {"type": "custom", "name": "f", "format": {"type": "text"}},
        {"type": "web_search_20250305", "name": "web_search"},
        {"googleSearch": {}},
        {"cachePoint": {"type": "default"}},
        {"name": 5},
        {"toolSpec": None},
        None,
        "f",
        [],
    ],
)
def test_what_is_no_function_tool(tool: Any) -> None:
    assert function_tool(tool) is None


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        ("auto", "auto"),
        ("required", "any"),
        ("REQUIRED", "any"),
        ("NONE", "none"),
        ("any", "any"),
        ("my_tool", "my_tool"),
        ({"type": "function", "function": {"name": "f"}}, "f"),
        ({"type": "function", "name": "f"}, "f"),
        ({"type": "tool", "name": "f"}, "f"),
        ({"type": "auto"}, "auto"),
        ({"type": "any", "disable_parallel_tool_use": True}, "any"),
        ({"auto": {}}, "auto"),
        ({"any": {}}, "any"),
        ({"tool": {"name": "f"}}, "f"),
        ({"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["f"]}}, "f"),
        ({"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["f", "g"]}}, None),
        ({"function_calling_config": {"mode": "NONE"}}, "none"),
        ({"type": "web_search"}, None),
        ({"type": "function"}, None),
        (None, None),
        (3, None),
    ],
)
def test_a_tool_choice_in_any_spelling(choice: Any, expected: str | None) -> None:
    assert tool_choice_of(choice) == expected


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        (
            {"type": "json_schema", "json_schema": {"name": "n", "schema": SCHEMA, "strict": True}},
            JsonSchema("n", SCHEMA, strict=True),
        ),
        (
            {"type": "json_schema", "name": "n", "schema": SCHEMA, "description": "d"},
            JsonSchema("n", SCHEMA, description="d"),
        ),
        ({"type": "json_schema", "schema": SCHEMA}, JsonSchema("response", SCHEMA)),
        (SCHEMA, JsonSchema("response", SCHEMA)),
        ({**SCHEMA, "title": "T"}, JsonSchema("T", {**SCHEMA, "title": "T"})),
        ({"type": "json_object"}, None),
        ({"type": "text"}, None),
        ("json", None),
        (None, None),
    ],
)
def test_an_output_schema_in_any_spelling(asked: Any, expected: JsonSchema | None) -> None:
    assert json_schema_of(asked) == expected
