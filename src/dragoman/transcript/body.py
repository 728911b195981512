"""The same checks on the plain dicts people hold for their own SDK.

`check_body` looks at a request body as it would be sent; `repair_body` decodes it, repairs the history,
and encodes it again for the same wire, so that what encoders always do is done too.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from msgspec.structs import replace

from dragoman.codecs import Converted, get_codec
from dragoman.codecs.contract import Change, Codec
from dragoman.codecs.turns import PLACEHOLDER
from dragoman.errors import DecodeError
from dragoman.messages.base import BaseMessage
from dragoman.messages.human import HumanMessage
from dragoman.messages.system import SystemMessage
from dragoman.transcript.repair import Issue, repair_messages, validate_messages
from dragoman.transcript.rules import RULES, target_of

__all__ = ["check_body", "history_key", "raw_index", "repair_body"]


def _api(body: Any, api: str | None) -> tuple[str, str | None]:
    """Return the codec's name and the target's."""
    if not isinstance(body, dict):
        message = f"expected a request body as a dict, got {type(body).__name__}"
        raise DecodeError(message, path="$")
    from dragoman.codecs.convert import detect_api

    name = detect_api(body) if api is None else api
    target = target_of(name)
    assert target is not None
    model = body.get("model", body.get("modelId"))
    if isinstance(model, str) and ":" not in name:
        name = f"{name}:{model}"
    return target.api, name


def check_body(body: dict[str, Any], api: str | None = None) -> list[Issue]:
    """Return what the provider would refuse in a request body that is sent as it stands.

    Args:
        body: The JSON of a request, as a dict; not changed.
        api: A codec or provider name; detected from the body's shape if left out.

    Returns:
        Issues; `index` counts the body's messages (`messages`, `input` or `contents`).

    Raises:
        DecodeError: If the body is no request of that format.

    >>> [
    ...     i.code
    ...     for i in check_body(
    ...         {"model": "m", "messages": [{"role": "tool", "tool_call_id": "x", "content": "r"}]}
    ...     )
    ... ]
    ['orphan_result']
    """
    name, target = _api(body, api)
    codec = get_codec(name)
    request = codec.decode_request(body)
    issues = [
        replace(issue, index=raw_index(codec, body, issue.index))
        for issue in validate_messages(request.messages, target)
        if not (_goes_on(body) and issue.code in ("orphan_result", "mismatched_result"))
    ]
    check = _RAW.get(name)
    if check is not None:
        issues += [
            Issue(index, code, RULES[code].message, RULES[code].fix, RULES[code].lossy)
            for index, code in check(body)
        ]
    return sorted(issues, key=lambda issue: issue.index)


def repair_body(body: dict[str, Any], api: str | None = None) -> Converted:
    """Return a request body that the provider takes, with the list of changes.

    Args:
        body: The JSON of a request, as a dict; not changed.
        api: A codec or provider name; detected from the body's shape if left out.

    Raises:
        DecodeError: If the body is no request of that format.
    """
    name, target = _api(body, api)
    codec = get_codec(name)
    request = codec.decode_request(body)
    issues = check_body(body, api)
    if not issues:
        return Converted(body, [])
    changes: list[Change] = []
    if not _goes_on(body):
        repair = repair_messages(request.messages, target)
        request.messages = repair.messages
        changes = [_change(issue) for issue in issues if issue.code in _codes(repair.changes)]
    if any(issue.code == "misplaced_system" for issue in issues):
        request.messages = _unplaced(request.messages)
    if any(issue.code == "no_turn" for issue in issues):
        request.messages = [*request.messages, HumanMessage(PLACEHOLDER)]
    notes: list[Change] = []
    encoded = codec.encode_request(request, notes)
    # Written for the wire it was read from, a history can only lose the status of results that were
    # made here, and their text says the same.
    changes += [note for note in notes if note.code != "dropped_status"]
    known = _codes(changes)
    changes += [_change(issue) for issue in issues if issue.code not in known]
    key = history_key(body)
    placed = [replace(c, path=f"$.{key}{c.path[1:]}") if c.path[:2] == "$[" else c for c in changes]
    return Converted(encoded, placed)


def _unplaced(messages: list[BaseMessage]) -> list[BaseMessage]:
    """Return messages whose leading system messages forget where the body had them."""
    moved: list[BaseMessage] = []
    for position, message in enumerate(messages):
        if not isinstance(message, SystemMessage):
            return moved + messages[position:]
        moved.append(message.model_copy(update={"additional_kwargs": {}}))
    return moved


def _codes(changes: list[Change]) -> set[str]:
    return {change.code for change in changes}


def _change(issue: Issue) -> Change:
    text = f"{issue.message}: {issue.fix}"
    return Change(f"$[{issue.index}]", issue.code, issue.lossy, text)


def history_key(body: dict[str, Any]) -> str:
    """Return the key under which a request body holds its history."""
    return next((key for key in ("messages", "contents", "input") if key in body), "messages")


def raw_index(codec: Codec, body: dict[str, Any], index: int) -> int:
    """Return which of the body's own messages became the message at `index`.

    A codec may put the system prompt in front, or make several messages of one. How many messages
    the first k of the body make grows with k, so that k is found by halving.
    """
    key = history_key(body)
    items = body.get(key)
    if not isinstance(items, list):
        return 0
    low, high = 0, len(items)
    while low < high:
        middle = (low + high) // 2
        if len(codec.decode_request({**body, key: items[:middle]}).messages) > index:
            high = middle
        else:
            low = middle + 1
    return max(low - 1, 0)


def _goes_on(body: dict[str, Any]) -> bool:
    """Return whether the server holds the beginning of the history (OpenAI Responses)."""
    return bool(body.get("previous_response_id") or body.get("conversation"))


Raw = Iterator[tuple[int, str]]


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _dicts(value: Any) -> Iterator[tuple[int, dict[str, Any]]]:
    for index, item in enumerate(_list(value)):
        if isinstance(item, dict):
            yield index, item


_ANTHROPIC_ID = re.compile(r"[a-zA-Z0-9_-]+")
_MISTRAL_ID = re.compile(r"[a-zA-Z0-9]{9}")


def _anthropic(body: dict[str, Any]) -> Raw:
    marks = _marks(body, "cache_control")
    if marks > 4:
        yield 0, "too_many_cache_marks"
    if body.get("messages") == []:
        yield 0, "no_turn"
    for index, message in _dicts(body.get("messages")):
        content = message.get("content")
        if message.get("role") == "system" and index == 0:
            yield index, "misplaced_system"
        if isinstance(content, str) and not content.strip() and message.get("role") == "user":
            yield index, "empty_content"
        for _, block in _dicts(content):
            if block.get("type") == "text" and not str(block.get("text") or "").strip():
                yield index, "empty_content"
            id_val = block.get("id") if block.get("type") == "tool_use" else None
            if isinstance(id_val, str) and not _ANTHROPIC_ID.fullmatch(id_val):
                yield index, "bad_call_id"
    yield from _repeats(
        (index, block.get("id"))
        for index, message in _dicts(body.get("messages"))
        for _, block in _dicts(message.get("content"))
        if block.get("type") == "tool_use"
    )


def _repeats(ids: Iterable[tuple[int, Any]]) -> Raw:
    """Yield a fault for each id that came before, given with the index of its message."""
    used: set[str] = set()
    for index, id_val in ids:
        if isinstance(id_val, str) and id_val:
            if id_val in used:
                yield index, "duplicate_call_id"
            used.add(id_val)


def _marks(value: Any, key: str) -> int:
    """Return how many dicts inside `value` have a non-null `key`."""
    count, stack = 0, [value]
    while stack:
        item = stack.pop()
        if isinstance(item, dict):
            count += item.get(key) is not None
            stack += [
                inner for name, inner in item.items() if name not in ("input_schema", "input")
            ]
        elif isinstance(item, list):
            stack += item
    return count


def _mistral(body: dict[str, Any]) -> Raw:
    messages = list(_dicts(body.get("messages")))
    for index, message in messages:
        for _, call in _dicts(message.get("tool_calls")):
            id_val = call.get("id")
            if isinstance(id_val, str) and not _MISTRAL_ID.fullmatch(id_val):
                yield index, "bad_call_id"
    if (
        messages
        and messages[-1][1].get("role") == "assistant"
        and not messages[-1][1].get("prefix")
    ):
        yield messages[-1][0], "last_role"


def _bedrock(body: dict[str, Any]) -> Raw:
    if body.get("messages") == []:
        yield 0, "no_turn"
    before: Any = None
    for index, message in _dicts(body.get("messages")):
        role = message.get("role")
        if role is not None and (role == before or (index == 0 and role != "user")):
            yield index, "role_order"
        before = role
        for _, block in _dicts(message.get("content")):
            text = block.get("text")
            if isinstance(text, str) and not text.strip():
                yield index, "empty_content"
    yield from _repeats(
        (index, use.get("toolUseId"))
        for index, message in _dicts(body.get("messages"))
        for _, block in _dicts(message.get("content"))
        if isinstance(use := block.get("toolUse"), dict)
    )


def _gemini(body: dict[str, Any]) -> Raw:
    contents = body.get("contents")
    if contents == []:
        yield 0, "no_turn"
    for index, content in _dicts(contents):
        calls = any("functionCall" in part for _, part in _dicts(content.get("parts")))
        if index == 0 and content.get("role") == "model" and calls:
            yield index, "role_order"


def _openai_chat(body: dict[str, Any]) -> Raw:
    for index, message in _dicts(body.get("messages")):
        calls = [call for _, call in _dicts(message.get("tool_calls"))]
        for call in calls:
            if len(str(call.get("id") or "")) > 64:
                yield index, "bad_call_id"
        # Ids of earlier turns may come again.
        yield from _repeats((index, call.get("id")) for call in calls)


_RAW: dict[str, Callable[[dict[str, Any]], Raw]] = {
    "anthropic": _anthropic,
    "mistral": _mistral,
    "bedrock_converse": _bedrock,
    "gemini": _gemini,
    "openai_chat": _openai_chat,
}
