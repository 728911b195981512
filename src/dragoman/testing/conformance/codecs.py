"""What every codec has to do: say the same in both directions, whole and streamed, and never crash."""

import copy
import json
from abc import ABC, abstractmethod
from contextlib import suppress
from functools import partial
from typing import Any

from dragoman.codecs.contract import Change, ChatRequest, Codec
from dragoman.errors import DragomanError
from dragoman.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)
from dragoman.testing.replies import reply_chunks

__all__ = ["CodecSuite"]

_CALLS: list[Any] = [
    {"name": "find", "args": {"city": "Bursa, Türkiye", "n": 2}, "id": "call_0001"},
    {"name": "find", "args": {}, "id": "call_0002"},
]
_TOOL = {
    "name": "find",
    "description": "Find a city.",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
}
_REPLIES = [
    AIMessage("Merhaba to all", id="msg_1"),
    AIMessage("", tool_calls=_CALLS, id="msg_2"),
    AIMessage("Let me look.", tool_calls=_CALLS[:1], id="msg_3"),
]
_HOSTILE: list[Any] = [
    {}, [], None, True, 7, "text", [[]], {"messages": 5}, {"messages": [None, 3, "x", {}]},
    {"choices": {}}, {"choices": [{"message": []}]}, {"content": [{"type": 5}], "role": []},
    {"contents": [{"parts": [5]}]}, {"output": [7], "input": {"a": 1}}, {"error": []},
    {"message": {"content": [[], {"type": "?"}], "tool_calls": [{"function": "f"}]}},
]  # fmt: skip
_STATUSES = {400: False, 401: False, 404: False, 408: True, 429: True, 500: True, 503: True}


