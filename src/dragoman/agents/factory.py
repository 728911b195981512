"""`create_agent`: a model, tools and middleware, put together."""

from collections.abc import Callable, Sequence
from typing import Any

from dragoman.agents.agent import Agent
from dragoman.agents.middleware.types import AgentMiddleware
from dragoman.agents.structured_output import strategy_of
from dragoman.errors import short
from dragoman.messages import SystemMessage
from dragoman.threads import ThreadStore
from dragoman.tools import BaseTool

__all__ = ["create_agent"]


def create_agent(
    model: Any,
    tools: Sequence[BaseTool | Callable[..., Any] | dict[str, Any]] | None = None,
    *,
    system_prompt: str | SystemMessage | None = None,
    middleware: Sequence[AgentMiddleware[Any, Any]] = (),
    response_format: Any = None,
    state_schema: Any = None,
    context_schema: Any = None,
    checkpointer: ThreadStore | None = None,
    store: Any = None,
    interrupt_before: Sequence[str] | None = None,
    interrupt_after: Sequence[str] | None = None,
    debug: bool = False,
    name: str | None = None,
    cache: Any = None,
    transformers: Any = None,
    max_steps: int = 100,
    tool_concurrency: int | None = None,
    tool_timeout_s: float | None = None,
) -> Agent:
    """Return an agent: it calls the model, runs the tools it asks for, and calls it again.

    Every call of the model is answered, in call order: failing, unknown, invalid and cut-off calls by
    error results. The run ends with the first reply without calls. With a checkpointer every step is
    durable: a crash, a cancel or an interrupt leaves a thread that loads, is valid, and can go on.

    Args:
        model: A chat model, or a string for `init_chat_model`.
        tools: Tools, functions, or provider tools as dicts (bound, never executed here).
        system_prompt: Stands in front of every model call; never in the state.
        middleware: Hooks; the first is the outermost.
        response_format: A schema (pydantic class, dataclass, TypedDict, JSON schema), or a strategy of
            `structured_output`; the answer stands in `structured_response`.
        state_schema: A TypedDict whose fields join the state.
        context_schema: The type of `context=`; a dict is made a dataclass or pydantic model.
        checkpointer: A thread store; runs need `thread_id` in their config then.
        store: An object with get, put, delete and search, for tools and hooks.
        interrupt_before: Steps to stop in front of: `model`, `tools` or a hook's.
        interrupt_after: Steps to stop behind.
        debug: Accepted, without effect: stream the mode `updates` instead.
        name: The agent's name; its replies carry it.
        cache: Accepted, without effect: cache at the model.
        transformers: Accepted, without effect.
        max_steps: The most model turns of one run.
        tool_concurrency: How many calls run at a time; 1 for one after the other.
        tool_timeout_s: Seconds a call may take.

    Raises:
        AssertionError: If two middleware have one name.
        TypeError: If the model, a tool, a middleware, a schema or the checkpointer is none.
        ValueError: If an option has no sense.
    """
    del debug, cache, transformers
    if isinstance(max_steps, bool) or not isinstance(max_steps, int) or max_steps < 1:
        message = f"max_steps has to be a whole number from 1, got {short(max_steps)}"
        raise ValueError(message)
    if checkpointer is not None and not isinstance(checkpointer, ThreadStore):
        message = (
            f"checkpointer has to be a thread store, got {type(checkpointer).__name__}; see "
            "dragoman.threads"
        )
        raise TypeError(message)
    if isinstance(model, str):
        from dragoman.chat_models import init_chat_model

        model = init_chat_model(model)
    if isinstance(model, type) or not callable(getattr(model, "invoke", None)):
        got = f"the class {model.__name__}" if isinstance(model, type) else type(model).__name__
        message = f"model has to be a chat model or a string for init_chat_model, got {got}"
        raise TypeError(message)
    system = SystemMessage(system_prompt) if isinstance(system_prompt, str) else system_prompt
    return Agent(
        model=model,
        tools=() if tools is None else tools,
        system_message=system,
        middleware=middleware,
        response_format=strategy_of(response_format),
        state_schema=state_schema,
        context_schema=context_schema,
        checkpointer=checkpointer,
        store=store,
        interrupt_before=interrupt_before or (),
        interrupt_after=interrupt_after or (),
        name=name,
        max_steps=max_steps,
        tool_concurrency=tool_concurrency,
        tool_timeout_s=tool_timeout_s,
    )
