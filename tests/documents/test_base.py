"""`Document` and `Blob`."""

import asyncio

import pytest

from dragoman.documents import BaseDocumentCompressor, BaseDocumentTransformer, Blob, Document
from dragoman.load import dumpd, load


def test_documents():
    document = Document("x", metadata={"a": 1}, id=3)

    assert document.id == "3"
    assert str(document) == "page_content='x' metadata={'a': 1}"
    assert str(Document("x")) == "page_content='x'"
    assert repr(document) == "Document(id='3', metadata={'a': 1}, page_content='x')"
    assert document == Document(page_content="x", metadata={"a": 1}, id="3")
    assert dumpd(document)["id"] == ["langchain", "schema", "document", "Document"]
    assert load(dumpd(document), allowed_objects="core") == document
    with pytest.raises(ValueError, match="valid string"):
        Document("x", id=[1])
    with pytest.raises(TypeError):
        Document()


def test_blobs(tmp_path):
    file = tmp_path / "x.json"
    file.write_text("é", encoding="utf-8")
    memory = Blob.from_data(b"\xc3\xa9", mime_type="text/plain", path="here")
    stored = Blob.from_path(file)

    for blob in (memory, stored, Blob.from_data("é")):
        assert blob.as_string() == "é"
        assert blob.as_bytes() == "é".encode()
        with blob.as_bytes_io() as stream:
            assert stream.read() == "é".encode()
    assert stored.mimetype == "application/json"
    assert stored.source == str(file)
    assert memory.source == "here"
    assert Blob.from_path(file, metadata={"source": "own"}).source == "own"
    assert "é" not in repr(memory)
    with pytest.raises(ValueError, match="Either data or path must be provided"):
        Blob()


class Upper(BaseDocumentTransformer):
    def transform_documents(self, documents, **kwargs):
        return [Document(d.page_content.upper()) for d in documents]


class Short(BaseDocumentCompressor):
    def compress_documents(self, documents, query, callbacks=None):
        return [d for d in documents if query in d.page_content]


def test_transformers_and_compressors_run_async_too():
    documents = [Document("a"), Document("b")]

    assert asyncio.run(Upper().atransform_documents(documents)) == [Document("A"), Document("B")]
    assert asyncio.run(Short().acompress_documents(documents, "b")) == [Document("b")]
