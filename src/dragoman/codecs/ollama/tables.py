"""Ollama's words.

https://github.com/ollama/ollama/blob/main/docs/api.md (read 2026-11).
"""

__all__ = ["API", "FINISH", "OPTIONS", "PARAMETERS"]

API = "ollama"

FINISH = {"stop": "stop", "length": "length", "load": "stop", "unload": "stop"}
"""`done_reason` -> canonical words."""

OPTIONS = {
    "max_tokens": "num_predict",
    "temperature": "temperature",
    "top_p": "top_p",
    "stop": "stop",
}
"""Fields of `ChatRequest` -> keys of `options`."""

PARAMETERS = frozenset(
    ("format", "keep_alive", "logprobs", "options", "raw", "shift", "suffix", "template", "think",
     "top_logprobs", "truncate")
)  # fmt: skip
"""Body keys of the wire beyond those for which `ChatRequest` has a field."""
