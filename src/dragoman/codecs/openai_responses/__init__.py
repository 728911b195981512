"""OpenAI's Responses API (`POST /v1/responses`), as OpenAI, Azure, DeepSeek, Bedrock and others speak it.

A reply is a list of items. What a message cannot say of an item travels so:

- a reply of plain text, calls and unsigned reasoning keeps `content` a string; the ids, phases and the
  order of its items stand in `additional_kwargs["openai_responses"]["items"]`;
- encrypted reasoning, citations, refusals, server tools make `content` a list in wire order, with ids in
  `id` and the rest in `extras`; items of no standard kind are `non_standard` blocks.

Reasoning and the items it led to travel together: where one was taken out of the history, the others
lose their server ids, not their text.
"""

from typing import Any

from dragoman.codecs.contract import Change, ChatRequest, StreamDecoder, StreamEncoder
from dragoman.codecs.openai_responses.decode import decode_request, decode_response
from dragoman.codecs.openai_responses.encode import encode_request
from dragoman.codecs.openai_responses.server import ResponseWriter, encode_response
from dragoman.codecs.openai_responses.stream import ResponseReader
from dragoman.codecs.openai_responses.tables import dialect_of
from dragoman.codecs.wire_errors import wire_error
from dragoman.errors import ModelError
from dragoman.messages import AIMessage

__all__ = ["ResponsesCodec", "make_codec"]


class ResponsesCodec:
    """The codec of this format in one provider's dialect; see `Codec`."""

    api = "openai_responses"

    def __init__(self, provider: str | None = None) -> None:
        self._dialect = dialect_of(provider)
        self.provider: str = self._dialect.provider

    def decode_request(self, body: dict[str, Any]) -> ChatRequest:
        """Return the request in canonical form; `instructions` is the first system message."""
        return decode_request(body, self._dialect)

    def encode_request(
        self, request: ChatRequest, changes: list[Change] | None = None
    ) -> dict[str, Any]:
        """Return the body of a request."""
        return encode_request(request, self._dialect, changes)

    def decode_response(self, body: dict[str, Any]) -> AIMessage:
        """Return the reply; raises `ModelError` with `.partial` if the response failed."""
        return decode_response(body, self._dialect)

    def encode_response(
        self, message: AIMessage, changes: list[Change] | None = None
    ) -> dict[str, Any]:
        """Return a `response` object, as a server would answer."""
        return encode_response(message, self._dialect, changes)

    def stream_decoder(self) -> StreamDecoder:
        """Return a machine for one stream."""
        return ResponseReader(self._dialect)

    def stream_encoder(self) -> StreamEncoder:
        """Return a machine that tells one reply as events, as a server would."""
        return ResponseWriter(self._dialect)

    def decode_error(self, status: int | None, body: Any) -> ModelError:
        """Return the error a provider told of."""
        return wire_error(status, body, provider=self.provider)


def make_codec(provider: str | None) -> ResponsesCodec:
    """Return the codec for a provider; None for OpenAI itself."""
    return ResponsesCodec(provider)
