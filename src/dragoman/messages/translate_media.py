"""Foreign shapes of images, sound and files, as standard blocks.

A data URL is taken apart once, without copying more than its payload; plain URLs stay as they are.
"""

from collections.abc import Callable
from typing import Any

__all__ = ["MEDIA", "UNTYPED"]

Block = dict[str, Any]

_CONVERSE_MIME = {
    "pdf": "application/pdf",
    "txt": "text/plain",
    "csv": "text/csv",
    "html": "text/html",
    "md": "text/markdown",
    "doc": "application/msword",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "xls": "application/vnd.ms-excel",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}


def _finished(
    made: Block, block: Block, used: tuple[str, ...], extras: Block | None = None
) -> Block:
    """Return `made` with the id and index of `block`, and what it does not use in `extras`."""
    rest: Block = dict(extras or {})
    for key, value in block.items():
        if key in ("id", "index"):
            if value is not None:
                made.setdefault(key, value)
        elif key == "extras" and isinstance(value, dict):
            rest.update(value)
        elif key != "type" and key not in used and value is not None:
            rest[key] = value
    if rest:
        made["extras"] = rest
    return made


def _from_url(kind: str, url: str) -> Block:
    """Return a media block for a URL; a base64 data URL gives its payload and media type."""
    if url[:5].lower() == "data:":
        head, comma, payload = url.partition(",")
        words = head[5:].split(";")
        if comma and words[-1].strip().lower() == "base64":
            made: Block = {"type": kind, "base64": payload}
            if words[0].strip() and len(words) > 1:
                made["mime_type"] = words[0].strip()
            return made
    return {"type": kind, "url": url}


def _image_url(block: Block) -> list[Block] | None:
    """OpenAI's image, as a dict or a bare string."""
    given = block.get("image_url")
    extras: Block = {}
    url = given
    if isinstance(given, dict):
        url = given.get("url")
        for key, value in given.items():
            if key != "url" and value is not None:
                extras[key if key == "detail" else f"image_url_{key}"] = value
    if not isinstance(url, str) or not url:
        return None
    return [_finished(_from_url("image", url), block, ("image_url",), extras)]


def _input_image(block: Block) -> list[Block] | None:
    """OpenAI Responses' image."""
    url, file_id = block.get("image_url"), block.get("file_id")
    if isinstance(url, str) and url:
        return [_finished(_from_url("image", url), block, ("image_url",))]
    if isinstance(file_id, str) and file_id:
        return [_finished({"type": "image", "file_id": file_id}, block, ("file_id", "image_url"))]
    return None


def _input_audio(block: Block) -> list[Block] | None:
    """OpenAI's sound."""
    given = block.get("input_audio")
    if not isinstance(given, dict) or not isinstance(given.get("data"), str):
        return None
    made: Block = {"type": "audio", "base64": given["data"]}
    if given.get("format"):
        made["mime_type"] = f"audio/{given['format']}"
    extras = {key: value for key, value in given.items() if key not in ("data", "format")}
    return [_finished(made, block, ("input_audio",), extras)]


def _file(block: Block) -> list[Block] | None:
    """OpenAI's file (chat), or a v0 block."""
    if "source_type" in block:
        return _v0(block)
    given = block.get("file")
    if not isinstance(given, dict):
        return [block] if any(key in block for key in ("url", "base64", "file_id")) else None
    return _openai_file(given, block, ("file",))


def _input_file(block: Block) -> list[Block] | None:
    """OpenAI Responses' file."""
    given = {
        k: v for k, v in block.items() if k in ("file_id", "file_data", "file_url", "filename")
    }
    return _openai_file(given, block, tuple(given))


def _openai_file(given: Block, block: Block, used: tuple[str, ...]) -> list[Block] | None:
    data, url = given.get("file_data"), given.get("file_url")
    if isinstance(data, str) and data:
        made = _from_url("file", data)
        if "url" in made:  # bare base64
            made = {"type": "file", "base64": data}
        made.setdefault("mime_type", "application/pdf")
    elif isinstance(url, str) and url:
        made = {"type": "file", "url": url}
    elif isinstance(given.get("file_id"), str):
        made = {"type": "file", "file_id": given["file_id"]}
    else:
        return None
    source = ("file_data", "file_url", "file_id")
    extras = {k: v for k, v in given.items() if k not in source and v is not None}
    return [_finished(made, block, used, extras)]


