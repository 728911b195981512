"""What tells the speakers of Chat Completions apart, as rows of data.

Recorded November 2026 where a row says more than its neighbours; the parameter list is that of
https://platform.openai.com/docs/api-reference/chat/create (read 2026-11) with the additions of the
providers in the table.
"""

from typing import Literal

import msgspec

__all__ = [
    "AUDIO_FORMATS", "DIALECTS", "FINISH", "MIME_OF_AUDIO", "PARAMETERS", "PART_TYPES",
    "SIGNED_FORMATS", "Dialect", "dialect_of",
]  # fmt: skip


class Dialect(msgspec.Struct, frozen=True, kw_only=True):
    """How one provider speaks this wire.

    Attributes:
        provider: What `response_metadata["model_provider"]` says.
        reasoning: The field in which plain reasoning is sent back; None where none is taken.
        reasoning_turns: On which assistant messages: those of the current tool loop (after the last
            human message), or all.
        details: Whether `reasoning_details` (signed reasoning) are sent back, verbatim.
        google: Whether `extra_content` and `thought_signature` are sent back.
        max_tokens: The parameter that carries `ChatRequest.max_tokens`.
        empty: The content of an assistant turn that is calls only.
        id_limit: The most characters a call id may have, or None.
        file_urls: Whether a `file` part may hold an address.
        videos: Whether `video_url` parts are taken.
        json_arguments: Whether the server reads the arguments of old calls, and refuses a history
            in which they are no JSON object.
        one_ending: Whether several assistant turns at the end are refused.
    """

    provider: str
    reasoning: Literal["reasoning_content", "reasoning"] | None = None
    reasoning_turns: Literal["loop", "all"] = "loop"
    details: bool = False
    google: bool = False
    max_tokens: str = "max_tokens"
    empty: Literal[""] | None = None
    id_limit: int | None = None
    file_urls: bool = False
    videos: bool = False
    json_arguments: bool = False
    one_ending: bool = False


DIALECTS: dict[str, Dialect] = {
    row.provider: row
    for row in (
        # 400 "string too long" for a call id of more than 40 characters.
        Dialect(provider="openai", max_tokens="max_completion_tokens", id_limit=40),
        Dialect(provider="azure", max_tokens="max_completion_tokens", id_limit=40),
        Dialect(provider="azure_openai", max_tokens="max_completion_tokens", id_limit=40),
        # 400 "reasoning_content ... must be passed back" inside a tool loop of a thinking model.
        Dialect(provider="deepseek", reasoning="reasoning_content", empty=""),
        Dialect(provider="moonshot", reasoning="reasoning_content", empty=""),
        Dialect(provider="zai", reasoning="reasoning_content", reasoning_turns="all"),
        Dialect(provider="cerebras", reasoning="reasoning", reasoning_turns="all"),
        Dialect(provider="groq", max_tokens="max_completion_tokens"),
        Dialect(provider="xai"),
        Dialect(provider="openrouter", reasoning="reasoning", details=True, file_urls=True, videos=True),
        Dialect(provider="snowflake", details=True),
        # Gemini's endpoint refuses null content and wants its signatures back.
        Dialect(provider="google", google=True, empty=""),
        Dialect(provider="google_genai", google=True, empty=""),
        Dialect(provider="gemini", google=True, empty=""),
        Dialect(provider="vllm", reasoning="reasoning", json_arguments=True),
        Dialect(provider="crusoe", reasoning="reasoning"),
        # 500 "Failed to parse tool call arguments as JSON", 400 "Cannot have 2 or more assistant
        # messages at the end of the list" (llama.cpp, 2026-11).
        Dialect(provider="llamacpp", reasoning="reasoning_content", empty="", json_arguments=True, one_ending=True),
        Dialect(provider="local", reasoning="reasoning_content", empty="", json_arguments=True, one_ending=True),
        Dialect(provider="ollama", reasoning="reasoning", empty="", json_arguments=True),
        Dialect(provider="together"),
        Dialect(provider="fireworks", reasoning="reasoning_content"),
        Dialect(provider="huggingface"),
        Dialect(provider="bedrock-mantle"),
    )
}  # fmt: skip


def dialect_of(provider: str | None) -> Dialect:
    """Return the row of a provider; one that has none speaks plainly under its own name."""
    if provider is None:
        return DIALECTS["openai"]
    row = DIALECTS.get(provider)
    if row is None:  # `huggingface-together` is served through the router of `huggingface`
        base = DIALECTS.get(provider.split("-")[0])
        row = msgspec.structs.replace(base or Dialect(provider=provider), provider=provider)
    return row


FINISH = {
    "stop": "stop",
    "length": "length",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "content_filter": "content_filter",
    "error": "error",
    "model_length": "length",
    "max_tokens": "length",
    "eos": "stop",
    "eos_token": "stop",
    "end_turn": "stop",
}
"""Finish reasons on the wire -> canonical words."""

SIGNED_FORMATS = ("anthropic-claude", "openai-responses", "google-gemini", "xai-responses")
"""How the `format` of `reasoning_details` starts where a signature or encrypted part follows."""

AUDIO_FORMATS = {"audio/mpeg": "mp3", "audio/wav": "wav", "audio/mp4": "m4a"}
MIME_OF_AUDIO = {v: k for k, v in AUDIO_FORMATS.items()}

PART_TYPES = frozenset({"text", "image_url", "input_audio", "file", "refusal", "video_url"})

PARAMETERS = frozenset(
    [
        "audio",
        "frequency_penalty",
        "function_call",
        "functions",
        "logit_bias",
        "logprobs",
        "max_completion_tokens",
        "max_tokens",
        "metadata",
        "modalities",
        "moderation",
        "n",
        "parallel_tool_calls",
        "prediction",
        "presence_penalty",
        "prompt_cache_key",
        "prompt_cache_options",
        "prompt_cache_retention",
        "reasoning_effort",
        "response_format",
        "safety_identifier",
        "seed",
        "service_tier",
        "stop",
        "store",
        "stream_options",
        "top_logprobs",
        "user",
        "verbosity",
        "web_search_options",
        "clear_thinking",
        "enable_thinking",
        "chat_template_kwargs",
        "extra_body",
        "include_reasoning",
        "min_p",
        "models",
        "plugins",
        "preset",
        "provider",
        "reasoning",
        "reasoning_format",
        "repetition_penalty",
        "route",
        "search_parameters",
        "search_settings",
        "thinking",
        "top_a",
        "top_k",
        "transforms",
        "usage",
    ]
)
"""Body keys of the wire beyond those for which `ChatRequest` has a field, of all speakers."""
