"""The parameters of a converted request: what the other wire has, in its words; the rest is reported.

Two wires may call different things by one name (`stream_options`, `metadata`): such a parameter is
not carried over. One that stands elsewhere on the other wire is.
"""

from functools import cache
from importlib import import_module
from typing import Any

from dragoman.codecs.contract import Change, ChatRequest, Codec
from dragoman.codecs.notes import note
from dragoman.codecs.shapes import as_dict
from dragoman.messages import BaseMessage

__all__ = ["fit_parameters"]

# Keys of `ChatRequest.extra` that only remember how a field was spelled on the wire it came from.
_SPELLINGS = {"max_tokens": "max_tokens", "max_completion_tokens": "max_tokens", "stop": "stop"}

_HOMONYMS = frozenset(
    ("context_management", "container", "format", "metadata", "serviceTier", "service_tier",
     "stream_options", "thinking", "toolConfig", "truncate", "documents", "prompt")
)  # fmt: skip
"""Parameters that several wires have and mean otherwise."""

_ALIKE: dict[str, frozenset[str]] = {
    "metadata": frozenset(("openai_chat", "openai_responses", "mistral")),
    "service_tier": frozenset(("openai_chat", "openai_responses")),
}
"""Between which wires a homonym is none."""

_PLACES: tuple[dict[str, str], ...] = (
    {"openai_chat": "reasoning_effort", "openai_responses": "reasoning.effort"},
    {"openai_chat": "verbosity", "openai_responses": "text.verbosity"},
    {"openai_chat": "seed", "gemini": "generationConfig.seed", "mistral": "random_seed",
     "cohere": "seed", "ollama": "options.seed"},
    {"anthropic": "top_k", "gemini": "generationConfig.topK", "cohere": "k",
     "ollama": "options.top_k"},
    {"openai_chat": "n", "gemini": "generationConfig.candidateCount", "mistral": "n"},
    {"openai_chat": "presence_penalty", "openai_responses": "presence_penalty",
     "gemini": "generationConfig.presencePenalty", "mistral": "presence_penalty",
     "cohere": "presence_penalty", "ollama": "options.presence_penalty"},
    {"openai_chat": "frequency_penalty", "openai_responses": "frequency_penalty",
     "gemini": "generationConfig.frequencyPenalty", "mistral": "frequency_penalty",
     "cohere": "frequency_penalty", "ollama": "options.frequency_penalty"},
    {"openai_chat": "user", "openai_responses": "user", "anthropic": "metadata.user_id"},
)  # fmt: skip
"""Where each wire has one and the same parameter; a dot leads into a group.

From the providers' API references (read 2026-12). Left out are those whose values differ (a thinking
budget in tokens is no effort in words), and `top_k` for OpenAI's wires, which have none of their own.
"""

_GROUPS = frozenset(("generationConfig", "options"))
"""Objects around parameters, of which the other wire has got some."""

_WRITTEN_ELSEWHERE = {"anthropic": frozenset(("parallel_tool_calls",))}
"""What an encoder takes although its wire has no such parameter: it says the same in another way."""

_HAVE_DETAIL = frozenset(("openai_chat", "openai_responses", "mistral"))
"""Wires on which an image may say with how much detail it is looked at."""

_MODEL_IN_ADDRESS = frozenset(("gemini", "bedrock_converse"))
"""Wires whose bodies name no model."""

_NO_MARKS = frozenset(("openai", "azure", "azure_openai"))
"""Speakers of Chat Completions that have no `cache_control`."""


