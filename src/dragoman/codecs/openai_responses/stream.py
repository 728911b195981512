"""Reading responses: the events of a stream, or the whole body, into one message.

One machine for both: `decode_response` gives it the body, a stream its events.
"""

from typing import Any

from dragoman.codecs.openai_responses.reader import ItemReader
from dragoman.codecs.openai_responses.tables import API, ECHOES, FINISH, Dialect
from dragoman.codecs.openai_responses.wire import rest_of
from dragoman.codecs.reply import Reply
from dragoman.codecs.shapes import as_dict, as_int, as_list, as_str, parse_event, usage_of
from dragoman.codecs.wire_errors import wire_error
from dragoman.errors import ModelError
from dragoman.messages import AIMessage, AIMessageChunk

__all__ = ["ResponseReader"]


class ResponseReader:
    """A machine for one response: event by event, or the whole body at once.

    Attributes:
        done: Whether the terminal event has come.
    """

    def __init__(self, dialect: Dialect) -> None:
        self.done: bool = False
        self._dialect = dialect
        self._reply = Reply(dialect.provider, api=API)
        self._items = ItemReader(self._reply)
        self._is_finished = False
        self._has_model = False

    def feed(self, event: str | None, data: str | bytes | dict[str, Any]) -> list[AIMessageChunk]:
        """Return the chunks an event completes.

        Raises:
            ModelError: For an `error` event and for `response.failed`.
            DecodeError: If `data` is not JSON.
        """
        if data in ("[DONE]", b"[DONE]"):
            self.done = True
            return []
        value = parse_event(data)
        if not isinstance(value, dict):
            return []
        kind = as_str(value.get("type")) or event or ""
        if kind == "error" or (not kind and value.get("error")):
            raise self._error(value)
        if self._is_finished:
            return []
        handler = _HANDLERS.get(kind)
        if handler is not None:
            handler(self, value)
        return self._reply.take()

    def close(self) -> list[AIMessageChunk]:
        """Return the last chunks."""
        self._finish({})
        return self._reply.close()

    def read(self, response: dict[str, Any]) -> None:
        """Take a whole response; what the events told already is not told twice."""
        self._envelope(response)
        self._finish(response)

    def message(self) -> AIMessage:
        """Return everything that was read as one message."""
        return self._reply.message()

    def _error(self, value: dict[str, Any]) -> ModelError:
        inner = value.get("error")
        body = inner if isinstance(inner, dict) else rest_of(value, "type", "sequence_number")
        code = as_str(body.get("code")) or as_str(body.get("type"))
        return wire_error(None, {"error": body}, provider=self._dialect.provider, code=code)

    def _envelope(self, response: dict[str, Any]) -> None:
        if (id := as_str(response.get("id"))) is not None and self._reply.id is None:
            self._reply.id = self._reply.seed = id
        if (model := as_str(response.get("model"))) is not None:
            self._has_model = True
            self._reply.meta(model_name=model)

    def _finish(self, response: dict[str, Any]) -> None:
        if self._is_finished:
            return
        self._is_finished = True
        if not self._has_model:
            self._reply.meta(model_name="")
        self._items.finish(as_list(response.get("output")))
        known = {k: v for k, v in response.items() if k not in ECHOES and v not in (None, {}, [])}
        self._reply.late(**known)
        self._reply.finished(self._reason(response))
        usage = response.get("usage")
        if isinstance(usage, dict):
            taken = as_dict(usage.get("input_tokens_details"))
            given = as_dict(usage.get("output_tokens_details"))
            self._reply.usage(
                usage_of(
                    usage.get("input_tokens"),
                    usage.get("output_tokens"),
                    usage.get("total_tokens"),
                    input_details={
                        "cache_read": taken.get("cached_tokens"),
                        "cache_creation": taken.get("cache_write_tokens"),
                        "audio": taken.get("audio_tokens"),
                    },
                    output_details={
                        "reasoning": given.get("reasoning_tokens"),
                        "audio": given.get("audio_tokens"),
                    },
                )
            )
            extra = rest_of(
                usage, "input_tokens", "output_tokens", "total_tokens", "input_tokens_details",
                "output_tokens_details",
            )  # fmt: skip
            if extra:
                self._reply.late(usage=extra)

    def _reason(self, response: dict[str, Any]) -> str | None:
        status = as_str(response.get("status"))
        items = self._items
        if status is None and not response:
            return None
        if status in (None, "completed", "complete"):
            if items.has_calls:
                return "tool_calls"
            if items.has_refusal:
                return "refusal"
            return "pause" if items.waits else "stop"
        if status == "incomplete":
            reason = as_str(as_dict(response.get("incomplete_details")).get("reason"))
            return FINISH.get(reason or "", reason) or status
        return "error" if status == "failed" else status

    def failed(self, response: dict[str, Any]) -> ModelError:
        """Return the error of a failed response."""
        error = as_dict(response.get("error"))
        code = as_str(error.get("code"))
        return wire_error(None, {"error": error}, provider=self._dialect.provider, code=code)


