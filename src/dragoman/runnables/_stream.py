"""The frame around a stream: the same as `_scope.traced`, for iterators of either colour.

The two drivers only loop; what both know stands in `StreamRun`. A driver that is closed, cancelled or
fails closes every stage it opened, the last one first, so that an abandoned chain lets go of the
model's connection at once.
"""

from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from typing import Any

from dragoman._door import ASYNC, SYNC, run
from dragoman.callbacks.ambient import requested, var_child_runnable_config
from dragoman.runnables._addable import Accumulator
from dragoman.runnables._scope import Named, Scope, open_scope, start
from dragoman.runnables.config import resolve_config

__all__ = ["aclose_all", "aonce", "astream_traced", "close_all", "stream_traced"]

_END: Any = object()

Flow = Callable[[Any, Scope, dict[str, Any]], list[Any]]
"""Input iterator, scope, kwargs -> the stages opened, each reading the one before; the last is the output."""


def close_all(stages: Iterable[Any]) -> None:
    """Close iterators that can be closed, the last one first; all of them, whatever one raises."""
    error: BaseException | None = None
    for stage in reversed(list(stages)):
        if (close := getattr(stage, "close", None)) is not None:
            try:
                close()
            except BaseException as failure:  # noqa: BLE001 - raised below, after the others are closed
                error = error or failure
    if error is not None:
        raise error


async def aclose_all(stages: Iterable[Any]) -> None:
    """Close async iterators that can be closed, the last one first; all, whatever one raises."""
    error: BaseException | None = None
    for stage in reversed(list(stages)):
        if (aclose := getattr(stage, "aclose", None)) is not None:
            try:
                await aclose()
            except BaseException as failure:  # noqa: BLE001 - raised below, after the others are closed
                error = error or failure
    if error is not None:
        raise error


async def aonce(value: Any) -> AsyncIterator[Any]:
    """Yield `value`."""
    yield value


class StreamRun:
    """What a traced stream remembers: its input and output added up, and who sees each chunk."""

    __slots__ = ("inputs", "manager", "outputs", "taps")

    def __init__(self, manager: Any) -> None:
        self.manager = manager
        self.inputs = Accumulator()
        self.outputs = Accumulator()
        self.taps = [tap for h in manager.handlers if (tap := getattr(h, "tap_chunk", None))]

    def tapped(self, first: Any, inputs: Iterator[Any]) -> Iterator[Any]:
        if first is _END:
            return
        self.inputs.feed(first)
        yield first
        for chunk in inputs:
            self.inputs.feed(chunk)
            yield chunk

    async def atapped(self, first: Any, inputs: AsyncIterator[Any]) -> AsyncIterator[Any]:
        if first is _END:
            return
        self.inputs.feed(first)
        yield first
        async for chunk in inputs:
            self.inputs.feed(chunk)
            yield chunk

    def saw(self, chunk: Any) -> None:
        self.outputs.feed(chunk)
        for tap in self.taps:
            tap(self.manager.run_id, chunk)

    def end(self) -> tuple[Any, dict[str, Any]]:
        return self.outputs.value, {"inputs": self.inputs.value}


def _sync_items(stages: list[Any], ambient: Any, seen: StreamRun | None) -> Iterator[Any]:
    """Yield the items of the last stage, each made while `ambient` is in force."""
    output = stages[-1]
    while True:
        token = var_child_runnable_config.set(ambient)
        try:
            item = next(output)
        except StopIteration:
            return
        finally:
            var_child_runnable_config.reset(token)
        if seen is not None:
            seen.saw(item)
        yield item


async def _async_items(
    stages: list[Any], ambient: Any, seen: StreamRun | None
) -> AsyncIterator[Any]:
    """Yield the items of the last stage, each made while `ambient` is in force."""
    output = stages[-1]
    while True:
        token = var_child_runnable_config.set(ambient)
        try:
            item = await output.__anext__()
        except StopAsyncIteration:
            return
        finally:
            var_child_runnable_config.reset(token)
        if seen is not None:
            seen.saw(item)
        yield item


def stream_traced(
    owner: Named,
    inputs: Iterator[Any],
    config: Mapping[str, Any] | None,
    flow: Flow,
    kwargs: dict[str, Any],
    **said: Any,
) -> Iterator[Any]:
    """Yield the output of `flow`, with the handlers told of start, end and error."""
    config = resolve_config(config)
    if not requested(config):
        scope = open_scope(config, None, is_async=False)
        stages = flow(inputs, scope, kwargs)
        try:
            if scope.config is var_child_runnable_config.get():
                yield from stages[-1]
            else:
                yield from _sync_items(stages, scope.config, None)
        finally:
            close_all(stages)
        return
    # A step of a stream starts when its first input is there.
    first = next(inputs, _END)
    manager = run(start(SYNC, owner, config, {"input": ""}, **said))
    seen = StreamRun(manager)
    scope = open_scope(config, manager, is_async=False)
    stages: list[Any] = []
    try:
        stages = flow(seen.tapped(first, inputs), scope, kwargs)
        yield from _sync_items(stages, scope.child(), seen)
    except GeneratorExit:
        # The consumer has had enough: for the handlers this run ended with what it gave so far.
        close_all(stages)
        output, given = seen.end()
        manager.on_chain_end(output, **given)
        raise
    except BaseException as error:
        manager.on_chain_error(error, inputs=seen.inputs.value)
        raise
    else:
        output, given = seen.end()
        manager.on_chain_end(output, **given)
    finally:
        close_all(stages)


async def astream_traced(
    owner: Named,
    inputs: AsyncIterator[Any],
    config: Mapping[str, Any] | None,
    flow: Flow,
    kwargs: dict[str, Any],
    **said: Any,
) -> AsyncIterator[Any]:
    """Yield the output of `flow`, with the handlers told of start, end and error."""
    config = resolve_config(config)
    if not requested(config):
        scope = open_scope(config, None, is_async=True)
        stages = flow(inputs, scope, kwargs)
        try:
            if scope.config is not var_child_runnable_config.get():
                stages.append(_async_items(stages[:], scope.config, None))
            async for item in stages[-1]:
                yield item
        finally:
            await aclose_all(stages)
        return
    first = await anext(inputs, _END)
    manager = await start(ASYNC, owner, config, {"input": ""}, **said)
    seen = StreamRun(manager)
    scope = open_scope(config, manager, is_async=True)
    stages: list[Any] = []
    try:
        stages = flow(seen.atapped(first, inputs), scope, kwargs)
        stages.append(_async_items(stages[:], scope.child(), seen))
        async for item in stages[-1]:
            yield item
    except GeneratorExit:
        await aclose_all(stages)
        output, given = seen.end()
        await manager.on_chain_end(output, **given)
        raise
    except BaseException as error:
        await manager.on_chain_error(error, inputs=seen.inputs.value)
        raise
    else:
        output, given = seen.end()
        await manager.on_chain_end(output, **given)
    finally:
        await aclose_all(stages)
