"""Middleware: hooks around the steps of an agent, as classes or as decorated functions."""

import inspect
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, ClassVar, Generic, TypeVar, cast

from dragoman._door import ASYNC
from dragoman.agents.control import Command
from dragoman.agents.request import (
    ExtendedModelResponse,
    ModelRequest,
    ModelResponse,
    ToolCallRequest,
)
from dragoman.agents.runtime import Runtime
from dragoman.agents.state import (
    AgentState,
    InputAgentState,
    OmitFromInput,
    OmitFromOutput,
    OmitFromSchema,
    OutputAgentState,
    PrivateStateAttr,
    ResponseT,
)
from dragoman.messages import AIMessage, SystemMessage, ToolMessage

__all__ = [
    "AgentMiddleware",
    "AgentState",
    "ContextT",
    "ExtendedModelResponse",
    "InputAgentState",
    "ModelCallResult",
    "ModelRequest",
    "ModelResponse",
    "OmitFromInput",
    "OmitFromOutput",
    "OmitFromSchema",
    "OutputAgentState",
    "PrivateStateAttr",
    "ResponseT",
    "Runtime",
    "StateT",
    "ToolCallRequest",
    "ToolCallWrapper",
    "after_agent",
    "after_model",
    "before_agent",
    "before_model",
    "dynamic_prompt",
    "hook_config",
    "wrap_model_call",
    "wrap_tool_call",
]

F = TypeVar("F", bound=Callable[..., Any])
StateT = TypeVar("StateT")
ContextT = TypeVar("ContextT")
ModelCallResult = ModelResponse | AIMessage | ExtendedModelResponse
ToolCallWrapper = Callable[
    [ToolCallRequest, Callable[[ToolCallRequest], ToolMessage | Command]], ToolMessage | Command
]
Update = dict[str, Any] | Command | None


class AgentMiddleware(Generic[StateT, ContextT]):
    """Hooks around the steps of an agent; a subclass overrides those it wants.

    Attributes:
        state_schema: A TypedDict whose fields join the agent's state.
        tools: Tools that join the agent's.
    """

    state_schema: ClassVar[Any] = AgentState
    tools: Sequence[Any] = ()

    @property
    def name(self) -> str:
        """The name of the middleware; two of one name cannot be in one agent."""
        return type(self).__name__

    def named_tools(self) -> Sequence[str]:
        """Return names of tools that matter here; an agent without such a tool warns when it is made."""
        return ()

    def before_agent(self, state: Any, runtime: Runtime[Any]) -> Update:
        """Run once before everything; may return an update of the state."""

    async def abefore_agent(self, state: Any, runtime: Runtime[Any]) -> Update:
        """Async `before_agent`."""

    def before_model(self, state: Any, runtime: Runtime[Any]) -> Update:
        """Run before each model call; may return an update of the state."""

    async def abefore_model(self, state: Any, runtime: Runtime[Any]) -> Update:
        """Async `before_model`."""

    def after_model(self, state: Any, runtime: Runtime[Any]) -> Update:
        """Run after each model call; may return an update of the state."""

    async def aafter_model(self, state: Any, runtime: Runtime[Any]) -> Update:
        """Async `after_model`."""

    def after_agent(self, state: Any, runtime: Runtime[Any]) -> Update:
        """Run once at the end; may return an update of the state."""

    async def aafter_agent(self, state: Any, runtime: Runtime[Any]) -> Update:
        """Async `after_agent`."""

    def wrap_model_call(
        self, request: ModelRequest, handler: Callable[[ModelRequest], ModelResponse]
    ) -> ModelCallResult:
        """Make a model call through `handler`: once, again, or not at all."""
        raise NotImplementedError(
            _missing("Synchronous", "wrap_model_call", "awrap_model_call", self)
        )

    async def awrap_model_call(
        self, request: ModelRequest, handler: Callable[[ModelRequest], Awaitable[ModelResponse]]
    ) -> ModelCallResult:
        """Async `wrap_model_call`."""
        raise NotImplementedError(
            _missing("Asynchronous", "awrap_model_call", "wrap_model_call", self)
        )

    def wrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], ToolMessage | Command]
    ) -> ToolMessage | Command:
        """Make a tool call through `handler`: once, again, or not at all."""
        raise NotImplementedError(
            _missing("Synchronous", "wrap_tool_call", "awrap_tool_call", self)
        )

    async def awrap_tool_call(
        self,
        request: ToolCallRequest,
        handler: Callable[[ToolCallRequest], Awaitable[ToolMessage | Command]],
    ) -> ToolMessage | Command:
        """Async `wrap_tool_call`."""
        raise NotImplementedError(
            _missing("Asynchronous", "awrap_tool_call", "wrap_tool_call", self)
        )


