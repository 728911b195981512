"""Faults of the connection and of replies, as dragoman's errors: the one place of translation."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from dragoman.chat_models.exchange.body import read_json
from dragoman.chat_models.exchange.redact import clean, page_text, safe_url
from dragoman.chat_models.exchange.retry import is_retried, wanted_wait_s
from dragoman.errors import (
    DecodeError,
    ModelAPIError,
    ModelConnectionError,
    ModelError,
    ModelStatusError,
    ModelStreamError,
    ModelTimeoutError,
    create_message,
)

__all__ = [
    "ModelStreamTimeoutError", "connection_fault", "is_connection_fault", "is_translated", "mask",
    "reply_fault", "request_id_of", "showable", "stream_fault", "unreadable", "wrong_type",
]  # fmt: skip


class ModelStreamTimeoutError(ModelStreamError, ModelTimeoutError):
    """A stream fell silent, or took longer than allowed, after it had begun; has `.partial`."""


_REQUEST_ID = ("x-request-id", "request-id", "x-amzn-requestid", "apim-request-id", "cf-ray")

# httpx2's exceptions by name: this module is imported before httpx2 is.
_TIMEOUTS = {
    "ConnectTimeout": "no connection within {connect} s",
    "ReadTimeout": "no answer within {read} s",
    "WriteTimeout": "the request could not be sent within {read} s",
    "PoolTimeout": "no free connection within {read} s; raise `max_connections`",
}
_PLAIN_HTTP = "if it speaks plain HTTP, write http:// in place of https://"
_CLIENTS = frozenset({"httpx2", "httpcore2", "httpx", "httpcore", "h11", "h2", "anyio", "zlib"})
_OURS = {
    "UnsupportedProtocol": "the address must begin with http:// or https://",
    "InvalidURL": "the address is not a URL",
    "LocalProtocolError": "the request is not valid HTTP; look for line breaks in keys and headers",
    "UnicodeEncodeError": "a header holds characters beyond ASCII; look at keys and `default_headers`",
    "TooManyRedirects": "too many redirects",
}


def request_id_of(headers: Mapping[str, str]) -> str | None:
    """Return the provider's id of the request, or None."""
    return next((headers[name] for name in _REQUEST_ID if name in headers), None)


def is_connection_fault(error: Exception) -> bool:
    """Return whether `error` comes from the HTTP client or the network."""
    module = type(error).__module__.partition(".")[0]
    kinds = (OSError, EOFError, UnicodeEncodeError)
    return isinstance(error, kinds) or module in _CLIENTS


def is_translated(error: Exception) -> bool:
    """Return whether `error` becomes a `ModelError`; one that does not is one already, or a bug."""
    return not isinstance(error, ModelError) and (
        isinstance(error, DecodeError) or is_connection_fault(error)
    )


def showable(error: Exception) -> Exception | None:
    """Return `error` if it may stand in a traceback.

    The text of an illegal header quotes the header, which may be the key.
    """
    return None if type(error).__name__ in ("LocalProtocolError", "UnicodeEncodeError") else error


def connection_fault(
    error: Exception, url: str, provider: str, secrets: tuple[str, ...], seconds: Mapping[str, str]
) -> ModelError:
    """Return the error for an exception of the HTTP client, before or outside a stream."""
    kind, where = type(error).__name__, safe_url(url)
    if kind == "ConnectTimeout" and _is_tls(error):
        text = (
            f"{where}: connected, but no TLS handshake within {seconds['connect']} s; {_PLAIN_HTTP}"
        )
        # A port of its own, unlike a provider's overloaded front, will answer no better next time.
        is_retryable = urlsplit(url).port in (None, 443)
        return ModelTimeoutError(text, provider=provider, is_retryable=is_retryable)
    if kind in _TIMEOUTS:
        text = _TIMEOUTS[kind].format_map(seconds)
        return ModelTimeoutError(f"{where}: {text}", provider=provider)
    if kind in _OURS:
        text = f"{where}: {_OURS[kind]}"
        return ModelConnectionError(text, provider=provider, is_retryable=False)
    said = clean(str(error) or kind, secrets)
    if "CERTIFICATE_VERIFY_FAILED" in said:
        text = (
            f"the certificate of {where} is not trusted: {said}; for a private authority set "
            "SSL_CERT_FILE to its certificate, or pass `http_client` and `http_async_client`"
        )
        return ModelConnectionError(text, provider=provider, is_retryable=False)
    if kind == "ConnectError" and _is_tls(error):
        why = clean(str(error), secrets) or "the server closed the connection"
        text = f"the TLS handshake with {where} failed: {why}; {_PLAIN_HTTP}"
        is_retryable = "WRONG_VERSION_NUMBER" not in said  # what came was no TLS
        return ModelConnectionError(text, provider=provider, is_retryable=is_retryable)
    if kind == "ConnectError":
        text = f"cannot connect to {where}: {said}; check the address and that the server runs"
    elif kind == "ProxyError":
        text = f"the proxy refused the connection to {where}: {said}"
    elif isinstance(error, DecodeError):
        text = f"the reply of {where} cannot be read: {said}"
    else:
        text = f"the connection to {where} broke before the reply was complete: {said}"
    return ModelConnectionError(text, provider=provider)


