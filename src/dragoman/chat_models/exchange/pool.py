"""The HTTP clients: one for each event loop, and one for each thread that calls synchronously.

An async client belongs to the loop whose sockets it holds; it is closed when that loop shuts down,
by an async generator that the loop finalizes (`shutdown_asyncgens`, which `asyncio.run` calls). A
loop that was closed without this has its sockets closed when the next client is made, or at exit.
A sync client is closed when its thread ends. A forked process uses none of its parent's.

Models with the same connection settings share a client, and so their connections.
"""

import asyncio
import atexit
import functools
import os
import threading
import weakref
from collections.abc import AsyncGenerator, Coroutine
from typing import TYPE_CHECKING, Any

import msgspec

from dragoman._door import Door

if TYPE_CHECKING:
    import ssl

    import httpx2

__all__ = ["Settings", "client_for", "finish_later"]

_PROXY_VARIABLES = tuple(
    name
    for base in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")
    for name in (base, base.lower())
)


class Settings(msgspec.Struct, frozen=True):
    """What makes two models' connections different.

    Attributes:
        secure: Whether the address is https; plain connections need no certificates.
        proxy: A proxy's address; None takes the environment's.
        direct: Whether the environment's proxies are passed by (this machine's own servers).
        max_connections: At most so many at a time; None is no limit.
        environment: The proxy variables as they are now, so that a change makes a new client.
    """

    secure: bool
    proxy: str | None = None
    direct: bool = False
    max_connections: int | None = None
    environment: tuple[str | None, ...] = ()

    @classmethod
    def now(
        cls, *, secure: bool, proxy: str | None, direct: bool, max_connections: int | None
    ) -> "Settings":
        """Return the settings in the present environment."""
        values = () if proxy or direct else tuple(map(os.environ.get, _PROXY_VARIABLES))
        return cls(secure, proxy, direct, max_connections, values)


class _Clients:
    """The clients of one loop or one thread."""

    def __init__(self) -> None:
        self.pid = os.getpid()
        self.by_settings: dict[Settings, Any] = {}


class _ThreadClients(_Clients):
    """Closed when the thread, or the process, ends."""

    def close(self) -> None:
        while self.by_settings:
            _, client = self.by_settings.popitem()
            if self.pid == os.getpid():
                client.close()
            else:
                _let_go(client)

    def __del__(self) -> None:
        self.close()


class _LoopClients(_Clients):
    def __init__(self) -> None:
        super().__init__()
        self.closer: AsyncGenerator[None, None] | None = None
        self.closing: set[asyncio.Task[None]] = set()

    async def until_shutdown(self) -> AsyncGenerator[None, None]:
        """Wait for the loop to finalize its async generators, then close the clients."""
        try:
            yield
        finally:
            self.closer = None
            while self.by_settings:
                _, client = self.by_settings.popitem()
                await client.aclose()
            while self.closing:
                # Taken out here: for tasks that are done `gather` may return at once (3.12 and
                # later), before the loop has run the callbacks that would take them out.
                done = set(self.closing)
                await asyncio.gather(*done, return_exceptions=True)
                self.closing -= done


_local = threading.local()
_threads: "weakref.WeakSet[_ThreadClients]" = weakref.WeakSet()
_loops: "dict[int, tuple[weakref.ref[asyncio.AbstractEventLoop], _LoopClients]]" = {}
_loops_lock = threading.Lock()


async def client_for(door: Door, settings: Settings) -> Any:
    """Return the client of this thread, or of the running loop, for `settings`."""
    if not door.is_async:
        clients: _ThreadClients | None = getattr(_local, "clients", None)
        if clients is None or clients.pid != os.getpid():
            clients = _local.clients = _ThreadClients()
            _threads.add(clients)
        client = clients.by_settings.get(settings)
        if client is None:
            client = clients.by_settings[settings] = make_client(settings)
        return client
    running = _loop_clients(asyncio.get_running_loop())
    client = running.by_settings.get(settings)
    if client is None:
        await door.call(_warm_up, settings.secure)  # reads files: not on the loop
        if running.closer is None:
            running.closer = running.until_shutdown()
            await running.closer.__anext__()
        client = running.by_settings.get(settings)
        if client is None:
            client = running.by_settings[settings] = make_client(settings, asynchronous=True)
    return client


