"""JSON files, JSON lines and pipes, as a stream of documents.

A file is one JSON value, or one value a line. Lines that hold single messages (as `dragoman chat
--json` prints them) are one document together; any other lines are documents of their own, read one
at a time, so that a file of any length needs the memory of its longest line.
"""

import json
import os
import sys
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

import msgspec

from dragoman.errors import DecodeError, MessageError

__all__ = [
    "Document",
    "Writer",
    "about",
    "open_writer",
    "read_documents",
    "sound_documents",
    "whole_file",
]

# With one of these an object is more than a message: a body, or an envelope of a batch file.
HISTORY_KEYS = frozenset({"messages", "contents", "input", "body", "params", "request"})
PROGRESS_AFTER_S = 2.0


class Document(msgspec.Struct, kw_only=True):
    """One JSON value of a file.

    Attributes:
        name: The file's, or `stdin`.
        value: The value; None if it could not be read.
        line: The line it starts on, from 1.
        text: Its text, where it is one of its own.
        item_lines: The lines of its items, where each item is a line.
        is_indented: Whether it was written over several lines.
        is_line: Whether it is one line of several.
        error: Why it could not be read, or None.
    """

    name: str
    value: Any = None
    line: int = 1
    text: str | None = None
    item_lines: list[int] | None = None
    is_indented: bool = False
    is_line: bool = False
    error: str | None = None


def read_documents(path: str) -> Iterator[Document]:
    """Yield the documents of the file at `path`, or of standard input for `-`.

    A line that is no JSON among lines that are is yielded with its `error`. On a terminal the number
    of lines read is shown when it takes long.

    Raises:
        DecodeError: If the whole is no JSON, or empty.
        OSError: If the file cannot be read.
    """
    if path == "-":
        yield from _shown(_read(_numbered(sys.stdin.buffer, "stdin"), "stdin"))
        return
    with Path(path).open("rb") as file:
        yield from _shown(_read(_numbered(file, path), path))


def sound_documents(path: str) -> Iterator[Document]:
    """Yield the documents of a file as `read_documents` does; the first that is no JSON is an error.

    Raises:
        DecodeError: For that one, by its line.
    """
    for document in read_documents(path):
        if document.error is not None:
            raise DecodeError(f"{document.name}: line {document.line}: {document.error}")
        yield document


@contextmanager
def about(document: Document) -> Generator[None]:
    """Let errors of the data in a document name its file, and its line where it is one of several."""
    try:
        yield
    except MessageError as error:
        where = f"{document.name}: line {document.line}" if document.is_line else document.name
        raise DecodeError(f"{where}: {error.message}", path=error.path, hint=error.hint) from error


def _numbered(file: IO[bytes], name: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(file, 1):
        try:
            yield number, line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            message = f"{name}: line {number} is not UTF-8 text (byte {error.start})"
            raise DecodeError(message) from error


def _read(lines: Iterator[tuple[int, str]], name: str) -> Iterator[Document]:
    head: list[tuple[int, str]] = []
    told: list[tuple[int, str]] = []
    for line in lines:
        head.append(line)
        if line[1].strip():
            told.append(line)
        if len(told) == 2:
            break
    if not told:
        raise DecodeError(f"{name} is empty", hint="give a history or a request body as JSON")
    values = [_parse(text) for _, text in told]
    if len(told) == 2 and (values[0][1] is None or values[1][1] is None):
        yield from _read_lines(name, told, lines, is_message=_is_message(values[0][0]))
        return
    text = "".join(text for _, text in head) + "".join(text for _, text in lines)
    value, error = _parse(text)
    if error is not None:
        raise DecodeError(f"{name}: {error}")
    yield Document(name=name, value=value, text=text, is_indented=len(told) == 2)


def _parse(text: str) -> tuple[Any, str | None]:
    """Return a value and why there is none."""
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        return None, f"not JSON: {error.msg} (line {error.lineno}, column {error.colno})"
    except RecursionError:
        return None, "not readable: nested too deeply"
    except ValueError:
        return None, "not readable: a number is too long"
    if isinstance(value, dict | list):
        return value, None
    return None, f"no history, but a JSON {type(value).__name__}"


def _is_message(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and not HISTORY_KEYS & value.keys()
        and bool({"role", "type", "lc"} & value.keys())
    )


def _read_lines(
    name: str, told: list[tuple[int, str]], rest: Iterator[tuple[int, str]], *, is_message: bool
) -> Iterator[Document]:
    items: list[Any] = []
    numbers: list[int] = []
    for part in (told, rest):
        for number, text in part:
            if not text.strip():
                continue
            value, error = _parse(text)
            if not is_message:
                yield Document(
                    name=name, value=value, line=number, text=text, is_line=True, error=error
                )
                continue
            if error is not None:
                raise DecodeError(f"{name}: line {number}: {error}")
            items.append(value)
            numbers.append(number)
    if is_message:
        yield Document(name=name, value=items, line=numbers[0], item_lines=numbers)


def _shown(documents: Iterator[Document]) -> Iterator[Document]:
    """Pass documents on, showing on a terminal how far it is."""
    if not sys.stderr.isatty():
        yield from documents
        return
    started = shown = time.monotonic()
    is_shown = False
    for count, document in enumerate(documents, 1):
        yield document
        now = time.monotonic()
        if now - started > PROGRESS_AFTER_S and now - shown > 0.2:
            sys.stderr.write(f"\r{count:,} histories, line {document.line:,} ")
            sys.stderr.flush()
            shown, is_shown = now, True
    if is_shown:
        sys.stderr.write("\r\x1b[K")


class Writer:
    """Writes documents in the form in which they were read."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def write(self, document: Document, value: Any) -> None:
        """Write `value` in the place of the document's own."""
        if document.item_lines is not None and isinstance(value, list):
            for item in value:
                self._line(_dump(item, None))
        elif value is document.value and document.text is not None:
            self._line(document.text.rstrip("\n"))
        else:
            self._line(_dump(value, 2 if document.is_indented else None))

    def _line(self, text: str) -> None:
        self._file.write(text.encode("utf-8", "surrogatepass") + b"\n")
        self._file.flush()


def _dump(value: Any, indent: int | None) -> str:
    separators = None if indent else (",", ":")
    try:
        text = json.dumps(value, ensure_ascii=False, indent=indent, separators=separators)
        text.encode()
    except UnicodeEncodeError:  # half a surrogate pair has no UTF-8 form, but an escape
        text = json.dumps(value, indent=indent, separators=separators)
    return text


@contextmanager
def open_writer(path: str | None) -> Generator[Writer]:
    """Give a writer to the file at `path`, or to standard output.

    A file appears whole, in one step, or not at all.
    """
    if path is None or path == "-":
        yield Writer(sys.stdout.buffer)
        return
    with whole_file(Path(path)) as file:
        yield Writer(file)


@contextmanager
def whole_file(path: Path) -> Generator[IO[bytes]]:
    """Give a file that appears at `path` whole, in one step, or not at all.

    Raises:
        OSError: If it cannot be written; it names `path`.
    """
    part = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with part.open("wb") as file:
            yield file
        part.replace(path)
    except OSError as error:
        if error.filename == str(part):
            error.filename = str(path)
            error.filename2 = None
        raise
    finally:
        with suppress(OSError):
            part.unlink()
