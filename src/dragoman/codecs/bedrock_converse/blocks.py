"""Standard blocks -> Converse blocks.

One writer a block type, in a table. A writer gives None for what does not go on this wire; every
loss is reported. A `cache_control` mark on a block becomes a cache point behind it.
"""

import base64
from collections.abc import Callable
from fnmatch import fnmatchcase
from typing import Any

from dragoman.codecs.arguments import dump_arguments
from dragoman.codecs.bedrock_converse.decode import API
from dragoman.codecs.bedrock_converse.tables import BESIDE, NATIVE_BLOCKS, REASONING, Kind
from dragoman.codecs.bedrock_converse.wire import (
    cache_point,
    document_name,
    write_citation,
    write_media,
)
from dragoman.codecs.contract import Change
from dragoman.codecs.media import media_of
from dragoman.codecs.origin import foreign_value, is_from, provider_of, wire_of
from dragoman.codecs.pairing import UNNAMED, WireIds
from dragoman.codecs.shapes import as_str
from dragoman.codecs.turns import blocks_of, transcript_of
from dragoman.messages import BaseMessage, ToolMessage

__all__ = ["BlockWriter"]

# Blocks whose bag holds them whole, under the key that names them.
_WHOLE = ("citationsContent", "guardContent", "searchResult", "json")
_IN_RESULTS = {"text", "json", "image", "document", "video", "searchResult"}


class _Place:
    """Where a block stands: whose message it is, and what may be sent from it."""

    def __init__(self, message: BaseMessage, provider: str, *, is_assistant: bool) -> None:
        made_by = provider_of(message)
        self.is_signed_here = is_from(message, provider, API)
        self.is_own = made_by in {None, provider, API} and wire_of(message) in {None, API}
        self.is_assistant = is_assistant


