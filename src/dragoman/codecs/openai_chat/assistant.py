"""Assistant turns of a history as messages of Chat Completions.

Text of one answer is one string again; calls stand once, in their order, with what their maker
signed; plain reasoning goes back where the dialect wants it, signed reasoning to who signed it. What
a decoded request had beside all that goes back as it came, unless the message was changed since.
"""

from typing import Any

from dragoman.codecs.arguments import dump_arguments, read_arguments
from dragoman.codecs.contract import Change
from dragoman.codecs.notes import note
from dragoman.codecs.openai_chat.parts import API, encode_part
from dragoman.codecs.openai_chat.tables import Dialect
from dragoman.codecs.origin import is_from, provider_of, signer_of, wire_of
from dragoman.codecs.pairing import UNNAMED, WireIds
from dragoman.codecs.shapes import as_dict, as_dicts, is_only_text
from dragoman.codecs.turns import blocks_of
from dragoman.messages import AIMessage

__all__ = ["AssistantWriter"]

_REASONING = {"reasoning", "reasoning_content", "reasoning_details"}
_GOOGLE = ("extra_content", "thought_signature")
_CALL_TYPES = ("tool_call", "invalid_tool_call", "tool_call_chunk")


class AssistantWriter:
    """Writes the assistant turns of one request."""

    def __init__(self, dialect: Dialect, ids: WireIds, changes: list[Change] | None) -> None:
        self._dialect = dialect
        self._ids = ids
        self._changes = changes
        self._path = "$"

    def write(self, message: AIMessage, path: str, *, is_current: bool) -> dict[str, Any]:
        """Return the wire message; `is_current` says whether it is of the current tool loop."""
        kwargs = message.additional_kwargs
        self._path = path
        wire: dict[str, Any] = {"role": "assistant"}
        content: Any = message.content
        blocks: list[dict[str, Any]] = []
        if not isinstance(content, str):
            blocks = blocks_of(message)
            content = self._answer(wire, blocks, path)
        if message.name:
            wire["name"] = message.name
        calls = self._calls(message, blocks)
        if calls:
            wire["tool_calls"] = calls
        wire["content"] = content if content or not calls else self._dialect.empty
        if kwargs or blocks:
            self._more(wire, message, blocks, path, is_current=is_current)
        if wire["content"] == "" and ("refusal" in wire or "audio" in wire):
            wire["content"] = None
        return wire

    def _answer(
        self, wire: dict[str, Any], blocks: list[dict[str, Any]], path: str
    ) -> str | list[dict[str, Any]]:
        """Return the content for an assistant's blocks; text of one answer is one string again."""
        parts: list[dict[str, Any]] = []
        is_made = False  # by an assembler: its text pieces are one text
        for n, block in enumerate(blocks):
            kind = block.get("type")
            if kind in _CALL_TYPES or kind == "reasoning":
                is_made = True
            elif kind == "refusal" and "index" in block:
                wire["refusal"] = wire.get("refusal", "") + (block.get("refusal") or "")
            elif kind == "audio" and block.get("id") and "base64" in block:
                wire["audio"] = {"id": block["id"]}  # the API knows its own audio by its id
            elif kind in ("text", "text-plain", "refusal", "non_standard") and (
                part := encode_part(block, self._dialect, f"{path}.content[{n}]")
            ):
                is_made = is_made or "index" in block or "annotations" in block
                parts.append(part)
            else:
                text = f"a `{kind}` block cannot stand in an assistant message"
                note(self._changes, f"{path}.content[{n}]", "dropped_block", text)
        if not parts and blocks:
            return ""
        if is_made and all(is_only_text(p) for p in parts):
            return "".join(p["text"] for p in parts)
        return parts

    def _calls(self, message: AIMessage, blocks: list[dict[str, Any]]) -> list[dict[str, Any]]:
        valid, invalid = message.tool_calls, message.invalid_tool_calls
        if not valid and not invalid and not blocks:
            return []
        kept = as_dict(message.additional_kwargs.get(API)).get("tool_calls")
        if kept is not None and is_from(message, self._dialect.provider, API):
            ids = [call.get("id") for call in as_dicts(kept)]
            if all(map(self._ids.fits, ids)) and _says_the_same(kept, message):
                for id in ids:
                    self._ids.call(id)
                return kept
        if not blocks:
            return [self._call(c, message, None) for c in (*valid, *invalid)]
        return [
            self._call(b, message, b.get("extras")) for b in blocks if b.get("type") in _CALL_TYPES
        ]

    def _call(self, call: Any, message: AIMessage, extras: Any) -> dict[str, Any]:
        args = call.get("args")
        text = args if isinstance(args, str) else dump_arguments(args if args is not None else {})
        if self._dialect.json_arguments and isinstance(args, str):
            read = read_arguments(args)
            if read is None:
                why = "the arguments of an invalid call are no object and were left out"
                note(self._changes, self._path, "dropped_arguments", why)
            text = dump_arguments(read or {})
        wire: dict[str, Any] = {
            "id": self._ids.call(call.get("id")),
            "type": "function",
            "function": {"name": call.get("name") or UNNAMED, "arguments": text},
        }
        if not isinstance(extras, dict) or not is_from(message, self._dialect.provider, API):
            return wire
        own = extras.get(API)
        if isinstance(own, dict) and own.get("type") == "custom" and isinstance(args, dict):
            del wire["function"]
            wire["type"] = "custom"
            wire["custom"] = {"name": call.get("name") or "", "input": args.get("input") or ""}
        if "extra_content" in extras and self._takes(message, self._dialect.google):
            wire["extra_content"] = extras["extra_content"]
        return wire

    def _takes(self, message: AIMessage, is_known: bool) -> bool:
        """Return whether signed things go back: to their maker, or by hand to who takes such."""
        maker = provider_of(message)
        if wire_of(message) not in (None, API):
            return False
        if maker is None:
            return is_known
        return maker == self._dialect.provider or (
            is_known and signer_of(maker) == signer_of(self._dialect.provider)
        )

    def _more(
        self,
        wire: dict[str, Any],
        message: AIMessage,
        blocks: list[dict[str, Any]],
        path: str,
        *,
        is_current: bool,
    ) -> None:
        """Add what an assistant message has beside text and calls."""
        kwargs, dialect = message.additional_kwargs, self._dialect
        if (function_call := kwargs.get("function_call")) and not message.tool_calls:
            wire["function_call"] = function_call
            if not wire["content"]:
                wire["content"] = dialect.empty
        if isinstance(refusal := kwargs.get("refusal"), str) and refusal:
            wire["refusal"] = refusal
        mine = is_from(message, dialect.provider, API)
        kept = kwargs.get(API)
        if isinstance(kept, dict) and mine:
            kept = {key: v for key, v in kept.items() if key != "tool_calls"}
            wire.update(kept)
        else:
            if isinstance(kept, dict) and kept.keys() - _REASONING - {"content", "tool_calls"}:
                text = "fields of another provider were left out"
                note(self._changes, path, "dropped_fields", text)
            kept = {}
        if self._takes(message, dialect.google):
            for block in blocks:
                if block.get("type") == "text" and isinstance(block.get("extras"), dict):
                    wire.update({f: block["extras"][f] for f in _GOOGLE if f in block["extras"]})
        wanted = is_current or dialect.reasoning_turns == "all"
        takes_plain = (
            is_from(message, dialect.provider) and wanted and dialect.reasoning is not None
        )
        self._reasoning(
            wire, message, blocks, path, takes_plain=takes_plain and not _REASONING & kept.keys()
        )

    def _reasoning(
        self,
        wire: dict[str, Any],
        message: AIMessage,
        blocks: list[dict[str, Any]],
        path: str,
        *,
        takes_plain: bool,
    ) -> None:
        """Add the reasoning that goes back, or tell that it does not."""
        dialect = self._dialect
        details: list[dict[str, Any]] = []
        texts: list[str] = []
        has_blocks = any(block.get("type") == "reasoning" for block in blocks)
        for block in blocks:
            if block.get("type") != "reasoning":
                continue
            text = block.get("reasoning") or ""
            detail = as_dict(block.get("extras")).get("reasoning_details")
            if isinstance(detail, dict):
                field = "summary" if detail.get("type") == "reasoning.summary" else "text"
                details.append({**detail, field: text} if text or field in detail else detail)
            texts.append(text)
        plain = message.additional_kwargs.get("reasoning_content")
        if not "".join(texts):
            texts = [plain] if isinstance(plain, str) else []
        takes_details = bool(details) and self._takes(message, dialect.details)
        if takes_details:
            wire["reasoning_details"] = details
        if texts and takes_plain and dialect.reasoning and not takes_details:
            wire[dialect.reasoning] = "".join(texts)
        elif (texts or details or has_blocks) and not (_REASONING & wire.keys()):
            text = f"{dialect.provider} takes no reasoning back here"
            # A seal without words is nothing that a model or a person would have read.
            is_lossy = any(texts) or bool(details)
            note(self._changes, path, "dropped_reasoning", text, lossy=is_lossy)


def _says_the_same(kept: Any, message: AIMessage) -> bool:
    """Return whether the raw calls of a decoded request are still the calls of the message."""
    ours = {c.get("id"): c.get("args") for c in [*message.tool_calls, *message.invalid_tool_calls]}
    theirs: dict[Any, Any] = {}
    for call in as_dicts(kept):
        function = as_dict(call.get("function"))
        text = function.get("arguments")
        args: Any = read_arguments(text)
        if "custom" in call and not function.get("name"):
            args = {"input": as_dict(call["custom"]).get("input")}
        if function.get("name") or "custom" in call:
            theirs[call.get("id") or None] = text if args is None else args
        elif isinstance(call.get("function"), dict):
            theirs[call.get("id") or None] = text if isinstance(text, str) else dump_arguments(text)
    return ours == theirs
