"""A real HTTP server on the loopback that follows a script.

It runs in a thread of its own, so that sync and async clients can be tested alike; what it writes
goes through real sockets, so that resets, half frames and stalls are the operating system's own.
"""

import asyncio
import socket
import struct
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

import msgspec

from dragoman.testing.replies import Act, Reply

__all__ = ["Received", "ScriptedServer", "refused_url"]


@dataclass(slots=True, frozen=True)
class Received:
    """A request the server got; header names are in lower case."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The body as JSON."""
        return msgspec.json.decode(self.body)


class ScriptedServer:
    """A server that answers each request with the next reply of its script.

    Args:
        script: Replies in order, or one function from `Received` to `Reply` that is asked every time.

    Attributes:
        requests: What was received, in order.
        n_connections: How many connections were ever made.
        n_open: How many are open now.

    >>> import httpx2
    >>> with ScriptedServer(Reply.json({"ok": True})) as server:
    ...     httpx2.get(server.url).json()
    {'ok': True}
    """

    def __init__(self, *script: Reply | Callable[[Received], Reply]) -> None:
        self.requests: list[Received] = []
        self.n_connections: int = 0
        self.n_open: int = 0
        self._handler = script[0] if len(script) == 1 and not isinstance(script[0], Reply) else None
        self._script = deque(r for r in script if isinstance(r, Reply))
        self._loop = asyncio.new_event_loop()
        self._tasks: set[asyncio.Task[None]] = set()
        self._writers: set[asyncio.StreamWriter] = set()
        self._changed = threading.Condition()
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
        self.port: int = self._listener.getsockname()[1]
        started = threading.Event()
        self._loop.call_soon(started.set)
        self._thread = threading.Thread(target=self._serve, name="scripted-server", daemon=True)
        self._thread.start()
        started.wait()  # a loop that is told to stop before it runs would not stop

    @property
    def url(self) -> str:
        """The address, without a slash at its end."""
        return f"http://127.0.0.1:{self.port}"

    def add(self, *replies: Reply) -> None:
        """Put more replies at the end of the script."""
        self._script.extend(replies)

    def wait_idle(self, n_open: int = 0, timeout_s: float = 5.0) -> bool:
        """Return whether at most `n_open` connections are open, after waiting for it."""
        with self._changed:
            return self._changed.wait_for(lambda: self.n_open <= n_open, timeout_s)

    def close(self) -> None:
        """Stop; open connections are closed."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _serve(self) -> None:
        loop = self._loop
        asyncio.set_event_loop(loop)
        starting = loop.create_task(asyncio.start_server(self._accept, sock=self._listener))
        loop.run_forever()
        server = loop.run_until_complete(starting)
        server.close()
        loop.run_until_complete(self._hang_up())
        loop.close()

    async def _hang_up(self) -> None:
        # What asyncio has accepted becomes a connection some turns later: without these turns,
        # one made just before the end would outlive the loop and warn when it is collected.
        for _ in range(3):
            accepting = asyncio.all_tasks() - self._tasks - {asyncio.current_task()}
            await asyncio.gather(*accepting, return_exceptions=True)
            await asyncio.sleep(0)
        for writer in self._writers:  # a task cancelled before its first step closes nothing
            writer.transport.abort()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await asyncio.sleep(0)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        sock = writer.get_extra_info("socket")
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # each step leaves at once
        task = self._loop.create_task(self._connection(reader, writer))
        self._tasks.add(task)
        self._writers.add(writer)
        task.add_done_callback(self._tasks.discard)

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._count(1, new=1)
        try:
            while (request := await _receive(reader)) is not None:
                self.requests.append(request)
                if not await self._answer(self._next(request), reader, writer):
                    return
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # the client went away, as clients in tests do
        finally:
            writer.close()
            self._writers.discard(writer)
            self._count(-1)

    def _next(self, request: Received) -> Reply:
        if self._handler is not None:
            return self._handler(request)
        if self._script:
            return self._script.popleft()
        return Reply.json({"error": {"message": "the script has no reply left"}}, status=418)

    def _count(self, change: int, new: int = 0) -> None:
        with self._changed:
            self.n_open += change
            self.n_connections += new
            self._changed.notify_all()

    async def _answer(
        self, reply: Reply, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        """Play `reply`; return whether the connection can take another request."""
        for step in reply.wire():
            if isinstance(step, bytes):
                writer.write(step)
                await writer.drain()
                await asyncio.sleep(0)
            elif step is Act.RESET:
                _reset(writer)
                return False
            elif step is Act.CLOSE:
                return False
            else:
                # Reading while waiting shows at once when the client has gone away.
                seconds = None if isinstance(step, Act) else step
                try:
                    async with asyncio.timeout(seconds):
                        if await reader.read(1) == b"":
                            return False
                except TimeoutError:
                    continue
        return True


async def _receive(reader: asyncio.StreamReader) -> Received | None:
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
    first, *lines = head.strip().split("\r\n")
    method, path, _ = first.split(" ", 2)
    headers = {k.lower(): v.strip() for k, _, v in (line.partition(":") for line in lines)}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Received(method, path, headers, body)


def _reset(writer: asyncio.StreamWriter) -> None:
    """Close with a TCP reset: linger of zero seconds (POSIX)."""
    sock = writer.get_extra_info("socket")
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


def refused_url() -> str:
    """Return an address of this machine where nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return f"http://127.0.0.1:{listener.getsockname()[1]}"
