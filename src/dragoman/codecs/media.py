"""Media in messages: what kind the bytes are, and data URLs of every legal form.

Payloads are large: nothing here copies one unless a wire needs another form of it (a data URL has
the base64 inside, so cutting it out copies). Kinds are told from the first bytes; a label that the
bytes contradict loses (`image/jpg` on a JPEG becomes `image/jpeg`, PNG bytes are a PNG whatever the
label says).
"""

import base64
import binascii
from typing import Any, NamedTuple
from urllib.parse import quote, unquote_to_bytes

__all__ = [
    "Media",
    "as_data_url",
    "base64_text",
    "is_right_data_url",
    "media_of",
    "mime_of",
    "parse_data_url",
    "sniff",
    "text_of_media",
]

# The start of a file in base64 (longest prefixes that do not depend on what follows) -> its type.
_MAGIC = (
    ("iVBORw0KGg", "image/png"),
    ("/9j/", "image/jpeg"),
    ("R0lGOD", "image/gif"),
    ("JVBERi0", "application/pdf"),
    ("T2dnU", "audio/ogg"),
    ("ZkxhQ", "audio/flac"),
    ("SUQz", "audio/mpeg"),
    ("GkXfo", "video/webm"),
)
_RIFF = {b"WEBP": "image/webp", b"WAVE": "audio/wav", b"AVI ": "video/avi"}
_BRANDS = {b"heic": "image/heic", b"heix": "image/heic", b"avif": "image/avif", b"M4A ": "audio/mp4",
           b"qt  ": "video/quicktime", b"3gp4": "video/3gpp", b"3gp5": "video/3gpp"}  # fmt: skip
# Labels that people write and no provider takes.
_ALIASES = {
    "image/jpg": "image/jpeg",
    "image/pjpeg": "image/jpeg",
    "image/x-png": "image/png",
    "audio/mp3": "audio/mpeg",
    "audio/x-mp3": "audio/mpeg",
    "audio/x-wav": "audio/wav",
    "audio/wave": "audio/wav",
    "audio/vnd.wave": "audio/wav",
    "application/x-pdf": "application/pdf",
}
# Kinds that the first bytes tell with certainty; for these the bytes beat the label.
_CERTAIN = {"image/png", "image/jpeg", "image/gif", "image/webp", "application/pdf"}
_DEFAULT = {
    "image": "image/png", "audio": "audio/wav", "video": "video/mp4",
    "file": "application/octet-stream", "text-plain": "text/plain",
}  # fmt: skip


class Media(NamedTuple):
    """Where a media block's payload is, with its corrected type.

    Attributes:
        kind: `image`, `audio`, `video`, `file` or `text-plain`.
        url: An http(s), gs, s3 ... address; never a data URL.
        base64: The payload in standard base64 (the very string of the block where it had one).
        file_id: The provider's id of an uploaded file.
        text: The text of a `text-plain` block.
        mime_type: The corrected type; None where nothing tells it.
    """

    kind: str
    url: str | None
    base64: str | None
    file_id: str | None
    text: str | None
    mime_type: str | None


def media_of(block: dict[str, Any]) -> Media:
    """Return what a standard media block (`image audio video file text-plain`) holds.

    A data URL in `url` is taken apart. Fields of a wrong type count as absent.

    >>> media_of({"type": "image", "url": "data:image/jpg;base64,/9j/4AAQ"})[2::3]
    ('/9j/4AAQ', 'image/jpeg')
    """
    kind = str(block.get("type"))
    url, data, file_id, text = (
        v if isinstance(v := block.get(k), str) and v else None
        for k in ("url", "base64", "file_id", "text")
    )
    mime = block.get("mime_type")
    mime = mime if isinstance(mime, str) and mime else None
    if isinstance(raw := block.get("base64"), (bytes, bytearray)):
        data = base64.b64encode(raw).decode()
    if data is not None and data[:5].lower() == "data:":
        url, data = data, None
    if url is not None and data is None and url[:5].lower() == "data:":
        parsed = parse_data_url(url)
        if parsed is not None:
            data, label = parsed
            url, mime = None, mime or label
    elif data is not None:
        url, data = None, base64_text(data)  # Gemini's clients write the URL-safe alphabet
    if data is not None:
        mime = mime_of(data, mime, kind)
    elif mime is not None:
        mime = _ALIASES.get(mime.lower(), mime)
    elif kind == "text-plain":
        mime = "text/plain"
    if text is None and kind == "text-plain" and data is not None:
        text = text_of_media(data)
    return Media(kind, url, data, file_id, text, mime)


