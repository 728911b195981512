"""How handlers are told of an event, on both doors.

A sync handler under async runs in a worker thread (it may print, write or sleep); an async handler
under sync runs to its end on a loop of its own. Handlers are told one after the other, in order.
"""

import asyncio
import inspect
import logging
from collections.abc import Sequence
from typing import Any

from dragoman._door import ASYNC, SYNC, Door, finish, run
from dragoman.callbacks.base import BaseCallbackHandler

__all__ = ["IGNORED_BY", "ahandle_event", "handle_event", "tell_handlers"]

logger: logging.Logger = logging.getLogger(__name__)

IGNORED_BY: dict[str, str | None] = {
    "on_llm_start": "ignore_llm",
    "on_chat_model_start": "ignore_chat_model",
    "on_llm_new_token": "ignore_llm",
    "on_llm_end": "ignore_llm",
    "on_llm_error": "ignore_llm",
    "on_stream_event": "ignore_llm",
    "on_chain_start": "ignore_chain",
    "on_chain_end": "ignore_chain",
    "on_chain_error": "ignore_chain",
    "on_agent_action": "ignore_agent",
    "on_agent_finish": "ignore_agent",
    "on_tool_start": "ignore_agent",
    "on_tool_end": "ignore_agent",
    "on_tool_error": "ignore_agent",
    "on_retriever_start": "ignore_retriever",
    "on_retriever_end": "ignore_retriever",
    "on_retriever_error": "ignore_retriever",
    "on_retry": "ignore_retry",
    "on_custom_event": "ignore_custom_event",
    "on_text": None,
}
"""Event -> the property by which a handler says that it is not interested."""


async def _call(
    door: Door, handler: BaseCallbackHandler, event: str, args: Any, kwargs: Any
) -> None:
    method = getattr(handler, event)
    if not door.is_async or handler.run_inline or inspect.iscoroutinefunction(method):
        result = method(*args, **kwargs)
    else:
        result = await door.call(lambda: method(*args, **kwargs))
    if asyncio.iscoroutine(result):
        await door.either(lambda: finish([result]), lambda: result)


async def tell_handlers(
    door: Door,
    handlers: Sequence[BaseCallbackHandler],
    event: str,
    *args: Any,
    ignored_by: str | None = None,
    **kwargs: Any,
) -> None:
    """Tell every handler of `event` that does not ignore it.

    Errors of a handler are logged; only those of a handler with `raise_error` are raised.
    """
    ignored_by = ignored_by or IGNORED_BY.get(event)
    for handler in handlers:
        if ignored_by is not None and getattr(handler, ignored_by):
            continue
        try:
            try:
                await _call(door, handler, event, args, kwargs)
            except NotImplementedError:
                if event != "on_chat_model_start" or handler.ignore_llm:
                    raise
                from dragoman.messages import get_buffer_string

                prompts = [get_buffer_string(messages) for messages in args[1]]
                await _call(door, handler, "on_llm_start", (args[0], prompts, *args[2:]), kwargs)
        except Exception as error:
            name = f"{type(handler).__name__}.{event}"
            logger.warning("Error in %s callback: %r", name, error)
            if handler.raise_error:
                raise


def handle_event(
    handlers: Sequence[BaseCallbackHandler],
    event_name: str,
    ignore_condition_name: str | None,
    *args: Any,
    **kwargs: Any,
) -> None:
    """Tell handlers of an event."""
    run(
        tell_handlers(SYNC, handlers, event_name, *args, ignored_by=ignore_condition_name, **kwargs)
    )


async def ahandle_event(
    handlers: Sequence[BaseCallbackHandler],
    event_name: str,
    ignore_condition_name: str | None,
    *args: Any,
    **kwargs: Any,
) -> None:
    """Tell handlers of an event."""
    await tell_handlers(
        ASYNC, handlers, event_name, *args, ignored_by=ignore_condition_name, **kwargs
    )
