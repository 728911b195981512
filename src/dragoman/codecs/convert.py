"""`dragoman.convert`: a body of one wire as the body of another, with what changed on the way.

The source is told from the body's shape unless it is named. A body of plain text that several wires
would write alike is read as Chat Completions, whose reading of it is the same. Requests and
responses both convert (a response needs a target whose server side we speak).
"""

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

from dragoman.codecs.contract import Change, Codec, Converted
from dragoman.codecs.parameters import fit_parameters
from dragoman.codecs.shapes import as_dict, as_dicts
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
        fit_parameters(request, reader, target, changes)
    return Converted(target.encode_request(request, changes), changes)


def codec_named(name: str) -> Codec:
    """Return the codec of a format, or of a provider's wire in its dialect; codecs have no state.

    Raises:
        DecodeError: If neither a format nor a provider has that name.
    """
    if not isinstance(name, str):
        message = f"a wire is named by a string, not {type(name).__name__}"
        raise DecodeError(message)
    return _codec_named(name)


@cache
def _codec_named(name: str) -> Codec:
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
        raise DecodeError(message, path="$", hint="name its wire with source= (--from)")
    shape = _Shape(body, messages)
    for api, says_so in _SIGNS:
        if says_so(shape):
            return api
    return "openai_chat"


class _Shape:
    """What tells wires apart in a body with `messages`, gathered in one pass.

    Attributes:
        body: The body.
        fields: The keys of all its messages.
        roles: Their roles.
        kinds: The `type`s of all content blocks.
        is_untagged: Whether there are blocks, none has a `type`, and each has one key.
        has_source: Whether an image has Anthropic's `source`.
        has_text_thinking: Whether a `thinking` block holds text, not a list.
        has_signed_thinking: Whether such a block has a signature.
        has_bare_images: Whether a message has `images` that are text.
        has_object_arguments: Whether a call's arguments are an object, not JSON text.
    """

    __slots__ = (
        "body", "fields", "has_bare_images", "has_object_arguments", "has_signed_thinking",
        "has_source", "has_text_thinking", "is_untagged", "kinds", "roles",
    )  # fmt: skip

    def __init__(self, body: dict[str, Any], messages: list[Any]) -> None:
        self.body = body
        self.kinds: set[str] = set()
        self.is_untagged = self.has_source = False
        self.has_text_thinking = self.has_signed_thinking = False
        self.has_object_arguments = self.has_bare_images = False
        known = [m for m in messages if isinstance(m, dict)]
        self.fields: set[Any] = set().union(*known)
        self.roles = {r for m in known if (r := m.get("role")).__class__ is str}
        n_tagged = n_blocks = 0
        for content in [c for m in known if (c := m.get("content")).__class__ is list]:
            for block in as_dicts(content):
                n_blocks += 1
                n_tagged += "type" in block or len(block) != 1
                self._read_block(block)
        self.is_untagged = bool(n_blocks) and not n_tagged
        if "tool_calls" in self.fields or "images" in self.fields:
            self._read_ollama(known)

    def _read_block(self, block: dict[str, Any]) -> None:
        kind = block.get("type")
        if isinstance(kind, str):
            self.kinds.add(kind)
            if kind == "image":
                self.has_source = self.has_source or isinstance(block.get("source"), dict)
            elif kind == "thinking" and isinstance(block.get("thinking"), str):
                self.has_text_thinking = True
                self.has_signed_thinking = self.has_signed_thinking or "signature" in block

    def _read_ollama(self, messages: list[dict[str, Any]]) -> None:
        for message in messages:
            images = message.get("images")
            if isinstance(images, list) and images and isinstance(images[0], str):
                self.has_bare_images = True
            for call in as_dicts(message.get("tool_calls")):
                if isinstance(as_dict(call.get("function")).get("arguments"), dict):
                    self.has_object_arguments = True


_CONVERSE_KEYS = frozenset(
    ("inferenceConfig", "toolConfig", "additionalModelRequestFields", "guardrailConfig",
     "outputConfig", "performanceConfig", "promptVariables")
)  # fmt: skip
_CLAUDE_BLOCKS = frozenset(
    ("tool_use", "tool_result", "redacted_thinking", "search_result", "server_tool_use",
     "mcp_tool_use", "container_upload")
)  # fmt: skip
_CLAUDE_KEYS = frozenset(
    ("system", "anthropic_version", "mcp_servers", "output_config", "container",
     "context_management")
)  # fmt: skip


def _is_converse(shape: _Shape) -> bool:
    return shape.is_untagged or not _CONVERSE_KEYS.isdisjoint(shape.body)


def _is_anthropic(shape: _Shape) -> bool:
    body = shape.body
    thinking = as_dict(body.get("thinking"))
    if not _CLAUDE_KEYS.isdisjoint(body) or "budget_tokens" in thinking:
        return True
    others = "tool" in shape.roles or "developer" in shape.roles
    if not others and (
        not _CLAUDE_BLOCKS.isdisjoint(shape.kinds)
        or shape.has_source
        or shape.has_signed_thinking
        or "document" in shape.kinds
    ):
        return True
    if any("input_schema" in tool for tool in as_dicts(body.get("tools"))):
        return True
    choice = body.get("tool_choice")
    if isinstance(choice, dict) and choice.get("type") in ("auto", "any", "tool", "none"):
        return True
    return "stop_sequences" in body and "max_tokens" in body and "system" not in shape.roles


def _is_ollama(shape: _Shape) -> bool:
    body = shape.body
    return (
        "keep_alive" in body
        or "think" in body
        or "format" in body
        or isinstance(body.get("options"), dict)
        or "tool_name" in shape.fields
        or "thinking" in shape.fields
        or shape.has_bare_images
        or (shape.has_object_arguments and not shape.kinds and "tool_call_id" not in shape.fields)
    )


_COHERE_KEYS = frozenset(
    ("citation_options", "safety_mode", "documents", "strict_tools", "p", "k", "stop_sequences")
)


def _is_cohere(shape: _Shape) -> bool:
    return (
        not _COHERE_KEYS.isdisjoint(shape.body)
        or shape.body.get("tool_choice") in ("REQUIRED", "NONE")
        or "tool_plan" in shape.fields
        or shape.has_text_thinking
        or "document" in shape.kinds
    )


_MISTRAL_KEYS = frozenset(("random_seed", "safe_prompt", "prompt_mode", "guardrails"))
_MISTRAL_BLOCKS = frozenset(("document_url", "thinking", "reference"))


def _is_mistral(shape: _Shape) -> bool:
    return (
        not _MISTRAL_KEYS.isdisjoint(shape.body)
        or shape.body.get("tool_choice") == "any"
        or "prefix" in shape.fields
        or not _MISTRAL_BLOCKS.isdisjoint(shape.kinds)
    )


_SIGNS: tuple[tuple[str, Callable[[_Shape], bool]], ...] = (
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
