"""Where a block came from, and to whom it may go back.

What a codec reads and no standard block can say travels as
`{"type": "non_standard", "value": <the raw block>, "api": <the codec's name>}` and goes back
untouched to the same wire only: `response_metadata["api"]` tells on which wire a reply came, because
one provider may speak several (OpenAI has two). What a provider signed (signatures, encrypted reasoning) goes back
to the same signer only: `response_metadata["model_provider"]` tells whose it is; a message without
that word was made by hand, and its author knows to whom he sends it.
"""

from typing import Any

from dragoman.messages import BaseMessage

__all__ = ["foreign_value", "is_from", "non_standard", "provider_of", "signer_of", "wire_of"]

# Providers that verify each other's signatures. Every provider not listed signs for itself.
# Claude on Bedrock and Vertex: https://docs.anthropic.com/en/docs/build-with-claude/extended-thinking
_SIGNERS = {
    "anthropic": "anthropic",
    "anthropic_bedrock": "anthropic",
    "bedrock": "anthropic",
    "bedrock_converse": "anthropic",
    "google_anthropic_vertex": "anthropic",
    "gemini": "google",
    "google": "google",
    "google-vertex": "google",
    "google_genai": "google",
    "google_vertexai": "google",
    "azure": "openai",
    "azure_openai": "openai",
    "openai": "openai",
    "openai-codex": "openai",
    "openai_responses": "openai",
}


def non_standard(value: dict[str, Any], api: str) -> dict[str, Any]:
    """Return the block that carries `value`, a raw block of the wire `api`."""
    return {"type": "non_standard", "value": value, "api": api}


def foreign_value(block: dict[str, Any], api: str) -> dict[str, Any] | None:
    """Return the raw value of a `non_standard` block if it may be sent on the wire `api`.

    A block marked with another wire's name gives None; an unmarked one was written by the user,
    for whatever wire he uses.
    """
    value = block.get("value")
    if not isinstance(value, dict) or block.get("api", api) != api:
        return None
    return value


def provider_of(message: BaseMessage) -> str | None:
    """Return the provider that made the message, or None if nothing says."""
    provider = message.response_metadata.get("model_provider")
    return provider if isinstance(provider, str) and provider else None


def wire_of(message: BaseMessage) -> str | None:
    """Return the format (`openai_chat` ...) in which the message came, or None if nothing says."""
    api = message.response_metadata.get("api")
    return api if isinstance(api, str) and api else None


def signer_of(provider: str) -> str:
    """Return whose signatures a provider makes and accepts."""
    return _SIGNERS.get(provider, provider)


def is_from(message: BaseMessage, provider: str, api: str | None = None) -> bool:
    """Return whether what is signed in `message` may be sent to `provider`.

    Args:
        message: The message.
        provider: The provider.
        api: The wire it would be sent on: what another wire of this provider gave is written
            otherwise and stays away (but for Claude's, whose two wires say the same things). None
            to ask for the provider alone.
    """
    made_by = provider_of(message)
    if made_by is not None and signer_of(made_by) != signer_of(provider):
        return False
    wire = None if api is None else wire_of(message)
    return wire is None or wire == api or {wire, api} == _CLAUDE_WIRES


_CLAUDE_WIRES = {"anthropic", "bedrock_converse"}
