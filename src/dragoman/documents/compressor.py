"""What keeps of documents that which answers a query."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel

from dragoman.documents.base import Document

__all__ = ["BaseDocumentCompressor"]


class BaseDocumentCompressor(BaseModel, ABC):
    """Shortens or drops documents with a query in mind."""

    @abstractmethod
    def compress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Any = None
    ) -> Sequence[Document]:
        """Return the shorter list."""

    async def acompress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Any = None
    ) -> Sequence[Document]:
        """Return the shorter list; the sync method runs in a thread."""
        return await asyncio.to_thread(self.compress_documents, documents, query, callbacks)
