"""Token counts of a reply, and their addition.

`input_tokens` includes cached tokens and `output_tokens` includes reasoning tokens, for every
provider; codecs see to that. Addition only adds: whether a wire repeats totals is known to its
codec, which turns them into increments.
"""

from typing import Any, NotRequired, cast

from typing_extensions import TypedDict

from dragoman.errors import MessageError, short

__all__ = [
    "InputTokenDetails",
    "OutputTokenDetails",
    "UsageMetadata",
    "add_usage",
    "check_usage",
    "subtract_usage",
]

MAX_DEPTH = 100


class InputTokenDetails(TypedDict, total=False):
    """Parts of `input_tokens`; not all of them, and providers may add more keys."""

    audio: int
    cache_creation: int
    cache_read: int


class OutputTokenDetails(TypedDict, total=False):
    """Parts of `output_tokens`; not all of them, and providers may add more keys."""

    audio: int
    reasoning: int


class UsageMetadata(TypedDict):
    """Tokens of one call; `total_tokens` is their sum as the provider reports it."""

    input_tokens: int
    output_tokens: int
    total_tokens: int
    input_token_details: NotRequired[InputTokenDetails]
    output_token_details: NotRequired[OutputTokenDetails]


def check_usage(usage: Any) -> UsageMetadata:
    """Return `usage` if it is a mapping with the three whole-number totals.

    Raises:
        MessageError: If it is not; the path names the key.
    """
    if not isinstance(usage, dict):
        message = f"usage_metadata has to be a dict, not {type(usage).__name__}"
        raise MessageError(message, path="usage_metadata")
    for key in ("input_tokens", "output_tokens", "total_tokens"):
        value: Any = usage.get(key)
        if not isinstance(value, int) or isinstance(value, bool):
            message = f"expected a whole number, got {short(value)}"
            raise MessageError(message, path=f"usage_metadata.{key}")
    return cast("UsageMetadata", usage)


def add_usage(left: UsageMetadata | None, right: UsageMetadata | None) -> UsageMetadata:
    """Return the sum of two usages, key by key; missing counts as 0, inputs are not changed.

    Two empty usages give three zeros.

    Raises:
        MessageError: If a value is neither a whole number nor a dict.

    >>> a = {"input_tokens": 1, "output_tokens": 2, "total_tokens": 3}
    >>> add_usage(a, a)
    {'input_tokens': 2, 'output_tokens': 4, 'total_tokens': 6}
    """
    if not (left or right):
        return UsageMetadata(input_tokens=0, output_tokens=0, total_tokens=0)
    if not left or not right:
        return cast("UsageMetadata", left or right)
    return cast("UsageMetadata", _combine(left, right, 1, 0))


def subtract_usage(left: UsageMetadata | None, right: UsageMetadata | None) -> UsageMetadata:
    """Return `left` less `right`, key by key and never below 0; inputs are not changed.

    Raises:
        MessageError: If a value is neither a whole number nor a dict.
    """
    if not (left or right):
        return UsageMetadata(input_tokens=0, output_tokens=0, total_tokens=0)
    if not left or not right:
        return cast("UsageMetadata", left or right)
    return cast("UsageMetadata", _combine(left, right, -1, 0))


def _combine(left: Any, right: Any, sign: int, depth: int) -> dict[str, Any]:
    if depth >= MAX_DEPTH:
        message = f"usage nested more than {MAX_DEPTH} levels"
        raise MessageError(message)
    combined: dict[str, Any] = {}
    for key in [*left, *(key for key in right if key not in left)]:
        a: Any = left.get(key)
        b: Any = right.get(key)
        if isinstance(a, dict) or isinstance(b, dict):
            if not isinstance(a, dict | None) or not isinstance(b, dict | None):
                message = f"expected two dicts or two whole numbers for {short(key)}"
                raise MessageError(message)
            combined[key] = _combine(a or {}, b or {}, sign, depth + 1)
        elif isinstance(a, int | None) and isinstance(b, int | None):
            total = (a or 0) + sign * (b or 0)
            combined[key] = total if sign > 0 else max(total, 0)
        else:
            message = f"expected whole numbers or dicts for {short(key)}"
            raise MessageError(message)
    return combined
