"""Certificates, proxies that tunnel, and forks: over real sockets, with certificates of our own."""

import socket
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import httpx2
import pytest
from tests.chat_models.secure import HELLO, NAME, Proxy, TLSServer, certificate, running

from dragoman.chat_models import init_chat_model
from dragoman.chat_models.exchange import pool
from dragoman.errors import ModelConnectionError, ModelTimeoutError

KEY = "sk-test-0123456789abcdef"


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return certificate(tmp_path_factory.mktemp("tls"), NAME, "localhost")


@pytest.fixture
def secure(files: Any) -> Iterator[TLSServer]:
    with running(TLSServer(files)) as server:
        yield server


@pytest.fixture
def trusted(files: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Have the user trust the certificate; the process reads what is trusted once."""
    monkeypatch.setenv("SSL_CERT_FILE", str(files[0]))
    pool._certificates.cache_clear()
    yield
    pool._certificates.cache_clear()


@pytest.fixture
def proxy(secure: TLSServer) -> Iterator[Proxy]:
    with running(Proxy(secure.port)) as server:
        yield server


def made(url: str, **options: Any) -> Any:
    options = {"base_url": url, "api_key": KEY, "max_retries": 0, **options}
    return init_chat_model("openai:gpt-4o", **options)


def said(colour: Any, model: Any) -> list[str]:
    """Return a reply and a stream, of clients that no other test has made."""
    texts: list[str] = []

    def work() -> None:
        texts.append(colour.invoke(model, "hi").text)
        texts.append("".join(chunk.text for chunk in colour.stream(model, "hi")))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    return texts


def fault(colour: Any, model: Any) -> ModelConnectionError:
    errors: list[Any] = []

    def work() -> None:
        with pytest.raises(ModelConnectionError) as caught:
            colour.invoke(model, "hi")
        errors.append(caught.value)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    return errors[0]


@pytest.mark.usefixtures("trusted")
def test_what_ssl_cert_file_trusts_is_trusted(colour: Any, secure: TLSServer) -> None:
    assert said(colour, made(secure.url)) == [HELLO.content] * 2


def test_an_unknown_certificate_is_named_and_not_tried_again(
    colour: Any, secure: TLSServer
) -> None:
    error = fault(colour, made(secure.url, max_retries=2))
    assert "certificate" in str(error)
    assert "SSL_CERT_FILE" in str(error)
    assert error.provider == "openai"
    assert not error.is_retryable
    assert secure.n_connections == 1
    assert secure.headers == []


@pytest.mark.usefixtures("trusted")
def test_a_certificate_of_another_name_is_refused(colour: Any, secure: TLSServer) -> None:
    error = fault(colour, made(f"https://127.0.0.1:{secure.port}/v1"))
    assert "certificate" in str(error)
    assert not error.is_retryable
    assert secure.headers == []


def test_a_client_of_one_s_own_trusts_what_it_trusts(secure: TLSServer, files: Any) -> None:
    context = ssl.create_default_context(cafile=files[0])
    with httpx2.Client(verify=context) as client:
        assert made(secure.url, http_client=client).invoke("hi").text == HELLO.content


async def test_an_async_client_of_one_s_own_trusts_what_it_trusts(
    secure: TLSServer, files: Any
) -> None:
    context = ssl.create_default_context(cafile=files[0])
    async with httpx2.AsyncClient(verify=context) as client:
        model = made(secure.url, http_async_client=client)
        assert (await model.ainvoke("hi")).text == HELLO.content


HOW = pytest.mark.parametrize("how", ["option", "HTTPS_PROXY", "https_proxy", "ALL_PROXY"])


@HOW
@pytest.mark.usefixtures("trusted")
def test_a_proxy_tunnels_https(
    how: str, colour: Any, secure: TLSServer, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = proxy.url.replace("//", "//user:pass%40word@")
    if how != "option":
        monkeypatch.setenv(how, url)
    model = made(f"https://{NAME}/v1", **({"proxy": url} if how == "option" else {}))
    assert said(colour, model) == [HELLO.content] * 2
    assert all(head.startswith(f"CONNECT {NAME}:443 HTTP/1.1") for head in proxy.heads)
    assert all("Basic dXNlcjpwYXNzQHdvcmQ=" in head for head in proxy.heads)
    # The proxy sees no key, and the provider nothing that is the proxy's.
    assert KEY not in "".join(proxy.heads)
    assert not any("proxy" in name.lower() for head in secure.headers for name in head)


@pytest.mark.usefixtures("trusted")
def test_no_proxy_passes_by_and_so_does_this_machine(
    colour: Any, secure: TLSServer, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", proxy.url)
    assert said(colour, made(secure.url)) == [HELLO.content] * 2
    monkeypatch.setenv("NO_PROXY", "invalid")
    assert "cannot connect" in str(fault(colour, made("https://name.invalid/v1")))
    assert proxy.heads == []


@pytest.mark.parametrize("answer", ["407 Proxy Authentication Required", "403 No", "502 Bad"])
def test_a_proxy_that_refuses_is_named_without_its_password(
    answer: str, colour: Any, proxy: Proxy
) -> None:
    proxy.answer = answer
    url = proxy.url.replace("//", "//user:passw0rd@")
    error = fault(colour, made(f"https://{NAME}/v1", proxy=url))
    assert "the proxy refused the connection" in str(error)
    assert answer[:3] in str(error)
    shown = f"{error!r} {error.__cause__!r}"
    assert "passw0rd" not in shown
    assert KEY not in shown


FORKS = """
import asyncio, os, sys
from dragoman.chat_models import init_chat_model
how, url = sys.argv[1:]
model = init_chat_model("openai:m", base_url=url, api_key="k" * 12, max_retries=0)
def ask():
    return (asyncio.run(model.ainvoke("hi")) if how == "async" else model.invoke("hi")).text
texts = [ask()]
stream = model.stream("hi")
first = next(stream).text
child = os.fork()
if child == 0:
    failed = ask() != texts[0]
    del stream  # closed here: Python 3.13.0 crashes when a fork closes a generator as it exits
    sys.exit(failed)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
texts += [first + "".join(chunk.text for chunk in stream), ask()]
print(texts)
"""


@pytest.mark.parametrize("how", ["sync", "async"])
def test_a_fork_leaves_its_parent_s_connections_alone(
    how: str, secure: TLSServer, files: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The child asks over its own connection and exits; the parent reads on where it was."""
    monkeypatch.setenv("SSL_CERT_FILE", str(files[0]))
    command = [sys.executable, "-W", "error", "-c", FORKS, how, secure.url]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.stdout.strip(), done.stderr) == (str([HELLO.content] * 3), "")
    # Sync: the parent's one and the child's. Each asyncio.run has one of its own besides the stream's.
    assert secure.n_connections == (2 if how == "sync" else 4)


@pytest.mark.parametrize(
    ("answer", "error", "n_attempts"),
    [
        (b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n", ModelConnectionError, 1),
        (b"", ModelConnectionError, 2),
        (None, ModelTimeoutError, 1),
    ],
    ids=["answers in plain HTTP", "hangs up", "waits for plain HTTP"],
)
def test_https_to_a_server_that_speaks_plain_http_says_so(
    answer: bytes | None, error: type, n_attempts: int, colour: Any, make: Any
) -> None:
    taken: list[socket.socket] = []

    def serve() -> None:
        with suppress(OSError):
            while True:
                connection, _ = listener.accept()
                taken.append(connection)
                if answer is not None:
                    connection.recv(4096)
                    connection.sendall(answer)
                    connection.close()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve)
        thread.start()
        url = f"https://127.0.0.1:{listener.getsockname()[1]}"
        with pytest.raises(error, match="write http:// in place of https://"):
            colour.invoke(make(base_url=url, timeout={"connect": 0.2}, max_retries=1), "hi")
        listener.shutdown(socket.SHUT_RDWR)
        thread.join()
    for connection in taken:
        connection.close()
    assert len(taken) == n_attempts
