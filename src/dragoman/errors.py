"""Every error dragoman raises on purpose.

    DragomanError
    ├── MessageError (ValueError)         the data is wrong; a retry cannot help; has .path
    │   ├── DecodeError                   JSON or provider data that cannot become ours
    │   ├── EncodeError                   ours that a wire format cannot carry
    │   ├── MergeError (TypeError)        chunks that cannot be added
    │   ├── UnknownFieldError (TypeError) a key that a message or tool call does not have
    │   └── TranscriptError               a history no provider would accept; has .issues
    ├── ModelError                        a model call failed; has .is_retryable, .status
    │   ├── ModelConnectionError *        no connection, or it broke before the reply
    │   ├── ModelTimeoutError *
    │   ├── ModelStreamError *            a stream broke; .partial holds what arrived
    │   ├── ModelRefusalError             the model declined; has .raw_message
    │   ├── ContextOverflowError          the request is longer than the model's context
    │   └── ModelStatusError              an HTTP error status; has .retry_after_s
    │       ├── ModelInvalidRequestError      400, 413, 422
    │       ├── ModelAuthenticationError      401
    │       ├── ModelPermissionDeniedError    403
    │       ├── ModelNotFoundError            404
    │       ├── ModelRateLimitError *         429
    │       └── ModelAPIError *               5xx, 529
    ├── OutputParserException (ValueError)
    ├── ToolError                         has .tool, .call_id
    ├── StoreError
    └── MissingExtraError (ImportError)   an optional package is not installed

    * retryable

Messages read "problem - at `path`; what to do". They quote a value at most by its `repr`, cut at
80 characters; they never hold keys, payloads or base64.
"""

from enum import Enum
from typing import Any, ClassVar

__all__ = [
    "ContextOverflowError",
    "DecodeError",
    "DragomanError",
    "EncodeError",
    "ErrorCode",
    "MergeError",
    "MessageError",
    "MissingExtraError",
    "ModelAPIError",
    "ModelAuthenticationError",
    "ModelConnectionError",
    "ModelError",
    "ModelInvalidRequestError",
    "ModelNotFoundError",
    "ModelPermissionDeniedError",
    "ModelRateLimitError",
    "ModelRefusalError",
    "ModelStatusError",
    "ModelStreamError",
    "ModelTimeoutError",
    "OutputParserException",
    "StoreError",
    "ToolError",
    "TranscriptError",
    "UnknownFieldError",
    "create_message",
    "short",
]


class ErrorCode(Enum):
    """The codes that stand at the end of an error text, so that it can be looked up."""

    INVALID_PROMPT_INPUT = "INVALID_PROMPT_INPUT"
    INVALID_TOOL_RESULTS = "INVALID_TOOL_RESULTS"
    MESSAGE_COERCION_FAILURE = "MESSAGE_COERCION_FAILURE"
    MODEL_AUTHENTICATION = "MODEL_AUTHENTICATION"
    MODEL_NOT_FOUND = "MODEL_NOT_FOUND"
    MODEL_RATE_LIMIT = "MODEL_RATE_LIMIT"
    OUTPUT_PARSING_FAILURE = "OUTPUT_PARSING_FAILURE"


def create_message(*, message: str, error_code: ErrorCode) -> str:
    """Return `message` with a last line that names `error_code`."""
    return f"{message}\nError code: {error_code.value}"


def short(value: object, limit: int = 80) -> str:
    """Return the `repr` of `value`, cut at `limit` characters, for use in an error text.

    A string is cut before its `repr` is made, so that a huge payload costs nothing.
    """
    try:
        text = repr(value[: limit + 1] if isinstance(value, (str, bytes)) else value)
    except RecursionError:  # nested deeper than Python can print
        text = f"<a {type(value).__name__} nested too deep to show>"
    return text if len(text) <= limit else text[: limit - 3] + "..."


class DragomanError(Exception):
    """The base of every error in this module."""


class MessageError(DragomanError, ValueError):
    """Data that cannot be, or become, a message; a retry cannot help.

    Args:
        message: What is wrong.
        path: Where, in the manner of `$[3].content[1]`.
        hint: What to do.
    """

    def __init__(self, message: str, *, path: str | None = None, hint: str | None = None) -> None:
        text = message if path is None else f"{message} - at `{path}`"
        super().__init__(text if hint is None else f"{text}; {hint}")
        self.message = message
        self.path = path
        self.hint = hint


class DecodeError(MessageError):
    """JSON or provider data that cannot be read."""


class EncodeError(MessageError):
    """A message, block or option that a format cannot carry."""


class MergeError(MessageError, TypeError):
    """Chunks that cannot be added to each other."""


class UnknownFieldError(MessageError, TypeError):
    """A key or keyword that a message or tool call does not have."""


class TranscriptError(MessageError):
    """A history that cannot be sent, trimmed or repaired as asked."""

    def __init__(
        self,
        message: str,
        *,
        path: str | None = None,
        hint: str | None = None,
        issues: "list[Any] | None" = None,
    ) -> None:
        super().__init__(message, path=path, hint=hint)
        self.issues: list[Any] = issues or []