_Event = dict[str, Any]


def _index(value: _Event) -> int:
    index = as_int(value.get("output_index"))
    return 0 if index is None else index


def _text_of(value: _Event, field: str = "delta") -> str:
    text = value.get(field)
    return text if isinstance(text, str) else ""


def _on_response(reader: ResponseReader, value: _Event) -> None:
    reader._envelope(as_dict(value.get("response")))


def _on_end(reader: ResponseReader, value: _Event) -> None:
    response = as_dict(value.get("response"))
    reader.done = True
    if value.get("type") == "response.failed" or response.get("status") == "failed":
        raise reader.failed(response)
    reader.read(response)


def _on_added(reader: ResponseReader, value: _Event) -> None:
    item = value.get("item")
    if isinstance(item, dict):
        reader._items.added(_index(value), item)


def _on_done(reader: ResponseReader, value: _Event) -> None:
    item = value.get("item")
    if isinstance(item, dict):
        reader._items.done(_index(value), item)


def _on_text(reader: ResponseReader, value: _Event) -> None:
    part = as_int(value.get("content_index")) or 0
    reader._items.text(_index(value), part, _text_of(value))


def _on_annotation(reader: ResponseReader, value: _Event) -> None:
    part = as_int(value.get("content_index")) or 0
    reader._items.annotation(_index(value), part, value.get("annotation"))


def _on_refusal(reader: ResponseReader, value: _Event) -> None:
    part = as_int(value.get("content_index")) or 0
    reader._items.refusal(_index(value), part, _text_of(value))


def _on_summary(reader: ResponseReader, value: _Event) -> None:
    part = ("summary", as_int(value.get("summary_index")) or 0)
    reader._items.thought(_index(value), part, _text_of(value))


def _on_reasoning(reader: ResponseReader, value: _Event) -> None:
    part = ("content", as_int(value.get("content_index")) or 0)
    reader._items.thought(_index(value), part, _text_of(value))


def _on_arguments(reader: ResponseReader, value: _Event) -> None:
    reader._items.arguments(_index(value), _text_of(value))


def _on_input(reader: ResponseReader, value: _Event) -> None:
    reader._items.custom_input(_index(value), _text_of(value))


_HANDLERS = {
    "response.created": _on_response,
    "response.queued": _on_response,
    "response.in_progress": _on_response,
    "response.completed": _on_end,
    "response.incomplete": _on_end,
    "response.failed": _on_end,
    "response.cancelled": _on_end,
    "response.output_item.added": _on_added,
    "response.output_item.done": _on_done,
    "response.output_text.delta": _on_text,
    "response.output_text.annotation.added": _on_annotation,
    "response.refusal.delta": _on_refusal,
    "response.reasoning_summary_text.delta": _on_summary,
    "response.reasoning_text.delta": _on_reasoning,
    "response.function_call_arguments.delta": _on_arguments,
    "response.custom_tool_call_input.delta": _on_input,
}
"""What an event does; every other one (progress, `*.done`, audio ...) repeats what items say."""
