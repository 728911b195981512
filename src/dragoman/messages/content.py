"""Content blocks: the standard parts of a message, and factories for them.

A block is a plain dict with a `type`. The classes here are TypedDicts for type checkers; calling
one gives a dict whose `type` is filled in, so `ImageContentBlock(url=u)` is
`{"type": "image", "url": u}`. The `create_*` factories check their arguments and give an id.
What a provider adds to a standard block stands in its `extras`; what has no standard block
travels whole in a `non_standard` one.
"""

from typing import Any, Literal, NotRequired, TypeAlias, cast
from uuid import uuid4

from typing_extensions import TypedDict

from dragoman.errors import MessageError

__all__ = [
    "KNOWN_BLOCK_TYPES",
    "LC_AUTO_PREFIX",
    "LC_ID_PREFIX",
    "Annotation",
    "AudioContentBlock",
    "Citation",
    "ContentBlock",
    "DataContentBlock",
    "FileContentBlock",
    "ImageContentBlock",
    "InvalidToolCall",
    "NonStandardAnnotation",
    "NonStandardContentBlock",
    "PlainTextContentBlock",
    "ReasoningContentBlock",
    "RefusalContentBlock",
    "ServerToolCall",
    "ServerToolCallChunk",
    "ServerToolResult",
    "TextContentBlock",
    "ToolCall",
    "ToolCallChunk",
    "VideoContentBlock",
    "create_audio_block",
    "create_citation",
    "create_file_block",
    "create_image_block",
    "create_non_standard_block",
    "create_plaintext_block",
    "create_reasoning_block",
    "create_text_block",
    "create_tool_call",
    "create_video_block",
    "ensure_id",
    "is_data_content_block",
]

LC_AUTO_PREFIX = "lc_"
"""The prefix of ids made here."""
LC_ID_PREFIX = "lc_run-"
"""The prefix of message ids made from the id of a run."""


def ensure_id(id_val: str | None) -> str:
    """Return `id_val`, or a new id `lc_<uuid4>` if it is None.

    >>> ensure_id("a")
    'a'
    """
    return f"{LC_AUTO_PREFIX}{uuid4()}" if id_val is None else id_val


class Citation(TypedDict):
    """An annotation that names a source; offsets count characters of the annotated text."""

    type: Literal["citation"]
    id: NotRequired[str]
    url: NotRequired[str]
    title: NotRequired[str]
    start_index: NotRequired[int]
    end_index: NotRequired[int]
    cited_text: NotRequired[str]
    extras: NotRequired[dict[str, Any]]


class NonStandardAnnotation(TypedDict):
    """A provider's own annotation, whole."""

    type: Literal["non_standard_annotation"]
    id: NotRequired[str]
    value: dict[str, Any]


Annotation: TypeAlias = Citation | NonStandardAnnotation


class TextContentBlock(TypedDict):
    """Text, with annotations where the provider gives some."""

    type: Literal["text"]
    id: NotRequired[str]
    text: str
    annotations: NotRequired[list[Annotation]]
    index: NotRequired[int | str]
    extras: NotRequired[dict[str, Any]]


class RefusalContentBlock(TypedDict):
    """The model's own words on why it declines."""

    type: Literal["refusal"]
    id: NotRequired[str]
    refusal: str
    index: NotRequired[int | str]
    extras: NotRequired[dict[str, Any]]


class ReasoningContentBlock(TypedDict):
    """What the model thought; signatures and encrypted forms stand in `extras`."""

    type: Literal["reasoning"]
    id: NotRequired[str]
    reasoning: NotRequired[str]
    index: NotRequired[int | str]
    extras: NotRequired[dict[str, Any]]


class ToolCall(TypedDict):
    """A request of the model to run a tool, with parsed arguments."""

    type: NotRequired[Literal["tool_call"]]
    id: str | None
    name: str
    args: dict[str, Any]
    index: NotRequired[int | str]
    extras: NotRequired[dict[str, Any]]


