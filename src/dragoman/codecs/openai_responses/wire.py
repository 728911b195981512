"""The parts of messages and results: text, images, files, citations, each way.

Pairs of functions, one from the wire and one to it. A part with a field that is not known here keeps
it in `extras["openai_responses"]`; a part of another kind travels whole. Payload strings are passed on,
never copied, except into the data URL that this wire wants.
"""

from typing import Any

from dragoman.codecs.contract import Change
from dragoman.codecs.media import as_data_url, media_of
from dragoman.codecs.notes import note
from dragoman.codecs.openai_responses.tables import API, PART_TYPES
from dragoman.codecs.origin import foreign_value, non_standard
from dragoman.codecs.shapes import as_dict, as_dicts, as_str
from dragoman.errors import EncodeError, short

__all__ = [
    "read_annotations", "read_part", "read_parts", "rest_of", "write_annotations", "write_part",
]  # fmt: skip

_CITED = {
    # The type on the wire -> (field of ours, field of theirs); what is left stands in `extras`.
    "url_citation": (("url", "url"), ("title", "title"), ("start_index", "start_index"),
                     ("end_index", "end_index")),
    "file_citation": (("title", "filename"),),
    "container_file_citation": (("title", "filename"), ("start_index", "start_index"),
                                ("end_index", "end_index")),
}  # fmt: skip


_URL_CITATION = {"url", "title", "start_index", "end_index"}
"""What a citation without extras needs to be one of this wire."""


def rest_of(item: dict[str, Any], *known: str) -> dict[str, Any]:
    """Return what is left of `item` without the `known` fields and without nulls."""
    return {k: v for k, v in item.items() if k not in known and v is not None}


def read_annotations(annotations: Any) -> list[dict[str, Any]]:
    """Return the annotations of an `output_text` part in standard form."""
    found: list[dict[str, Any]] = []
    for raw in as_dicts(annotations):
        fields = _CITED.get(as_str(raw.get("type")) or "")
        if fields is None:
            found.append({"type": "non_standard_annotation", "value": raw})
            continue
        citation: dict[str, Any] = {"type": "citation"}
        for ours, theirs in fields:
            if raw.get(theirs) is not None:
                citation[ours] = raw[theirs]
        rest = rest_of(raw, *(theirs for _, theirs in fields))
        found.append({**citation, "extras": rest})
    return found


def write_annotations(annotations: Any) -> list[dict[str, Any]]:
    """Return the standard annotations that this wire has; citations of other kinds are left out."""
    found: list[dict[str, Any]] = []
    for given in as_dicts(annotations):
        if given.get("type") == "non_standard_annotation":
            value = as_dict(given.get("value"))
            if as_str(value.get("type")) in (*_CITED, "file_path"):
                found.append(value)
            continue
        extras = as_dict(given.get("extras"))
        kind = extras.get("type")
        fields = _CITED.get(kind) if isinstance(kind, str) else None
        if fields is None and not extras and given.keys() >= _URL_CITATION:
            extras, fields = {"type": "url_citation"}, _CITED["url_citation"]
        if fields is not None:
            found.append({**extras, **{t: given[o] for o, t in fields if o in given}})
    return found


def read_parts(content: Any) -> list[dict[str, Any]]:
    """Return the parts of a message or result as blocks; a part that is no object is left out."""
    return [read_part(part) for part in as_dicts(content)]


def read_part(part: dict[str, Any]) -> dict[str, Any]:
    """Return one part as a block."""
    kind = part.get("type")
    block: dict[str, Any] | None = None
    known: tuple[str, ...] = ()
    if kind in ("input_text", "output_text", "text") and isinstance(part.get("text"), str):
        block = {"type": "text", "text": part["text"]}
        known = ("type", "text", "annotations")
        if annotations := read_annotations(part.get("annotations")):
            block["annotations"] = annotations
    elif kind == "refusal" and isinstance(part.get("refusal"), str):
        block = {"type": "refusal", "refusal": part["refusal"]}
        known = ("type", "refusal")
    elif kind in ("input_image", "computer_screenshot"):
        block, known = _read_media(part, "image", {"image_url": "url", "file_id": "file_id"})
    elif kind == "input_file":
        fields = {"file_data": "url", "file_url": "url", "file_id": "file_id"}
        block, known = _read_media(part, "file", fields)
    if block is None:
        return {**non_standard(part, API), "part": True}
    rest = rest_of(part, *known)
    if rest.get("logprobs") == []:
        del rest["logprobs"]
    extras = {k: rest.pop(k) for k in _SHOWN if k in rest}
    if kind in ("text", "computer_screenshot"):
        rest["type"] = kind
    if rest:
        extras[API] = rest
    if extras:
        block["extras"] = extras
    return block


