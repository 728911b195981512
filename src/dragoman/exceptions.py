"""LangChain's names for the errors of `dragoman.errors`.

`LangChainException` is `DragomanError`: an `except` clause that was written for the one catches all
that is raised here. `TracerException` exists so that it can be named; nothing raises it.
"""

from dragoman.errors import (
    ContextOverflowError,
    DragomanError,
    ErrorCode,
    ModelAPIError,
    ModelAuthenticationError,
    ModelConnectionError,
    ModelError,
    ModelInvalidRequestError,
    ModelNotFoundError,
    ModelPermissionDeniedError,
    ModelRateLimitError,
    ModelRefusalError,
    ModelTimeoutError,
    OutputParserException,
    create_message,
)

__all__ = [
    "ContextOverflowError",
    "ErrorCode",
    "LangChainException",
    "ModelAPIError",
    "ModelAuthenticationError",
    "ModelConnectionError",
    "ModelError",
    "ModelInvalidRequestError",
    "ModelNotFoundError",
    "ModelPermissionDeniedError",
    "ModelRateLimitError",
    "ModelRefusalError",
    "ModelTimeoutError",
    "OutputParserException",
    "TracerException",
    "create_message",
]

LangChainException = DragomanError
"""The base of all errors of this package."""


class TracerException(DragomanError):  # noqa: N818 - LangChain's name
    """An error in a tracer."""
