"""Tools, tool choice, sampling and structured output on the Gemini wire.

Function declarations take a JSON schema (`parametersJsonSchema`) or the OpenAPI subset
(`parameters`). Declarations that a request spread over several tool objects, or wrote in the
subset, carry a bag `gemini` that says so.

Source: https://ai.google.dev/gemini-api/docs/function-calling, read 2026-11.
"""

from typing import Any

from dragoman.codecs.contract import Change, ChatRequest
from dragoman.codecs.gemini.tables import API, snake
from dragoman.codecs.gemini.wire import camel_keys
from dragoman.codecs.schemas import encode_schema
from dragoman.codecs.tools import function_tool, json_schema_of, tool_choice_of

__all__ = [
    "read_choice",
    "read_generation",
    "read_tools",
    "write_choice",
    "write_generation",
    "write_tools",
]

_MODES = {"auto": "AUTO", "none": "NONE", "any": "ANY"}
_WORDS = {mode: word for word, mode in _MODES.items()}
_SCHEMAS = {"parametersJsonSchema": "gemini_json", "parameters": "gemini"}
_SAMPLING = {"temperature": "temperature", "topP": "top_p"}
# Objects of tools that Google runs; each has one key. Read 2026-11.
_OWN = (
    "googleSearch", "urlContext", "codeExecution", "fileSearch", "googleMaps", "computerUse",
    "enterpriseWebSearch", "retrieval", "googleSearchRetrieval", "mcpServers",
    "functionDeclarations",
)  # fmt: skip
_FOREIGN = frozenset({"type", "toolSpec", "systemTool", "cachePoint", "input_schema", "name"})


def read_tools(request: ChatRequest, extra: dict[str, Any]) -> None:
    """Move `tools` from `extra` into the request."""
    tools = extra.get("tools")
    if isinstance(tools, dict):
        tools = [tools]
    if not isinstance(tools, list) or not all(isinstance(t, dict) for t in tools):
        return
    del extra["tools"]
    n_groups = 0
    for tool in tools:
        tool = camel_keys(tool)
        declared = tool.get("functionDeclarations")
        if len(tool) == 1 and isinstance(declared, list):
            found = [_read_declaration(d) for d in declared]
            if found and all(f is not None for f in found):
                n_groups += 1
                for n, one in enumerate(found):
                    if n == 0 and n_groups > 1 and one is not None:
                        one = {**one, API: {**one.get(API, {}), "begins": True}}
                    request.tools.append(one or {})
                continue
        request.tools.append(tool)


def _read_declaration(declared: Any) -> dict[str, Any] | None:
    if not isinstance(declared, dict):
        return None
    declared = camel_keys(declared)
    kinds = [key for key in _SCHEMAS if declared.get(key) is not None]
    if not isinstance(declared.get("name"), str) or len(kinds) > 1:
        return None
    found: dict[str, Any] = {"name": declared["name"]}
    if isinstance(declared.get("description"), str):
        found["description"] = declared["description"]
    bag: dict[str, Any] = {}
    for kind in kinds:
        schema = declared[kind]
        if not isinstance(schema, dict):
            return None
        found["parameters"] = schema
        written = encode_schema(schema, _SCHEMAS[kind])
        if kind != "parametersJsonSchema" or written is not schema:
            bag["schema"] = kind
    known = {"name", "description", *_SCHEMAS}
    rest = {k: v for k, v in declared.items() if k not in known and v is not None}
    if rest:
        bag["declaration"] = rest
    return {**found, API: bag} if bag else found


def write_tools(tools: list[dict[str, Any]], changes: list[Change]) -> list[dict[str, Any]]:
    """Return `tools`: function declarations together, where the first one stands."""
    written: list[dict[str, Any]] = []
    group: list[dict[str, Any]] | None = None
    for n, tool in enumerate(tools):
        path = f"$.tools[{n}]"
        found = function_tool(tool)
        if found is not None:
            bag = tool.get(API)
            bag = bag if isinstance(bag, dict) else {}
            if group is None or bag.get("begins"):
                group = []
                written.append({"functionDeclarations": group})
            group.append(_declaration(found, bag, path, changes))
        elif _is_own(tool):
            written.append(tool)
        else:
            text = "a tool of another provider is left out"
            changes.append(Change(path, "dropped_tool", True, text))
    return written


def _is_own(tool: dict[str, Any]) -> bool:
    return bool(tool) and (
        not _FOREIGN & tool.keys() or any(k in tool or snake(k) in tool for k in _OWN)
    )


def _declaration(
    found: dict[str, Any], bag: dict[str, Any], path: str, changes: list[Change]
) -> dict[str, Any]:
    declared: dict[str, Any] = {"name": found["name"]}
    if found.get("description") is not None:
        declared["description"] = found["description"]
    schema = found.get("parameters")
    if schema is not None:
        kind = bag.get("schema")
        if isinstance(kind, str) and kind in _SCHEMAS:  # this wire took the schema as it is
            declared[kind] = schema
        else:
            declared["parametersJsonSchema"] = encode_schema(
                schema, "gemini_json", changes=changes, path=f"{path}.parameters"
            )
    rest = bag.get("declaration")
    return {**declared, **rest} if isinstance(rest, dict) else declared


