"""Where a request goes and how it proves who asks: URL, headers, keys, signatures."""

import os
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from dragoman import __version__
from dragoman._door import Door
from dragoman._need import need
from dragoman.chat_models.parameters import ParameterError, check_base_url
from dragoman.chat_models.providers import Provider
from dragoman.chat_models.secret import Secret
from dragoman.errors import ModelAuthenticationError

__all__ = ["auth_headers", "base_url_of", "find_key", "full_url", "reveal", "sign_aws"]

_AUTH: dict[str, tuple[str, str]] = {
    "bearer": ("authorization", "Bearer "),
    "token": ("authorization", "Bearer "),
    "x-api-key": ("x-api-key", ""),
    "x-goog-api-key": ("x-goog-api-key", ""),
    "api-key": ("api-key", ""),
    "sigv4": ("authorization", "Bearer "),  # Bedrock's own API keys
}


def find_key(provider: Provider) -> Secret | None:
    """Return the key from the first of the provider's environment variables that is set."""
    for name in provider.key_variables:
        value = os.environ.get(name, "").strip()
        if value:
            return Secret(value)
    return None


def missing_key(provider: Provider) -> ModelAuthenticationError:
    """Return the error for a provider without a key."""
    names = " or ".join(provider.key_variables)
    text = f"no API key for {provider.name}; set {names}, or pass `api_key`"
    return ModelAuthenticationError(text, provider=provider.name)


def base_url_of(provider: Provider, given: str | None) -> str:
    """Return the address: the user's, else the environment's, else the provider's own."""
    if given is not None:
        return check_base_url(given)
    for name in provider.base_url_variables:
        value = os.environ.get(name, "").strip()
        if value:
            return check_base_url(value if "://" in value else f"http://{value}")
    return provider.base_url


def full_url(
    provider: Provider,
    base: str,
    *,
    stream: bool,
    fields: Mapping[str, str],
    query: Mapping[str, Any],
) -> str:
    """Return the address of one call; `fields` fill the places in the row, quoted."""
    path = provider.stream_path if stream and provider.stream_path else provider.path
    try:
        head = base.format_map(fields) if "{" in base else base
        tail = (
            path.format_map({k: quote(v, safe="") for k, v in fields.items()})
            if "{" in path
            else path
        )
    except KeyError as error:
        message = f"`{provider.title}` needs `{error.args[0]}`"
        raise ParameterError(message) from error
    # Both spellings of an address are in use: with and without the version at its end.
    for start in ("/v1beta/", "/v1/"):
        if tail.startswith(start) and head.endswith(start[:-1]):
            tail = tail[len(start) - 1 :]
    url = head + tail
    if query:
        url += ("&" if "?" in url else "?") + urlencode(query)
    return url


async def reveal(door: Door, source: "Secret | Callable[[], Any] | None") -> str | None:
    """Return the key's text; a callable is asked, in a thread when it is not async.

    Raises:
        ModelAuthenticationError: If the callable gives no text.
    """
    if source is None:
        return None
    if isinstance(source, Secret):
        return source.get_secret_value().strip()
    value: Any = await door.call(source)
    if hasattr(value, "__await__"):

        def refuse() -> Any:
            value.close()
            message = (
                "`api_key` is an async function; use the async methods of the model, or a plain one"
            )
            raise ParameterError(message)

        async def wait() -> Any:
            return await value

        value = await door.either(refuse, wait)
    reveal_secret = getattr(value, "get_secret_value", None)
    text = reveal_secret() if reveal_secret is not None else getattr(value, "token", value)
    if not isinstance(text, str) or not text:
        message = "the function given as `api_key` returned no text"
        raise ModelAuthenticationError(message)
    return text


def auth_headers(provider: Provider, key: str | None) -> dict[str, str]:
    """Return the headers that carry the key."""
    if key is None or provider.auth == "none":
        return {}
    name, prefix = _AUTH[provider.auth]
    return {name: prefix + key}


def standard_headers(provider: Provider, *, stream: bool) -> dict[str, str]:
    """Return what every request carries."""
    accept = {"sse": "text/event-stream", "ndjson": "application/x-ndjson"}.get(provider.framing)
    return {
        "content-type": "application/json",
        "accept": accept if stream and accept else "application/json",
        "user-agent": f"dragoman/{__version__}",
        **dict(provider.headers),
    }


def sign_aws(
    url: str, headers: Mapping[str, str], body: bytes, *, region: str, credentials: Any
) -> dict[str, str]:
    """Return `headers` with Amazon's signature (SigV4) of the request, made by botocore."""
    auth = need("botocore.auth", "bedrock")
    request = need("botocore.awsrequest", "bedrock").AWSRequest(
        method="POST",
        url=url,
        data=body,
        headers={"content-type": headers["content-type"], "host": urlsplit(url).netloc},
    )
    auth.SigV4Auth(credentials, "bedrock", region).add_auth(request)
    signed = {k.lower(): v for k, v in request.headers.items() if k.lower() != "host"}
    return {**headers, **signed}
