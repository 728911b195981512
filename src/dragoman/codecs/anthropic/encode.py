"""Canonical form -> an Anthropic request body.

What the provider asks for and loses nothing is done here, always: the first system messages go to
the top, consecutive turns of one side are merged, results come first in their turn and in call
order, ids fit the alphabet and are unique, empty and blank text is not sent, at most four cache
marks stay (the last ones). What is left out is reported as a `Change`.

Sources: https://docs.anthropic.com/en/api/messages,
https://docs.anthropic.com/en/docs/build-with-claude/extended-thinking, read 2026-11.
"""

from fnmatch import fnmatchcase
from typing import Any

from dragoman.codecs.anthropic.blocks import BlockWriter
from dragoman.codecs.anthropic.decode import API
from dragoman.codecs.anthropic.plain import ID, write_plain
from dragoman.codecs.anthropic.tables import (
    MAX_CACHE_MARKS,
    MAX_TOKENS,
    Dialect,
)
from dragoman.codecs.anthropic.tools import write_choice, write_format, write_tools
from dragoman.codecs.contract import Change, ChatRequest
from dragoman.codecs.explained import explained
from dragoman.codecs.pairing import WireIds
from dragoman.codecs.turns import OPENED, PLACEHOLDER, Turn, turns
from dragoman.messages import BaseMessage, ToolMessage

__all__ = ["encode_request"]


@explained
def encode_request(
    request: ChatRequest, provider: str, dialect: Dialect, changes: list[Change] | None
) -> dict[str, Any]:
    """Return the request body; neither the request nor its messages are changed.

    Raises:
        EncodeError: For content that this wire cannot carry (a file type, a role).
    """
    told: list[Change] = [] if changes is None else changes
    plain = write_plain(request.messages)
    if plain is None:
        history = _History(request.model or "", provider, dialect, told)
        for turn in turns(request.messages):
            history.add(turn)
        history.close()
        system, messages = history.system, history.messages
    else:
        system, messages = plain
    if not messages and system is not None:
        told.append(Change("$.messages", "no_turn", False, OPENED))
        messages = [{"role": "user", "content": PLACEHOLDER}]
    extra = dict(request.extra)
    body: dict[str, Any] = {}
    if request.model is not None:
        body["model"] = request.model
    body["max_tokens"] = _max_tokens(request)
    if system is not None:
        body["system"] = system
    body["messages"] = messages
    tools = write_tools(request.tools, told)
    if tools:
        body["tools"] = tools
    parallel = extra.pop("parallel_tool_calls", None)
    choice = write_choice(request.tool_choice, request.tools, parallel, told)
    if choice is not None:
        body["tool_choice"] = choice
    sampling = {
        "temperature": request.temperature,
        "top_p": request.top_p,
        "stop_sequences": request.stop,
        "stream": request.stream,
    }
    body.update((key, value) for key, value in sampling.items() if value is not None)
    schema = write_format(request.response_format, told)
    if schema is not None:
        config = extra.pop("output_config", None)
        body["output_config"] = {**(config if isinstance(config, dict) else {}), "format": schema}
    for key, value in extra.items():
        body.setdefault(key, value)
    if plain is not None and not any("cache_control" in tool for tool in tools):
        return body
    return _limit_marks(body, told)


def _max_tokens(request: ChatRequest) -> Any:
    """Return the limit; thinking needs a limit above its budget."""
    if request.max_tokens is not None:
        return request.max_tokens
    if "max_tokens" in request.extra:
        return request.extra["max_tokens"]
    thinking = request.extra.get("thinking")
    budget = thinking.get("budget_tokens") if isinstance(thinking, dict) else None
    return MAX_TOKENS + (budget if type(budget) is int and budget > 0 else 0)


