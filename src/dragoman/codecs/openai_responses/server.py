"""The server side: a reply as a `response` object, or as the events of a stream.

Nothing here asks a clock: `created_at` is what the message's metadata say, else 0. Ids that the
message does not have are made from what it says, so that the same message gives the same bytes.
"""

import json
from hashlib import blake2s
from typing import Any

from dragoman.codecs.contract import Change
from dragoman.codecs.explained import explained
from dragoman.codecs.openai_responses.tables import Dialect
from dragoman.codecs.openai_responses.turns import TurnWriter
from dragoman.codecs.shapes import as_dict, as_int, as_str
from dragoman.messages import AIMessage, AIMessageChunk, message_chunk_to_message

__all__ = ["ResponseWriter", "encode_response"]

_INCOMPLETE = {"length": "max_output_tokens", "content_filter": "content_filter"}
_PREFIX = {"message": "msg_", "function_call": "fc_", "reasoning": "rs_"}


@explained
def encode_response(
    message: AIMessage, dialect: Dialect, changes: list[Change] | None = None
) -> dict[str, Any]:
    """Return a `response` object with the reply; what its wire cannot say is a change."""
    meta = message.response_metadata
    id = message.id or as_str(meta.get("id")) or f"resp_{_digest(str(message.content))}"
    reason = as_str(meta.get("finish_reason")) or "stop"
    why = _INCOMPLETE.get(reason)
    # Its own server writes the reply, whoever made it: reasoning without a seal is told as a summary.
    body: dict[str, Any] = {
        "id": id,
        "object": "response",
        "created_at": as_int(meta.get("created_at")) or 0,
        "status": "failed" if reason == "error" else "incomplete" if why else "completed",
        "error": None,
        "incomplete_details": {"reason": why} if why else None,
        "instructions": None,
        "metadata": as_dict(meta.get("metadata")),
        "model": as_str(meta.get("model_name")) or "",
        "output": _output(message, dialect, id, changes),
        "parallel_tool_calls": True,
        "temperature": None,
        "tool_choice": "auto",
        "tools": [],
        "top_p": None,
        "usage": _usage(message),
    }
    if reason == "error":
        body["error"] = {"code": "server_error", "message": "the model reported an error"}
    return body


def _output(
    message: AIMessage, dialect: Dialect, id: str, changes: list[Change] | None
) -> list[dict[str, Any]]:
    items = TurnWriter(dialect, None, changes).write(message, "$")
    plain = as_str(message.additional_kwargs.get("reasoning_content"))
    if plain is not None and not any(i.get("type") == "reasoning" for i in items):
        part = {"type": "summary_text", "text": plain}
        items = [{"type": "reasoning", "summary": [part]}, *items]
        if changes is not None:
            changes[:] = [c for c in changes if c.code != "dropped_reasoning"]
    output: list[dict[str, Any]] = []
    for n, item in enumerate(items):
        kind = as_str(item.get("type")) or "message"
        given = dict(item)
        if "id" not in given and kind in _PREFIX:
            given["id"] = f"{_PREFIX[kind]}{_digest(f'{id}/{n}')}"
        if kind in ("message", "function_call"):
            given.setdefault("status", "completed")
        output.append(given)
    return output


def _usage(message: AIMessage) -> dict[str, Any] | None:
    usage = message.usage_metadata
    if usage is None:
        return None
    taken: dict[str, Any] = dict(usage.get("input_token_details") or {})
    given: dict[str, Any] = dict(usage.get("output_token_details") or {})
    return {
        "input_tokens": usage["input_tokens"],
        "input_tokens_details": {
            "cached_tokens": taken.get("cache_read") or 0,
            "cache_write_tokens": taken.get("cache_creation") or 0,
        },
        "output_tokens": usage["output_tokens"],
        "output_tokens_details": {"reasoning_tokens": given.get("reasoning") or 0},
        "total_tokens": usage["total_tokens"],
    }


def _digest(text: str) -> str:
    return blake2s(text.encode("utf-8", "replace"), digest_size=16).hexdigest()


