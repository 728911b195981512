"""One model call of an agent: hooks around it, tools bound, the structured answer read."""

from collections.abc import Sequence
from contextlib import aclosing, closing
from typing import Any, cast
from uuid import uuid4

from dragoman._door import ASYNC, SYNC, Door, run
from dragoman.agents.calls import with_own_call_ids
from dragoman.agents.middleware.types import AgentMiddleware, overrides
from dragoman.agents.request import (
    ModelRequest,
    ModelResponse,
    Outcome,
    outcome_of,
    tool_name,
)
from dragoman.agents.streaming import Channel
from dragoman.agents.structured_output import (
    MultipleStructuredOutputsError,
    ProviderStrategy,
    StructuredOutputError,
    StructuredOutputValidationError,
    ToolStrategy,
    resolved,
)
from dragoman.messages import (
    AIMessage,
    BaseMessage,
    InvalidToolCall,
    ToolCall,
    ToolMessage,
    message_chunk_to_message,
)

__all__ = ["FailedResponse", "ModelStep", "answered"]


class ModelStep:
    """Calls the model through the hooks of the middleware."""

    def __init__(
        self,
        middleware: Sequence[AgentMiddleware[Any, Any]],
        known_tools: frozenset[str],
        *,
        name: str | None,
        can_run_unknown: bool,
    ) -> None:
        self.layers: list[AgentMiddleware[Any, Any]] = [
            m
            for m in middleware
            if overrides(m, "wrap_model_call") or overrides(m, "awrap_model_call")
        ]
        self.known_tools = known_tools
        self.name = name
        self.can_run_unknown = can_run_unknown

    async def call(
        self, door: Door, request: ModelRequest, config: Any, channel: Channel | None
    ) -> Outcome:
        """Return the outcome of the call through all layers, the first outermost."""
        if door.is_async:
            return await self._alayer(0, request, config, channel)
        return self._layer(0, request, config, channel)

    def _layer(
        self, depth: int, request: ModelRequest, config: Any, channel: Channel | None
    ) -> Outcome:
        if depth == len(self.layers):
            return Outcome(run(self._ask(SYNC, request, config, channel)))
        inner: list[Outcome] = []

        def handler(changed: ModelRequest) -> ModelResponse:
            inner.append(self._layer(depth + 1, changed, config, channel))
            return inner[-1].response

        given = self.layers[depth].wrap_model_call(request, handler)
        return outcome_of(given, inner[-1] if inner else None)

    async def _alayer(
        self, depth: int, request: ModelRequest, config: Any, channel: Channel | None
    ) -> Outcome:
        if depth == len(self.layers):
            return Outcome(await self._ask(ASYNC, request, config, channel))
        inner: list[Outcome] = []

        async def handler(changed: ModelRequest) -> ModelResponse:
            inner.append(await self._alayer(depth + 1, changed, config, channel))
            return inner[-1].response

        given = await self.layers[depth].awrap_model_call(request, handler)
        return outcome_of(given, inner[-1] if inner else None)

    # ------------------------------------------------------------------ the call itself

    async def _ask(
        self, door: Door, request: ModelRequest, config: Any, channel: Channel | None
    ) -> ModelResponse:
        self._check_tools(request)
        strategy: Any = None
        if request.response_format is not None:
            strategy = resolved(
                request.response_format, request.model, has_tools=bool(request.tools)
            )
        model = self._bound(request, strategy)
        messages: list[BaseMessage] = list(request.messages)
        if request.system_message is not None:
            messages.insert(0, request.system_message)
        if channel is None:
            reply = await door.invoke(model, messages, config)
        else:
            reply = await door.either(
                lambda: _streamed(model, messages, config, channel),
                lambda: _astreamed(model, messages, config, channel),
            )
        if not isinstance(reply, AIMessage):
            message = f"the agent's model gave {type(reply).__name__}, not an AIMessage"
            raise TypeError(message)
        if self.name and not reply.name:
            reply = reply.model_copy(update={"name": self.name})
        if any(reply.id == message.id for message in request.state["messages"]):
            # Some servers give every reply one id; in the state it would replace an older turn.
            reply = reply.model_copy(update={"id": f"lc_run--{uuid4()}"})
        reply = with_own_call_ids(reply)
        if channel is not None:
            channel.seen.add(reply.id)
        return answered(reply, strategy)

    def _check_tools(self, request: ModelRequest) -> None:
        if self.can_run_unknown:
            return
        unknown = [
            name
            for tool in request.tools
            if not isinstance(tool, dict) and (name := tool_name(tool)) not in self.known_tools
        ]
        if unknown:
            message = (
                "Middleware added tools that the agent doesn't know how to execute.\n"
                f"Unknown tools: {unknown}\nRegistered tools: {sorted(self.known_tools)}\n"
                "Pass them to create_agent, or handle them in wrap_tool_call."
            )
            raise ValueError(message)

    def _bound(self, request: ModelRequest, strategy: Any) -> Any:
        tools, choice = list(request.tools), request.tool_choice
        settings = dict(request.model_settings)
        if isinstance(strategy, ProviderStrategy):
            settings["response_format"] = strategy.response_format()
        elif isinstance(strategy, ToolStrategy):
            tools += [spec.tool() for spec in strategy.schema_specs]
            choice = choice if choice is not None else "any"
        if tools:
            return request.model.bind_tools(tools, tool_choice=choice, **settings)
        return request.model.bind(**settings) if settings else request.model


