"""The standard view of content: foreign blocks, told apart by their shape, in standard form.

`standard_blocks` looks at content alone; `ai_blocks` adds what a reply holds elsewhere: calls, unsigned
reasoning, a refusal. Both are pure: content is never changed, nothing is remembered, payload strings
are not copied. A block nobody knows is wrapped whole, `{"type": "non_standard", "value": block}`.

One table maps a block's `type` to a function that gives its standard blocks, or None if the shape
does not fit. Standard blocks pass as they are, unless they carry the marks of a foreign shape.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from msgspec import UNSET

from dragoman.messages.block_translators import PROVIDER_TRANSLATORS
from dragoman.messages.content import KNOWN_BLOCK_TYPES
from dragoman.messages.translate_calls import CALLS
from dragoman.messages.translate_media import MEDIA, UNTYPED

if TYPE_CHECKING:
    from dragoman.messages.ai import AIMessage

__all__ = ["ai_blocks", "standard_blocks"]

Block = dict[str, Any]
Translate = Callable[[Block], list[Block] | None]

# Keys that a standard block of this type does not have, but a foreign one of the same name does.
_FOREIGN_MARKS: dict[str, frozenset[str]] = {
    "text": frozenset({"annotations", "citations"}),
    "reasoning": frozenset({"summary", "content", "encrypted_content"}),
    "image": frozenset({"source", "image", "source_type"}),
    "audio": frozenset({"source_type"}),
    "video": frozenset({"source_type"}),
    "file": frozenset({"file", "source_type"}),
    "non_standard": frozenset({"value"}),
}


def _text(block: Block) -> list[Block] | None:
    changed = block.copy()
    annotations: list[Any] = []
    for key in ("annotations", "citations"):
        given = changed.pop(key, None)
        if given and isinstance(given, list):
            annotations += map(_annotation, given)
    if annotations:
        changed["annotations"] = annotations
    return [changed]


_OPENAI_CITATION = {
    "url": "url",
    "title": "title",
    "start_index": "start_index",
    "end_index": "end_index",
}
_CITATION_KEYS: dict[str, dict[str, str]] = {
    "url_citation": _OPENAI_CITATION,
    "file_citation": {"filename": "title"},
    "web_search_result_location": {"cited_text": "cited_text", "url": "url", "title": "title"},
}
_LOCATIONS = frozenset(
    {"char_location", "content_block_location", "page_location", "search_result_location"}
)


def _annotation(item: Any) -> Any:
    """Return a provider's annotation as a citation, or wrapped whole."""
    if not isinstance(item, dict):
        return {"type": "non_standard_annotation", "value": {"value": item}}
    kind = item.get("type")
    if kind in ("citation", "non_standard_annotation"):
        return item
    keys = _CITATION_KEYS.get(str(kind))
    if str(kind) in _LOCATIONS:
        title = "document_title" if item.get("document_title") is not None else "title"
        keys = {"cited_text": "cited_text", title: "title"}
    if keys is None or ("cited_text" in keys and item.get("cited_text") is None):
        return {"type": "non_standard_annotation", "value": item}
    citation: Block = {"type": "citation"}
    extras: Block = {}
    for key, value in item.items():
        if key in keys:
            if value is not None:
                citation[keys[key]] = value
        elif key != "type" and value is not None:
            extras[key] = value
    if str(kind) in _LOCATIONS or kind == "web_search_result_location":
        extras.setdefault("type", kind)
        del extras["type"]
    if extras:
        citation["extras"] = extras
    return citation


def _reasoning(block: Block) -> list[Block] | None:
    """OpenAI's reasoning item: one block per part of the summary."""
    summary = block.get("summary")
    if not isinstance(summary, list):
        return [block] if "reasoning" in block or "extras" in block else _bare_reasoning(block)
    common: Block = {}
    extras: Block = {}
    for key, value in block.items():
        if value is not None and key not in _REASONING_KEYS:
            (common if key in ("id", "index") else extras)[key] = value
    if block.get("extras"):
        extras.update(block["extras"])
    blocks: list[Block] = [
        {"type": "reasoning", "reasoning": part.get("text", ""), **common}
        for part in summary
        if isinstance(part, dict)
    ]
    if not blocks:
        blocks.append({"type": "reasoning", **common})
    if extras:
        blocks[0]["extras"] = extras
    return blocks


