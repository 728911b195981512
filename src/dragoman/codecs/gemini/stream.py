"""Gemini's stream -> chunks; every event is a whole response with the parts that are new.

`Reading` tells the shared reply machine what the wire says; `StreamDecoder` drives it event by
event, `decode_response` with a whole body. Usage numbers are totals: the last ones count.

Source: https://ai.google.dev/api/generate-content, read 2026-11.
"""

from typing import Any

from dragoman.codecs.arguments import dump_arguments
from dragoman.codecs.gemini.decode import decode_part, read_usage
from dragoman.codecs.gemini.partial import PartialCall
from dragoman.codecs.gemini.tables import API, FINISH, MADE_ID, snake
from dragoman.codecs.gemini.wire import camel_keys, citations
from dragoman.codecs.reply import Reply
from dragoman.codecs.shapes import as_dict, as_dicts, as_list, as_str, parse_event, require_dict
from dragoman.codecs.wire_errors import wire_error
from dragoman.errors import DecodeError
from dragoman.messages import AIMessage, AIMessageChunk

__all__ = ["StreamDecoder", "decode_response"]

_SILENT = {"candidates", "modelVersion", "responseId", "usageMetadata"}


class Reading:
    """What the wire says, told to the reply machine.

    Attributes:
        reply: The machine.
        done: Whether a finish reason has been seen.
    """

    def __init__(self, provider: str) -> None:
        self.provider = provider
        self.reply: Reply = Reply(provider, api=API)
        self.done: bool = False
        self._n_calls = 0
        self._n_parts = 0
        self._partial: PartialCall | None = None
        self._last_id = ""
        self._text: list[str] = []
        self._grounding: Any = None
        self._is_plain = True  # the content so far is plain text: citations may be put on it
        self._reason: str | None = None

    def response(self, body: dict[str, Any], path: str) -> None:
        """Read one response, or one event of a stream."""
        body = camel_keys(body)
        error = body.get("error")
        if isinstance(error, dict) and not body.get("candidates"):
            raise wire_error(None, body, provider=self.provider)
        if self.reply.id is None:
            self.reply.id = as_str(body.get("responseId"))
            self.reply.seed = self.reply.id or ""
        self.reply.meta(model_name=as_str(body.get("modelVersion")))
        self.reply.late(**{snake(k): v for k, v in body.items() if k not in _SILENT})
        usage = body.get("usageMetadata")
        if isinstance(usage, dict):
            self.reply.usage(read_usage(usage))
            self.reply.late(usage_metadata=usage)
        blocked = as_str(as_dict(body.get("promptFeedback")).get("blockReason"))
        if blocked is not None:
            self.done = True
            self.reply.finished("content_filter")
        for candidate in as_dicts(body.get("candidates"))[:1]:
            self._candidate(camel_keys(candidate), f"{path}.candidates[0]")

    def _candidate(self, candidate: dict[str, Any], path: str) -> None:
        grounding = candidate.get("groundingMetadata")
        if isinstance(grounding, dict) and grounding:
            self._grounding = grounding
        known = {"content", "finishReason", "index"}
        fields = {snake(k): v for k, v in candidate.items() if k not in known}
        self.reply.late(**fields)
        for n, part in enumerate(as_list(as_dict(candidate.get("content")).get("parts"))):
            self._part(part, f"{path}.content.parts[{n}]")
        reason = as_str(candidate.get("finishReason"))
        if reason is not None:
            self.done = True
            self._reason = reason
            self.reply.meta(native_finish_reason=reason)

    def _part(self, part: Any, path: str) -> None:
        if isinstance(part, dict) and self._is_partial(camel_keys(part)):
            return
        self._end_partial()
        found = decode_part(part, path)
        kind, n = found["type"], self._n_parts
        self._n_parts += 1
        extras = found.get("extras")
        if kind == "text" and extras is None:
            self._text.append(found["text"])
            self.reply.text(found["text"])
        elif kind == "reasoning" and extras is None:
            self.reply.reasoning(found["reasoning"])
        elif kind == "tool_call":
            self._call(found, as_dict(as_dict(as_dict(extras).get(API)).get("functionCall")))
        else:
            if kind == "text" and not found["text"]:
                self._cite()
            if kind == "server_tool_call":
                self._last_id = found["id"] or f"{MADE_ID}{self.reply.seed}_s{n}"
                found["id"] = self._last_id
            elif kind == "server_tool_result" and not found["tool_call_id"]:
                found["tool_call_id"] = self._last_id or f"{MADE_ID}{self.reply.seed}_s{n}"
            self._is_plain = False
            self.reply.block(None, found)

    def _is_partial(self, part: dict[str, Any]) -> bool:
        """Read a piece of a call whose arguments come in pieces; return whether it was one."""
        call = part.get("functionCall")
        call = camel_keys(call) if isinstance(call, dict) else {}
        if self._partial is None or as_str(call.get("name")) is not None:
            if not as_str(call.get("name")) or not (call.keys() & {"partialArgs", "willContinue"}):
                return False
            self._end_partial()
            self._partial = PartialCall(part, call)
        elif "functionCall" not in part:
            return False
        self._partial.add(call.get("partialArgs"))
        if call.get("willContinue") is not True:
            self._end_partial()
        return True

    def _end_partial(self) -> None:
        partial, self._partial = self._partial, None
        if partial is not None:
            self._part(partial.whole(), "$")

    def _cut_off(self, partial: PartialCall) -> None:
        """Read a call that never became whole: its arguments are JSON text without an end."""
        self._partial = None
        self._n_calls += 1
        id = as_str(partial.call.get("id")) or f"{MADE_ID}{self.reply.seed}_{self._n_calls}"
        text = dump_arguments(partial.args)[:-1]
        self.reply.call(self._n_calls, id=id, name=as_str(partial.call.get("name")), args=text)

    def _call(self, found: dict[str, Any], rest: dict[str, Any]) -> None:
        """Read a whole call."""
        extras = dict(found.get("extras", {}))
        bag = dict(extras.pop(API, {}))
        rest = {k: v for k, v in rest.items() if k != "args"}
        bag.pop("functionCall", None)
        if rest:
            bag["functionCall"] = rest
        if bag:
            extras[API] = bag
        self._n_calls += 1
        key = self._n_calls
        id = found["id"] or f"{MADE_ID}{self.reply.seed}_{key}"
        args = found["args"]
        self.reply.call(
            key, id=id, name=found["name"], args={} if args is None else args, extras=extras or None
        )

    def _cite(self) -> None:
        """Put the citations on the text, as long as the content is nothing but text."""
        if self._is_plain and self._text:
            self.reply.annotate(annotations=citations(self._grounding, "".join(self._text)))
        self._is_plain = False

    def end(self) -> None:
        """Read the end of the reply."""
        if self._partial is not None:
            self._cut_off(self._partial)
        if not self.reply.calls:
            self._cite()
        reason = self._reason
        if reason is None or self.reply.finish is not None:
            return
        word = FINISH.get(reason, reason)
        self.reply.finished("tool_calls" if word == "stop" and self.reply.calls else word)


