"""The content chunks of Mistral, each way.

A chunk that is understood whole becomes a standard block, fields that are not known stand in
`extras["mistral"]`; any other chunk travels as `non_standard`. Payload strings are passed on.
"""

from collections.abc import Callable
from typing import Any

from dragoman.codecs.contract import Change
from dragoman.codecs.media import as_data_url, is_right_data_url, media_of, text_of_media
from dragoman.codecs.mistral.tables import API, PART_TYPES
from dragoman.codecs.notes import note
from dragoman.codecs.origin import foreign_value, non_standard
from dragoman.codecs.shapes import as_dict
from dragoman.errors import DecodeError, EncodeError, short

__all__ = ["read_chunk", "read_content", "thinking_of", "write_chunk", "write_thinking"]


def read_content(content: Any, path: str) -> str | list[str | dict[str, Any]]:
    """Return message content; null is "".

    Raises:
        DecodeError: If it is neither text nor a list of chunks.
    """
    if isinstance(content, str):
        return content
    if content is None:
        return ""
    if not isinstance(content, list):
        message = f"content is text or a list of chunks, not {type(content).__name__}"
        raise DecodeError(message, path=path)
    blocks: list[str | dict[str, Any]] = []
    for n, chunk in enumerate(content):
        if not isinstance(chunk, dict):
            message = f"a content chunk is an object, not {type(chunk).__name__}"
            raise DecodeError(message, path=f"{path}[{n}]")
        blocks.append(read_chunk(chunk))
    return blocks


def thinking_of(chunk: dict[str, Any]) -> str | None:
    """Return the text of a `thinking` chunk; None if it holds more than text."""
    inner = chunk.get("thinking")
    if isinstance(inner, str):
        return inner
    if not isinstance(inner, list):
        return None
    texts: list[str] = []
    for part in inner:
        if not isinstance(part, dict) or part.get("type") != "text":
            return None
        if not isinstance(text := part.get("text"), str):
            return None
        texts.append(text)
    return "".join(texts)


def _thinking_text(chunk: dict[str, Any]) -> str | None:
    """Return the text of a `thinking` chunk, whatever else stands between it (references)."""
    inner = chunk.get("thinking")
    if not isinstance(inner, list):
        return thinking_of(chunk)
    texts = [p.get("text") for p in inner if isinstance(p, dict) and p.get("type") == "text"]
    return "".join(t for t in texts if isinstance(t, str))


def read_chunk(chunk: dict[str, Any]) -> dict[str, Any]:
    """Return one content chunk as a block."""
    kind = chunk.get("type")
    reader = _READERS.get(kind) if isinstance(kind, str) else None
    found = reader(chunk) if reader is not None else None
    if found is None:
        return non_standard(chunk, API)
    block, extras, own = found
    for key, value in chunk.items():
        if key in {"type", kind, "file_id", "document_name"} or value is None:
            continue
        if key in ("closed", "signature"):
            extras[key] = value
        else:
            own[key] = value
    if own:
        extras[API] = own
    return {**block, "extras": extras} if extras else block


_Read = tuple[dict[str, Any], dict[str, Any], dict[str, Any]]
"""A block, its documented extras, and the rest for this wire only."""


def _read_text(chunk: dict[str, Any]) -> _Read | None:
    text = chunk.get("text")
    return ({"type": "text", "text": text}, {}, {}) if isinstance(text, str) else None


def _read_thinking(chunk: dict[str, Any]) -> _Read | None:
    text, inner = _thinking_text(chunk), chunk.get("thinking")
    if text is None:
        return None
    own: dict[str, Any] = {}
    if isinstance(inner, str):
        own["form"] = "text"
    elif isinstance(inner, list) and inner != [{"type": "text", "text": text}]:
        own["form"] = inner  # several pieces, which one text does not show
    return {"type": "reasoning", "reasoning": text}, {}, own


def _read_image(chunk: dict[str, Any]) -> _Read | None:
    image = chunk.get("image_url")
    if isinstance(image, str) and image:
        return {"type": "image", "url": image}, {}, {"form": "text"}
    if not isinstance(image, dict) or not isinstance(url := image.get("url"), str) or not url:
        return None
    rest = {k: v for k, v in image.items() if k not in ("url", "detail") and v is not None}
    extras = {"detail": image["detail"]} if image.get("detail") is not None else {}
    return {"type": "image", "url": url}, extras, {"form": rest} if rest else {}


