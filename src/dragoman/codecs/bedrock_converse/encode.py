"""Canonical form -> a Converse request body (the model's name goes into the address).

What Bedrock asks for and loses nothing is done here, always: system messages go to the top, turns
alternate and begin with the user, results come first in their turn and in call order, ids fit the alphabet and are unique,
blank text is not sent, a turn with a document has text, at most four cache points stay.

Source: https://docs.aws.amazon.com/bedrock/latest/userguide/conversation-inference-call.html, read
2026-11.
"""

import re
from typing import Any

from dragoman.codecs.bedrock_converse.blocks import BlockWriter
from dragoman.codecs.bedrock_converse.decode import API
from dragoman.codecs.bedrock_converse.tables import MAX_CACHE_MARKS
from dragoman.codecs.bedrock_converse.tools import write_format, write_tools
from dragoman.codecs.contract import Change, ChatRequest
from dragoman.codecs.explained import explained
from dragoman.codecs.pairing import WireIds
from dragoman.codecs.turns import OPENED, PLACEHOLDER, Turn, turns
from dragoman.messages import BaseMessage, ToolMessage

__all__ = ["encode_request"]

_ID = re.compile(r"[a-zA-Z0-9_.:-]{1,64}")


@explained
def encode_request(
    request: ChatRequest, provider: str, changes: list[Change] | None
) -> dict[str, Any]:
    """Return the request body; neither the request nor its messages are changed.

    Raises:
        EncodeError: For content that this wire cannot carry (a file type, a role).
    """
    told: list[Change] = [] if changes is None else changes
    history = _History(request.model, provider, told)
    for turn in turns(request.messages):
        history.add(turn)
    history.close()
    extra = dict(request.extra)
    body: dict[str, Any] = {"messages": history.messages}
    if history.system:
        body["system"] = history.system
    extra.pop("parallel_tool_calls", None)
    config = {
        "maxTokens": request.max_tokens,
        "temperature": request.temperature,
        "topP": request.top_p,
        "stopSequences": request.stop,
    }
    _join(body, extra, "inferenceConfig", {k: v for k, v in config.items() if v is not None})
    _join(body, extra, "toolConfig", write_tools(request, history.called, told))
    schema = write_format(request.response_format, told)
    _join(body, extra, "outputConfig", {} if schema is None else {"textFormat": schema})
    for key, value in extra.items():
        body.setdefault(key, value)
    _limit_points(body, told)
    return body


def _join(body: dict[str, Any], extra: dict[str, Any], key: str, known: dict[str, Any]) -> None:
    """Put `known` into the body under `key`, beside what the request has there of its own."""
    if known:
        rest = extra.pop(key, None)
        body[key] = {**known, **rest} if isinstance(rest, dict) else known


