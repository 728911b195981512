"""`Document`, a text with metadata, and `Blob`, bytes or a file that may become one."""

import contextlib
import mimetypes
from collections.abc import Generator
from io import BufferedReader, BytesIO
from pathlib import Path, PurePath
from typing import Any, ClassVar, Literal, cast

from pydantic import ConfigDict, Field, model_validator

from dragoman.load.serializable import Serializable

__all__ = ["BaseMedia", "Blob", "Document"]

PathLike = str | PurePath


class BaseMedia(Serializable):
    """What documents and blobs have in common.

    Attributes:
        id: An identifier, or None; numbers become text.
        metadata: What is known about the content.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(coerce_numbers_to_str=True)
    lc_keeps_data: ClassVar[bool] = True

    id: str | None = Field(default=None)
    metadata: dict[Any, Any] = Field(default_factory=dict)


class Document(BaseMedia):
    """A text with metadata.

    >>> Document("hi", metadata={"source": "greeting"}).page_content
    'hi'
    """

    page_content: str
    type: Literal["Document"] = "Document"

    def __init__(self, page_content: str, **kwargs: Any) -> None:
        """Build from the text."""
        super().__init__(page_content=page_content, **kwargs)  # pyright: ignore[reportCallIssue]

    @classmethod
    def is_lc_serializable(cls) -> bool:
        """Return True."""
        return True

    @classmethod
    def get_lc_namespace(cls) -> list[str]:
        """Return LangChain's namespace of this class."""
        return ["langchain", "schema", "document"]

    def __str__(self) -> str:
        """Return content and metadata: what a prompt shows of a document."""
        if self.metadata:
            return f"page_content='{self.page_content}' metadata={self.metadata}"
        return f"page_content='{self.page_content}'"


class Blob(BaseMedia):
    """Bytes or text in memory, or a file that is read when asked for.

    Attributes:
        data: The content, or None when it stands in a file.
        mimetype: Its media type, or None.
        encoding: How text becomes bytes.
        path: The file, or where the data came from.

    >>> Blob.from_data("hi").as_bytes()
    b'hi'
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(arbitrary_types_allowed=True, frozen=True)

    data: bytes | str | None = None
    mimetype: str | None = None
    encoding: str = "utf-8"
    path: PathLike | None = None

    @property
    def source(self) -> str | None:
        """Where the content comes from: the metadata's `source`, else the path, else None."""
        if self.metadata and "source" in self.metadata:
            return cast("str | None", self.metadata["source"])
        return str(self.path) if self.path else None

    @model_validator(mode="before")
    @classmethod
    def check_blob_is_valid(cls, values: Any) -> Any:
        """Refuse a blob with neither data nor path."""
        if isinstance(values, dict) and "data" not in values and "path" not in values:
            message = "Either data or path must be provided"
            raise ValueError(message)
        return cast("Any", values)

    def as_string(self) -> str:
        """Return the content as text.

        Raises:
            ValueError: If there is neither data nor path.
        """
        if self.data is None and self.path:
            return Path(self.path).read_text(encoding=self.encoding)
        if isinstance(self.data, bytes):
            return self.data.decode(self.encoding)
        if isinstance(self.data, str):
            return self.data
        message = f"Unable to get string for blob {self}"
        raise ValueError(message)

    def as_bytes(self) -> bytes:
        """Return the content as bytes.

        Raises:
            ValueError: If there is neither data nor path.
        """
        if isinstance(self.data, bytes):
            return self.data
        if isinstance(self.data, str):
            return self.data.encode(self.encoding)
        if self.path:
            return Path(self.path).read_bytes()
        message = f"Unable to get bytes for blob {self}"
        raise ValueError(message)

    @contextlib.contextmanager
    def as_bytes_io(self) -> Generator[BytesIO | BufferedReader, None, None]:
        """Give the content as a stream of bytes that is closed afterwards."""
        if self.data is None and self.path:
            with Path(self.path).open("rb") as stream:
                yield stream
        else:
            yield BytesIO(self.as_bytes())

    @classmethod
    def from_path(
        cls,
        path: PathLike,
        *,
        encoding: str = "utf-8",
        mime_type: str | None = None,
        guess_type: bool = True,
        metadata: dict[Any, Any] | None = None,
    ) -> "Blob":
        """Return a blob for a file, which is not read yet; the type is guessed from its name."""
        if mime_type is None and guess_type:
            mime_type = mimetypes.guess_type(str(path))[0]
        return cls(
            data=None, mimetype=mime_type, encoding=encoding, path=path, metadata=metadata or {}
        )

    @classmethod
    def from_data(
        cls,
        data: str | bytes,
        *,
        encoding: str = "utf-8",
        mime_type: str | None = None,
        path: str | None = None,
        metadata: dict[Any, Any] | None = None,
    ) -> "Blob":
        """Return a blob of data in memory."""
        return cls(
            data=data, mimetype=mime_type, encoding=encoding, path=path, metadata=metadata or {}
        )

    def __repr__(self) -> str:
        """Return a name without the content, which may be large."""
        return f"Blob {id(self)} {self.source}" if self.source else f"Blob {id(self)}"
