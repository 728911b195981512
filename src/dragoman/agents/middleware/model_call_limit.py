"""The name under which LangChain has it; see `call_limits`."""

from dragoman.agents.middleware.call_limits import (
    ModelCallLimitExceededError,
    ModelCallLimitMiddleware,
    ModelCallLimitState,
)

__all__ = ["ModelCallLimitExceededError", "ModelCallLimitMiddleware", "ModelCallLimitState"]
