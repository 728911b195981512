"""Provider JSON to and from canonical messages.

`get_codec(api, provider=None)` gives the codec of one wire format in one provider's dialect. Each
format is a folder with the same file names: `wire.py` the provider's shapes, `encode.py`,
`decode.py`, `stream.py`, `tables.py` the rows that tell dialects apart. No codec imports another.
"""

from importlib import import_module

from dragoman.codecs.contract import Change, ChatRequest, Codec, Converted
from dragoman.errors import DecodeError, short

__all__ = ["SUPPORTED", "Change", "ChatRequest", "Codec", "Converted", "get_codec"]

SUPPORTED = (
    "openai_chat",
    "openai_responses",
    "anthropic",
    "gemini",
    "bedrock_converse",
    "ollama",
    "mistral",
    "cohere",
)


def get_codec(api: str, provider: str | None = None) -> Codec:
    """Return the codec for a wire format.

    Args:
        api: One of `SUPPORTED`.
        provider: Whose dialect to speak; None for the format's own provider.

    Raises:
        DecodeError: If `api` is not supported.
    """
    if api not in SUPPORTED:
        message = f"no codec named {short(api)}"
        raise DecodeError(message, hint=f"one of {', '.join(SUPPORTED)}")
    return import_module(f"dragoman.codecs.{api}").make_codec(provider)
