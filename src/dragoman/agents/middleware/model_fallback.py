"""The name under which LangChain has it; see `fallbacks`."""

from dragoman.agents.middleware.fallbacks import ModelFallbackMiddleware

__all__ = ["ModelFallbackMiddleware"]
