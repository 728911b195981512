"""What the tests of all formats share: the laws as functions, generators, and the case folders.

A case is a folder `tests/codecs/<format>/cases/<name>/` with any of `request.json`, `response.json`
(raw bodies), `stream.txt` (one event a line: `event name<TAB>data`, the name may be empty),
`provider.txt` (whose dialect) and `message.json` (facts the decoded reply must show, see
`test_cases.py`). A new case needs no new test code.
"""

import copy
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from dragoman.codecs import SUPPORTED, ChatRequest, get_codec
from dragoman.messages import (
    AIMessage,
    AIMessageChunk,
    HumanMessage,
    SystemMessage,
    ToolMessage,
    message_chunk_to_message,
)

HERE = Path(__file__).parent

# ------------------------------------------------------------------ cases


def cases(*needed: str) -> Iterator[tuple[str, Path]]:
    """Yield `(format, folder)` of every case that has the files."""
    for api in SUPPORTED:
        for folder in sorted((HERE / api / "cases").glob("*")):
            if folder.is_dir() and all((folder / n).exists() for n in needed):
                yield api, folder


def case_ids(found: Iterable[tuple[str, Path]]) -> list[str]:
    return [f"{api}/{folder.name}" for api, folder in found]


def codec_of(api: str, folder: Path) -> Any:
    provider = folder / "provider.txt"
    return get_codec(api, provider.read_text().strip() if provider.exists() else None)


def read_json(path: Path) -> Any:
    return json.loads(path.read_text())


def read_events(path: Path) -> list[tuple[str | None, str]]:
    """Return the `(event, data)` pairs of a `stream.txt`."""
    out: list[tuple[str | None, str]] = []
    for line in path.read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            event, _, data = line.partition("\t")
            out.append((event or None, data))
    return out


# ------------------------------------------------------------------ streams


def chunks_of(codec: Any, events: Iterable[tuple[str | None, Any]]) -> list[AIMessageChunk]:
    """Return everything a stream decoder gives for the events."""
    decoder = codec.stream_decoder()
    out: list[AIMessageChunk] = []
    for event, data in events:
        out += decoder.feed(event, data)
    return out + decoder.close()


def folded(chunks: list[AIMessageChunk]) -> AIMessage:
    """Return the message of a stream."""
    whole = chunks[0]
    for chunk in chunks[1:]:
        whole = whole + chunk
    message = message_chunk_to_message(whole)
    assert type(message) is AIMessage
    return message


def fold_tree(chunks: list[AIMessageChunk]) -> AIMessageChunk:
    if len(chunks) == 1:
        return chunks[0]
    half = len(chunks) // 2
    return fold_tree(chunks[:half]) + fold_tree(chunks[half:])


# ------------------------------------------------------------------ generators

texts = st.text(
    alphabet=st.characters(codec="utf-8", exclude_characters="\x00"), min_size=1, max_size=12
)
"""Text without NUL or lone surrogates."""

words = st.text(alphabet="abcdefghijklmnopqrstuvwxyz", min_size=1, max_size=8)

scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8)
)
json_values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=12,
)
"""Arbitrary JSON."""

arguments = st.dictionaries(
    words,
    st.integers(-(2**53), 2**53) | texts | st.booleans() | st.lists(texts, max_size=2),
    max_size=3,
)


@st.composite
def histories(draw: st.DrawFn) -> list[Any]:
    """Valid histories: system, then rounds of a human turn, maybe calls with results, an answer."""
    out: list[Any] = [SystemMessage("sys " + draw(texts))] if draw(st.booleans()) else []
    n = 0
    for _ in range(draw(st.integers(1, 2))):
        out.append(HumanMessage("q " + draw(texts)))
        if draw(st.booleans()):
            calls = []
            for _ in range(draw(st.integers(1, 3))):
                n += 1
                calls.append(
                    {
                        "name": draw(words),
                        "args": draw(arguments),
                        "id": f"call_{n}",
                        "type": "tool_call",
                    }
                )
            said = draw(st.sampled_from(["", "let me look"]))
            kwargs = {"reasoning_content": "hm " + draw(texts)} if draw(st.booleans()) else {}
            out.append(AIMessage(said, tool_calls=calls, additional_kwargs=kwargs))
            results = [
                ToolMessage(f"r{c['id']} " + draw(texts), tool_call_id=c["id"], name=c["name"])
                for c in calls
            ]
            out += draw(st.permutations(results))
        out.append(AIMessage("a " + draw(texts)))
    out.append(HumanMessage("last " + draw(texts)))
    return out


