"""Reading tools, tool choices and output schemas in every wire's spelling.

Encoders take what a user gave for one provider and write it for theirs. Each function returns the
canonical form, or None for what has none (a provider's own tool, an unknown shape): the caller
then sends it verbatim on its own wire, and reports it elsewhere. Pure; nothing is copied.
"""

from typing import Any

import msgspec

__all__ = ["JsonSchema", "function_tool", "json_schema_of", "tool_choice_of", "without_marks"]

_CHOICES = {
    "auto": "auto", "none": "none", "any": "any", "required": "any", "validated": "auto",
}  # fmt: skip
"""Every provider's words, lower case; Gemini's VALIDATED lets the model choose."""


class JsonSchema(msgspec.Struct, frozen=True):
    """What a request for structured output asks for.

    Attributes:
        name: The schema's name; `response` where the wire gives none.
        schema: The JSON schema.
        strict: Whether it has to be followed to the letter; None where the wire does not say.
        description: What the output is for, or None.
    """

    name: str
    schema: dict[str, Any]
    strict: bool | None = None
    description: str | None = None


def function_tool(tool: object) -> dict[str, Any] | None:
    """Return a function tool as `{name, description?, parameters?, strict?}`, or None.

    Reads the canonical form, OpenAI's nested and flat forms, Anthropic's `input_schema`, Gemini's
    function declarations (one, not a `tools` entry) and Bedrock's `toolSpec`.

    Example:
        >>> function_tool({"type": "function", "function": {"name": "now", "parameters": {}}})
        {'name': 'now', 'parameters': {}}
        >>> function_tool({"type": "web_search"}) is None
        True
    """
    if not isinstance(tool, dict):
        return None
    kind = tool.get("type")
    body: Any = tool
    if isinstance(tool.get("toolSpec"), dict):
        body = tool["toolSpec"]
    elif isinstance(tool.get("function"), dict) and kind in (None, "function"):
        body = tool["function"]
    elif kind not in (None, "function") and not (kind == "custom" and "input_schema" in tool):
        return None
    if not isinstance(name := body.get("name"), str):
        return None
    result: dict[str, Any] = {"name": name}
    if isinstance(body.get("description"), str):
        result["description"] = body["description"]
    if (parameters := _parameters(body)) is not None:
        result["parameters"] = parameters
    if isinstance(body.get("strict"), bool):
        result["strict"] = body["strict"]
    return result


def _parameters(body: dict[str, Any]) -> dict[str, Any] | None:
    for key in (
        "parameters", "input_schema", "parametersJsonSchema", "parameters_json_schema", "inputSchema",
    ):  # fmt: skip
        value = body.get(key)
        if isinstance(value, dict):
            json = value.get("json")
            return json if key == "inputSchema" and isinstance(json, dict) else value
    return None


def tool_choice_of(choice: object) -> str | None:
    """Return `auto`, `none`, `any` or a tool's name for any wire's spelling, else None.

    Example:
        >>> tool_choice_of({"type": "function", "function": {"name": "now"}})
        'now'
        >>> tool_choice_of("required")
        'any'
    """
    if isinstance(choice, str):
        return _CHOICES.get(choice.lower(), choice)
    if not isinstance(choice, dict):
        return None
    for key in ("functionCallingConfig", "function_calling_config"):
        if isinstance(config := choice.get(key), dict):
            return _gemini_choice(config)
    if isinstance(inner := choice.get("function", choice.get("tool")), dict):
        name = inner.get("name")
        return name if isinstance(name, str) else None
    kind = choice.get("type")
    if kind in ("function", "tool"):
        name = choice.get("name")
        return name if isinstance(name, str) else None
    if isinstance(kind, str):
        return _CHOICES.get(kind)
    if len(choice) == 1 and (word := next(iter(choice))) in ("auto", "any"):  # Bedrock
        return word
    return None


def _gemini_choice(config: dict[str, Any]) -> str | None:
    mode = config.get("mode")
    names = config.get("allowedFunctionNames", config.get("allowed_function_names"))
    word = _CHOICES.get(mode.lower()) if isinstance(mode, str) else None
    if isinstance(names, list) and names:
        one = names[0]
        return one if word == "any" and len(names) == 1 and isinstance(one, str) else None
    return word


_MARKS = frozenset(
    ("api", "anthropic", "bedrock_converse", "cohere", "gemini", "mistral", "ollama", "openai_chat",
     "openai_responses")
)  # fmt: skip
"""Keys by which a decoder tells the encoder of its own wire what that wire took as it is."""


def without_marks(response_format: dict[str, Any]) -> dict[str, Any]:
    """Return a response format without what decoders told the encoders of their own wires."""
    if response_format.keys().isdisjoint(_MARKS):
        return response_format
    return {k: v for k, v in response_format.items() if k not in _MARKS}


def json_schema_of(response_format: object) -> JsonSchema | None:
    """Return the schema a `response_format` asks for, in any wire's spelling, else None.

    Reads OpenAI's nested and flat forms, Anthropic's `{"type": "json_schema", "schema"}`, and a
    bare JSON schema of an object.

    Example:
        >>> json_schema_of({"type": "json_schema", "json_schema": {"name": "n", "schema": {}}})
        JsonSchema(name='n', schema={}, strict=None, description=None)
    """
    if not isinstance(response_format, dict):
        return None
    inner = response_format.get("json_schema")
    body: dict[str, Any] = inner if isinstance(inner, dict) else response_format
    schema = body.get("schema")
    if not isinstance(schema, dict):
        if response_format.get("type") != "object":
            return None
        schema, body = response_format, {"name": response_format.get("title")}
    name, strict, description = body.get("name"), body.get("strict"), body.get("description")
    return JsonSchema(
        name if isinstance(name, str) and name else "response",
        schema,
        strict if isinstance(strict, bool) else None,
        description if isinstance(description, str) else None,
    )
