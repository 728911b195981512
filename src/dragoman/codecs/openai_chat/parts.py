"""Content parts of Chat Completions <-> standard blocks.

A part that is understood whole becomes a standard block (a data URL stays one string in `url`, so
that nothing is copied); a part that is not travels as `non_standard`. Documented side fields
(`cache_control`, `detail` ...) stand in `extras`, undocumented ones in `extras["openai_chat"]`.
A url that we would not write ourselves (a wrong label, a kind the dialect does not take) is marked
there with `as_came`, and goes back over this wire as it came.
"""

from collections.abc import Callable
from typing import Any

import msgspec

from dragoman.codecs.contract import Change
from dragoman.codecs.media import (
    Media,
    as_data_url,
    is_right_data_url,
    media_of,
    mime_of,
    text_of_media,
)
from dragoman.codecs.notes import note
from dragoman.codecs.openai_chat.tables import AUDIO_FORMATS, MIME_OF_AUDIO, Dialect
from dragoman.codecs.origin import foreign_value, non_standard
from dragoman.errors import DecodeError, EncodeError

__all__ = ["API", "decode_content", "decode_part", "encode_part", "encode_parts"]

API = "openai_chat"
_SIDE = ("cache_control", "prompt_cache_breakpoint")


def decode_content(content: Any, path: str) -> str | list[str | dict[str, Any]]:
    """Return message content; null is "".

    Raises:
        DecodeError: If it is neither text nor a list of parts.
    """
    if isinstance(content, str):
        return content
    if content is None:
        return ""
    if isinstance(content, list):
        return [decode_part(p, f"{path}[{k}]") for k, p in enumerate(content)]
    message = f"content is text or a list of parts, not {type(content).__name__}"
    raise DecodeError(message, path=path)


def decode_part(part: Any, path: str) -> str | dict[str, Any]:
    """Return the block of one part."""
    if isinstance(part, str):
        return part
    if not isinstance(part, dict):
        message = f"a content part is an object, not {type(part).__name__}"
        raise DecodeError(message, path=path)
    kind = part.get("type")
    given = {k: v for k, v in part.items() if v is not None}
    read = _READ.get(kind) if isinstance(kind, str) else None
    block = read(given) if read is not None else None
    if block is None:
        return non_standard(part, API)
    used = {"type", kind, *_SIDE}
    extras: dict[str, Any] = dict(block.get("extras", {}))
    extras.update({k: given[k] for k in _SIDE if k in given})
    rest = {k: v for k, v in given.items() if k not in used}
    if rest:
        extras[API] = {**extras.get(API, {}), **rest}
    if extras:
        block["extras"] = extras
    return block


def _read_text(part: dict[str, Any]) -> dict[str, Any] | None:
    text = part.get("text")
    return {"type": "text", "text": text} if isinstance(text, str) else None


def _read_image(part: dict[str, Any]) -> dict[str, Any] | None:
    image = part.get("image_url")
    if isinstance(image, str) and image:
        return {"type": "image", "url": image, "extras": {API: {**_mark(image), "bare_url": True}}}
    if not isinstance(image, dict) or not isinstance(url := image.get("url"), str) or not url:
        return None
    rest = {k: v for k, v in image.items() if k not in ("url", "detail") and v is not None}
    if rest:
        return None
    extras: dict[str, Any] = {API: mark} if (mark := _mark(url)) else {}
    if image.get("detail") is not None:
        extras["detail"] = image["detail"]
    block: dict[str, Any] = {"type": "image", "url": url}
    return {**block, "extras": extras} if extras else block


def _mark(url: str) -> dict[str, Any]:
    """Return the mark of a data URL that is not as we would write it."""
    is_right = url[:5].lower() != "data:" or is_right_data_url(url)
    return {} if is_right else {"as_came": True}