class ResponseWriter:
    """A machine that tells one reply as events: text while it comes, items when they are whole.

    Calls, reasoning and everything else are told at `close`, where they are complete; plain text that
    comes before anything else is passed on at once.
    """

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._sum: AIMessageChunk | None = None
        self._n_events = 0
        self._text_id: str | None = None
        self._n_chars = 0

    def feed(self, chunk: AIMessageChunk) -> list[tuple[str | None, str]]:
        """Return the events that a chunk causes."""
        is_first = self._sum is None
        self._sum = chunk if self._sum is None else self._sum + chunk
        events: list[tuple[str | None, str]] = []
        if is_first:
            body = encode_response(_message(chunk), self._dialect)
            begun = {**body, "status": "in_progress", "output": [], "usage": None}
            self._id = body["id"]
            events.append(self._event("response.created", response=begun))
            events.append(self._event("response.in_progress", response=begun))
        text = chunk.content
        plain = isinstance(self._sum.content, str) and not self._sum.additional_kwargs
        if not (isinstance(text, str) and text and plain):
            return events
        if self._text_id is None:
            if chunk.tool_call_chunks or self._sum.tool_call_chunks:
                return events
            self._text_id = f"msg_{_digest(f'{self._id}/text')}"
            events += self._begin_text()
        if self._n_chars == len(self._sum.content) - len(text):
            self._n_chars += len(text)
            events.append(
                self._event(
                    "response.output_text.delta",
                    item_id=self._text_id, output_index=0, content_index=0, delta=text, logprobs=[],
                )
            )  # fmt: skip
        return events

    def close(self) -> list[tuple[str | None, str]]:
        """Return the closing events, with the whole response in the last one."""
        if self._sum is None:
            return []
        message = _message(self._sum)
        message.id = self._id
        body = encode_response(message, self._dialect)
        output: list[dict[str, Any]] = body["output"]
        events: list[tuple[str | None, str]] = []
        at = next((n for n, i in enumerate(output) if i.get("type") == "message"), None)
        if self._text_id is not None and at is not None:
            item = {**output.pop(at), "id": self._text_id}
            output.insert(0, item)
            events += self._end_text(item)
        for n, item in enumerate(output):
            if n == 0 and self._text_id is not None:
                continue
            events += self._whole_item(n, item)
        word = {"completed": "completed", "incomplete": "incomplete"}.get(body["status"], "failed")
        events.append(self._event(f"response.{word}", response=body))
        return events

    def _event(self, kind: str, **fields: Any) -> tuple[str, str]:
        data = {"type": kind, "sequence_number": self._n_events, **fields}
        self._n_events += 1
        return kind, json.dumps(data, ensure_ascii=False)

    def _begin_text(self) -> list[tuple[str | None, str]]:
        item = {
            "type": "message", "id": self._text_id, "role": "assistant", "status": "in_progress",
            "content": [],
        }  # fmt: skip
        part = {"type": "output_text", "text": "", "annotations": []}
        return [
            self._event("response.output_item.added", output_index=0, item=item),
            self._event(
                "response.content_part.added",
                item_id=self._text_id, output_index=0, content_index=0, part=part,
            ),
        ]  # fmt: skip

    def _end_text(self, item: dict[str, Any]) -> list[tuple[str | None, str]]:
        part = item["content"][0]
        where = {"item_id": self._text_id, "output_index": 0, "content_index": 0}
        text = part.get("text", "")
        return [
            self._event("response.output_text.done", **where, text=text, logprobs=[]),
            self._event("response.content_part.done", **where, part=part),
            self._event("response.output_item.done", output_index=0, item=item),
        ]

    def _whole_item(self, n: int, item: dict[str, Any]) -> list[tuple[str | None, str]]:
        begun = {**item, "status": "in_progress"} if "status" in item else item
        if item.get("type") == "function_call":
            begun = {**begun, "arguments": ""}
            where = {"item_id": item.get("id"), "output_index": n}
            args = item["arguments"]
            return [
                self._event("response.output_item.added", output_index=n, item=begun),
                self._event("response.function_call_arguments.delta", **where, delta=args),
                self._event(
                    "response.function_call_arguments.done",
                    **where, name=item["name"], arguments=args,
                ),
                self._event("response.output_item.done", output_index=n, item=item),
            ]  # fmt: skip
        return [
            self._event("response.output_item.added", output_index=n, item=begun),
            self._event("response.output_item.done", output_index=n, item=item),
        ]


def _message(chunk: AIMessageChunk) -> AIMessage:
    message = message_chunk_to_message(chunk)
    assert isinstance(message, AIMessage)
    return message
