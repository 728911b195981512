"""Canonical form -> a Gemini request body (the model's name goes into the address).

What Google asks for and loses nothing is done here, always: system messages go to
`systemInstruction`, the results of a turn stand in one content in call order and carry their
function's name, calls of other models get the documented stand-in for a signature where the model
wants one. Contents of one role stay apart, as Google accepts them.

Source: https://ai.google.dev/gemini-api/docs/thought-signatures, read 2026-11.
"""

from fnmatch import fnmatchcase
from typing import Any

from dragoman.codecs.contract import Change, ChatRequest
from dragoman.codecs.explained import explained
from dragoman.codecs.gemini.parts import PartWriter
from dragoman.codecs.gemini.tables import API, NEEDS_SIGNATURE
from dragoman.codecs.gemini.tools import write_choice, write_generation, write_tools
from dragoman.codecs.turns import OPENED, PLACEHOLDER, Turn, turns
from dragoman.messages import BaseMessage, ToolMessage

__all__ = ["encode_request"]


@explained
def encode_request(
    request: ChatRequest, provider: str, changes: list[Change] | None
) -> dict[str, Any]:
    """Return the request body; neither the request nor its messages are changed.

    Raises:
        EncodeError: For content that this wire cannot carry (an id of another provider, a role).
    """
    told: list[Change] = [] if changes is None else changes
    history = _History(request.model or "", provider, told)
    for turn in turns(request.messages):
        history.add(turn)
    history.close()
    extra = dict(request.extra)
    extra.pop("parallel_tool_calls", None)
    body: dict[str, Any] = {"contents": history.contents}
    if history.system is not None:
        body["systemInstruction"] = history.system
    tools = write_tools(request.tools, told)
    if tools:
        body["tools"] = tools
    calling = write_choice(request.tool_choice, request.tools, told)
    if calling is not None:
        _join(body, extra, "toolConfig", {"functionCallingConfig": calling})
    config = write_generation(request, told)
    if config:
        _join(body, extra, "generationConfig", config)
    for key, value in extra.items():
        body.setdefault(key, value)
    return body


def _join(body: dict[str, Any], extra: dict[str, Any], key: str, known: dict[str, Any]) -> None:
    """Put `known` into the body under `key`, beside what the request has there of its own."""
    rest = extra.pop(key, None)
    body[key] = {**known, **rest} if isinstance(rest, dict) else known


class _History:
    """Collects turns into the system instruction and the contents of the wire."""

    def __init__(self, model: str, provider: str, changes: list[Change]) -> None:
        self.system: dict[str, Any] | None = None
        self.contents: list[dict[str, Any]] = []
        needs_signature = any(fnmatchcase(model, p) for p in NEEDS_SIGNATURE)
        self._writer = PartWriter(provider, changes, needs_signature=needs_signature)
        self._changes = changes
        self._is_opening = True  # only system messages so far
        self._last: str | None = None  # the role of the turn before

    def add(self, turn: Turn) -> None:
        """Add one message."""
        message, path = turn.message, turn.path
        bag = message.additional_kwargs.get(API)
        bag = bag if isinstance(bag, dict) else {}
        if message.name and turn.role in {"user", "assistant"}:
            self._report("dropped_name", path, "the wire has no field for a message's name")
        if turn.role == "system":
            self._add_system(message, path, bag)
        elif isinstance(message, ToolMessage):
            parts = self._writer.result(message, path)
            joins = (self._last == "tool" and not bag.get("begins")) or bag.get("continues")
            turn_bag = bag.get("turn")
            turn_bag = turn_bag if isinstance(turn_bag, dict) else {}
            self._put("user", parts, turn_bag, joins=bool(joins) and not turn_bag)
        else:
            role = "model" if turn.role == "assistant" else "user"
            parts: list[dict[str, Any]] = []
            if not (message.content == "" and bag.get("parts") == []):  # none were there
                parts = self._writer.message(message, path, is_model=role == "model")
            if parts or (role == "user" and not bag) or "parts" in bag:
                self._put(role, parts, bag, joins=bool(bag.get("continues")))
        if turn.role != "system":
            self._is_opening = False
            self._last = turn.role

    def close(self) -> None:
        """Put a user's turn in front where there is none at all, or a call would come first."""
        first = self.contents[0] if self.contents else None
        calls = first is not None and first.get("role") == "model" and _calls(first["parts"])
        if calls or (first is None and self.system is not None):
            self._report("role_order" if calls else "no_turn", "$.contents", OPENED)
            self.contents.insert(0, {"role": "user", "parts": [{"text": PLACEHOLDER}]})

    def _add_system(self, message: BaseMessage, path: str, bag: dict[str, Any]) -> None:
        parts = self._writer.message(message, path, is_model=False)
        if self._is_opening:
            if self.system is None:
                self.system = {**bag, "parts": []}
            self.system["parts"] += parts
        elif parts:
            # There is no other place: a later system message is marked user text.
            self._report("moved_system", path, "a late system message is sent as user text")
            text = "\n".join(p["text"] for p in parts if isinstance(p.get("text"), str))
            self._put("user", [{"text": f"<system>\n{text}\n</system>"}], {}, joins=False)
            self._last = "system"

    def _put(
        self, role: str, parts: list[dict[str, Any]], bag: dict[str, Any], *, joins: bool
    ) -> None:
        last = self.contents[-1] if self.contents else None
        if last is not None and last.get("role") == role:
            # A call has to follow the user's turn or a result, and its result has to follow it.
            calls = role == "model" and (_calls(parts) or _calls(last["parts"]))
            if joins or (calls and not bag.get("begins")):
                last["parts"] += parts
                return
        rest = {k: v for k, v in bag.items() if k not in {"continues", "begins", "parts"}}
        content = {"role": role, **rest, "parts": parts}
        if content["role"] is None:
            del content["role"]
        self.contents.append(content)

    def _report(self, code: str, path: str, message: str) -> None:
        self._changes.append(Change(path, code, False, message))


def _calls(parts: list[Any]) -> bool:
    return any(isinstance(part, dict) and "functionCall" in part for part in parts)
