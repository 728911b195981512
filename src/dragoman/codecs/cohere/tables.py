"""Cohere's chat (v2): words and kinds, as rows of data.

https://docs.cohere.com/reference/chat (read 2026-11), the types of the `cohere` package, and 13 recorded
exchanges; streams were never recorded.
"""

__all__ = ["API", "CHOICES", "FINISH", "FINISH_BACK", "PARAMETERS", "PART_TYPES", "PROVIDER"]

API = "cohere"
PROVIDER = "cohere"

FINISH = {
    "COMPLETE": "stop",
    "STOP_SEQUENCE": "stop",
    "MAX_TOKENS": "length",
    "TOOL_CALL": "tool_calls",
    "ERROR": "error",
    "TIMEOUT": "error",
    "ERROR_TOXIC": "content_filter",
    "ERROR_LIMIT": "length",
}
FINISH_BACK = {
    "stop": "COMPLETE", "length": "MAX_TOKENS", "tool_calls": "TOOL_CALL", "error": "ERROR",
    "content_filter": "ERROR_TOXIC",
}  # fmt: skip

CHOICES = {"REQUIRED": "any", "NONE": "none"}
"""`tool_choice`; leaving it out means auto."""

PART_TYPES = frozenset({"text", "thinking", "image_url", "document"})

PARAMETERS = frozenset(
    [
        "citation_options",
        "documents",
        "frequency_penalty",
        "k",
        "logprobs",
        "max_tokens",
        "messages",
        "model",
        "p",
        "presence_penalty",
        "priority",
        "raw_prompting",
        "response_format",
        "safety_mode",
        "seed",
        "stop_sequences",
        "stream",
        "strict_tools",
        "temperature",
        "thinking",
        "tool_choice",
        "tools",
    ]
)
"""The parameters of this wire."""