def _read_audio(part: dict[str, Any]) -> dict[str, Any] | None:
    audio = part.get("input_audio")
    if not isinstance(audio, dict) or set(audio) != {"data", "format"}:
        return None
    data, form = audio["data"], audio["format"]
    if not (isinstance(data, str) and data and isinstance(form, str) and form):
        return None
    mime = MIME_OF_AUDIO.get(form, f"audio/{form}")
    if data[:5].lower() == "data:" or _audio_format(mime_of(data, mime, "audio")) != form:
        return None
    return {"type": "audio", "base64": data, "mime_type": mime}


def _read_file(part: dict[str, Any]) -> dict[str, Any] | None:
    file = part.get("file")
    if not isinstance(file, dict):
        return None
    given = {k: v for k, v in file.items() if v is not None}
    if set(given) == {"file_id"} and isinstance(given["file_id"], str) and given["file_id"]:
        return {"type": "file", "file_id": given["file_id"]}
    data = given.get("file_data")
    if set(given) - {"filename"} != {"file_data"} or not isinstance(data, str) or ":" not in data:
        return None
    extras: dict[str, Any] = {API: {"as_came": True}}
    if "filename" in given:
        extras["filename"] = given["filename"]
    return {"type": "file", "url": data, "extras": extras}


def _read_video(part: dict[str, Any]) -> dict[str, Any] | None:
    video = part.get("video_url")
    if isinstance(video, dict) and set(video) == {"url"} and isinstance(video["url"], str):
        mark = {API: {"as_came": True}}
        return {"type": "video", "url": video["url"], "extras": mark} if video["url"] else None
    return None


def _read_refusal(part: dict[str, Any]) -> dict[str, Any] | None:
    refusal = part.get("refusal")
    return {"type": "refusal", "refusal": refusal} if isinstance(refusal, str) else None


_READ: dict[str, Callable[[dict[str, Any]], dict[str, Any] | None]] = {
    "text": _read_text,
    "image_url": _read_image,
    "input_audio": _read_audio,
    "file": _read_file,
    "video_url": _read_video,
    "refusal": _read_refusal,
}


def encode_parts(
    blocks: list[dict[str, Any]], dialect: Dialect, changes: list[Change] | None, path: str
) -> list[dict[str, Any]]:
    """Return the parts of a user's, system's or tool's blocks.

    Raises:
        EncodeError: If a block is media that the wire cannot carry.
    """
    parts: list[dict[str, Any]] = []
    for k, block in enumerate(blocks):
        part = encode_part(block, dialect, f"{path}[{k}]")
        if part is None:
            what = f"a `{block.get('type')}` block has no place in this message"
            note(changes, f"{path}[{k}]", "dropped_block", what)
        else:
            parts.append(part)
    return parts


def encode_part(block: dict[str, Any], dialect: Dialect, path: str) -> dict[str, Any] | None:
    """Return the part of one standard block; None if such a block never stands in content.

    Raises:
        EncodeError: If it is media that the wire cannot carry.
    """
    kind = block.get("type")
    if kind == "text":
        part: dict[str, Any] = {"type": "text", "text": block.get("text") or ""}
    elif kind == "refusal":
        part = {"type": "refusal", "refusal": block.get("refusal") or ""}
    elif kind == "non_standard":
        return foreign_value(block, API)
    elif isinstance(kind, str) and (write := _WRITE.get(kind)) is not None:
        part = write(block, media_of_url(block), _dialect_for(block, dialect), path)
    else:
        return None
    extras = block.get("extras")
    if isinstance(extras, dict):
        for key in _SIDE:
            if key in extras:
                part[key] = extras[key]
        own = extras.get(API)
        if isinstance(own, dict):
            part.update({k: v for k, v in own.items() if k not in ("bare_url", "as_came")})
            if own.get("bare_url") and "image_url" in part:
                part["image_url"] = part["image_url"]["url"]
    return part


def _came(block: dict[str, Any]) -> bool:
    """Return whether the block came over this wire as it is."""
    extras = block.get("extras")
    own = extras.get(API) if isinstance(extras, dict) else None
    return isinstance(own, dict) and own.get("as_came") is True


