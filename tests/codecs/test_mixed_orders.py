"""Replies in which text, sealed reasoning, calls and server tools stand in any order.

The bodies are written here as the providers write them; every law is then asked of what is read:
nothing is lost or moved, what was sealed goes back verbatim, and other wires get the words and the
calls only. Results of the calls are parallel, some failed, some with a picture.
"""

import json
from typing import Any

import pytest
from codec_kit import calls_in, chunks_of, fold_tree, folded, foreign_in, leaves
from hypothesis import given
from hypothesis import strategies as st

from dragoman.codecs import SUPPORTED, ChatRequest, get_codec
from dragoman.messages import HumanMessage, ToolMessage

PNG = "iVBORw0KGgoAAAANSUhEUgAA"
words = st.text(alphabet='abc dé🌍\n"{', min_size=1, max_size=8)
kinds = st.sampled_from(["text", "sealed", "empty sealed", "hidden", "call", "tool"])


@st.composite
def said(draw: st.DrawFn) -> list[dict[str, Any]]:
    """What a model said: parts of the kinds above, each with a number of its own."""
    parts: list[dict[str, Any]] = []
    for n, kind in enumerate(draw(st.lists(kinds, min_size=1, max_size=7))):
        part: dict[str, Any] = {"kind": kind, "n": n, "seal": f"U0VBTEVE{n:04d}U0lHTkFUVVJF"}
        part["text"] = f"<{n}>{draw(words)}" if kind in ("text", "sealed") else ""
        part["args"] = {"q": draw(words), "n": n, "z": None} if draw(st.booleans()) else {}
        parts.append(part)
    return parts


def anthropic(parts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    out: list[dict[str, Any]] = []
    for p in parts:
        match p["kind"]:
            case "text":
                out.append({"type": "text", "text": p["text"]})
            case "sealed" | "empty sealed":
                out.append({"type": "thinking", "thinking": p["text"], "signature": p["seal"]})
            case "hidden":
                out.append({"type": "redacted_thinking", "data": p["seal"]})
            case "call":
                id = f"toolu_{p['n']}"
                out.append({"type": "tool_use", "id": id, "name": "f", "input": p["args"]})
            case _:
                id = f"srvtoolu_{p['n']}"
                hit = {"type": "web_search_result", "url": "u", "title": "t", "encrypted_content": p["seal"]}  # fmt: skip
                out.append({"type": "server_tool_use", "id": id, "name": "web_search", "input": {}})
                out.append({"type": "web_search_tool_result", "tool_use_id": id, "content": [hit]})
    return out


def anthropic_body(parts: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "m",
        "content": anthropic(parts), "stop_reason": "end_turn", "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 2},
    }  # fmt: skip


def anthropic_events(parts: list[dict[str, Any]], cut: int) -> list[tuple[str, str]]:
    body = anthropic_body(parts)
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": {**body, "content": [], "stop_reason": None}}
    ]
    for n, block in enumerate(body["content"]):
        empty, deltas = block, list[dict[str, Any]]()
        if block["type"] == "text":
            empty = {**block, "text": ""}
            deltas = [{"type": "text_delta", "text": t} for t in pieces(block["text"], cut)]
        elif block["type"] == "thinking":
            empty = {**block, "thinking": "", "signature": ""}
            texts = pieces(block["thinking"], cut)
            deltas = [{"type": "thinking_delta", "thinking": t} for t in texts]
            deltas.append({"type": "signature_delta", "signature": block["signature"]})
        elif "input" in block:
            empty = {**block, "input": {}}
            text = json.dumps(block["input"]) if block["input"] else ""
            deltas = [{"type": "input_json_delta", "partial_json": t} for t in pieces(text, cut)]
        events.append({"type": "content_block_start", "index": n, "content_block": empty})
        events += [{"type": "content_block_delta", "index": n, "delta": d} for d in deltas]
        events += [{"type": "content_block_stop", "index": n}, {"type": "ping"}]
    delta = {"stop_reason": "end_turn", "stop_sequence": None}
    events.append({"type": "message_delta", "delta": delta, "usage": body["usage"]})
    events.append({"type": "message_stop"})
    return [(e["type"], json.dumps(e)) for e in events]


def pieces(text: str, cut: int) -> list[str]:
    return [text[at : at + cut] for at in range(0, len(text), cut)]


def bedrock_body(parts: list[dict[str, Any]]) -> dict[str, Any]:
    out: list[dict[str, Any]] = []
    for p in parts:
        match p["kind"]:
            case "text":
                out.append({"text": p["text"]})
            case "sealed" | "empty sealed":
                said = {"text": p["text"], "signature": p["seal"]}
                out.append({"reasoningContent": {"reasoningText": said}})
            case "hidden":
                out.append({"reasoningContent": {"redactedContent": p["seal"]}})
            case "call":
                use = {"toolUseId": f"tooluse_{p['n']}", "name": "f", "input": p["args"]}
                out.append({"toolUse": use})
            case _:
                id = f"server_{p['n']}"
                use = {"toolUseId": id, "name": "nova_code_interpreter", "input": {"code": "1"}, "type": "server_tool_use"}  # fmt: skip
                done = {"toolUseId": id, "type": "nova_code_interpreter_result", "content": [{"json": {"out": p["seal"]}}]}  # fmt: skip
                out += [{"toolUse": use}, {"toolResult": done}]
    return {
        "output": {"message": {"role": "assistant", "content": out}},
        "stopReason": "end_turn",
        "usage": {"inputTokens": 1, "outputTokens": 2, "totalTokens": 3},
    }