class _History:
    """Collects turns into the system prompt and the messages of the wire."""

    def __init__(self, model: str, provider: str, dialect: Dialect, changes: list[Change]) -> None:
        self.system: str | list[dict[str, Any]] | None = None
        self.messages: list[dict[str, Any]] = []
        self._writer = BlockWriter(provider, dialect, changes)
        self._ids = WireIds(ID, prefix="toolu_", unique=True)
        self._changes = changes
        self._has_system_role = any(fnmatchcase(model, p) for p in dialect.system_models)
        self._is_opening = True  # only system messages so far

    def add(self, turn: Turn) -> None:
        """Add one message."""
        message, path = turn.message, turn.path
        if turn.role == "system":
            self._add_system(message, path)
            return
        self._is_opening = False
        if message.name and turn.role != "tool":
            self._report("dropped_name", path, "the wire has no field for a message's name")
        if turn.role == "assistant":
            blocks = self._writer.assistant(message, path, self._ids)
        elif isinstance(message, ToolMessage):
            blocks = [self._writer.result(message, path, self._ids)]
        else:
            blocks = self._writer.user(message, path, self._ids)
        self._put("user" if turn.role == "tool" else turn.role, blocks, _bag(message, turn.role))

    def _add_system(self, message: BaseMessage, path: str) -> None:
        bag = dict(_bag(message, "system"))
        in_place = bag.pop("role", None) == "system"
        if self._is_opening and not in_place:
            self._add_top(self._writer.system(message, path))
        elif in_place or (
            self._has_system_role and self.messages and self.messages[-1]["role"] == "user"
        ):
            self._is_opening = False
            content = self._writer.system(message, path)
            if content or bag:
                self.messages.append({**bag, "role": "system", "content": content})
        else:
            self._is_opening = False
            text = self._writer.system_text(message, path)
            if text:
                self._report("moved_system", path, "a late system message is sent as user text")
                self._put("user", [{"type": "text", "text": f"<system>\n{text}\n</system>"}], {})

    def _add_top(self, content: str | list[dict[str, Any]]) -> None:
        if not content:
            return
        if self.system is None:
            self.system = content
            return
        parts = [
            [{"type": "text", "text": c}] if isinstance(c, str) else c
            for c in (self.system, content)
        ]
        self.system = parts[0] + parts[1]

    def _put(self, role: str, blocks: list[dict[str, Any]], bag: dict[str, Any]) -> None:
        """Add blocks to the last turn if it is of the same side, else as a turn of their own."""
        last = self.messages[-1] if self.messages else None
        if last is not None and last["role"] == role and not bag:
            last["content"] += blocks
        elif blocks or role == "user" or bag:
            self.messages.append({**bag, "role": role, "content": blocks})

    def close(self) -> None:
        """Put results first, drop turns that say nothing, and strip the end of a prefill."""
        kept: list[dict[str, Any]] = []
        for n, turn in enumerate(self.messages):
            content = turn["content"]
            if turn["role"] == "user":
                results = [b for b in content if b.get("type") == "tool_result"]
                if results and content[: len(results)] != results:
                    turn["content"] = results + [
                        b for b in content if b.get("type") != "tool_result"
                    ]
                if not content:
                    self._report("placeholder", f"$.messages[{n}]", "an empty turn is not accepted")
                    turn["content"] = [{"type": "text", "text": PLACEHOLDER}]
            kept.append(turn)
        if kept and kept[-1]["role"] == "assistant":
            self._strip(kept[-1])
            if not kept[-1]["content"]:
                kept.pop()
        for turn in kept:
            turn["content"] = _short(turn["content"])
        self.messages = kept

    def _strip(self, turn: dict[str, Any]) -> None:
        """Right-strip the last text: Anthropic refuses a prefill that ends in white space."""
        block = turn["content"][-1] if turn["content"] else {}
        text = block.get("text") if block.get("type") == "text" else None
        if isinstance(text, str) and text != text.rstrip():
            turn["content"][-1] = {**block, "text": text.rstrip()}

    def _report(self, code: str, path: str, message: str) -> None:
        self._changes.append(Change(path, code, False, message))


def _short(content: Any) -> Any:
    """Return one plain text block as the string it is short for."""
    if isinstance(content, list) and len(content) == 1 and content[0].keys() == {"type", "text"}:
        return content[0]["text"] if content[0]["type"] == "text" else content
    return content


def _bag(message: BaseMessage, role: str) -> dict[str, Any]:
    """Return the fields of a decoded message that this codec does not understand."""
    bag = message.additional_kwargs.get(API)
    if role == "tool":
        bag = bag.get("turn") if isinstance(bag, dict) else None
    return bag if isinstance(bag, dict) else {}


def _limit_marks(body: dict[str, Any], changes: list[Change]) -> dict[str, Any]:
    """Return the body with at most four cache marks: the last ones in the order of the prompt.

    The places are tools, system, messages; blocks inside a result count too. Blocks that lose their
    mark are replaced by copies.
    """
    counter = [0]
    for blocks in (
        body.get("tools"),
        body.get("system"),
        *(m["content"] for m in body["messages"]),
    ):
        _marked(blocks, counter, 0)
    # A mark at the top of the request takes one of the places itself.
    n_allowed = MAX_CACHE_MARKS - (body.get("cache_control") is not None)
    surplus = counter[0] - n_allowed
    if surplus <= 0:
        return body
    counter = [0]
    for key in ("tools", "system"):
        if key in body:
            body[key] = _marked(body[key], counter, surplus)
    for message in body["messages"]:
        message["content"] = _marked(message["content"], counter, surplus)
    text = f"{surplus} cache marks are left out; the last {n_allowed} stay"
    changes.append(Change("$", "dropped_cache_marks", False, text))
    return body


def _marked(blocks: Any, counter: list[int], surplus: int) -> Any:
    """Count the marks in `blocks`, and return them without those that are among the first ones."""
    if not isinstance(blocks, list):
        return blocks
    kept: list[Any] = []
    for block in blocks:
        if isinstance(block, dict):
            if block.get("type") == "tool_result" and isinstance(block.get("content"), list):
                inner = _marked(block["content"], counter, surplus)
                block = block if inner == block["content"] else {**block, "content": inner}
            if block.get("cache_control") is not None:
                counter[0] += 1
                if counter[0] <= surplus:
                    block = {k: v for k, v in block.items() if k != "cache_control"}
        kept.append(block)
    return kept
