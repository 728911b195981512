"""One call of a chat model, and many: the body behind invoke, ainvoke, generate and agenerate.

Written once, entered through the door. The order of a call: callbacks start, cache, rate limiter,
hook (or the stream's chunks, where the call streams inside), ids and metadata, cache, callbacks
end.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

from dragoman._door import Door
from dragoman.callbacks.ambient import is_bare, requested
from dragoman.globals import get_llm_cache
from dragoman.language_models.hooks import Hook
from dragoman.language_models.ids import new_run, run_prefix
from dragoman.language_models.inputs import standard_inputs
from dragoman.language_models.replies import finish_result, from_cache, to_cache
from dragoman.language_models.streams import ChunkShaper
from dragoman.messages import AIMessage, BaseMessage, message_chunk_to_message
from dragoman.outputs import ChatGeneration, ChatResult, LLMResult, RunInfo
from dragoman.runnables.config import resolve_config

if TYPE_CHECKING:
    from dragoman.caches import BaseCache
    from dragoman.language_models.chat_models import BaseChatModel
    from dragoman.rate_limiters import BaseRateLimiter

__all__ = [
    "Exhausted",
    "bare_hook",
    "explicit_streaming",
    "generate_all",
    "is_streaming_off",
    "produce_one",
    "start_runs",
    "stream_hook",
    "sync_manager",
    "wait_turn",
    "wants_callbacks",
]


class Exhausted(Exception):  # noqa: N818 - carries a StopIteration past a coroutine, which may not raise one
    """A hook raised StopIteration, as a fake does that has no more replies."""

    def __init__(self, stop: StopIteration) -> None:
        super().__init__()
        self.stop = stop


def wants_callbacks(model: "BaseChatModel | Any", config: Mapping[str, Any] | None) -> bool:
    """Return whether somebody is to hear of a call with the effective `config`."""
    return bool(model.callbacks) or model.verbose or requested(config)


def bare_hook(
    model: "BaseChatModel",
    hook: Hook | None,
    config: Mapping[str, Any] | None,
    kwargs: Mapping[str, Any],
) -> str | None:
    """Return the name of the hook when a call is nothing but the hook, else None.

    Nobody listens, nothing is cached, limited, streamed inside or rewritten: most calls in tests
    and chains. They skip the body below, which would find all that out step by step.
    """
    if (
        hook is None
        or not hook.is_ours
        or model.rate_limiter is not None
        or model.output_version is not None
        or model.callbacks
        or model.verbose
        or "streaming" in model.__pydantic_fields_set__
        or ("stream" in kwargs or "ls_structured_output_format" in kwargs if kwargs else False)
    ):
        return None
    if not is_bare(config):
        config = resolve_config(config)
        if (config is not None and config.get("run_id") is not None) or requested(config):
            return None
    return hook.name if _cache_of(model) is None else None


async def produce_one(
    model: "BaseChatModel",
    door: Door,
    messages: list[BaseMessage],
    config: Mapping[str, Any] | None,
    stop: list[str] | None,
    kwargs: dict[str, Any],
) -> AIMessage:
    """Return the reply to one history."""
    config = resolve_config(config)
    if wants_callbacks(model, config):
        result = await generate_all(model, door, [messages], config, stop, kwargs)
        candidates = result.generations[0]
    else:
        run_id = config.get("run_id") if config else None
        prefix = new_run() if run_id is None else run_prefix(run_id)
        candidates = (await _produce(model, door, messages, stop, kwargs, prefix)).generations
    if not candidates:
        message = f"`{type(model).__name__}` returned no generations"
        raise ValueError(message)
    reply: Any = candidates[0]
    return reply.message


async def generate_all(
    model: "BaseChatModel",
    door: Door,
    batches: list[list[BaseMessage]],
    config: Mapping[str, Any] | None,
    stop: list[str] | None,
    kwargs: dict[str, Any],
) -> LLMResult:
    """Return the candidates for each history.

    Sync: one after the other, ended by the first error. Async: all at once; when all have ended,
    the error of the first in order is raised.
    """
    config = resolve_config(config)
    if wants_callbacks(model, config):
        managers = await start_runs(model, door, batches, config, stop, kwargs)
        run_ids: list[UUID] = [manager.run_id for manager in managers]
    else:
        managers = [None] * len(batches)
        given = config.get("run_id") if config else None
        run_ids = [given if i == 0 and given else uuid4() for i in range(len(batches))]

    async def one(index: int) -> ChatResult:
        manager = managers[index]
        prefix = run_prefix(run_ids[index])
        try:
            result = await _produce(
                model, door, batches[index], stop, dict(kwargs), prefix, manager
            )
        except BaseException as error:
            if manager is not None:
                told = error.stop if isinstance(error, Exhausted) else error
                await door.tell(manager.on_llm_error, told, response=LLMResult(generations=[]))
            raise
        if manager is not None:
            said = LLMResult(generations=[result.generations], llm_output=result.llm_output)
            await door.tell(manager.on_llm_end, said)
        return result

    async def caught(index: int) -> ChatResult | Exception:
        try:
            return await one(index)
        except Exception as error:  # noqa: BLE001 - kept, and raised when all have ended
            return error

    results: list[ChatResult]
    if door.is_async and len(batches) > 1:
        outcomes = await door.gather([lambda i=i: caught(i) for i in range(len(batches))])
        for outcome in outcomes:
            if isinstance(outcome, Exception):
                raise outcome
        results = [outcome for outcome in outcomes if isinstance(outcome, ChatResult)]
    else:
        results = [await one(index) for index in range(len(batches))]
    return LLMResult(
        generations=[result.generations for result in results],
        llm_output=model._combine_llm_outputs([result.llm_output for result in results]),
        run=[RunInfo(run_id=run_id) for run_id in run_ids],
    )


async def start_runs(
    model: Any,
    door: Door,
    batches: Sequence[Any],
    config: Mapping[str, Any] | None,
    stop: list[str] | None,
    kwargs: Mapping[str, Any],
    *,
    event: str = "on_chat_model_start",
) -> list[Any]:
    """Tell the handlers that runs start, one a batch, and return their managers."""
    from dragoman.callbacks import AsyncCallbackManager, CallbackManager
    from dragoman.load import dumpd

    config = config or {}
    said = dict(kwargs)
    options: dict[str, Any] = {"stop": stop, **said}
    structured = said.pop("ls_structured_output_format", None)
    options.pop("ls_structured_output_format", None)
    if structured is not None:
        options["ls_structured_output_format"] = structured
    kind: Any = AsyncCallbackManager if door.is_async else CallbackManager
    manager = kind.configure(
        config.get("callbacks"),
        model.callbacks,
        model.verbose,
        config.get("tags"),
        model.tags,
        {**(config.get("metadata") or {}), **model._get_ls_params(stop=stop, **said)},
        model.metadata,
    )
    return await door.tell(
        getattr(manager, event),
        dumpd(model),
        list(batches),
        run_id=config.get("run_id"),
        invocation_params=model._get_invocation_params(stop=stop, **said),
        options=options,
        name=config.get("run_name"),
        batch_size=len(batches),
    )


async def _produce(
    model: "BaseChatModel",
    door: Door,
    messages: list[BaseMessage],
    stop: list[str] | None,
    kwargs: dict[str, Any],
    prefix: str,
    manager: Any = None,
) -> ChatResult:
    """Return the finished result for one history; `kwargs` is this call's own dict."""
    wish = kwargs.pop("stream", None) if kwargs else None
    if kwargs:
        kwargs.pop("ls_structured_output_format", None)
    messages = standard_inputs(messages)
    cache = _cache_of(model)
    if cache is not None:
        return await _cached(model, door, messages, stop, kwargs, prefix, manager, wish, cache)
    return await _fresh(model, door, messages, stop, kwargs, prefix, manager, wish)


