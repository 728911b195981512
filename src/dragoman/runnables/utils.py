"""Small things users import: dicts that add, configurable fields, questions about functions."""

import asyncio
from collections.abc import Coroutine
from contextvars import Context
from typing import Any, TypeVar

from dragoman.runnables._addable import (
    Addable,
    AddableDict,
    SupportsAdd,
    aadd,
    add,
)
from dragoman.runnables._fields import (
    AnyConfigurableField,
    ConfigurableField,
    ConfigurableFieldMultiOption,
    ConfigurableFieldSingleOption,
    ConfigurableFieldSpec,
    get_unique_config_specs,
)
from dragoman.runnables._inspection import (
    accepts_config,
    accepts_run_manager,
    get_function_first_arg_dict_keys,
    get_function_nonlocals,
    get_lambda_source,
    indent_lines_after_first,
    is_async_callable,
    is_async_generator,
)

__all__ = [
    "Addable",
    "AddableDict",
    "AnyConfigurableField",
    "ConfigurableField",
    "ConfigurableFieldMultiOption",
    "ConfigurableFieldSingleOption",
    "ConfigurableFieldSpec",
    "Input",
    "Output",
    "SupportsAdd",
    "aadd",
    "accepts_config",
    "accepts_run_manager",
    "add",
    "coro_with_context",
    "gated_coro",
    "gather_with_concurrency",
    "get_function_first_arg_dict_keys",
    "get_function_nonlocals",
    "get_lambda_source",
    "get_unique_config_specs",
    "indent_lines_after_first",
    "is_async_callable",
    "is_async_generator",
]

Input = TypeVar("Input", contravariant=True)  # noqa: PLC0105 - LangChain's name
Output = TypeVar("Output", covariant=True)  # noqa: PLC0105 - LangChain's name


async def gated_coro(semaphore: asyncio.Semaphore, coro: Coroutine[Any, Any, Any]) -> Any:
    """Return what `coro` gives, run while holding `semaphore`."""
    async with semaphore:
        return await coro


async def gather_with_concurrency(n: int | None, *coros: Coroutine[Any, Any, Any]) -> list[Any]:
    """Return what all give, in order, at most `n` of them running at a time."""
    if n is None:
        return await asyncio.gather(*coros)
    semaphore = asyncio.Semaphore(n)
    return await asyncio.gather(*(gated_coro(semaphore, coro) for coro in coros))


def coro_with_context(
    coro: Coroutine[Any, Any, Any], context: Context, *, create_task: bool = False
) -> Any:
    """Return a task that runs `coro` in `context`; `create_task` is accepted and always so."""
    return asyncio.create_task(coro, context=context)
