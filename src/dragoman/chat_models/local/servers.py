"""The models that run here: one child process for each .gguf, started when first asked for.

A child serves HTTP on a free port of the loopback with a random key, so the embedded model goes
through the same code as every other provider. All models of this process that use the same file
share it; callers queue for its one slot.

Theory of life and death. The child reads its standard input, a pipe whose other end only we hold:
when we end in any way, SIGKILL included, the system closes the pipe and the child leaves. A forked
process closes its copy at once and starts a child of its own when it needs one. A child that died
is replaced by the next call of `server`, at a new address: ask before each attempt.
"""

import atexit
import importlib.util
import json
import os
import secrets
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import msgspec

from dragoman._need import need
from dragoman.chat_models.local.template import TEMPLATE
from dragoman.chat_models.local.weights import find_weights
from dragoman.errors import ModelError, ModelNotFoundError, short

__all__ = ["BUNDLED_MODEL", "LocalServer", "running", "server", "stop"]

BUNDLED_MODEL = "smollm2-135m"
BUNDLED_CONTEXT_TOKENS = 4096
# For a file we do not know; a model that was trained on less gets less.
CONTEXT_TOKENS = 8192
# Idle kept-alive connections hold a thread each: with too few, a new caller waits five seconds for
# one of them to time out (measured with 64 clients, 2026-11).
HTTP_THREADS = 256
# From a slow disk a file of many gigabytes takes minutes.
START_TIMEOUT_S = 600
STOP_TIMEOUT_S = 5


class LocalServer(msgspec.Struct, frozen=True, kw_only=True):
    """Where a local model answers.

    Attributes:
        base_url: `http://127.0.0.1:<port>/v1`, in the manner of OpenAI.
        api_key: The key it asks for; never shown by `repr`.
        model: The name it goes by in replies.
        path: The .gguf it runs.
    """

    base_url: str
    api_key: str
    model: str
    path: str

    def __repr__(self) -> str:
        return f"LocalServer(base_url={self.base_url!r}, model={self.model!r})"


