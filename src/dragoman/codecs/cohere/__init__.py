"""Cohere's chat (`POST /v2/chat`). Experimental: its streams were never recorded.

`tool_plan` (what the model says before it calls a tool) and `thinking` are reasoning and go back to
where they came from. Token counts are `usage.tokens`, not the billed units.
"""

from typing import Any

from dragoman.codecs.cohere.decode import decode_request, decode_response
from dragoman.codecs.cohere.encode import encode_request
from dragoman.codecs.cohere.server import StreamEncoder, encode_response
from dragoman.codecs.cohere.stream import ReplyReader
from dragoman.codecs.cohere.tables import PROVIDER
from dragoman.codecs.contract import Change, ChatRequest, StreamDecoder
from dragoman.codecs.wire_errors import wire_error
from dragoman.errors import ModelError
from dragoman.messages import AIMessage

__all__ = ["CohereCodec", "make_codec"]


class CohereCodec:
    """The codec of this format; see `Codec`."""

    api = "cohere"

    def __init__(self, provider: str | None = None) -> None:
        self.provider: str = provider or PROVIDER

    def decode_request(self, body: dict[str, Any]) -> ChatRequest:
        """Return the request in canonical form."""
        return decode_request(body, self.provider)

    def encode_request(
        self, request: ChatRequest, changes: list[Change] | None = None
    ) -> dict[str, Any]:
        """Return the body of a request."""
        return encode_request(request, self.provider, changes)

    def decode_response(self, body: dict[str, Any]) -> AIMessage:
        """Return the reply."""
        return decode_response(body, self.provider)

    def encode_response(
        self, message: AIMessage, changes: list[Change] | None = None
    ) -> dict[str, Any]:
        """Return the body a server would answer with."""
        return encode_response(message, self.provider, changes)

    def stream_decoder(self) -> StreamDecoder:
        """Return a machine for one stream."""
        return ReplyReader(self.provider)

    def stream_encoder(self) -> StreamEncoder:
        """Return a machine that tells one reply as events, as a server would."""
        return StreamEncoder(self.provider)

    def decode_error(self, status: int | None, body: Any) -> ModelError:
        """Return the error a provider told of."""
        return wire_error(status, body, provider=self.provider)


def make_codec(provider: str | None) -> CohereCodec:
    """Return the codec; `provider` is the name that its messages bear."""
    return CohereCodec(provider)
