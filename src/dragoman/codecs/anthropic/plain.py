"""The short way for plain histories: text, calls and text results, nothing else.

Nearly every message is plain; for a history of such messages the body is written and read here in one
loop. Whatever needs thought (blocks, marks, blank text, late system messages, foreign ids ...) gives
None, and the long way in `encode` and `decode` says the same and more; tests hold the two together.
"""

import re
from collections.abc import Callable, Sequence
from typing import Any

from dragoman.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

__all__ = ["ID", "read_plain", "write_plain"]

ID = re.compile(r"[a-zA-Z0-9_-]+")
"""What Anthropic takes as the id of a call."""

_fits = ID.fullmatch


def write_plain(
    messages: Sequence[BaseMessage],
) -> tuple[str | None, list[dict[str, Any]]] | None:
    """Return `(system, messages)` of a history that is plain throughout, else None."""
    writer = _Writer()
    for message in messages:
        write = _WRITERS.get(message.__class__)
        content: Any = message._raw_content
        if write is None or content.__class__ is not str or message._raw_additional_kwargs:
            return None
        if not write(writer, message, content):
            return None
    return None if writer.last == "assistant" else (writer.system, writer.out)


class _Writer:
    """The turns so far; its methods return whether a message was plain where it stands."""

    __slots__ = ("last", "out", "system", "used", "waiting")

    def __init__(self) -> None:
        self.system: str | None = None
        self.out: list[dict[str, Any]] = []
        self.last = ""  # the kind of the turn before: user, result, assistant
        self.waiting: list[str] = []  # the ids of calls not answered yet, the next one last
        self.used: set[str] = set()

    def system_prompt(self, message: Any, content: str) -> bool:
        if self.system is not None or self.out or message.name is not None or not content.strip():
            return False
        self.system = content
        return True

    def human(self, message: Any, content: str) -> bool:
        if message.name is not None or self.waiting or self.last == "user" or not content.strip():
            return False
        if self.last == "result":
            self.out[-1]["content"].append({"type": "text", "text": content})
        else:
            self.out.append({"role": "user", "content": content})
        self.last = "user"
        return True

    def result(self, message: Any, content: str) -> bool:
        id = message.tool_call_id
        if not self.waiting or id != self.waiting.pop():
            return False
        block: dict[str, Any] = {"type": "tool_result", "tool_use_id": id, "content": content}
        if message.status == "error":
            block["is_error"] = True
        if self.last == "result":
            self.out[-1]["content"].append(block)
        else:
            self.out.append({"role": "user", "content": [block]})
            self.last = "result"
        return True

    def reply(self, message: Any, content: str) -> bool:
        if message.name is not None or self.waiting or self.last == "assistant":
            return False
        if message._raw_invalid_tool_calls or (content and content.isspace()):
            return False
        self.last = "assistant"
        calls = message._raw_tool_calls
        if not calls:
            self.out.append({"role": "assistant", "content": content})
            return bool(content)
        blocks: list[dict[str, Any]] = [{"type": "text", "text": content}] if content else []
        for call in calls:
            id, name = call["id"], call["name"]
            if not name or id.__class__ is not str or id in self.used or not _fits(id):
                return False
            self.used.add(id)
            blocks.append({"type": "tool_use", "id": id, "name": name, "input": call["args"]})
            self.waiting.insert(0, id)
        self.out.append({"role": "assistant", "content": blocks})
        return True


_WRITERS: dict[type, Callable[[_Writer, Any, str], bool]] = {
    SystemMessage: _Writer.system_prompt,
    HumanMessage: _Writer.human,
    ToolMessage: _Writer.result,
    AIMessage: _Writer.reply,
}


_CALL = {"type", "id", "name", "input"}


def read_plain(message: Any, out: list[BaseMessage]) -> bool:
    """Add the messages of a plain turn to `out`; return whether it was plain."""
    if message.__class__ is not dict or len(message) != 2:
        return False
    role, content = message.get("role"), message.get("content")
    if content.__class__ is str:
        if role == "user":
            out.append(HumanMessage(content=content))
        elif role == "assistant":
            out.append(AIMessage(content=content))
        else:
            return False
        return True
    if content.__class__ is not list or not content:
        return False
    if role == "assistant":
        return _read_reply(content, out)
    return role == "user" and _read_results(content, out)


def _read_reply(content: list[Any], out: list[BaseMessage]) -> bool:
    text, calls = "", list[Any]()
    for n, block in enumerate(content):
        kind = block.get("type") if block.__class__ is dict else None
        if kind == "tool_use" and block.keys() == _CALL:
            id, name, args = block["id"], block["name"], block["input"]
            if id.__class__ is not str or name.__class__ is not str or args.__class__ is not dict:
                return False
            calls.append({"name": name, "args": args, "id": id, "type": "tool_call"})
        elif kind == "text" and n == 0 and len(block) == 2 and block.get("text").__class__ is str:
            text = block["text"]
        else:
            return False
    out.append(AIMessage(content=text, tool_calls=calls) if calls else AIMessage(content=text))
    return True


def _read_results(content: list[Any], out: list[BaseMessage]) -> bool:
    found: list[BaseMessage] = []
    last = len(content) - 1
    for n, block in enumerate(content):
        kind = block.get("type") if block.__class__ is dict else None
        if kind == "tool_result":
            id, text, failed = block.get("tool_use_id"), block.get("content"), block.get("is_error")
            if id.__class__ is not str or text.__class__ is not str:
                return False
            if len(block) == 3:
                found.append(ToolMessage(content=text, tool_call_id=id))
            elif len(block) == 4 and (failed is True or failed is False):
                status = "error" if failed else "success"
                found.append(ToolMessage(content=text, tool_call_id=id, status=status))
            else:
                return False
        elif kind == "text" and 0 < n == last and len(block) == 2:
            # Text behind the results of a turn.
            if block.get("text").__class__ is not str:
                return False
            found.append(HumanMessage(content=[block]))
        else:
            return False
    out += found
    return True
