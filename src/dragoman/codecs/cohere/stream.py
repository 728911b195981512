"""Reading replies: event by event, or a whole body at once, in one machine.

`tool_plan` and `thinking` are reasoning. Citations point into the text, so they make it a text block
with annotations; in a stream they come between the pieces of text and are told at its end.
"""

from typing import Any

from dragoman.codecs.cohere.tables import API, FINISH
from dragoman.codecs.cohere.wire import read_citations, read_part
from dragoman.codecs.reply import Reply
from dragoman.codecs.shapes import as_dict, as_dicts, as_int, as_str, parse_event, usage_of
from dragoman.codecs.wire_errors import wire_error
from dragoman.messages import AIMessage, AIMessageChunk

__all__ = ["ReplyReader", "decode_usage"]


def decode_usage(usage: Any) -> dict[str, Any] | None:
    """Return `usage` as totals: `tokens` (the true count), else `billed_units`."""
    given = as_dict(usage)
    counted = as_dict(given.get("tokens")) or as_dict(given.get("billed_units"))
    if as_int(counted.get("input_tokens")) is None and as_int(counted.get("output_tokens")) is None:
        return None
    cached = {"cache_read": given.get("cached_tokens")}
    return usage_of(counted.get("input_tokens"), counted.get("output_tokens"), input_details=cached)


class ReplyReader:
    """A machine for one reply.

    Attributes:
        done: Whether the terminal event has come.
    """

    def __init__(self, provider: str) -> None:
        self.done: bool = False
        self._provider = provider
        self._reply = Reply(provider, api=API, ordered=False)
        self._reply.meta(model_name="")  # the wire does not tell which model answered
        self._n_thoughts = 0
        self._kinds: dict[Any, str] = {}
        self._citations: list[dict[str, Any]] = []

    def feed(self, event: str | None, data: str | bytes | dict[str, Any]) -> list[AIMessageChunk]:
        """Return the chunks an event completes.

        Raises:
            ModelError: If the event is an error.
            DecodeError: If `data` is not JSON.
        """
        if data in ("[DONE]", b"[DONE]"):
            self.done = True
            return []
        value = parse_event(data)
        if not isinstance(value, dict):
            return []
        kind = as_str(value.get("type")) or event or ""
        if kind == "error" or (not kind and (value.get("error") or value.get("message"))):
            raise wire_error(None, value, provider=self._provider)
        if kind == "message-start" and (id := as_str(value.get("id"))) is not None:
            self._reply.id = self._reply.seed = id
            self._reply.meta(id=id)
        delta = as_dict(value.get("delta"))
        said = as_dict(delta.get("message"))
        if kind in ("content-start", "content-delta"):
            self._content(value.get("index"), as_dict(said.get("content")))
        elif kind == "tool-plan-delta" and isinstance(plan := said.get("tool_plan"), str):
            self._think(plan, is_new=not self._kinds.get("plan"))
            self._kinds["plan"] = "thinking"
        elif kind in ("tool-call-start", "tool-call-delta"):
            self._call(value.get("index"), as_dict(said.get("tool_calls")))
        elif kind == "citation-start":
            given = said.get("citations")
            self._citations += as_dicts(given if isinstance(given, list) else [given])
        elif kind == "message-end":
            self.done = True
            self._end(delta)
        return self._reply.take()

    def close(self) -> list[AIMessageChunk]:
        """Return the last chunks."""
        return self._reply.close()

    def read(self, body: dict[str, Any]) -> None:
        """Take a whole response."""
        said = body.get("message")
        if isinstance(said, str) or (body.get("error") and not isinstance(said, dict)):
            raise wire_error(None, body, provider=self._provider)
        said = as_dict(said)
        if (id := as_str(body.get("id"))) is not None:
            self._reply.id = self._reply.seed = id
        if isinstance(plan := said.get("tool_plan"), str):
            self._think(plan, is_new=True)
        content = said.get("content")
        if isinstance(content, str):
            self._reply.text(content)
        for n, part in enumerate(as_dicts(content)):
            self._content(n, part)
        for n, call in enumerate(as_dicts(said.get("tool_calls"))):
            self._call(n, call)
        self._citations = as_dicts(said.get("citations"))
        self._reply.meta(
            **{k: v for k, v in body.items() if k not in ("message", "usage", "finish_reason")}
        )
        self._end(body)

    def message(self) -> AIMessage:
        """Return everything that was read as one message."""
        return self._reply.message()

    def _think(self, text: str, *, is_new: bool) -> None:
        if is_new and self._n_thoughts:
            self._reply.reasoning("\n\n")
        self._n_thoughts += is_new
        self._reply.reasoning(text)

    def _content(self, index: Any, part: dict[str, Any]) -> None:
        """Take a part, or a piece of one: only its start says of which kind it is."""
        key = index if isinstance(index, int) else None
        is_new = key not in self._kinds
        if isinstance(kind := part.get("type"), str):
            self._kinds[key] = kind
        if isinstance(text := part.get("text"), str):
            self._reply.text(text)
        elif isinstance(text := part.get("thinking"), str):
            self._think(text, is_new=is_new)
        elif kind is not None and kind not in ("text", "thinking"):
            self._reply.block(None, read_part(part))

    def _call(self, index: Any, call: dict[str, Any]) -> None:
        function = as_dict(call.get("function"))
        self._reply.call(
            index if isinstance(index, int) and not isinstance(index, bool) else None,
            id=as_str(call.get("id")),
            name=as_str(function.get("name")),
            args=function.get("arguments"),
        )

    def _end(self, told: dict[str, Any]) -> None:
        reply = self._reply
        if self._citations:
            reply.annotate(annotations=read_citations(self._citations))
        reason = as_str(told.get("finish_reason"))
        if reason is not None:
            reply.finished(FINISH.get(reason, reason))
            reply.late(raw_finish_reason=reason)
        usage = told.get("usage")
        reply.usage(decode_usage(usage))
        if isinstance(usage, dict) and isinstance(usage.get("billed_units"), dict):
            reply.late(billed_units=usage["billed_units"])
        if isinstance(error := told.get("error"), str):
            reply.late(error=error)
