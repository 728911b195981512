"""Mistral's chat completions (`POST /v1/chat/completions`).

Near to OpenAI's and different in what breaks: call ids of nine letters and digits, `any` for a forced
call, content as a list of chunks with `thinking` among them (within one stream strings and lists),
documents by address. Thinking without a signature is plain reasoning.
"""

from typing import Any

from dragoman.codecs.contract import Change, ChatRequest, StreamDecoder
from dragoman.codecs.mistral.decode import decode_request, decode_response
from dragoman.codecs.mistral.encode import encode_request
from dragoman.codecs.mistral.server import StreamEncoder, encode_response
from dragoman.codecs.mistral.stream import ReplyReader
from dragoman.codecs.mistral.tables import PROVIDER
from dragoman.codecs.wire_errors import wire_error
from dragoman.errors import ModelError
from dragoman.messages import AIMessage

__all__ = ["MistralCodec", "make_codec"]


class MistralCodec:
    """The codec of this format; see `Codec`."""

    api = "mistral"

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


def make_codec(provider: str | None) -> MistralCodec:
    """Return the codec; `provider` is the name that its messages bear."""
    return MistralCodec(provider)
