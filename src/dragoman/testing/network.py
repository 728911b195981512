"""A guard against tests that leave this machine."""

import ipaddress
import socket
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from dragoman.errors import DragomanError

__all__ = ["NetworkBlockedError", "block_network"]


class NetworkBlockedError(DragomanError, OSError):
    """A connection to another machine was tried under `block_network`."""


@contextmanager
def block_network() -> Generator[None, None, None]:
    """Make every new connection to another machine an error; the loopback stays open.

    It holds for the whole process while the context is open, threads and event loops included.

    Raises:
        NetworkBlockedError: In the code that tries to connect.

    >>> with block_network():
    ...     socket.create_connection(("192.0.2.1", 80))
    Traceback (most recent call last):
    dragoman.testing.network.NetworkBlockedError: connection to 192.0.2.1 is blocked by `block_network`
    """
    connect, connect_ex = socket.socket.connect, socket.socket.connect_ex
    lookup = socket.getaddrinfo

    def guarded(self: socket.socket, address: Any) -> None:
        _check(self.family, address)
        return connect(self, address)

    def guarded_ex(self: socket.socket, address: Any) -> int:
        _check(self.family, address)
        return connect_ex(self, address)

    def guarded_lookup(host: Any, *args: Any, **kwargs: Any) -> Any:
        name = host.decode() if isinstance(host, bytes) else host
        if name is not None and not _is_here(name):
            raise _blocked(name)
        return lookup(host, *args, **kwargs)

    socket.socket.connect = guarded
    socket.socket.connect_ex = guarded_ex
    socket.getaddrinfo = guarded_lookup
    try:
        yield
    finally:
        socket.socket.connect = connect
        socket.socket.connect_ex = connect_ex
        socket.getaddrinfo = lookup


def _check(family: int, address: Any) -> None:
    if family in (socket.AF_INET, socket.AF_INET6) and not _is_here(str(address[0])):
        raise _blocked(str(address[0]))


def _is_here(host: str) -> bool:
    if host in {"localhost", ""}:
        return True
    try:
        return ipaddress.ip_address(host.partition("%")[0]).is_loopback
    except ValueError:
        return False


def _blocked(host: str) -> NetworkBlockedError:
    return NetworkBlockedError(f"connection to {host} is blocked by `block_network`")
