"""Standard blocks -> Anthropic blocks.

One writer a block type, in a table. A writer gives None for what does not go on this wire; every
loss is reported. Signed reasoning goes only to providers that accept the signature; server tools
and blocks of Anthropic's own only go where they came from.
"""

import base64
from collections.abc import Callable, Iterator
from itertools import repeat
from typing import Any

from dragoman.codecs.anthropic.decode import API
from dragoman.codecs.anthropic.tables import (
    BLOCK_FIELDS,
    NATIVE_BLOCKS,
    RESULT_TOOLS,
    SERVER_TOOLS,
    Dialect,
)
from dragoman.codecs.anthropic.wire import write_citation, write_document, write_image
from dragoman.codecs.arguments import dump_arguments
from dragoman.codecs.contract import Change
from dragoman.codecs.media import media_of
from dragoman.codecs.origin import foreign_value, is_from, provider_of, wire_of
from dragoman.codecs.pairing import UNNAMED, WireIds
from dragoman.codecs.turns import blocks_of, transcript_of
from dragoman.errors import EncodeError
from dragoman.messages import AIMessage, BaseMessage, ToolMessage

__all__ = ["BlockWriter"]

_SERVER_NAMES = {name: raw for raw, name in SERVER_TOOLS.items()}
_SERVER_IDS = ("srvtoolu_", "mcptoolu_")
_IN_RESULTS = {"text", "image", "document", "search_result", "tool_reference"}


class _Place:
    """Where a block stands: in which message, and what may be sent from it."""

    def __init__(self, message: BaseMessage, provider: str) -> None:
        made_by = provider_of(message)
        self.is_assistant = isinstance(message, AIMessage)
        self.is_signed_here = is_from(message, provider, API)
        self.is_own = made_by in {None, provider} and wire_of(message) in {None, API}
        self.made_by = made_by