def _missing(colour: str, name: str, other: str, middleware: Any) -> str:
    calls = "invoke() and stream()" if colour == "Synchronous" else "ainvoke() and astream()"
    instead = "ainvoke() or astream()" if colour == "Synchronous" else "invoke() or stream()"
    return (
        f"{colour} implementation of {name} is not available. {type(middleware).__name__} has only "
        f"{other}, and the agent was run by {calls}: implement {name}, or run it by {instead}."
    )


def overrides(middleware: AgentMiddleware[Any, Any], hook: str) -> bool:
    """Return whether a middleware has a hook of its own, in this colour."""
    return getattr(type(middleware), hook) is not getattr(AgentMiddleware, hook)


def hook_config(*, can_jump_to: Sequence[str] | None = None) -> Callable[[F], F]:
    """Return a decorator that lets a hook's update hold `jump_to` with one of these targets."""

    def decorate(function: F) -> F:
        setattr(function, "__can_jump_to__", list(can_jump_to or ()))  # noqa: B010 - a mark on a function
        return function

    return decorate


def _from_function(
    function: Callable[..., Any],
    hook: str,
    *,
    state_schema: Any,
    tools: Sequence[Any] | None,
    can_jump_to: Sequence[str] | None,
    name: str | None,
) -> AgentMiddleware[Any, Any]:
    is_async = inspect.iscoroutinefunction(function)
    body: dict[str, Any] = {}
    if is_async:

        async def acalled(_: Any, *args: Any) -> Any:
            return await function(*args)

        body[f"a{hook}"] = acalled
    else:

        def called(_: Any, *args: Any) -> Any:
            return function(*args)

        body[hook] = called
    for method in body.values():
        jumps = can_jump_to if can_jump_to is not None else getattr(function, "__can_jump_to__", [])
        method.__can_jump_to__ = list(jumps)
    body["tools"] = list(tools or ())
    body["state_schema"] = state_schema or AgentState
    title = name or getattr(function, "__name__", hook)
    made: type[Any] = type(title, (AgentMiddleware,), body)
    return cast("AgentMiddleware[Any, Any]", made())


def _decorator(hook: str, doc: str) -> Any:
    def decorator(
        func: Callable[..., Any] | None = None,
        *,
        state_schema: Any = None,
        tools: Sequence[Any] | None = None,
        can_jump_to: Sequence[str] | None = None,
        name: str | None = None,
    ) -> Any:
        def make(function: Callable[..., Any]) -> AgentMiddleware[Any, Any]:
            return _from_function(
                function,
                hook,
                state_schema=state_schema,
                tools=tools,
                can_jump_to=can_jump_to,
                name=name,
            )

        return make if func is None else make(func)

    decorator.__name__ = decorator.__qualname__ = hook
    decorator.__doc__ = doc
    return decorator


before_agent: Callable[..., Any] = _decorator(
    "before_agent",
    "Make middleware of a function `(state, runtime)` that runs once before everything.",
)
before_model: Callable[..., Any] = _decorator(
    "before_model",
    "Make middleware of a function `(state, runtime)` that runs before each model call.",
)
after_model: Callable[..., Any] = _decorator(
    "after_model",
    "Make middleware of a function `(state, runtime)` that runs after each model call.",
)
after_agent: Callable[..., Any] = _decorator(
    "after_agent", "Make middleware of a function `(state, runtime)` that runs once at the end."
)
wrap_model_call: Callable[..., Any] = _decorator(
    "wrap_model_call", "Make middleware of a function `(request, handler)` around each model call."
)
wrap_tool_call: Callable[..., Any] = _decorator(
    "wrap_tool_call", "Make middleware of a function `(request, handler)` around each tool call."
)


def dynamic_prompt(func: Callable[[ModelRequest], Any]) -> AgentMiddleware[Any, Any]:
    """Make middleware of a function that gives the system prompt of each model call.

    A function `(request) -> str | SystemMessage`; a sync one serves async runs too.
    """

    def with_prompt(request: ModelRequest, prompt: Any) -> ModelRequest:
        message = prompt if isinstance(prompt, SystemMessage) else SystemMessage(prompt)
        return request.override(system_message=message)

    body: dict[str, Any] = {}
    if inspect.iscoroutinefunction(func):

        async def awrap(_: Any, request: ModelRequest, handler: Any) -> Any:
            return await handler(with_prompt(request, await func(request)))

        body["awrap_model_call"] = awrap
    else:

        def wrap(_: Any, request: ModelRequest, handler: Any) -> Any:
            return handler(with_prompt(request, func(request)))

        async def awrap_sync(_: Any, request: ModelRequest, handler: Any) -> Any:
            return await handler(with_prompt(request, await ASYNC.call(func, request)))

        body = {"wrap_model_call": wrap, "awrap_model_call": awrap_sync}
    made: type[Any] = type(getattr(func, "__name__", "dynamic_prompt"), (AgentMiddleware,), body)
    return cast("AgentMiddleware[Any, Any]", made())