class BlockWriter:
    """Writes the blocks of one request, or (server side) of one reply.

    Attributes:
        called: The names of the tools that were called, in order.
    """

    def __init__(
        self,
        provider: str,
        changes: list[Change],
        *,
        model: str | None = None,
        is_reply: bool = False,
    ) -> None:
        self.called: dict[str, None] = {}
        self._provider = provider
        self._changes = changes
        self._is_reply = is_reply
        self._takes = _reasoning_taken(model or "")
        self._n_documents = 0
        self._writers: dict[str, Callable[[dict[str, Any], str, _Place], dict[str, Any] | None]] = {
            "text": self._text,
            "image": self._media,
            "video": self._media,
            "audio": self._media,
            "file": self._media,
            "text-plain": self._plain_text,
            "reasoning": self._reasoning,
            "refusal": self._refusal,
            "server_tool_call": self._server_call,
            "server_tool_result": self._server_result,
            "non_standard": self._non_standard,
        }

    # ------------------------------------------------------------------ whole messages

    def message(
        self, message: BaseMessage, path: str, ids: WireIds | None, *, is_assistant: bool = False
    ) -> list[dict[str, Any]]:
        """Return the blocks of a message that is no tool result."""
        place = _Place(message, self._provider, is_assistant=is_assistant)
        return self._blocks(blocks_of(message), path, place, ids)

    def result(self, message: ToolMessage, path: str, ids: WireIds) -> list[dict[str, Any]]:
        """Return the `toolResult` of a tool message, and its cache point; no artifact is sent."""
        content = message.content
        if isinstance(content, str):
            # Bedrock refuses blank text, also here.
            blocks = [{"text": content}] if content.strip() else []
        else:
            place = _Place(message, self._provider, is_assistant=False)
            blocks = self._blocks(blocks_of(message), path, place, None)
            blocks = [b for b in blocks if self._fits_result(b, path)]
        result: dict[str, Any] = {"toolUseId": ids.result(message.tool_call_id), "content": blocks}
        # `success` is the default, and not every model takes the field.
        if message.status == "error":
            result["status"] = "error"
        bag = message.additional_kwargs.get(API)
        if isinstance(bag, dict):
            result = {**{k: v for k, v in bag.items() if k != "turn"}, **result}
        written = {"toolResult": result}
        if isinstance(beside := message.additional_kwargs.get(BESIDE), dict):
            written = {**written, **beside}
        point = cache_point(message.additional_kwargs.get("cache_control"))
        return [written] if point is None else [written, point]

    def _fits_result(self, block: dict[str, Any], path: str) -> bool:
        kind = next(iter(block), "")
        if kind in _IN_RESULTS or kind not in NATIVE_BLOCKS:
            return True
        if kind != "cachePoint":
            self._lose("dropped_block", path, "a block that no tool result may hold is left out")
        return False

    def _blocks(
        self, blocks: list[dict[str, Any]], path: str, place: _Place, ids: WireIds | None
    ) -> list[dict[str, Any]]:
        written: list[dict[str, Any]] = []
        for n, block in enumerate(blocks):
            where = f"{path}.content[{n}]"
            kind = block["type"]
            extras = block.get("extras")
            if kind in {"tool_call", "invalid_tool_call"}:
                found = self._call(block, ids) if ids is not None else None
            elif (raw := self._raw_pair(block, ids)) is not None:
                found = raw
            else:
                writer = self._writers.get(kind)
                found = writer(block, where, place) if writer is not None else None
                if writer is None:
                    text = f"a `{kind}` block is not known here and is left out"
                    self._lose("dropped_block", where, text)
            if found is None:
                continue
            if isinstance(extras, dict) and isinstance(extras.get(BESIDE), dict):
                found = dict(found)  # it may be a user's own
                for key, rest in extras[BESIDE].items():
                    inner = found.get(key)
                    found[key] = {**inner, **rest} if isinstance(inner, dict) else rest
            written.append(found)
            mark = block.get("cache_control")
            if mark is None and isinstance(extras, dict):
                mark = extras.get("cache_control")
            point = cache_point(mark)
            if point is not None:
                written.append(point)
        return written

    def _lose(self, code: str, path: str, message: str) -> None:
        self._changes.append(Change(path, code, True, message))

    # ------------------------------------------------------------------ blocks

    def _text(self, block: dict[str, Any], path: str, place: _Place) -> dict[str, Any] | None:
        text = block.get("text")
        for key in _WHOLE:
            if key in (bag := _own_bag(block)):
                return {key: bag[key]}
        if not isinstance(text, str) or not (text if self._is_reply else text.strip()):
            return None
        notes = block.get("annotations")
        if isinstance(notes, list) and notes:
            cited = [write_citation(n) for n in notes] if place.is_own else [None]
            if all(c is not None for c in cited):
                return {"citationsContent": {"content": [{"text": text}], "citations": cited}}
            self._lose("dropped_annotations", path, "citations of another provider are left out")
        return {"text": text}

    def _plain_text(self, block: dict[str, Any], path: str, place: _Place) -> dict[str, Any] | None:
        bag = _own_bag(block)
        if "searchResult" in bag:
            return {"searchResult": bag["searchResult"]}
        extras = block.get("extras")
        extras = extras if isinstance(extras, dict) else {}
        named = any(
            block.get(k) or extras.get(k) for k in ("title", "context", "name", "citations")
        )
        if not bag and not named and media_of(block).text is not None:
            return self._text({"text": media_of(block).text}, path, place)
        return self._media(block, path, place)

    def _media(self, block: dict[str, Any], path: str, place: _Place) -> dict[str, Any] | None:
        if place.is_assistant and not place.is_own:
            self._lose("dropped_media", path, "media that another model made is left out")
            words = transcript_of(block)
            return None if words is None else {"text": words}
        media = media_of(block)
        kind: Kind = "document"
        mime = media.mime_type or ""
        if media.kind in {"image", "video", "audio"}:
            kind = media.kind  # type: ignore[assignment]
        elif media.text is None and mime.split("/")[0] in {"image", "video", "audio"}:
            kind = mime.split("/")[0]  # type: ignore[assignment]
        if media.kind == "text-plain":
            media = media._replace(base64=media.base64 or None, mime_type=mime or "text/plain")
        bag = {k: v for k, v in _own_bag(block).items() if k != "document"}
        if kind != "document":
            return {kind: {**write_media(kind, media, path), **bag}}
        extras = block.get("extras")
        extras = extras if isinstance(extras, dict) else {}
        self._n_documents += 1
        given = extras.get("name") or block.get("title") or extras.get("title")
        name = document_name(given or extras.get("filename"), self._n_documents)
        written: dict[str, Any] = {"name": name, **write_media(kind, media, path)}
        if "source" in bag and "format" not in bag and media.text is not None:
            written.pop("format")
        context = block.get("context") or extras.get("context")
        if isinstance(context, str):
            written["context"] = context
        if isinstance(extras.get("citations"), dict):
            written["citations"] = extras["citations"]
        return {"document": {**written, **bag}}

    def _reasoning(self, block: dict[str, Any], path: str, place: _Place) -> dict[str, Any] | None:
        extras = block.get("extras")
        extras = extras if isinstance(extras, dict) else {}
        text, signature = block.get("reasoning"), extras.get("signature")
        text = text if isinstance(text, str) else ""
        is_signed = isinstance(signature, str) and bool(signature)
        fits = self._takes in ("all", "signed" if is_signed else "plain")
        if self._is_reply or (fits and place.is_signed_here and (is_signed or place.is_own)):
            if not text and not is_signed:
                return None
            said: dict[str, Any] = {"text": text}
            if is_signed and place.is_signed_here:
                said["signature"] = signature
            return {"reasoningContent": {"reasoningText": {**said, **_own_bag(block)}}}
        if text or extras:
            self._lose("dropped_reasoning", path, "reasoning that this model does not take")
        return None

    def _refusal(self, block: dict[str, Any], path: str, place: _Place) -> dict[str, Any] | None:
        return self._text({"text": block.get("refusal")}, path, place)

    def _call(self, block: dict[str, Any], ids: WireIds) -> dict[str, Any]:
        args = block.get("args")
        if not isinstance(args, dict):
            raw = args if isinstance(args, str) else dump_arguments(args)
            args = {"INVALID_JSON": raw} if raw.strip() else {}
        name = block.get("name") or UNNAMED
        self.called[name] = None
        written = {"toolUseId": ids.call(block.get("id")), "name": name, "input": args}
        return {"toolUse": {**written, **_own_bag(block)}}

    def _server_call(
        self, block: dict[str, Any], path: str, place: _Place
    ) -> dict[str, Any] | None:
        id = str(block.get("id"))
        if not place.is_own or id.startswith(("srvtoolu_", "mcptoolu_")):
            self._lose("dropped_server_tool", path, "a tool that another provider ran is left out")
            return None
        args = block.get("args")
        call = {"toolUseId": id, "name": block.get("name"), "type": "server_tool_use"}
        return {"toolUse": {**call, "input": args if isinstance(args, dict) else {}}}

    def _server_result(
        self, block: dict[str, Any], path: str, place: _Place
    ) -> dict[str, Any] | None:
        id = str(block.get("tool_call_id"))
        if not place.is_own or id.startswith(("srvtoolu_", "mcptoolu_")):
            self._lose(
                "dropped_server_tool", path, "a result that another provider has is left out"
            )
            return None
        extras = block.get("extras")
        extras = extras if isinstance(extras, dict) else {}
        output = block.get("output")
        written: dict[str, Any] = {"toolUseId": id, "content": [] if output is None else output}
        if "block_type" in extras:
            written["type"] = extras["block_type"]
        if block.get("status") == "error":
            written["status"] = "error"
        return {"toolResult": {**written, **_own_bag(block)}}

    def _raw_pair(self, block: dict[str, Any], ids: WireIds | None) -> dict[str, Any] | None:
        """Return a call or result that a user gave in Bedrock's own form, its id fitted."""
        if ids is None or block["type"] != "non_standard":
            return None
        value = foreign_value(block, API)
        kind = next(iter(value)) if value is not None and len(value) == 1 else None
        given = value.get(kind) if value is not None and kind in {"toolUse", "toolResult"} else None
        if not isinstance(given, dict) or not isinstance(given.get("toolUseId"), str):
            return None
        id = given["toolUseId"]
        if kind == "toolUse":
            self.called[as_str(given.get("name")) or "None"] = None
        fitted = ids.call(id) if kind == "toolUse" else ids.result(id)
        return {str(kind): {**given, "toolUseId": fitted}}

    def _non_standard(
        self, block: dict[str, Any], path: str, place: _Place
    ) -> dict[str, Any] | None:
        value = foreign_value(block, API)
        if value is not None and block.get("api") == API:
            return value
        if value is not None and place.is_own and len(value) == 1 and value.keys() <= NATIVE_BLOCKS:
            return value
        raw = block.get("value")
        if (
            isinstance(raw, dict)
            and raw.get("type") == "redacted_thinking"
            and place.is_signed_here
        ):
            # Claude's redacted thinking is text on Anthropic's wire and bytes (base64) on this one.
            data = str(raw.get("data")).encode("utf-8", "replace")
            return {"reasoningContent": {"redactedContent": base64.b64encode(data).decode()}}
        self._lose("dropped_block", path, "a block of another provider is left out")
        return None


def _reasoning_taken(model: str) -> str:
    return next(
        (what for what, patterns in REASONING if any(fnmatchcase(model, p) for p in patterns)),
        "all",
    )


def _own_bag(block: dict[str, Any]) -> dict[str, Any]:
    extras = block.get("extras")
    bag = extras.get(API) if isinstance(extras, dict) else None
    return bag if isinstance(bag, dict) else {}
