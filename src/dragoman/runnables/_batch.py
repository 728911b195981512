"""Many inputs at once: in order, or as they finish.

`return_exceptions` puts an `Exception` in the place of its output; a `BaseException` such as a
cancellation always goes up.
"""

import asyncio
import queue
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping, Sequence
from contextvars import copy_context
from typing import Any

from dragoman._door import MAX_THREADS, Door
from dragoman.callbacks.ambient import var_child_runnable_config
from dragoman.runnables.config import config_for, get_config_list

__all__ = ["abatch_as_completed", "batch", "batch_as_completed", "configs_for", "limit_of"]


def configs_for(
    config: Any, n_inputs: int, step: object = None
) -> Sequence[Mapping[str, Any] | None]:
    """Return one config for each input: None for each when nothing is said and `step` takes that."""
    if (
        config is None
        and var_child_runnable_config.get() is None
        and (step is None or config_for(step, None) is None)
    ):
        return [None] * n_inputs
    return get_config_list(config, n_inputs)


def limit_of(configs: Sequence[Mapping[str, Any] | None]) -> int | None:
    """Return `max_concurrency`, that of the first config."""
    return (configs[0] or {}).get("max_concurrency") if configs else None


async def batch(
    door: Door,
    step: Any,
    inputs: Sequence[Any],
    config: Any,
    *,
    return_exceptions: bool,
    kwargs: dict[str, Any],
) -> list[Any]:
    """Return the outputs in order; a step that never waits runs inline, others several at a time."""
    configs = configs_for(config, len(inputs), step)

    if not (step._waits or return_exceptions or door.is_async):
        return [step.invoke(v, c, **kwargs) for v, c in zip(inputs, configs, strict=True)]

    async def one(value: Any, config: Any) -> Any:
        if not return_exceptions:
            return await door.invoke(step, value, config, **kwargs)
        try:
            return await door.invoke(step, value, config, **kwargs)
        except Exception as error:  # noqa: BLE001 - the caller asked for it as a value
            return error

    if not step._waits or len(inputs) == 1:
        return [await one(value, config) for value, config in zip(inputs, configs, strict=True)]

    def body(value: Any, config: Any) -> Callable[[], Coroutine[Any, Any, Any]]:
        return lambda: one(value, config)

    bodies = [body(value, config) for value, config in zip(inputs, configs, strict=True)]
    return await door.gather(bodies, limit_of(configs))


def batch_as_completed(
    step: Any,
    inputs: Sequence[Any],
    config: Any,
    *,
    return_exceptions: bool,
    kwargs: dict[str, Any],
) -> Iterator[tuple[int, Any]]:
    """Yield `(index, output)` as the outputs come; closing it starts no further input."""
    configs = configs_for(config, len(inputs), step)
    done: queue.SimpleQueue[tuple[int, Any, BaseException | None]] = queue.SimpleQueue()
    order = iter(range(len(inputs)))
    stopped = threading.Event()
    context = copy_context()

    def work() -> None:
        # `next` on a range iterator is atomic under the GIL: each index is taken once.
        while not stopped.is_set() and (index := next(order, None)) is not None:
            try:
                call = context.copy().run
                output = call(step.invoke, inputs[index], configs[index], **kwargs)
                done.put((index, output, None))
            except BaseException as error:  # noqa: BLE001 - handed to the consumer below
                done.put((index, None, error))

    n_threads = min(len(inputs), limit_of(configs) or MAX_THREADS)
    threads = [threading.Thread(target=work, daemon=True) for _ in range(n_threads)]
    try:
        for thread in threads:
            thread.start()
        for _ in inputs:
            index, output, error = done.get()
            if error is not None:
                if not (return_exceptions and isinstance(error, Exception)):
                    raise error
                output = error
            yield index, output
    finally:
        stopped.set()


async def abatch_as_completed(
    step: Any,
    inputs: Sequence[Any],
    config: Any,
    *,
    return_exceptions: bool,
    kwargs: dict[str, Any],
) -> AsyncIterator[tuple[int, Any]]:
    """Yield `(index, output)` as the outputs come; closing it cancels the inputs that still run."""
    configs = configs_for(config, len(inputs), step)
    gate = asyncio.Semaphore(limit_of(configs) or max(len(inputs), 1))

    async def one(index: int) -> tuple[int, Any]:
        async with gate:
            try:
                return index, await step.ainvoke(inputs[index], configs[index], **kwargs)
            except Exception as error:
                if not return_exceptions:
                    raise
                return index, error

    tasks = [asyncio.create_task(one(index)) for index in range(len(inputs))]
    try:
        for next_done in asyncio.as_completed(tasks):
            yield await next_done
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
