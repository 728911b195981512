"""Canonical requests as bodies of the Responses API.

Done without telling, because nothing is lost: the first system message as `instructions`, results in
call order, long call ids shortened. `name`s, `stop` and tools of other providers are reported changes.
"""

from typing import Any

from dragoman.codecs.arguments import dump_arguments, read_arguments
from dragoman.codecs.contract import Change, ChatRequest
from dragoman.codecs.explained import explained
from dragoman.codecs.notes import note
from dragoman.codecs.openai_responses.tables import API, CLIENT_RESULTS, TOOL_TYPES, Dialect
from dragoman.codecs.openai_responses.turns import TurnWriter
from dragoman.codecs.openai_responses.wire import write_part
from dragoman.codecs.origin import foreign_value
from dragoman.codecs.schemas import encode_schema
from dragoman.codecs.shapes import as_dict, as_dicts, as_str
from dragoman.codecs.tools import function_tool, json_schema_of, tool_choice_of, without_marks
from dragoman.codecs.turns import Turn, turns
from dragoman.errors import EncodeError, short
from dragoman.messages import AIMessage, BaseMessage, ToolMessage

__all__ = ["encode_request"]


@explained
def encode_request(
    request: ChatRequest, dialect: Dialect, changes: list[Change] | None = None
) -> dict[str, Any]:
    """Return the body of a request; shares payloads with `request`, changes nothing of it.

    Raises:
        EncodeError: For a message, part or tool that this wire cannot carry.
    """
    body: dict[str, Any] = {}
    if request.model is not None:
        body["model"] = request.model
    found = turns(request.messages)
    if "instructions" not in request.extra and (first := _instructions(found)) is not None:
        body["instructions"] = first
        found = found[1:]
    if found:
        body["input"] = _write_input(found, dialect, request.extra.get("store"), changes)
    scalars = {
        "max_output_tokens": request.max_tokens,
        "temperature": request.temperature,
        "top_p": request.top_p,
        "stream": request.stream,
    }
    body.update((key, value) for key, value in scalars.items() if value is not None)
    if request.stop:
        note(changes, "$.stop", "dropped_parameter", "the Responses API has no stop sequences")
    tools = [
        tool
        for n, given in enumerate(request.tools)
        if (tool := _write_tool(given, f"$.tools[{n}]", changes)) is not None
    ]
    if tools:
        body["tools"] = tools
    if request.tool_choice is not None:
        choice, is_serial = _write_choice(request.tool_choice, tools, changes)
        if choice is not None:
            body["tool_choice"] = choice
        if is_serial and "parallel_tool_calls" not in request.extra:
            body["parallel_tool_calls"] = False
    text = request.extra.get("text")
    if request.response_format is not None:
        asked = _write_format(request.response_format, changes)
        body["text"] = {"format": asked, **as_dict(text)}
    for key, value in request.extra.items():
        body.setdefault(key, value)
    return body


def _instructions(found: list[Turn]) -> str | None:
    """Return the text of a first system message that is plain, else None."""
    if not found or found[0].role != "system":
        return None
    message = found[0].message
    if not isinstance(message.content, str) or not message.content or message.additional_kwargs:
        return None
    return message.content


# ---------------------------------------------------------------------- messages


def _write_input(
    found: list[Turn], dialect: Dialect, store: Any, changes: list[Change] | None
) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    writer = TurnWriter(dialect, store, changes)
    for turn in found:
        message = turn.message
        if message.name and turn.role != "tool":
            text = "the Responses API has no names of speakers"
            note(changes, f"{turn.path}.name", "dropped_name", text)
        if isinstance(message, ToolMessage):
            items.append(_write_result(message, turn.path, writer, changes))
        elif turn.role == "assistant":
            if not isinstance(message, AIMessage):
                message = AIMessage(message.content)
            written = writer.write(message, turn.path)
            if dialect.adjacent_calls:
                written = _calls_together(written)
            items += _shortened(written)
        else:
            items += _write_prompt(message, turn, changes)
    return items