class ToolCallChunk(TypedDict):
    """A piece of a tool call in a stream; `args` is a piece of JSON text."""

    type: NotRequired[Literal["tool_call_chunk"]]
    id: str | None
    name: str | None
    args: str | None
    index: NotRequired[int | str | None]
    extras: NotRequired[dict[str, Any]]


class InvalidToolCall(TypedDict):
    """A tool call whose arguments cannot be read, with the raw text and the reason."""

    type: NotRequired[Literal["invalid_tool_call"]]
    id: str | None
    name: str | None
    args: str | None
    error: str | None
    index: NotRequired[int | str]
    extras: NotRequired[dict[str, Any]]


class ServerToolCall(TypedDict):
    """A tool call that the provider runs itself."""

    type: Literal["server_tool_call"]
    id: str
    name: str
    args: dict[str, Any]
    index: NotRequired[int | str]
    extras: NotRequired[dict[str, Any]]


class ServerToolCallChunk(TypedDict):
    """A piece of a server tool call in a stream."""

    type: Literal["server_tool_call_chunk"]
    id: NotRequired[str]
    name: NotRequired[str]
    args: NotRequired[str]
    index: NotRequired[int | str]
    extras: NotRequired[dict[str, Any]]


class ServerToolResult(TypedDict):
    """What a server tool gave back."""

    type: Literal["server_tool_result"]
    id: NotRequired[str]
    tool_call_id: str
    status: Literal["success", "error"]
    output: NotRequired[Any]
    index: NotRequired[int | str]
    extras: NotRequired[dict[str, Any]]


class _MediaBlock(TypedDict):
    id: NotRequired[str]
    url: NotRequired[str]
    base64: NotRequired[str]
    file_id: NotRequired[str]
    mime_type: NotRequired[str]
    index: NotRequired[int | str]
    extras: NotRequired[dict[str, Any]]


class ImageContentBlock(_MediaBlock):
    """An image, by `url`, `base64` or `file_id`."""

    type: Literal["image"]


class AudioContentBlock(_MediaBlock):
    """Sound, by `url`, `base64` or `file_id`."""

    type: Literal["audio"]


class VideoContentBlock(_MediaBlock):
    """A film, by `url`, `base64` or `file_id`."""

    type: Literal["video"]


class FileContentBlock(_MediaBlock):
    """Any other file, by `url`, `base64` or `file_id`."""

    type: Literal["file"]


class PlainTextContentBlock(TypedDict):
    """A text document."""

    type: Literal["text-plain"]
    id: NotRequired[str]
    mime_type: NotRequired[Literal["text/plain"]]
    text: NotRequired[str]
    url: NotRequired[str]
    base64: NotRequired[str]
    file_id: NotRequired[str]
    title: NotRequired[str]
    context: NotRequired[str]
    index: NotRequired[int | str]
    extras: NotRequired[dict[str, Any]]


class NonStandardContentBlock(TypedDict):
    """A provider's own block, whole, in `value`."""

    type: Literal["non_standard"]
    id: NotRequired[str]
    value: dict[str, Any]
    index: NotRequired[int | str]


DataContentBlock: TypeAlias = (
    ImageContentBlock
    | VideoContentBlock
    | AudioContentBlock
    | PlainTextContentBlock
    | FileContentBlock
)
ContentBlock: TypeAlias = (
    TextContentBlock
    | RefusalContentBlock
    | InvalidToolCall
    | ReasoningContentBlock
    | NonStandardContentBlock
    | DataContentBlock
    | ToolCall
    | ToolCallChunk
    | ServerToolCall
    | ServerToolCallChunk
    | ServerToolResult
)

