"""The server side of Mistral's chat completions, read by its own client side."""

import json
import re
from typing import Any

from codec_kit import chunks_of, cut, fold_tree, folded, replies
from hypothesis import given
from hypothesis import strategies as st

from dragoman.codecs import get_codec
from dragoman.messages import AIMessage

CODEC = get_codec("mistral")


def said(message: AIMessage) -> Any:
    """Return what a reply says; call ids are Mistral's own."""
    calls = [(c["name"], c["args"]) for c in message.tool_calls]
    reasoning = message.additional_kwargs.get("reasoning_content")
    meta = message.response_metadata
    return (
        message.content,
        calls,
        reasoning,
        message.usage_metadata,
        meta["finish_reason"],
        meta["model_name"],
    )


@given(data=st.data())
def test_a_folded_stream_is_the_decoded_response(data: st.DataObject) -> None:
    reply = data.draw(replies())
    body = CODEC.encode_response(reply)
    json.dumps(body)
    writer = CODEC.stream_encoder()
    events = [e for chunk in data.draw(cut(reply)) for e in writer.feed(chunk)] + writer.close()

    chunks = chunks_of(CODEC, events)

    assert events[-1] == (None, "[DONE]")
    assert said(folded(chunks)) == said(CODEC.decode_response(body)) == said(reply)
    assert said(fold_tree(chunks)) == said(reply)
    ids = [c["id"] for c in folded(chunks).tool_calls]
    assert all(re.fullmatch("[A-Za-z0-9]{9}", i or "") for i in ids)