async def _cached(
    model: "BaseChatModel",
    door: Door,
    messages: list[BaseMessage],
    stop: list[str] | None,
    kwargs: dict[str, Any],
    prefix: str,
    manager: Any,
    wish: Any,
    cache: "BaseCache",
) -> ChatResult:
    """Return the result that the cache holds, or a fresh one, which it keeps."""
    from dragoman.language_models.cache_keys import prompt_key

    prompt, form = prompt_key(messages), model._get_llm_string(stop=stop, **kwargs)
    stored = await door.either(
        lambda: cache.lookup(prompt, form), lambda: cache.alookup(prompt, form)
    )
    if stored is not None:
        result = ChatResult(generations=from_cache(stored))
        return finish_result(result, prefix, is_v1=model.output_version == "v1", is_ours=True)
    result = await _fresh(model, door, messages, stop, kwargs, prefix, manager, wish)
    kept = to_cache(result.generations)
    await door.either(
        lambda: cache.update(prompt, form, kept), lambda: cache.aupdate(prompt, form, kept)
    )
    return result


async def _fresh(
    model: "BaseChatModel",
    door: Door,
    messages: list[BaseMessage],
    stop: list[str] | None,
    kwargs: dict[str, Any],
    prefix: str,
    manager: Any,
    wish: Any,
) -> ChatResult:
    """Return the finished result that the model gives now."""
    if model.rate_limiter is not None:
        await wait_turn(model.rate_limiter, door)
    is_ours = True
    if streams_inside(model, door, wish, kwargs, manager):
        result = await _collect(model, door, messages, stop, kwargs, prefix, manager)
    else:
        result, is_ours = await _ask(model, door, messages, stop, kwargs, manager)
    return finish_result(result, prefix, is_v1=model.output_version == "v1", is_ours=is_ours)