_REASONING_KEYS = frozenset({"type", "summary", "extras"})


def _bare_reasoning(block: Block) -> list[Block]:
    kept = {key: block[key] for key in ("type", "id", "index") if key in block}
    extras = {key: value for key, value in block.items() if key not in kept}
    return [{**kept, "extras": extras}] if extras else [kept]


def _thinking(block: Block) -> list[Block] | None:
    text = block.get("thinking")
    if text is not None and not isinstance(text, str):
        return None
    return [_with_extras({"type": "reasoning", "reasoning": text or ""}, block, ("thinking",))]


def _reasoning_content(block: Block) -> list[Block] | None:
    """Bedrock Converse's reasoning."""
    inner = block.get("reasoning_content")
    if not isinstance(inner, dict):
        return None
    text = inner.get("text")
    made: Block = {"type": "reasoning"}
    if isinstance(text, str):
        made["reasoning"] = text
    extras = {key: value for key, value in inner.items() if key not in ("text", "type")}
    if extras:
        made["extras"] = extras
    if block.get("index") is not None:
        made["index"] = block["index"]
    return [made]


def _with_extras(made: Block, block: Block, used: tuple[str, ...]) -> Block:
    """Return `made` with the id and index of `block`, and what it does not use in `extras`."""
    extras: Block = {}
    for key, value in block.items():
        if key in ("id", "index"):
            if value is not None:
                made.setdefault(key, value)
        elif key == "extras" and isinstance(value, dict):
            extras.update(value)
        elif key != "type" and key not in used and value is not None:
            extras[key] = value
    if extras:
        made["extras"] = extras
    return made


def _non_standard(block: Block) -> list[Block] | None:
    """Unwrap a block that somebody wrapped too early: its shape may be known."""
    inner = block.get("value")
    if len(block) != 2 or not isinstance(inner, dict):
        return [block]
    kind = str(inner.get("type"))
    if kind in KNOWN_BLOCK_TYPES:
        return [block]
    translate = _TABLE.get(kind)
    translated = translate(inner) if translate else None
    return translated if translated is not None else [block]


_TABLE: dict[str, Translate] = {
    **MEDIA,
    **CALLS,
    "text": _text,
    "reasoning": _reasoning,
    "thinking": _thinking,
    "reasoning_content": _reasoning_content,
    "non_standard": _non_standard,
}


def standard_blocks(content: Any) -> list[Block]:
    """Return content (a string or a list) as standard blocks; it is not changed.

    >>> standard_blocks(["a", {"type": "image_url", "image_url": "https://e.org/c.png"}])
    [{'type': 'text', 'text': 'a'}, {'type': 'image', 'url': 'https://e.org/c.png'}]
    """
    if content.__class__ is str:
        return [{"type": "text", "text": content}] if content else []
    blocks: list[Block] = []
    for item in content:
        if item.__class__ is str:
            blocks.append({"type": "text", "text": item})
            continue
        kind = item.get("type")
        if isinstance(kind, str) and kind in KNOWN_BLOCK_TYPES:
            marks = _FOREIGN_MARKS.get(kind)
            if marks is None or marks.isdisjoint(item):
                blocks.append(item)
                continue
        translated = _translated(kind, item)
        if translated is None:
            blocks.append(_wrapped(item))
        else:
            blocks += translated
    return blocks


def _translated(kind: Any, item: Block) -> list[Block] | None:
    if isinstance(kind, str):
        translate = _TABLE.get(kind)
        if translate is None and kind.endswith("_tool_result"):
            translate = CALLS["*_tool_result"]
        return translate(item) if translate is not None else None
    for key, translate in UNTYPED.items():
        if key in item:
            return translate(item)
    return None


def _wrapped(item: Block) -> Block:
    if item.get("index") is None:
        return {"type": "non_standard", "value": item}
    inner = {key: value for key, value in item.items() if key != "index"}
    return {"type": "non_standard", "value": inner, "index": item["index"]}


