"""What a scripted server answers: a status, headers and steps.

A step is bytes to send, a number of seconds to wait, or one of the acts below. The builders
`json`, `text`, `events` and `message` make replies as providers send them; the options of `events`
are the faults of real streams.
"""

import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any, Literal, Self
from uuid import uuid4

import msgspec

from dragoman.chat_models.framing.aws import aws_frame

if TYPE_CHECKING:
    from dragoman.messages import AIMessage, AIMessageChunk

__all__ = ["Act", "Reply", "Step", "frame_events", "reply_chunks"]


class Act(Enum):
    """What a server can do beside sending bytes and waiting.

    `RESET` breaks the connection with a TCP reset, `CLOSE` closes it without finishing the reply,
    `HANG` sends nothing until the client goes away.
    """

    RESET = "reset"
    CLOSE = "close"
    HANG = "hang"


Step = bytes | float | Act
End = Literal["clean", "close", "reset", "hang"]
_ACTS: dict[str, list[Step]] = {
    "clean": [],
    "close": [Act.CLOSE],
    # A reset takes with it what the client has not read yet: let it read first.
    "reset": [0.05, Act.RESET],
    "hang": [Act.HANG],
}
_STREAM_TYPES = {
    "sse": "text/event-stream; charset=utf-8",
    "ndjson": "application/x-ndjson",
    "aws": "application/vnd.amazon.eventstream",
}
_FRAMING_OF_API = {"ollama": "ndjson", "bedrock_converse": "aws"}