def _calls_together(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the items of one turn with texts that stand between calls before the first call."""
    calls = [n for n, i in enumerate(items) if i.get("type") == "function_call"]
    if not calls:
        return items
    first, last = calls[0], calls[-1]
    middle = items[first:last]
    texts = [i for i in middle if i.get("role") == "assistant"]
    rest = [i for i in middle if i.get("role") != "assistant"]
    return [*items[:first], *texts, *rest, *items[last:]]


def _shortened(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return assistant items, messages of one plain text and without id in their short form."""
    found: list[dict[str, Any]] = []
    for item in items:
        parts = item["content"] if item.keys() == {"type", "role", "content"} else []
        only = as_dict(parts[0]) if isinstance(parts, list) and len(parts) == 1 else {}
        if only.keys() == {"type", "text", "annotations"} and not only["annotations"]:
            item = {"role": "assistant", "content": only["text"]}
        found.append(item)
    return found


def _write_prompt(
    message: BaseMessage, turn: Turn, changes: list[Change] | None
) -> list[dict[str, Any]]:
    """Return a system, developer or user message; items that stand in its content are items again."""
    role = as_str(message.additional_kwargs.get("__openai_role__")) or turn.role
    if turn.role == "system" and getattr(message, "role", None) == "developer":
        role = "developer"
    rest = as_dict(as_dict(message.additional_kwargs.get(API)).get("item"))
    if isinstance(message.content, str):
        return [{"role": role, "content": message.content, **rest}]
    items: list[dict[str, Any]] = []
    parts: list[dict[str, Any]] = []
    for n, block in enumerate(message.content_blocks):
        given: dict[str, Any] = dict(block)
        value = foreign_value(given, API) if given["type"] == "non_standard" else None
        if value is not None and "api" in given and not given.get("part"):
            if parts:
                items.append({"role": role, "content": parts, **rest})
                parts = []
            items.append(value)
            continue
        part = write_part(given, f"{turn.path}.content[{n}]", changes=changes)
        if part is not None:
            parts.append(part)
    if parts:
        items.append({"role": role, "content": parts, **rest})
    return items


def _write_result(
    message: ToolMessage, path: str, writer: TurnWriter, changes: list[Change] | None
) -> dict[str, Any]:
    bag = as_dict(message.additional_kwargs.get(API))
    wire_id = writer.ids.result(message.tool_call_id)
    if isinstance(whole := bag.get("whole"), dict):
        return whole
    call = writer.kinds.get(wire_id, "function_call")
    kind = as_str(bag.get("type"))
    if kind is None:
        kind = CLIENT_RESULTS.get(call, "function_call_output")
    id_key = "id" if kind == "local_shell_call_output" else "call_id"
    item: dict[str, Any] = {"type": kind, id_key: wire_id}
    output = _write_output(message, path, changes)
    failed = message.status == "error"
    if kind == "apply_patch_call_output":
        item["status"] = "failed" if failed else "completed"
        item["output"] = output
    elif kind == "computer_call_output":
        pictures = [p for p in as_dicts(output) if p["type"] == "input_image"]
        kept = {k: v for p in pictures[:1] for k, v in p.items()}
        item["output"] = {**kept, "type": "computer_screenshot"}
        if not pictures:
            note(changes, path, "dropped_block", "the result of `computer` has to be a picture")
    elif kind == "shell_call_output":
        text = output if isinstance(output, str) else dump_arguments(output)
        done = {"type": "exit", "exit_code": int(failed)}
        item["output"] = [{"stdout": text, "stderr": "", "outcome": done}]
    elif kind == "tool_search_output":
        found = read_arguments(f'{{"tools":{output}}}') if isinstance(output, str) else None
        tools = as_dict(found).get("tools")
        item.update(execution="client", status="completed", tools=as_dicts(tools))
    else:
        item["output"] = output
        if failed:
            item["status"] = "incomplete"
    return {**item, **as_dict(bag.get("item"))}


def _write_output(message: ToolMessage, path: str, changes: list[Change] | None) -> Any:
    if isinstance(message.content, str):
        return message.content
    parts: list[dict[str, Any]] = []
    for n, block in enumerate(message.content_blocks):
        part = write_part(dict(block), f"{path}.content[{n}]", changes=changes)
        if part is not None:
            parts.append(part)
    return parts or ""


# ---------------------------------------------------------------------- tools


def _write_tool(
    tool: dict[str, Any], path: str, changes: list[Change] | None
) -> dict[str, Any] | None:
    kind = tool.get("type")
    if kind == "custom" and isinstance(inner := tool.get("custom"), dict):
        return {"type": "custom", **inner}
    flat = kind == "function" and "function" not in tool and isinstance(tool.get("name"), str)
    if flat or (isinstance(kind, str) and kind in TOOL_TYPES and kind != "function"):
        return tool  # of this wire, maybe with fields that are not known here
    found = function_tool(tool)
    if found is None:
        if isinstance(kind, str) and not _looks_foreign(tool, kind):
            return tool
        text = f"the tool {short(kind or next(iter(tool), None))} is not of this wire"
        note(changes, path, "dropped_tool", text)
        return None
    written: dict[str, Any] = {"type": "function", **found}
    schema = found.get("parameters")
    if isinstance(schema, dict):
        dialect = "openai_strict" if found.get("strict") else "openai"
        written["parameters"] = encode_schema(
            schema, dialect, changes=changes, path=f"{path}.parameters"
        )
    return written


def _looks_foreign(tool: dict[str, Any], kind: str) -> bool:
    """Return whether a tool is another provider's: dated types are Anthropic's, `:` OpenRouter's."""
    return (
        ":" in kind
        or kind.rpartition("_")[2].isdecimal()
        or kind == "mcp_toolset"
        or ("function" in tool)
    )


def _write_choice(
    choice: Any, tools: list[dict[str, Any]], changes: list[Change] | None
) -> tuple[Any, bool]:
    """Return `(tool_choice, whether one call at a time was asked for)`."""
    is_serial = isinstance(choice, dict) and choice.get("disable_parallel_tool_use") is True
    if isinstance(choice, dict) and not is_serial:
        kind = choice.get("type")
        if kind == "allowed_tools" and isinstance(
            inner := choice.get(kind), dict
        ):  # as Chat has it
            named = [
                {"type": t.get("type"), **as_dict(t.get(str(t.get("type"))))}
                for t in as_dicts(inner.get("tools"))
            ]
            return {"type": kind, **inner, "tools": named}, False
        if kind == "custom" and isinstance(inner := choice.get(kind), dict):
            return {"type": kind, **inner}, False
        if (
            isinstance(kind, str)
            and "function" not in choice
            and kind not in ("tool", "any", "auto")
        ):
            return choice, False
        if kind == "any" and choice.keys() == {"type"}:
            return "required", False
    word = tool_choice_of(choice)
    if word is None:
        note(changes, "$.tool_choice", "dropped_parameter", "the choice is not of this wire")
        return None, is_serial
    if word in ("auto", "none", "any"):
        return ("required" if word == "any" else word), is_serial
    for tool in tools:
        if tool.get("name") == word:
            return {"type": tool.get("type", "function"), "name": word}, is_serial
    if any(tool.get("type") == word for tool in tools):
        return {"type": word}, is_serial
    return {"type": "function", "name": word}, is_serial


def _write_format(asked: dict[str, Any], changes: list[Change] | None) -> dict[str, Any]:
    asked = without_marks(asked)
    found = json_schema_of(asked)
    if found is None:
        if not isinstance(asked.get("type"), str):
            message = "this response format has no type"
            raise EncodeError(message, path="$.response_format", hint="use a json_schema one")
        return asked
    if asked.get("type") == "json_schema" and isinstance(asked.get("name"), str):
        return asked  # this wire's own form
    inner = asked.get("json_schema")
    rest = {k: v for k, v in inner.items() if k != "schema"} if isinstance(inner, dict) else {}
    strict = rest.get("strict", found.strict)
    given: dict[str, Any] = {"type": "json_schema", "name": found.name, **rest}
    if found.strict is not None:
        given["strict"] = found.strict
    if found.description is not None:
        given["description"] = found.description
    dialect = "openai_strict" if strict is True else "openai"
    path = "$.response_format.json_schema.schema"
    given["schema"] = encode_schema(found.schema, dialect, changes=changes, path=path)
    return given
