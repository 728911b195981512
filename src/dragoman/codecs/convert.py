"""`dragoman.convert`: a body of one wire as the body of another, with what changed on the way.

The source is told from the body's shape unless it is named. A body of plain text that several wires
would write alike is read as Chat Completions, whose reading of it is the same. Requests and
responses both convert (a response needs a target whose server side we speak).
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any

from dragoman.codecs.contract import Change, ChatRequest, Codec, Converted
from dragoman.codecs.notes import note
from dragoman.errors import DecodeError, short

__all__ = ["codec_named", "convert", "detect_api"]

# Names people use for a wire or a provider -> (format, provider whose dialect is meant).
_ALIASES: dict[str, tuple[str, str | None]] = {
    "openai": ("openai_chat", None),
    "chat": ("openai_chat", None),
    "responses": ("openai_responses", None),
    "claude": ("anthropic", None),
    "google": ("gemini", None),
    "google_genai": ("gemini", None),
    "google_vertexai": ("gemini", "google_vertexai"),
    "bedrock": ("bedrock_converse", None),
    "converse": ("bedrock_converse", None),
    "mistralai": ("mistral", None),
}
# Keys of `ChatRequest.extra` that only remember how a field was spelled on the wire it came from.
_SPELLINGS = {"max_tokens": "max_tokens", "max_completion_tokens": "max_tokens", "stop": "stop"}


def convert(body: dict[str, Any], to: str, source: str | None = None) -> Converted:
    """Return a request (or response) body of one wire as that of another.

    Args:
        body: The body; it is not changed, and the result may share parts of it.
        to: The wire to write: a format (`anthropic`) or a provider (`deepseek`).
        source: The wire of `body`; None to tell it from the shape.

    Returns:
        The new body, and what could not be carried as it was.

    Raises:
        DecodeError: If the body is of no known shape, or not what its wire says.
        EncodeError: If it holds what the target cannot carry (media of a kind it does not take).

    >>> convert({"messages": [{"role": "user", "content": "hi"}]}, to="gemini").body
    {'contents': [{'role': 'user', 'parts': [{'text': 'hi'}]}]}
    """
    if not isinstance(body, dict):
        message = f"Expected a request body (a dict), got {type(body).__name__}"
        raise DecodeError(message, path="$")
    target = codec_named(to)
    changes: list[Change] = []
    found = _response_api(body)
    if found is not None:
        reader = codec_named(source) if source is not None else codec_named(found)
        return Converted(target.encode_response(reader.decode_response(body), changes), changes)
    reader = codec_named(source if source is not None else detect_api(body))
    request = reader.decode_request(body)
    if target.api != reader.api:
        _drop_parameters(request, target, changes)
    return Converted(target.encode_request(request, changes), changes)


def codec_named(name: str) -> Codec:
    """Return the codec of a format, or of a provider's wire in its dialect.

    Raises:
        DecodeError: If neither a format nor a provider has that name.
    """
    from dragoman.codecs import SUPPORTED, get_codec

    if name in SUPPORTED:
        return get_codec(name)
    if name in _ALIASES:
        return get_codec(*_ALIASES[name])
    dialects: Any = import_module("dragoman.codecs.openai_chat.tables").DIALECTS
    if name in dialects:
        return get_codec("openai_chat", name)
    message = f"no wire or provider named {short(name)}"
    raise DecodeError(message, hint=f"one of {', '.join(SUPPORTED)}, or a provider's name")


def _drop_parameters(request: ChatRequest, target: Codec, changes: list[Change]) -> None:
    """Drop from `request.extra` what the target's wire has no parameter for."""
    known: frozenset[str] = import_module(f"dragoman.codecs.{target.api}.tables").PARAMETERS
    kept: dict[str, Any] = {}
    for key, value in request.extra.items():
        field = _SPELLINGS.get(key)
        said = getattr(request, field) if field is not None else None
        if said is not None and (said == value or said == [value]):
            continue
        if key in known and not (target.api == "ollama" and key == "options"):
            kept[key] = value
        elif value is not None:
            text = f"{target.api} has no parameter `{key[:80]}`"
            note(changes, f"$.{key[:80]}", "dropped_parameter", text)
    request.extra = kept


# ------------------------------------------------------------------ shapes


def detect_api(body: dict[str, Any]) -> str:
    """Return the format of a request body, told from its shape.

    Raises:
        DecodeError: If it has the shape of none.

    >>> detect_api({"contents": [{"parts": [{"text": "hi"}]}]})
    'gemini'
    """
    if "contents" in body:
        return "gemini"
    messages = body.get("messages")
    if "input" in body and messages is None:
        return "openai_responses"
    if not isinstance(messages, list):
        message = "the body has neither `messages` nor `contents` nor `input`"
        raise DecodeError(message, path="$", hint="name its wire with source=")
    for api, says_so in _SIGNS:
        if says_so(body, messages):
            return api
    return "openai_chat"


