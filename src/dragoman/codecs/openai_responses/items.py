"""Items that are no messages, each way: tools that the provider or the caller runs, and reasoning.

`read_item` gives the blocks of an item, `write_item` the item of a block. What comes out of `read_item`
goes back to the same JSON; where that would not hold, the item travels as a `non_standard` block.
"""

from typing import Any

from dragoman.codecs.arguments import dump_arguments, read_arguments
from dragoman.codecs.openai_responses.tables import API, CLIENT_RESULTS, SERVER_ITEMS
from dragoman.codecs.openai_responses.wire import rest_of
from dragoman.codecs.origin import non_standard
from dragoman.codecs.shapes import as_dict, as_str

__all__ = [
    "call_extras", "call_of", "is_client_item", "read_item", "read_reasoning", "server_call",
    "server_result", "write_call", "write_reasoning", "write_server",
]  # fmt: skip

_TEXT_ARGUMENT = "__arg1"
"""The name of a single string argument, as tools without a schema have it."""


def is_client_item(item: dict[str, Any]) -> bool:
    """Return whether the item is a call that the caller has to run (function calls apart)."""
    kind = item.get("type")
    if kind == "tool_search_call":
        return item.get("execution") == "client" and isinstance(item.get("call_id"), str)
    return isinstance(kind, str) and kind in CLIENT_RESULTS