class CodecSuite(ABC):
    """The contract of a codec (`dragoman.codecs.contract`); write `codec`."""

    @abstractmethod
    def codec(self) -> Codec:
        """Return the codec under test."""

    def test_a_request_comes_back(self) -> None:
        """Texts, calls, results in their pairs, tools and limits survive the way there and back."""
        given, codec = _request(), self.codec()
        body = codec.encode_request(given)
        read = codec.decode_request(json.loads(json.dumps(body)))
        assert [m.text for m in read.messages] == [m.text for m in given.messages]
        assert [m.type for m in read.messages] == [m.type for m in given.messages]
        assert _calls(read.messages) == _calls(given.messages)
        ids = [c["id"] for m in read.messages if isinstance(m, AIMessage) for c in m.tool_calls]
        assert [m.tool_call_id for m in read.messages if isinstance(m, ToolMessage)] == ids
        (tool,) = read.tools
        assert (tool["name"], tool["description"]) == (_TOOL["name"], _TOOL["description"])
        assert read.max_tokens == given.max_tokens

    def test_what_was_read_is_written_the_same(self) -> None:
        """Encoding a decoded body gives that body, fields of tomorrow included."""
        codec = self.codec()
        body = {**codec.encode_request(_request()), "tomorrow": {"a": [1, None]}}
        assert codec.encode_request(codec.decode_request(body)) == body

    def test_nothing_given_is_changed(self) -> None:
        """Requests, bodies and replies are the same after each call as before it."""
        codec, request, reply = self.codec(), _request(), copy.deepcopy(_REPLIES[2])
        body, answer = codec.encode_request(request), codec.encode_response(reply)
        assert request == _request()
        assert reply == _REPLIES[2]
        before = copy.deepcopy((body, answer))
        codec.encode_request(codec.decode_request(body))
        codec.encode_response(codec.decode_response(answer))
        assert (body, answer) == before

    def test_a_change_says_where_and_what(self) -> None:
        """What cannot be carried is reported as a path, a code and a sentence."""
        changes: list[Change] = []
        strange: Any = {"type": "non_standard", "value": {"type": "of_nobody", "x": "1"}}
        history: list[BaseMessage] = [
            HumanMessage("hi", name="ada"),
            AIMessage([{"type": "text", "text": "a"}, strange]),
            HumanMessage("go on"),
        ]
        self.codec().encode_request(ChatRequest(model="m", messages=history), changes)
        assert all(c.path.startswith("$") and c.code and c.message for c in changes)

    def test_artifacts_are_never_sent(self) -> None:
        """What a tool kept for the program is not in the body."""
        assert "for the program" not in json.dumps(self.codec().encode_request(_request()))

    def test_a_reply_comes_back(self) -> None:
        """A server's encoder and a client's decoder agree on text, calls, usage and end."""
        codec = self.codec()
        for given in map(_finished, _REPLIES):
            read = codec.decode_response(json.loads(json.dumps(codec.encode_response(given))))
            assert type(read) is AIMessage
            _same_reply(read, given)

    def test_a_stream_is_the_reply_that_arrived_in_parts(self) -> None:
        """Folded chunks are the decoded reply; the terminal marker is seen, the last chunk marked."""
        codec = self.codec()
        for given in map(_finished, _REPLIES):
            whole = codec.decode_response(codec.encode_response(given))
            decoder = codec.stream_decoder()
            chunks = [c for name, data in _events(codec, given) for c in decoder.feed(name, data)]
            assert decoder.done
            chunks += decoder.close()
            assert all(type(chunk) is AIMessageChunk for chunk in chunks)
            assert [c.chunk_position for c in chunks] == [None] * (len(chunks) - 1) + ["last"]
            total = _total(chunks)
            _same_reply(total, given)
            assert (total.text, _calls([total])) == (whole.text, _calls([whole]))

    def test_an_event_may_be_text_bytes_or_a_dict(self) -> None:
        """The three forms of an event's data give the same reply."""
        codec, given = self.codec(), _finished(_REPLIES[2])
        totals: list[AIMessageChunk] = []
        for form in (str, str.encode, _parsed):
            decoder = codec.stream_decoder()
            events = _events(codec, given)
            chunks = [c for name, data in events for c in decoder.feed(name, form(data))]
            totals.append(_total([*chunks, *decoder.close()]))
        assert [(t.text, _calls([t])) for t in totals] == [(given.text, _calls([given]))] * 3

    def test_a_stream_that_breaks_off_is_not_done(self) -> None:
        """After half of its events a stream is not done, and what came can be had."""
        codec = self.codec()
        events = _events(codec, _finished(_REPLIES[0]))
        decoder = codec.stream_decoder()
        chunks = [c for name, data in events[: len(events) // 2] for c in decoder.feed(name, data)]
        assert not decoder.done
        total = _total([*chunks, *decoder.close()])
        assert _REPLIES[0].text.startswith(total.text)
        assert not total.tool_calls

    def test_any_json_is_read_or_refused(self) -> None:
        """Whatever JSON comes, the answer is a result or a `DragomanError`."""
        for value in _HOSTILE:
            codec = self.codec()
            feed = partial(codec.stream_decoder().feed, None)
            for read in (codec.decode_request, codec.decode_response, feed):
                with suppress(DragomanError):
                    read(copy.deepcopy(value))

    def test_an_error_says_whether_a_retry_helps(self) -> None:
        """Errors keep status and text; 408, 429 and 5xx are retryable, other 4xx are not."""
        bodies: list[Any] = [{"error": {"message": "no luck"}}, {"message": "no luck"}, "no luck"]
        for status, is_retryable in _STATUSES.items():
            for body in bodies:
                error = self.codec().decode_error(status, body)
                assert (error.status, error.is_retryable) == (status, is_retryable)
                assert "no luck" in str(error)


def _request() -> ChatRequest:
    return ChatRequest(
        model="m",
        messages=[
            SystemMessage("Be brief."),
            HumanMessage("Where is it?"),
            AIMessage("Let me look.", tool_calls=copy.deepcopy(_CALLS)),
            ToolMessage("here", tool_call_id="call_0001", name="find", artifact="for the program"),
            ToolMessage("there", tool_call_id="call_0002", name="find"),
            AIMessage("Here and there."),
            HumanMessage("Thanks ✓"),
        ],
        tools=[copy.deepcopy(_TOOL)],
        max_tokens=99,
    )


def _finished(reply: AIMessage) -> AIMessage:
    """Return the reply with what every model says at its end."""
    reason = "tool_calls" if reply.tool_calls else "stop"
    update = {
        "response_metadata": {"model_name": "m", "finish_reason": reason},
        "usage_metadata": {"input_tokens": 5, "output_tokens": 7, "total_tokens": 12},
    }
    return reply.model_copy(update=update)


def _events(codec: Codec, reply: AIMessage) -> list[tuple[str | None, str]]:
    writer = codec.stream_encoder()
    return [e for chunk in reply_chunks(reply) for e in writer.feed(chunk)] + writer.close()


def _parsed(data: str) -> Any:
    # A marker such as `[DONE]` is no JSON, and stays a text.
    return json.loads(data) if data.startswith("{") else data


def _total(chunks: list[AIMessageChunk]) -> AIMessageChunk:
    return chunks[0] + chunks[1:] if len(chunks) > 1 else chunks[0]


def _calls(messages: list[Any]) -> list[tuple[str, Any]]:
    return [(c["name"], c["args"]) for m in messages for c in getattr(m, "tool_calls", ())]


def _same_reply(read: AIMessage, given: AIMessage) -> None:
    assert read.text == given.text
    assert _calls([read]) == _calls([given])
    assert not read.invalid_tool_calls
    assert all(call["id"] for call in read.tool_calls)
    assert read.usage_metadata is not None
    for key in ("input_tokens", "output_tokens", "total_tokens"):
        assert read.usage_metadata[key] == (given.usage_metadata or {})[key]
    assert read.response_metadata["finish_reason"] == given.response_metadata["finish_reason"]
