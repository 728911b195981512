"""The runs of a batch: one for each input, opened before and told about after."""

from collections.abc import Sequence
from typing import Any

from dragoman._door import Door
from dragoman.callbacks.ambient import is_bare, requested
from dragoman.runnables._batch import configs_for
from dragoman.runnables._scope import Named, Scope, open_scope, start
from dragoman.runnables.config import resolve_config

__all__ = ["close_runs", "fail_runs", "open_runs"]


async def open_runs(
    door: Door, owner: Named, inputs: Sequence[Any], config: Any, **said: Any
) -> list[Scope]:
    """Return one scope for each input."""
    if is_bare(config):
        return [open_scope(None, None, is_async=door.is_async)] * len(inputs)
    scopes: list[Scope] = []
    for value, given in zip(inputs, configs_for(config, len(inputs)), strict=True):
        resolved = resolve_config(given)
        heard = requested(resolved)
        manager = await start(door, owner, resolved, value, **said) if heard else None
        scopes.append(open_scope(resolved, manager, is_async=door.is_async))
    return scopes


async def close_runs(door: Door, scopes: Sequence[Scope], outputs: Sequence[Any]) -> None:
    """Tell the handlers of each run's output, or of the exception in its place."""
    for scope, output in zip(scopes, outputs, strict=True):
        if (told := scope.manager) is not None:
            is_error = isinstance(output, BaseException)
            await door.tell(told.on_chain_error if is_error else told.on_chain_end, output)


async def fail_runs(door: Door, scopes: Sequence[Scope], error: BaseException) -> None:
    """Tell the handlers that the whole batch failed."""
    for scope in scopes:
        if scope.manager is not None:
            await door.tell(scope.manager.on_chain_error, error)
