"""Hypothesis strategies for messages: histories (valid and damaged), and streams cut at will.

Needs hypothesis (the `dev` extra); nothing in this package imports this module.
"""

from typing import Any, cast

from hypothesis import strategies as st

from dragoman.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)

__all__ = ["chunk_streams", "damaged_histories", "histories", "json_objects", "recut", "texts"]

texts: st.SearchStrategy[str] = st.text(st.characters(codec="utf-8"), max_size=12)
"""Short texts without lone surrogates."""
_names = st.sampled_from(["search", "get_weather", "f"])
json_objects: st.SearchStrategy[dict[str, Any]] = st.dictionaries(
    texts,
    st.recursive(
        st.none() | st.booleans() | st.integers() | texts,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
        max_leaves=6,
    ),
    max_size=4,
)
"""Objects of plain JSON."""


@st.composite
def histories(draw: st.DrawFn, max_turns: int = 5, ends_open: bool = False) -> list[BaseMessage]:
    """Draw a valid history: optional system message, then turns with and without tool calls."""
    messages: list[BaseMessage] = []
    if draw(st.booleans()):
        messages.append(SystemMessage(draw(texts) or "s"))
    number = 0
    for _ in range(draw(st.integers(1, max_turns))):
        messages.append(HumanMessage(draw(texts) or "q"))
        for _ in range(draw(st.integers(0, 2))):
            calls = [
                {"name": draw(_names), "args": draw(json_objects), "id": f"c{number + i}"}
                for i in range(draw(st.integers(1, 3)))
            ]
            number += len(calls)
            messages.append(AIMessage(draw(texts), tool_calls=cast("Any", calls)))
            messages += [
                ToolMessage(draw(texts), tool_call_id=str(call["id"]), name=str(call["name"]))
                for call in draw(st.permutations(calls))
            ]
        messages.append(AIMessage(draw(texts) or "a"))
    if ends_open and draw(st.booleans()):
        call = {"name": draw(_names), "args": {}, "id": f"c{number}"}
        messages.append(AIMessage("", tool_calls=cast("Any", [call])))
    return messages


@st.composite
def damaged_histories(draw: st.DrawFn) -> list[BaseMessage]:
    """Draw a history with messages dropped, doubled, moved, or answering unknown calls."""
    messages = draw(histories(ends_open=True))
    for _ in range(draw(st.integers(0, 4))):
        if not messages:
            break
        at = draw(st.integers(0, len(messages) - 1))
        kind = draw(st.sampled_from(["drop", "double", "move", "stray", "rename"]))
        if kind == "drop":
            del messages[at]
        elif kind == "double":
            messages.insert(at, messages[at])
        elif kind == "move":
            messages.insert(draw(st.integers(0, len(messages) - 1)), messages.pop(at))
        elif kind == "stray":
            messages.insert(at, ToolMessage("stray", tool_call_id=draw(st.sampled_from("xyz"))))
        elif isinstance(messages[at], ToolMessage):
            new = f"w{draw(st.integers(0, 2))}"
            messages[at] = messages[at].model_copy(update={"tool_call_id": new})
    return messages


def _fragment(index: int | None, **fields: Any) -> dict[str, Any]:
    empty = {"name": None, "args": None, "id": None, "index": index, "type": "tool_call_chunk"}
    return {**empty, **fields}


@st.composite
def chunk_streams(draw: st.DrawFn) -> list[AIMessageChunk]:
    """Draw the chunks of one reply: text, then calls whose arguments may be interleaved."""
    import json

    chunks = [AIMessageChunk(draw(texts), id="msg_1") for _ in range(draw(st.integers(0, 3)))]
    pieces: list[AIMessageChunk] = []
    for index in range(draw(st.integers(0, 3))):
        args = json.dumps(draw(json_objects), ensure_ascii=draw(st.booleans()))
        head = _fragment(index, name=draw(_names), id=f"c{index}", args="")
        pieces.append(AIMessageChunk("", tool_call_chunks=cast("Any", [head])))
        pieces.append(
            AIMessageChunk("", tool_call_chunks=cast("Any", [_fragment(index, args=args)]))
        )
    chunks += pieces
    usage = {"input_tokens": 3, "output_tokens": 4, "total_tokens": 7}
    chunks.append(
        AIMessageChunk(
            "",
            response_metadata={"finish_reason": "stop", "model_name": "m"},
            usage_metadata=cast("Any", usage),
            chunk_position="last",
        )
    )
    return chunks


@st.composite
def recut(draw: st.DrawFn, chunks: list[AIMessageChunk]) -> list[AIMessageChunk]:
    """Draw another cutting of a stream: texts and arguments split at any character."""
    again: list[AIMessageChunk] = []
    for chunk in chunks:
        content, fragments = chunk.content, chunk.tool_call_chunks
        if isinstance(content, str) and content:
            at = draw(st.integers(0, len(content)))
            again += [AIMessageChunk(content[:at], id=chunk.id), AIMessageChunk(content[at:])]
        elif len(fragments) == 1 and fragments[0]["args"] and not fragments[0]["name"]:
            args, index = fragments[0]["args"], fragments[0].get("index")
            at = draw(st.integers(0, len(args)))
            again += [
                AIMessageChunk(
                    "", tool_call_chunks=cast("Any", [_fragment(cast("Any", index), args=part)])
                )
                for part in (args[:at], args[at:])
            ]
        else:
            again.append(chunk)
    return again