async def wait_turn(limiter: "BaseRateLimiter", door: Door) -> None:
    """Wait until the rate limiter lets this call pass."""
    await door.either(
        lambda: limiter.acquire(blocking=True), lambda: limiter.aacquire(blocking=True)
    )


async def _ask(
    model: "BaseChatModel",
    door: Door,
    messages: list[BaseMessage],
    stop: list[str] | None,
    kwargs: dict[str, Any],
    manager: Any,
) -> tuple[ChatResult, bool]:
    """Return what the model's hook gives, and whether the message is made for this call alone."""
    hooks = model._hooks
    hook, in_thread = hooks.reply, False
    if door.is_async:
        hook, in_thread = (hooks.reply, True) if hooks.areply is None else (hooks.areply, False)
    if hook is None:
        message = f"`{type(model).__name__}` writes no reply; write `_generate`"
        raise NotImplementedError(message)
    if hook.takes_manager:
        kwargs["run_manager"] = sync_manager(manager) if in_thread else manager
    method: Any = getattr(model, hook.name)
    try:
        if in_thread:
            found: Any = await door.call(partial(method, messages, stop=stop, **kwargs))
        elif door.is_async:
            found = await method(messages, stop=stop, **kwargs)
        else:
            found = method(messages, stop=stop, **kwargs)
    except StopIteration as error:
        if door.is_async:
            # What Python itself makes of it, and what a sync hook in a thread cannot avoid.
            raise RuntimeError("coroutine raised StopIteration") from error
        raise Exhausted(error) from None
    if hook.is_ours:
        return ChatResult(generations=[ChatGeneration(message=found)]), True
    if not isinstance(found, ChatResult):
        what = f"`{type(model).__name__}.{hook.name}` must return a ChatResult"
        message = f"{what}, got `{type(found).__name__}`"
        raise TypeError(message)
    return found, False


def sync_manager(manager: Any) -> Any:
    """Return a run manager for code that runs in a thread."""
    return manager.get_sync() if hasattr(manager, "get_sync") else manager


async def _collect(
    model: "BaseChatModel",
    door: Door,
    messages: list[BaseMessage],
    stop: list[str] | None,
    kwargs: dict[str, Any],
    prefix: str,
    manager: Any,
) -> ChatResult:
    """Return the sum of a stream; handlers hear of each chunk."""
    from dragoman.language_models.streaming import achunks, chunks

    # The result is made v1 as a whole, so the chunks are not.
    shaper = ChunkShaper(prefix, is_ours=stream_hook(model, door).is_ours)
    parts: list[Any] = []
    if door.is_async:
        async for chunk in achunks(model, messages, stop, kwargs, shaper, manager):
            parts.append(chunk)  # noqa: PERF401 - a comprehension would read no better
    else:
        parts.extend(chunks(model, messages, stop, kwargs, shaper, manager))
    total: Any = parts[0] + parts[1:] if len(parts) > 1 else parts[0]
    return ChatResult(generations=[ChatGeneration(message=message_chunk_to_message(total))])


def stream_hook(model: "BaseChatModel", door: Door) -> Any:
    """Return the hook that streams under this door, or None."""
    hooks = model._hooks
    return (hooks.achunks or hooks.chunks) if door.is_async else hooks.chunks


def is_streaming_off(model: "BaseChatModel", kwargs: Mapping[str, Any]) -> bool:
    """Return whether the model's owner said that this call must not stream."""
    off = model.disable_streaming
    return off is True or (off == "tool_calling" and bool(kwargs.get("tools")))


def explicit_streaming(model: "BaseChatModel") -> bool | None:
    """Return the field `streaming`, if the model has one and it was set."""
    if "streaming" in model.model_fields_set:
        return bool(getattr(model, "streaming", None))
    return None


def streams_inside(
    model: "BaseChatModel",
    door: Door,
    wish: Any,
    kwargs: Mapping[str, Any],
    manager: Any,
) -> bool:
    """Return whether an `invoke` is to stream under the hood.

    It does when asked by `stream=True` or `streaming=True`, or when a handler listens for tokens.
    """
    if wish is None and manager is None and "streaming" not in model.model_fields_set:
        return False
    if stream_hook(model, door) is None or is_streaming_off(model, kwargs):
        return False
    if wish is not None:
        return bool(wish)
    said = explicit_streaming(model)
    if said is not None:
        return said
    return manager is not None and any(
        getattr(handler, "wants_tokens", False) for handler in manager.handlers
    )


def _cache_of(model: "BaseChatModel") -> Any:
    cache = model.cache
    if cache is None or cache is True:
        found = get_llm_cache()
        if cache is True and found is None:
            raise ValueError("Asked to cache, but no cache found; call set_llm_cache first")
        return found
    return None if cache is False else cache
