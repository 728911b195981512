"""What every codec is: the words that codecs, models and users share.

A codec turns one provider's JSON into canonical messages and back. It is pure: no I/O, no clock,
no environment; it never changes its input and never copies payload strings. It is total: on any
JSON it returns, or raises a `DragomanError` with a path.
"""

from typing import Any, Literal, Protocol

import msgspec

from dragoman.errors import ModelError
from dragoman.messages import AIMessage, AIMessageChunk, BaseMessage

__all__ = ["Change", "ChatRequest", "Codec", "Converted", "StreamDecoder", "StreamEncoder"]


class Change(msgspec.Struct, frozen=True):
    """One thing a conversion or repair did that the caller may want to know.

    Attributes:
        path: Where, in the manner of `$[3].content[1]` (of the input).
        code: A short stable word, such as `dropped_reasoning`.
        lossy: Whether something a model or a person would have read is gone.
        message: One sentence for people.
    """

    path: str
    code: str
    lossy: bool
    message: str


class ChatRequest(msgspec.Struct, kw_only=True):
    """A chat request in canonical form.

    Attributes:
        model: The provider's name of the model; None where the wire has it elsewhere (the URL).
        messages: The history, system messages included, in order.
        tools: `{name, description, parameters, strict}` dicts, or a provider's own dicts verbatim.
        tool_choice: `auto`, `none`, `any`, a tool's name, or a provider's own dict.
        response_format: A provider's own dict, or `{"type": "json_schema", ...}`.
        max_tokens: The most tokens the reply may have.
        temperature: As the provider defines it.
        top_p: As the provider defines it.
        stop: Strings that end the reply.
        stream: Whether the reply is to be streamed; None where the wire does not say.
        extra: Every other parameter, verbatim, so that nothing of a decoded request is lost.
    """

    model: str | None = None
    messages: list[BaseMessage] = msgspec.field(default_factory=list[BaseMessage])
    tools: list[dict[str, Any]] = msgspec.field(default_factory=list[dict[str, Any]])
    tool_choice: Literal["auto", "none", "any"] | str | dict[str, Any] | None = None
    response_format: dict[str, Any] | None = None
    max_tokens: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    stop: list[str] | None = None
    stream: bool | None = None
    extra: dict[str, Any] = msgspec.field(default_factory=dict[str, Any])


class Converted(msgspec.Struct, frozen=True):
    """A converted or repaired body, and what was changed on the way."""

    body: dict[str, Any]
    changes: list[Change]


class StreamDecoder(Protocol):
    """A machine that turns the events of one stream into chunks; it does no I/O.

    Attributes:
        done: Whether the stream's own terminal marker was seen.
    """

    done: bool

    def feed(self, event: str | None, data: str | bytes | dict[str, Any]) -> list[AIMessageChunk]:
        """Return the chunks that one event completes; `data` is JSON text or the parsed dict."""
        ...

    def close(self) -> list[AIMessageChunk]:
        """Return what was held back; the last chunk has `chunk_position="last"`."""
        ...


class StreamEncoder(Protocol):
    """A machine that turns chunks into the events a provider would send."""

    def feed(self, chunk: AIMessageChunk) -> list[tuple[str | None, str]]:
        """Return `(event name or None, data)` pairs."""
        ...

    def close(self) -> list[tuple[str | None, str]]:
        """Return the closing events."""
        ...


class Codec(Protocol):
    """One wire format, spoken in one provider's dialect."""

    api: str
    provider: str

    def decode_request(self, body: dict[str, Any]) -> ChatRequest:
        """Return the request in canonical form; nothing of it is lost."""
        ...

    def encode_request(
        self, request: ChatRequest, changes: list[Change] | None = None
    ) -> dict[str, Any]:
        """Return the body to send; `changes` receives what could not be carried as it was."""
        ...

    def decode_response(self, body: dict[str, Any]) -> AIMessage:
        """Return the reply; an error inside a 200 is raised."""
        ...

    def encode_response(
        self, message: AIMessage, changes: list[Change] | None = None
    ) -> dict[str, Any]:
        """Return the body a server would answer with."""
        ...

    def stream_decoder(self) -> StreamDecoder:
        """Return a new machine for one stream."""
        ...

    def stream_encoder(self) -> StreamEncoder:
        """Return a new machine for one stream, for the server side."""
        ...

    def decode_error(self, status: int | None, body: Any) -> ModelError:
        """Return, not raise, the error a provider answered with."""
        ...
