"""Calls of a text model: the body behind invoke, batch and generate, and the drivers of its streams.

All prompts of a call that no cache answers go to the model in one `_generate`.
"""

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

from dragoman._door import ASYNC, SYNC, Door, run
from dragoman.globals import get_llm_cache
from dragoman.language_models.calls import start_runs, wants_callbacks
from dragoman.language_models.streaming import in_thread
from dragoman.outputs import Generation, GenerationChunk, LLMResult, RunInfo
from dragoman.runnables.config import get_config_list, resolve_config

if TYPE_CHECKING:
    from dragoman.language_models.llms import BaseLLM

__all__ = ["astream_text", "batch_texts", "generate_texts", "stream_text"]


async def generate_texts(
    model: "BaseLLM",
    door: Door,
    prompts: list[str],
    configs: Sequence[Any],
    stop: list[str] | None,
    kwargs: Mapping[str, Any],
) -> LLMResult:
    """Return the candidates for each prompt, from the cache where it has them."""
    resolved = [resolve_config(config) for config in configs]
    cache = _cache_of(model)
    key = str(sorted({**model.asdict(), **kwargs, "stop": stop}.items())) if cache else ""
    found: dict[int, list[Any]] = {}
    if cache is not None:
        for index, prompt in enumerate(prompts):
            stored = await door.either(
                lambda p=prompt: cache.lookup(p, key), lambda p=prompt: cache.alookup(p, key)
            )
            if stored is not None:
                found[index] = list(stored)
    asked = [index for index in range(len(prompts)) if index not in found]
    run_ids: list[UUID] = [(config or {}).get("run_id") or uuid4() for config in resolved]
    managers: dict[int, Any] = {}
    for index in asked:
        if wants_callbacks(model, resolved[index]):
            managers[index] = (
                await start_runs(
                    model,
                    door,
                    [prompts[index]],
                    resolved[index],
                    stop,
                    kwargs,
                    event="on_llm_start",
                )
            )[0]
            run_ids[index] = managers[index].run_id
    output = None
    if asked:
        result = await _ask(model, door, [prompts[i] for i in asked], stop, kwargs, managers)
        output = result.llm_output
        for index, candidates in zip(asked, result.generations, strict=True):
            found[index] = list(candidates)
            if index in managers:
                said = LLMResult(generations=[candidates], llm_output=output)
                await door.tell(managers[index].on_llm_end, said)
            if cache is not None:
                await door.either(
                    lambda i=index: cache.update(prompts[i], key, found[i]),
                    lambda i=index: cache.aupdate(prompts[i], key, found[i]),
                )
    return LLMResult(
        generations=[found[index] for index in range(len(prompts))],
        llm_output=output,
        run=[RunInfo(run_id=run_id) for run_id in run_ids],
    )


async def _ask(
    model: "BaseLLM",
    door: Door,
    prompts: list[str],
    stop: list[str] | None,
    kwargs: Mapping[str, Any],
    managers: Mapping[int, Any],
) -> LLMResult:
    """Return what the model gives for all prompts; every run hears of an error."""
    options = dict(kwargs)
    if model._takes_manager:
        options["run_manager"] = next(iter(managers.values()), None)
    try:
        return await door.either(
            lambda: model._generate(prompts, stop=stop, **options),
            lambda: model._agenerate(prompts, stop=stop, **options),
        )
    except BaseException as error:
        for manager in managers.values():
            await door.tell(manager.on_llm_error, error, response=LLMResult(generations=[]))
        raise


async def batch_texts(
    model: "BaseLLM",
    door: Door,
    inputs: Sequence[Any],
    config: Any,
    *,
    return_exceptions: bool,
    kwargs: Mapping[str, Any],
) -> list[Any]:
    """Return a text, or the exception of its call, for each input."""
    if not inputs:
        return []
    options = dict(kwargs)
    stop = options.pop("stop", None)
    configs: list[Any] = list(get_config_list(config, len(inputs)))
    limit = configs[0].get("max_concurrency") or len(inputs)
    prompts = [model._convert_input(value).to_string() for value in inputs]
    texts: list[Any] = []
    for start in range(0, len(prompts), limit):
        part = slice(start, start + limit)
        try:
            result = await generate_texts(model, door, prompts[part], configs[part], stop, options)
            texts += [candidates[0].text for candidates in result.generations]
        except Exception as error:
            if not return_exceptions:
                raise
            texts += [error] * len(prompts[part])
    return texts


