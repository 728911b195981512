"""Replies of Chat Completions, streamed or at once, told to the one assembler.

Nearly every event of a stream is a piece of text and goes one short way: a struct decoded at C
speed, one chunk out. Everything else goes the general way over dicts, which is also how a whole
response is read: its `message` is a delta that holds everything.
"""

from typing import Any

import msgspec

from dragoman.codecs.arguments import dump_arguments, read_arguments
from dragoman.codecs.media import sniff
from dragoman.codecs.openai_chat.parts import API, decode_part
from dragoman.codecs.openai_chat.tables import FINISH, SIGNED_FORMATS, Dialect
from dragoman.codecs.openai_chat.usage import decode_usage
from dragoman.codecs.openai_chat.wire import Delta, TextChunk, read_text_chunk
from dragoman.codecs.reply import Reply
from dragoman.codecs.shapes import as_dict, as_dicts, as_str, parse_event, require_dict
from dragoman.codecs.wire_errors import wire_error
from dragoman.messages import AIMessage, AIMessageChunk

__all__ = ["StreamDecoder", "decode_response"]

_TOP = frozenset(("id", "object", "model", "choices", "usage", "obfuscation", "error"))
_CHOICE = frozenset(("index", "delta", "message", "finish_reason", "logprobs", "error"))
_MESSAGE = frozenset(
    ("role", "content", "tool_calls", "refusal", "reasoning", "reasoning_content", "audio",
     "reasoning_details", "annotations", "function_call", "images", "executed_tools",
     "extra_content", "thought_signature")
)  # fmt: skip
_CALL = frozenset(("id", "type", "index", "function", "custom", "extra_content"))


def decode_response(body: Any, dialect: Dialect) -> AIMessage:
    """Return the reply in a response body.

    Raises:
        DecodeError: If the body is no JSON object.
        ModelError: If it holds an error.
    """
    body = require_dict(body, "the response")
    reader = StreamDecoder(dialect)
    reader.tell(body)
    reader.done = True
    others = [c for c in as_dicts(body.get("choices"))[1:] if c.get("index") not in (0, None)]
    reader.reply.late(other_choices=others or None)
    reader.end()
    return reader.reply.message()