def _anthropic(kind: str) -> Callable[[Block], list[Block] | None]:
    def translate(block: Block) -> list[Block] | None:
        source = block.get("source")
        if not isinstance(source, dict):
            return None
        given = source.get("type")
        media_type = source.get("media_type")
        made: Block
        if given == "base64" and isinstance(source.get("data"), str):
            made = {"type": kind, "base64": source["data"]}
            if media_type:
                made["mime_type"] = media_type
        elif given == "url" and isinstance(source.get("url"), str):
            made = {"type": kind, "url": source["url"]}
            if media_type:
                made["mime_type"] = media_type
        elif given == "file" and isinstance(source.get("file_id"), str):
            made = {"type": kind, "file_id": source["file_id"]}
        elif given == "text" and isinstance(source.get("data"), str):
            made = {"type": "text-plain", "text": source["data"], "mime_type": "text/plain"}
        elif given == "content" and (text := _joined(source.get("content"))) is not None:
            made = {"type": "text-plain", "text": text, "mime_type": "text/plain"}
        else:
            return None
        return [_finished(made, block, ("source",))]

    return translate


_anthropic_image = _anthropic("image")


def _joined(content: Any) -> str | None:
    """Return the text of a list of text blocks; None if it holds anything else."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list) or not content:
        return None
    texts = [b.get("text") for b in content if isinstance(b, dict) and b.get("type") == "text"]
    known = [t for t in texts if isinstance(t, str)]
    return "\n".join(known) if len(known) == len(content) else None


def _search_result(block: Block) -> list[Block] | None:
    """Anthropic's search result: a titled text."""
    text = _joined(block.get("content"))
    if text is None:
        return None
    made: Block = {"type": "text-plain", "text": text, "mime_type": "text/plain"}
    if isinstance(block.get("title"), str):
        made["title"] = block["title"]
    return [_finished(made, block, ("content", "title"))]


def _document_url(block: Block) -> list[Block] | None:
    """Mistral's document by address, as a string or a dict."""
    given = block.get("document_url")
    url = given.get("url") if isinstance(given, dict) else given
    if not isinstance(url, str) or not url:
        return None
    return [_finished(_from_url("file", url), block, ("document_url",))]


def _image(block: Block) -> list[Block] | None:
    """Anthropic's image, Bedrock's with a type, or a v0 block."""
    if "source_type" in block:
        return _v0(block)
    if isinstance(block.get("image"), dict):
        return _converse_image(block)
    return _anthropic_image(block)


_V0_KEY = {"url": ("url", "url"), "base64": ("data", "base64"), "id": ("id", "file_id")}


def _v0(block: Block) -> list[Block] | None:
    """LangChain's first form of data blocks, told apart by `source_type`."""
    source, kind = block.get("source_type"), block["type"]
    if source == "text":
        text = block.get("text", block.get("url"))
        if kind != "file" or not isinstance(text, str):
            return None
        made: Block = {"type": "text-plain", "text": text, "mime_type": "text/plain"}
        return [_finished(made, block, ("source_type", "url", "text", "mime_type"))]
    names = _V0_KEY.get(str(source))
    if names is None or not isinstance(block.get(names[0]), str):
        return None
    made = {"type": kind, names[1]: block[names[0]]}
    if block.get("mime_type"):
        made["mime_type"] = block["mime_type"]
    kept = {key: value for key, value in block.items() if not (source == "id" and key == "id")}
    return [_finished(made, kept, ("source_type", names[0], "mime_type"))]


def _as_base64(data: Any) -> str | None:
    if isinstance(data, bytes | bytearray):
        from base64 import b64encode

        return b64encode(data).decode("ascii")
    return data if isinstance(data, str) else None


def _converse_image(block: Block) -> list[Block] | None:
    """Bedrock Converse's image."""
    inner = block.get("image")
    source = inner.get("source") if isinstance(inner, dict) else None
    data = _as_base64(source.get("bytes")) if isinstance(source, dict) else None
    if data is None or not isinstance(inner, dict):
        return None
    made: Block = {"type": "image", "base64": data, "mime_type": f"image/{inner.get('format')}"}
    extras = {key: value for key, value in inner.items() if key not in ("source", "format")}
    return [_finished(made, block, ("image",), extras)]


def _converse_film(kind: str) -> Callable[[Block], list[Block] | None]:
    """Bedrock Converse's video and audio."""

    def translate(block: Block) -> list[Block] | None:
        inner = block.get(kind)
        source = inner.get("source") if isinstance(inner, dict) else None
        if not isinstance(inner, dict) or not isinstance(source, dict):
            return None
        data, place = _as_base64(source.get("bytes")), source.get("s3Location")
        made: Block = {"type": kind}
        if data is not None:
            made["base64"] = data
        elif isinstance(place, dict) and isinstance(place.get("uri"), str):
            made["url"] = place["uri"]
        else:
            return None
        form = str(inner.get("format"))
        made["mime_type"] = f"{kind}/{'3gpp' if form == 'three_gp' else form}"
        extras = {key: value for key, value in inner.items() if key not in ("source", "format")}
        return [_finished(made, block, (kind,), extras)]

    return translate


