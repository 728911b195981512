"""The shapes inside Gemini's parts: keys in two spellings, media, function responses, citations.

Google accepts camelCase and snake_case for every key, mixed in one body; `camel_keys` reads both.
What users own (arguments, responses, schemas) is never touched. Payload strings are not copied.
"""

import re
from typing import Any

from dragoman.codecs.arguments import dump_arguments, read_arguments
from dragoman.codecs.media import Media
from dragoman.errors import EncodeError

__all__ = [
    "camel_keys",
    "citations",
    "read_media",
    "read_response",
    "write_media",
    "write_response",
]

_UNDERSCORE = re.compile(r"_([a-z0-9])")


def camel_keys(value: dict[str, Any]) -> dict[str, Any]:
    """Return a dict with its own keys (not those inside) in camelCase; the same dict if they are.

    >>> camel_keys({"thought_signature": "x", "args": {"a_b": 1}})
    {'thoughtSignature': 'x', 'args': {'a_b': 1}}
    """
    if not any("_" in key for key in value):
        return value
    return {_UNDERSCORE.sub(lambda m: m[1].upper(), key): v for key, v in value.items()}


def read_media(kind: str, value: Any) -> dict[str, Any] | None:
    """Return the standard block of `inlineData` or `fileData`; None for an unknown shape."""
    if not isinstance(value, dict):
        return None
    value = camel_keys(value)
    source, target = ("data", "base64") if kind == "inlineData" else ("fileUri", "url")
    payload, mime = value.get(source), value.get("mimeType")
    if not isinstance(payload, str) or not payload or not (mime is None or isinstance(mime, str)):
        return None
    if not value.keys() <= {source, "mimeType", "displayName"}:
        return None
    family = (mime or "").split("/")[0]
    # An address without a type is a film: only those (YouTube) may be sent so.
    default = "video" if kind == "fileData" and mime is None else "file"
    block: dict[str, Any] = {
        "type": family if family in {"image", "audio", "video"} else default,
        target: payload,
    }
    if mime is not None:
        block["mime_type"] = mime
    if value.get("displayName") is not None:
        name = value["displayName"]
        block["extras"] = {"displayName": name, "filename": name}
    return block


def write_media(media: Media, path: str) -> dict[str, Any]:
    """Return the part for a payload.

    Raises:
        EncodeError: If there is nothing to send, or an id only another provider knows.
    """
    if media.base64 is not None:
        return {"inlineData": {"mimeType": media.mime_type, "data": media.base64}}
    address = media.url
    if address is None and media.file_id is not None and "files/" in media.file_id:
        address = media.file_id
    if address is None:
        message = f"Gemini cannot use this {media.kind}"
        raise EncodeError(message, path=path, hint="give its bytes as base64, or an address")
    found = {"fileUri": address}
    if media.mime_type is not None:
        found = {"mimeType": media.mime_type, **found}
    return {"fileData": found}


def read_response(response: Any) -> tuple[str, bool]:
    """Return a function response as `(text, whether it is an error)`.

    `{"output": text}` and `{"error": text}`, the forms Google documents, are the text; any other
    object is its JSON text. `write_response` is the inverse.
    """
    if isinstance(response, dict) and len(response) == 1:
        (key, value), *_ = response.items()
        if key in {"output", "error"} and isinstance(value, str) and _object(value) is None:
            return value, key == "error"
    return dump_arguments(response), False


def write_response(text: str, *, is_error: bool) -> dict[str, Any]:
    """Return the object for the text of a tool result: a JSON object as it is, else wrapped."""
    if is_error:
        return {"error": text}
    found = _object(text)
    return {"output": text} if found is None else found


def _object(text: str) -> dict[str, Any] | None:
    return read_arguments(text) if text.lstrip()[:1] == "{" else None


def citations(grounding: Any, text: str) -> list[dict[str, Any]]:
    """Return grounding metadata as citations of `text`, the text of the reply.

    Google counts bytes of UTF-8; annotations count characters.
    """
    if not isinstance(grounding, dict):
        return []
    chunks = grounding.get("groundingChunks")
    supports = grounding.get("groundingSupports")
    if not isinstance(chunks, list) or not isinstance(supports, list):
        return []
    raw = b"" if text.isascii() else text.encode("utf-8", "replace")
    found: list[dict[str, Any]] = []
    for support in supports:
        segment = support.get("segment") if isinstance(support, dict) else None
        numbers = support.get("groundingChunkIndices") if isinstance(support, dict) else None
        if not isinstance(segment, dict) or not isinstance(numbers, list):
            continue
        span = {
            name: _characters(segment.get(key, 0), raw)
            for name, key in (("start_index", "startIndex"), ("end_index", "endIndex"))
        }
        for number in numbers:
            known = type(number) is int and 0 <= number < len(chunks)
            source = _source(chunks[number]) if known else None
            if source is not None:
                cited = segment.get("text")
                quote = {"cited_text": cited} if isinstance(cited, str) else {}
                found.append({"type": "citation", **source, **span, **quote})
    return found


def _characters(n_bytes: Any, raw: bytes) -> int:
    n = n_bytes if type(n_bytes) is int and n_bytes > 0 else 0
    return len(raw[:n].decode("utf-8", "ignore")) if raw else n


def _source(chunk: Any) -> dict[str, Any] | None:
    if not isinstance(chunk, dict):
        return None
    for kind in ("web", "maps", "retrievedContext"):
        place = chunk.get(kind)
        if isinstance(place, dict):
            names = {"url": place.get("uri"), "title": place.get("title")}
            return {k: v for k, v in names.items() if isinstance(v, str)}
    return None