class _History:
    """Collects turns into the system prompt and the messages of the wire."""

    def __init__(self, model: str | None, provider: str, changes: list[Change]) -> None:
        self.system: list[dict[str, Any]] = []
        self.messages: list[dict[str, Any]] = []
        self._writer = BlockWriter(provider, changes, model=model)
        self._ids = WireIds(_ID, prefix="tooluse_", unique=True)
        self._changes = changes
        self._is_opening = True  # only system messages so far

    @property
    def called(self) -> dict[str, None]:
        """Return the names of the tools that were called."""
        return self._writer.called

    def add(self, turn: Turn) -> None:
        """Add one message."""
        message, path = turn.message, turn.path
        if turn.role == "system":
            self._add_system(message, path)
            return
        self._is_opening = False
        if message.name and turn.role != "tool":
            self._report("dropped_name", path, "the wire has no field for a message's name")
        if isinstance(message, ToolMessage):
            blocks = self._writer.result(message, path, self._ids)
        else:
            is_assistant = turn.role == "assistant"
            blocks = self._writer.message(message, path, self._ids, is_assistant=is_assistant)
        self._put("user" if turn.role == "tool" else turn.role, blocks, _bag(message, turn.role))

    def _add_system(self, message: BaseMessage, path: str) -> None:
        bag = dict(_bag(message, "system"))
        in_place = bag.pop("role", None) == "system"
        blocks = self._writer.message(message, path, None)
        if in_place:
            self._is_opening = False
            self.messages.append({**bag, "role": "system", "content": blocks})
        elif self._is_opening:
            self.system += blocks
        elif blocks:
            # Roles alternate and there is no other: a later system message is marked user text.
            self._report("moved_system", path, "a late system message is sent as user text")
            text = "\n".join(b["text"] for b in blocks if "text" in b)
            self._put("user", [{"text": f"<system>\n{text}\n</system>"}], {})

    def _put(self, role: str, blocks: list[dict[str, Any]], bag: dict[str, Any]) -> None:
        """Add blocks to the last turn if it is of the same side, else as a turn of their own."""
        last = self.messages[-1] if self.messages else None
        if last is not None and last["role"] == role and not bag:
            last["content"] += blocks
        elif blocks or role == "user" or bag:
            self.messages.append({**bag, "role": role, "content": blocks})

    def close(self) -> None:
        """Begin with the user, put results first, give documents their text, fill empty turns."""
        if self.messages[0]["role"] != "user" if self.messages else self.system:
            self._report("role_order" if self.messages else "no_turn", "$.messages", OPENED)
            self.messages.insert(0, {"role": "user", "content": [{"text": PLACEHOLDER}]})
        for n, turn in enumerate(self.messages):
            if turn["role"] != "user":
                continue
            content = _results_first(turn["content"])
            path = f"$.messages[{n}]"
            if not content:
                self._report("placeholder", path, "an empty turn is not accepted")
                content = [{"text": PLACEHOLDER}]
            if any("document" in b for b in content) and not any("text" in b for b in content):
                self._report("added_text", path, "a document needs text beside it")
                content.append({"text": "See the attached document."})
            turn["content"] = content
        last = self.messages[-1] if self.messages else None
        if last is None or last["role"] != "assistant" or not last["content"]:
            return
        if "text" in last["content"][-1]:
            # Claude refuses a prefill that ends in white space.
            block = last["content"][-1]
            if isinstance(block["text"], str):
                last["content"][-1] = {**block, "text": block["text"].rstrip()}

    def _report(self, code: str, path: str, message: str) -> None:
        self._changes.append(Change(path, code, False, message))


def _results_first(content: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the blocks with results before others; a cache point stays behind its result."""
    results: list[dict[str, Any]] = []
    others: list[dict[str, Any]] = []
    target = others
    for block in content:
        if "toolResult" in block:
            target = results
        elif "cachePoint" not in block:
            target = others
        target.append(block)
    return results + others


def _bag(message: BaseMessage, role: str) -> dict[str, Any]:
    """Return the fields of a decoded message that this codec does not understand."""
    bag = message.additional_kwargs.get(API)
    if role == "tool":
        bag = bag.get("turn") if isinstance(bag, dict) else None
    return bag if isinstance(bag, dict) else {}


def _limit_points(body: dict[str, Any], changes: list[Change]) -> None:
    """Leave at most four cache points in the body: the last ones in the order of the prompt."""
    config = body.get("toolConfig")
    places: list[Any] = [config.get("tools") if isinstance(config, dict) else None]
    places += [body.get("system"), *(m["content"] for m in body["messages"])]
    lists = [p for p in places if isinstance(p, list)]
    surplus = sum(_is_point(b) for p in lists for b in p) - MAX_CACHE_MARKS
    if surplus <= 0:
        return
    text = f"{surplus} cache points are left out; the last {MAX_CACHE_MARKS} stay"
    changes.append(Change("$", "dropped_cache_marks", False, text))
    n_seen = 0
    for blocks in lists:
        kept: list[Any] = []
        for block in blocks:
            n_seen += _is_point(block)
            if not _is_point(block) or n_seen > surplus:
                kept.append(block)
        if len(kept) < len(blocks):
            blocks[:] = kept


def _is_point(block: Any) -> bool:
    return isinstance(block, dict) and "cachePoint" in block
