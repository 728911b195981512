"""The parameters of a converted request: what the other wire has, in its words; the rest is reported.

Two wires may call different things by one name (`stream_options`, `metadata`): such a parameter is
not carried over. Reasoning effort and verbosity, which OpenAI's two wires spell differently, are.
"""

from functools import cache
from importlib import import_module
from typing import Any

from dragoman.codecs.contract import Change, ChatRequest, Codec
from dragoman.codecs.notes import note
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

_MOVED: dict[tuple[str, str], dict[str, tuple[str, ...]]] = {
    ("openai_chat", "openai_responses"): {
        "reasoning_effort": ("reasoning", "effort"),
        "verbosity": ("text", "verbosity"),
    },
    ("openai_responses", "openai_chat"): {
        "reasoning.effort": ("reasoning_effort",),
        "text.verbosity": ("verbosity",),
    },
}
"""Where a parameter stands on the other wire."""

_GROUPS = frozenset(("generationConfig", "options"))
"""Objects around parameters, of which the other wire has got some."""

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
        changes: Told every parameter that has no place there.
    """
    if target.api == "openai_chat" and target.provider in _NO_MARKS:
        request.messages = [
            m if m.content.__class__ is str else _unmarked(m, n, changes)
            for n, m in enumerate(request.messages)
        ]
    if not request.extra:
        return
    known = _parameters_of(target.api)
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
                text = f"{target.api} has no parameter `{name}`"
                note(changes, f"$.{name}", "dropped_parameter", text)
    request.extra = kept


def _members(key: str, value: Any) -> list[str]:
    """Return the names that a dropped parameter is told by: what is left of a group, one by one."""
    if key in _GROUPS and isinstance(value, dict) and value:
        return [f"{key}.{str(name)[:80]}" for name in value]
    return [key[:80]]


@cache
def _parameters_of(api: str) -> frozenset[str]:
    return import_module(f"dragoman.codecs.{api}.tables").PARAMETERS


def _move(
    extra: dict[str, Any], source: Codec, target: Codec, kept: dict[str, Any]
) -> dict[str, Any]:
    """Put what only stands elsewhere into `kept`; return the rest."""
    moved = _MOVED.get((source.api, target.api))
    if moved is None:
        return extra
    rest = dict(extra)
    for path, place in moved.items():
        key, _, inner = path.partition(".")
        value = rest.get(key)
        if inner:
            if not isinstance(value, dict) or inner not in value:
                continue
            rest[key] = {k: v for k, v in value.items() if k != inner}
            if not rest[key]:
                del rest[key]
            value = value[inner]
        elif value is None:
            continue
        else:
            del rest[key]
        if len(place) == 1:
            kept[place[0]] = value
        else:
            kept[place[0]] = {**kept.get(place[0], {}), place[1]: value}
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