@st.composite
def requests(draw: st.DrawFn) -> ChatRequest:
    """Requests that every format can say."""
    tools = [
        {
            "name": name,
            "description": draw(texts),
            "parameters": {
                "type": "object",
                "properties": {"a": {"type": "string"}},
                "required": ["a"],
            },
        }
        for name in draw(st.lists(words, max_size=2, unique=True))
    ]
    return ChatRequest(
        model="m",
        messages=draw(histories()),
        tools=tools,
        max_tokens=draw(st.integers(1, 4096)),
        temperature=draw(st.sampled_from([None, 0.0, 0.5])),
        stop=draw(st.sampled_from([None, ["x", "y"]])),
    )


@st.composite
def replies(draw: st.DrawFn) -> AIMessage:
    """Replies of text, plain reasoning and calls, as a model's decoder gives them."""
    calls = [
        {"name": draw(words), "args": draw(arguments), "id": f"call_{k}", "type": "tool_call"}
        for k in range(draw(st.integers(0, 3)))
    ]
    text = draw(texts) if not calls or draw(st.booleans()) else ""
    kwargs = {"reasoning_content": draw(texts)} if draw(st.booleans()) else {}
    n_in, n_out = draw(st.integers(0, 99)), draw(st.integers(0, 99))
    return AIMessage(
        text,
        tool_calls=calls,
        additional_kwargs=kwargs,
        response_metadata={"finish_reason": "tool_calls" if calls else "stop", "model_name": "m"},
        usage_metadata={"input_tokens": n_in, "output_tokens": n_out, "total_tokens": n_in + n_out},
    )


@st.composite
def cut(draw: st.DrawFn, message: AIMessage) -> list[AIMessageChunk]:
    """A stream of a reply, cut anywhere: reasoning, text, then calls."""
    out = [AIMessageChunk("", response_metadata={"model_name": "m"})]
    reasoning = message.additional_kwargs.get("reasoning_content", "")
    for piece in draw(_cuts(reasoning)):
        out.append(AIMessageChunk("", additional_kwargs={"reasoning_content": piece}))
    for piece in draw(_cuts(message.text)):
        out.append(AIMessageChunk(piece))
    for k, call in enumerate(message.tool_calls):
        args = json.dumps(call["args"], ensure_ascii=False)
        first = {
            "name": call["name"],
            "id": call["id"],
            "args": "",
            "index": k,
            "type": "tool_call_chunk",
        }
        out.append(AIMessageChunk("", tool_call_chunks=[first]))
        for piece in draw(_cuts(args)):
            part = {"name": None, "id": None, "args": piece, "index": k, "type": "tool_call_chunk"}
            out.append(AIMessageChunk("", tool_call_chunks=[part]))
    end = AIMessageChunk(
        "",
        response_metadata={"finish_reason": message.response_metadata["finish_reason"]},
        usage_metadata=message.usage_metadata,
        chunk_position="last",
    )
    return [*out, end]


def _cuts(text: str) -> st.SearchStrategy[list[str]]:
    at = st.lists(st.integers(0, len(text)), max_size=3).map(sorted)
    return at.map(
        lambda ks: [p for a, b in zip([0, *ks], [*ks, len(text)], strict=True) if (p := text[a:b])]
    )


@st.composite
def damaged(draw: st.DrawFn, body: Any) -> Any:
    """A copy of a body in which one or two places hold arbitrary JSON, or are gone."""
    body = copy.deepcopy(body)
    for _ in range(draw(st.integers(1, 2))):
        places = list(_places(body))
        if not places:
            return draw(json_values)
        holder, key = draw(st.sampled_from(places))
        if draw(st.booleans()):
            holder[key] = draw(json_values)
        elif isinstance(holder, dict):
            del holder[key]
        else:
            holder.insert(key, draw(json_values))
    return body