# ---------------------------------------------------------------------- replies


def ai_blocks(message: "AIMessage") -> list[Block]:
    """Return a reply as standard blocks: unsigned reasoning first, content, then calls.

    Each call stands once; `tool_calls` (matched by id) is the authority for name and arguments.
    """
    content = message.content
    metadata = message._raw_response_metadata
    if metadata.__class__ is not dict:
        metadata = message.response_metadata if metadata.__class__ is not type(None) else {}
    if metadata:
        if metadata.get("output_version") == "v1" and content.__class__ is list:
            return cast("list[Block]", content)
        if PROVIDER_TRANSLATORS and (made := _registered(message, metadata)) is not None:
            return made
    blocks = standard_blocks(content)
    streaming = getattr(message, "chunk_position", "last") != "last"
    calls, invalid = message.tool_calls, message.invalid_tool_calls
    if streaming and (calls or invalid):
        blocks = _streamed_calls(message, blocks)
    elif calls or invalid:
        matched = None if invalid else _matched_calls(blocks, calls)
        blocks = _placed_calls(blocks, calls, invalid) if matched is None else matched
    kwargs = message._raw_additional_kwargs
    if kwargs is not UNSET and (kwargs := message.additional_kwargs):
        reasoning = kwargs.get("reasoning_content")
        if isinstance(reasoning, str) and not _is_told(reasoning, blocks):
            blocks = [{"type": "reasoning", "reasoning": reasoning}, *blocks]
        refusal = kwargs.get("refusal")
        if isinstance(refusal, str) and refusal and not _refuses(blocks):
            blocks = [*blocks, {"type": "refusal", "refusal": refusal}]
    if (
        metadata
        and not _ENDS.isdisjoint(metadata)
        and (refusal := _refusal_of(metadata)) is not None
        and not _refuses(blocks)
    ):
        blocks = [*blocks, refusal]
    return blocks


def _registered(message: Any, metadata: Block) -> list[Block] | None:
    translators = PROVIDER_TRANSLATORS.get(str(metadata.get("model_provider")))
    if translators is None:
        return None
    chunk = "_chunk" if hasattr(message, "chunk_position") else ""
    try:
        return translators["translate_content" + chunk](message)
    except NotImplementedError:
        return None


def _is_told(reasoning: str, blocks: list[Block]) -> bool:
    """Return whether reasoning stands in the blocks too, as where a wire tells it signed and plain."""
    told = [b["reasoning"] for b in blocks if b["type"] == "reasoning" and b.get("reasoning")]
    return bool(told) and reasoning.strip() in "".join(map(str, told))


def _refuses(blocks: list[Block]) -> bool:
    return any(block["type"] == "refusal" for block in blocks)


# Gemini's words for a reply that was withheld (API reference of FinishReason, read 2026-11).
_WITHHELD = frozenset({"SAFETY", "PROHIBITED_CONTENT", "BLOCKLIST"})


# Keys of the metadata that tell how a reply ended.
_ENDS = frozenset({"stop_reason", "finish_reason", "prompt_feedback"})


def _refusal_of(metadata: Block) -> Block | None:
    """Return the refusal that only the metadata of a reply tells of."""
    if metadata.get("stop_reason") == "refusal":
        details = metadata.get("stop_details")
        details = details if isinstance(details, dict) else {}
        text = details.get("explanation")
        made: Block = {"type": "refusal", "refusal": text if isinstance(text, str) else ""}
        if details.get("category"):
            made["extras"] = {"category": details["category"]}
        return made
    reason = metadata.get("finish_reason")
    if isinstance(reason, str) and reason.rpartition(".")[2] in _WITHHELD:
        text = metadata.get("finish_message")
        extras: Block = {"finish_reason": reason}
        return {
            "type": "refusal",
            "refusal": text if isinstance(text, str) else "",
            "extras": extras,
        }
    feedback = metadata.get("prompt_feedback")
    blocked = feedback.get("block_reason") if isinstance(feedback, dict) else None
    if blocked and blocked != "BLOCKED_REASON_UNSPECIFIED":
        return {"type": "refusal", "refusal": "", "extras": {"block_reason": blocked}}
    return None


