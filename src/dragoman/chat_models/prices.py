"""What a reply cost, by the prices of the package genai-prices (extra `prices`)."""

from decimal import Decimal
from typing import Any

from dragoman._need import need
from dragoman.errors import DragomanError
from dragoman.messages import AIMessage

__all__ = ["PriceUnknownError", "usage_cost"]

# Our providers -> those of genai-prices, where they differ. `local` models cost nothing.
PROVIDERS = {
    "google_genai": "google",
    "google_vertexai": "google",
    "google": "google",
    "gemini": "google",
    "azure_openai": "azure",
    "bedrock_converse": "aws",
    "bedrock": "aws",
    "mistralai": "mistral",
    "xai": "x-ai",
    "openai_responses": "openai",
    "moonshot": "moonshotai",
}
_FREE = frozenset({"local", "llamacpp", "ollama", "vllm", "lmstudio"})


class PriceUnknownError(DragomanError, LookupError):
    """No price is known for the model of a message, or the message says no usage."""


def usage_cost(
    message: AIMessage, *, model: str | None = None, provider: str | None = None
) -> Decimal:
    """Return the price of `message` in US dollars.

    Args:
        message: A reply with `usage_metadata`.
        model: The model, if the message's `response_metadata` does not say it.
        provider: The provider, likewise.

    Raises:
        PriceUnknownError: If usage, model or price are not known; nothing is guessed.
        MissingExtraError: If genai-prices is not installed.

    >>> from dragoman.messages import AIMessage
    >>> reply = AIMessage(
    ...     "Hi",
    ...     usage_metadata={"input_tokens": 1000, "output_tokens": 100, "total_tokens": 1100},
    ...     response_metadata={"model_name": "gpt-4o", "model_provider": "openai"},
    ... )
    >>> usage_cost(reply)
    Decimal('0.0035')
    """
    usage: Any = message.usage_metadata
    meta = message.response_metadata
    provider = provider or meta.get("model_provider")
    model = model or meta.get("model_name")
    if provider in _FREE:
        return Decimal(0)
    if usage is None or model is None:
        what = "usage" if usage is None else "model"
        text = f"the message says no {what}; ask the provider for it, or pass `model`"
        raise PriceUnknownError(text)
    prices = need("genai_prices", "prices")
    inputs: Any = usage.get("input_token_details") or {}
    outputs: Any = usage.get("output_token_details") or {}
    counted = prices.Usage(
        input_tokens=usage["input_tokens"],
        output_tokens=usage["output_tokens"],
        cache_read_tokens=inputs.get("cache_read") or None,
        cache_write_tokens=inputs.get("cache_creation") or None,
        input_audio_tokens=inputs.get("audio") or None,
        output_audio_tokens=outputs.get("audio") or None,
    )
    try:
        found = prices.calc_price(
            counted, model_ref=model, provider_id=PROVIDERS.get(provider or "", provider)
        )
    except LookupError as error:
        text = f"no price is known for model {model!r} of {provider or 'an unnamed provider'}"
        raise PriceUnknownError(text) from error
    return Decimal(found.total_price)