_SHOWN = ("detail", "filename", "logprobs", "prompt_cache_breakpoint")


def _read_media(
    part: dict[str, Any], kind: str, fields: dict[str, str]
) -> tuple[dict[str, Any] | None, tuple[str, ...]]:
    given = [k for k in fields if part.get(k) is not None]
    if len(given) != 1 or not isinstance(value := part[given[0]], str):
        return None, ()
    if given[0] in ("file_url", "file_data") and (given[0] == "file_data") != _is_data(value):
        # OpenRouter takes an address in `file_data`; the part goes back as it came.
        return None, ()
    block: dict[str, Any] = {"type": kind, fields[given[0]]: value}
    if _is_data(value) and (mime := value[5:200].split(",")[0].split(";")[0]):
        block["mime_type"] = mime
    return block, ("type", given[0])


def _is_data(url: str) -> bool:
    return url[:5].lower() == "data:"


def write_part(
    block: dict[str, Any],
    path: str,
    *,
    changes: list[Change] | None,
    said_by_model: bool = False,
) -> dict[str, Any] | None:
    """Return a block as a part; None (and a change) for what this wire cannot carry here.

    Args:
        block: A standard block.
        path: Where it stands.
        changes: Receives what was left out.
        said_by_model: Whether it is a part of an assistant message, which holds text only.

    Raises:
        EncodeError: For media that no model of this wire takes.
    """
    kind = block.get("type")
    extras = as_dict(block.get("extras"))
    if kind in ("text", "text-plain"):
        return _write_text(block, extras, said_by_model=said_by_model)
    if kind == "refusal":
        if said_by_model:
            own = as_dict(extras.get(API))
            return {"type": "refusal", "refusal": block.get("refusal") or "", **own}
        return {"type": "input_text", "text": block.get("refusal") or ""}
    if kind == "non_standard":
        value = foreign_value(block, API)
        if value is not None and ("api" in block or as_str(value.get("type")) in PART_TYPES):
            return value
    elif kind in ("image", "file") and not said_by_model:
        return _write_media(block, extras, path)
    elif kind in ("audio", "video") and not said_by_model:
        message = f"the Responses API takes no {kind}"
        raise EncodeError(message, path=path, hint="send a transcript, or use another API")
    note(changes, path, "dropped_block", f"the Responses API has no place for {short(kind)} here")
    return None


def _write_text(
    block: dict[str, Any], extras: dict[str, Any], *, said_by_model: bool
) -> dict[str, Any]:
    text = block.get("text")
    if not isinstance(text, str):
        text = media_of(block).text or ""
    own = as_dict(extras.get(API))
    if not said_by_model:
        part: dict[str, Any] = {"type": "input_text", "text": text}
        if "prompt_cache_breakpoint" in extras:
            part["prompt_cache_breakpoint"] = extras["prompt_cache_breakpoint"]
        return {**part, **own}
    part = {"type": "output_text", "text": text}
    part["annotations"] = write_annotations(block.get("annotations"))
    if "logprobs" in extras:
        part["logprobs"] = extras["logprobs"]
    return {**part, **own}


def _write_media(block: dict[str, Any], extras: dict[str, Any], path: str) -> dict[str, Any]:
    own = as_dict(extras.get(API))
    is_image = block["type"] == "image"
    part: dict[str, Any] = {"type": "input_image" if is_image else "input_file"}
    url = block.get("url")
    if isinstance(url, str) and _is_data(url) and _is_ours(url):
        part["image_url" if is_image else "file_data"] = url
    else:
        media = media_of(block)
        if media.file_id is not None and media.base64 is None and media.url is None:
            part["file_id"] = media.file_id
        elif media.base64 is None and media.url is None:
            message = f"this {block['type']} has no address, data or file id"
            raise EncodeError(message, path=path, hint="give url, base64 or file_id")
        elif is_image:
            part["image_url"] = as_data_url(media)
        else:
            part["file_data" if media.base64 is not None else "file_url"] = as_data_url(media)
    if is_image and isinstance(extras.get("detail"), str):
        part["detail"] = extras["detail"]
    name = extras.get("filename") or block.get("filename") or extras.get("title")
    if not is_image and isinstance(name, str):
        part["filename"] = name
    elif "file_data" in part and not own:
        # 400 "Missing required parameter: filename" (recorded clients always send one).
        part["filename"] = "file"
    return {**part, **own}


def _is_ours(url: str) -> bool:
    """Return whether a data URL can stay: base64 under a label that providers know."""
    head = url[5:200].partition(",")[0]
    label = head.removesuffix(";base64")
    known = media_of({"type": "image", "file_id": "-", "mime_type": label}).mime_type
    return label != head and known == label