def sniff(data: str) -> str | None:
    """Return the media type that the first bytes of base64 `data` tell, or None.

    >>> sniff("iVBORw0KGgoAAAANSUhEUg"), sniff("aGVsbG8=")
    ('image/png', None)
    """
    head = data[:64].lstrip()
    for start, mime in _MAGIC:
        if head.startswith(start):
            return mime
    raw = _head_bytes(head)
    if raw[:2] in (b"\xff\xfb", b"\xff\xf3", b"\xff\xf2"):
        return "audio/mpeg"
    if raw[:4] == b"RIFF":
        return _RIFF.get(raw[8:12])
    if raw[4:8] == b"ftyp":
        return _BRANDS.get(raw[8:12], "video/mp4")
    return None


def _head_bytes(head: str) -> bytes:
    head = "".join(head.replace("-", "+").replace("_", "/").split())[:32].rstrip("=")
    try:
        return base64.b64decode(head[: len(head) // 4 * 4])
    except (binascii.Error, ValueError):
        return b""


def mime_of(data: str, label: str | None, kind: str = "file") -> str:
    """Return the media type of base64 `data`: bytes first, then the label, then the kind's default.

    >>> mime_of("/9j/4AAQSkZJRg", "image/png", "image"), mime_of("eA==", "text/csv; charset=utf-8")
    ('image/jpeg', 'text/csv; charset=utf-8')
    """
    seen = sniff(data)
    label = label if isinstance(label, str) else None
    if seen in _CERTAIN and not (label or "").startswith("application/vnd."):
        assert seen is not None
        return seen
    if label:
        return _ALIASES.get(label.split(";")[0].strip().lower(), label)
    return seen or _DEFAULT.get(kind, "application/octet-stream")


def is_right_data_url(url: str) -> bool:
    """Return whether a data URL is base64 whose label is one that providers take; looks at 64 characters.

    >>> is_right_data_url("data:image/jpg;base64,/9j/4AAQ")
    False
    """
    comma = url.find(",", 5, 300)
    head = url[5:comma] if comma > 0 else ""
    if not head.endswith(";base64"):
        return False
    label = head[:-7]
    return bool(label) and mime_of(url[comma + 1 : comma + 65], label) == label


def parse_data_url(url: str) -> tuple[str, str | None] | None:
    """Return `(base64, media type or None)` of a data URL; None if it is not one.

    Takes parameters (`;charset=utf-8;name=x`), upper-case schemes, percent-encoded and plain-text
    payloads (which are encoded), the URL-safe alphabet, missing padding and white space. Time is
    linear in the URL.

    >>> parse_data_url("data:text/plain;charset=utf-8,a%20b")
    ('YSBi', 'text/plain;charset=utf-8')
    """
    if url[:5].lower() != "data:":
        return None
    comma = url.find(",", 5)
    if comma < 0:
        return None
    head, data = url[5:comma], url[comma + 1 :]
    params = [p.strip() for p in head.split(";")]
    is_base64 = (len(params) > 1 and params[-1].lower() == "base64") or head.lower() == "base64"
    if is_base64:
        params = params[:-1] if len(params) > 1 else [""]
        data = base64_text(data)
    else:
        data = base64.b64encode(unquote_to_bytes(data)).decode()
    label = ";".join(p for p in params if p)
    if params and not params[0]:
        label = "text/plain" + (";" + label if label else "")
        return data, None if is_base64 else label
    return data, label or None


def base64_text(data: str) -> str:
    """Return base64 in the standard alphabet, padded, without white space; the same string if so."""
    if "%" in data:
        data = unquote_to_bytes(data).decode("ascii", "ignore")
    if "-" in data or "_" in data:
        data = data.replace("-", "+").replace("_", "/")
    if "\n" in data or " " in data or "\r" in data or "\t" in data:
        data = "".join(data.split())
    return data + "=" * (-len(data) % 4) if len(data) % 4 else data


def as_data_url(media: Media) -> str:
    """Return a URL for the payload: the address, or a data URL of the base64 (which copies it).

    >>> as_data_url(media_of({"type": "image", "base64": "R0lGODlh"}))
    'data:image/gif;base64,R0lGODlh'
    """
    if media.url is not None:
        return media.url
    if media.base64 is None:
        return f"data:text/plain;charset=utf-8,{quote(media.text or '')}"
    return f"data:{media.mime_type or _DEFAULT.get(media.kind)};base64,{media.base64}"


def text_of_media(data: str) -> str | None:
    """Return base64 `data` decoded as UTF-8 text; None if it is not that."""
    try:
        return base64.b64decode(base64_text(data)).decode()
    except (binascii.Error, ValueError):
        return None