def read_choice(request: ChatRequest, extra: dict[str, Any]) -> None:
    """Move the function calling part of `toolConfig` from `extra` into the request."""
    config = extra.get("toolConfig")
    if not isinstance(config, dict):
        return
    config = camel_keys(config)
    calling = config.get("functionCallingConfig")
    if not isinstance(calling, dict):
        return
    request.tool_choice = _read_calling(camel_keys(calling))
    rest = {k: v for k, v in config.items() if k != "functionCallingConfig"}
    if rest:
        extra["toolConfig"] = rest
    else:
        del extra["toolConfig"]


def _read_calling(calling: dict[str, Any]) -> Any:
    mode = calling.get("mode")
    word = _WORDS.get(mode) if isinstance(mode, str) else None
    if word is not None and len(calling) == 1:
        return word
    names = calling.get("allowedFunctionNames")
    if word == "any" and len(calling) == 2 and isinstance(names, list) and len(names) == 1:
        name = names[0]
        if isinstance(name, str) and name and name not in _MODES:
            return name
    return {"functionCallingConfig": calling}


def write_choice(
    choice: Any, tools: list[dict[str, Any]], changes: list[Change]
) -> dict[str, Any] | None:
    """Return `functionCallingConfig`."""
    if choice is None:
        return None
    if isinstance(choice, dict):
        calling = camel_keys(choice).get("functionCallingConfig")
        if isinstance(calling, dict):
            return calling
    word = choice
    if not isinstance(choice, str) or choice not in [t.get("name") for t in tools]:
        word = tool_choice_of(choice)
    if word is None:
        text = "a tool choice of another provider is left out"
        changes.append(Change("$.tool_choice", "dropped_tool_choice", True, text))
        return None
    if word in _MODES:
        return {"mode": _MODES[word]}
    return {"mode": "ANY", "allowedFunctionNames": [word]}


def read_generation(request: ChatRequest, extra: dict[str, Any]) -> None:
    """Move what has a field from `generationConfig` in `extra` into the request."""
    given = extra.get("generationConfig")
    if not isinstance(given, dict):
        return
    rest = dict(camel_keys(given))
    for key, field in _SAMPLING.items():
        if type(rest.get(key)) in {int, float}:
            setattr(request, field, rest.pop(key))
    if type(rest.get("maxOutputTokens")) is int:
        request.max_tokens = rest.pop("maxOutputTokens")
    stop = rest.get("stopSequences")
    if isinstance(stop, list) and all(isinstance(s, str) for s in stop):
        request.stop = rest.pop("stopSequences")
    if rest.get("responseMimeType") == "application/json":
        request.response_format = _read_format(rest)
    if rest:
        extra["generationConfig"] = rest
    else:
        del extra["generationConfig"]


def _read_format(rest: dict[str, Any]) -> dict[str, Any] | None:
    """Take the response format out of `rest`; None (and nothing taken) if it is not understood."""
    kinds = [k for k in ("responseJsonSchema", "responseSchema") if rest.get(k) is not None]
    if len(kinds) > 1 or not all(isinstance(rest[k], dict) for k in kinds):
        return None
    del rest["responseMimeType"]
    if not kinds:
        return {"type": "json_object"}
    schema = rest.pop(kinds[0])
    found: dict[str, Any] = {"type": "json_schema", "schema": schema}
    # Says in which field this wire took the schema as it is.
    return found if _is_plain(kinds[0], schema) else {**found, API: kinds[0]}


def _is_plain(kind: str, schema: dict[str, Any]) -> bool:
    return kind == "responseJsonSchema" and encode_schema(schema, "gemini_json") is schema


def write_generation(request: ChatRequest, changes: list[Change]) -> dict[str, Any]:
    """Return what the request says of `generationConfig`."""
    sampling = {
        "temperature": request.temperature,
        "topP": request.top_p,
        "maxOutputTokens": request.max_tokens,
        "stopSequences": request.stop,
    }
    config: dict[str, Any] = {k: v for k, v in sampling.items() if v is not None}
    wanted = request.response_format
    if not isinstance(wanted, dict) or wanted.get("type") == "text":
        return config
    asked = json_schema_of(wanted)
    config["responseMimeType"] = "application/json"
    if asked is not None:
        kind = wanted.get(API)
        if isinstance(kind, str):
            config[kind] = asked.schema
        else:
            config["responseJsonSchema"] = encode_schema(
                asked.schema, "gemini_json", changes=changes, path="$.response_format.schema"
            )
    elif wanted.get("type") != "json_object":
        del config["responseMimeType"]
        text = "a response format of another provider is left out"
        changes.append(Change("$.response_format", "dropped_response_format", True, text))
    return config
