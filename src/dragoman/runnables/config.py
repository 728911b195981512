"""The config of a call: what travels beside the input through every step of a chain.

A call without a config, outside of any chain, has None: nothing is built, copied or merged then.
`resolve_config` gives the effective one (what a surrounding chain passes on, under what the caller
says) and `ensure_config` the full dict that user code sees.
"""

import asyncio
import warnings
from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import Context, copy_context
from functools import lru_cache, partial
from typing import Any, ParamSpec, TypeVar, cast
from uuid import UUID

from typing_extensions import TypedDict, override

from dragoman.callbacks.ambient import var_child_runnable_config
from dragoman.callbacks.base import BaseCallbackHandler, BaseCallbackManager
from dragoman.callbacks.manager import AsyncCallbackManager, CallbackManager
from dragoman.runnables._inspection import accepts_config, accepts_run_manager

__all__ = [
    "CONFIG_KEYS",
    "DEFAULT_RECURSION_LIMIT",
    "ContextThreadPoolExecutor",
    "EmptyDict",
    "RunnableConfig",
    "acall_func_with_variable_args",
    "call_func_with_variable_args",
    "check_config",
    "ensure_config",
    "get_async_callback_manager_for_config",
    "get_callback_manager_for_config",
    "get_config_list",
    "get_executor_for_config",
    "merge_configs",
    "patch_config",
    "resolve_config",
    "run_in_executor",
    "set_config_context",
    "takes_none",
    "var_child_runnable_config",
    "with_keys",
]

P = ParamSpec("P")
T = TypeVar("T")

DEFAULT_RECURSION_LIMIT = 25


class EmptyDict(TypedDict, total=False):
    """A dict without keys."""


class RunnableConfig(TypedDict, total=False):
    """What may be said about a call; every key may be left out."""

    tags: list[str]
    """Words that handlers see on this call and on what it calls."""
    metadata: dict[str, Any]
    """Values that handlers see on this call and on what it calls."""
    callbacks: list[BaseCallbackHandler] | BaseCallbackManager | None
    """Who hears of this call and of what it calls."""
    run_name: str
    """The name of this call; what it calls has its own."""
    max_concurrency: int | None
    """How many calls run at a time in `batch`."""
    recursion_limit: int
    """How often functions may return runnables that return runnables; 25 by default."""
    configurable: dict[str, Any]
    """Values of fields made configurable, and whatever else the steps look for."""
    run_id: UUID | None
    """The id of this call; what it calls has its own."""


CONFIG_KEYS = (
    "tags",
    "metadata",
    "callbacks",
    "run_name",
    "max_concurrency",
    "recursion_limit",
    "configurable",
    "run_id",
)
_COPIED = frozenset(("tags", "metadata", "callbacks", "configurable"))
_SHOWN_AS_METADATA = ("model", "checkpoint_ns")


class Resolved(dict[str, Any]):
    """A config that already holds what the surrounding chain says."""

    __slots__ = ()


_FORMS: dict[str, Any] = {
    "tags": list,
    "metadata": Mapping,
    "callbacks": (list, BaseCallbackManager),
    "configurable": Mapping,
}


def check_config(config: Any) -> None:
    """Look at the form of a config that a caller gave.

    Raises:
        TypeError: If it is no dict, or one of its keys holds something of another kind.
    """
    if not isinstance(config, Mapping):
        message = (
            f"a config has to be a dict, such as {{'tags': ['a']}}, not {type(config).__name__}"
        )
        raise TypeError(message)
    given = cast("Mapping[str, Any]", config)
    for key, kinds in _FORMS.items():
        value = given.get(key)
        if value is not None and not isinstance(value, kinds):
            wanted = "dict" if kinds is Mapping else "list"
            message = f"{key!r} of a config has to be a {wanted}, not {type(value).__name__}"
            raise TypeError(message)
    handlers = given.get("callbacks")
    for position, handler in enumerate(handlers if isinstance(handlers, list) else ()):
        if not hasattr(handler, "ignore_chain"):
            name = type(handler).__name__
            message = f"'callbacks' of a config: the item at {position} is no handler, but {name}"
            raise TypeError(message)


def with_keys(config: Mapping[str, Any] | None, keys: Mapping[str, Any]) -> RunnableConfig:
    """Return a config with some keys more, as `with_config` takes them.

    Raises:
        TypeError: If it is no config.
    """
    if config is not None:
        check_config(config)
    full = {**(config or {}), **keys}
    check_config(full)
    return cast("RunnableConfig", full)


