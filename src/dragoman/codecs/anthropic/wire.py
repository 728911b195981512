"""The shapes inside Anthropic's blocks: sources of media, and citations.

Pairs of functions, one from the wire and one to it, each the inverse of the other. A shape with a
field that is not known here is left alone (None), so that it travels whole. Payload strings are
passed on, never copied.
"""

from typing import Any

from dragoman.codecs.media import Media
from dragoman.codecs.shapes import as_str
from dragoman.errors import EncodeError, short

__all__ = [
    "joined_text",
    "read_citation",
    "read_document",
    "read_image",
    "write_citation",
    "write_document",
    "write_image",
]

# What each kind of source may hold, and where that stands in a standard block.
_SOURCES: dict[str, dict[str, str]] = {
    "base64": {"data": "base64", "media_type": "mime_type"},
    "url": {"url": "url"},
    "file": {"file_id": "file_id"},
}
_IMAGES = ("image/jpeg", "image/png", "image/gif", "image/webp")
_CITED = {
    # How a citation is told from the fields it keeps in `extras` -> its type on the wire.
    "start_char_index": "char_location",
    "start_page_number": "page_location",
    "search_result_index": "search_result_location",
    "start_block_index": "content_block_location",
    "encrypted_index": "web_search_result_location",
}
_TITLES = ("char_location", "page_location", "content_block_location")


def _read_source(source: Any) -> dict[str, Any] | None:
    if not isinstance(source, dict):
        return None
    fields = _SOURCES.get(as_str(source.get("type")) or "")
    if fields is None or not source.keys() <= {"type", *fields}:
        return None
    found = {name: source[key] for key, name in fields.items() if source.get(key) is not None}
    payload = next(iter(fields.values()))
    return found if all(isinstance(v, str) for v in found.values()) and found.get(payload) else None


def read_image(block: dict[str, Any]) -> dict[str, Any] | None:
    """Return an `image` block in standard form, without its extras; None for an unknown source."""
    found = _read_source(block.get("source"))
    return None if found is None else {"type": "image", **found}


def read_document(block: dict[str, Any]) -> dict[str, Any] | None:
    """Return a `document` block as `file` or `text-plain`; None for a source of another kind."""
    source = block.get("source")
    found = _read_source(source)
    if found is not None:
        return {"type": "file", **found}
    if (
        isinstance(source, dict)
        and source.get("type") == "text"
        and isinstance(source.get("data"), str)
        and source.keys() <= {"type", "data", "media_type"}
        and source.get("media_type") == "text/plain"
    ):
        return {"type": "text-plain", "text": source["data"], "mime_type": "text/plain"}
    if isinstance(source, dict) and source.get("type") == "content":
        content = source.get("content")
        text = content if isinstance(content, str) else joined_text(content)
        if text is not None:
            return {"type": "text-plain", "text": text, "mime_type": "text/plain"}
    return None


def joined_text(blocks: Any) -> str | None:
    """Return the text of a list of text blocks; None if it holds anything else, or nothing."""
    if not isinstance(blocks, list) or not blocks:
        return None
    texts = [b.get("text") for b in blocks if isinstance(b, dict) and b.get("type") == "text"]
    if len(texts) != len(blocks) or not all(isinstance(t, str) for t in texts):
        return None
    return texts[0] if len(texts) == 1 else "\n".join(t for t in texts if t is not None)


def write_image(media: Media, path: str) -> dict[str, Any]:
    """Return the block for an image.

    Raises:
        EncodeError: If Anthropic does not take images of this type.
    """
    if media.file_id is not None:
        source = {"type": "file", "file_id": media.file_id}
    elif media.url is not None:
        source = {"type": "url", "url": media.url}
    elif media.mime_type in _IMAGES:
        source = {"type": "base64", "media_type": media.mime_type, "data": media.base64}
    else:
        message = f"Anthropic takes no images of type {short(media.mime_type)}"
        raise EncodeError(message, path=path, hint="convert it to PNG, JPEG, GIF or WebP")
    return {"type": "image", "source": source}


def write_document(media: Media, path: str) -> dict[str, Any]:
    """Return the block for a file or a text document: PDF as base64, anything textual as text.

    Raises:
        EncodeError: If Anthropic does not take files of this type.
    """
    mime = (media.mime_type or "").split(";")[0].strip().lower()
    source: dict[str, Any]
    if media.text is not None:
        source = {"type": "text", "media_type": "text/plain", "data": media.text}
    elif media.file_id is not None:
        source = {"type": "file", "file_id": media.file_id}
    elif media.url is not None:
        source = {"type": "url", "url": media.url}
    elif mime == "application/pdf":
        source = {"type": "base64", "media_type": mime, "data": media.base64}
    else:
        message = f"Anthropic takes no files of type {short(media.mime_type)}"
        raise EncodeError(message, path=path, hint="send PDF or text; convert others first")
    return {"type": "document", "source": source}


def read_citation(citation: Any) -> dict[str, Any]:
    """Return a citation of a text block as a standard annotation."""
    if not isinstance(citation, dict) or not isinstance(citation.get("cited_text"), str):
        return {"type": "non_standard_annotation", "value": citation}
    kind = citation.get("type")
    title = "document_title" if kind in _TITLES else "title"
    found: dict[str, Any] = {"type": "citation"}
    for key, name in (("url", "url"), (title, "title"), ("cited_text", "cited_text")):
        if isinstance(citation.get(key), str):
            found[name] = citation[key]
    extras = {
        k: v for k, v in citation.items() if k != "type" and k not in {"url", "cited_text", title}
    }
    if title in citation and "title" not in found:
        extras[title] = citation[title]
    if _type_of(extras) != kind:
        extras["type"] = kind
    if extras:
        found["extras"] = extras
    return found


def _type_of(extras: dict[str, Any]) -> str | None:
    return next((kind for key, kind in _CITED.items() if key in extras), None)


def write_citation(annotation: Any) -> dict[str, Any] | None:
    """Return the citation for an annotation that came from Anthropic; None for any other."""
    if not isinstance(annotation, dict):
        return None
    if annotation.get("type") == "non_standard_annotation":
        value = annotation.get("value")
        return value if isinstance(value, dict) else None
    extras = annotation.get("extras")
    extras = dict(extras) if isinstance(extras, dict) else {}
    kind = extras.pop("type", None) or _type_of(extras)
    if kind is None:
        return None
    title = "document_title" if kind in _TITLES else "title"
    found: dict[str, Any] = {"type": kind}
    for key, name in (("url", "url"), (title, "title"), ("cited_text", "cited_text")):
        if annotation.get(name) is not None:
            found[key] = annotation[name]
    found.update(extras)
    return found