def _read_document(chunk: dict[str, Any]) -> _Read | None:
    url, name = chunk.get("document_url"), chunk.get("document_name")
    if not isinstance(url, str) or not url or not isinstance(name, str | None):
        return None
    return {"type": "file", "url": url}, {} if name is None else {"filename": name}, {}


def _read_file(chunk: dict[str, Any]) -> _Read | None:
    id = chunk.get("file_id")
    return ({"type": "file", "file_id": id}, {}, {}) if isinstance(id, str) and id else None


def _read_audio(chunk: dict[str, Any]) -> _Read | None:
    data = chunk.get("input_audio")
    if not isinstance(data, str) or not data:
        return None
    if ":" in data[:12]:
        return {"type": "audio", "url": data}, {}, {}
    block = {"type": "audio", "base64": data}
    return {**block, "mime_type": media_of(block).mime_type}, {}, {}


_READERS: dict[str, Callable[[dict[str, Any]], _Read | None]] = {
    "text": _read_text,
    "thinking": _read_thinking,
    "image_url": _read_image,
    "document_url": _read_document,
    "file": _read_file,
    "input_audio": _read_audio,
}


def write_thinking(block: dict[str, Any]) -> dict[str, Any]:
    """Return a reasoning block as a `thinking` chunk."""
    extras = as_dict(block.get("extras"))
    own = dict(as_dict(extras.get(API)))
    text = block.get("reasoning")
    text = text if isinstance(text, str) else ""
    form = own.pop("form", None)
    inner: Any = [{"type": "text", "text": text}]
    if form == "text":
        inner = text
    elif isinstance(form, list) and _thinking_text({"thinking": form}) == text:
        inner = form
    side = {k: extras[k] for k in ("closed", "signature") if k in extras}
    return {"type": "thinking", "thinking": inner, **side, **own}


def write_chunk(
    block: dict[str, Any], path: str, *, changes: list[Change] | None, said_by_model: bool = False
) -> dict[str, Any] | None:
    """Return a block as a content chunk; None (and a change) for what this wire has no place for.

    Raises:
        EncodeError: For media that no model of this wire takes.
    """
    kind = block.get("type")
    own = dict(as_dict(as_dict(block.get("extras")).get(API)))
    if kind in ("text", "text-plain", "refusal"):
        text = block.get("refusal") if kind == "refusal" else block.get("text")
        text = text if isinstance(text, str) else media_of(block).text or ""
        return {"type": "text", "text": text, **(own if kind == "text" else {})}
    if kind in ("image", "file", "audio") and not said_by_model:
        return _write_media(block, own, path)
    if kind == "video" and not said_by_model:
        message = "Mistral takes no video"
        raise EncodeError(message, path=path, hint="send single pictures")
    if kind == "non_standard":
        value = foreign_value(block, API)
        if value is not None and ("api" in block or str(value.get("type")) in PART_TYPES):
            return value
    note(changes, path, "dropped_block", f"Mistral has no place for {short(kind)} here")
    return None


def _write_media(block: dict[str, Any], own: dict[str, Any], path: str) -> dict[str, Any]:
    kind = block["type"]
    extras = as_dict(block.get("extras"))
    url = block.get("url")
    media = media_of(block)
    if media.file_id is not None and media.url is None and media.base64 is None:
        if kind == "file":
            return {"type": "file", "file_id": media.file_id, **own}
        message = f"Mistral takes no {kind} by file id"
        raise EncodeError(message, path=path, hint="give its address or data")
    if media.url is None and media.base64 is None:
        message = f"this {kind} has no address, data or file id"
        raise EncodeError(message, path=path, hint="give url or base64")
    if kind == "audio":
        return {"type": "input_audio", "input_audio": media.base64 or media.url, **own}
    is_text = kind == "file" and (media.mime_type or "").startswith("text/")
    if is_text and media.base64 and (text := text_of_media(media.base64)):
        return {"type": "text", "text": text}  # `document_url` is for documents
    if isinstance(url, str) and (url[:5].lower() != "data:" or is_right_data_url(url)):
        address = url
    else:
        address = as_data_url(media)
    if kind == "file":
        name = extras.get("filename")
        named = {"document_name": name} if isinstance(name, str) else {}
        return {"type": "document_url", "document_url": address, **named, **own}
    form = own.pop("form", None)
    if form == "text":
        return {"type": "image_url", "image_url": address, **own}
    image = {"url": address, **(form if isinstance(form, dict) else {})}
    if isinstance(extras.get("detail"), str):
        image["detail"] = extras["detail"]
    return {"type": "image_url", "image_url": image, **own}