def decode_response(body: Any, provider: str) -> AIMessage:
    """Return a whole reply as a message.

    Raises:
        DecodeError: If it is not a reply.
        ModelError: If it is an error that came with status 200.
    """
    reading = Reading(provider)
    # A stream without SSE is one array.
    bodies: list[Any] = body if isinstance(body, list) and body else [body]
    for n, one in enumerate(bodies):
        one = require_dict(one, "the response")
        known = {"candidates", "promptFeedback", "usageMetadata", "error", "responseId"}
        if not camel_keys(one).keys() & known:
            raise DecodeError("Expected a response with candidates", path="$")
        reading.response(one, "$" if len(bodies) == 1 else f"$[{n}]")
    reading.end()
    return reading.reply.message()


class StreamDecoder:
    """Turns the events of one stream into chunks.

    Attributes:
        done: Whether a finish reason has been seen.
    """

    def __init__(self, provider: str) -> None:
        self._reading = Reading(provider)

    @property
    def done(self) -> bool:
        """Return whether the reply has ended."""
        return self._reading.done

    def feed(self, event: str | None, data: Any) -> list[AIMessageChunk]:
        """Return the chunks one event completes.

        Raises:
            DecodeError: If `data` is not JSON or not an event.
            ModelError: For an error inside the stream.
        """
        told = parse_event(data)
        for body in told if isinstance(told, list) else [told]:
            self._reading.response(require_dict(body, "an event"), "$")
        return self._reading.reply.take()

    def close(self) -> list[AIMessageChunk]:
        """Return the last chunks."""
        self._reading.end()
        return self._reading.reply.close()