class StreamDecoder:
    """The machine for one stream.

    Attributes:
        done: Whether a finish reason or `[DONE]` was seen.
    """

    def __init__(self, dialect: Dialect) -> None:
        self.done: bool = False
        self.reply: Reply = Reply(dialect.provider, api=API, ordered=False)
        self._dialect = dialect
        self._finish: str | None = None
        self._is_refused = False
        self._has_begun = False
        self._seen: tuple[Any, Any, Any, Any] = (None, None, None, None)
        self._details: dict[Any, _Detail] = {}
        self._customs: dict[Any, list[str]] = {}
        self._tools_shown: dict[Any, bool] = {}
        self._is_whole = False  # whether what is told is a whole message
        self._is_closed = False

    def feed(self, event: str | None, data: Any) -> list[AIMessageChunk]:
        """Return the chunks of one event.

        Raises:
            DecodeError: If the data is not JSON.
            ModelError: If the event tells of an error.
        """
        if event is None and self._has_begun and (data.__class__ is str or data.__class__ is bytes):
            try:
                chunk = read_text_chunk(data)
            except (msgspec.MsgspecError, UnicodeError):
                return self._feed_any(event, data)
            choices = chunk.choices
            if len(choices) == 1 and self._is_known(chunk) and (choice := choices[0]).index == 0:
                delta = choice.delta
                if delta.tool_calls is None and delta.reasoning_content is None:
                    text = delta.content
                    return [AIMessageChunk(content=text, id=self.reply.id)] if text else []
                if (chunks := self._feed_plain(delta)) is not None:
                    return chunks
        return self._feed_any(event, data)

    def _is_known(self, chunk: TextChunk) -> bool:
        """Return whether nothing beside the choice is new."""
        seen = self._seen
        return (
            chunk.model == seen[0]
            and chunk.created == seen[1]
            and chunk.system_fingerprint == seen[2]
            and chunk.service_tier == seen[3]
        )

    def _feed_plain(self, delta: Delta) -> list[AIMessageChunk] | None:
        """Return the chunks of pieces of calls, text and reasoning; None if it is not as common."""
        reply = self.reply
        calls = delta.tool_calls or ()
        if any(call.type not in (None, "function", "") for call in calls):
            return None
        if delta.content:
            reply.text(delta.content)
        if delta.reasoning_content:
            reply.reasoning(delta.reasoning_content)
        for call in calls:
            function = call.function
            if function is not None:
                reply.call(call.index, id=call.id, name=function.name, args=function.arguments)
            elif call.id:
                reply.call(call.index, id=call.id)
        return reply.take()

    def _feed_any(self, event: str | None, data: Any) -> list[AIMessageChunk]:
        if isinstance(data, (str, bytes, bytearray)):
            if data.strip() in ("[DONE]", b"[DONE]"):
                self.done = True
                return []
            if not data.strip():
                return []
        parsed = parse_event(data)
        if event == "error":
            raise wire_error(None, parsed, provider=self._dialect.provider)
        if not isinstance(parsed, dict):
            return []
        self.tell(parsed)
        get = parsed.get
        self._seen = (
            get("model"), get("created"), get("system_fingerprint"), get("service_tier")
        )  # fmt: skip
        self._has_begun = self.reply.is_whole
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
        reply = self.reply
        for key, pieces in self._customs.items():
            reply.call(key, args=dump_arguments({"input": "".join(pieces)}))
        raw = self._finish
        word = FINISH.get(raw, raw) if raw is not None else None
        if word in (None, "stop"):
            if reply.calls and (word or self.done):
                word = "tool_calls"
            elif self._is_refused and (word or self.done):
                word = "refusal"
            elif self.done:
                word = "stop"
        reply.finished(word)

    # ------------------------------------------------------------------ the general way

    def tell(self, body: dict[str, Any]) -> None:
        """Tell the assembler one chunk, or one whole response."""
        reply = self.reply
        if body.get("error"):
            raise wire_error(None, body, provider=self._dialect.provider)
        if reply.id is None and (id := as_str(body.get("id"))):
            reply.id = id
            reply.seed = id
        reply.meta(model_name=as_str(body.get("model")))
        for key, value in body.items():
            if key not in _TOP and value is not None:
                reply.meta(**{key: value})
        usage = body.get("usage") or as_dict(body.get("x_groq")).get("usage")
        if (totals := decode_usage(usage)) is not None:
            reply.usage(totals)
            reply.late(token_usage=usage)
        for choice in as_dicts(body.get("choices")):
            if choice.get("index") in (0, None):
                self._tell_choice(choice)
                break

    def _tell_choice(self, choice: dict[str, Any]) -> None:
        if choice.get("error"):
            raise wire_error(None, choice, provider=self._dialect.provider)
        logprobs = choice.get("logprobs")
        if isinstance(logprobs, dict) and any(logprobs.values()):
            self.reply.grow(logprobs=logprobs)
        for key, value in choice.items():
            if key not in _CHOICE and value is not None:
                self.reply.late(**{key: value})
        delta = choice.get("delta") or choice.get("message")
        if isinstance(delta, dict):
            self._is_whole = not choice.get("delta")
            self._tell_message(delta)
        if (reason := as_str(choice.get("finish_reason"))) is not None:
            self._finish = reason
            self.done = True

    def _tell_message(self, delta: dict[str, Any]) -> None:
        reply = self.reply
        self._tell_reasoning(delta)
        for tool in as_dicts(delta.get("executed_tools")):
            self._tell_executed(tool)
        self._tell_content(delta.get("content"))
        if refusal := as_str(delta.get("refusal")):
            self._is_refused = True
            block = {"refusal": refusal}
            reply.block(
                "refusal", block if reply.has_block("refusal") else {"type": "refusal", **block}
            )
        self._tell_audio(delta.get("audio"))
        for image in as_dicts(delta.get("images")):
            block = decode_part(image, "$")
            if isinstance(block, dict):
                reply.block(None, block)
        for n, call in enumerate(as_dicts(delta.get("tool_calls"))):
            self._tell_call(call, n)
        function_call = delta.get("function_call")
        if isinstance(function_call, dict) and any(function_call.values()):
            reply.kwargs(function_call=function_call)
        if citations := [_citation(a) for a in as_dicts(delta.get("annotations"))]:
            reply.annotate(annotations=citations)
        signed = {k: v for k in ("extra_content", "thought_signature") if (v := delta.get(k))}
        if signed:
            reply.annotate(extras=signed)
        for key, value in delta.items():
            if key not in _MESSAGE and value is not None:
                reply.late(**{key: value})

    def _tell_content(self, content: Any) -> None:
        if isinstance(content, str):
            self.reply.text(content)
            return
        for part in content if isinstance(content, list) else ():
            if isinstance(part, str):
                self.reply.text(part)
            elif not isinstance(part, dict):
                continue
            elif part.get("type") == "text":
                self.reply.text(as_str(part.get("text")) or "")
            elif part.get("type") == "thinking":
                thinking = part.get("thinking")
                if isinstance(thinking, str):
                    self.reply.reasoning(thinking)
                for piece in as_dicts(thinking):
                    self.reply.reasoning(as_str(piece.get("text")) or "")
            else:
                block = decode_part(part, "$")
                if isinstance(block, dict):
                    self.reply.block(None, block)

    def _tell_reasoning(self, delta: dict[str, Any]) -> None:
        details = as_dicts(delta.get("reasoning_details"))
        has_text = False
        for n, detail in enumerate(details):
            has_text = self._tell_detail(detail, n) or has_text
        plain = as_str(delta.get("reasoning_content")) or as_str(delta.get("reasoning"))
        if plain and not has_text:
            self.reply.reasoning(plain)

    def _tell_detail(self, raw: dict[str, Any], n: int) -> bool:
        """Tell one of `reasoning_details`; return whether it held text.

        Text whose format is signed by its maker is a block from the start; other text is plain,
        unless a signature turns up for it.
        """
        kind = as_str(raw.get("type")) or "reasoning.text"
        index = raw.get("index")
        # Pieces of one entry share index and type; in a whole message every entry is its own.
        key = (index if isinstance(index, (int, str)) and not self._is_whole else n, kind)
        detail = self._details.setdefault(key, _Detail(key))
        return detail.tell(raw, kind, self.reply)

    def _tell_executed(self, tool: dict[str, Any]) -> None:
        """Tell a tool that Groq ran; streams repeat it whole, first without its output."""
        key = tool.get("index")
        key = key if isinstance(key, (int, str)) else len(self._tools_shown)
        id = str(key)
        name = {"search": "web_search", "python": "code_interpreter"}
        kind = as_str(tool.get("type")) or ""
        if key not in self._tools_shown:
            text = tool.get("arguments")
            args = read_arguments(text)
            if args is None:
                args = {"code" if kind == "python" else "arguments": text}
            self.reply.block(
                None,
                {"type": "server_tool_call", "id": id, "name": name.get(kind, kind), "args": args},
            )
            self._tools_shown[key] = False
        output = tool.get("output")
        if output and not self._tools_shown[key]:
            self._tools_shown[key] = True
            block: dict[str, Any] = {
                "type": "server_tool_result", "tool_call_id": id, "status": "success",
                "output": output,
            }  # fmt: skip
            if results := tool.get("search_results"):
                block["extras"] = {"search_results": results}
            self.reply.block(None, block)

    def _tell_audio(self, audio: Any) -> None:
        given = {k: v for k, v in as_dict(audio).items() if v}
        if not given:
            return
        block: dict[str, Any] = {}
        if not self.reply.has_block("audio"):
            block = {"type": "audio"}
            if id := as_str(given.get("id")):
                block["id"] = id
        if data := as_str(given.get("data")):
            block["base64"] = data
            if block.get("type"):
                block["mime_type"] = sniff(data) or "audio/wav"
        extras = {k: given[k] for k in ("transcript", "expires_at") if k in given}
        if extras:
            block["extras"] = extras
        if block:
            self.reply.block("audio", block)

    def _tell_call(self, raw: dict[str, Any], n: int) -> None:
        function, custom = as_dict(raw.get("function")), as_dict(raw.get("custom"))
        key = raw.get("index")
        key = key if isinstance(key, (int, str)) else None
        extras: dict[str, Any] = {}
        if content := raw.get("extra_content"):
            extras["extra_content"] = content
        rest = {k: v for k, v in raw.items() if k not in _CALL and v is not None}
        if rest:
            extras[API] = rest
        id, name = as_str(raw.get("id")), as_str(function.get("name"))
        args: Any = function.get("arguments")
        if not name and (as_str(custom.get("name")) or as_str(custom.get("input"))):
            name, args = as_str(custom.get("name")), None
            extras[API] = {**rest, **({"type": "custom"} if name else {})}
            place = key if key is not None else id
            if isinstance(text := custom.get("input"), str):
                self._customs.setdefault(place, []).append(text)
            key = place
        if key is None and id is None and name:
            key = ("whole", len(self.reply.calls))  # a whole call: nothing says what it continues
        if id or name or args is not None or extras:
            self.reply.call(key, id=id, name=name, args=args, extras=extras or None)


