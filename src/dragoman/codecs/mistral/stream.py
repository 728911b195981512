"""Reading replies: chunk by chunk, or a whole body at once, in one machine.

The text of a delta may be a string or a list of content chunks, within one stream; thinking comes as
lists. Calls carry an index, and an id that is the text "null" where the server gave none.
"""

from typing import Any

from dragoman.codecs.mistral.tables import API, FINISH
from dragoman.codecs.mistral.wire import read_chunk, thinking_of
from dragoman.codecs.reply import Reply
from dragoman.codecs.shapes import as_dict, as_dicts, as_int, as_str, parse_event, usage_of
from dragoman.codecs.wire_errors import wire_error
from dragoman.errors import DecodeError
from dragoman.messages import AIMessage, AIMessageChunk

__all__ = ["ReplyReader", "decode_usage"]

_KEPT = {"choices", "model", "usage", "object"}


def decode_usage(usage: Any) -> dict[str, Any] | None:
    """Return `usage` as totals; prompt tokens include those of the cache."""
    if not isinstance(usage, dict) or as_int(usage.get("prompt_tokens")) is None:
        return None
    before = as_dict(usage.get("prompt_tokens_details") or usage.get("prompt_token_details"))
    after = as_dict(usage.get("completion_tokens_details"))
    cached = before.get("cached_tokens")
    return usage_of(
        usage.get("prompt_tokens"),
        usage.get("completion_tokens"),
        usage.get("total_tokens"),
        input_details={
            "cache_read": usage.get("num_cached_tokens") if cached is None else cached,
            "cache_creation": before.get("cache_write_tokens"),
            "audio": before.get("audio_tokens"),
        },
        output_details={
            "reasoning": after.get("reasoning_tokens"),
            "audio": after.get("audio_tokens"),
        },
    )


class ReplyReader:
    """A machine for one reply.

    Attributes:
        done: Whether the terminal marker has come.
    """

    def __init__(self, provider: str) -> None:
        self.done: bool = False
        self._provider = provider
        self._reply = Reply(provider, api=API, ordered=False)
        self._has_model = False
        self._thoughts: list[str] = []
        self._is_signed = False
        self._has_calls = False

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
        if isinstance(value, dict):
            if event == "error" and "choices" not in value:
                raise wire_error(None, value, provider=self._provider)
            self._body(value, "delta")
        return self._reply.take()

    def close(self) -> list[AIMessageChunk]:
        """Return the last chunks."""
        if not self._has_model:
            self._reply.meta(model_name="")
        return self._reply.close()

    def read(self, body: dict[str, Any]) -> None:
        """Take a whole response."""
        self._body(body, "message")

    def message(self) -> AIMessage:
        """Return everything that was read as one message."""
        if not self._has_model:
            self._reply.meta(model_name="")
        return self._reply.message()

    def _body(self, body: dict[str, Any], field: str) -> None:
        if "choices" not in body and (body.get("error") or body.get("object") == "error"):
            raise wire_error(None, body, provider=self._provider)
        reply = self._reply
        if reply.id is None and (id := as_str(body.get("id"))) is not None:
            reply.id = reply.seed = id
        if (model := as_str(body.get("model"))) is not None:
            self._has_model = True
            reply.meta(model_name=model)
        reply.late(**{k: v for k, v in body.items() if k not in _KEPT})
        usage = body.get("usage")
        reply.usage(decode_usage(usage))
        for choice in as_dicts(body.get("choices")):
            if as_int(choice.get("index")) in (0, None):
                self._choice(choice, field)

    def _choice(self, choice: dict[str, Any], field: str) -> None:
        said = as_dict(choice.get(field))
        self._content(said.get("content"))
        calls = said.get("tool_calls")
        for n, call in enumerate(calls if isinstance(calls, list) else ()):
            if isinstance(call, dict):
                self._call(call, n if field == "message" else None)
        if isinstance(refusal := said.get("refusal"), str) and refusal:
            self._reply.kwargs(refusal=refusal)
        reason = as_str(choice.get("finish_reason"))
        if reason is not None:
            self.done = True
            word = FINISH.get(reason, reason)
            self._reply.finished("tool_calls" if word == "stop" and self._has_calls else word)
        if isinstance(logprobs := choice.get("logprobs"), dict):
            self._reply.late(logprobs=logprobs)

    def _content(self, content: Any) -> None:
        if isinstance(content, str):
            self._reply.text(content)
            return
        if not isinstance(content, list | None):
            message = f"content is text or a list of chunks, not {type(content).__name__}"
            raise DecodeError(message, path="$.choices[0].content")
        for chunk in content or ():
            if isinstance(chunk, str):
                self._reply.text(chunk)
            elif isinstance(chunk, dict):
                self._chunk(chunk)

    def _chunk(self, chunk: dict[str, Any]) -> None:
        kind = chunk.get("type")
        if kind == "text" and isinstance(chunk.get("text"), str):
            self._reply.text(chunk["text"])
            unknown = {
                k: v for k, v in chunk.items() if k not in ("type", "text") and v is not None
            }
            if unknown:
                self._reply.annotate(extras={API: unknown})
        elif kind == "thinking" and (text := thinking_of(chunk)) is not None:
            self._thinking(text, as_str(chunk.get("signature")))
        else:
            self._reply.block(None, read_chunk(chunk))

    def _thinking(self, text: str, signature: str | None) -> None:
        """Add thinking: unsigned it is plain reasoning, with a signature a block."""
        if signature is None and not self._is_signed:
            self._thoughts.append(text)
            self._reply.reasoning(text)
            return
        block: dict[str, Any] = {"reasoning": text}
        if not self._is_signed:
            # A signature is for all of the thinking, so the block has what came before, too.
            self._is_signed = True
            block = {"type": "reasoning", "reasoning": "".join(self._thoughts) + text}
        if signature is not None:
            block["extras"] = {"signature": signature}
        self._reply.block("thinking", block)

    def _call(self, call: dict[str, Any], position: int | None) -> None:
        function = as_dict(call.get("function"))
        self._has_calls = True
        id = as_str(call.get("id"))
        index = call.get("index")
        if position is not None:
            index = f"call {position}"  # a whole body has every call once, whatever it counts
        self._reply.call(
            index if isinstance(index, (int, str)) and not isinstance(index, bool) else None,
            id=None if id == "null" else id,
            name=as_str(function.get("name")),
            args=function.get("arguments"),
        )