def finish_later(work: Coroutine[Any, Any, None]) -> None:
    """Do `work` in a task of the running loop, which waits for it before it shuts down."""
    loop = asyncio.get_running_loop()
    closing = _loop_clients(loop).closing
    task = loop.create_task(work)
    closing.add(task)
    task.add_done_callback(closing.discard)


def make_client(
    settings: Settings, *, asynchronous: bool = False
) -> "httpx2.Client | httpx2.AsyncClient":
    """Return a new client for `settings`."""
    import httpx2

    kind = httpx2.AsyncClient if asynchronous else httpx2.Client
    return kind(
        verify=_certificates() if settings.secure else _no_certificates(),
        proxy=settings.proxy,
        trust_env=not settings.direct,
        limits=httpx2.Limits(
            max_connections=settings.max_connections,
            max_keepalive_connections=64,
            keepalive_expiry=30.0,
        ),
    )


def _warm_up(secure: bool) -> None:
    """Import the client, and read the certificates if they are needed."""
    import httpx2

    del httpx2
    if secure:
        _certificates()


@functools.cache
def _certificates() -> "ssl.SSLContext":
    """Return the one TLS context of the process; making it reads the certificate store (~20 ms)."""
    import httpx2

    return httpx2.create_ssl_context()


@functools.cache
def _no_certificates() -> "ssl.SSLContext":
    """Return a context that trusts nobody, for clients that speak plain HTTP only."""
    import ssl

    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def _loop_clients(loop: asyncio.AbstractEventLoop) -> _LoopClients:
    entry = _loops.get(id(loop))
    if entry is not None and entry[0]() is loop and entry[1].pid == os.getpid():
        return entry[1]
    with _loops_lock:
        for key, (ref, clients) in list(_loops.items()):
            owner = ref()
            if owner is None or owner.is_closed():
                del _loops[key]
                _abandon(clients)
        clients = _LoopClients()
        _loops[id(loop)] = (weakref.ref(loop), clients)
        return clients


def _abandon(clients: _LoopClients) -> None:
    """Close the sockets of clients whose loop is gone, without a warning.

    The transports of a closed loop cannot be closed by their own methods, which ask the loop; what
    `asyncio` itself would have called is called here. A loop of another make is left to its own.
    """
    while clients.by_settings:
        _, client = clients.by_settings.popitem()
        if clients.pid != os.getpid():
            continue
        for transport in _transports(client):
            finish = getattr(transport, "_call_connection_lost", None)
            if finish is not None and getattr(transport, "_sock", None) is not None:
                finish(None)


def _let_go(client: Any) -> None:
    """Close a forked process's copies of its parent's sockets.

    Nothing is sent, and none of the client's locks is taken: another thread may have held one when
    the process was forked, and nobody here would give it back.
    """
    for stream in _transports(client):
        sock = getattr(stream, "_sock", None)
        if sock is not None:
            sock.close()


def _transports(client: Any) -> list[Any]:
    """Return what holds the sockets of a client, TLS or not: asyncio transports, or sync streams."""
    found: list[Any] = []
    mounts = [client._transport, *client._mounts.values()]
    for mount in mounts:
        pool = getattr(mount, "_pool", None)
        for connection in getattr(pool, "connections", ()):
            stream: Any = getattr(getattr(connection, "_connection", None), "_network_stream", None)
            for name in ("_stream", "transport_stream", "_transport"):
                inner = getattr(stream, name, None)
                stream = inner if inner is not None else stream
            below = getattr(getattr(stream, "_ssl_protocol", None), "_transport", None)
            found.append(below if below is not None else stream)
    return found


@atexit.register
def _close_all() -> None:
    for clients in list(_threads):
        clients.close()
    for ref, clients in list(_loops.values()):
        owner = ref()
        if owner is None or not owner.is_running():
            _abandon(clients)
    _loops.clear()