def fit_parameters(
    request: ChatRequest, source: Codec, target: Codec, changes: list[Change]
) -> None:
    """Fit what a request of one wire says beside its messages to another wire.

    Args:
        request: A request just decoded; its `extra` and messages are replaced, not changed.
        source: The codec that read it.
        target: The codec that will write it.
        changes: Told every parameter that has no place there, and one that had to be added.
    """
    if target.api == "openai_chat" and target.provider in _NO_MARKS:
        request.messages = [
            m if m.content.__class__ is str else _unmarked(m, n, changes)
            for n, m in enumerate(request.messages)
        ]
    if source.api in _HAVE_DETAIL and target.api not in _HAVE_DETAIL:
        _tell_detail(request.messages, target.api, changes)
    choice = request.tool_choice
    if isinstance(choice, dict) and "disable_parallel_tool_use" in choice:
        # Anthropic's place for it; everybody else has a parameter of its own, or none.
        request.tool_choice = {k: v for k, v in choice.items() if k != "disable_parallel_tool_use"}
        is_parallel = not choice["disable_parallel_tool_use"]
        request.extra = {"parallel_tool_calls": is_parallel, **request.extra}
    tables = _tables_of(target.api)
    if request.max_tokens is None and (limit := getattr(tables, "MAX_TOKENS", None)) is not None:
        request.max_tokens = limit
        text = f"{target.api} requires a limit of the reply: {limit} tokens were set"
        changes.append(Change("$.max_tokens", "added_parameter", False, text))
    if request.model is not None and target.api in _MODEL_IN_ADDRESS:
        text = f"{target.api} names the model in the address, not in the body"
        changes.append(Change("$.model", "model_in_address", False, text))
    if not request.extra:
        return
    known = tables.PARAMETERS | _WRITTEN_ELSEWHERE.get(target.api, frozenset())
    kept: dict[str, Any] = {}
    given = _move(request.extra, source, target, kept)
    for key, value in given.items():
        field = _SPELLINGS.get(key)
        said = getattr(request, field) if field is not None else None
        if said is not None and (said == value or said == [value]):
            continue
        is_shared = key not in _HOMONYMS or {source.api, target.api} <= _ALIKE.get(key, frozenset())
        if key in known and is_shared and not (target.api == "ollama" and key == "options"):
            kept.setdefault(key, value)
        elif value is not None:
            for name in _members(key, value):
                means = f"{target.api} means something else by `{name}`"
                text = means if key in known else f"{target.api} has no parameter `{name}`"
                note(changes, f"$.{name}", "dropped_parameter", text)
    request.extra = kept


def _tell_detail(messages: list[BaseMessage], api: str, changes: list[Change]) -> None:
    for n, message in enumerate(messages):
        content: Any = message.content
        for k, block in enumerate(content if isinstance(content, list) else ()):
            if isinstance(block, dict) and block.get("type") == "image":
                detail = as_dict(block.get("extras")).get("detail")
                if detail not in (None, "auto"):
                    text = f"{api} has no `detail` for images"
                    changes.append(Change(f"$[{n}].content[{k}]", "dropped_detail", True, text))


def _members(key: str, value: Any) -> list[str]:
    """Return the names that a dropped parameter is told by: what is left of a group, one by one."""
    if key in _GROUPS and isinstance(value, dict) and value:
        return [f"{key}.{str(name)[:80]}" for name in value]
    return [key[:80]]


@cache
def _tables_of(api: str) -> Any:
    return import_module(f"dragoman.codecs.{api}.tables")


@cache
def _moves(source: str, target: str) -> tuple[tuple[list[str], list[str]], ...]:
    """Return the parameters that stand in another place on the target, as `(from, to)`."""
    found = [(places.get(source), places.get(target)) for places in _PLACES]
    return tuple((a.split("."), b.split(".")) for a, b in found if a and b and a != b)


def _move(
    extra: dict[str, Any], source: Codec, target: Codec, kept: dict[str, Any]
) -> dict[str, Any]:
    """Put what only stands elsewhere into `kept`; return the rest."""
    rest = dict(extra)
    for (key, *inner), (place, *below) in _moves(source.api, target.api):
        group = rest.get(key) if inner else rest
        name = inner[0] if inner else key
        if not isinstance(group, dict) or group.get(name) is None:
            continue
        value = group[name]
        left = {k: v for k, v in group.items() if k != name}
        if not inner:
            rest = left
        elif left:
            rest[key] = left
        else:
            del rest[key]
        kept[place] = {**kept.get(place, {}), below[0]: value} if below else value
    return rest


def _unmarked(message: BaseMessage, n: int, changes: list[Change]) -> BaseMessage:
    """Return a message without cache marks; the same one if it has none."""
    content: Any = message.content
    blocks = [_without_mark(block) for block in content]
    if all(a is b for a, b in zip(blocks, content, strict=True)):
        return message
    text = "this wire caches by itself and has no cache marks"
    note(changes, f"$[{n}].content", "dropped_cache_control", text, lossy=False)
    return message.model_copy(update={"content": blocks})


def _without_mark(block: Any) -> Any:
    extras = block.get("extras") if isinstance(block, dict) else None
    if not isinstance(extras, dict) or "cache_control" not in extras:
        return block
    rest = {k: v for k, v in extras.items() if k != "cache_control"}
    bare = {k: v for k, v in block.items() if k != "extras"}
    return {**bare, "extras": rest} if rest else bare