def read_item(item: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the blocks of an item that is neither a message nor a result."""
    kind = item.get("type")
    if kind == "reasoning":
        return read_reasoning(item) or [non_standard(item, API)]
    call = call_of(item)
    if call is not None:
        extras = call_extras(item)
        return [{"type": "tool_call", **call, **({"extras": extras} if extras else {})}]
    blocks = _read_server(item)
    return blocks or [non_standard(item, API)]


# ---------------------------------------------------------------------- calls of the caller


def call_of(item: dict[str, Any]) -> dict[str, Any] | None:
    """Return `{id, name, args}` of a call; `args` is text or a dict. None if it is none."""
    kind = item.get("type")
    if kind == "function_call":
        if not isinstance(item.get("name"), str):
            return None
        args = item.get("arguments")
        if not isinstance(args, (str, dict, type(None))):
            return None
        return {"id": as_str(item.get("call_id")), "name": item["name"], "args": args}
    if kind != "custom_tool_call" or not isinstance(text := item.get("input"), str):
        return None
    id, name = as_str(item.get("call_id")), as_str(item.get("name"))
    if id is None or name is None:
        return None
    return {"id": id, "name": name, "args": {_TEXT_ARGUMENT: text}}


def call_extras(item: dict[str, Any]) -> dict[str, Any]:
    """Return what a call item says beside id, name and arguments."""
    kind = str(item.get("type"))
    if kind == "function_call":
        extras = rest_of(item, "type", "call_id", "name", "arguments")
        raw = item.get("arguments")
        if isinstance(raw, str) and raw.lstrip()[:1] != "{" and read_arguments(raw) is not None:
            extras["arguments"] = raw  # "" and its like are {} for us, and go back as they came
    else:
        extras = {"item_type": kind, **rest_of(item, "type", "call_id", "name", "input")}
    if "id" in extras:
        extras = {"item_id": extras.pop("id"), **extras}
    return extras


def write_call(block: dict[str, Any], args: Any, extras: dict[str, Any]) -> dict[str, Any]:
    """Return the item of a call.

    Args:
        block: `{id, name}` of the call.
        args: Its arguments: a dict, or the raw text of an invalid call.
        extras: What `call_extras` gave; foreign extras have to be taken out before.
    """
    rest = {k: v for k, v in extras.items() if k not in ("item_type", "item_id", "arguments")}
    if "item_id" in extras:
        rest["id"] = extras["item_id"]
    if extras.get("item_type") == "custom_tool_call":
        text = args if isinstance(args, str) else as_dict(args).get(_TEXT_ARGUMENT)
        if not isinstance(text, str):
            text = dump_arguments(args)
        return {
            "type": "custom_tool_call", "call_id": block["id"], "name": block["name"],
            "input": text, **rest,
        }  # fmt: skip
    raw = extras.get("arguments")
    if not isinstance(raw, str) or read_arguments(raw) != args:
        raw = args if isinstance(args, str) else dump_arguments(args)
    return {
        "type": "function_call", "call_id": block["id"], "name": block["name"], "arguments": raw,
        **rest,
    }  # fmt: skip


# ---------------------------------------------------------------------- tools of the provider


def server_call(item: dict[str, Any]) -> dict[str, Any] | None:
    """Return the `server_tool_call` of an item as far as its first event tells it, or None."""
    kind = item.get("type")
    row = SERVER_ITEMS.get(kind) if isinstance(kind, str) else None
    if row is None or not isinstance(id := item.get("id"), str) or is_client_item(item):
        return None
    return {"type": "server_tool_call", "id": id, "name": row.name, "args": {}}


def _read_server(item: dict[str, Any]) -> list[dict[str, Any]] | None:
    """Return the blocks of a server tool's item, None if they would not give it back."""
    kind = item.get("type")
    if kind == "image_generation_call":
        return _read_image(item)
    if kind == "tool_search_output":
        return _read_search_output(item)
    block = server_call(item)
    if block is None:
        return None
    block.update(server_result(item, part="call"))
    result = server_result(item, part="result")
    blocks = [block, result] if result else [block]
    return blocks if _same(write_server(block, result or None), item) else None


def server_result(item: dict[str, Any], *, part: str) -> dict[str, Any]:
    """Return the fields of the call (`part="call"`), or its result block, of a finished item."""
    row = SERVER_ITEMS[item["type"]]
    raw = item.get(row.args) if row.args else None
    output = item.get(row.output) if row.output else None
    if item["type"] == "web_search_call" and isinstance(raw, dict) and "sources" in raw:
        output = {"sources": raw["sources"]}
        raw = {k: v for k, v in raw.items() if k != "sources"}
    if part == "result":
        failed = item.get("status") == "failed" or item.get("error") is not None
        if output is None and not failed and item.get("status") != "completed":
            return {}
        result: dict[str, Any] = {
            "type": "server_tool_result",
            "tool_call_id": item["id"],
            "status": "error" if failed else "success",
        }
        return result if output is None else {**result, "output": output}
    args: Any = raw
    if row.form == "one":
        args = {} if raw is None else {row.args: raw}
    elif row.form == "json":
        args = read_arguments(raw) if isinstance(raw, str) else raw
    extras = rest_of(item, "type", "id", *(f for f in (row.args, row.output) if f))
    if row.form == "json" and isinstance(raw, str) and (args is None or not raw.startswith("{")):
        extras["arguments"] = raw
    return {
        "args": args if isinstance(args, dict) else {},
        "extras": {"item_type": item["type"], **extras},
    }


def write_server(block: dict[str, Any], result: dict[str, Any] | None) -> dict[str, Any] | None:
    """Return the item of a `server_tool_call` and its result; None if it is not of this wire."""
    extras = as_dict(block.get("extras"))
    if isinstance(whole := extras.get("item"), dict):
        return whole
    kind = extras.get("item_type")
    if kind is None:
        kind, extras = _guessed(block, result, extras)
    row = SERVER_ITEMS.get(kind) if isinstance(kind, str) else None
    if row is None:
        return None
    item: dict[str, Any] = {"type": kind, "id": block.get("id")}
    args = as_dict(block.get("args"))
    output = result.get("output") if result else None
    if row.args is None:
        pass
    elif row.form == "one":
        if row.args in args:
            item[row.args] = args[row.args]
    elif row.form == "json":
        item[row.args] = dump_arguments(args)
    elif kind == "web_search_call":
        if args or output is not None:
            item[row.args] = {**args, **as_dict(output)}
    else:
        item[row.args] = args
    if row.output and output is not None:
        item[row.output] = output
    return {**item, **{k: v for k, v in extras.items() if k != "item_type"}}


def _guessed(
    block: dict[str, Any], result: dict[str, Any] | None, extras: dict[str, Any]
) -> tuple[str | None, dict[str, Any]]:
    """Return type and fields of a call that bears no mark of this codec, told by its name and id."""
    prefix = str(block.get("id")).partition("_")[0]
    kind = next((k for k, r in SERVER_ITEMS.items() if r.name == block.get("name")), None)
    if kind is None or prefix not in ("ws", "fs", "ci", "mcp", "mcpl", "tsc"):
        return None, extras
    fields = {k: v for k, v in extras.items() if k != "tool_name"}
    if "tool_name" in extras:
        fields["name"] = extras["tool_name"]
    if result is not None and kind not in ("mcp_call", "mcp_list_tools"):
        failed = result.get("status") == "error"
        fields.setdefault("status", "failed" if failed else "completed")
    return kind, fields


def _read_image(item: dict[str, Any]) -> list[dict[str, Any]] | None:
    result, id = item.get("result"), item.get("id")
    if not isinstance(result, str) or not result or not isinstance(id, str):
        return None
    kind = item.get("output_format")
    extras = {"item_type": item["type"], **rest_of(item, "type", "id", "result")}
    mime = f"image/{kind}" if isinstance(kind, str) else "image/png"
    return [{"type": "image", "base64": result, "mime_type": mime, "id": id, "extras": extras}]


def _read_search_output(item: dict[str, Any]) -> list[dict[str, Any]] | None:
    id, tools = item.get("id"), item.get("tools")
    if not isinstance(id, str) or not isinstance(tools, list) or item.get("execution") == "client":
        return None
    return [
        {
            "type": "server_tool_result", "tool_call_id": as_str(item.get("call_id")) or id,
            "status": "success", "output": {"tools": tools}, "id": id,
            "extras": {"item_type": item["type"], **rest_of(item, "type", "id", "tools")},
        }
    ]  # fmt: skip


def _same(ours: dict[str, Any] | None, item: dict[str, Any]) -> bool:
    if ours is None:
        return False
    theirs = rest_of(item)
    ours = rest_of(ours)
    for item in (ours, theirs):  # JSON text may be spelled otherwise
        if isinstance(raw := item.get("arguments"), str):
            item["arguments"] = (read_arguments(raw),)
    return ours == theirs


# ---------------------------------------------------------------------- reasoning


def read_reasoning(item: dict[str, Any]) -> list[dict[str, Any]] | None:
    """Return a `reasoning` item as one block a part; None if they would not give it back."""
    summary, content = item.get("summary"), item.get("content")
    for parts, kind in ((summary, "summary_text"), (content, "reasoning_text")):
        for part in parts if isinstance(parts, list) else ():
            if not isinstance(part, dict) or part.keys() != {"type", "text"}:
                return None
            if part["type"] != kind or not isinstance(part["text"], str):
                return None
    if not isinstance(summary, list | None) or not isinstance(content, list | None):
        return None
    extras = rest_of(item, "type", "id", "summary", *(("content",) if content else ()))
    blocks: list[dict[str, Any]] = [
        {"type": "reasoning", "reasoning": part["text"], **_kind(part["type"])}
        for part in [*(summary or ()), *(content or ())]
    ] or [{"type": "reasoning", "reasoning": ""}]
    if not summary and not content:
        extras["n_parts"] = 0
    for at, block in enumerate(blocks):
        if isinstance(item.get("id"), str):
            block["id"] = item["id"]
        elif at:
            block.setdefault("extras", {})["continues"] = True
    if extras:
        blocks[0]["extras"] = {**blocks[0].get("extras", {}), **extras}
    return blocks


def _kind(kind: str) -> dict[str, Any]:
    return {} if kind == "summary_text" else {"extras": {"kind": kind}}


def write_reasoning(blocks: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the item of the blocks of one reasoning item."""
    first = as_dict(blocks[0].get("extras"))
    item: dict[str, Any] = {"type": "reasoning"}
    if isinstance(id := blocks[0].get("id"), str):
        item["id"] = id
    summary: list[dict[str, Any]] = []
    content: list[dict[str, Any]] = []
    for block in blocks:
        text = block.get("reasoning")
        extras = as_dict(block.get("extras"))
        if not isinstance(text, str) or (not text and extras.get("n_parts") == 0):
            continue
        kind = extras.get("kind") or "summary_text"
        (summary if kind == "summary_text" else content).append({"type": kind, "text": text})
    item["summary"] = summary
    if content:
        item["content"] = content
    hidden = {"kind", "continues", "n_parts", "next_item", "reasoning_item"}
    return {**item, **{k: v for k, v in first.items() if k not in hidden}}
