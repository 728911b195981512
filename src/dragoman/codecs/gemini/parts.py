"""Standard blocks -> Gemini parts.

One writer a block type, in a table. A writer gives None for what does not go on this wire; every
loss is reported. A signature goes back on the part it came with, to Google only.
"""

from collections.abc import Callable
from typing import Any

from dragoman.codecs.arguments import dump_arguments
from dragoman.codecs.contract import Change
from dragoman.codecs.gemini.tables import API, DUMMY_SIGNATURE, MADE_ID, NATIVE_PARTS, snake
from dragoman.codecs.gemini.wire import camel_keys, write_media, write_response
from dragoman.codecs.media import media_of
from dragoman.codecs.origin import foreign_value, is_from, provider_of
from dragoman.codecs.pairing import UNNAMED
from dragoman.codecs.turns import blocks_of, transcript_of
from dragoman.messages import AIMessage, BaseMessage, ToolMessage

__all__ = ["PartWriter"]

_LANGUAGES = {"python": "PYTHON"}


class _Place:
    """Where a block stands: whose message it is, and what may be sent from it."""

    def __init__(self, message: BaseMessage, provider: str, *, is_model: bool) -> None:
        made_by = provider_of(message)
        self.is_own = is_from(message, provider, API)
        self.is_known_own = made_by is not None and self.is_own
        self.is_model = is_model


