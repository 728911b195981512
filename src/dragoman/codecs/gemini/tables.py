"""The words of the Gemini wire (Gemini API and Vertex AI).

Sources: the Gemini API reference and guides, the types of google-genai (read 2026-11), and recorded
traffic.
"""

__all__ = [
    "API",
    "CONTENT_FILTER",
    "DUMMY_SIGNATURE",
    "FINISH",
    "FINISH_REASON",
    "MADE_ID",
    "NATIVE_PARTS",
    "NEEDS_SIGNATURE",
    "PARAMETERS",
    "SIDE_FIELDS",
    "snake",
]

API = "gemini"

CONTENT_FILTER = (
    "SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "MODEL_ARMOR",
    "IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION",
)  # fmt: skip

FINISH = {
    "STOP": "stop",
    "MAX_TOKENS": "length",
    **dict.fromkeys(CONTENT_FILTER, "content_filter"),
    "MALFORMED_FUNCTION_CALL": "error",
    "UNEXPECTED_TOOL_CALL": "error",
    "MALFORMED_RESPONSE": "error",
    "MISSING_THOUGHT_SIGNATURE": "error",
    "TOO_MANY_TOOL_CALLS": "error",
}
"""`finishReason` -> the canonical finish reason (STOP with calls is `tool_calls`)."""

FINISH_REASON = {
    "stop": "STOP",
    "tool_calls": "STOP",
    "length": "MAX_TOKENS",
    "content_filter": "SAFETY",
    "refusal": "SAFETY",
    "error": "OTHER",
}
"""The canonical finish reason -> `finishReason`, for the server side."""

MADE_ID = "lc_gemini_"
"""How the id of a call begins that Gemini sent without one; such ids are not sent back."""

DUMMY_SIGNATURE = "c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I="
"""base64 of `skip_thought_signature_validator`, for calls that another model made.

Source: https://ai.google.dev/gemini-api/docs/thought-signatures, read 2026-11.
"""

NEEDS_SIGNATURE = ("*gemini-3*",)
"""Patterns of the models that refuse a call without a signature."""

SIDE_FIELDS = frozenset({"thought", "thoughtSignature"})
"""Fields beside a part's data that are read; the others are kept as they are."""

NATIVE_PARTS = frozenset(
    {
        "text", "inlineData", "fileData", "functionCall", "functionResponse", "executableCode",
        "codeExecutionResult", "toolCall", "toolResponse", "videoMetadata", "mediaResolution",
        "partMetadata", "thought", "thoughtSignature",
    }
)  # fmt: skip
"""The keys of parts."""

PARAMETERS = frozenset(
    {
        "contents", "systemInstruction", "system_instruction", "tools", "toolConfig", "tool_config",
        "generationConfig", "generation_config", "safetySettings", "safety_settings",
        "cachedContent", "cached_content", "labels", "modelArmorConfig", "model_armor_config",
        "model", "store", "serviceTier", "service_tier",
    }
)  # fmt: skip
"""The keys a request body may have at the top, in both spellings that are accepted."""


def snake(key: str) -> str:
    """Return the snake_case spelling of a key, which Google accepts beside camelCase.

    >>> snake("thoughtSignature")
    'thought_signature'
    """
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in key)
