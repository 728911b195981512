"""Provider errors as `ModelError`s: the class by status, the provider's own text, masked.

The text is quoted up to 2,000 characters; what looks like a key or base64 is masked. Nothing of the
request is ever quoted.
"""

import re
from typing import Any

from dragoman.errors import (
    ContextOverflowError,
    ModelAPIError,
    ModelAuthenticationError,
    ModelError,
    ModelInvalidRequestError,
    ModelNotFoundError,
    ModelPermissionDeniedError,
    ModelRateLimitError,
    ModelStatusError,
    ModelTimeoutError,
)

__all__ = ["is_retryable_status", "mask", "message_of_error", "wire_error"]

_BY_STATUS: dict[int, type[ModelStatusError]] = {
    400: ModelInvalidRequestError,
    401: ModelAuthenticationError,
    403: ModelPermissionDeniedError,
    404: ModelNotFoundError,
    413: ModelInvalidRequestError,
    422: ModelInvalidRequestError,
    429: ModelRateLimitError,
}
# Words providers use in place of a status, in error events inside a 200.
_STATUS_OF_WORD = {
    "api_error": 500, "internalserverexception": 500, "internal": 500, "server_error": 500,
    "authentication_error": 401, "unauthenticated": 401, "invalid_api_key": 401,
    "invalid_request_error": 400, "invalid_argument": 400, "validationexception": 400,
    "tool_use_failed": 400, "context_length_exceeded": 400, "bad_request": 400,
    "modelstreamerrorexception": 424, "modeltimeoutexception": 408, "deadline_exceeded": 504,
    "not_found_error": 404, "not_found": 404, "model_not_found": 404,
    "resourcenotfoundexception": 404,
    "overloaded_error": 529, "serviceunavailableexception": 503, "unavailable": 503,
    "permission_error": 403, "permission_denied": 403, "accessdeniedexception": 403,
    "rate_limit_error": 429, "rate_limit_exceeded": 429, "resource_exhausted": 429,
    "throttlingexception": 429, "insufficient_quota": 429, "request_too_large": 413,
}  # fmt: skip
_OVERFLOW = re.compile(
    r"context_length_exceeded|maximum context length|context window|prompt is too long"
    r"|input is too long|exceeds? the (?:available |maximum )?context|too many input tokens"
    r"|input token count .{0,40}exceeds",
    re.IGNORECASE,
)
_KEY = re.compile(
    r"\b(?:sk|pk|rk|gsk|xai|AIza|hf|r8|ghp|glpat|AKIA|ASIA)[-_]?[A-Za-z0-9_\-]{16,}"
    r"|\bBearer\s+[A-Za-z0-9._\-]{12,}"
)
_BASE64 = re.compile(r"[A-Za-z0-9+/_\-]{200,}={0,2}")
_LIMIT = 2000


def is_retryable_status(status: int | None) -> bool:
    """Return whether a call that got this HTTP status may succeed when it is made again."""
    return status is not None and (status in (408, 409, 425, 429) or 500 <= status <= 599)


def mask(text: str) -> str:
    """Return provider text fit to be shown: keys and base64 masked, at most 2,000 characters.

    >>> mask("Incorrect API key provided: sk-abcdefghijklmnopqrstuvwx.")
    'Incorrect API key provided: [masked].'
    """
    text = _BASE64.sub("[base64]", _KEY.sub("[masked]", text[: _LIMIT * 4]))
    return text if len(text) <= _LIMIT else text[: _LIMIT - 3] + "..."


def message_of_error(body: Any) -> tuple[str | None, str | None]:
    """Return `(message, code or type)` of a provider's error body, in any of their spellings.

    >>> message_of_error({"error": {"message": "no", "code": None, "type": "x"}})
    ('no', 'x')
    """
    if isinstance(body, str):
        return body or None, None
    if isinstance(body, list):
        return message_of_error(body[0]) if body else (None, None)
    if not isinstance(body, dict):
        return None, None
    error = body.get("error")
    if isinstance(error, dict):
        text, code = message_of_error({k: v for k, v in error.items() if k != "error"})
        return text or _message_field(body), code or _code_field(body)
    if isinstance(error, str) and error:
        return _message_field(body) or error, _code_field(body)
    return _message_field(body), _code_field(body)


def _message_field(body: dict[str, Any]) -> str | None:
    for key in ("message", "Message", "detail", "error_message", "originalMessage"):
        value = body.get(key)
        if isinstance(value, str) and value:
            return value
        if isinstance(value, list) and value and isinstance(value[0], dict):
            texts = [m for d in value if isinstance(d, dict) and isinstance(m := d.get("msg"), str)]
            if texts:
                return "; ".join(texts)
    return None


def _code_field(body: dict[str, Any]) -> str | None:
    for key in ("code", "status", "type"):
        value = body.get(key)
        if isinstance(value, str) and value and value != "error":
            return value
    return None


def wire_error(
    status: int | None,
    body: Any,
    *,
    provider: str | None = None,
    request_id: str | None = None,
    message: str | None = None,
    code: str | None = None,
) -> ModelError:
    """Return the error a provider told of.

    Args:
        status: The HTTP status; None for an error inside a 200 (then told from the body).
        body: The error body: parsed JSON, text or None.
        provider: The provider's name.
        request_id: The provider's id of the request.
        message: The provider's text, where the caller knows better than `message_of_error`.
        code: The provider's code or type, likewise.
    """
    found, word = message_of_error(body)
    message, code = message or found, code or word
    if status is None:
        status = _status_in(body)
        if status is None and code:
            status = _STATUS_OF_WORD.get(code.lower())
    text = mask(message) if message else "the provider said nothing else"
    name = provider or "the provider"
    head = f"{name} answered {status}" if status is not None else f"{name} reported an error"
    text = f"{head}: {text}"
    if code and code not in text:
        text += f" ({mask(code)})"
    retry = is_retryable_status(status)
    given: dict[str, Any] = {"status": status, "provider": provider, "request_id": request_id}
    if status in (None, 400, 413, 422, 500) and _OVERFLOW.search(f"{code} {message}"):
        return ContextOverflowError(text, is_retryable=status == 500, **given)
    if status == 408:
        return ModelTimeoutError(text, is_retryable=True, **given)
    if status is None:
        return ModelAPIError(text, is_retryable=True, **given)
    kind = _BY_STATUS.get(status, ModelAPIError if status >= 500 else ModelStatusError)
    return kind(text, is_retryable=retry, **given)


def _status_in(body: Any) -> int | None:
    """Return an HTTP status that stands inside an error body, or None."""
    if not isinstance(body, dict):
        return None
    error = body.get("error")
    for place in (body, error if isinstance(error, dict) else {}):
        for key in ("status_code", "code", "status", "originalStatusCode"):
            value = place.get(key)
            if isinstance(value, str) and value.isdecimal():
                value = int(value)
            if isinstance(value, int) and 400 <= value <= 599:
                return value
    return None
