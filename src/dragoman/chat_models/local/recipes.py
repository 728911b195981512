"""What a local model must be asked in its own way, as data, and the pure function that applies it.

Measured with llama.cpp and the bundled model (2026-11):

- `tool_choice: "required"` alone allows free text until `<tool_call>`, which a 135M model never
  writes. An assistant turn that opens with it puts the grammar inside the call: then exactly one
  valid call comes. The stop string ends the reply after that call; it does not break the parsing.
- A named choice is ignored, so only the named tool is sent.
- With `none` the tools must not be in the prompt at all, or the model parrots them.
- Free text of a small model may never end; a limit keeps it from holding the one slot for minutes.
- Strings without a length in a JSON schema are where constrained output runs on until the limit.
"""

import os
from typing import Any

import msgspec

from dragoman.errors import EncodeError, short

__all__ = ["ANY_GGUF", "BUNDLED", "Recipe", "prepare"]


class Recipe(msgspec.Struct, frozen=True, kw_only=True):
    """How one local model wants to be asked.

    Attributes:
        call_prefill: The start of the assistant's turn that forces a call, or None.
        call_stop: The string after which a forced call is complete, or None.
        max_tokens: The limit of a reply for which the caller set none, or None.
        max_string: The `maxLength` of strings in a JSON schema that have none, or None.
        max_items: The `maxItems` of arrays in a JSON schema that have none, or None.
    """

    call_prefill: str | None = None
    call_stop: str | None = None
    max_tokens: int | None = None
    max_string: int | None = None
    max_items: int | None = None


BUNDLED = Recipe(
    call_prefill="<tool_call>\n",
    call_stop="</tool_call>",
    max_tokens=1024,
    max_string=200,
    max_items=10,
)
# Larger models end by themselves, and llama.cpp enforces `required` for the templates it knows.
ANY_GGUF = Recipe()

# Block types of the chat completions wire that a text model cannot read.
MEDIA = frozenset({"image_url", "input_audio", "file", "video_url"})


def prepare(body: dict[str, Any], path: str | os.PathLike[str] | None = None) -> dict[str, Any]:
    r"""Return the chat completions `body` as the model at `path` (None: the bundled one) wants it.

    `body` is not changed; the parts that stay as they are, are shared.

    Raises:
        EncodeError: If a message holds an image, audio or a file, a tool is no function, or
            `tool_choice` names one that is not among `tools`.

    >>> tool = {"type": "function", "function": {"name": "add", "parameters": {}}}
    >>> ask = {"role": "user", "content": "1 and 2?"}
    >>> body = prepare({"messages": [ask], "tools": [tool], "tool_choice": "required"})
    >>> body["messages"][-1], body["stop"]
    ({'role': 'assistant', 'content': '<tool_call>\n'}, ['</tool_call>'])
    """
    recipe = BUNDLED if path is None else ANY_GGUF
    _refuse_media(body.get("messages") or [])
    body = dict(body)
    if recipe.max_tokens is not None and not body.get("max_tokens"):
        # The newer name of the same limit; llama.cpp reads both.
        body["max_tokens"] = body.pop("max_completion_tokens", None) or recipe.max_tokens
    _choose_tools(body, recipe)
    if recipe.max_string is not None:
        _bound_output(body, recipe)
    return body


def _refuse_media(messages: list[Any]) -> None:
    for i, message in enumerate(messages):
        content = message.get("content") if isinstance(message, dict) else None
        if not isinstance(content, list):
            continue
        for j, block in enumerate(content):
            kind = block.get("type") if isinstance(block, dict) else None
            if isinstance(kind, str) and kind in MEDIA:
                text = f"a local model reads text only and cannot take `{kind}` blocks"
                where = f"$.messages[{i}].content[{j}]"
                raise EncodeError(text, path=where, hint="remove it, or ask a model that sees")