BLOCK_CLASSES: dict[str, type] = {
    "text": TextContentBlock,
    "reasoning": ReasoningContentBlock,
    "refusal": RefusalContentBlock,
    "tool_call": ToolCall,
    "tool_call_chunk": ToolCallChunk,
    "invalid_tool_call": InvalidToolCall,
    "server_tool_call": ServerToolCall,
    "server_tool_call_chunk": ServerToolCallChunk,
    "server_tool_result": ServerToolResult,
    "image": ImageContentBlock,
    "audio": AudioContentBlock,
    "video": VideoContentBlock,
    "file": FileContentBlock,
    "text-plain": PlainTextContentBlock,
    "non_standard": NonStandardContentBlock,
}
KNOWN_BLOCK_TYPES = set(BLOCK_CLASSES)
"""The `type` of every standard content block."""
DATA_BLOCK_TYPES = frozenset({"image", "video", "audio", "text-plain", "file"})


class _BlockMeta(type(TextContentBlock)):
    """Makes a call of a block class fill in the block's `type`."""

    block_type: str

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        block: dict[str, Any] = dict(*args, **kwargs)
        return block if "type" in block else {"type": cls.block_type, **block}


for _type, _class in [
    *BLOCK_CLASSES.items(),
    ("citation", Citation),
    ("non_standard_annotation", NonStandardAnnotation),
]:
    _class.__class__ = _BlockMeta  # pyright: ignore[reportAttributeAccessIssue] - the same layout
    cast("_BlockMeta", _class).block_type = _type


def is_data_content_block(block: dict[str, Any]) -> bool:
    """Return whether `block` is a standard (or v0) image, audio, video, file or text document.

    >>> is_data_content_block({"type": "image", "url": "https://e.org/a.png"})
    True
    """
    if block.get("type") not in DATA_BLOCK_TYPES:
        return False
    if any(key in block for key in ("url", "base64", "file_id", "text")):
        return True
    source = block.get("source_type")
    needed = {"url": "url", "base64": "data", "id": "id", "text": "url"}.get(str(source))
    return needed is not None and needed in block


def _made(block: dict[str, Any], optional: dict[str, Any], extras: dict[str, Any]) -> Any:
    """Return `block` with the optional values that are not None, and the rest in `extras`."""
    block.update((key, value) for key, value in optional.items() if value is not None)
    kept = {key: value for key, value in extras.items() if value is not None}
    if kept:
        block["extras"] = kept
    return block


def create_text_block(
    text: str,
    *,
    id: str | None = None,
    annotations: list[Annotation] | None = None,
    index: int | str | None = None,
    **kwargs: Any,
) -> TextContentBlock:
    """Return a `text` block with an id; unknown keywords go to `extras`.

    >>> create_text_block("hi", id="a")
    {'type': 'text', 'text': 'hi', 'id': 'a'}
    """
    block = {"type": "text", "text": text, "id": ensure_id(id)}
    return _made(block, {"annotations": annotations, "index": index}, kwargs)


def create_reasoning_block(
    reasoning: str | None = None,
    id: str | None = None,
    index: int | str | None = None,
    **kwargs: Any,
) -> ReasoningContentBlock:
    """Return a `reasoning` block with an id; unknown keywords go to `extras`."""
    block = {"type": "reasoning", "reasoning": reasoning or "", "id": ensure_id(id)}
    return _made(block, {"index": index}, kwargs)


def create_citation(
    *,
    url: str | None = None,
    title: str | None = None,
    start_index: int | None = None,
    end_index: int | None = None,
    cited_text: str | None = None,
    id: str | None = None,
    **kwargs: Any,
) -> Citation:
    """Return a `citation` annotation with an id; unknown keywords go to `extras`."""
    given = {
        "url": url,
        "title": title,
        "start_index": start_index,
        "end_index": end_index,
        "cited_text": cited_text,
    }
    return _made({"type": "citation", "id": ensure_id(id)}, given, kwargs)


def create_tool_call(
    name: str,
    args: dict[str, Any],
    *,
    id: str | None = None,
    index: int | str | None = None,
    **kwargs: Any,
) -> ToolCall:
    """Return a `tool_call` block with an id; unknown keywords go to `extras`."""
    block = {"type": "tool_call", "name": name, "args": args, "id": ensure_id(id)}
    return _made(block, {"index": index}, kwargs)


