"""The shapes inside Anthropic's blocks, there and back."""

import pytest

from dragoman.codecs.anthropic.wire import (
    read_citation,
    read_document,
    read_image,
    write_citation,
    write_document,
    write_image,
)
from dragoman.codecs.media import media_of
from dragoman.errors import EncodeError

CITATIONS = [
    {"type": "web_search_result_location", "url": "u", "title": None, "cited_text": "c", "encrypted_index": "e"},
    {"type": "char_location", "cited_text": "c", "document_index": 0, "document_title": "D",
     "start_char_index": 0, "end_char_index": 2},
    {"type": "page_location", "cited_text": "c", "document_index": 0, "document_title": None,
     "start_page_number": 1, "end_page_number": 2},
    {"type": "content_block_location", "cited_text": "c", "document_index": 0, "document_title": "D",
     "start_block_index": 0, "end_block_index": 2},
    {"type": "search_result_location", "cited_text": "c", "source": "s", "title": "T",
     "search_result_index": 0, "start_block_index": 0, "end_block_index": 1},
    {"type": "location_to_come", "cited_text": "c", "title": "T", "x": 1},
    {"type": "page_location", "page": 1},
]  # fmt: skip


@pytest.mark.parametrize("citation", CITATIONS, ids=lambda c: c["type"])
def test_citations_come_back_as_they_were(citation):
    note = read_citation(citation)
    assert note["type"] in ("citation", "non_standard_annotation")
    assert write_citation(note) == citation


@pytest.mark.parametrize("note", [3, {"type": "citation", "url": "u"}, {"type": "x", "extras": 3}])
def test_annotations_of_others_are_no_citations(note):
    assert write_citation(note) is None


@pytest.mark.parametrize(
    ("block", "source"),
    [
        ({"type": "image", "base64": "iVBORw0KGgo="},
         {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}),
        ({"type": "image", "url": "https://e.org"}, {"type": "url", "url": "https://e.org"}),
        ({"type": "image", "file_id": "f"}, {"type": "file", "file_id": "f"}),
    ],
)  # fmt: skip
def test_images_there_and_back(block, source):
    written = write_image(media_of(block), "$")
    assert written == {"type": "image", "source": source}
    again = read_image(written)
    assert again is not None
    assert {k: again[k] for k in block} == block


def test_documents_there_and_back():
    for block in (
        {"type": "file", "base64": "JVBERi0=", "mime_type": "application/pdf"},
        {"type": "file", "url": "https://e.org/d.pdf"},
        {"type": "file", "file_id": "f"},
        {"type": "text-plain", "text": "t", "mime_type": "text/plain"},
    ):
        assert read_document(write_document(media_of(block), "$")) == block


@pytest.mark.parametrize("mime", ["image/tiff", None])
def test_images_of_other_types_raise(mime):
    with pytest.raises(EncodeError, match=r"PNG, JPEG"):
        write_image(
            media_of({"type": "image", "base64": "AAAA", "mime_type": mime})._replace(
                mime_type=mime
            ),
            "$",
        )
