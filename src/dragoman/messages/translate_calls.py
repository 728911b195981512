"""Foreign shapes of calls: tools of the user's, and tools that providers run themselves."""

from collections.abc import Callable
from typing import Any

from dragoman.messages.arguments import make_call, read_arguments

__all__ = ["CALLS"]

Block = dict[str, Any]
_PLACED = frozenset({"type", "index", "extras"})


def _common(block: Block) -> Block:
    return {"index": block["index"]} if block.get("index") is not None else {}


def _rest(block: Block, *used: str) -> Block:
    """Return `{"extras": ...}` with what a translation does not use, or nothing."""
    extras: Block = {}
    for key, value in block.items():
        if key not in used and key not in _PLACED and value is not None:
            extras[key] = value
    if block.get("extras"):
        extras.update(block["extras"])
    return {"extras": extras} if extras else {}


def _text_id(block: Block, key: str = "id") -> str:
    value = block.get(key)
    return value if isinstance(value, str) else ""


_TOOL_USE = frozenset({"type", "id", "name", "input", "partial_json"})


def _tool_use(block: Block) -> list[Block] | None:
    """Anthropic's call (and Bedrock's, in LangChain's spelling)."""
    name = block.get("name")
    if not isinstance(name, str):
        return None
    given = block.get("input", {})
    if block.get("partial_json") and not given:
        given = block["partial_json"]
    call: Block = {**make_call(name, given, block.get("id"))}
    if not _TOOL_USE.issuperset(block):
        call.update(_common(block))
        call.update(_rest(block, "id", "name", "input", "partial_json"))
    return [call]


def _input_json_delta(block: Block) -> list[Block] | None:
    text = block.get("partial_json")
    if not isinstance(text, str):
        return None
    return [{"type": "tool_call_chunk", "id": None, "name": None, "args": text, **_common(block)}]


def _function_call(block: Block) -> list[Block] | None:
    """OpenAI Responses' call (`arguments`), or Gemini's (`args`, maybe nested)."""
    inner = block.get("function_call")
    if isinstance(inner, dict):
        block = {**{k: v for k, v in block.items() if k != "function_call"}, **inner}
    name = block.get("name")
    if not isinstance(name, str):
        return None
    raw = block["arguments"] if "arguments" in block else block.get("args")
    id_val = block.get("call_id", block.get("id"))
    call = make_call(name, raw, id_val)
    rest = _rest(block, "id", "call_id", "name", "arguments", "args")
    if "call_id" in block and block.get("id") is not None:
        rest = {"extras": {"item_id": block["id"], **rest.get("extras", {})}}
    return [{**call, **_common(block), **rest}]


def _server_tool_use(block: Block) -> list[Block] | None:
    """A tool that Anthropic runs."""
    name = block.get("name")
    if not isinstance(name, str):
        return None
    given = block.get("input")
    if not given and block.get("partial_json"):
        given = block["partial_json"]
    args = read_arguments(given)[0]
    extras = _rest(block, "id", "name", "input", "partial_json")
    if block.get("type") == "mcp_tool_use":
        extras = {"extras": {"tool_name": name, **extras.get("extras", {})}}
        name = "remote_mcp"
    elif name == "code_execution":
        name = "code_interpreter"
    made = {"type": "server_tool_call", "name": name, "args": args or {}, "id": _text_id(block)}
    return [{**made, **_common(block), **extras}]


def _server_tool_result(block: Block) -> list[Block] | None:
    """What a tool that Anthropic ran gave back."""
    if "tool_use_id" not in block:
        return None
    content = block.get("content")
    failed = bool(block.get("is_error"))
    if isinstance(content, dict) and "error_code" in content:
        failed = True
    made: Block = {
        "type": "server_tool_result",
        "tool_call_id": _text_id(block, "tool_use_id"),
        "status": "error" if failed else "success",
    }
    if content:
        made["output"] = content
    extras = {
        "block_type": block.get("type"),
        **_rest(block, "tool_use_id", "content", "is_error").get("extras", {}),
    }
    return [{**made, **_common(block), "extras": extras}]


_STATUS = {"completed": "success", "failed": "error"}


