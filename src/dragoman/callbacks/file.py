"""A handler that writes where a chain is into a file."""

from types import TracebackType
from typing import IO, Any, Self

from typing_extensions import override

from dragoman.callbacks.stdout import StdOutCallbackHandler

__all__ = ["FileCallbackHandler"]


class FileCallbackHandler(StdOutCallbackHandler):
    """Writes what `StdOutCallbackHandler` prints to a file; use it in a `with` block, or `close` it.

    Args:
        filename: The path of the file.
        mode: How it is opened.
        color: The colour of agents' and tools' texts, where the call names none.
    """

    def __init__(self, filename: str, mode: str = "a", color: str | None = None) -> None:
        super().__init__(color)
        self.filename = filename
        self.mode = mode
        self.file: IO[Any] = open(filename, mode, encoding="utf-8")  # noqa: SIM115 - closed by `close`

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __del__(self) -> None:
        # A handler whose file could not be opened has none.
        if (file := getattr(self, "file", None)) is not None:
            file.close()

    def close(self) -> None:
        """Close the file."""
        self.file.close()

    @override
    def write(self, text: str, end: str = "\n") -> None:
        """Write `text` and flush.

        Raises:
            RuntimeError: If the file is closed.
        """
        if self.file.closed:
            message = "File is not open. Use FileCallbackHandler as a context manager."
            raise RuntimeError(message)
        self.file.write(text + end)
        self.file.flush()
