"""Anything a user calls a tool or a schema, as OpenAI's function JSON.

The one form all codecs start from. Functions, pydantic models, dataclasses, TypedDicts, tools,
JSON Schemas and the tool dicts of OpenAI, Anthropic and Bedrock are understood; see the table
`surface` in the documentation of `convert_to_openai_function`. Nothing given is changed.
"""

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from enum import EnumType
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_origin
from uuid import uuid4
from weakref import WeakKeyDictionary

from dragoman.errors import MessageError, short
from dragoman.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from dragoman.utils.docstrings import parse_docstring
from dragoman.utils.json_schema import (
    dereference_refs,
    map_schemas,
    remove_titles,
    schema_of_model,
    strict_schema,
)
from dragoman.utils.signatures import function_name, model_from_function, parameter_types
from dragoman.utils.typed_dicts import is_typed_dict, model_from_typed_dict

__all__ = [
    "FunctionDescription",
    "ToolDescription",
    "convert_to_json_schema",
    "convert_to_openai_function",
    "convert_to_openai_tool",
    "tool_example_to_messages",
    "tool_list",
]

Function = dict[str, Any]
FunctionDescription = dict[str, Any]
ToolDescription = dict[str, Any]

# OpenAI's own tools (platform.openai.com/docs/guides/tools, read 2026-11): passed on as they are.
OWN_TOOLS = frozenset(
    {
        "apply_patch", "code_interpreter", "computer", "computer_use_preview", "custom",
        "file_search", "function", "image_generation", "mcp", "namespace", "tool_search",
        "web_search",
    }
)  # fmt: skip

# What a function's JSON holds, in the order it is written.
FUNCTION_TYPES: dict[str, type] = {
    "name": str,
    "description": str,
    "parameters": dict,
    "strict": bool,
}


def convert_to_openai_function(
    function: Mapping[str, Any] | type | Callable[..., Any] | Any, *, strict: bool | None = None
) -> Function:
    """Return `{"name", "description", "parameters"}` for a function, class, tool or dict.

    | given | name and description | parameters |
    |---|---|---|
    | function | its name, its docstring | from its signature; injected arguments left out |
    | pydantic class, dataclass | the class's | its JSON schema, references inlined |
    | TypedDict | the class's | as `utils.typed_dicts` says |
    | tool | the tool's | its `tool_call_schema` |
    | dict | `name`, or `title` of a JSON Schema | OpenAI, Anthropic, Bedrock or JSON Schema form |

    Args:
        function: One of these.
        strict: True closes every object and requires all properties; True and False add the key
            `strict`; None adds nothing.

    Raises:
        ValueError: If it is none of these, or says another `strict` itself.

    >>> def add(a: int, b: int = 2) -> int:
    ...     "Add two numbers."
    >>> convert_to_openai_function(add)["parameters"]["required"]
    ['a']
    """
    if isinstance(function, Mapping):
        result = _from_dict(function)
    elif _is_bare_type(function):
        raise ValueError(
            f"Unsupported function\n\n{short(function)}\n\nA type without fields is no schema:"
            " write a pydantic class with a field of this type, and pass the class."
        )
    elif isinstance(function, type):
        result = _from_class(function, keep_none=bool(strict))
    elif _is_tool(function):
        result = _from_tool(function)
    elif callable(function):
        result = _from_callable(function)
    else:
        raise ValueError(
            f"Unsupported function\n\n{short(function)}\n\nFunctions must be passed in"
            " as Dict, pydantic.BaseModel, or Callable. If they're a dict they must either be in"
            " OpenAI function format or valid JSON schema with top-level 'title' key."
        )
    return result if strict is None else _with_strict(result, strict)


def convert_to_openai_tool(
    tool: Mapping[str, Any] | type | Callable[..., Any] | Any, *, strict: bool | None = None
) -> dict[str, Any]:
    """Return `{"type": "function", "function": {...}}` for what `convert_to_openai_function` takes.

    A dict that is an OpenAI tool already comes back as it is, and a tool whose metadata says
    `custom_tool` becomes `{"type": "custom", ...}`.

    Raises:
        ValueError: As `convert_to_openai_function`.
    """
    if isinstance(tool, dict):
        kind = tool.get("type")
        if isinstance(kind, str) and (kind in OWN_TOOLS or kind.startswith("web_search_preview")):
            return tool
    given: Any = tool
    if _is_tool(given) and (getattr(given, "metadata", None) or {}).get("type") == "custom_tool":
        custom = {"name": given.name, "description": given.description}
        if form := given.metadata.get("format"):
            custom["format"] = form
        return {"type": "custom", **custom}
    return {"type": "function", "function": convert_to_openai_function(tool, strict=strict)}