def _item(
    name: str, args: Callable[[Block], Block], output: Callable[[Block], Any], *used: str
) -> Callable[[Block], list[Block] | None]:
    """Return the translation of an OpenAI item that is a call and its result in one."""

    def translate(block: Block) -> list[Block] | None:
        id_val = _text_id(block)
        call = {"type": "server_tool_call", "name": name, "args": args(block), "id": id_val}
        call.update(_common(block))
        call.update(_rest(block, "id", "status", *used))
        status = block.get("status")
        result: Block = {
            "type": "server_tool_result",
            "tool_call_id": id_val,
            "status": "error" if block.get("error") else _STATUS.get(str(status), "success"),
        }
        given = output(block)
        if given is not None:
            result["output"] = given
        extras: Block = {}
        if block.get("error"):
            extras["error"] = block["error"]
        if status is not None and str(status) not in _STATUS:
            extras["status"] = status
        if extras:
            result["extras"] = extras
        return [call, result]

    return translate


def _search_args(block: Block) -> Block:
    action = block.get("action")
    if not isinstance(action, dict):
        return {}
    return {key: value for key, value in action.items() if key != "sources"}


def _search_sources(block: Block) -> Any:
    action = block.get("action")
    sources = action.get("sources") if isinstance(action, dict) else None
    return {"sources": sources} if sources else None


def _mcp_call(block: Block) -> list[Block] | None:
    """A call of a remote MCP tool, and its result."""
    args, error = read_arguments(block.get("arguments"))
    call: Block = {
        "type": "server_tool_call",
        "name": "remote_mcp",
        "args": args or {},
        "id": _text_id(block),
        **_common(block),
    }
    extras: Block = {"tool_name": block.get("name"), "server_label": block.get("server_label")}
    if error is not None:
        extras["arguments"] = block.get("arguments")
    known = ("id", "arguments", "name", "server_label", "output", "error", "status")
    extras.update(_rest(block, *known).get("extras", {}))
    call["extras"] = {key: value for key, value in extras.items() if value is not None}
    result: Block = {
        "type": "server_tool_result",
        "tool_call_id": call["id"],
        "status": "error" if block.get("error") else "success",
    }
    if block.get("output") is not None:
        result["output"] = block["output"]
    if block.get("error"):
        result["extras"] = {"error": block["error"]}
    return [call, result]


def _executable_code(block: Block) -> list[Block] | None:
    """Code that Gemini ran."""
    inner = block.get("executable_code")
    code = inner.get("code") if isinstance(inner, dict) else inner
    if not isinstance(code, str):
        return None
    source = inner if isinstance(inner, dict) else block
    args = {"code": code, "language": source.get("language") or "python"}
    made = {"type": "server_tool_call", "name": "code_interpreter", "args": args}
    extras = {"block_type": "executable_code"}
    extras.update(_rest(block, "executable_code", "language", "id").get("extras", {}))
    return [{**made, "id": _text_id(block), **_common(block), "extras": extras}]


def _code_execution_result(block: Block) -> list[Block] | None:
    """What the code that Gemini ran printed; outcome 1 is OUTCOME_OK."""
    output = block.get("code_execution_result")
    source = output if isinstance(output, dict) else block
    outcome = source.get("outcome", 1)
    made: Block = {
        "type": "server_tool_result",
        "tool_call_id": _text_id(block, "tool_call_id"),
        "status": "success" if outcome in (1, "1", "OUTCOME_OK") else "error",
        "output": output.get("output") if isinstance(output, dict) else output,
    }
    extras = {"block_type": "code_execution_result", "outcome": outcome}
    return [{**made, **_common(block), "extras": extras}]


CALLS: dict[str, Callable[[Block], list[Block] | None]] = {
    "tool_use": _tool_use,
    "input_json_delta": _input_json_delta,
    "function_call": _function_call,
    "server_tool_use": _server_tool_use,
    "mcp_tool_use": _server_tool_use,
    "*_tool_result": _server_tool_result,
    "web_search_call": _item("web_search", _search_args, _search_sources, "action"),
    "file_search_call": _item(
        "file_search",
        lambda b: {"queries": b.get("queries") or []},
        lambda b: b.get("results"),
        "queries",
        "results",
    ),
    "code_interpreter_call": _item(
        "code_interpreter",
        lambda b: {"code": b.get("code")},
        lambda b: b.get("outputs"),
        "code",
        "outputs",
    ),
    "mcp_call": _mcp_call,
    "mcp_list_tools": _item(
        "mcp_list_tools", lambda _: {}, lambda b: b.get("tools"), "tools", "error"
    ),
    "executable_code": _executable_code,
    "code_execution_result": _code_execution_result,
}
