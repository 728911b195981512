"""`dragoman migrate`: what a program written for LangChain needs, shown or done."""

import difflib
import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from tempfile import NamedTemporaryFile

import click

from dragoman._need import need
from dragoman.cli.group import FileCommand
from dragoman.cli.output import clean

__all__ = ["command"]

# Folders that hold other people's code.
SKIPPED = frozenset({"__pycache__", "node_modules", "site-packages", "build", "dist"})


@click.command("migrate", cls=FileCommand)
@click.argument("path", type=click.Path(exists=True, path_type=Path))
@click.option("--write", is_flag=True, help="Change the files; else the changes are only shown.")
def command(path: Path, write: bool) -> int:
    """Show what a program written for LangChain needs to run here.

    PATH is a Python file or a folder of them; nothing outside of it is touched. Imports of
    langchain_core, langchain, LangChain's provider packages and some of langgraph are rewritten:
    as a diff on standard output, or in place with --write. On stderr stands what needs a hand:
    names that have no counterpart, and uses that mean something else here on purpose.

    Exit code: 0 if nothing needs a hand, 1 if something does, 2 if a file could not be read.
    """
    cst = need("libcst", "migrate")
    from dragoman.cli.migration import migrate

    if path.is_file() and path.suffix not in ("", ".py", ".pyi", ".pyw"):
        _say(f"{path}: no Python file; notebooks and others have to be saved as .py first")
        return 2
    n_files = n_imports = n_findings = n_broken = 0
    for file in python_files(path):
        before = file.read_bytes()
        try:
            done = migrate(before)
        except (cst.ParserSyntaxError, UnicodeDecodeError, RecursionError) as error:
            n_broken += 1
            _say(f"{file}: not read: {_reason(error)}")
            continue
        for finding in done.findings:
            _say(f"{file}:{finding.line}: {finding.code}: {finding.text}")
        n_findings += len(done.findings)
        if done.code != before:
            n_files, n_imports = n_files + 1, n_imports + done.n_imports
            if write:
                _replace(file, done.code)
            else:
                click.echo(_diff(file, before, done.code), nl=False)
    did = "rewritten" if write else "to rewrite (--write does it)"
    _say(
        f"{_count(n_imports, 'import')} in {_count(n_files, 'file')} {did}; {n_findings} to look at"
    )
    if n_broken:
        return 2
    return 1 if n_findings else 0


def python_files(path: Path) -> Iterator[Path]:
    """Yield the Python files of `path`, in order; links, environments and hidden folders are left out.

    A link may lead out of `path`, where nothing is to be touched.
    """
    if path.is_file():
        yield path
        return
    for folder, folders, files in os.walk(path, followlinks=False):
        here = Path(folder)
        folders[:] = sorted(name for name in folders if _is_own(here / name))
        for name in sorted(files):
            file = here / name
            if file.suffix in (".py", ".pyi") and not file.is_symlink():
                yield file


def _is_own(folder: Path) -> bool:
    return not (
        folder.name.startswith(".")
        or folder.name in SKIPPED
        or folder.is_symlink()
        or (folder / "pyvenv.cfg").exists()
    )


def _replace(file: Path, code: bytes) -> None:
    """Write `code` in one step; a crash leaves the old file or the new one."""
    file = file.resolve()
    with NamedTemporaryFile(dir=file.parent, prefix=f".{file.name}.", delete=False) as part:
        try:
            part.write(code)
            part.close()
            Path(part.name).chmod(file.stat().st_mode & 0o7777)
            Path(part.name).replace(file)
        finally:
            with suppress(FileNotFoundError):
                Path(part.name).unlink()


def _diff(file: Path, before: bytes, after: bytes) -> str:
    old, new = (code.decode("utf-8", "replace") for code in (before, after))
    lines = difflib.unified_diff(
        old.splitlines(keepends=True), new.splitlines(keepends=True), str(file), str(file)
    )
    text = "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )
    return clean(text) if sys.stdout.isatty() else text


def _reason(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "it is nested too deep"
    line = getattr(error, "raw_line", None)
    return f"line {line} is not Python" if line is not None else "its encoding is not what it says"


def _count(n: int, what: str) -> str:
    return f"{n} {what}" if n == 1 else f"{n} {what}s"


def _say(text: str) -> None:
    sys.stdout.flush()
    sys.stderr.write(clean(" ".join(text.split())) + "\n")
