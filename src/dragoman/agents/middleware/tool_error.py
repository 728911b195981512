"""The name under which LangChain has it; see `tool_errors`."""

from dragoman.agents.middleware.tool_errors import ToolErrorMiddleware

__all__ = ["ToolErrorMiddleware"]
