"""Real exchanges, kept in a file and played back: tests against a provider, without the provider.

    with record("chat.jsonl") as clients:
        model = ChatOpenAI(model="gpt-4o", **clients.options)
        ...
    with replay("chat.jsonl") as clients:
        ...  # the same calls, offline

One line a request, as JSON. Of headers only what a reply needs to be read is kept, none of a
request's; keys in addresses and bodies are masked. Bodies are kept as they came, in their pieces, so
that a stream is played back as it was cut.
"""

import base64
import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qsl, urlencode, urlsplit

import httpx2
import msgspec

from dragoman.chat_models.exchange.body import read_json
from dragoman.chat_models.exchange.redact import mask_keys
from dragoman.errors import DecodeError, DragomanError

__all__ = ["Clients", "RecordingError", "record", "replay"]

_KEPT = frozenset(
    {
        "content-type",
        "retry-after",
        "retry-after-ms",
        "request-id",
        "x-request-id",
        "x-amzn-requestid",
    }
)
_SECRET_QUERY = frozenset(
    {"key", "api_key", "api-key", "token", "access_token", "sig", "signature"}
)


class RecordingError(DragomanError, LookupError):
    """A request that was not recorded, or a recording that cannot be read."""


class Exchange(msgspec.Struct, kw_only=True):
    """One recorded request with its reply; `pieces` are text, or base64 of what is none."""

    method: str
    url: str
    request: Any
    status: int
    headers: dict[str, str]
    pieces: list[str]
    is_base64: bool = False


class Clients:
    """A sync and an async client for models, and the context that closes them.

    Attributes:
        client: An `httpx2.Client`.
        async_client: An `httpx2.AsyncClient`.
        options: Both, as keyword arguments of a chat model.
    """

    def __init__(self, transport: "_Recorder | _Player") -> None:
        self.client: httpx2.Client = httpx2.Client(transport=_Sync(transport))
        self.async_client: httpx2.AsyncClient = httpx2.AsyncClient(transport=_Async(transport))
        self._transport = transport

    @property
    def options(self) -> dict[str, Any]:
        """The clients as keyword arguments of a chat model."""
        return {"http_client": self.client, "async_http_client": self.async_client}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.client.close()


def record(path: str | Path, *, transport: Any = None, async_transport: Any = None) -> Clients:
    """Return clients that write every exchange to the end of a file.

    Args:
        path: The file; made if it is not there.
        transport: What really sends, for sync calls; by default httpx2's own.
        async_transport: The same for async calls.
    """
    return Clients(_Recorder(Path(path), transport, async_transport))


def replay(path: str | Path) -> Clients:
    """Return clients that answer from a file, each recorded exchange once and in order.

    Raises:
        RecordingError: If the file cannot be read; in a call, if its request was not recorded.
    """
    try:
        lines = Path(path).read_bytes().splitlines()
        exchanges = [msgspec.json.decode(line, type=Exchange) for line in lines if line.strip()]
    except (OSError, msgspec.MsgspecError) as error:
        message = f"{path} is no recording that can be read: {error}"
        raise RecordingError(message) from error
    return Clients(_Player(exchanges))