class BlockWriter:
    """Writes the blocks of one request, or (server side) of one reply.

    A reply may hold blank text, and reasoning that nobody signed.
    """

    def __init__(
        self, provider: str, dialect: Dialect, changes: list[Change], *, is_reply: bool = False
    ) -> None:
        self._provider = provider
        self._is_reply = is_reply
        self._dialect = dialect
        self._changes = changes
        self._writers: dict[str, Callable[[dict[str, Any], str, _Place], dict[str, Any] | None]] = {
            "text": self._text,
            "image": self._image,
            "audio": self._film,
            "video": self._film,
            "file": self._document,
            "text-plain": self._plain_text,
            "reasoning": self._reasoning,
            "refusal": self._refusal,
            "server_tool_call": self._server_call,
            "server_tool_result": self._server_result,
            "non_standard": self._non_standard,
        }

    # ------------------------------------------------------------------ whole messages

    def user(self, message: BaseMessage, path: str, ids: WireIds) -> list[dict[str, Any]]:
        """Return the blocks of a user message."""
        blocks = [
            given if given is not None else block
            for block, given in zip(blocks_of(message), _given(message), strict=False)
        ]
        return self._blocks(blocks, path, _Place(message, self._provider), ids)

    def assistant(self, message: BaseMessage, path: str, ids: WireIds) -> list[dict[str, Any]]:
        """Return the blocks of an assistant message, every call once."""
        return self._blocks(blocks_of(message), path, _Place(message, self._provider), ids)

    def system(self, message: BaseMessage, path: str) -> str | list[dict[str, Any]]:
        """Return a system prompt: text, or blocks where they carry more than text."""
        if isinstance(message.content, str):
            return message.content if message.content.strip() else ""
        return self._blocks(blocks_of(message), path, _Place(message, self._provider), None)

    def system_text(self, message: BaseMessage, path: str) -> str:
        """Return the text of a system message."""
        content = self.system(message, path)
        if isinstance(content, str):
            return content
        return "\n".join(b["text"] for b in content if isinstance(b.get("text"), str))

    def result(self, message: ToolMessage, path: str, ids: WireIds) -> dict[str, Any]:
        """Return the `tool_result` block of a tool message; its artifact is never sent."""
        block: dict[str, Any] = {
            "type": "tool_result", "tool_use_id": ids.result(message.tool_call_id)
        }  # fmt: skip
        content: Any = message.content
        if not isinstance(content, str):
            place = _Place(message, self._provider)
            content = self._blocks(blocks_of(message), path, place, None)
            content = [b for b in content if self._fits_result(b, path)]
        if content or isinstance(content, str):
            block["content"] = content
        if message.status == "error":
            block["is_error"] = True
        kwargs = message.additional_kwargs
        if isinstance(kwargs.get("cache_control"), dict):
            block["cache_control"] = kwargs["cache_control"]
        bag = kwargs.get(API)
        if isinstance(bag, dict):
            block = {**{k: v for k, v in bag.items() if k != "turn"}, **block}
        return block

    def _fits_result(self, block: dict[str, Any], path: str) -> bool:
        kind = block.get("type")
        if not isinstance(kind, str) or kind in _IN_RESULTS or kind not in NATIVE_BLOCKS:
            return True
        self._lose("dropped_block", path, "a block that no tool result may hold is left out")
        return False

    def _blocks(
        self, blocks: list[dict[str, Any]], path: str, place: _Place, ids: WireIds | None
    ) -> list[dict[str, Any]]:
        written: list[dict[str, Any]] = []
        for n, block in enumerate(blocks):
            where = f"{path}.content[{n}]"
            kind = block["type"]
            if kind in {"tool_call", "invalid_tool_call"}:
                if ids is not None:
                    written.append(self._call(block, place, ids))
                continue
            if kind == "non_standard" and ids is not None:
                result = self._raw_pair(block, ids)
                if result is not None:
                    written.append(result)
                    continue
            writer = self._writers.get(kind)
            found = writer(block, where, place) if writer is not None else None
            if writer is None:
                text = f"a `{kind}` block is not known here and is left out"
                self._lose("dropped_block", where, text)
            if found is not None:
                written.append(found)
        return written

    def _lose(self, code: str, path: str, message: str) -> None:
        self._changes.append(Change(path, code, True, message))

    # ------------------------------------------------------------------ blocks

    @staticmethod
    def _extras(block: dict[str, Any], kind: str, place: _Place) -> dict[str, Any]:
        """Return the optional fields a block has, beside the bag of fields not understood.

        Users write them beside the block's own fields or into `extras`; both are read.
        """
        found: dict[str, Any] = {}
        extras = block.get("extras")
        extras = extras if isinstance(extras, dict) else {}
        for key in BLOCK_FIELDS.get(kind, ()):
            value = block.get(key, extras.get(key))
            if value is not None and (key != "caller" or place.is_signed_here):
                found[key] = value
        bag = extras.get(API)
        if isinstance(bag, dict):
            found.update(bag)
        return found

    def _text(self, block: dict[str, Any], path: str, place: _Place) -> dict[str, Any] | None:
        text = block.get("text")
        # Anthropic refuses empty and blank text anywhere.
        if not isinstance(text, str) or not (text if self._is_reply else text.strip()):
            return None
        written: dict[str, Any] = {"type": "text", "text": text}
        notes = block.get("annotations")
        if isinstance(notes, list) and notes:
            cited = [write_citation(n) for n in notes] if place.is_signed_here else [None]
            if all(c is not None for c in cited):
                written["citations"] = cited
            else:
                self._lose(
                    "dropped_annotations", path, "citations of another provider are left out"
                )
        elif isinstance(block.get("citations"), list) and place.is_own:
            written["citations"] = block["citations"]
        written.update(self._extras(block, "text", place))
        return written

    def _media_of_model(
        self, block: dict[str, Any], path: str, place: _Place
    ) -> dict[str, Any] | None:
        self._lose("dropped_media", path, "no assistant turn may hold media on this wire")
        return self._text({"text": transcript_of(block)}, path, place)

    def _film(self, block: dict[str, Any], path: str, place: _Place) -> dict[str, Any] | None:
        if place.is_assistant:
            return self._media_of_model(block, path, place)
        message = f"Anthropic takes no {block['type']}"
        raise EncodeError(message, path=path, hint="send a transcript, or frames as images")

    def _image(self, block: dict[str, Any], path: str, place: _Place) -> dict[str, Any] | None:
        if place.is_assistant:
            return self._media_of_model(block, path, place)
        written = write_image(media_of(block), path)
        written.update(self._extras(block, "image", place))
        return written

    def _plain_text(self, block: dict[str, Any], path: str, place: _Place) -> dict[str, Any] | None:
        """Write a text document: as text, unless it is more than that."""
        extras = block.get("extras")
        extras = extras if isinstance(extras, dict) else {}
        bag = extras.get(API)
        if isinstance(bag, dict) and bag.get("type") == "search_result":
            return bag
        named = any(block.get(k) or extras.get(k) for k in ("title", "context", "citations"))
        text = media_of(block).text
        if text is not None and not named and not isinstance(bag, dict):
            return self._text({"text": text, **_marks(block)}, path, place)
        return self._document(block, path, place)

    def _document(self, block: dict[str, Any], path: str, place: _Place) -> dict[str, Any] | None:
        if place.is_assistant:
            return self._media_of_model(block, path, place)
        media = media_of(block)
        mime = (media.mime_type or "").lower()
        if mime.startswith("image/") and media.text is None:
            return self._image({**block, "type": "image"}, path, place)
        if media.text is None and media.base64 is not None and _is_textual(mime):
            media = media_of({**block, "type": "text-plain"})
            if media.text is None:
                problem = "the bytes of a text file are not UTF-8"
                raise EncodeError(problem, path=path, hint="encode it as UTF-8")
        written = write_document(media, path)
        extras = self._extras(block, "document", place)
        if "title" not in extras:
            given = block.get("extras")
            name = given.get("filename") if isinstance(given, dict) else None
            if isinstance(name, str) and name and name != "LC_AUTOGENERATED":
                extras["title"] = name
        if not isinstance(extras.get("citations", {}), dict):
            del extras["citations"]
        written.update(extras)
        return written

    def _reasoning(self, block: dict[str, Any], path: str, place: _Place) -> dict[str, Any] | None:
        extras = block.get("extras")
        extras = extras if isinstance(extras, dict) else {}
        signature = extras.get("signature")
        text = block.get("reasoning")
        text = text if isinstance(text, str) else ""
        is_signed = isinstance(signature, str) and place.is_signed_here
        if is_signed or self._is_reply or (place.is_signed_here and not self._dialect.signs):
            signature = signature if is_signed else ""
            written = {"type": "thinking", "thinking": text, "signature": signature}
            bag = extras.get(API)
            return {**written, **bag} if isinstance(bag, dict) else written
        if text or extras:
            self._lose("dropped_reasoning", path, "reasoning that this provider did not sign")
        return None

    def _refusal(self, block: dict[str, Any], path: str, place: _Place) -> dict[str, Any] | None:
        return self._text({"text": block.get("refusal")}, path, place)

    def _call(self, block: dict[str, Any], place: _Place, ids: WireIds) -> dict[str, Any]:
        args = block.get("args")
        if not isinstance(args, dict):
            # https://docs.anthropic.com/en/docs/agents-and-tools/tool-use/fine-grained-tool-streaming
            # (read 2026-11): arguments that are no JSON go back inside this key.
            raw = args if isinstance(args, str) else dump_arguments(args)
            args = {"INVALID_JSON": raw} if raw.strip() else {}
        written = {
            "type": "tool_use",
            "id": ids.call(block.get("id")),
            "name": block.get("name") or UNNAMED,
            "input": args,
        }
        written.update(self._extras(block, "tool_use", place))
        return written

    def _server_call(
        self, block: dict[str, Any], path: str, place: _Place
    ) -> dict[str, Any] | None:
        extras = block.get("extras")
        extras = extras if isinstance(extras, dict) else {}
        id, name = str(block.get("id")), str(block.get("name"))
        if not place.is_signed_here or not (place.is_own or id.startswith(_SERVER_IDS)):
            self._lose("dropped_server_tool", path, "a tool that another provider ran is left out")
            return None
        args = block.get("args")
        written: dict[str, Any] = {
            "type": "server_tool_use",
            "id": id,
            "name": _SERVER_NAMES.get(name, name),
            "input": args if isinstance(args, dict) else {},
        }
        if name == "remote_mcp" or "server_name" in extras:
            written["type"] = "mcp_tool_use"
            written["name"] = extras.get("tool_name", name)
            if "server_name" in extras:
                written["server_name"] = extras["server_name"]
        written.update(self._extras(block, "server_tool_use", place))
        return written

    def _server_result(
        self, block: dict[str, Any], path: str, place: _Place
    ) -> dict[str, Any] | None:
        extras = block.get("extras")
        extras = extras if isinstance(extras, dict) else {}
        kind = extras.get("block_type")
        if not place.is_signed_here or not (isinstance(kind, str) and kind.endswith(RESULT_TOOLS)):
            self._lose(
                "dropped_server_tool", path, "a result that another provider has is left out"
            )
            return None
        written: dict[str, Any] = {"type": kind, "tool_use_id": block.get("tool_call_id")}
        output = block.get("output")
        if "output" in block:
            written["content"] = output
        written.update(self._extras(block, "server_tool_use", place))
        failed = isinstance(output, dict) and "error_code" in output
        if block.get("status") == "error" and not failed:
            written["is_error"] = True
        return written

    def _raw_pair(self, block: dict[str, Any], ids: WireIds) -> dict[str, Any] | None:
        """Return a call or result that a user gave in Anthropic's own form, its id fitted."""
        value = foreign_value(block, API)
        kind = value.get("type") if value is not None else None
        if value is None or kind not in ("tool_use", "tool_result"):
            return None
        key = "id" if kind == "tool_use" else "tool_use_id"
        given = value.get(key)
        if not isinstance(given, str):
            return None
        fitted = ids.call(given) if kind == "tool_use" else ids.result(given)
        return {**value, key: fitted}

    def _non_standard(
        self, block: dict[str, Any], path: str, place: _Place
    ) -> dict[str, Any] | None:
        value = foreign_value(block, API)
        kind = value.get("type") if value is not None else None
        if value is not None and (
            block.get("api") == API or (place.is_own and isinstance(kind, str) and _is_native(kind))
        ):
            return value
        raw = block.get("value")
        data = _redacted(raw) if place.is_signed_here else None
        if data is not None:
            return {"type": "redacted_thinking", "data": data}
        self._lose("dropped_block", path, "a block of another provider is left out")
        return None


