"""The name under which LangChain has it; see `retries`."""

from dragoman.agents.middleware.retries import ToolRetryMiddleware

__all__ = ["ToolRetryMiddleware"]