def convert_to_json_schema(
    schema: Mapping[str, Any] | type | Callable[..., Any] | Any, *, strict: bool | None = None
) -> dict[str, Any]:
    """Return a JSON Schema with `title` and `description` for what the other functions take.

    Raises:
        ValueError: As `convert_to_openai_function`.
    """
    tool = convert_to_openai_tool(schema, strict=strict)
    function = tool.get("function")
    if not isinstance(function, dict) or "name" not in function:
        raise ValueError("Input must be a valid OpenAI-format tool.")
    result: dict[str, Any] = {"title": function["name"]}
    if "description" in function:
        result["description"] = function["description"]
    result.update(function.get("parameters") or {})
    if strict is not None:
        result["strict"] = function.get("strict", strict)
    return result


def tool_example_to_messages(
    input: str,
    tool_calls: Sequence[Any],
    tool_outputs: Sequence[str] | None = None,
    *,
    ai_response: str | None = None,
) -> list[BaseMessage]:
    """Return an example of a tool's use as messages: human, AI with calls, results, perhaps AI.

    Args:
        input: What the human said.
        tool_calls: Pydantic objects, one a call; the class names the tool.
        tool_outputs: One result a call; a default text when not given.
        ai_response: The final answer, if the example has one.

    Raises:
        ValueError: If the numbers of calls and outputs differ.
    """
    outputs = tool_outputs or ["You have correctly called this tool."] * len(tool_calls)
    if len(outputs) != len(tool_calls):
        raise ValueError(
            f"The number of tool_outputs ({len(outputs)}) must match the number of tool_calls "
            f"({len(tool_calls)}). Got {len(outputs)} output(s) for {len(tool_calls)} tool call(s)."
        )
    raw: list[dict[str, Any]] = [
        {
            "id": str(uuid4()),
            "type": "function",
            "function": {"name": type(call).__name__, "arguments": call.model_dump_json()},
        }
        for call in tool_calls
    ]
    messages: list[BaseMessage] = [
        HumanMessage(content=input),
        AIMessage(content="", additional_kwargs={"tool_calls": raw}),
    ]
    messages += [
        ToolMessage(content=output, tool_call_id=call["id"])
        for output, call in zip(outputs, raw, strict=True)
    ]
    if ai_response:
        messages.append(AIMessage(content=ai_response))
    return messages


def _is_bare_type(value: Any) -> bool:
    """Return whether `value` is a type that names no fields: `int`, `list[City]`, `City | None`, an enum."""
    origin = get_origin(value)
    kind: Any = value if origin is None else origin
    if isinstance(kind, EnumType) or any(kind is form for form in _FORMS):
        return True
    if not isinstance(kind, type):
        return False
    is_base = kind.__name__ == "BaseModel" and kind.__module__ == "pydantic.main"
    return is_base or kind.__module__ in ("builtins", "collections.abc")


_FORMS = (Annotated, Any, Literal, Union, UnionType)


def _from_dict(given: Mapping[str, Any]) -> Function:
    source = dict(given)
    if source.get("type") == "function" and isinstance(source.get("function"), dict):
        source = source["function"]
    if "name" in source and "input_schema" in source:
        found = {"name": source["name"], "parameters": source["input_schema"]}
    elif isinstance(spec := source.get("toolSpec"), dict):
        source = spec
        schema: Any = spec.get("inputSchema")
        parameters = schema.get("json") if isinstance(schema, dict) else schema
        found = {"name": spec.get("name"), "parameters": parameters}
    elif "name" in source:
        found = {k: source[k] for k in ("name", "parameters", "strict") if k in source}
    elif "title" in source:
        found = {"name": source["title"]}
        rest = {k: v for k, v in source.items() if k not in ("title", "description")}
        if "properties" in rest:
            found["parameters"] = rest
    else:
        raise ValueError(
            f"Unsupported function\n\n{short(given, 400)}\n\nTo use a JSON schema as a function, "
            "it must have a top-level 'title' key to be used as the function name."
        )
    if source.get("description"):
        found["description"] = source["description"]
    for key, kind in FUNCTION_TYPES.items():
        if found.get(key) is None:
            found.pop(key, None)
        elif not isinstance(found[key], kind):
            message = f"`{key}` of a function must be a {kind.__name__}, got {short(found[key])}"
            raise MessageError(message)
    if "name" not in found:
        raise MessageError("A function must have a `name`")
    return {key: deepcopy(found[key]) for key in FUNCTION_TYPES if key in found}


def _from_class(cls: type, *, keep_none: bool) -> Function:
    if is_typed_dict(cls):
        function = _from_model(model_from_typed_dict(cls, keep_none=keep_none))
        function["parameters"] = _typed_dict_form(function["parameters"])
        return function
    if hasattr(cls, "model_json_schema"):
        return _from_model(cls)
    if dataclasses.is_dataclass(cls):
        return _from_dataclass(cls)
    return _from_callable(cls)