def _choose_tools(body: dict[str, Any], recipe: Recipe) -> None:
    """Apply `tool_choice` to the top level of `body`, in place."""
    choice: Any = body.get("tool_choice")
    for i, tool in enumerate(body.get("tools") or []):
        if not (isinstance(tool, dict) and isinstance(tool.get("function"), dict)):
            text = "a local model knows functions only, and none of a provider's own tools"
            raise EncodeError(text, path=f"$.tools[{i}]", hint="bind a function in its place")
    if not body.get("tools") or choice == "none":
        for key in ("tools", "tool_choice", "parallel_tool_calls"):
            body.pop(key, None)
        return
    if isinstance(choice, dict):
        body["tools"] = [_named(body["tools"], (choice.get("function") or choice).get("name"))]
    elif choice != "required":
        return
    body["tool_choice"] = "required"
    if recipe.call_prefill is None:
        return
    messages = list(body.get("messages") or [])
    last = messages[-1] if messages else {}
    if last.get("role") == "assistant" and isinstance(last.get("content"), str):
        # Two assistant turns at the end are refused: the caller's own start comes first.
        start = f"{last['content']}\n" if last["content"] else ""
        messages[-1] = {**last, "content": start + recipe.call_prefill}
    else:
        messages.append({"role": "assistant", "content": recipe.call_prefill})
    stop = body.get("stop") or []
    body["messages"] = messages
    body["stop"] = [*([stop] if isinstance(stop, str) else stop), recipe.call_stop]


def _named(tools: list[Any], name: Any) -> Any:
    for tool in tools:
        if (tool.get("function") or {}).get("name") == name:
            return tool
    text = f"`tool_choice` names {short(name)}, which is not among the tools"
    raise EncodeError(text, path="$.tool_choice", hint="name one of the tools that are bound")


def _bound_output(body: dict[str, Any], recipe: Recipe) -> None:
    """Put limits into the schema of `response_format`, and of the tools a call is forced of."""
    form = body.get("response_format")
    if isinstance(form, dict) and form.get("type") == "json_schema":
        inner = form.get("json_schema") or {}
        if isinstance(inner.get("schema"), dict):
            bounded = {**inner, "schema": _bounded(inner["schema"], recipe)}
            body["response_format"] = {**form, "json_schema": bounded}
    if body.get("tool_choice") == "required":
        body["tools"] = [_bounded_tool(tool, recipe) for tool in body["tools"]]


def _bounded_tool(tool: dict[str, Any], recipe: Recipe) -> dict[str, Any]:
    function = tool.get("function")
    if not isinstance(function, dict) or not isinstance(function.get("parameters"), dict):
        return tool
    bounded = {**function, "parameters": _bounded(function["parameters"], recipe)}
    return {**tool, "function": bounded}


# What limits a string already, beside which a length would be wrong or in vain.
LIMITED = frozenset({"enum", "const", "pattern", "format", "maxLength", "minLength"})
# Keywords beside which a schema still allows anything at all.
NOTES = frozenset({"title", "description", "default", "examples", "deprecated", "$comment"})
# The value is data; a map from names to schemas; one schema.
DATA = frozenset({"enum", "const", "default", "examples", "required"})
NAMED = frozenset({"properties", "$defs", "definitions"})
PARTS = frozenset({"items", "additionalProperties"})


def _bounded(schema: Any, recipe: Recipe) -> Any:
    """Return `schema`, or one that allows less of the same: what ends."""
    if isinstance(schema, list):
        return [_bounded(item, recipe) for item in schema]
    if not isinstance(schema, dict):
        return schema
    result: dict[str, Any] = {}
    for key, value in schema.items():
        if key in DATA:
            result[key] = value
        elif key in NAMED and isinstance(value, dict):
            result[key] = {name: _part(inner, recipe) for name, inner in value.items()}
        elif key in PARTS:
            result[key] = _part(value, recipe)
        else:
            result[key] = _bounded(value, recipe)
    if result.get("type") == "string" and not LIMITED & result.keys():
        result["maxLength"] = recipe.max_string
    if result.get("type") == "array" and not {"maxItems", "minItems"} & result.keys():
        result["maxItems"] = recipe.max_items
    if result.get("properties") and result.get("additionalProperties") is True:
        # Asked for its properties, a small model makes up others for as long as it may.
        result["additionalProperties"] = False
    return result


def _part(schema: Any, recipe: Recipe) -> Any:
    """Return `schema` bounded; where any value would do, a plain one, since objects may nest on."""
    if isinstance(schema, dict) and schema.keys() <= NOTES:
        scalars = ["string", "number", "boolean", "null"]
        return {**schema, "type": scalars, "maxLength": recipe.max_string}
    return _bounded(schema, recipe)
