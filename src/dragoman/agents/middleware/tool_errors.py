"""What becomes of tools' failures: told to the model, told otherwise, or raised."""

from collections.abc import Callable
from typing import Any, Literal

from dragoman.agents.middleware.types import AgentMiddleware, ToolCallRequest
from dragoman.errors import ToolError
from dragoman.messages import ToolMessage

__all__ = ["ToolErrorMiddleware"]


class ToolErrorMiddleware(AgentMiddleware[Any, Any]):
    """Decides about error results of tools.

    Args:
        on_error: `continue` leaves them to the model, as agents do by themselves; `error` raises a
            `ToolError` that ends the run; a function `(request, result)` gives the text instead.
    """

    def __init__(
        self,
        on_error: Literal["continue", "error"]
        | Callable[[ToolCallRequest, ToolMessage], str] = "continue",
    ) -> None:
        self.on_error = on_error

    def _decided(self, request: ToolCallRequest, result: Any) -> Any:
        if not isinstance(result, ToolMessage) or result.status != "error":
            return result
        if self.on_error == "error":
            call = request.tool_call
            raise ToolError(str(result.text), tool=call["name"], call_id=call["id"])
        if callable(self.on_error):
            return result.model_copy(update={"content": self.on_error(request, result)})
        return result

    def wrap_tool_call(self, request: ToolCallRequest, handler: Any) -> Any:
        """Run the tool and decide about an error result."""
        return self._decided(request, handler(request))

    async def awrap_tool_call(self, request: ToolCallRequest, handler: Any) -> Any:
        """Async `wrap_tool_call`."""
        return self._decided(request, await handler(request))