class _Recorder:
    def __init__(self, path: Path, sync: Any, asynchronous: Any) -> None:
        self._path = path
        self._lock = threading.Lock()
        self.sync: Any = sync
        self.asynchronous: Any = asynchronous

    def send(self, request: httpx2.Request) -> httpx2.Response:
        if self.sync is None:
            self.sync = httpx2.HTTPTransport()
        response: Any = self.sync.handle_request(request)
        pieces: list[bytes] = []

        def body() -> Iterator[bytes]:
            try:
                for piece in response.stream:
                    pieces.append(piece)
                    yield piece
            finally:
                response.close()
                self._write(request, response, pieces)

        return self._wrapped(response, body())

    async def asend(self, request: httpx2.Request) -> httpx2.Response:
        if self.asynchronous is None:
            self.asynchronous = httpx2.AsyncHTTPTransport()
        response: Any = await self.asynchronous.handle_async_request(request)
        pieces: list[bytes] = []

        async def body() -> AsyncIterator[bytes]:
            try:
                async for piece in response.stream:
                    pieces.append(piece)
                    yield piece
            finally:
                await response.aclose()
                self._write(request, response, pieces)

        return self._wrapped(response, body())

    @staticmethod
    def _wrapped(response: httpx2.Response, body: Any) -> httpx2.Response:
        return httpx2.Response(response.status_code, headers=response.headers, content=body)

    def _write(
        self, request: httpx2.Request, response: httpx2.Response, pieces: list[bytes]
    ) -> None:
        texts = _as_texts(pieces)
        kept = {
            name: value
            for name, value in response.headers.items()
            if name in _KEPT | {"content-encoding"}
        }
        made = Exchange(
            method=request.method,
            url=_safe_address(str(request.url)),
            request=_masked_body(request.content),
            status=response.status_code,
            headers=kept,
            pieces=[base64.b64encode(p).decode() for p in pieces] if texts is None else texts,
            is_base64=texts is None,
        )
        with self._lock, self._path.open("ab") as file:
            file.write(msgspec.json.encode(made) + b"\n")


class _Player:
    def __init__(self, exchanges: list[Exchange]) -> None:
        self._left = exchanges
        self._lock = threading.Lock()

    def _find(self, request: httpx2.Request) -> Exchange:
        body = _masked_body(request.content)
        path = _path_of(_safe_address(str(request.url)))
        with self._lock:
            for at, made in enumerate(self._left):
                if (made.method, _path_of(made.url)) == (
                    request.method,
                    path,
                ) and made.request == body:
                    return self._left.pop(at)
        message = (
            f"{request.method} {path} with this body was not recorded, or was already played; "
            f"{len(self._left)} recorded exchanges are left"
        )
        raise RecordingError(message)

    def send(self, request: httpx2.Request) -> httpx2.Response:
        made = self._find(request)
        return httpx2.Response(made.status, headers=made.headers, content=iter(_pieces(made)))

    async def asend(self, request: httpx2.Request) -> httpx2.Response:
        made = self._find(request)

        async def body() -> AsyncIterator[bytes]:
            for piece in _pieces(made):
                yield piece

        return httpx2.Response(made.status, headers=made.headers, content=body())


class _Sync(httpx2.BaseTransport):
    def __init__(self, inner: _Recorder | _Player) -> None:
        self._inner = inner

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        request.read()
        return self._inner.send(request)

    def close(self) -> None:
        sync = getattr(self._inner, "sync", None)
        if sync is not None:
            sync.close()


class _Async(httpx2.AsyncBaseTransport):
    def __init__(self, inner: _Recorder | _Player) -> None:
        self._inner = inner

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        await request.aread()
        return await self._inner.asend(request)

    async def aclose(self) -> None:
        asynchronous = getattr(self._inner, "asynchronous", None)
        if asynchronous is not None:
            await asynchronous.aclose()


def _pieces(made: Exchange) -> list[bytes]:
    return [base64.b64decode(p) if made.is_base64 else p.encode() for p in made.pieces]


def _as_texts(pieces: list[bytes]) -> list[str] | None:
    """Return the pieces as text with keys masked, or None if one is no text of its own."""
    try:
        return [mask_keys(piece.decode()) for piece in pieces]
    except UnicodeDecodeError:
        return None


def _masked_body(content: bytes) -> Any:
    if not content:
        return None
    text = mask_keys(content.decode("utf-8", "replace"))
    try:
        return read_json(text.encode())
    except DecodeError:
        return text


def _safe_address(url: str) -> str:
    parts = urlsplit(url)
    query = [(k, "***" if k.lower() in _SECRET_QUERY else v) for k, v in parse_qsl(parts.query)]
    return parts._replace(
        netloc=parts.netloc.rpartition("@")[2], query=urlencode(query), fragment=""
    ).geturl()


def _path_of(url: str) -> str:
    """Return path and query: a recording plays back whatever the host is."""
    parts = urlsplit(url)
    return f"{parts.path}?{parts.query}" if parts.query else parts.path