def gemini_body(parts: list[dict[str, Any]]) -> dict[str, Any]:
    out: list[dict[str, Any]] = []
    for p in parts:
        match p["kind"]:
            case "text":
                out.append({"text": p["text"]})
            case "sealed":
                out.append({"text": p["text"], "thoughtSignature": p["seal"]})
            case "empty sealed":
                out.append({"text": "", "thoughtSignature": p["seal"]})
            case "hidden":
                out.append({"text": f"thought {p['n']}", "thought": True})
            case "call":
                out.append({"functionCall": {"name": "f", "args": p["args"]}, "thoughtSignature": p["seal"]})  # fmt: skip
            case _:
                call = {"toolType": "GOOGLE_SEARCH_WEB", "id": f"s{p['n']}", "args": {}}
                done = {"toolType": "GOOGLE_SEARCH_WEB", "id": f"s{p['n']}", "response": {"r": 1}}
                out += [{"toolCall": call, "thoughtSignature": p["seal"]}, {"toolResponse": done}]
    return {
        "candidates": [{"content": {"role": "model", "parts": out}, "finishReason": "STOP"}],
        "modelVersion": "m",
        "responseId": "r",
    }


def responses_body(parts: list[dict[str, Any]]) -> dict[str, Any]:
    out: list[dict[str, Any]] = []
    for p in parts:
        n = p["n"]
        match p["kind"]:
            case "text":
                text = {"type": "output_text", "text": p["text"], "annotations": []}
                out.append({"type": "message", "id": f"msg_{n}", "role": "assistant", "status": "completed", "content": [text]})  # fmt: skip
            case "sealed" | "empty sealed" | "hidden":
                summary = [{"type": "summary_text", "text": p["text"]}] if p["text"] else []
                out.append({"type": "reasoning", "id": f"rs_{n}", "summary": summary, "encrypted_content": p["seal"]})  # fmt: skip
            case "call":
                out.append({"type": "function_call", "id": f"fc_{n}", "call_id": f"call_{n}", "name": "f", "arguments": json.dumps(p["args"]), "status": "completed"})  # fmt: skip
            case _:
                action = {"type": "search", "query": "q"}
                out.append({"type": "web_search_call", "id": f"ws_{n}_{p['seal']}", "status": "completed", "action": action})  # fmt: skip
    return {
        "id": "resp_1", "object": "response", "model": "m", "status": "completed", "output": out,
        "usage": None,
    }  # fmt: skip


BODIES = {
    "anthropic": anthropic_body,
    "bedrock_converse": bedrock_body,
    "gemini": gemini_body,
    "openai_responses": responses_body,
}


def history(reply: Any) -> ChatRequest:
    """Return the reply with results: every second one failed, every third one with a picture."""
    results = []
    for n, call in enumerate(reply.tool_calls):
        picture = {"type": "image", "base64": PNG, "mime_type": "image/png"}
        content: Any = [{"type": "text", "text": "shot"}, picture] if n % 3 == 2 else f"done {n}"
        status: Any = "error" if n % 2 else "success"
        results.append(ToolMessage(content, tool_call_id=call["id"], name="f", status=status))
    order = results[::-1]  # parallel calls may end in any order
    return ChatRequest(model="m", messages=[HumanMessage("q"), reply, *order, HumanMessage("r")])


@pytest.mark.parametrize("api", BODIES)
@given(parts=said())
def test_any_order_goes_back_as_it_came(api, parts):
    codec = get_codec(api)
    body = BODIES[api](parts)
    reply = codec.decode_response(body)

    assert reply.text == "".join(p["text"] for p in parts if _is_text(api, p))
    assert [c["args"] for c in reply.tool_calls] == [
        p["args"] for p in parts if p["kind"] == "call"
    ]
    sent = leaves(codec.encode_request(history(reply)))
    seals = [p["seal"] for p in parts if p["kind"] != "text" and _is_sealed(api, p)]
    at = [next(n for n, s in enumerate(sent) if seal in s) for seal in seals]
    assert at == sorted(at)


def _is_text(api: str, part: dict[str, Any]) -> bool:
    return part["kind"] == "text" or (api == "gemini" and part["kind"] == "sealed")


def _is_sealed(api: str, part: dict[str, Any]) -> bool:
    if api == "gemini":
        return part["kind"] != "hidden"
    return part["kind"] != "call" and not (
        # A reasoning item that leads to nothing is refused by the server; it stays if it stood last.
        api == "openai_responses" and part["kind"] == "text"
    )


@pytest.mark.parametrize("target", SUPPORTED)
@pytest.mark.parametrize("api", BODIES)
@given(parts=said())
def test_any_order_says_the_same_elsewhere(api, target, parts):
    if target == api:
        return
    reply = get_codec(api).decode_response(BODIES[api](parts))
    changes: list[Any] = []
    body = get_codec(target).encode_request(history(reply), changes)

    told = "\0".join(leaves(body))
    for part in parts:
        if _is_text(api, part):
            assert told.count(part["text"].strip()) >= 1
        if {api, target} != {"anthropic", "bedrock_converse"}:
            assert part["seal"] not in told
    wanted = [("f", p["args"]) for p in parts if p["kind"] == "call"]
    assert calls_in(target, body) == wanted
    assert foreign_in(target, body) is None
    hidden = {p["kind"] for p in parts} & {"sealed", "hidden", "tool"}
    if hidden and api != "gemini" and {api, target} != {"anthropic", "bedrock_converse"}:
        assert changes


@given(parts=said(), cut=st.integers(1, 5))
def test_any_order_streams_as_it_answers(parts, cut):
    codec = get_codec("anthropic")
    whole = codec.decode_response(anthropic_body(parts))
    chunks = chunks_of(codec, anthropic_events(parts, cut))
    assert folded(chunks) == whole
    assert fold_tree(chunks).content == sum(chunks).content