def _given(message: BaseMessage) -> Iterator[dict[str, Any] | None]:
    """Yield, for each block, what the user gave in Anthropic's own form and must not be reread.

    Text in a document, and search results, are read as text by others; here they stay documents.
    """
    content = message.content
    for block in content if isinstance(content, list) else ():
        source = block.get("source") if isinstance(block, dict) else None
        kind = block.get("type") if isinstance(block, dict) else None
        inner = source.get("type") if isinstance(source, dict) else None
        is_document = kind == "document" and inner in ("text", "content")
        if is_document or (kind == "search_result" and "content" in block):
            yield {"type": "non_standard", "value": block}
        else:
            yield None
    yield from repeat(None)


def _redacted(raw: Any) -> str | None:
    """Return the data of Claude's redacted thinking in Bedrock's form: its text as base64."""
    inner = raw.get("reasoningContent") if isinstance(raw, dict) else None
    data = inner.get("redactedContent") if isinstance(inner, dict) else None
    try:
        return (
            base64.b64decode(data, validate=True).decode("ascii") if isinstance(data, str) else None
        )
    except ValueError:
        return None


def _marks(block: dict[str, Any]) -> dict[str, Any]:
    return {k: block[k] for k in ("extras", "cache_control") if k in block}


def _is_native(kind: str) -> bool:
    return kind in NATIVE_BLOCKS or kind.endswith(RESULT_TOOLS)


def _is_textual(mime: str) -> bool:
    """Return whether files of this type are text that may be sent as a text document."""
    mime = mime.split(";", maxsplit=1)[0].strip()
    return mime.startswith("text/") or mime in {
        "application/json", "application/xml", "application/yaml", "application/x-yaml",
        "application/javascript", "application/csv", "application/x-ndjson",
    } or mime.endswith(("+json", "+xml"))  # fmt: skip
