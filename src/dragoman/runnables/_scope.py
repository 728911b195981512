"""The scope of one call: what its children get, and who is told about it.

`traced` is the one frame around every call of a runnable. While nobody listens it finds that out with
two look-ups and passes on; otherwise it tells the handlers of start, end and error. The config that
children inherit is put into the context only when it is not there already.
"""

from collections.abc import Awaitable, Callable, Generator, Mapping
from contextlib import contextmanager
from typing import Any, Protocol

from dragoman._door import Door
from dragoman.callbacks.ambient import requested, var_child_runnable_config
from dragoman.callbacks.runs import AsyncCallbackManagerForChainRun, CallbackManagerForChainRun
from dragoman.runnables._inspection import NOTHING, takes
from dragoman.runnables.config import (
    Resolved,
    config_for,
    ensure_config,
    get_async_callback_manager_for_config,
    get_callback_manager_for_config,
    resolve_config,
)

__all__ = [
    "ASYNC_PLAIN",
    "PLAIN",
    "Body",
    "Named",
    "Scope",
    "called",
    "inherited",
    "open_scope",
    "start",
    "traced",
]


class Named(Protocol):
    """What has a name to be told under."""

    def get_name(self, suffix: str | None = None, *, name: str | None = None) -> str:
        """Return the name."""
        ...


class Scope:
    """One call: the config its children get (or None), and its run manager (or None)."""

    __slots__ = ("config", "is_async", "manager")

    def __init__(
        self, config: Mapping[str, Any] | None, manager: Any = None, *, is_async: bool = False
    ) -> None:
        self.config = config
        self.manager = manager
        self.is_async = is_async

    def child(self, tag: str | None = None, number: object = "") -> Mapping[str, Any] | None:
        """Return the config for a call made by this one; handlers see the tag `tag + number` on it."""
        if self.manager is None:
            return self.config
        label = None if tag is None else f"{tag}{number}"
        assert self.config is not None
        return Resolved(self.config, callbacks=self.manager.get_child(label))

    def to(
        self, step: object, tag: str | None = None, number: object = ""
    ) -> Mapping[str, Any] | None:
        """Return the config to call `step` with: `child`, made full for a user's own class."""
        return config_for(step, self.child(tag, number))

    def shown(self) -> dict[str, Any]:
        """Return the full config to show to user code."""
        return dict(ensure_config(self.child()))

    def run_manager(self) -> Any:
        """Return the run manager to show to user code; one without handlers if nobody listens."""
        if self.manager is not None:
            return self.manager
        kind = AsyncCallbackManagerForChainRun if self.is_async else CallbackManagerForChainRun
        return kind.get_noop_manager()

    def arguments(self, function: Callable[..., Any], kwargs: dict[str, Any]) -> dict[str, Any]:
        """Return `kwargs` with `config` and `run_manager` added if `function` has such parameters."""
        taken = takes(function)
        if taken is NOTHING:
            return kwargs
        more: dict[str, Any] = {}
        if taken.config:
            more["config"] = self.shown()
        if taken.run_manager:
            more["run_manager"] = self.run_manager()
        return {**kwargs, **more}


PLAIN = Scope(None)
ASYNC_PLAIN = Scope(None, is_async=True)

Body = Callable[[Door, Any, Scope, dict[str, Any]], Awaitable[Any]]
"""What is framed: `body(door, value, scope, kwargs)`."""


def inherited(config: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return `config` without what belongs to one call only."""
    if "run_id" in config or "run_name" in config:
        kind: Any = type(config)
        return kind({k: v for k, v in config.items() if k not in ("run_id", "run_name")})
    return config


@contextmanager
def _in_force(config: Mapping[str, Any] | None) -> Generator[None, None, None]:
    token = var_child_runnable_config.set(config)
    try:
        yield
    finally:
        var_child_runnable_config.reset(token)


async def start(
    door: Door,
    owner: Named,
    config: Mapping[str, Any] | None,
    value: Any,
    **said: Any,
) -> Any:
    """Tell the handlers that a run of `owner` starts, and return its manager."""
    config = config or {}
    configure = (
        get_async_callback_manager_for_config if door.is_async else get_callback_manager_for_config
    )
    name = config.get("run_name") or said.pop("name", None) or owner.get_name()
    serialized = said.pop("serialized", None)
    return await door.tell(
        configure(config).on_chain_start,
        serialized,
        value,
        run_id=config.get("run_id"),
        name=name,
        **said,
    )


def open_scope(config: Mapping[str, Any] | None, manager: Any, *, is_async: bool) -> Scope:
    """Return the scope of a call with `config`; `manager` is None if nobody listens."""
    if manager is not None:
        return Scope(Resolved(inherited(ensure_config(config))), manager, is_async=is_async)
    if config is None:
        return ASYNC_PLAIN if is_async else PLAIN
    return Scope(inherited(config), is_async=is_async)


async def traced(
    door: Door,
    owner: Named,
    value: Any,
    config: Mapping[str, Any] | None,
    body: Body,
    kwargs: dict[str, Any],
    **said: Any,
) -> Any:
    """Return `body(door, value, scope, kwargs)`, with the handlers told of start, end and error.

    `said` is what `on_chain_start` is told besides (`run_type`, `serialized`).
    """
    config = resolve_config(config)
    if not requested(config):
        if config is None:
            return await body(door, value, ASYNC_PLAIN if door.is_async else PLAIN, kwargs)
        scope = open_scope(config, None, is_async=door.is_async)
        if scope.config is var_child_runnable_config.get():
            return await body(door, value, scope, kwargs)
        with _in_force(scope.config):
            return await body(door, value, scope, kwargs)
    manager = await start(door, owner, config, value, **said)
    scope = open_scope(config, manager, is_async=door.is_async)
    try:
        with _in_force(scope.child()):
            output = await body(door, value, scope, kwargs)
    except BaseException as error:
        await door.tell(manager.on_chain_error, error)
        raise
    await door.tell(manager.on_chain_end, output)
    return output


def called(function: Callable[..., Any]) -> Body:
    """Return the body that calls `function(value)` of the door's own colour."""

    async def body(door: Door, value: Any, scope: Scope, kwargs: dict[str, Any]) -> Any:
        return await door.tell(function, value, **scope.arguments(function, kwargs))

    return body
