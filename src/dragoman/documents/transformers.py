"""What turns documents into others."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from dragoman.documents.base import Document

__all__ = ["BaseDocumentTransformer"]


class BaseDocumentTransformer(ABC):
    """Turns a list of documents into another."""

    @abstractmethod
    def transform_documents(
        self, documents: Sequence[Document], **kwargs: Any
    ) -> Sequence[Document]:
        """Return the new documents."""

    async def atransform_documents(
        self, documents: Sequence[Document], **kwargs: Any
    ) -> Sequence[Document]:
        """Return the new documents; the sync method runs in a thread."""
        return await asyncio.to_thread(self.transform_documents, documents, **kwargs)