def create_non_standard_block(
    value: dict[str, Any],
    *,
    id: str | None = None,
    index: int | str | None = None,
) -> NonStandardContentBlock:
    """Return a `non_standard` block with an id."""
    block = {"type": "non_standard", "value": value, "id": ensure_id(id)}
    return _made(block, {"index": index}, {})


def _media(
    kind: str, given: dict[str, Any], extras: dict[str, Any], *, needs_mime: bool = True
) -> Any:
    if not (given["url"] or given["base64"] or given["file_id"]):
        message = "Must provide one of: url, base64, or file_id"
        raise MessageError(message)
    if needs_mime and given["base64"] and not given["mime_type"]:
        message = "mime_type is required when using base64 data"
        raise MessageError(message)
    id_val = given.pop("id")
    return _made({"type": kind, "id": ensure_id(id_val)}, given, extras)


def create_image_block(
    *,
    url: str | None = None,
    base64: str | None = None,
    file_id: str | None = None,
    mime_type: str | None = None,
    id: str | None = None,
    index: int | str | None = None,
    **kwargs: Any,
) -> ImageContentBlock:
    """Return an `image` block with an id; unknown keywords go to `extras`.

    Raises:
        MessageError: If none of `url`, `base64`, `file_id` is given.
    """
    given = {"url": url, "base64": base64, "file_id": file_id, "mime_type": mime_type}
    return _media("image", given | {"id": id, "index": index}, kwargs, needs_mime=False)


def create_audio_block(
    *,
    url: str | None = None,
    base64: str | None = None,
    file_id: str | None = None,
    mime_type: str | None = None,
    id: str | None = None,
    index: int | str | None = None,
    **kwargs: Any,
) -> AudioContentBlock:
    """Return an `audio` block with an id; unknown keywords go to `extras`.

    Raises:
        MessageError: If no source is given, or base64 without `mime_type`.
    """
    given = {"url": url, "base64": base64, "file_id": file_id, "mime_type": mime_type}
    return _media("audio", given | {"id": id, "index": index}, kwargs)


def create_video_block(
    *,
    url: str | None = None,
    base64: str | None = None,
    file_id: str | None = None,
    mime_type: str | None = None,
    id: str | None = None,
    index: int | str | None = None,
    **kwargs: Any,
) -> VideoContentBlock:
    """Return a `video` block with an id; unknown keywords go to `extras`.

    Raises:
        MessageError: If no source is given, or base64 without `mime_type`.
    """
    given = {"url": url, "base64": base64, "file_id": file_id, "mime_type": mime_type}
    return _media("video", given | {"id": id, "index": index}, kwargs)


def create_file_block(
    *,
    url: str | None = None,
    base64: str | None = None,
    file_id: str | None = None,
    mime_type: str | None = None,
    id: str | None = None,
    index: int | str | None = None,
    **kwargs: Any,
) -> FileContentBlock:
    """Return a `file` block with an id; unknown keywords go to `extras`.

    Raises:
        MessageError: If no source is given, or base64 without `mime_type`.
    """
    given = {"url": url, "base64": base64, "file_id": file_id, "mime_type": mime_type}
    return _media("file", given | {"id": id, "index": index}, kwargs)


def create_plaintext_block(
    text: str | None = None,
    url: str | None = None,
    base64: str | None = None,
    file_id: str | None = None,
    title: str | None = None,
    context: str | None = None,
    id: str | None = None,
    index: int | str | None = None,
    **kwargs: Any,
) -> PlainTextContentBlock:
    """Return a `text-plain` block with an id; unknown keywords go to `extras`."""
    given = {
        "text": text,
        "url": url,
        "base64": base64,
        "file_id": file_id,
        "title": title,
        "context": context,
        "index": index,
    }
    block = {"type": "text-plain", "mime_type": "text/plain", "id": ensure_id(id)}
    return _made(block, given, kwargs)
