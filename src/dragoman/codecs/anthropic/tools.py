"""Tools, tool choice and structured output on the Anthropic wire.

Source: https://docs.anthropic.com/en/docs/agents-and-tools/tool-use, read 2026-11.
"""

from typing import Any

from dragoman.codecs.anthropic.tables import FOREIGN_TOOLS
from dragoman.codecs.contract import Change
from dragoman.codecs.schemas import encode_schema
from dragoman.codecs.tools import function_tool, json_schema_of, tool_choice_of, without_marks

__all__ = ["write_choice", "write_format", "write_tools"]

_WORDS = {"auto", "any", "none"}


def write_tools(tools: list[dict[str, Any]], changes: list[Change]) -> list[dict[str, Any]]:
    """Return the tools in Anthropic's form; tools that other providers run are left out."""
    written: list[dict[str, Any]] = []
    for n, tool in enumerate(tools):
        path = f"$.tools[{n}]"
        found = None if "input_schema" in tool else function_tool(tool)
        if found is not None:
            written.append(_function(found, tool, path, changes))
        elif "input_schema" in tool or _is_own(tool):
            written.append(tool)
        else:
            text = "a tool of another provider is left out"
            changes.append(Change(path, "dropped_tool", True, text))
    return written


def _is_own(tool: dict[str, Any]) -> bool:
    kind = tool.get("type")
    return (
        isinstance(kind, str) and kind not in FOREIGN_TOOLS and not kind.startswith("openrouter:")
    )


def _function(
    found: dict[str, Any], tool: dict[str, Any], path: str, changes: list[Change]
) -> dict[str, Any]:
    written = {"name": found["name"]}
    if found.get("description") is not None:
        written["description"] = found["description"]
    dialect = "anthropic_strict" if found.get("strict") else "anthropic"
    schema = found.get("parameters") or {"type": "object", "properties": {}}
    written["input_schema"] = encode_schema(
        schema, dialect, changes=changes, path=f"{path}.parameters"
    )
    if found.get("strict") is not None:
        written["strict"] = found["strict"]
    for key in ("cache_control", "defer_loading"):  # what users add to tools of any spelling
        if tool.get(key) is not None:
            written[key] = tool[key]
    return written


def write_choice(
    choice: Any, tools: list[dict[str, Any]], parallel: Any, changes: list[Change]
) -> dict[str, Any] | None:
    """Return `tool_choice`; `parallel` False asks for one call at a time."""
    written = _choice(choice, tools, changes)
    if parallel is False and (written or {}).get("type") != "none" and tools:
        written = {**(written or {"type": "auto"}), "disable_parallel_tool_use": True}
    return written


def _choice(choice: Any, tools: list[dict[str, Any]], changes: list[Change]) -> Any:
    if choice is None:
        return None
    if isinstance(choice, dict) and choice.get("type") in (*_WORDS, "tool"):
        return choice
    word = choice
    if not isinstance(choice, str) or choice not in [t.get("name") for t in tools]:
        word = tool_choice_of(choice)
    if word is None:
        text = "a tool choice of another provider is left out"
        changes.append(Change("$.tool_choice", "dropped_tool_choice", True, text))
        return None
    return {"type": word} if word in _WORDS else {"type": "tool", "name": word}


def write_format(wanted: Any, changes: list[Change]) -> dict[str, Any] | None:
    """Return `output_config.format` for a request for structured output."""
    if not isinstance(wanted, dict):
        return None
    if wanted.get("type") == "text":
        return None
    if isinstance(wanted.get("schema"), dict) and not wanted.keys() & {"name", "strict"}:
        if (given := without_marks(wanted)) is wanted:
            return wanted
        wanted = given
    asked = json_schema_of(wanted)
    if asked is None:
        text = "structured output without a schema is not known here and is left out"
        changes.append(Change("$.response_format", "dropped_response_format", True, text))
        return None
    schema = encode_schema(
        asked.schema, "anthropic_strict", changes=changes, path="$.response_format.schema"
    )
    return {"type": "json_schema", "schema": schema}
