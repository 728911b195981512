"""What passes between the agent and the hooks that wrap model and tool calls."""

import warnings
from dataclasses import dataclass, field, fields, replace
from typing import Any, Self, cast

from dragoman.agents.calls import with_own_call_ids
from dragoman.agents.control import Command
from dragoman.agents.runtime import Runtime
from dragoman.agents.state import AgentStateError
from dragoman.messages import AIMessage, BaseMessage, SystemMessage, ToolCall, ToolMessage

__all__ = ["ExtendedModelResponse", "ModelRequest", "ModelResponse", "ToolCallRequest"]

_made: Any = object.__setattr__


class _Changeless:
    """Attributes are replaced by `override`; assigning them works, with a warning."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name in self.__dict__:
            message = f"assigning {type(self).__name__}.{name} is deprecated; use override()"
            warnings.warn(message, DeprecationWarning, stacklevel=2)
        _made(self, name, value)


@dataclass(init=False)
class ModelRequest(_Changeless):
    """One model call, before it is made.

    Attributes:
        model: The chat model.
        messages: The history, without the system message.
        system_message: What stands in front of it, or None.
        tools: Tools, or provider tools as dicts.
        tool_choice: What the model is bound with, or None.
        response_format: The strategy of the structured answer, or None.
        state: The agent's state.
        runtime: What surrounds the run.
        model_settings: Further options of the call.
    """

    model: Any
    messages: list[BaseMessage]
    system_message: SystemMessage | None
    tools: list[Any]
    tool_choice: Any
    response_format: Any
    state: dict[str, Any]
    runtime: Runtime[Any]
    model_settings: dict[str, Any]

    def __init__(
        self,
        *,
        model: Any,
        messages: list[BaseMessage],
        system_message: SystemMessage | None = None,
        system_prompt: str | None = None,
        tools: list[Any] | None = None,
        tool_choice: Any = None,
        response_format: Any = None,
        state: dict[str, Any] | None = None,
        runtime: Runtime[Any] | None = None,
        model_settings: dict[str, Any] | None = None,
    ) -> None:
        if system_prompt is not None and system_message is not None:
            message = "Cannot specify both system_prompt and system_message"
            raise ValueError(message)
        if system_prompt is not None:
            system_message = SystemMessage(system_prompt)
        self.model = model
        self.messages = messages
        self.system_message = system_message
        self.tools = tools if tools is not None else []
        self.tool_choice = tool_choice
        self.response_format = response_format
        self.state = state if state is not None else {"messages": []}
        self.runtime = runtime if runtime is not None else Runtime()
        self.model_settings = model_settings if model_settings is not None else {}

    @property
    def system_prompt(self) -> str | None:
        """The text of the system message, or None."""
        return None if self.system_message is None else str(self.system_message.text)

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "system_prompt":
            value = None if value is None else SystemMessage(value)
            name = "system_message"
        super().__setattr__(name, value)

    def override(self, **changes: Any) -> "ModelRequest":
        """Return a request with some attributes replaced.

        Raises:
            ValueError: If both `system_prompt` and `system_message` are given.
        """
        if "system_prompt" in changes:
            if "system_message" in changes:
                message = "Cannot specify both system_prompt and system_message"
                raise ValueError(message)
            prompt = changes.pop("system_prompt")
            changes["system_message"] = None if prompt is None else SystemMessage(prompt)
        given = {item.name: getattr(self, item.name) for item in fields(self)}
        return ModelRequest(**{**given, **changes})


@dataclass
class ModelResponse:
    """What a model call gave.

    Attributes:
        result: The messages for the state: the reply, and results of structured calls.
        structured_response: The structured answer, or None.
    """

    result: list[BaseMessage]
    structured_response: Any = None


@dataclass
class ExtendedModelResponse:
    """A response, and a command whose update is applied after it."""

    model_response: ModelResponse
    command: Command | None = None


@dataclass
class ToolCallRequest(_Changeless):
    """One tool call, before it is made.

    Attributes:
        tool_call: The call.
        tool: The tool, or None if the agent has none of that name.
        state: The agent's state.
        runtime: What surrounds the run.
    """

    tool_call: ToolCall
    tool: Any
    state: Any
    runtime: Any = None

    def override(self, **changes: Any) -> Self:
        """Return a request with some attributes replaced."""
        return replace(self, **changes)


@dataclass
class Outcome:
    """A normalised response with the commands of its layers, the inner ones first."""

    response: ModelResponse
    commands: list[Command] = field(default_factory=list[Command])


def outcome_of(given: Any, inner: Outcome | None) -> Outcome:
    """Return what a wrapping hook gave, with the commands of the layer inside it.

    Raises:
        TypeError: If it is no response.
        AgentStateError: If the response holds no list of messages.
        NotImplementedError: If a command does more than update the state.
    """
    commands = list(inner.commands) if inner is not None else []
    if isinstance(given, ExtendedModelResponse):
        if given.command is not None:
            commands.append(given.command.checked("wrap_model_call"))
        given = given.model_response
    if isinstance(given, AIMessage):
        given = ModelResponse([given])
    if not isinstance(given, ModelResponse):
        message = (
            "wrap_model_call has to return ModelResponse, AIMessage or ExtendedModelResponse, "
            f"got {type(given).__name__}"
        )
        raise TypeError(message)
    result: Any = given.result
    if not isinstance(result, list) or not all(isinstance(m, BaseMessage) for m in result):
        message = (
            "a ModelResponse has to have a list of messages as its result, got "
            f"{type(result).__name__}; pass ModelResponse(result=[AIMessage(...)])"
        )
        raise AgentStateError(message)
    if not any(isinstance(m, ToolMessage) for m in result):  # no call of it is answered yet
        named = [with_own_call_ids(m) if isinstance(m, AIMessage) else m for m in result]
        given = replace(given, result=named)
    return Outcome(given, commands)


def tool_name(tool: Any) -> str:
    """Return the name of a tool, a function, or a provider's tool given as a dict."""
    if isinstance(tool, dict):
        given = cast("dict[str, Any]", tool)
        return str(
            given.get("name") or (given.get("function") or given).get("name") or given.get("type")
        )
    return getattr(tool, "name", None) or getattr(tool, "__name__", type(tool).__name__)