def _places(body: Any) -> Iterator[tuple[Any, Any]]:
    pairs = (
        body.items()
        if isinstance(body, dict)
        else enumerate(body)
        if isinstance(body, list)
        else ()
    )
    for key, value in list(pairs):
        yield body, key
        yield from _places(value)


# ------------------------------------------------------------------ reading bodies


def leaves(body: Any) -> list[str]:
    """Return all strings of a body, in order."""
    if isinstance(body, str):
        return [body]
    if isinstance(body, dict):
        return [s for v in body.values() for s in leaves(v)]
    return [s for v in body for s in leaves(v)] if isinstance(body, list) else []


def calls_in(api: str, body: dict[str, Any]) -> list[tuple[str, Any]]:
    """Return the `(name, arguments)` of the calls in an encoded request."""
    out: list[tuple[str, Any]] = []
    if api == "openai_responses":
        items = body["input"] if isinstance(body["input"], list) else []
        return [
            (i["name"], json.loads(i["arguments"]))
            for i in items
            if i.get("type") == "function_call"
        ]
    if api == "gemini":
        parts = [p for c in body["contents"] for p in c["parts"]]
        return [
            (p["functionCall"]["name"], p["functionCall"].get("args") or {})
            for p in parts
            if "functionCall" in p
        ]
    for message in body["messages"]:
        for call in message.get("tool_calls") or []:
            args = call["function"]["arguments"]
            out.append(
                (call["function"]["name"], json.loads(args) if isinstance(args, str) else args)
            )
        content = message.get("content")
        for block in content if isinstance(content, list) else []:
            if isinstance(block, dict) and block.get("type") == "tool_use":
                out.append((block["name"], block["input"]))
            elif isinstance(block, dict) and "toolUse" in block:
                out.append((block["toolUse"]["name"], block["toolUse"]["input"]))
    return out


FOREIGN_TYPES = {
    "tool_call", "invalid_tool_call", "tool_call_chunk", "non_standard", "text-plain", "reasoning_content",
    "server_tool_call", "server_tool_result",
}  # fmt: skip
"""Block types of ours that no wire knows."""

OWN_TYPES = {
    "openai_chat": {"image_url", "input_audio", "video_url"},
    "openai_responses": {"input_text", "output_text", "input_image", "input_file", "function_call",
                         "function_call_output", "message"},
    "anthropic": {"tool_use", "tool_result", "thinking", "redacted_thinking", "document"},
    "gemini": set[str](),
    "bedrock_converse": set[str](),
    "mistral": {"image_url", "document_url", "thinking"},
    "cohere": {"image_url", "thinking", "document"},
    "ollama": set[str](),
}  # fmt: skip
"""Block types that tell a wire."""

OWN_KEYS = {
    "gemini": {"functionCall", "functionResponse", "thoughtSignature", "inlineData", "fileData"},
    "bedrock_converse": {"toolUse", "toolResult", "reasoningContent", "cachePoint"},
    "openai_chat": {"tool_call_id"},
    "mistral": {"tool_call_id"},
    "cohere": {"tool_call_id", "tool_plan"},
    "ollama": {"tool_name"},
    "anthropic": {"tool_use_id"},
    "openai_responses": {"call_id"},
}


def foreign_in(api: str, body: Any) -> str | None:
    """Return the first block type or key in `body` that another wire owns, or None."""
    types = FOREIGN_TYPES | set().union(*OWN_TYPES.values()) - OWN_TYPES[api]
    keys = set().union(*OWN_KEYS.values()) - OWN_KEYS[api]
    return _find_foreign(body, types, keys)


_OPAQUE = {"arguments", "args", "input_schema", "parameters", "json", "tools", "toolConfig"}


def _find_foreign(body: Any, types: set[str], keys: set[str]) -> str | None:
    if isinstance(body, dict):
        if isinstance(body.get("type"), str) and body["type"] in types:
            return f"type {body['type']}"
        for key, value in body.items():
            if key in keys:
                return f"key {key}"
            if key in _OPAQUE or (key == "input" and isinstance(value, dict)):
                continue
            if found := _find_foreign(value, types, keys):
                return found
    elif isinstance(body, list):
        for value in body:
            if found := _find_foreign(value, types, keys):
                return found
    return None
