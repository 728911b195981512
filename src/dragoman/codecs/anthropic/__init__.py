"""The Anthropic Messages wire: requests, replies, streams and errors, both ways."""

from typing import Any

from dragoman.codecs.anthropic.decode import API, decode_request
from dragoman.codecs.anthropic.encode import encode_request
from dragoman.codecs.anthropic.serve import StreamEncoder, encode_response
from dragoman.codecs.anthropic.stream import StreamDecoder, decode_response
from dragoman.codecs.anthropic.tables import DIALECTS, Dialect
from dragoman.codecs.contract import Change, ChatRequest
from dragoman.codecs.wire_errors import wire_error
from dragoman.errors import ModelError
from dragoman.messages import AIMessage

__all__ = ["AnthropicCodec", "make_codec"]


def make_codec(provider: str | None = None) -> "AnthropicCodec":
    """Return the codec in the dialect of `provider`; None speaks as Anthropic does.

    >>> make_codec().decode_request({"messages": [{"role": "user", "content": "hi"}]}).messages
    [HumanMessage(content='hi', additional_kwargs={}, response_metadata={})]
    """
    return AnthropicCodec(provider)


class AnthropicCodec:
    """One dialect of the Anthropic wire; it has no state."""

    api = API

    def __init__(self, provider: str | None = None) -> None:
        self.provider: str = provider or API
        self._dialect = DIALECTS.get(self.provider, Dialect())

    def decode_request(self, body: dict[str, Any]) -> ChatRequest:
        """Return a request body in canonical form."""
        return decode_request(body, self.provider)

    def encode_request(
        self, request: ChatRequest, changes: list[Change] | None = None
    ) -> dict[str, Any]:
        """Return the body for a request; what is left out is reported in `changes`."""
        return encode_request(request, self.provider, self._dialect, changes)

    def decode_response(self, body: dict[str, Any]) -> AIMessage:
        """Return a reply as a message."""
        return decode_response(body, self.provider, self._dialect)

    def encode_response(
        self, message: AIMessage, changes: list[Change] | None = None
    ) -> dict[str, Any]:
        """Return the body Anthropic would answer with, for servers that speak this wire."""
        return encode_response(message, self.provider, self._dialect, changes)

    def stream_decoder(self) -> StreamDecoder:
        """Return a machine that turns events into chunks."""
        return StreamDecoder(self.provider, self._dialect)

    def stream_encoder(self) -> StreamEncoder:
        """Return a machine that turns chunks into events."""
        return StreamEncoder(self.provider, self._dialect)

    def decode_error(self, status: int | None, body: Any) -> ModelError:
        """Return the error an answer with an error status tells of."""
        request = body.get("request_id") if isinstance(body, dict) else None
        request = request if isinstance(request, str) else None
        return wire_error(status, body, provider=self.provider, request_id=request)
