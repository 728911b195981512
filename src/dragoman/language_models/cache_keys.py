"""Keys of the response cache: the history without ids, and the model with its settings."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from dragoman.messages import BaseMessage

__all__ = ["model_key", "prompt_key"]


def prompt_key(messages: Sequence[BaseMessage]) -> str:
    """Return the dumped messages, ids left out: asking the same again is the same question."""
    from dragoman.load import dumps

    return dumps([m if m.id is None else m.model_copy(update={"id": None}) for m in messages])


def model_key(model: Any, stop: list[str] | None, kwargs: Mapping[str, Any]) -> str:
    """Return the model's stored form (secrets by name only) or its parameters, with this call's."""
    if model.is_lc_serializable():
        from dragoman.load import dumpd

        form = json.dumps(_without_addresses(dumpd(model)), sort_keys=True)
        return f"{form}---{sorted({**kwargs, 'stop': stop}.items())}"
    params = {**model._get_invocation_params(stop=stop, **kwargs), **kwargs}
    return str(sorted(params.items()))


def _without_addresses(value: Any) -> Any:
    """Drop the `repr` of what cannot be stored: it may hold an address, which changes each run."""
    if isinstance(value, dict):
        is_foreign = value.get("type") == "not_implemented" and "repr" in value
        return {
            key: _without_addresses(item)
            for key, item in value.items()
            if not (is_foreign and key == "repr")
        }
    return [_without_addresses(item) for item in value] if isinstance(value, list) else value
