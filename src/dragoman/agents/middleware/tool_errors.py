"""What becomes of tools' failures: told to the model, told otherwise, or raised."""

from collections.abc import Awaitable, Callable
from inspect import signature
from typing import Any, Literal

from dragoman.agents.calls import failed
from dragoman.agents.middleware.types import AgentMiddleware, ToolCallRequest
from dragoman.errors import ToolError, short
from dragoman.tools import BaseTool
from dragoman.tools.execute import error_text

__all__ = ["ToolErrorMiddleware"]


class ToolErrorMiddleware(AgentMiddleware[Any, Any]):
    """Decides what becomes of errors that tools raise.

    Args:
        on_error: `continue`, the default, tells them to the model, as agents do by themselves;
            `error` raises a `ToolError` that ends the run; a function `(error)` or
            `(error, request)` gives the text the model is told instead.
        aon_error: An async function that gives the text when the agent is run by its async methods.
        catch: Which errors are meant; others go on to the hooks outside this one.
        tools: The tools meant, or their names; None for all.
    """

    def __init__(
        self,
        on_error: Literal["continue", "error"] | Callable[..., str] | None = None,
        *,
        aon_error: Callable[..., Awaitable[str]] | None = None,
        catch: type[Exception] | tuple[type[Exception], ...] = Exception,
        tools: list[BaseTool | str] | None = None,
    ) -> None:
        if on_error not in ("continue", "error", None) and not callable(on_error):
            message = f"on_error has to be continue, error or a function, got {short(on_error)}"
            raise TypeError(message)
        self.on_error = on_error
        self.aon_error = aon_error
        self.catch = catch
        self.names: list[str] | None = None
        if tools is not None:
            self.names = [tool if isinstance(tool, str) else tool.name for tool in tools]

    def _check(self, request: ToolCallRequest, error: Exception) -> None:
        """Raise what is not to be told to the model."""
        call = request.tool_call
        meant = self.names is None or call["name"] in self.names
        if not meant or not isinstance(error, self.catch):
            raise error
        if self.on_error == "error":
            raise ToolError(error_text(error), tool=call["name"], call_id=call["id"]) from error

    def _text(self, request: ToolCallRequest, error: Exception) -> str:
        if not callable(self.on_error):
            return error_text(error)
        return self.on_error(*_arguments(self.on_error, error, request))

    def wrap_tool_call(self, request: ToolCallRequest, handler: Any) -> Any:
        """Run the tool and decide about its error."""
        try:
            return handler(request)
        except Exception as error:  # noqa: BLE001 - tools raise anything
            self._check(request, error)
            return failed(request.tool_call, self._text(request, error))

    async def awrap_tool_call(self, request: ToolCallRequest, handler: Any) -> Any:
        """Async `wrap_tool_call`."""
        try:
            return await handler(request)
        except Exception as error:  # noqa: BLE001 - tools raise anything
            self._check(request, error)
            if self.aon_error is None:
                return failed(request.tool_call, self._text(request, error))
            text = await self.aon_error(*_arguments(self.aon_error, error, request))
            return failed(request.tool_call, text)


def _arguments(function: Callable[..., Any], error: Exception, request: ToolCallRequest) -> Any:
    """Return what a function is called with: the error, and the request if it takes two."""
    try:
        parameters = signature(function).parameters.values()
    except (TypeError, ValueError):
        return (error,)
    takes = sum(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters)
    return (error, request) if takes > 1 else (error,)
