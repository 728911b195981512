"""Ollama's own `/api/chat`. Its OpenAI-compatible door is `openai_chat` with provider `ollama`."""

from typing import Any

from dragoman.codecs.contract import Change, ChatRequest
from dragoman.codecs.ollama.decode import decode_request
from dragoman.codecs.ollama.encode import encode_request
from dragoman.codecs.ollama.server import StreamEncoder, encode_response
from dragoman.codecs.ollama.stream import StreamDecoder, decode_response
from dragoman.codecs.wire_errors import wire_error
from dragoman.errors import ModelError
from dragoman.messages import AIMessage

__all__ = ["OllamaCodec", "make_codec"]


class OllamaCodec:
    """The codec of `/api/chat` (see `contract.Codec`)."""

    api = "ollama"

    def __init__(self, provider: str | None = None) -> None:
        self.provider: str = provider or "ollama"

    def decode_request(self, body: dict[str, Any]) -> ChatRequest:
        """Return the request in canonical form."""
        return decode_request(body, self.provider)

    def encode_request(
        self, request: ChatRequest, changes: list[Change] | None = None
    ) -> dict[str, Any]:
        """Return the body to send."""
        return encode_request(request, self.provider, changes)

    def decode_response(self, body: dict[str, Any]) -> AIMessage:
        """Return the reply."""
        return decode_response(body, self.provider)

    def encode_response(
        self, message: AIMessage, changes: list[Change] | None = None
    ) -> dict[str, Any]:
        """Return the body a server would answer with."""
        return encode_response(message, changes)

    def stream_decoder(self) -> StreamDecoder:
        """Return a machine for one stream."""
        return StreamDecoder(self.provider)

    def stream_encoder(self) -> StreamEncoder:
        """Return a machine that writes one stream."""
        return StreamEncoder(self.provider)

    def decode_error(self, status: int | None, body: Any) -> ModelError:
        """Return the error of a failed call."""
        return wire_error(status, body, provider=self.provider)


def make_codec(provider: str | None = None) -> OllamaCodec:
    """Return the codec."""
    return OllamaCodec(provider)
