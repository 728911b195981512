"""The command in a process of its own, through pipes or on a terminal, against a scripted server."""

import io
import json
import os
import pty
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from dragoman.cli.group import run as run_here
from dragoman.testing import Reply

COMMAND = [sys.executable, "-m", "dragoman"]


def environment(url: str | None = None, **more: str) -> dict[str, str]:
    """Return an environment in which `openai:...` means the server at `url`."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("OPENAI_")}
    own = {"OPENAI_BASE_URL": f"{url}/v1", "OPENAI_API_KEY": "sk-secret"} if url else {}
    return clean | own | {"TERM": "xterm", "NO_COLOR": "1"} | more


def run(*args: str, said: str | bytes = "", url: str | None = None, **more: str):
    """Return the finished command; what it says is text."""
    done = subprocess.run(
        [*COMMAND, *args],
        input=said.encode() if isinstance(said, str) else said,
        capture_output=True,
        env=environment(url, **more),
        timeout=120,
    )
    return subprocess.CompletedProcess(
        done.args, done.returncode, done.stdout.decode(), done.stderr.decode()
    )


def is_one_line_of_error(text: str) -> bool:
    return text.startswith("dragoman: ") and text.count("\n") == 1 and "Traceback" not in text


def streamed(text: str, *, wait_s: float = 0.0, end: str = "clean", **extra) -> Reply:
    """Return a reply that streams `text` word by word, as chat completions do."""
    base = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    pieces = [piece + " " for piece in text.split(" ")]
    pieces[-1] = pieces[-1][:-1]
    deltas = [{"role": "assistant", "content": ""} | extra, *({"content": p} for p in pieces)]
    events = [{"choices": [{"index": 0, "delta": d, "finish_reason": None}]} for d in deltas]
    if end == "clean":
        events.append({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
        usage = {
            "prompt_tokens": 5,
            "completion_tokens": len(pieces),
            "total_tokens": 5 + len(pieces),
        }
        events.append({"choices": [], "usage": usage})
    data: list[tuple[str | None, str]] = [(None, json.dumps(base | event)) for event in events]
    if end == "clean":
        data.append((None, "[DONE]"))
    return Reply.events(data, wait_s=wait_s, end=end)


class Terminal:
    """A person at a terminal: what is typed, and what is seen."""

    def __init__(self, main: int, process: "subprocess.Popen[bytes]") -> None:
        self._main = main
        self.process = process
        self.seen = ""

    def type(self, text: str) -> None:
        os.write(self._main, text.encode())

    def wait_for(self, text: str, seconds: float = 30) -> str:
        """Return what was shown until `text`, which is taken off."""
        end = time.monotonic() + seconds
        while text not in self.seen:
            if not self._read(end - time.monotonic()):
                raise AssertionError(f"{text!r} did not come; seen: {self.seen!r}")
        before, _, self.seen = self.seen.partition(text)
        return before

    def wait_for_more(self, n_characters: int) -> None:
        """Wait until so much was shown that was not waited for."""
        end = time.monotonic() + 30
        while len(self.seen) < n_characters:
            if not self._read(end - time.monotonic()):
                raise AssertionError(f"no more came; seen: {self.seen!r}")

    def interrupt(self, text: str) -> str:
        """Press Ctrl-C until `text` is shown, and return what was shown before it.

        More than once, because Python's prompt may miss the first: one that comes in the moment
        between showing the prompt and waiting for a key is seen at the next key only.
        """
        for _ in range(20):
            self.type("\x03")
            end = time.monotonic() + 1
            while text not in self.seen and self._read(end - time.monotonic()):
                pass
            if text in self.seen:
                break
        return self.wait_for(text)

    def _read(self, seconds: float) -> bool:
        ready, _, _ = select.select([self._main], [], [], max(seconds, 0))
        if not ready:
            return False
        try:
            data = os.read(self._main, 65536)
        except OSError:  # the other side is closed
            return False
        self.seen += data.decode(errors="replace")
        return bool(data)

    def end(self) -> int:
        """Return the exit code, once the command has ended."""
        while self._read(30):
            pass
        return self.process.wait(30)


@contextmanager
def terminal(
    *args: str, url: str | None = None, cwd: str | None = None, **more: str
) -> Iterator[Terminal]:
    main, other = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", STARTER, *COMMAND[1:], *args],
        stdin=other,
        stdout=other,
        stderr=other,
        env=environment(url, **more),
        start_new_session=True,
        cwd=cwd,
    )
    os.close(other)
    try:
        yield Terminal(main, process)
    finally:
        process.kill()
        process.wait()
        os.close(main)


# Makes the pseudo terminal the controlling one, so that Ctrl-C reaches the command.
STARTER = (
    "import fcntl, os, sys, termios\n"
    "fcntl.ioctl(0, termios.TIOCSCTTY, 0)\n"
    "os.execv(sys.executable, [sys.executable, *sys.argv[1:]])\n"
)


def call(monkeypatch, capsys, *args: str, said: str | bytes | None = None):
    """Return exit code, output and errors of a command run in this process."""
    data = said.encode() if isinstance(said, str) else said
    if data is not None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    code = run_here(list(args))
    out, err = capsys.readouterr()
    return code, out, err