class _Detail:
    """One entry of `reasoning_details`, as it streams."""

    def __init__(self, key: Any) -> None:
        self.key = ("detail", *key)
        self.text: list[str] = []
        self.sent: dict[str, Any] = {}
        self.is_block = False

    def tell(self, raw: dict[str, Any], kind: str, reply: Reply) -> bool:
        """Tell one piece; return whether it held text."""
        text = as_str(raw.get("text")) or as_str(raw.get("summary")) or ""
        form = as_str(raw.get("format")) or ""
        fields = {
            k: v for k, v in raw.items()
            if k not in ("text", "summary") and v is not None and self.sent.get(k) != v
        }  # fmt: skip
        signed = any(as_str(raw.get(k)) for k in ("signature", "data"))
        if not self.is_block and text and not form.startswith(SIGNED_FORMATS):
            self.text.append(text)
            reply.reasoning(text)
            if not signed:
                self.sent.update(fields)
                return True
        if not self.is_block:
            self.is_block = True
            whole = "".join(self.text) if self.text else text
            start = {"type": kind, **self.sent, **fields}
            reply.block(
                self.key,
                {"type": "reasoning", "reasoning": whole, "extras": {"reasoning_details": start}},
            )
            self.sent = {k: v for k, v in start.items() if k not in ("signature", "data")}
            return bool(text)
        block: dict[str, Any] = {"reasoning": text} if text else {}
        if fields:
            block["extras"] = {"reasoning_details": fields}
            self.sent.update({k: v for k, v in fields.items() if k not in ("signature", "data")})
        if block:
            reply.block(self.key, block)
        return bool(text)


def _citation(raw: dict[str, Any]) -> dict[str, Any]:
    """Return an annotation: a citation where it is one, else as it came."""
    url = raw.get("url_citation")
    if raw.get("type") != "url_citation" or not isinstance(url, dict):
        return {"type": "non_standard_annotation", "value": raw}
    citation: dict[str, Any] = {"type": "citation"}
    for ours, kind in (("url", str), ("title", str), ("start_index", int), ("end_index", int)):
        if isinstance(value := url.get(ours), kind):
            citation[ours] = value
    if isinstance(quote := url.get("content"), str):
        citation["cited_text"] = quote
    rest = {k: v for k, v in url.items() if k not in citation and k != "content" and v is not None}
    if rest:
        citation["extras"] = rest
    return citation