def _blocks(messages: list[Any]) -> list[dict[str, Any]]:
    """Return the content blocks of all messages."""
    contents = [m.get("content") for m in messages if isinstance(m, dict)]
    return [b for c in contents if isinstance(c, list) for b in c if isinstance(b, dict)]


def _is_converse(body: dict[str, Any], messages: list[Any]) -> bool:
    keys = {"inferenceConfig", "toolConfig", "additionalModelRequestFields", "guardrailConfig",
            "outputConfig", "performanceConfig", "promptVariables"}  # fmt: skip
    if keys & body.keys():
        return True
    blocks = _blocks(messages)
    return bool(blocks) and all("type" not in b and len(b) == 1 for b in blocks)


_CLAUDE_BLOCKS = {
    "tool_use", "tool_result", "thinking", "redacted_thinking", "document", "search_result",
    "server_tool_use", "mcp_tool_use", "container_upload",
}  # fmt: skip
_CLAUDE_KEYS = {
    "system", "anthropic_version", "mcp_servers", "output_config", "container", "context_management",
}  # fmt: skip


def _is_anthropic(body: dict[str, Any], messages: list[Any]) -> bool:
    if _CLAUDE_KEYS & body.keys():
        return True
    for block in _blocks(messages):
        kind = block.get("type")
        if kind == "thinking" and not isinstance(block.get("thinking"), str):
            continue  # Mistral's and Cohere's
        if kind in _CLAUDE_BLOCKS or (kind == "image" and isinstance(block.get("source"), dict)):
            return not any(
                isinstance(m, dict) and m.get("role") in ("tool", "system") for m in messages
            )
    tools = body.get("tools")
    if isinstance(tools, list) and any(isinstance(t, dict) and "input_schema" in t for t in tools):
        return True
    choice = body.get("tool_choice")
    if isinstance(choice, dict) and choice.get("type") in ("auto", "any", "tool", "none"):
        return True
    return "stop_sequences" in body and "max_tokens" in body and not _has_role(messages, "system")


def _has_role(messages: list[Any], role: str) -> bool:
    return any(isinstance(m, dict) and m.get("role") == role for m in messages)


def _is_ollama(body: dict[str, Any], messages: list[Any]) -> bool:
    if {"keep_alive", "think"} & body.keys() or isinstance(body.get("options"), dict):
        return True
    for message in messages:
        if not isinstance(message, dict):
            continue
        if "tool_name" in message or "thinking" in message:
            return True
        images = message.get("images")
        if isinstance(images, list) and images and isinstance(images[0], str):
            return True
        calls = message.get("tool_calls")
        for call in calls if isinstance(calls, list) else ():
            function = call.get("function") if isinstance(call, dict) else None
            if isinstance(function, dict) and isinstance(function.get("arguments"), dict):
                return True
    return "format" in body


def _is_cohere(body: dict[str, Any], messages: list[Any]) -> bool:
    if {"citation_options", "safety_mode", "documents", "strict_tools", "p", "k"} & body.keys():
        return True
    if body.get("tool_choice") in ("REQUIRED", "NONE") or "stop_sequences" in body:
        return True
    return any(isinstance(m, dict) and "tool_plan" in m for m in messages)


def _is_mistral(body: dict[str, Any], messages: list[Any]) -> bool:
    if {"random_seed", "safe_prompt", "prompt_mode", "guardrails"} & body.keys():
        return True
    if body.get("tool_choice") == "any":
        return True
    if any(isinstance(m, dict) and "prefix" in m for m in messages):
        return True
    kinds = {"document_url", "thinking", "reference"}
    return any(b.get("type") in kinds for b in _blocks(messages))


_SIGNS: tuple[tuple[str, Callable[[dict[str, Any], list[Any]], bool]], ...] = (
    ("bedrock_converse", _is_converse),
    ("anthropic", _is_anthropic),
    ("ollama", _is_ollama),
    ("cohere", _is_cohere),
    ("mistral", _is_mistral),
)


def _response_api(body: dict[str, Any]) -> str | None:
    """Return the format of a response body, or None if it is not a response."""
    if "messages" in body or "contents" in body or "input" in body:
        return None
    if isinstance(body.get("choices"), list):
        return "openai_chat"
    if body.get("object") == "response" and isinstance(body.get("output"), list):
        return "openai_responses"
    if body.get("type") == "message" and isinstance(body.get("content"), list):
        return "anthropic"
    if "candidates" in body or "promptFeedback" in body:
        return "gemini"
    if isinstance(body.get("output"), dict) and "message" in body["output"]:
        return "bedrock_converse"
    if isinstance(body.get("message"), dict):
        return "ollama" if "done" in body else "cohere"
    return None
