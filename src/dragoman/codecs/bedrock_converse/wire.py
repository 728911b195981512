"""The shapes inside Bedrock's blocks: media, documents, citations, cache points.

Pairs of functions, one from the wire and one to it. A shape with a field that is not known here is
left alone (None), so that it travels whole. Payload strings are passed on, never copied.
"""

import base64
import re
from typing import Any

from dragoman.codecs.bedrock_converse.tables import (
    AUDIO_FORMATS,
    DOCUMENT_FORMATS,
    IMAGE_FORMATS,
    TEXT_DOCUMENTS,
    VIDEO_FORMATS,
    Kind,
)
from dragoman.codecs.media import Media
from dragoman.errors import EncodeError, short

__all__ = [
    "cache_control",
    "cache_point",
    "document_name",
    "joined_text",
    "read_citation",
    "read_media",
    "write_citation",
    "write_media",
]

_FORMATS: dict[str, dict[str, str]] = {
    "image": IMAGE_FORMATS,
    "video": VIDEO_FORMATS,
    "audio": AUDIO_FORMATS,
    "document": DOCUMENT_FORMATS,
}
_BY_MIME = {kind: {mime: name for name, mime in rows.items()} for kind, rows in _FORMATS.items()}
_ALIASES = {
    "audio/mp3": "mp3", "audio/x-wav": "wav", "audio/x-flac": "flac", "video/matroska": "mkv",
    "video/x-flash": "flv", "application/x-pdf": "pdf", "text/x-markdown": "md",
}  # fmt: skip
_NAME = re.compile(r"[^A-Za-z0-9\s\-()\[\]]+")
_SPACES = re.compile(r"\s+")


def read_media(kind: Kind, block: Any) -> dict[str, Any] | None:
    """Return the standard fields of an image, document, video or audio block; None if unknown.

    Text sources of documents become the block's text.
    """
    if not isinstance(block, dict) or not isinstance(source := block.get("source"), dict):
        return None
    name = block.get("format")
    mime = _FORMATS[kind].get(name) if isinstance(name, str) else None
    if len(source) != 1 or (name is not None and mime is None):
        return None
    found: dict[str, Any] = {"type": "file" if kind == "document" else kind}
    (where, value), *_ = source.items()
    if where == "bytes" and isinstance(value, (str, bytes)):
        found["base64"] = value if isinstance(value, str) else base64.b64encode(value).decode()
    elif where == "s3Location" and isinstance(value, dict) and isinstance(value.get("uri"), str):
        found["url"] = value["uri"]
        if len(value) > 1:
            found["source"] = source
    elif kind == "document" and where == "text" and isinstance(value, str):
        return {"type": "text-plain", "text": value, "mime_type": "text/plain", "source": source}
    elif kind == "document" and where == "content" and (text := joined_text(value)) is not None:
        return {"type": "text-plain", "text": text, "mime_type": "text/plain", "source": source}
    else:
        return None
    if mime is not None:
        found["mime_type"] = mime
    return found


def joined_text(blocks: Any) -> str | None:
    """Return the text of a list of `{"text": ...}` blocks; None if it holds anything else."""
    if not isinstance(blocks, list) or not blocks:
        return None
    texts = [b.get("text") for b in blocks if isinstance(b, dict) and b.keys() <= {"text", "type"}]
    if len(texts) != len(blocks) or not all(isinstance(t, str) for t in texts):
        return None
    return texts[0] if len(texts) == 1 else "\n".join(t for t in texts if t is not None)


