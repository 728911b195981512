"""Support for tests of TLS and proxies: certificates made on the spot, a TLS server, a proxy."""

import datetime
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from socket import SHUT_RDWR, create_connection, socket
from socketserver import StreamRequestHandler, ThreadingTCPServer
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from dragoman.messages import AIMessage
from dragoman.testing import Reply

NAME = "models.example"
HELLO = AIMessage("Hello there")


def certificate(folder: Path, *names: str) -> tuple[Path, Path]:
    """Write a self-signed certificate for names and this machine; return its file and its key's."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "dragoman's tests")])
    day, today = datetime.timedelta(days=1), datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(today - day)
        .not_valid_after(today + day)
        .add_extension(x509.SubjectAlternativeName(list(map(x509.DNSName, names))), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    files = folder / "certificate.pem", folder / "key.pem"
    files[0].write_bytes(made.public_bytes(Encoding.PEM))
    files[1].write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    return files


class Listener(ThreadingTCPServer):
    """A server with a thread for each connection; none outlives it."""

    daemon_threads = False
    request_queue_size = 64

    def __init__(self, handler: Any) -> None:
        super().__init__(("127.0.0.1", 0), handler)
        self.port: int = self.server_address[1]
        self.n_connections = 0
        self._open: set[socket] = set()

    def process_request(self, request: Any, address: Any) -> None:
        self.n_connections += 1
        self._open.add(request)
        super().process_request(request, address)

    def shutdown_request(self, request: Any) -> None:
        self._open.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, address: Any) -> None:
        """Say nothing: clients of these tests hang up in every way."""

    def server_close(self) -> None:
        for request in list(self._open):
            with suppress(OSError):
                socket.shutdown(request, SHUT_RDWR)
        super().server_close()


class _Answer(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Any

    def setup(self) -> None:
        self.request.do_handshake()
        super().setup()

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        self.server.headers.append(dict(self.headers))
        for step in Reply.message(HELLO, stream=b'"stream":true' in body).wire():
            assert isinstance(step, bytes)
            self.wfile.write(step)

    def log_message(self, format: str, *args: Any) -> None:
        pass


class TLSServer(Listener):
    """Says hello to every request, over TLS."""

    def __init__(self, files: tuple[Path, Path]) -> None:
        super().__init__(_Answer)
        self.headers: list[dict[str, str]] = []
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(*files)
        self.url = f"https://localhost:{self.port}/v1"

    def get_request(self) -> Any:
        request, address = super().get_request()
        wrapped = self._context.wrap_socket(
            request, server_side=True, do_handshake_on_connect=False
        )
        return wrapped, address


class _Connect(StreamRequestHandler):
    server: Any

    def handle(self) -> None:
        head = b"".join(iter(self.rfile.readline, b"\r\n")).decode("latin-1")
        self.server.heads.append(head)
        self.wfile.write(f"HTTP/1.1 {self.server.answer}\r\n\r\n".encode())
        if not self.server.answer.startswith("200"):
            return
        with create_connection(("127.0.0.1", self.server.target)) as there:
            back = threading.Thread(target=_pump, args=(there, self.request))
            back.start()
            _pump(self.request, there)
            back.join()


def _pump(source: socket, sink: socket) -> None:
    with suppress(OSError):
        while data := source.recv(65536):
            sink.sendall(data)
    for end in (source, sink):
        with suppress(OSError):
            end.shutdown(SHUT_RDWR)


class Proxy(Listener):
    """Takes every CONNECT to one port of this machine, whatever host was asked for."""

    def __init__(self, target: int, answer: str = "200 OK") -> None:
        super().__init__(_Connect)
        self.target, self.answer = target, answer
        self.heads: list[str] = []
        self.url = f"http://127.0.0.1:{self.port}"


@contextmanager
def running(server: Any) -> Iterator[Any]:
    """Serve in a thread until the end of this context."""
    with server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
