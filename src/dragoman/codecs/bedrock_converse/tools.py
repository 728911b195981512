"""Tools, tool choice and structured output on the Converse wire.

There is no choice `none`: the tools are left out, unless the history holds calls, which need them.
Source: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolConfiguration.html,
read 2026-11.
"""

from typing import Any

from dragoman.codecs.arguments import dump_arguments, read_arguments
from dragoman.codecs.bedrock_converse.tables import API
from dragoman.codecs.bedrock_converse.wire import cache_control, cache_point
from dragoman.codecs.contract import Change, ChatRequest
from dragoman.codecs.schemas import encode_schema
from dragoman.codecs.shapes import as_dict
from dragoman.codecs.tools import function_tool, json_schema_of, tool_choice_of

__all__ = ["read_format", "read_tools", "write_format", "write_tools"]

_OWN = ("systemTool", "cachePoint")
_WORDS = {"auto", "any"}


def read_tools(request: ChatRequest, config: dict[str, Any]) -> dict[str, Any]:
    """Put a `toolConfig` into the request; return what of it has no field there."""
    rest = dict(config)
    tools = config.get("tools")
    if isinstance(tools, list) and all(isinstance(t, dict) for t in tools):
        del rest["tools"]
        for tool in tools:
            mark = cache_control(tool.get("cachePoint")) if len(tool) == 1 else None
            last = request.tools[-1] if request.tools else {}
            if mark is not None and "name" in last and "cache_control" not in last:
                request.tools[-1] = {**last, "cache_control": mark}
            else:
                request.tools.append(_read_tool(tool))
    choice = config.get("toolChoice")
    if isinstance(choice, dict) and len(choice) == 1:
        del rest["toolChoice"]
        request.tool_choice = _read_choice(choice)
    return rest


def _read_tool(tool: dict[str, Any]) -> dict[str, Any]:
    spec = tool.get("toolSpec")
    if len(tool) != 1 or not isinstance(spec, dict):
        return tool
    schema = spec.get("inputSchema")
    if not isinstance(schema, dict) or schema.keys() != {"json"}:
        return tool
    if not spec.keys() <= {"name", "description", "inputSchema", "strict"}:
        return tool
    found = function_tool(tool)
    given = [k for k, v in spec.items() if v is not None]
    if found is None or len(found) != len(given) or found.get("description") == "":
        return tool
    if not _fits(found):
        return tool
    return found


def _fits(tool: dict[str, Any]) -> bool:
    """Return whether the schema is written as it is: else the tool has to stay as it was read."""
    dialect = "bedrock_strict" if tool.get("strict") else "bedrock"
    return encode_schema(tool["parameters"], dialect) is tool["parameters"]


def read_format(output: dict[str, Any]) -> dict[str, Any] | None:
    """Return `outputConfig.textFormat` in OpenAI's form; None if that does not say all of it."""
    wanted = output.get("textFormat")
    if not isinstance(wanted, dict) or wanted.keys() != {"type", "structure"}:
        return None
    structure = as_dict(wanted["structure"])
    given = as_dict(structure.get("jsonSchema"))
    if wanted["type"] != "json_schema" or len(structure) != 1:
        return None
    text = given.get("schema")
    if not given.keys() <= {"name", "description", "schema"} or not isinstance(text, str):
        return None
    schema = read_arguments(text) if text.strip() else None
    if schema is None:
        return None
    found: dict[str, Any] = {"type": "json_schema", "json_schema": {**given, "schema": schema}}
    if encode_schema(schema, "bedrock_strict") is not schema:
        found["api"] = API  # says that this wire took the schema as it is
    return found


def _read_choice(choice: dict[str, Any]) -> Any:
    (word, value), *_ = choice.items()
    if word in _WORDS and value == {}:
        return word
    name = value.get("name") if isinstance(value, dict) and len(value) == 1 else None
    if word == "tool" and isinstance(name, str) and name not in {*_WORDS, "none", ""}:
        return name
    return choice


