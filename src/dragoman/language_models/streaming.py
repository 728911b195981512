"""One streamed call of a chat model: the two drivers behind stream and astream.

The rules of a stream are in `ChunkShaper`; these generators only loop, so that no token passes
through more machinery than it must.
"""

import asyncio
from collections.abc import AsyncGenerator, Generator, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from dragoman._door import ASYNC, SYNC, Door, run
from dragoman.language_models.calls import (
    explicit_streaming,
    is_streaming_off,
    start_runs,
    stream_hook,
    wait_turn,
    wants_callbacks,
)
from dragoman.language_models.ids import new_run, run_prefix
from dragoman.language_models.inputs import standard_inputs, to_messages
from dragoman.language_models.streams import ChunkShaper
from dragoman.outputs import ChatGenerationChunk, LLMResult
from dragoman.runnables.config import resolve_config

if TYPE_CHECKING:
    from dragoman.language_models.chat_models import BaseChatModel

__all__ = ["achunks", "astream_reply", "chunks", "in_thread", "stream_reply"]

END = object()


class Opened(NamedTuple):
    """A stream about to start."""

    messages: list[Any]
    shaper: ChunkShaper
    manager: Any


def may_stream(model: "BaseChatModel", door: Door, kwargs: Mapping[str, Any]) -> bool:
    """Return whether `stream` is to stream, or to give the reply in one piece."""
    return (
        stream_hook(model, door) is not None
        and kwargs.get("stream") is not False
        and not is_streaming_off(model, kwargs)
        and explicit_streaming(model) is not False
    )


async def open_stream(
    model: "BaseChatModel",
    door: Door,
    given: Any,
    config: Mapping[str, Any] | None,
    stop: list[str] | None,
    kwargs: dict[str, Any],
) -> Opened:
    """Start the callbacks, wait for the rate limiter, and return what the driver needs."""
    config = resolve_config(config)
    messages = to_messages(given)
    manager = None
    if wants_callbacks(model, config):
        manager = (await start_runs(model, door, [messages], config, stop, kwargs))[0]
        prefix = run_prefix(manager.run_id)
    else:
        run_id = config.get("run_id") if config else None
        prefix = new_run() if run_id is None else run_prefix(run_id)
    kwargs.pop("stream", None)
    kwargs.pop("ls_structured_output_format", None)
    if model.rate_limiter is not None:
        await wait_turn(model.rate_limiter, door)
    is_ours = stream_hook(model, door).is_ours
    shaper = ChunkShaper(prefix, is_v1=model.output_version == "v1", is_ours=is_ours)
    return Opened(standard_inputs(messages), shaper, manager)


def stream_reply(
    model: "BaseChatModel",
    given: Any,
    config: Any,
    stop: list[str] | None,
    kwargs: dict[str, Any],
) -> Generator[Any, None, None]:
    """Yield the chunks of one reply."""
    if not may_stream(model, SYNC, kwargs):
        kwargs.pop("stream", None)
        yield model.invoke(given, config, stop=stop, **kwargs)
        return
    opened = run(open_stream(model, SYNC, given, config, stop, kwargs))
    source = chunks(model, opened.messages, stop, kwargs, opened.shaper, opened.manager)
    if opened.manager is None:
        yield from source
        return
    seen: list[Any] = []
    try:
        for chunk in source:
            seen.append(chunk)
            yield chunk
    except BaseException as error:
        source.close()
        opened.manager.on_llm_error(error, response=_said(seen))
        raise
    opened.manager.on_llm_end(_said(seen))


async def astream_reply(
    model: "BaseChatModel",
    given: Any,
    config: Any,
    stop: list[str] | None,
    kwargs: dict[str, Any],
) -> AsyncGenerator[Any, None]:
    """Yield the chunks of one reply, under async."""
    if not may_stream(model, ASYNC, kwargs):
        kwargs.pop("stream", None)
        yield await model.ainvoke(given, config, stop=stop, **kwargs)
        return
    opened = await open_stream(model, ASYNC, given, config, stop, kwargs)
    source = achunks(model, opened.messages, stop, kwargs, opened.shaper, opened.manager)
    seen: list[Any] = []
    try:
        async for chunk in source:
            if opened.manager is not None:
                seen.append(chunk)
            yield chunk
    except BaseException as error:
        await source.aclose()
        if opened.manager is not None:
            await opened.manager.on_llm_error(error, response=_said(seen))
        raise
    if opened.manager is not None:
        await opened.manager.on_llm_end(_said(seen))


def chunks(
    model: "BaseChatModel",
    messages: list[Any],
    stop: list[str] | None,
    kwargs: dict[str, Any],
    shaper: ChunkShaper,
    manager: Any,
) -> Generator[Any, None, None]:
    """Yield the shaped chunks of the model's hook, and tell the handlers of each."""
    # Handlers hear of chunks from here; a hook that had the manager would tell them twice.
    hook = stream_hook(model, SYNC)
    source = getattr(model, hook.name)(messages, stop=stop, **kwargs)
    feed = shaper.feed
    try:
        for item in source:
            chunk = feed(item)
            if manager is not None:
                manager.on_llm_new_token(**_token(chunk))
            yield chunk
    finally:
        _close(source)
    last = shaper.close()
    if last is not None:
        if manager is not None:
            manager.on_llm_new_token(**_token(last))
        yield last


async def achunks(
    model: "BaseChatModel",
    messages: list[Any],
    stop: list[str] | None,
    kwargs: dict[str, Any],
    shaper: ChunkShaper,
    manager: Any,
) -> AsyncGenerator[Any, None]:
    """Yield the shaped chunks of the model's hook, under async."""
    hook = stream_hook(model, ASYNC)
    source = getattr(model, hook.name)(messages, stop=stop, **kwargs)
    if model._hooks.achunks is None:
        source = in_thread(source)
    feed = shaper.feed
    try:
        async for item in source:
            chunk = feed(item)
            if manager is not None:
                await manager.on_llm_new_token(**_token(chunk))
            yield chunk
    finally:
        # A generator that is abandoned must give its connection back now, not when collected.
        if hasattr(source, "aclose"):
            await source.aclose()
    last = shaper.close()
    if last is not None:
        if manager is not None:
            await manager.on_llm_new_token(**_token(last))
        yield last


async def in_thread(source: Iterator[Any]) -> AsyncGenerator[Any, None]:
    """Yield the items of a sync iterator, each made in a worker thread."""
    iterator = iter(source)
    try:
        while (item := await asyncio.to_thread(next, iterator, END)) is not END:
            yield item
    finally:
        _close(source)


def _close(source: Any) -> None:
    if hasattr(source, "close"):
        source.close()


def _token(chunk: Any) -> dict[str, Any]:
    return {"token": chunk.content, "chunk": ChatGenerationChunk(message=chunk)}


def _said(seen: list[Any]) -> LLMResult:
    if not seen:
        return LLMResult(generations=[])
    total = seen[0] + seen[1:] if len(seen) > 1 else seen[0]
    return LLMResult(generations=[[ChatGenerationChunk(message=total)]])
