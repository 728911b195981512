"""Events that user code dispatches from inside a chain."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from dragoman._door import ASYNC, SYNC, Door, run
from dragoman.callbacks.ambient import ambient_handlers, var_child_runnable_config
from dragoman.callbacks.base import BaseCallbackHandler, BaseCallbackManager
from dragoman.callbacks.events import tell_handlers

__all__ = ["adispatch_custom_event", "dispatch_custom_event"]

OUTSIDE = (
    "Unable to dispatch an adhoc event without a parent run id.This function can only be called from "
    "within an existing run (e.g.,inside a tool or a RunnableLambda or a RunnableGenerator.)"
    "If you are doing that and still seeing this error, try explicitly passing the config parameter "
    "to this function."
)


def _listeners(
    config: Mapping[str, Any] | None,
) -> tuple[list[BaseCallbackHandler], UUID | None, list[str], dict[str, Any]] | None:
    """Return handlers, run id, tags and metadata, or None outside of any run."""
    surrounding = var_child_runnable_config.get()
    config = config if config is not None else surrounding
    if config is None:
        return None
    callbacks = config.get("callbacks")
    if isinstance(callbacks, BaseCallbackManager):
        return (
            callbacks.handlers,
            callbacks.parent_run_id,
            callbacks.tags,
            callbacks.metadata,
        )
    handlers = [handler for handler, _ in ambient_handlers()]
    return (
        [*(callbacks or ()), *handlers],
        None,
        config.get("tags") or [],
        config.get("metadata") or {},
    )


async def _dispatch(door: Door, name: str, data: Any, config: Mapping[str, Any] | None) -> None:
    found = _listeners(config)
    if found is None:
        raise RuntimeError(OUTSIDE)
    handlers, run_id, tags, metadata = found
    if not handlers:
        return
    if run_id is None:
        raise RuntimeError(OUTSIDE)
    await tell_handlers(
        door, handlers, "on_custom_event", name, data, run_id=run_id, tags=tags, metadata=metadata
    )


def dispatch_custom_event(name: str, data: Any, *, config: Mapping[str, Any] | None = None) -> None:
    """Tell the handlers of the run this is called from `on_custom_event(name, data)`.

    Nothing happens when nobody listens to that run.

    Raises:
        RuntimeError: If called outside of a run.
    """
    run(_dispatch(SYNC, name, data, config))


async def adispatch_custom_event(
    name: str, data: Any, *, config: Mapping[str, Any] | None = None
) -> None:
    """Tell the handlers of the run this is called from `on_custom_event(name, data)`.

    Raises:
        RuntimeError: If called outside of a run.
    """
    await _dispatch(ASYNC, name, data, config)
