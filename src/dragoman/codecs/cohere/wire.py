"""The content parts of Cohere, each way; a part of an unknown kind travels as `non_standard`."""

from typing import Any

from dragoman.codecs.cohere.tables import API, PART_TYPES
from dragoman.codecs.contract import Change
from dragoman.codecs.media import as_data_url, is_right_data_url, media_of
from dragoman.codecs.notes import note
from dragoman.codecs.origin import foreign_value, non_standard
from dragoman.codecs.shapes import as_dict, as_dicts
from dragoman.errors import DecodeError, EncodeError, short

__all__ = ["read_citations", "read_content", "read_part", "write_citations", "write_part"]


def read_content(content: Any, path: str) -> str | list[str | dict[str, Any]]:
    """Return message content; null is "".

    Raises:
        DecodeError: If it is neither text nor a list of parts.
    """
    if isinstance(content, str):
        return content
    if content is None:
        return ""
    if not isinstance(content, list):
        message = f"content is text or a list of parts, not {type(content).__name__}"
        raise DecodeError(message, path=path)
    blocks: list[str | dict[str, Any]] = []
    for n, part in enumerate(content):
        if not isinstance(part, dict):
            message = f"a content part is an object, not {type(part).__name__}"
            raise DecodeError(message, path=f"{path}[{n}]")
        blocks.append(read_part(part))
    return blocks


def read_part(part: dict[str, Any]) -> dict[str, Any]:
    """Return one content part as a block."""
    given = {k: v for k, v in part.items() if v is not None}
    kind = given.pop("type", None)
    block: dict[str, Any] | None = None
    extras: dict[str, Any] = {}
    if kind == "text" and isinstance(given.get("text"), str):
        block = {"type": "text", "text": given.pop("text")}
    elif kind == "thinking" and isinstance(given.get("thinking"), str):
        block = {"type": "reasoning", "reasoning": given.pop("thinking")}
    elif kind == "image_url" and isinstance(image := given.get("image_url"), dict):
        url = image.get("url")
        if isinstance(url, str) and url and image.keys() <= {"url", "detail"}:
            del given["image_url"]
            block = {"type": "image", "url": url}
            if image.get("detail") is not None:
                extras["detail"] = image["detail"]
    if block is None:
        return non_standard(part, API)
    if given:
        extras[API] = given
    return {**block, "extras": extras} if extras else block


def read_citations(citations: Any) -> list[dict[str, Any]]:
    """Return the citations of a message in standard form; offsets are those of its text."""
    found: list[dict[str, Any]] = []
    for raw in as_dicts(citations):
        citation: dict[str, Any] = {"type": "citation"}
        for ours, theirs in (
            ("start_index", "start"),
            ("end_index", "end"),
            ("cited_text", "text"),
        ):
            if raw.get(theirs) is not None:
                citation[ours] = raw[theirs]
        rest = {k: v for k, v in raw.items() if k not in ("start", "end", "text") and v is not None}
        found.append({**citation, "extras": {API: rest}})
    return found


def write_citations(annotations: Any) -> list[dict[str, Any]]:
    """Return those of the standard citations that came from this wire."""
    found: list[dict[str, Any]] = []
    for given in as_dicts(annotations):
        own = as_dict(given.get("extras")).get(API)
        if isinstance(own, dict):
            fields = (("start_index", "start"), ("end_index", "end"), ("cited_text", "text"))
            found.append({**{t: given[o] for o, t in fields if o in given}, **own})
    return found


def write_part(
    block: dict[str, Any], path: str, *, changes: list[Change] | None, said_by_model: bool = False
) -> dict[str, Any] | None:
    """Return a block as a content part; None (and a change) for what this wire has no place for.

    Raises:
        EncodeError: For media that no model of this wire takes.
    """
    kind = block.get("type")
    extras = as_dict(block.get("extras"))
    own = as_dict(extras.get(API))
    if kind in ("text", "text-plain", "refusal"):
        text = block.get("refusal") if kind == "refusal" else block.get("text")
        text = text if isinstance(text, str) else media_of(block).text or ""
        return {"type": "text", "text": text, **(own if kind == "text" else {})}
    if kind == "image" and not said_by_model:
        media = media_of(block)
        if media.url is None and media.base64 is None:
            message = "Cohere takes an image by its address or data"
            raise EncodeError(message, path=path, hint="give url or base64")
        url = block.get("url")
        keeps = isinstance(url, str) and (url[:5].lower() != "data:" or is_right_data_url(url))
        image: dict[str, Any] = {"url": url if keeps else as_data_url(media)}
        if isinstance(extras.get("detail"), str):
            image["detail"] = extras["detail"]
        return {"type": "image_url", "image_url": image, **own}
    if kind in ("audio", "video", "file") and not said_by_model:
        text = media_of({**block, "type": "text-plain"}).text if kind == "file" else None
        if text is not None and (media_of(block).mime_type or "").startswith("text/"):
            return {"type": "text", "text": text}
        message = f"Cohere takes no {kind}"
        raise EncodeError(message, path=path, hint="send its text")
    if kind == "non_standard":
        value = foreign_value(block, API)
        if value is not None and ("api" in block or str(value.get("type")) in PART_TYPES):
            return value
    note(changes, path, "dropped_block", f"Cohere has no place for {short(kind)} here")
    return None
