"""The words of the Anthropic wire and the rows that tell its dialects apart.

Sources: Anthropic's Messages API reference and guides, the official SDK's types (read 2026-11), and
recorded traffic. Nothing here is code: a new word or a new dialect is a new row.
"""

import msgspec

__all__ = [
    "BLOCK_FIELDS",
    "DIALECTS",
    "FINISH",
    "FOREIGN_TOOLS",
    "MAX_CACHE_MARKS",
    "MAX_TOKENS",
    "NATIVE_BLOCKS",
    "PARAMETERS",
    "RESULT_TOOLS",
    "SERVER_TOOLS",
    "STOP_REASON",
    "Dialect",
]

FINISH = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "tool_calls",
    "pause_turn": "pause",
    "compaction": "pause",
    "refusal": "refusal",
}
"""`stop_reason` -> the canonical finish reason."""

STOP_REASON = {
    "stop": "end_turn",
    "length": "max_tokens",
    "tool_calls": "tool_use",
    "pause": "pause_turn",
    "refusal": "refusal",
    "content_filter": "refusal",
    "error": "end_turn",
}
"""The canonical finish reason -> `stop_reason`, for the server side."""

MAX_CACHE_MARKS = 4
"""A request with more `cache_control` marks than this is refused."""

MAX_TOKENS = 4096
"""`max_tokens` is required on this wire; this is sent when a request does not say."""

SERVER_TOOLS = {"code_execution": "code_interpreter"}
"""Names of server tools that have a common name of their own."""

RESULT_TOOLS = "_tool_result"
"""How the type of a server tool's result ends."""

NATIVE_BLOCKS = frozenset(
    {
        "text", "image", "document", "search_result", "tool_use", "tool_result", "thinking",
        "redacted_thinking", "server_tool_use", "mcp_tool_use", "mcp_tool_listing", "compaction",
        "container_upload", "fallback", "tool_reference", "tool_addition", "tool_removal",
        "browser_state",
    }
)  # fmt: skip
"""Blocks that a user may put into content in this wire's own form (results: see RESULT_TOOLS)."""

BLOCK_FIELDS = {
    "text": frozenset({"cache_control"}),
    "image": frozenset({"cache_control", "transformations"}),
    "document": frozenset({"cache_control", "citations", "context", "title"}),
    "tool_use": frozenset({"cache_control", "caller", "toolset_name"}),
    "tool_result": frozenset({"cache_control", "toolset_name"}),
    "server_tool_use": frozenset({"cache_control", "caller"}),
}
"""Optional fields of blocks that stand in `extras` under their own names."""

PARAMETERS = frozenset(
    {
        "model", "messages", "max_tokens", "system", "tools", "tool_choice", "temperature", "top_p",
        "top_k", "stop_sequences", "stream", "metadata", "thinking", "output_config",
        "output_format", "mcp_servers", "container", "context_management", "cache_control",
        "service_tier", "inference_geo", "speed", "betas", "anthropic_version", "anthropic_beta",
        "billing_policy", "compaction", "diagnostics", "fallback_credit_token", "fallbacks",
        "thread", "user_profile_id",
    }
)  # fmt: skip
"""The keys a request body may have at the top."""

FOREIGN_TOOLS = frozenset(
    {
        "function", "custom", "web_search", "web_search_preview", "file_search", "code_interpreter",
        "image_generation", "mcp", "tool_search", "namespace", "apply_patch", "computer",
        "computer_use_preview", "shell", "local_shell", "programmatic_tool_calling",
        "web_search_premium", "document_library",
    }
)  # fmt: skip
"""Types of tools that other providers run; Anthropic's own have a date in their type."""


class Dialect(msgspec.Struct, frozen=True, kw_only=True):
    """How one provider speaks this wire.

    Attributes:
        signs: Reasoning without a signature is refused; else it is sent back unsigned.
        waits: A thinking block that begins empty is given a signature in the end; else it has none.
        system_models: Patterns of models that take `system` messages inside the list; elsewhere a
            late system message becomes a marked block of a user turn.
    """

    signs: bool = True
    waits: bool = True
    system_models: tuple[str, ...] = (
        "*opus-4-8*", "*opus-5*", "*sonnet-5*", "*haiku-5*", "*fable-*",
    )  # fmt: skip


DIALECTS = {
    "anthropic": Dialect(),
    # Other makers' models behind this wire; their thinking has no signature, or one of their own.
    "deepseek": Dialect(signs=False, system_models=()),
    "moonshot": Dialect(signs=False, system_models=()),
    "minimax": Dialect(signs=False, system_models=()),
    "zai": Dialect(signs=False, system_models=()),
    "ollama": Dialect(signs=False, waits=False, system_models=()),
    "llamacpp": Dialect(signs=False, waits=False, system_models=()),
    "local": Dialect(signs=False, waits=False, system_models=()),
}
"""Rows by provider; one that has no row speaks as Anthropic does."""
