"""The name under which LangChain has it; see `retries`."""

from dragoman.agents.middleware.retries import ModelRetryMiddleware

__all__ = ["ModelRetryMiddleware"]