def ensure_config(config: Mapping[str, Any] | None = None) -> RunnableConfig:
    """Return a full config: defaults, then a surrounding chain's, then `config`, key by key.

    Keys that are no config keys go to `configurable`. `model` and `checkpoint_ns` in `configurable`
    are copied to `metadata` unless it has them.

    Raises:
        TypeError: If `config` is no config.

    >>> ensure_config({"tags": ["a"]})["recursion_limit"]
    25
    """
    if config is not None and type(config) is not Resolved:
        check_config(config)
    full: dict[str, Any] = {
        "tags": [],
        "metadata": {},
        "callbacks": None,
        "recursion_limit": DEFAULT_RECURSION_LIMIT,
        "configurable": {},
    }
    for source in (var_child_runnable_config.get(), config):
        for key, value in (source or {}).items():
            if key in CONFIG_KEYS and value is not None:
                full[key] = value.copy() if key in _COPIED else value
    for key, value in (config or {}).items():
        if key not in CONFIG_KEYS and value is not None:
            full["configurable"][key] = value
    configurable, metadata = full["configurable"], full["metadata"]
    for key in _SHOWN_AS_METADATA:
        if configurable.get(key) is not None and key not in metadata:
            metadata[key] = configurable[key]
    return cast("RunnableConfig", full)


_CALLS = ("invoke", "ainvoke", "batch", "abatch", "stream", "astream", "transform", "atransform")


@lru_cache(maxsize=2048)
def takes_none(kind: type) -> bool:
    """Return whether all calls of a class are this package's, which take None for an empty config."""
    return all(
        (getattr(getattr(kind, name), "__module__", None) or "").startswith("dragoman.")
        for name in _CALLS
    )


def config_for(step: object, config: Mapping[str, Any] | None) -> Any:
    """Return the config that a chain calls `step` with: a full one if the step is a user's class."""
    if type(config) is Resolved or takes_none(type(step)):
        return config
    return ensure_config(config)