@dataclass(slots=True)
class Reply:
    """One answer of a scripted server.

    Attributes:
        status: The HTTP status; 0 sends no head at all, only the steps.
        headers: Headers beside those of the body's length.
        steps: What happens, in order.
        body: How the body ends: `length` (Content-Length), `chunked`, or `close` (end of connection).
        gzip: Whether the body is compressed, each step flushed.
        keep_alive: Whether the connection stays open afterwards. False closes it without saying so
            before: the client meets a dead connection at its next call.
    """

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict[str, str])
    steps: list[Step] = field(default_factory=list[Step])
    body: Literal["length", "chunked", "close"] = "length"
    gzip: bool = False
    keep_alive: bool = True

    @classmethod
    def json(
        cls,
        value: Any,
        *,
        status: int = 200,
        headers: Mapping[str, str] | None = None,
        gzip: bool = False,
    ) -> Self:
        """Return a reply with a JSON body."""
        head = {"content-type": "application/json", **(headers or {})}
        return cls(status, head, [msgspec.json.encode(value)], gzip=gzip)

    @classmethod
    def text(cls, text: str, *, status: int = 200, content_type: str = "text/html") -> Self:
        """Return a reply with a text body, such as a proxy's error page."""
        return cls(status, {"content-type": content_type}, [text.encode()])

    @classmethod
    def fault(cls, act: Act) -> Self:
        """Return a reply that consists of one act, before any byte of a head."""
        return cls(0, steps=[act])

    @classmethod
    def events(
        cls,
        events: Sequence[tuple[str | None, str | bytes]],
        *,
        framing: Literal["sse", "ndjson", "aws"] = "sse",
        end: End = "clean",
        only: int | None = None,
        pings: int = 0,
        ping: bytes = b": ping\n\n",
        ping_s: float = 0.05,
        wait_s: float = 0.0,
        piece_bytes: int | None = None,
        gzip: bool = False,
        status: int = 200,
        content_type: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Self:
        """Return a streamed reply.

        Args:
            events: `(name or None, data)` pairs, as a codec's stream encoder gives them.
            framing: How they are written.
            end: How the stream ends after its last event.
            only: Send only so many events before `end`.
            pings: Send so many keep-alives before `end`.
            ping: What a keep-alive looks like.
            ping_s: Seconds before each of them.
            wait_s: Seconds to wait before each event.
            piece_bytes: Send the bytes in pieces of this size (half frames; 1 is a slow drip).
            gzip: Compress the stream.
            status: The HTTP status.
            content_type: In place of the framing's own.
            headers: More headers.
        """
        frames = frame_events(events if only is None else events[:only], framing)
        steps: list[Step] = []
        for frame in frames:
            if wait_s:
                steps.append(wait_s)
            size = piece_bytes or len(frame) or 1
            steps += [frame[at : at + size] for at in range(0, len(frame), size)]
        for _ in range(pings):
            steps += [ping_s, ping]
        head = {"content-type": content_type or _STREAM_TYPES[framing], **(headers or {})}
        return cls(status, head, steps + _ACTS[end], body="chunked", gzip=gzip)

    @classmethod
    def message(
        cls,
        message: "AIMessage",
        *,
        api: str = "openai_chat",
        provider: str | None = None,
        stream: bool = False,
        **options: Any,
    ) -> Self:
        """Return `message` as a provider would send it; `options` are those of `events`.

        A streamed text is cut after every word, a call's arguments after every eight characters. A
        message without an id gets one of its own, as from a provider.
        """
        from dragoman.codecs import get_codec

        if message.id is None:
            # Two replies with one id would be one message to `add_messages`, and so to an agent.
            message = message.model_copy(update={"id": f"msg_{uuid4().hex[:24]}"})
        codec = get_codec(api, provider=provider)
        if not stream:
            return cls.json(codec.encode_response(message))
        writer = codec.stream_encoder()
        events = [event for chunk in reply_chunks(message) for event in writer.feed(chunk)]
        options.setdefault("framing", _FRAMING_OF_API.get(api, "sse"))
        return cls.events([*events, *writer.close()], **options)

    def wire(self) -> Iterator[Step]:
        """Yield the steps with the head, the compression and the body's framing put in."""
        steps = list(_zipped(self.steps)) if self.gzip else self.steps
        headers = dict(self.headers)
        if self.gzip:
            headers["content-encoding"] = "gzip"
        if self.body == "chunked":
            headers["transfer-encoding"] = "chunked"
        elif self.body == "length":
            headers["content-length"] = str(sum(len(s) for s in steps if isinstance(s, bytes)))
        if self.status:
            lines = [f"HTTP/1.1 {self.status} Scripted", *(f"{k}: {v}" for k, v in headers.items())]
            yield ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")
        for step in steps:
            if self.status and self.body == "chunked" and isinstance(step, bytes):
                if step:
                    yield b"%x\r\n%s\r\n" % (len(step), step)
            else:
                yield step
        if self.status and self.body == "chunked":
            yield b"0\r\n\r\n"
        if not self.status or self.body == "close" or not self.keep_alive:
            yield Act.CLOSE


def frame_events(
    events: Sequence[tuple[str | None, str | bytes]],
    framing: Literal["sse", "ndjson", "aws"] = "sse",
) -> list[bytes]:
    """Return each event as the bytes of its framing."""
    out: list[bytes] = []
    for name, data in events:
        raw = data.encode() if isinstance(data, str) else data
        if framing == "ndjson":
            out.append(raw + b"\n")
        elif framing == "aws":
            kind = "exception" if (name or "").endswith("Exception") else "event"
            out.append(aws_frame(name or "", raw, kind=kind))
        else:
            head = b"" if name is None else b"event: " + name.encode() + b"\n"
            lines = b"".join(b"data: " + line + b"\n" for line in raw.split(b"\n"))
            out.append(head + lines + b"\n")
    return out


def _zipped(steps: Sequence[Step]) -> Iterator[Step]:
    packer = zlib.compressobj(wbits=31)
    for step in steps:
        yield (
            packer.compress(step) + packer.flush(zlib.Z_SYNC_FLUSH)
            if isinstance(step, bytes)
            else step
        )
    if not steps or not isinstance(steps[-1], Act):
        yield packer.flush()


def reply_chunks(message: "AIMessage") -> "Iterator[AIMessageChunk]":
    """Yield the chunks a model would have streamed for `message`."""
    from dragoman.messages import AIMessageChunk
    from dragoman.messages.tool import tool_call_chunk

    if isinstance(message.content, str):
        words = message.content.split(" ")
        for at, word in enumerate(words):
            if word or len(words) > 1:
                yield AIMessageChunk(word if at == 0 else " " + word, id=message.id)
        for index, call in enumerate(message.tool_calls):
            yield AIMessageChunk(
                "",
                id=message.id,
                tool_call_chunks=[
                    tool_call_chunk(name=call["name"], args="", id=call["id"], index=index)
                ],
            )
            args = msgspec.json.encode(call["args"]).decode()
            for at in range(0, len(args), 8):
                piece = tool_call_chunk(name=None, args=args[at : at + 8], id=None, index=index)
                yield AIMessageChunk("", id=message.id, tool_call_chunks=[piece])
    else:
        yield AIMessageChunk(
            message.content,
            id=message.id,
            tool_call_chunks=[
                tool_call_chunk(
                    name=c["name"],
                    args=msgspec.json.encode(c["args"]).decode(),
                    id=c["id"],
                    index=i,
                )
                for i, c in enumerate(message.tool_calls)
            ],
        )
    yield AIMessageChunk(
        "",
        id=message.id,
        response_metadata=dict(message.response_metadata),
        usage_metadata=message.usage_metadata,
        chunk_position="last",
    )