def _id_of(block: Block) -> str | None:
    """Return the id that a call is found by; a user's block may hold anything."""
    id_val = block.get("id")
    return id_val if isinstance(id_val, str) else None


def _matched_calls(blocks: list[Block], calls: list[Any]) -> list[Block] | None:
    """Return what `_placed_calls` does in the common case: each call's block has its id."""
    waiting: dict[Any, Any] = {}
    for call in calls:
        waiting[call["id"]] = call
    if None in waiting or len(waiting) < len(calls):
        return None
    placed: list[Block] = []
    for block in blocks:
        kind = block["type"]
        if kind == "tool_call":
            call = waiting.pop(_id_of(block), None)
            if call is None:
                return None
            placed.append({**block, "name": call["name"], "args": call["args"]})
        elif kind == "invalid_tool_call":
            return None
        else:
            placed.append(block)
    return None if waiting else placed


def _placed_calls(blocks: list[Block], calls: list[Any], invalid: list[Any]) -> list[Block]:
    """Return blocks in which every call stands once, with name and args from `calls`."""
    by_id = {call["id"]: call for call in calls if call["id"] is not None}
    broken = {call["id"]: call for call in invalid if call["id"] is not None}
    shown: set[int] = set()
    placed: list[Block] = []
    for block in blocks:
        if block["type"] not in ("tool_call", "invalid_tool_call"):
            placed.append(block)
            continue
        id_val = _id_of(block)
        call = by_id.get(id_val)
        if call is None and id_val not in broken:
            # The provider's item id in place of the call's: the next call of that name is meant.
            call = next(
                (c for c in calls if id(c) not in shown and c["name"] == block.get("name")), None
            )
        if call is not None:
            if id(call) in shown:
                continue
            shown.add(id(call))
            extras = dict(block.get("extras") or {})
            if id_val is not None and id_val != call["id"]:
                extras.setdefault("item_id", id_val)
            made = {**block, "type": "tool_call", "name": call["name"], "args": call["args"]}
            made["id"] = call["id"]
            if extras:
                made["extras"] = extras
            placed.append(made)
        elif id_val in broken:
            kept = {key: block[key] for key in ("index", "extras") if key in block}
            placed.append({**broken[id_val], "type": "invalid_tool_call", **kept})
        else:
            placed.append(block)
    for call in calls:
        if id(call) not in shown and call["id"] is not None:
            made = {
                "type": "tool_call",
                "id": call["id"],
                "name": call["name"],
                "args": call["args"],
            }
            made.update((key, call[key]) for key in ("index", "extras") if key in call)
            placed.append(made)
        elif id(call) not in shown:
            placed.append({"type": "tool_call", **{k: v for k, v in call.items() if k != "type"}})
    return placed


def _streamed_calls(message: Any, blocks: list[Block]) -> list[Block]:
    """Return blocks of an unfinished reply: its calls as `tool_call_chunk`s."""
    chunks = list(message.tool_call_chunks)
    placed: list[Block] = []
    for block in blocks:
        if block["type"] in ("tool_call", "invalid_tool_call", "tool_call_chunk"):
            chunk = next((c for c in chunks if c.get("id") == block.get("id")), None)
            if chunk is not None:
                chunks.remove(chunk)
                placed.append(_chunk_block(chunk, block))
                continue
            if block["type"] == "tool_call" and block.get("id") is None and chunks:
                placed.append(_chunk_block(chunks.pop(0), block))
                continue
        placed.append(block)
    return placed + [_chunk_block(chunk, {}) for chunk in chunks]


def _chunk_block(chunk: Block, block: Block) -> Block:
    made: Block = {"type": "tool_call_chunk", "id": chunk.get("id"), "name": chunk.get("name")}
    made["args"] = chunk.get("args")
    if chunk.get("index") is not None:
        made["index"] = chunk["index"]
    extras = chunk.get("extras") or block.get("extras")
    if extras:
        made["extras"] = extras
    return made