class ModelError(DragomanError):
    """A model call that failed.

    Attributes:
        is_retryable: Whether the same call may succeed later.
        status: The HTTP status, or None where there was none.
        provider: The provider's name, or None.
        request_id: The provider's id of the request, or None.
        partial: The message received so far, or None.
    """

    is_retryable: bool = False
    code: ClassVar[ErrorCode | None] = None

    def __init__(
        self,
        message: str = "",
        *,
        status: int | None = None,
        provider: str | None = None,
        request_id: str | None = None,
        is_retryable: bool | None = None,
        partial: Any = None,
    ) -> None:
        super().__init__(
            message if self.code is None else create_message(message=message, error_code=self.code)
        )
        self.message = message
        self.status = status
        self.provider = provider
        self.request_id = request_id
        self.partial = partial
        if is_retryable is not None:
            self.is_retryable = is_retryable


class ModelConnectionError(ModelError):
    """The provider could not be reached, or the connection broke before the reply."""

    is_retryable = True


class ModelTimeoutError(ModelError):
    """The provider did not answer in time."""

    is_retryable = True


class ModelStreamError(ModelError):
    """A stream ended before it was complete; `.partial` holds the message so far."""

    is_retryable = True


class ModelRefusalError(ModelError):
    """The model declined to answer."""

    def __init__(
        self,
        message: str = "Model refused to produce the requested output",
        *,
        raw_message: Any = None,
    ) -> None:
        super().__init__(message)
        self.raw_message = raw_message

    @classmethod
    def from_refusal(cls, block: dict[str, Any], *, raw_message: Any = None) -> "ModelRefusalError":
        """Return the error for a `refusal` block, naming its category and text where it has them."""
        text = "Model refused to produce the requested output"
        extras = block.get("extras")
        category: Any = extras.get("category") if isinstance(extras, dict) else None
        if category:
            text += f" (category={category!r})"
        if block.get("refusal"):
            text += f": {block['refusal']}"
        return cls(text, raw_message=raw_message)


class ContextOverflowError(ModelError):
    """The request does not fit into the model's context."""


class ModelStatusError(ModelError):
    """The provider answered with an HTTP error status (or an error inside a stream).

    Attributes:
        retry_after_s: Seconds the provider asks to wait, or None.
    """

    def __init__(
        self,
        message: str = "",
        *,
        status: int | None = None,
        provider: str | None = None,
        request_id: str | None = None,
        is_retryable: bool | None = None,
        partial: Any = None,
        retry_after_s: float | None = None,
    ) -> None:
        super().__init__(
            message,
            status=status,
            provider=provider,
            request_id=request_id,
            is_retryable=is_retryable,
            partial=partial,
        )
        self.retry_after_s = retry_after_s


class ModelInvalidRequestError(ModelStatusError):
    """The provider refused the request as malformed (400, 413, 422)."""


class ModelAuthenticationError(ModelStatusError):
    """The API key is missing or wrong (401)."""

    code: ClassVar[ErrorCode | None] = ErrorCode.MODEL_AUTHENTICATION


class ModelPermissionDeniedError(ModelStatusError):
    """The API key may not do this (403)."""


class ModelNotFoundError(ModelStatusError):
    """No such model or address (404)."""

    code: ClassVar[ErrorCode | None] = ErrorCode.MODEL_NOT_FOUND


class ModelRateLimitError(ModelStatusError):
    """Too many requests (429)."""

    is_retryable = True
    code: ClassVar[ErrorCode | None] = ErrorCode.MODEL_RATE_LIMIT


class ModelAPIError(ModelStatusError):
    """The provider failed (5xx, 529)."""

    is_retryable = True


class OutputParserException(DragomanError, ValueError):  # noqa: N818 - LangChain's name
    """Model output that a parser cannot read.

    Args:
        error: The text, or an exception to pass on.
        observation: What an agent may tell the model.
        llm_output: The output that could not be read.
        send_to_llm: Whether the two above are meant for the model; needs both.

    Raises:
        ValueError: If `send_to_llm` is set without `observation` and `llm_output`.
    """

    def __init__(
        self,
        error: Any,
        observation: str | None = None,
        llm_output: str | None = None,
        send_to_llm: bool = False,
    ) -> None:
        if isinstance(error, str):
            error = create_message(message=error, error_code=ErrorCode.OUTPUT_PARSING_FAILURE)
        super().__init__(error)
        if send_to_llm and (observation is None or llm_output is None):
            message = "Arguments 'observation' & 'llm_output' are required if 'send_to_llm' is True"
            raise ValueError(message)
        self.observation = observation
        self.llm_output = llm_output
        self.send_to_llm = send_to_llm


class ToolError(DragomanError):
    """A tool that could not be run."""

    def __init__(
        self, message: str, *, tool: str | None = None, call_id: str | None = None
    ) -> None:
        super().__init__(message)
        self.tool = tool
        self.call_id = call_id


class StoreError(DragomanError):
    """A thread store, cache or history that could not be read or written."""


class MissingExtraError(DragomanError, ImportError):
    """An optional package is not installed; the text names the command that installs it."""