def _cache_of(model: "BaseLLM") -> Any:
    cache = model.cache
    if cache is None or cache is True:
        found = get_llm_cache()
        if cache is True and found is None:
            raise ValueError(
                "No global cache was configured. Use `set_llm_cache` to set one, or pass a cache "
                "object, or set `cache` to False or None"
            )
        return found
    return None if cache is False else cache


def stream_text(
    model: "BaseLLM",
    given: Any,
    config: Any,
    stop: list[str] | None,
    kwargs: dict[str, Any],
) -> Iterator[str]:
    """Yield the pieces of one text."""
    from dragoman.language_models.llms import BaseLLM

    if type(model)._stream is BaseLLM._stream:
        yield model.invoke(given, config, stop=stop, **kwargs)
        return
    prompt = model._convert_input(given).to_string()
    config = resolve_config(config)
    manager = None
    if wants_callbacks(model, config):
        starting = start_runs(model, SYNC, [prompt], config, stop, kwargs, event="on_llm_start")
        manager = run(starting)[0]
    seen: list[GenerationChunk] = []
    source = model._stream(prompt, stop=stop, **kwargs)
    try:
        for chunk in source:
            if manager is not None:
                manager.on_llm_new_token(chunk.text, chunk=chunk)
            seen.append(chunk)
            yield chunk.text
        if not seen:
            raise ValueError("No generation chunks were returned")
    except BaseException as error:
        if manager is not None:
            manager.on_llm_error(error, response=_said(seen))
        raise
    finally:
        if hasattr(source, "close"):
            source.close()  # pyright: ignore[reportAttributeAccessIssue]
    if manager is not None:
        manager.on_llm_end(_said(seen))


async def astream_text(
    model: "BaseLLM",
    given: Any,
    config: Any,
    stop: list[str] | None,
    kwargs: dict[str, Any],
) -> AsyncIterator[str]:
    """Yield the pieces of one text, under async."""
    from dragoman.language_models.llms import BaseLLM

    has_own = type(model)._astream is not BaseLLM._astream
    if not has_own and type(model)._stream is BaseLLM._stream:
        yield await model.ainvoke(given, config, stop=stop, **kwargs)
        return
    prompt = model._convert_input(given).to_string()
    config = resolve_config(config)
    manager = None
    if wants_callbacks(model, config):
        starting = start_runs(model, ASYNC, [prompt], config, stop, kwargs, event="on_llm_start")
        manager = (await starting)[0]
    seen: list[GenerationChunk] = []
    source: Any = (
        model._astream(prompt, stop=stop, **kwargs)
        if has_own
        else in_thread(model._stream(prompt, stop=stop, **kwargs))
    )
    try:
        async for chunk in source:
            if manager is not None:
                await manager.on_llm_new_token(chunk.text, chunk=chunk)
            seen.append(chunk)
            yield chunk.text
        if not seen:
            raise ValueError("No generation chunks were returned")
    except BaseException as error:
        if manager is not None:
            await manager.on_llm_error(error, response=_said(seen))
        raise
    finally:
        if hasattr(source, "aclose"):
            await source.aclose()
    if manager is not None:
        await manager.on_llm_end(_said(seen))


def _said(seen: list[GenerationChunk]) -> LLMResult:
    if not seen:
        return LLMResult(generations=[])
    text = "".join(chunk.text for chunk in seen)
    info = (seen[0] if len(seen) == 1 else seen[0] + seen[-1]).generation_info
    return LLMResult(generations=[[Generation(text=text, generation_info=info)]])
