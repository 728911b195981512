"""Documents: text with metadata, for prompts and retrievers."""

from dragoman.documents.base import Blob, Document
from dragoman.documents.compressor import BaseDocumentCompressor
from dragoman.documents.transformers import BaseDocumentTransformer

__all__ = ["BaseDocumentCompressor", "BaseDocumentTransformer", "Blob", "Document"]