def _is_tls(error: BaseException | None) -> bool:
    """Return whether an error of the client began in TLS."""
    while error is not None:
        if type(error).__module__ == "ssl" or "handshake" in str(error):
            return True
        error = error.__cause__ or error.__context__
    return False


def stream_fault(
    error: Exception, provider: str, secrets: tuple[str, ...], seconds: Mapping[str, str]
) -> ModelError:
    """Return the error for an exception in the middle of a stream."""
    if type(error).__name__ == "ReadTimeout":
        text = f"the stream fell silent for {seconds['read']} s"
        return ModelStreamTimeoutError(text, provider=provider)
    said = clean(str(error) or type(error).__name__, secrets)
    what = "cannot be read" if isinstance(error, DecodeError) else "broke"
    return ModelStreamError(f"the stream {what}: {said}", provider=provider)


def reply_fault(
    codec: Any,
    status: int,
    headers: Mapping[str, str],
    body: bytes,
    *,
    provider: str,
    secrets: tuple[str, ...],
) -> ModelError:
    """Return the error for a reply with an error status, or for an error body inside a 200."""
    try:
        data: Any = read_json(body) if body.strip() else None
    except DecodeError:
        data = page_text(body[:20_000].decode("utf-8", "replace")) or None
    if 300 <= status < 400:
        text = (
            f"{provider} answered {status}, a redirect; set `base_url` to the address it leads to"
        )
        error: ModelError = ModelStatusError(text, status=status, provider=provider)
    else:
        error = codec.decode_error(status if status >= 400 else None, data)
    if status >= 400:
        error.is_retryable = is_retried(status) and (error.is_retryable or status in _ALWAYS)
    error.provider = error.provider or provider
    error.request_id = error.request_id or request_id_of(headers)
    wait = wanted_wait_s(headers, data)
    if wait is not None:
        error.retry_after_s = wait  # type: ignore[attr-defined]
    return mask(error, secrets)


_ALWAYS = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})


def wrong_type(
    content_type: str, body: bytes, provider: str, secrets: tuple[str, ...]
) -> ModelError:
    """Return the error for a 200 that is not what was asked for, such as a proxy's login page."""
    said = clean(page_text(body.decode("utf-8", "replace")), secrets)[:300]
    text = f"{provider} answered with {content_type or 'no content type'} in place of a reply: {said or '(empty)'}"
    return ModelAPIError(
        f"{text}; check `base_url`", status=200, provider=provider, is_retryable=False
    )


def unreadable(reason: str, provider: str, secrets: tuple[str, ...]) -> ModelError:
    """Return the error for a 200 whose JSON is no reply."""
    text = f"the reply of {provider} cannot be read: {clean(reason, secrets)}"
    return ModelAPIError(text, status=200, provider=provider, is_retryable=False)


def mask(error: ModelError, secrets: tuple[str, ...]) -> ModelError:
    """Return `error` with its text cleaned."""
    text = clean(error.message, secrets)
    if text != error.message:
        error.message = text
        error.args = (
            text if error.code is None else create_message(message=text, error_code=error.code),
        )
    return error