def _dialect_for(block: dict[str, Any], dialect: Dialect) -> Dialect:
    """Return the dialect that takes whatever came over this wire."""
    return (
        msgspec.structs.replace(dialect, file_urls=True, videos=True) if _came(block) else dialect
    )


def media_of_url(block: dict[str, Any]) -> Media:
    """Return the block's media; a data URL whose label is right stays one string."""
    url = block.get("url")
    if (
        isinstance(url, str)
        and not block.get("base64")
        and (_came(block) or is_right_data_url(url))
    ):
        return Media(str(block.get("type")), url, None, None, None, None)
    return media_of(block)


def _write_image(
    block: dict[str, Any], media: Media, dialect: Dialect, path: str
) -> dict[str, Any]:
    if media.url is None and media.base64 is None:
        raise _unsupported(media, dialect, path)
    image: dict[str, Any] = {"url": as_data_url(media)}
    extras = block.get("extras")
    detail = block.get("detail") or (extras.get("detail") if isinstance(extras, dict) else None)
    if detail is not None:
        image["detail"] = detail
    return {"type": "image_url", "image_url": image}


def _write_audio(
    block: dict[str, Any], media: Media, dialect: Dialect, path: str
) -> dict[str, Any]:
    if media.url is not None and media.url.startswith("data:"):
        media = media_of(block)
    if media.base64 is None or media.mime_type is None:
        raise _unsupported(media, dialect, path)
    form = _audio_format(media.mime_type)
    return {"type": "input_audio", "input_audio": {"data": media.base64, "format": form}}


def _audio_format(mime: str) -> str:
    mime = mime.split(";", maxsplit=1)[0]
    return AUDIO_FORMATS.get(mime, mime.rpartition("/")[2])


def _write_file(block: dict[str, Any], media: Media, dialect: Dialect, path: str) -> dict[str, Any]:
    extras = block.get("extras")
    name = block.get("filename") or (extras.get("filename") if isinstance(extras, dict) else None)
    if media.file_id is not None:
        return {"type": "file", "file": {"file_id": media.file_id}}
    if media.base64 is not None and (media.mime_type or "").startswith("text/"):
        text = text_of_media(media.base64)
        if text is not None:
            return {"type": "text", "text": text}
    by_address = media.url is not None and not media.url.startswith("data:")
    if (by_address and not dialect.file_urls) or (media.url is None and media.base64 is None):
        raise _unsupported(media, dialect, path)
    file: dict[str, Any] = {"file_data": as_data_url(media)}
    if isinstance(name, str) and name:
        file["filename"] = name
    elif media.base64 is not None:
        file["filename"] = "file." + (media.mime_type or "x/bin").rpartition("/")[2].split(";")[0]
    return {"type": "file", "file": file}


def _write_video(
    block: dict[str, Any], media: Media, dialect: Dialect, path: str
) -> dict[str, Any]:
    if not dialect.videos or (media.url is None and media.base64 is None):
        raise _unsupported(media, dialect, path)
    return {"type": "video_url", "video_url": {"url": as_data_url(media)}}


def _write_plain(
    block: dict[str, Any], media: Media, dialect: Dialect, path: str
) -> dict[str, Any]:
    if media.text is None:
        raise _unsupported(media, dialect, path)
    return {"type": "text", "text": media.text}


_WRITE: dict[str, Callable[[dict[str, Any], Media, Dialect, str], dict[str, Any]]] = {
    "image": _write_image,
    "audio": _write_audio,
    "file": _write_file,
    "video": _write_video,
    "text-plain": _write_plain,
}


def _unsupported(media: Media, dialect: Dialect, path: str) -> EncodeError:
    form = "an address" if media.url else "a file id" if media.file_id else "base64"
    if media.base64 is None and media.url is None and media.file_id is None:
        message = f"the `{media.kind}` block holds nothing that could be sent"
        return EncodeError(message, path=path, hint="give it a url or base64")
    message = (
        f"{dialect.provider} over Chat Completions cannot carry `{media.kind}` given by {form}"
    )
    return EncodeError(message, path=path, hint="convert it first, or use another API")
