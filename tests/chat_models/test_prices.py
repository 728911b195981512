"""What a reply cost."""

from decimal import Decimal

import pytest

from dragoman.chat_models import usage_cost
from dragoman.chat_models.prices import PriceUnknownError
from dragoman.messages import AIMessage

USAGE = {"input_tokens": 1000, "output_tokens": 100, "total_tokens": 1100}


def said(model: str | None, provider: str | None, **more: object) -> AIMessage:
    meta = {"model_name": model, "model_provider": provider}
    return AIMessage("x", usage_metadata={**USAGE, **more}, response_metadata=meta)


def test_prices_are_those_of_genai_prices() -> None:
    assert usage_cost(said("gpt-4o", "openai")) == Decimal("0.0035")
    cached = usage_cost(said("gpt-4o", "openai", input_token_details={"cache_read": 800}))
    assert cached == Decimal("0.0025")
    assert usage_cost(said("claude-sonnet-4-5-20250929", "anthropic")) == Decimal("0.0045")
    assert usage_cost(said("gemini-2.5-flash", "google_genai")) > 0


def test_a_model_of_one_s_own_costs_nothing() -> None:
    assert usage_cost(said("smollm2-135m", "local")) == 0


def test_the_caller_may_know_better() -> None:
    assert usage_cost(said(None, None), model="gpt-4o", provider="openai") == Decimal("0.0035")


@pytest.mark.parametrize(
    ("message", "text"),
    [
        (AIMessage("x"), "no usage"),
        (said(None, "openai"), "no model"),
        (said("no-such-model", "openai"), "no price is known for model 'no-such-model'"),
        (said("gpt-4o", "no-such-provider"), "no price is known"),
    ],
)
def test_nothing_is_guessed(message: AIMessage, text: str) -> None:
    with pytest.raises(PriceUnknownError, match=text):
        usage_cost(message)
