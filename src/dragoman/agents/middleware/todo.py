"""A list of steps that the model keeps for itself."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal, NotRequired

from typing_extensions import TypedDict

from dragoman.agents.calls import failed, last_reply, open_calls
from dragoman.agents.control import Command
from dragoman.agents.middleware.types import AgentMiddleware, ModelCallResult, ModelRequest
from dragoman.agents.runtime import Runtime
from dragoman.agents.state import AgentState, OmitFromInput
from dragoman.messages import SystemMessage, ToolMessage
from dragoman.tools import InjectedToolCallId
from dragoman.tools.convert import tool

__all__ = ["PlanningState", "Todo", "TodoListMiddleware"]

PROMPT = """For a task of several steps keep a list of them with `write_todos`: write it before you \
begin, mark a step `in_progress` when you start it and `completed` as soon as it is done. Do without a \
list where a few simple steps are enough."""
DESCRIPTION = """Write the whole list of steps of the task, with the state of each: `pending`, \
`in_progress` or `completed`. The new list takes the place of the old one."""
AT_ONCE = "Error: The `write_todos` tool should never be called multiple times in parallel."


class Todo(TypedDict):
    """One step."""

    content: str
    status: Literal["pending", "in_progress", "completed"]


class PlanningState(AgentState[Any]):
    """The list in the agent's state."""

    todos: NotRequired[Annotated[list[Todo], OmitFromInput]]


class TodoListMiddleware(AgentMiddleware[Any, Any]):
    """Gives the model the tool `write_todos`, whose list stands in the state as `todos`.

    Args:
        system_prompt: What the model is told about it, behind the system prompt.
        tool_description: The description of the tool.
    """

    state_schema = PlanningState

    def __init__(self, *, system_prompt: str = PROMPT, tool_description: str = DESCRIPTION) -> None:
        self.system_prompt = system_prompt

        @tool("write_todos", description=tool_description)
        def write_todos(
            todos: list[Todo], tool_call_id: Annotated[str, InjectedToolCallId]
        ) -> Command:
            text = f"Updated todo list to {todos}"
            return Command(
                {"todos": todos, "messages": [ToolMessage(text, tool_call_id=tool_call_id)]}
            )

        self.tools: Sequence[Any] = [write_todos]

    def _told(self, request: ModelRequest) -> ModelRequest:
        old = request.system_message
        if old is None:
            return request.override(system_message=SystemMessage(self.system_prompt))
        if isinstance(old.content, str):
            content: Any = f"{old.content}\n\n{self.system_prompt}"
        else:
            content = [*old.content, {"type": "text", "text": f"\n\n{self.system_prompt}"}]
        return request.override(system_message=old.model_copy(update={"content": content}))

    def wrap_model_call(self, request: ModelRequest, handler: Any) -> ModelCallResult:
        """Call the model with the prompt."""
        return handler(self._told(request))

    async def awrap_model_call(self, request: ModelRequest, handler: Any) -> ModelCallResult:
        """Async `wrap_model_call`."""
        return await handler(self._told(request))

    def after_model(self, state: Any, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Answer several lists in one reply by errors: none of them is the list."""
        if last_reply(state["messages"]) is None:
            return None
        lists = [call for call in open_calls(state["messages"]) if call["name"] == "write_todos"]
        return {"messages": [failed(call, AT_ONCE) for call in lists]} if len(lists) > 1 else None