def resolve_config(config: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """Return the config in force, or None when neither the caller nor a surrounding chain says anything."""
    ambient = var_child_runnable_config.get()
    if config is None:
        return ambient
    if config is ambient or type(config) is Resolved:
        return config
    if ambient is None:
        check_config(config)
        return config
    return Resolved(ensure_config(config))


def get_config_list(
    config: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None, length: int
) -> list[RunnableConfig]:
    """Return `length` full configs, from one for all or one for each.

    A `run_id` given for all goes to the first only.

    Raises:
        ValueError: If `length` is negative, or a list of configs has another length.
    """
    if length < 0:
        text = f"length must be >= 0, but got {length}"
        raise ValueError(text)
    if isinstance(config, Sequence):
        if len(config) != length:
            text = (
                "config must be a list of the same length as inputs, "
                f"but got {len(config)} configs for {length} inputs"
            )
            raise ValueError(text)
        return [ensure_config(one) for one in config]
    if config is not None and length > 1 and config.get("run_id") is not None:
        text = "Provided run_id be used only for the first element of the batch."
        warnings.warn(text, category=RuntimeWarning, stacklevel=3)
        rest = {key: value for key, value in config.items() if key != "run_id"}
        return [ensure_config(config), *(ensure_config(rest) for _ in range(length - 1))]
    return [ensure_config(config) for _ in range(length)]


def patch_config(
    config: Mapping[str, Any] | None,
    *,
    callbacks: BaseCallbackManager | None = None,
    recursion_limit: int | None = None,
    max_concurrency: int | None = None,
    run_name: str | None = None,
    configurable: dict[str, Any] | None = None,
) -> RunnableConfig:
    """Return a full config with the given values put in.

    New `callbacks` mean a new run, so `run_name` and `run_id` of the old one are dropped.
    """
    full = ensure_config(config)
    if callbacks is not None:
        full["callbacks"] = callbacks
        full.pop("run_name", None)
        full.pop("run_id", None)
    if recursion_limit is not None:
        full["recursion_limit"] = recursion_limit
    if max_concurrency is not None:
        full["max_concurrency"] = max_concurrency
    if run_name is not None:
        full["run_name"] = run_name
    if configurable is not None:
        full["configurable"] = {**full.get("configurable", {}), **configurable}
    return full


def _merge_callbacks(ours: Any, theirs: Any) -> Any:
    if theirs is None or ours is None:
        given = ours if theirs is None else theirs
        return given.copy() if given is not None else None
    if isinstance(ours, BaseCallbackManager) and isinstance(theirs, BaseCallbackManager):
        return ours.merge(theirs)
    if isinstance(ours, BaseCallbackManager) or isinstance(theirs, BaseCallbackManager):
        manager, handlers = (
            (ours, theirs) if isinstance(ours, BaseCallbackManager) else (theirs, ours)
        )
        merged: BaseCallbackManager = manager.copy()
        for handler in cast("list[BaseCallbackHandler]", handlers):
            merged.add_handler(handler, inherit=True)
        return merged
    return [*ours, *theirs]


def merge_configs(*configs: Mapping[str, Any] | None) -> RunnableConfig:
    """Return one config: tags united and sorted, metadata and configurable merged, callbacks joined.

    Of every other value the last given wins; a default recursion limit does not override another.
    """
    given = [config for config in configs if config is not None]
    merged: dict[str, Any] = {"tags": [], "metadata": {}, "configurable": {}} if given else {}
    for config in given:
        check_config(config)
        for key, value in ensure_config_keys(config).items():
            match key:
                case "metadata" | "configurable":
                    merged[key] = {**merged.get(key, {}), **(value or {})}
                case "tags":
                    merged[key] = sorted({*merged.get(key, ()), *(value or ())})
                case "callbacks":
                    merged[key] = _merge_callbacks(merged.get(key), value)
                case "recursion_limit":
                    if value is not None and value != DEFAULT_RECURSION_LIMIT:
                        merged[key] = value
                case _:
                    if value is not None or key not in merged:
                        merged[key] = value or merged.get(key)
    return cast("RunnableConfig", {k: v for k, v in merged.items() if v is not None})


def ensure_config_keys(config: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return `config` with the keys that are no config keys moved into `configurable`."""
    extra = {key: value for key, value in config.items() if key not in CONFIG_KEYS}
    if not extra:
        return config
    known = {key: value for key, value in config.items() if key in CONFIG_KEYS}
    return {**known, "configurable": {**(known.get("configurable") or {}), **extra}}


@contextmanager
def set_config_context(config: Mapping[str, Any]) -> Generator[Context, None, None]:
    """Yield a copy of the context in which calls inherit `config`; use it with `context.run`."""
    context = copy_context()
    token = context.run(var_child_runnable_config.set, config)
    try:
        yield context
    finally:
        context.run(var_child_runnable_config.reset, token)


def _extra_arguments(
    function: Callable[..., Any], config: RunnableConfig, run_manager: Any, kwargs: dict[str, Any]
) -> dict[str, Any]:
    if accepts_config(function):
        kwargs["config"] = (
            config
            if run_manager is None
            else patch_config(config, callbacks=run_manager.get_child())
        )
    if run_manager is not None and accepts_run_manager(function):
        kwargs["run_manager"] = run_manager
    return kwargs


def call_func_with_variable_args(
    func: Callable[..., Any],
    input: Any,
    config: RunnableConfig,
    run_manager: Any = None,
    **kwargs: Any,
) -> Any:
    """Return `func(input)`, given `config` and `run_manager` as well if it has such parameters."""
    return func(input, **_extra_arguments(func, config, run_manager, kwargs))


def acall_func_with_variable_args(
    func: Callable[..., Awaitable[Any]],
    input: Any,
    config: RunnableConfig,
    run_manager: Any = None,
    **kwargs: Any,
) -> Awaitable[Any]:
    """Return the awaitable `func(input)`; see `call_func_with_variable_args`."""
    return func(input, **_extra_arguments(func, config, run_manager, kwargs))


def get_callback_manager_for_config(config: Mapping[str, Any]) -> CallbackManager:
    """Return the sync manager of what listens to a call with `config`."""
    return CallbackManager.configure(
        inheritable_callbacks=config.get("callbacks"),
        inheritable_tags=config.get("tags"),
        inheritable_metadata=config.get("metadata"),
    )


def get_async_callback_manager_for_config(config: Mapping[str, Any]) -> AsyncCallbackManager:
    """Return the async manager of what listens to a call with `config`."""
    return AsyncCallbackManager.configure(
        inheritable_callbacks=config.get("callbacks"),
        inheritable_tags=config.get("tags"),
        inheritable_metadata=config.get("metadata"),
    )


class ContextThreadPoolExecutor(ThreadPoolExecutor):
    """A thread pool whose work sees a copy of the submitter's context variables."""

    @override
    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        return super().submit(
            cast("Callable[..., T]", partial(copy_context().run, fn, *args, **kwargs))
        )

    @override
    def map(self, fn: Callable[..., T], *iterables: Any, **kwargs: Any) -> Any:
        contexts = [copy_context() for _ in range(min(map(len, iterables), default=0))]

        def in_context(*args: Any) -> T:
            return contexts.pop().run(fn, *args)

        return super().map(in_context, *iterables, **kwargs)


@contextmanager
def get_executor_for_config(config: Mapping[str, Any] | None) -> Generator[Executor, None, None]:
    """Yield a thread pool of `max_concurrency` threads."""
    with ContextThreadPoolExecutor(max_workers=(config or {}).get("max_concurrency")) as executor:
        yield executor


async def run_in_executor(
    executor_or_config: Executor | Mapping[str, Any] | None,
    func: Callable[P, T],
    *args: P.args,
    **kwargs: P.kwargs,
) -> T:
    """Return `func(...)`, run in a thread that sees the caller's context variables.

    Raises:
        RuntimeError: If `func` raises StopIteration, which no awaitable can raise.
    """

    def call() -> T:
        try:
            return func(*args, **kwargs)
        except StopIteration as error:
            raise RuntimeError from error

    if isinstance(executor_or_config, Executor):
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(executor_or_config, copy_context().run, call)
    return await asyncio.to_thread(call)
