"""OpenAI Chat Completions, and everybody who speaks it with an accent (`tables.DIALECTS`)."""

from typing import Any

from dragoman.codecs.contract import Change, ChatRequest
from dragoman.codecs.openai_chat.convert_blocks import (
    convert_to_openai_data_block,
    convert_to_openai_image_block,
)
from dragoman.codecs.openai_chat.convert_messages import convert_to_openai_messages
from dragoman.codecs.openai_chat.decode import decode_request
from dragoman.codecs.openai_chat.encode import encode_request
from dragoman.codecs.openai_chat.server import StreamEncoder, encode_response
from dragoman.codecs.openai_chat.stream import StreamDecoder, decode_response
from dragoman.codecs.openai_chat.tables import Dialect, dialect_of
from dragoman.codecs.wire_errors import wire_error
from dragoman.errors import ModelError
from dragoman.messages import AIMessage

__all__ = [
    "OpenAIChatCodec",
    "convert_to_openai_data_block",
    "convert_to_openai_image_block",
    "convert_to_openai_messages",
    "make_codec",
]


class OpenAIChatCodec:
    """The codec of Chat Completions in one provider's dialect (see `contract.Codec`)."""

    api = "openai_chat"

    def __init__(self, provider: str | None = None) -> None:
        self.dialect: Dialect = dialect_of(provider)
        self.provider: str = self.dialect.provider

    def decode_request(self, body: dict[str, Any]) -> ChatRequest:
        """Return the request in canonical form."""
        return decode_request(body, self.dialect)

    def encode_request(
        self, request: ChatRequest, changes: list[Change] | None = None
    ) -> dict[str, Any]:
        """Return the body to send."""
        return encode_request(request, self.dialect, changes)

    def decode_response(self, body: dict[str, Any]) -> AIMessage:
        """Return the reply."""
        return decode_response(body, self.dialect)

    def encode_response(
        self, message: AIMessage, changes: list[Change] | None = None
    ) -> dict[str, Any]:
        """Return the body a server would answer with."""
        return encode_response(message, self.dialect, changes)

    def stream_decoder(self) -> StreamDecoder:
        """Return a machine for one stream."""
        return StreamDecoder(self.dialect)

    def stream_encoder(self) -> StreamEncoder:
        """Return a machine that writes one stream."""
        return StreamEncoder(self.dialect)

    def decode_error(self, status: int | None, body: Any) -> ModelError:
        """Return the error of a failed call."""
        return wire_error(status, body, provider=self.provider)


def make_codec(provider: str | None = None) -> OpenAIChatCodec:
    """Return the codec in the dialect of `provider`."""
    return OpenAIChatCodec(provider)