def _from_model(model: Any, name: str | None = None, description: str | None = None) -> Function:
    known = _known.get(model)
    if known is None:
        schema = _json_schema(model)
        title, text = schema.pop("title", None), schema.pop("description", None)
        own = text if isinstance(text, str) else model.__doc__ if "__doc__" in vars(model) else ""
        known = title or model.__name__, own or "", remove_titles(schema)
        _known[model] = known
    return {
        "name": name or known[0],
        "description": description if description is not None else known[1],
        "parameters": deepcopy(known[2]),
    }


# An agent binds its tools on every turn: a class says the same each time.
_known: WeakKeyDictionary[type, tuple[str, str, dict[str, Any]]] = WeakKeyDictionary()


def _json_schema(model: Any) -> dict[str, Any]:
    from pydantic.errors import PydanticInvalidForJsonSchema, PydanticUserError

    try:
        return dereference_refs(schema_of_model(model))
    except (PydanticInvalidForJsonSchema, PydanticUserError) as error:
        message = f"`{model.__name__}` has no JSON schema: {short(error.message, 200)}"
        raise MessageError(
            message, hint="annotate its fields with types that JSON knows"
        ) from error


def _from_dataclass(cls: Any) -> Function:
    from pydantic import TypeAdapter

    schema = dereference_refs(TypeAdapter(cls).json_schema())
    title, text = schema.pop("title", cls.__name__), schema.pop("description", None)
    # A dataclass without a docstring gets its signature as one: that says nothing to a model.
    own = cls.__doc__ if cls.__doc__ and not cls.__doc__.startswith(f"{cls.__name__}(") else ""
    description, texts = parse_docstring(text or own, [f.name for f in dataclasses.fields(cls)])
    parameters = remove_titles(schema)
    for field, words in texts.items():
        parameters.get("properties", {}).get(field, {}).setdefault("description", words)
    return {"name": title, "description": description, "parameters": parameters}


def _from_callable(function: Any) -> Function:
    doc = getattr(function, "__doc__", None)
    if not hasattr(function, "__name__"):
        inner = getattr(function, "func", None)
        doc = inner.__doc__ if inner is not None else type(function).__doc__
    names = [name for name in parameter_types(function) if name != "return"]
    names += [name for name in _signature_names(function) if name not in names]
    description, texts = parse_docstring(doc, names)
    model = model_from_function(function, description=description, descriptions=texts)
    return _from_model(model, name=function_name(function), description=description)


def _signature_names(function: Any) -> list[str]:
    import inspect

    return list(inspect.signature(function).parameters)


def tool_list(tools: Iterable[Any]) -> list[Any]:
    """Return tools as a list.

    Raises:
        TypeError: If it is a single tool, or none at all.
    """
    given: Any = tools
    is_one = callable(given) or _is_tool(given) or isinstance(given, (str, Mapping))
    if is_one or not isinstance(given, Iterable):
        message = (
            f"tools has to be a list, got {type(given).__name__}; write [tool] for a single one"
        )
        raise TypeError(message)
    return list(tools)


def _is_tool(value: Any) -> bool:
    return not isinstance(value, type) and all(
        hasattr(value, name) for name in ("name", "description", "args_schema", "invoke")
    )


def _from_tool(tool: Any) -> Function:
    schema = tool.args_schema
    takes_text = schema is None and type(tool).__name__ == "Tool"
    if not takes_text:
        schema = tool.tool_call_schema
    if takes_text or schema is None:
        # A tool of one nameless text argument.
        argument = {"title": "__arg1", "type": "string"}
        parameters: dict[str, Any] = {
            "properties": {"__arg1": argument},
            "required": ["__arg1"],
            "type": "object",
        }
        return {"name": tool.name, "description": tool.description, "parameters": parameters}
    if isinstance(schema, dict):
        parameters = {k: v for k, v in schema.items() if k not in ("title", "description")}
        return {
            "name": tool.name,
            "description": tool.description,
            "parameters": deepcopy(parameters),
        }
    return _from_model(schema, name=tool.name, description=tool.description)


def _typed_dict_form(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema in the spelling that providers take most widely, keys in reading order."""
    result = map_schemas(schema, _typed_dict_form)
    if "const" in result:
        result["enum"] = [result.pop("const")]
    if result.get("additionalProperties") is True:
        del result["additionalProperties"]
    if result.get("default", ...) is None:
        del result["default"]
    order = ("type", "properties", "required")
    first = {key: result.pop(key) for key in order if key in result}
    return {**first, **result}


def _with_strict(function: Function, strict: bool) -> Function:
    if function.get("strict", strict) != strict:
        raise ValueError(
            f"Tool/function already has a 'strict' key with value {function['strict']} which is "
            f"different from the explicit `strict` arg received strict={strict!r}."
        )
    result = {**function, "strict": strict}
    if strict:
        parameters: Any = result.get("parameters") or {"type": "object", "properties": {}}
        result["parameters"] = strict_schema(parameters)
    return result
