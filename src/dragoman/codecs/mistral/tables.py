"""Mistral's chat completions: words and kinds, as rows of data.

https://docs.mistral.ai/api/ (read 2026-11) and the recorded traffic.
"""

import re

__all__ = ["API", "CALL_ID", "FINISH", "FINISH_BACK", "PARAMETERS", "PART_TYPES", "PROVIDER"]

API = "mistral"
PROVIDER = "mistral"

CALL_ID = re.compile(r"[A-Za-z0-9]{9}")
"""400 "Tool call id was ... but must be a-z, A-Z, 0-9, with a length of 9." """

FINISH = {
    "stop": "stop",
    "length": "length",
    "model_length": "length",
    "tool_calls": "tool_calls",
    "error": "error",
}
FINISH_BACK = {"stop": "stop", "length": "length", "tool_calls": "tool_calls", "error": "error"}

PART_TYPES = frozenset(
    [
        "text",
        "image_url",
        "document_url",
        "thinking",
        "reference",
        "file",
        "input_audio",
        "resource",
        "resource_link",
    ]
)

PARAMETERS = frozenset(
    [
        "frequency_penalty",
        "guardrails",
        "max_tokens",
        "messages",
        "metadata",
        "model",
        "n",
        "parallel_tool_calls",
        "prediction",
        "presence_penalty",
        "prompt_cache_key",
        "prompt_mode",
        "random_seed",
        "reasoning_effort",
        "response_format",
        "safe_prompt",
        "stop",
        "stream",
        "temperature",
        "tool_choice",
        "tools",
        "top_p",
    ]
)
"""The parameters of this wire."""
