"""The server side of Cohere's chat, read by its own client side."""

import json
from typing import Any

from codec_kit import chunks_of, cut, fold_tree, folded, replies
from hypothesis import given
from hypothesis import strategies as st

from dragoman.codecs import get_codec
from dragoman.messages import AIMessage

CODEC = get_codec("cohere")


def said(message: AIMessage) -> Any:
    reasoning = message.additional_kwargs.get("reasoning_content")
    reason = message.response_metadata["finish_reason"]
    return message.content, message.tool_calls, reasoning, message.usage_metadata, reason


@given(data=st.data())
def test_a_folded_stream_is_the_decoded_response(data: st.DataObject) -> None:
    reply = data.draw(replies())
    body = CODEC.encode_response(reply)
    json.dumps(body)
    writer = CODEC.stream_encoder()
    events = [e for chunk in data.draw(cut(reply)) for e in writer.feed(chunk)] + writer.close()

    chunks = chunks_of(CODEC, events)

    assert events[0][0] == "message-start"
    assert events[-1][0] == "message-end"
    assert said(folded(chunks)) == said(CODEC.decode_response(body)) == said(reply)
    assert said(fold_tree(chunks)) == said(reply)