_METADATA = {"langgraph_node": "model"}


def _streamed(model: Any, messages: list[BaseMessage], config: Any, channel: Channel) -> Any:
    total: Any = None
    with closing(model.stream(messages, config)) as stream:
        for chunk in stream:
            channel.put("messages", (chunk, dict(_METADATA)))
            total = chunk if total is None else total + chunk
    return None if total is None else message_chunk_to_message(total)


async def _astreamed(model: Any, messages: list[BaseMessage], config: Any, channel: Channel) -> Any:
    total: Any = None
    async with aclosing(model.astream(messages, config)) as stream:
        async for chunk in stream:
            channel.put("messages", (chunk, dict(_METADATA)))
            total = chunk if total is None else total + chunk
    return None if total is None else message_chunk_to_message(total)


def answered(reply: AIMessage, strategy: Any) -> ModelResponse:
    """Return the reply, with results for its structured calls and the answer they hold."""
    if isinstance(strategy, ProviderStrategy):
        if reply.tool_calls or reply.invalid_tool_calls:
            return ModelResponse([reply])
        return ModelResponse([reply], strategy.parse(reply))
    if not isinstance(strategy, ToolStrategy):
        return ModelResponse([reply])
    specs = {spec.name: spec for spec in strategy.schema_specs}
    calls = [c for c in (*reply.tool_calls, *reply.invalid_tool_calls) if c["name"] in specs]
    if not calls:
        return ModelResponse([reply])
    error: StructuredOutputError
    if len(calls) > 1:
        error = MultipleStructuredOutputsError([str(call["name"]) for call in calls], reply)
    else:
        name = str(calls[0]["name"])
        try:
            value = specs[name].read(_args_of(calls[0]))
        except Exception as cause:  # noqa: BLE001 - validators of the user's raise anything
            error = StructuredOutputValidationError(name, cause, reply)
        else:
            told = strategy.tool_message_content
            text = told if told is not None else f"Returning structured response: {value}"
            return ModelResponse([reply, _result(calls[0], text, "success")], value)
    told = strategy.told(error)
    if told is None:
        raise error
    # An invalid call without an id cannot be answered; the next turn shows its reply all the same.
    results = [_result(call, told, "error") for call in calls if call["id"]]
    return FailedResponse([reply, *results], None, error)


def _args_of(call: ToolCall | InvalidToolCall) -> dict[str, Any]:
    """Return the arguments of a call.

    Raises:
        ValueError: If it is invalid.
    """
    args = call["args"]
    if not isinstance(args, dict):
        raise ValueError(call.get("error") or "the arguments are no JSON object")
    return args


class FailedResponse(ModelResponse):
    """A response whose structured answer failed; the model may try again."""

    def __init__(
        self, result: list[BaseMessage], structured_response: Any, error: StructuredOutputError
    ) -> None:
        super().__init__(result, structured_response)
        self.error = error


def _result(call: ToolCall | InvalidToolCall, text: str, status: str) -> ToolMessage:
    return ToolMessage(
        text, tool_call_id=call["id"] or "", name=call["name"], status=cast("Any", status)
    )
