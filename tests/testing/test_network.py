"""No test leaves this machine."""

import asyncio
import socket

import httpx2
import pytest

from dragoman.testing import NetworkBlockedError, Reply, ScriptedServer, block_network


def test_other_machines_are_out_of_reach_and_the_loopback_is_not() -> None:
    with ScriptedServer(Reply.json({"a": 1})) as server, block_network():
        for address in ("192.0.2.1", "2001:db8::1"):
            with pytest.raises(NetworkBlockedError, match="blocked by `block_network`"):
                socket.create_connection((address, 80), timeout=0.1)
        with pytest.raises(NetworkBlockedError):
            socket.getaddrinfo("models.example", 443)
        assert httpx2.get(server.url).json() == {"a": 1}


def test_it_ends_with_its_block() -> None:
    before = socket.socket.connect, socket.getaddrinfo
    with pytest.raises(ZeroDivisionError), block_network():
        1 / 0
    assert (socket.socket.connect, socket.getaddrinfo) == before


async def test_async_connections_too() -> None:
    with block_network(), pytest.raises(OSError, match="blocked"):
        await asyncio.open_connection("192.0.2.1", 80)


def test_a_model_says_so_in_its_error() -> None:
    from dragoman.chat_models import init_chat_model
    from dragoman.errors import ModelConnectionError

    with block_network(), pytest.raises(ModelConnectionError, match="blocked"):
        init_chat_model(
            "openai:m", api_key="x" * 10, base_url="http://192.0.2.1/v1", max_retries=0
        ).invoke("hi")