def write_media(kind: Kind, media: Media, path: str) -> dict[str, Any]:
    """Return `{"format", "source"}` for a payload.

    Raises:
        EncodeError: For a type this wire has no format for, and for addresses it cannot fetch.
    """
    mime = (media.mime_type or "").split(";")[0].strip().lower()
    name = _BY_MIME[kind].get(mime) or _ALIASES.get(mime)
    if name not in _FORMATS[kind]:
        name = None
    if name is None and kind == "document" and (mime.startswith(TEXT_DOCUMENTS) or media.text):
        name = "txt"
    source: dict[str, Any]
    if media.url is not None:
        if not media.url.startswith("s3://"):
            message = f"Bedrock fetches no {kind} from the web"
            raise EncodeError(
                message, path=path, hint="send its bytes as base64, or an s3:// address"
            )
        source = {"s3Location": {"uri": media.url}}
        name = name or _format_of_name(kind, media.url)
    elif media.base64 is not None:
        source = {"bytes": media.base64}
    elif media.text is not None:
        source = {"bytes": base64.b64encode(media.text.encode("utf-8", "replace")).decode()}
    else:
        message = f"Bedrock cannot use the id of an uploaded {kind}"
        raise EncodeError(message, path=path, hint="send its bytes as base64")
    if name is None:
        message = f"Bedrock takes no {kind} of type {short(media.mime_type)}"
        hint = f"one of {', '.join(_FORMATS[kind])}"
        raise EncodeError(message, path=path, hint=hint)
    return {"format": name, "source": source}


def _format_of_name(kind: Kind, url: str) -> str | None:
    end = url.rsplit(".", 1)[-1].lower()
    end = {"jpg": "jpeg", "3gp": "three_gp", "htm": "html"}.get(end, end)
    return end if end in _FORMATS[kind] else None


def document_name(given: Any, n: int) -> str:
    """Return a name for a document from the letters Bedrock takes; the n-th has one made of n.

    >>> document_name("report_2026.final.pdf", 1), document_name(None, 2)
    ('report 2026 final pdf', 'Document 2')
    """
    if isinstance(given, str) and given != "LC_AUTOGENERATED":
        if not _NAME.search(given) and not re.search(r"\s\s", given) and 0 < len(given) <= 200:
            return given
        name = _SPACES.sub(" ", _NAME.sub(" ", given)).strip()[:200]
        if name:
            return name
    return f"Document {n}"


def read_citation(citation: Any) -> dict[str, Any]:
    """Return a citation as a standard annotation; what it has beside title and text is kept."""
    if not isinstance(citation, dict):
        return {"type": "non_standard_annotation", "value": {"citation": citation}}
    found: dict[str, Any] = {"type": "citation"}
    location = citation.get("location")
    web = location.get("web") if isinstance(location, dict) else None
    if isinstance(web, dict) and isinstance(web.get("url"), str):
        found["url"] = web["url"]
    if isinstance(citation.get("title"), str):
        found["title"] = citation["title"]
    cited = joined_text(citation.get("sourceContent"))
    if cited is not None:
        found["cited_text"] = cited
    extras = {k: v for k, v in citation.items() if k != "title" or "title" not in found}
    if extras:
        found["extras"] = extras
    return found


def write_citation(annotation: Any) -> dict[str, Any] | None:
    """Return the citation for an annotation that came from this wire; None for any other."""
    extras = annotation.get("extras") if isinstance(annotation, dict) else None
    if not isinstance(extras, dict) or not extras.keys() & {"location", "sourceContent", "source"}:
        return None
    title = annotation.get("title")
    return {"title": title, **extras} if isinstance(title, str) else dict(extras)


def cache_control(point: Any) -> dict[str, Any] | None:
    """Return a `cachePoint` as the mark that Anthropic puts on the block before; None if unknown."""
    if not isinstance(point, dict) or point.get("type") != "default":
        return None
    if not point.keys() <= {"type", "ttl"}:
        return None
    return {"type": "ephemeral", **{k: v for k, v in point.items() if k == "ttl"}}


def cache_point(mark: Any) -> dict[str, Any] | None:
    """Return the `cachePoint` block for a `cache_control` mark; None if it is none."""
    if not isinstance(mark, dict):
        return None
    return {"cachePoint": {"type": "default", **{k: v for k, v in mark.items() if k == "ttl"}}}
