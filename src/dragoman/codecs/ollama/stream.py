"""Replies of Ollama's `/api/chat`, streamed or at once, told to the one assembler.

A stream is lines of JSON, each a response with a piece of the message; the last has `done` and the
counters. Calls come whole and without ids; the assembler invents stable ones.
"""

from typing import Any

import msgspec

from dragoman.codecs.ollama.tables import API, FINISH
from dragoman.codecs.ollama.wire import read_text_line
from dragoman.codecs.reply import Reply
from dragoman.codecs.shapes import (
    as_dict,
    as_dicts,
    as_int,
    as_str,
    parse_event,
    require_dict,
    usage_of,
)
from dragoman.codecs.wire_errors import wire_error
from dragoman.messages import AIMessage, AIMessageChunk

__all__ = ["StreamDecoder", "decode_response"]

_TOP = frozenset(("message", "done", "model", "done_reason", "error", "logprobs"))
_MESSAGE = frozenset(("role", "content", "thinking", "images", "tool_calls"))
_CALL = frozenset(("function", "id", "index", "type"))


def decode_response(body: Any, provider: str) -> AIMessage:
    """Return the reply in a response body.

    Raises:
        DecodeError: If the body is no JSON object.
        ModelError: If it holds an error.
    """
    reader = StreamDecoder(provider)
    reader.tell(require_dict(body, "the response"))
    reader.done = True
    reader.end()
    return reader.reply.message()


class StreamDecoder:
    """The machine for one stream.

    Attributes:
        done: Whether the line with `done` was seen.
    """

    def __init__(self, provider: str) -> None:
        self.done: bool = False
        self.reply: Reply = Reply(provider, api=API, ordered=False)
        self._provider = provider
        self._reason: str | None = None
        self._model: Any = None
        self._is_closed = False

    def feed(self, event: str | None, data: Any) -> list[AIMessageChunk]:
        """Return the chunks of one line.

        Raises:
            DecodeError: If the data is not JSON.
            ModelError: If the line tells of an error.
        """
        if self._model is not None and (data.__class__ is str or data.__class__ is bytes):
            try:
                line = read_text_line(data)
            except (msgspec.MsgspecError, UnicodeError):
                pass
            else:
                if not line.done and line.model == self._model:
                    if line.message.thinking:
                        self.reply.reasoning(line.message.thinking)
                    self.reply.text(line.message.content or "")
                    return self.reply.take()
        if isinstance(data, (str, bytes, bytearray)) and not data.strip():
            return []
        parsed = parse_event(data)
        if not isinstance(parsed, dict):
            return []
        self.tell(parsed)
        return self.reply.take()

    def close(self) -> list[AIMessageChunk]:
        """Return what was held back; the last chunk has `chunk_position="last"`."""
        if self._is_closed:
            return []
        self._is_closed = True
        self.end()
        return self.reply.close()

    def end(self) -> None:
        """Tell the assembler what only the end decides."""
        word = FINISH.get(self._reason, self._reason) if self._reason else None
        if word is None and self.done:
            word = "stop"
        if word == "stop" and self.reply.calls:
            word = "tool_calls"
        self.reply.finished(word)

    def tell(self, body: dict[str, Any]) -> None:
        """Tell the assembler one line, or one whole response."""
        reply = self.reply
        if error := body.get("error"):
            raise wire_error(None, {"error": error}, provider=self._provider)
        if (model := as_str(body.get("model"))) is not None:
            self._model = model
            reply.meta(model_name=model, model=model)
        message = as_dict(body.get("message"))
        reply.reasoning(as_str(message.get("thinking")) or "")
        reply.text(as_str(message.get("content")) or "")
        images = message.get("images")
        for image in images if isinstance(images, list) else ():
            if isinstance(image, str) and image:
                reply.block(None, {"type": "image", "base64": image})
        for call in as_dicts(message.get("tool_calls")):
            self._tell_call(call)
        for key, value in message.items():
            if key not in _MESSAGE and value is not None:
                reply.late(**{key: value})
        logprobs = body.get("logprobs")
        if isinstance(logprobs, list) and logprobs:
            reply.grow(logprobs=logprobs)
        for key, value in body.items():
            if key not in _TOP and value is not None:
                reply.late(**{key: value})
        n_in, n_out = as_int(body.get("prompt_eval_count")), as_int(body.get("eval_count"))
        if n_in is not None or n_out is not None:
            reply.usage(usage_of(n_in, n_out))
        if body.get("done") is True:
            self.done = True
        self._reason = as_str(body.get("done_reason")) or self._reason

    def _tell_call(self, raw: dict[str, Any]) -> None:
        function = as_dict(raw.get("function"))
        name = as_str(function.get("name"))
        if name is None:
            return
        rest = {k: v for k, v in raw.items() if k not in _CALL and v is not None}
        args = function.get("arguments")
        self.reply.call(
            ("whole", len(self.reply.calls)),
            id=as_str(raw.get("id")),
            name=name,
            args={} if args is None else args,
            extras={"ollama": rest} if rest else None,
        )