def _converse_document(block: Block) -> list[Block] | None:
    """Bedrock Converse's document."""
    inner = block.get("document")
    source = inner.get("source") if isinstance(inner, dict) else None
    if not isinstance(inner, dict) or not isinstance(source, dict):
        return None
    extras = {key: value for key, value in inner.items() if key not in ("source", "format")}
    form = str(inner.get("format"))
    if form == "txt" and isinstance(source.get("text"), str):
        made: Block = {"type": "text-plain", "text": source["text"], "mime_type": "text/plain"}
        return [_finished(made, block, ("document",), extras)]
    data = _as_base64(source.get("bytes"))
    if data is None:
        return None
    made = {
        "type": "file",
        "base64": data,
        "mime_type": _CONVERSE_MIME.get(form, f"application/{form}"),
    }
    return [_finished(made, block, ("document",), extras)]


def _media(block: Block) -> list[Block] | None:
    """Google's inline data."""
    data, mime = _as_base64(block.get("data")), block.get("mime_type")
    if isinstance(mime, str):
        kind = mime.partition("/")[0]
        kind = kind if kind in ("image", "audio", "video") else "file"
        if data is not None:
            return [
                _finished(
                    {"type": kind, "base64": data, "mime_type": mime}, block, ("data", "mime_type")
                )
            ]
        uri = block.get("file_uri")
        if isinstance(uri, str):
            return [
                _finished(
                    {"type": kind, "url": uri, "mime_type": mime}, block, ("file_uri", "mime_type")
                )
            ]
    return None


def _file_data(block: Block) -> list[Block] | None:
    """Google's file by address, in either spelling of its keys."""
    inner = block.get("file_data", block.get("fileData", block))
    if not isinstance(inner, dict):
        return None
    uri = inner.get("file_uri", inner.get("fileUri"))
    if not isinstance(uri, str):
        return None
    made: Block = {"type": "file", "url": uri}
    mime = inner.get("mime_type", inner.get("mimeType"))
    if mime:
        made["mime_type"] = mime
    used = ("file_data", "fileData", "file_uri", "fileUri", "mime_type", "mimeType")
    return [_finished(made, block, used)]


def _inline_data(block: Block) -> list[Block] | None:
    """Google's payload, in either spelling of its keys."""
    inner = block.get("inline_data", block.get("inlineData"))
    if not isinstance(inner, dict):
        return None
    data, mime = _as_base64(inner.get("data")), inner.get("mime_type", inner.get("mimeType"))
    if data is None or not isinstance(mime, str):
        return None
    kind = mime.partition("/")[0]
    kind = kind if kind in ("image", "audio", "video") else "file"
    made: Block = {"type": kind, "base64": data, "mime_type": mime}
    return [_finished(made, block, ("inline_data", "inlineData"))]


def _bare_text(block: Block) -> list[Block] | None:
    """`{"text": ...}`, as Bedrock and Gemini write text."""
    if not isinstance(block.get("text"), str):
        return None
    return [_finished({"type": "text", "text": block["text"]}, block, ("text",))]


def _text_in(kind: str) -> Callable[[Block], list[Block] | None]:
    def translate(block: Block) -> list[Block] | None:
        return _bare_text(block)

    translate.__doc__ = f"OpenAI Responses' `{kind}`."
    return translate


MEDIA: dict[str, Callable[[Block], list[Block] | None]] = {
    "image_url": _image_url,
    "input_image": _input_image,
    "input_audio": _input_audio,
    "input_file": _input_file,
    "input_text": _text_in("input_text"),
    "output_text": _text_in("output_text"),
    "image": _image,
    "audio": _v0,
    "video": _v0,
    "file": _file,
    "document": _anthropic("file"),
    "media": _media,
    "file_data": _file_data,
    "search_result": _search_result,
    "document_url": _document_url,
}
UNTYPED: dict[str, Callable[[Block], list[Block] | None]] = {
    "text": _bare_text,
    "document": _converse_document,
    "image": _converse_image,
    "video": _converse_film("video"),
    "audio": _converse_film("audio"),
    "file_data": _file_data,
    "fileData": _file_data,
    "inline_data": _inline_data,
    "inlineData": _inline_data,
}
"""Shapes without a `type`, by the key that gives them away."""
