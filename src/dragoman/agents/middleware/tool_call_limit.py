"""The name under which LangChain has it; see `call_limits`."""

from dragoman.agents.middleware.call_limits import (
    ToolCallLimitExceededError,
    ToolCallLimitMiddleware,
    ToolCallLimitState,
)

__all__ = ["ToolCallLimitExceededError", "ToolCallLimitMiddleware", "ToolCallLimitState"]