class PartWriter:
    """Writes the parts of one request, or (server side) of one reply."""

    def __init__(
        self,
        provider: str,
        changes: list[Change],
        *,
        needs_signature: bool = False,
        is_reply: bool = False,
    ) -> None:
        self._provider = provider
        self._changes = changes
        self._needs_signature = needs_signature
        self._is_reply = is_reply
        self._names: dict[str, str] = {}
        self._writers: dict[str, Callable[[dict[str, Any], str, _Place], dict[str, Any] | None]] = {
            "text": self._text,
            "image": self._media,
            "audio": self._media,
            "video": self._media,
            "file": self._media,
            "text-plain": self._plain_text,
            "reasoning": self._reasoning,
            "refusal": self._refusal,
            "tool_call": self._call,
            "invalid_tool_call": self._call,
            "server_tool_call": self._server_call,
            "server_tool_result": self._server_result,
            "non_standard": self._non_standard,
        }

    # ------------------------------------------------------------------ whole messages

    def message(self, message: BaseMessage, path: str, *, is_model: bool) -> list[dict[str, Any]]:
        """Return the parts of a message that is no tool result."""
        blocks = blocks_of(message)
        if not blocks and not message.content and not self._is_reply:
            # Google takes an empty text, and nothing less.
            return [{"text": ""}]
        place = _Place(message, self._provider, is_model=is_model)
        written = self._parts(blocks, path, place)
        is_stranger = isinstance(message, AIMessage) and not place.is_known_own
        if self._needs_signature and is_stranger:
            call = next((n for n, p in enumerate(written) if "functionCall" in p), None)
            if call is not None and "thoughtSignature" not in written[call]:
                written[call] = {**written[call], "thoughtSignature": DUMMY_SIGNATURE}
        return written

    def result(self, message: ToolMessage, path: str) -> list[dict[str, Any]]:
        """Return the part of a tool message; its artifact is never sent."""
        content, media = message.content, list[dict[str, Any]]()
        bag = message.additional_kwargs.get(API)
        bag = bag if isinstance(bag, dict) else {}
        if not isinstance(content, str):
            place = _Place(message, self._provider, is_model=False)
            written = self._parts(blocks_of(message), path, place)
            texts = [
                p["text"] for p in written if p.keys() == {"text"} and isinstance(p["text"], str)
            ]
            media = [p for p in written if p.keys() != {"text"}]
            content = "\n".join(texts)
        # The name of the call, whatever the result says: Google pairs them by it.
        name = self._names.get(message.tool_call_id) or message.name or UNNAMED
        response: dict[str, Any] = {"name": name}
        if message.tool_call_id and "id" not in bag and not _is_made(message.tool_call_id):
            response["id"] = message.tool_call_id
        is_error = message.status == "error"
        response["response"] = write_response(content, is_error=is_error)
        if media:
            response["parts"] = media
        known = {"begins", "continues", "id", "turn"}
        response.update((k, v) for k, v in bag.items() if k not in known)
        return [{"functionResponse": response}]

    def _parts(
        self, blocks: list[dict[str, Any]], path: str, place: _Place
    ) -> list[dict[str, Any]]:
        written: list[dict[str, Any]] = []
        for n, block in enumerate(blocks):
            where = f"{path}.content[{n}]"
            writer = self._writers.get(block["type"])
            if writer is None:
                kind = block["type"]
                self._lose("dropped_block", where, f"a `{kind}` block is not known here")
                continue
            found = writer(block, where, place)
            if found is not None:
                written.append(self._with_sides(found, block, place))
        return written

    def _with_sides(
        self, part: dict[str, Any], block: dict[str, Any], place: _Place
    ) -> dict[str, Any]:
        """Return the part with its signature and the other fields beside its data."""
        extras = block.get("extras")
        if not isinstance(extras, dict):
            return part
        sides: dict[str, Any] = {}
        signature = extras.get("signature")
        if isinstance(signature, str) and place.is_own:
            sides["thoughtSignature"] = signature
        for key in ("videoMetadata", "mediaResolution"):
            value = extras.get(key, extras.get(snake(key)))
            if value is not None:
                sides[key] = value
        bag = extras.get(API)
        if isinstance(bag, dict) and isinstance(bag.get("part"), dict):
            sides.update(bag["part"])
        return {**part, **sides} if sides else part

    def _lose(self, code: str, path: str, message: str) -> None:
        self._changes.append(Change(path, code, True, message))

    # ------------------------------------------------------------------ parts

    def _text(self, block: dict[str, Any], path: str, place: _Place) -> dict[str, Any] | None:
        text = block.get("text")
        return {"text": text} if isinstance(text, str) else None

    def _plain_text(self, block: dict[str, Any], path: str, place: _Place) -> dict[str, Any] | None:
        media = media_of(block)
        if media.text is None:
            return self._media(block, path, place)
        return {"text": media.text}

    def _media(self, block: dict[str, Any], path: str, place: _Place) -> dict[str, Any] | None:
        if place.is_model and not place.is_own:
            self._lose("dropped_media", path, "media that another model made is left out")
            words = transcript_of(block)
            return None if words is None else {"text": words}
        part = write_media(media_of(block), path)
        extras = block.get("extras")
        name = extras.get("displayName") if isinstance(extras, dict) else None
        if isinstance(name, str):
            (kind, value), *_ = part.items()
            part = {kind: {**value, "displayName": name}}
        return part

    def _reasoning(self, block: dict[str, Any], path: str, place: _Place) -> dict[str, Any] | None:
        text = block.get("reasoning")
        text = text if isinstance(text, str) else ""
        if place.is_known_own or self._is_reply:
            return {"text": text, "thought": True}
        if text or block.get("extras"):
            self._lose("dropped_reasoning", path, "reasoning of another provider is left out")
        return None

    def _refusal(self, block: dict[str, Any], path: str, place: _Place) -> dict[str, Any] | None:
        return self._text({"text": block.get("refusal")}, path, place)

    def _call(self, block: dict[str, Any], path: str, place: _Place) -> dict[str, Any]:
        args = block.get("args")
        if not isinstance(args, dict):
            raw = args if isinstance(args, str) else dump_arguments(args)
            args = {"INVALID_JSON": raw} if raw.strip() else {}
        name, id = block.get("name") or UNNAMED, block.get("id")
        call: dict[str, Any] = {"name": name, "args": args}
        if isinstance(id, str) and id:
            self._names[id] = name
            if not _is_made(id):
                call["id"] = id
        extras = block.get("extras")
        bag = extras.get(API) if isinstance(extras, dict) else None
        rest = bag.get("functionCall") if isinstance(bag, dict) else None
        if isinstance(rest, dict):
            call.update(rest)
            call = {k: v for k, v in call.items() if k != "args" or v is not None}
        return {"functionCall": call}

    def _server_call(
        self, block: dict[str, Any], path: str, place: _Place
    ) -> dict[str, Any] | None:
        extras = block.get("extras")
        extras = extras if isinstance(extras, dict) else {}
        id, args = block.get("id"), block.get("args")
        if not place.is_own or not isinstance(args, dict):
            self._lose("dropped_server_tool", path, "a tool that another provider ran is left out")
            return None
        sent: dict[str, Any] = {"id": id} if isinstance(id, str) and not _is_made(id) else {}
        if extras.get("block_type") == "toolCall":
            if not (isinstance(extras.get(API), dict) and "args" in extras[API]):
                sent["args"] = args
            return {"toolCall": {"toolType": extras.get("tool_type"), **sent}}
        if block.get("name") == "code_interpreter" and isinstance(args.get("code"), str):
            language = str(args.get("language", "python"))
            code = {"language": _LANGUAGES.get(language, language), "code": args["code"]}
            return {"executableCode": {**code, **sent}}
        self._lose("dropped_server_tool", path, "a tool that another provider ran is left out")
        return None

    def _server_result(
        self, block: dict[str, Any], path: str, place: _Place
    ) -> dict[str, Any] | None:
        extras = block.get("extras")
        extras = extras if isinstance(extras, dict) else {}
        id, kind = block.get("tool_call_id"), extras.get("block_type")
        sent: dict[str, Any] = {"id": id} if isinstance(id, str) and not _is_made(id) else {}
        if place.is_own and kind == "toolResponse":
            if "output" in block:
                sent["response"] = block["output"]
            return {"toolResponse": {"toolType": extras.get("tool_type"), **sent}}
        if place.is_own and (kind == "codeExecutionResult" or "outcome" in extras):
            outcome = extras.get("outcome")
            if "output" in block:
                sent["output"] = block["output"]
            return {"codeExecutionResult": {"outcome": outcome, **sent}}
        self._lose("dropped_server_tool", path, "a result that another provider has is left out")
        return None

    def _non_standard(
        self, block: dict[str, Any], path: str, place: _Place
    ) -> dict[str, Any] | None:
        value = foreign_value(block, API)
        if value is not None and block.get("api") == API:
            return value
        if value and place.is_own and camel_keys(value).keys() <= NATIVE_PARTS:
            return value
        self._lose("dropped_block", path, "a block of another provider is left out")
        return None


def _is_made(id: str) -> bool:
    return id.startswith(MADE_ID)