class _Child:
    """A process, and where it answers once it does."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self.process = process
        self.server: LocalServer | None = None


# A key is a real path, or "" for the bundled model. `_guard` is held for moments only, also across
# a fork; `_starting` holds one lock for each key, for as long as a start takes.
_guard = threading.RLock()
_starting: dict[str, threading.Lock] = {}
_children: dict[str, _Child] = {}


def running(path: str | os.PathLike[str] | None = None) -> LocalServer | None:
    """Return the server of `path` (None: the bundled model) if it runs; never waits."""
    child = _children.get(_key(path))
    if child is None or child.server is None or child.process.poll() is not None:
        return None
    return child.server


def server(path: str | os.PathLike[str] | None = None) -> LocalServer:
    """Return the server of the .gguf at `path`, or of the bundled model; start it if need be.

    Waits for the start (about a second for the bundled model, whose weights are fetched first if
    they are not here yet); later calls return at once.

    Raises:
        MissingExtraError: If `xllamacpp` is not installed.
        ModelNotFoundError: If there is no file at `path`.
        ModelError: If it cannot be run, or the weights cannot be had.
    """
    if (found := running(path)) is not None:
        return found
    key = _key(path)
    with _guard:
        lock = _starting.setdefault(key, threading.Lock())
    with lock:
        return running(path) or _start(key)


def stop() -> None:
    """Stop every server of this process; one that is needed again starts again."""
    with _guard:
        children = list(_children.values())
        _children.clear()
    for child in children:
        _end(child.process)


def _key(path: str | os.PathLike[str] | None) -> str:
    return "" if path is None else os.path.realpath(os.path.expanduser(path))


def _start(key: str) -> LocalServer:
    if importlib.util.find_spec("xllamacpp") is None:
        need("xllamacpp", "local")
    settings = _settings(key)
    # -P: this folder must not stand in the child's import path. A session of its own: Ctrl-C in a
    # terminal is for us.
    command = [sys.executable, "-P", str(Path(__file__).with_name("child.py"))]
    with _guard:
        try:
            process = subprocess.Popen(  # noqa: S603 - our own interpreter and file
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                bufsize=0,
                start_new_session=True,
            )
        except OSError as error:
            message = f"the local model's process cannot be started: {error.strerror or error}"
            raise ModelError(message, provider="local") from error
        child = _Child(process)
        dead = _children.get(key)
        _children[key] = child
    if dead is not None:
        _end(dead.process)
    try:
        address = _greet(process, settings)
    except BaseException:
        with _guard:
            if _children.get(key) is child:
                del _children[key]
        _end(process)
        raise
    child.server = LocalServer(
        base_url=f"{address}/v1",
        api_key=settings["api_key"],
        model=settings["model"],
        path=settings["path"],
    )
    return child.server


def _settings(key: str) -> dict[str, Any]:
    """Return what the child is told on its first line."""
    path = key or str(find_weights())
    if key:
        _check_file(Path(key))
    return {
        "path": path,
        "model": Path(key).stem if key else BUNDLED_MODEL,
        "template": None if key else TEMPLATE,
        "n_ctx": CONTEXT_TOKENS if key else BUNDLED_CONTEXT_TOKENS,
        "n_threads": _threads(),
        "n_threads_http": HTTP_THREADS,
        "api_key": secrets.token_urlsafe(24),
    }


def _check_file(path: Path) -> None:
    if not path.is_file():
        what = "it is a folder" if path.is_dir() else "there is no such file"
        message = f"no model at {str(path)!r}: {what}; give the path of a .gguf file"
        raise ModelNotFoundError(message, provider="llamacpp")
    try:
        with path.open("rb") as file:
            magic = file.read(4)
    except OSError as error:
        message = f"the model at {str(path)!r} cannot be read: {error.strerror or error}"
        raise ModelError(message, provider="llamacpp") from error
    if magic != b"GGUF":
        message = f"{str(path)!r} is not a GGUF file; give the path of a .gguf file"
        raise ModelError(message, provider="llamacpp")


def _threads() -> int:
    """Return how many threads compute: `DRAGOMAN_LOCAL_THREADS`, else all cores but one, to 8.

    One core stays free for the program that asks: with every core computing on a busy machine the
    speed collapses (24 to 4 tokens a second on two cores, measured 2026-11).
    """
    own = os.environ.get("DRAGOMAN_LOCAL_THREADS")
    if own:
        if own.isdecimal() and int(own) > 0:
            return int(own)
        message = f"DRAGOMAN_LOCAL_THREADS is {short(own)}; set it to a whole number from 1 up"
        raise ModelError(message, provider="local")
    cores = len(os.sched_getaffinity(0)) if sys.platform == "linux" else (os.cpu_count() or 1)
    return max(1, min(cores - 1, 8))


def _greet(process: "subprocess.Popen[bytes]", settings: dict[str, Any]) -> str:
    """Tell the child its settings; return the address it answers with once the model is loaded."""
    assert process.stdin is not None
    assert process.stdout is not None
    timer = threading.Timer(START_TIMEOUT_S, process.kill)
    timer.daemon = True
    timer.start()
    try:
        process.stdin.write(json.dumps(settings).encode() + b"\n")
        line = process.stdout.readline()
    except OSError:  # it died before it read
        line = b""
    finally:
        timer.cancel()
    answer: dict[str, Any] = json.loads(line) if line.endswith(b"\n") else {}
    if "address" in answer:
        return answer["address"]
    path = settings["path"]
    if "error" in answer:
        message = (
            f"the model at {path!r} could not be loaded ({answer['error'][:300]}); "
            "check that the file is complete and of a kind that llama.cpp knows"
        )
    else:
        code = process.wait()
        message = (
            f"the process of the model at {path!r} ended while it loaded (exit code {code}); "
            "there may be too little memory for it"
        )
    raise ModelError(message, provider="local")


def _end(process: "subprocess.Popen[bytes]") -> None:
    """Close the pipe, which is the sign to leave, and wait for the child to be gone."""
    _close_pipes(process)
    try:
        process.wait(STOP_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _close_pipes(process: "subprocess.Popen[bytes]") -> None:
    # Unbuffered on purpose: closing writes nothing and takes no lock, so it is safe after a fork.
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            pipe.close()


def _forget() -> None:
    """In a forked process: drop what belongs to the parent, and let go of its pipes."""
    _guard.release()  # taken before the fork, by this very thread
    _starting.clear()
    for child in _children.values():
        # Not ours to wait for; without this its `__del__` would warn that it still runs.
        child.process.returncode = 0
        _close_pipes(child.process)
    _children.clear()


atexit.register(stop)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_guard.acquire,
        after_in_parent=_guard.release,
        after_in_child=_forget,
    )
