"""What tells the speakers of the Responses API apart, and the kinds of items, as rows of data.

Kinds and fields: https://platform.openai.com/docs/api-reference/responses (read 2026-11) and the
recorded traffic of OpenAI, Azure, DeepSeek and Bedrock.
"""

from typing import Literal

import msgspec

__all__ = [
    "API", "CLIENT_RESULTS", "DIALECTS", "ECHOES", "FINISH", "PARAMETERS", "PART_TYPES", "RESULTS",
    "SERVER_ITEMS", "SYSTEM_ITEMS", "TOOL_TYPES", "USER_ITEMS", "Dialect",
    "ServerItem", "dialect_of",
]  # fmt: skip

API = "openai_responses"


class Dialect(msgspec.Struct, frozen=True, kw_only=True):
    """How one provider speaks this wire.

    Attributes:
        provider: What `response_metadata["model_provider"]` says.
        plain_reasoning: Whether reasoning that is neither stored nor encrypted may be sent back as
            `reasoning_text` (open models); OpenAI answers 400 to it.
        adjacent_calls: Whether text between parallel calls is refused, and so stands before them.
    """

    provider: str
    plain_reasoning: bool = True
    adjacent_calls: bool = False


DIALECTS: dict[str, Dialect] = {
    row.provider: row
    for row in (
        Dialect(provider="openai", plain_reasoning=False),
        Dialect(provider="openai-codex", plain_reasoning=False),
        Dialect(provider="azure", plain_reasoning=False),
        Dialect(provider="azure_openai", plain_reasoning=False),
        Dialect(provider="pydantic-gateway", plain_reasoning=False),
        # 400 "No tool output found for tool call" if text stands between parallel calls.
        Dialect(provider="deepseek", adjacent_calls=True),
        Dialect(provider="bedrock-mantle"),
        Dialect(provider="openrouter"),
        Dialect(provider="xai", plain_reasoning=False),
    )
}


def dialect_of(provider: str | None) -> Dialect:
    """Return the row of a provider; one that has none speaks plainly under its own name."""
    if provider is None or provider == API:
        return DIALECTS["openai"]
    return DIALECTS.get(provider) or Dialect(provider=provider)


FINISH = {"max_output_tokens": "length", "content_filter": "content_filter"}
"""`incomplete_details.reason` -> canonical words."""


class ServerItem(msgspec.Struct, frozen=True):
    """An item of a tool that the provider ran.

    Attributes:
        name: The name of the `server_tool_call`.
        args: The field that holds the arguments, or None.
        form: Whether that field is the arguments (`dict`), JSON text (`json`), or one of them (`one`).
        output: The field that holds the result, or None.
    """

    name: str
    args: str | None = None
    form: Literal["dict", "json", "one"] = "dict"
    output: str | None = None


SERVER_ITEMS: dict[str, ServerItem] = {
    "web_search_call": ServerItem("web_search", "action"),
    "file_search_call": ServerItem("file_search", "queries", "one", "results"),
    "code_interpreter_call": ServerItem("code_interpreter", "code", "one", "outputs"),
    "mcp_call": ServerItem("remote_mcp", "arguments", "json", "output"),
    "mcp_list_tools": ServerItem("mcp_list_tools", None, "dict", "tools"),
    "tool_search_call": ServerItem("tool_search", "arguments"),
}


CLIENT_RESULTS = {
    "custom_tool_call": "custom_tool_call_output",
    "apply_patch_call": "apply_patch_call_output",
    "computer_call": "computer_call_output",
    "local_shell_call": "local_shell_call_output",
    "shell_call": "shell_call_output",
    "tool_search_call": "tool_search_output",
}
"""Items that the caller has to run, apart from function calls -> the items that answer them.

A custom call is a tool call with one text argument; the others have arguments of no tool's schema and
travel as `non_standard` blocks (`tool_search_*` only if `execution` is `client`).
"""

RESULTS = frozenset({"function_call_output", "custom_tool_call_output"})
"""Items that are tool messages."""

USER_ITEMS = frozenset({"mcp_approval_response", *CLIENT_RESULTS.values()} - RESULTS)
SYSTEM_ITEMS = frozenset({"additional_tools", "configuration_update"})

PART_TYPES = frozenset({"input_text", "input_image", "input_file", "output_text", "refusal"})

TOOL_TYPES = frozenset(
    [
        "function",
        "custom",
        "web_search",
        "web_search_preview",
        "file_search",
        "code_interpreter",
        "image_generation",
        "mcp",
        "tool_search",
        "namespace",
        "apply_patch",
        "computer",
        "computer_use_preview",
        "shell",
        "local_shell",
        "programmatic_tool_calling",
    ]
)
"""Tools of this wire; a tool of an unknown type is sent as it is unless it looks foreign."""

ECHOES = frozenset(
    [
        "instructions",
        "tools",
        "tool_choice",
        "text",
        "reasoning",
        "parallel_tool_calls",
        "temperature",
        "top_p",
        "truncation",
        "max_output_tokens",
        "max_tool_calls",
        "top_logprobs",
        "prompt_cache_key",
        "frequency_penalty",
        "presence_penalty",
        "prompt_cache_retention",
        "prompt_cache_options",
        "tool_usage",
        "output",
        "usage",
        "model",
        "output_text",
        "tool_calls",
        "total_tokens",
        "store",
        "user",
    ]
)
"""Fields of a response that only repeat the request, or are read elsewhere."""

PARAMETERS = frozenset(
    [
        "access_programs",
        "background",
        "context_management",
        "conversation",
        "frequency_penalty",
        "include",
        "input",
        "instructions",
        "max_output_tokens",
        "max_tool_calls",
        "metadata",
        "model",
        "moderation",
        "parallel_tool_calls",
        "presence_penalty",
        "previous_response_id",
        "prompt",
        "prompt_cache_key",
        "prompt_cache_options",
        "prompt_cache_retention",
        "reasoning",
        "safety_identifier",
        "service_tier",
        "store",
        "stream",
        "stream_options",
        "temperature",
        "text",
        "tool_choice",
        "tools",
        "top_logprobs",
        "top_p",
        "truncation",
        "user",
    ]
)
"""The parameters of this wire."""