def write_tools(
    request: ChatRequest, called: dict[str, None], changes: list[Change]
) -> dict[str, Any]:
    """Return `toolConfig`, empty if there are no tools.

    Args:
        request: Tells tools and choice.
        called: The names of the tools that the history calls, in order: Bedrock refuses calls in
            the history of a request without tools, so those that are missing are declared.
        changes: Told what is left out or added.
    """
    tools: list[dict[str, Any]] = []
    for n, tool in enumerate(request.tools):
        tools += _write_tool(tool, f"$.tools[{n}]", changes)
    choice = request.tool_choice
    word = tool_choice_of(choice)
    if word == "none" and not called:
        return {}
    if not any("toolSpec" in t or "systemTool" in t for t in tools):
        if not called:
            return {}
        text = "tools that the history calls are declared without their parameters"
        changes.append(Change("$.tools", "declared_tools", False, text))
        schema = {"type": "object", "properties": {}}
        tools += [{"toolSpec": {"name": name, "inputSchema": {"json": schema}}} for name in called]
    config: dict[str, Any] = {"tools": tools}
    if word == "none":
        text = "Bedrock cannot forbid calls while the history holds some; the model may choose"
        changes.append(Change("$.tool_choice", "dropped_tool_choice", True, text))
    elif isinstance(choice, dict) and len(choice) == 1 and choice.keys() <= {*_WORDS, "tool"}:
        config["toolChoice"] = choice
    elif word in _WORDS and choice not in _names(request.tools):
        config["toolChoice"] = {word: {}}
    elif word is not None:
        name = choice if isinstance(choice, str) and choice in _names(request.tools) else word
        config["toolChoice"] = {"tool": {"name": name}}
    elif choice is not None:
        text = "a tool choice of another provider is left out"
        changes.append(Change("$.tool_choice", "dropped_tool_choice", True, text))
    return config


def _names(tools: list[dict[str, Any]]) -> list[Any]:
    return [t.get("name") for t in tools]


def _write_tool(tool: dict[str, Any], path: str, changes: list[Change]) -> list[dict[str, Any]]:
    if "toolSpec" in tool or any(key in tool for key in _OWN):
        return [tool]
    found = function_tool(tool)
    if found is None:
        if len(tool) == 1 and not isinstance(tool.get("type"), str) and not _is_gemini(tool):
            return [tool]  # a member of the union that is not known yet
        changes.append(Change(path, "dropped_tool", True, "a tool of another provider is left out"))
        return []
    spec: dict[str, Any] = {"name": found["name"]}
    if found.get("description"):
        spec["description"] = found["description"]
    dialect = "bedrock_strict" if found.get("strict") else "bedrock"
    schema = found.get("parameters") or {"type": "object", "properties": {}}
    spec["inputSchema"] = {
        "json": encode_schema(schema, dialect, changes=changes, path=f"{path}.parameters")
    }
    if found.get("strict") is not None:
        spec["strict"] = found["strict"]
    point = cache_point(tool.get("cache_control"))
    return [{"toolSpec": spec}] if point is None else [{"toolSpec": spec}, point]


def _is_gemini(tool: dict[str, Any]) -> bool:
    return tool.keys() <= {
        "googleSearch", "google_search", "codeExecution", "code_execution", "urlContext",
        "url_context", "fileSearch", "file_search", "googleMaps", "google_maps", "computerUse",
        "enterpriseWebSearch", "retrieval", "googleSearchRetrieval", "mcpServers",
        "functionDeclarations", "function_declarations",
    }  # fmt: skip


def write_format(wanted: Any, changes: list[Change]) -> dict[str, Any] | None:
    """Return `outputConfig.textFormat` for a request for structured output."""
    if not isinstance(wanted, dict) or wanted.get("type") == "text":
        return None
    asked = json_schema_of(wanted)
    if asked is None:
        text = "structured output without a schema is not known here and is left out"
        changes.append(Change("$.response_format", "dropped_response_format", True, text))
        return None
    given = wanted.get("json_schema")
    is_named = "name" in (given if isinstance(given, dict) else wanted)
    schema = asked.schema
    if wanted.get("api") != API:
        schema = encode_schema(
            schema, "bedrock_strict", changes=changes, path="$.response_format.schema"
        )
    written: dict[str, Any] = {"name": asked.name} if is_named else {}
    if asked.description is not None:
        written["description"] = asked.description
    written["schema"] = dump_arguments(schema)
    return {"type": "json_schema", "structure": {"jsonSchema": written}}
