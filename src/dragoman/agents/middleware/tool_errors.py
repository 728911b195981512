"""What becomes of tools' failures: told to the model, told otherwise, or raised."""

from collections.abc import Callable
from inspect import signature
from typing import Any, Literal

from dragoman.agents.calls import failed
from dragoman.agents.middleware.types import AgentMiddleware, ToolCallRequest
from dragoman.errors import ToolError
from dragoman.tools.execute import error_text

__all__ = ["ToolErrorMiddleware"]


class ToolErrorMiddleware(AgentMiddleware[Any, Any]):
    """Decides what becomes of errors that tools raise.

    Args:
        on_error: `continue` tells them to the model, as agents do by themselves; `error` raises a
            `ToolError` that ends the run; a function `(error)` or `(error, request)` gives the text
            the model is told instead.
        catch: Which errors are meant; others go on to the hooks outside this one.
        tools: The tools meant, by name; None for all.
    """

    def __init__(
        self,
        on_error: Literal["continue", "error"] | Callable[..., str] = "continue",
        *,
        catch: type[Exception] | tuple[type[Exception], ...] = Exception,
        tools: list[str] | None = None,
    ) -> None:
        self.on_error = on_error
        self.catch = catch
        self.names = tools

    def _decided(self, request: ToolCallRequest, error: Exception) -> Any:
        call = request.tool_call
        meant = self.names is None or call["name"] in self.names
        if not meant or not isinstance(error, self.catch):
            raise error
        if self.on_error == "error":
            raise ToolError(error_text(error), tool=call["name"], call_id=call["id"]) from error
        if not callable(self.on_error):
            return failed(call, error_text(error))
        both = _takes_two(self.on_error)
        return failed(call, self.on_error(error, request) if both else self.on_error(error))

    def wrap_tool_call(self, request: ToolCallRequest, handler: Any) -> Any:
        """Run the tool and decide about its error."""
        try:
            return handler(request)
        except Exception as error:  # noqa: BLE001 - tools raise anything
            return self._decided(request, error)

    async def awrap_tool_call(self, request: ToolCallRequest, handler: Any) -> Any:
        """Async `wrap_tool_call`."""
        try:
            return await handler(request)
        except Exception as error:  # noqa: BLE001 - tools raise anything
            return self._decided(request, error)


def _takes_two(function: Callable[..., str]) -> bool:
    try:
        parameters = signature(function).parameters.values()
    except (TypeError, ValueError):
        return False
    return sum(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters) > 1
