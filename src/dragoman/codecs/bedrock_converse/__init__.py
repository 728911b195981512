"""The Amazon Bedrock Converse wire: requests, replies, streams and errors, both ways."""

from typing import Any

from dragoman.codecs.bedrock_converse.decode import API, decode_request
from dragoman.codecs.bedrock_converse.encode import encode_request
from dragoman.codecs.bedrock_converse.serve import StreamEncoder, encode_response
from dragoman.codecs.bedrock_converse.stream import StreamDecoder, decode_response
from dragoman.codecs.contract import Change, ChatRequest
from dragoman.codecs.wire_errors import wire_error
from dragoman.errors import ModelError
from dragoman.messages import AIMessage

__all__ = ["BedrockConverseCodec", "make_codec"]


def make_codec(provider: str | None = None) -> "BedrockConverseCodec":
    """Return the codec; `provider` is the name that replies carry.

    >>> body = {"messages": [{"role": "user", "content": [{"text": "hi"}]}]}
    >>> make_codec().decode_request(body).messages
    [HumanMessage(content='hi', additional_kwargs={}, response_metadata={})]
    """
    return BedrockConverseCodec(provider)


class BedrockConverseCodec:
    """The Converse wire; it has no state."""

    api = API

    def __init__(self, provider: str | None = None) -> None:
        self.provider: str = provider or API

    def decode_request(self, body: dict[str, Any]) -> ChatRequest:
        """Return a request body in canonical form."""
        return decode_request(body, self.provider)

    def encode_request(
        self, request: ChatRequest, changes: list[Change] | None = None
    ) -> dict[str, Any]:
        """Return the body for a request; what is left out is reported in `changes`."""
        return encode_request(request, self.provider, changes)

    def decode_response(self, body: dict[str, Any]) -> AIMessage:
        """Return a reply as a message."""
        return decode_response(body, self.provider)

    def encode_response(
        self, message: AIMessage, changes: list[Change] | None = None
    ) -> dict[str, Any]:
        """Return the body Bedrock would answer with, for servers that speak this wire."""
        return encode_response(message, self.provider, changes)

    def stream_decoder(self) -> StreamDecoder:
        """Return a machine that turns events into chunks."""
        return StreamDecoder(self.provider)

    def stream_encoder(self) -> StreamEncoder:
        """Return a machine that turns chunks into events."""
        return StreamEncoder(self.provider)

    def decode_error(self, status: int | None, body: Any) -> ModelError:
        """Return the error an answer with an error status tells of."""
        return wire_error(status, body, provider=self.provider)
