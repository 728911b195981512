"""Generated replies of every kind of item: streamed, whole and sent back, they are the same."""

from collections.abc import Iterator
from typing import Any

from codec_kit import chunks_of, fold_tree, folded, texts
from hypothesis import given
from hypothesis import strategies as st

from dragoman.codecs import ChatRequest, get_codec
from dragoman.messages import HumanMessage, ToolMessage, message_chunk_to_message

CODEC = get_codec("openai_responses")

Item = dict[str, Any]


@st.composite
def items(draw: st.DrawFn) -> list[Item]:
    """The output of a response: up to six items, as the provider writes them."""
    made: list[Item] = []
    sealed = draw(st.booleans())  # a provider encrypts all reasoning of a response or none
    for n in range(draw(st.integers(1, 6))):
        kind = draw(
            st.sampled_from(
                [
                    "text",
                    "text",
                    "cited",
                    "refusal",
                    "thought",
                    "call",
                    "call",
                    "custom",
                    "server",
                    "other",
                ]
            )
        )
        made.append(_item(draw, kind, n, sealed=sealed))
    return made


def _item(draw: st.DrawFn, kind: str, n: int, *, sealed: bool) -> Item:
    text = draw(texts)
    if kind in ("text", "cited", "refusal"):
        part: Item = {"type": "output_text", "text": text, "annotations": []}
        if kind == "cited":
            part["annotations"] = [
                {"type": "url_citation", "url": "u", "title": "t", "start_index": 0, "end_index": 1}
            ]
        if kind == "refusal":
            part = {"type": "refusal", "refusal": text}
        parts = (
            [part, {"type": "output_text", "text": draw(texts), "annotations": []}]
            if draw(st.booleans())
            else [part]
        )
        item = {
            "type": "message",
            "id": f"msg_{n}",
            "role": "assistant",
            "status": "completed",
            "content": parts,
        }
        return {**item, "phase": "commentary"} if draw(st.booleans()) else item
    if kind == "thought":
        summary = [{"type": "summary_text", "text": t} for t in draw(st.lists(texts, max_size=3))]
        item = {"type": "reasoning", "id": f"rs_{n}", "summary": summary}
        return {**item, "encrypted_content": f"sealed {n}"} if sealed else item
    if kind == "call":
        item = {"type": "function_call", "id": f"fc_{n}", "call_id": f"call_{n}", "name": "f", "arguments": draw(st.sampled_from(["{}", '{"a":"ü"}', ""])), "status": "completed"}  # fmt: skip
        return {**item, "namespace": "crm"} if draw(st.integers(0, 5)) == 0 else item
    if kind == "custom":
        return {
            "type": "custom_tool_call",
            "id": f"ctc_{n}",
            "call_id": f"call_{n}",
            "name": "run",
            "input": text,
            "status": "completed",
        }
    if kind == "server":
        return {
            "type": "code_interpreter_call",
            "id": f"ci_{n}",
            "status": "completed",
            "code": text,
            "container_id": "c",
            "outputs": [{"type": "logs", "logs": text}],
        }
    return {"type": "x_future", "id": f"x_{n}", "v": text}


def _cut(draw: st.DrawFn, text: str) -> Iterator[str]:
    places = sorted(draw(st.lists(st.integers(0, len(text)), max_size=2)))
    for start, end in zip([0, *places], [*places, len(text)], strict=True):
        yield text[start:end]


@st.composite
def streams(draw: st.DrawFn, output: list[Item]) -> list[tuple[str, Item]]:
    """The events of a response, its texts cut anywhere."""
    events: list[tuple[str, Item]] = []

    def tell(kind: str, **fields: Any) -> None:
        events.append((kind, {"type": kind, **fields}))

    for n, item in enumerate(output):
        kind = item["type"]
        first = {**item, "status": "in_progress"} if "status" in item else dict(item)
        first.update(
            {
                k: v
                for k, v in {
                    "content": [],
                    "summary": [],
                    "arguments": "",
                    "input": "",
                    "outputs": None,
                }.items()
                if k in item
            }
        )
        if "encrypted_content" in item:
            first["encrypted_content"] = "provisional"
        tell("response.output_item.added", output_index=n, item=first)
        for m, part in enumerate(item.get("content", [])):
            word = "output_text" if "text" in part else "refusal"
            for piece in _cut(draw, part.get("text", part.get("refusal"))):
                tell(f"response.{word}.delta", output_index=n, content_index=m, delta=piece)
            for cited in part.get("annotations", []):
                tell(
                    "response.output_text.annotation.added",
                    output_index=n,
                    content_index=m,
                    annotation=cited,
                )
        for m, part in enumerate(item.get("summary", [])):
            for piece in _cut(draw, part["text"]):
                tell(
                    "response.reasoning_summary_text.delta",
                    output_index=n,
                    summary_index=m,
                    delta=piece,
                )
        for field, word in (
            ("arguments", "function_call_arguments"),
            ("input", "custom_tool_call_input"),
        ):
            for piece in _cut(draw, item.get(field, "")):
                if piece:
                    tell(f"response.{word}.delta", output_index=n, delta=piece)
        # Now and then an item is never done; what other items add at their end would come late.
        if kind not in ("message", "function_call") or draw(st.integers(0, 9)):
            tell("response.output_item.done", output_index=n, item=item)
    body = {"id": "resp_1", "status": "completed", "model": "m", "output": output}
    tell("response.completed", response=body)
    return events


@given(data=st.data())
def test_a_stream_is_its_response_however_it_is_cut(data: st.DataObject) -> None:
    output = data.draw(items())
    whole = CODEC.decode_response(
        {"id": "resp_1", "status": "completed", "model": "m", "output": output}
    )

    chunks = chunks_of(CODEC, data.draw(streams(output)))

    message = folded(chunks)
    assert message.text == whole.text
    assert message.tool_calls == whole.tool_calls
    assert message.response_metadata == whole.response_metadata
    assert [b["type"] for b in message.content_blocks] == [b["type"] for b in whole.content_blocks]
    assert message == whole
    assert message_chunk_to_message(fold_tree(chunks)) == message


@given(output=items())
def test_a_reply_goes_back_item_by_item(output: list[Item]) -> None:
    message = CODEC.decode_response(
        {"id": "resp_1", "status": "completed", "model": "m", "output": output}
    )
    results = [ToolMessage("r", tool_call_id=c["id"] or "") for c in message.tool_calls]
    changes: list[Any] = []

    body = CODEC.encode_request(
        ChatRequest(model="m", messages=[HumanMessage("q"), message, *results]), changes
    )

    sent = body["input"][1 : len(output) + 1]
    assert [_plain(i) for i in sent] == [_plain(i) for i in output]
    assert len(body["input"]) == 1 + len(output) + len(results)
    assert changes == []


def _plain(item: Item) -> Item:
    """An item without its status, which says nothing in a request."""
    return {k: v for k, v in item.items() if k != "status"}
