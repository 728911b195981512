"""The histories that people keep in files: request bodies of every wire, and lists of messages.

Forms are told apart by shape: native messages, LangChain's dicts, LangChain's serialized objects, and
everything with roles, which is a body of some provider or the list out of one. What a verb does not
change is written as it was read.
"""

import json
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from dragoman.codecs.contract import Change
from dragoman.codecs.convert import codec_named, detect_api
from dragoman.errors import DecodeError, MessageError
from dragoman.messages import (
    BaseMessage,
    convert_to_messages,
    messages_from_dict,
    messages_from_json,
    messages_to_dict,
    messages_to_json,
)
from dragoman.messages.registry import CLASSES
from dragoman.transcript.body import check_body, history_key, raw_index, repair_body
from dragoman.transcript.repair import Issue, repair_messages, validate_messages
from dragoman.transcript.rules import target_of

__all__ = ["NATIVE", "Body", "History", "Messages", "is_history", "open_history"]

Verb = Callable[[list[BaseMessage]], Sequence[BaseMessage]]
# Where batch files keep the body of a line: OpenAI's, Anthropic's, Gemini's.
ENVELOPES = ("body", "params", "request")
HISTORY_KEYS = ("messages", "contents", "input")
RESPONSES_ITEMS = frozenset(
    {"message", "function_call", "function_call_output", "reasoning", "item_reference"}
)


class Form(msgspec.Struct, frozen=True):
    """How messages are read from JSON values and written to them."""

    read: Callable[[list[Any]], list[BaseMessage]]
    write: Callable[[list[BaseMessage]], list[Any]]


def _read_native(items: list[Any]) -> list[BaseMessage]:
    return list(messages_from_json(json.dumps(items)))


def _write_native(messages: list[BaseMessage]) -> list[Any]:
    return json.loads(messages_to_json(messages))


def _read_objects(items: list[Any]) -> list[BaseMessage]:
    from dragoman.load import load  # loads pydantic, which no other form needs

    return convert_to_messages([load(item) for item in items])


def _write_objects(messages: list[BaseMessage]) -> list[Any]:
    from dragoman.load import dumpd

    return [dumpd(message) for message in messages]


NATIVE = Form(_read_native, _write_native)
DICTS = Form(messages_from_dict, messages_to_dict)
OBJECTS = Form(_read_objects, _write_objects)
LOOSE = Form(convert_to_messages, _write_native)


class Messages:
    """A list of messages in one of our or LangChain's forms.

    Args:
        items: The JSON values of the messages.
        form: How they are read and written.
        path: Where they stand in the document, such as `$.messages`.
        wrap: Gives the document's value for a new list.
    """

    def __init__(
        self, items: list[Any], form: Form, path: str, wrap: Callable[[list[Any]], Any]
    ) -> None:
        self.items = items
        self.path = path
        try:
            self.messages: list[BaseMessage] = form.read(items)
        except MessageError as error:
            inside = path + error.path[1:] if error.path and error.path[0] == "$" else path
            raise DecodeError(error.message, path=inside, hint=error.hint) from error
        self._form = form
        self._wrap = wrap

    def check(self, target: str | None) -> list[Issue]:
        """Return what a provider would refuse."""
        return validate_messages(self.messages, target)

    def repair(self, target: str | None) -> tuple[Any, list[Change]]:
        """Return the document's value, repaired, and what was changed."""
        repair = repair_messages(self.messages, target)
        changes = [
            msgspec.structs.replace(change, path=self.path + change.path[1:])
            for change in repair.changes
        ]
        return self._written(repair.messages), changes

    def edit(self, verb: Verb) -> Any:
        """Return the document's value with `verb` done to its messages."""
        return self._written(verb(list(self.messages)))

    def _written(self, messages: Sequence[BaseMessage]) -> Any:
        raw = {id(m): item for m, item in zip(self.messages, self.items, strict=True)}
        new = [m for m in messages if id(m) not in raw]
        written = dict(zip(map(id, new), self._form.write(new), strict=True))
        return self._wrap([raw[id(m)] if id(m) in raw else written[id(m)] for m in messages])


class Body:
    """A request body of some wire.

    Args:
        body: The body.
        source: Its wire; None to tell it from the shape.
        place: Where the body stands in the document.
        wrap: Gives the document's value for a new body.
        is_bare: Whether the document is the list of the body alone.
    """

    def __init__(
        self,
        body: dict[str, Any],
        source: str | None,
        place: str,
        wrap: Callable[[Any], Any],
        *,
        is_bare: bool = False,
    ) -> None:
        self.body = body
        key = history_key(body)
        items = body.get(key)
        self.items: list[Any] = items if isinstance(items, list) else [items]
        self.path: str = place if is_bare else f"{place}.{key}"
        self._place = place
        self._key = key
        self.source: str = source if source is not None else detect_api(body)
        self.wrap = wrap
        self._codec = codec_named(self.source)

    @property
    def messages(self) -> list[BaseMessage]:
        """The messages, decoded."""
        return self._codec.decode_request(self.body).messages

    def _goes_elsewhere(self, target: str | None) -> bool:
        named = target_of(target)
        return named is not None and named.api != self._codec.api

    def check(self, target: str | None) -> list[Issue]:
        """Return what a provider would refuse; without a target, the body's own."""
        if not self._goes_elsewhere(target):
            return check_body(self.body, target if target is not None else self._codec.api)
        return [
            msgspec.structs.replace(issue, index=raw_index(self._codec, self.body, issue.index))
            for issue in validate_messages(self.messages, target)
        ]

    def repair(self, target: str | None) -> tuple[Any, list[Change]]:
        """Return the document's value, repaired, and what was changed."""
        if not self._goes_elsewhere(target):
            done = repair_body(self.body, target if target is not None else self._codec.api)
            return self.wrap(done.body), [self._placed(change) for change in done.changes]
        issues = self.check(target)
        if not issues:
            return self.wrap(self.body), []
        changes = [
            Change(f"{self.path}[{i.index}]", i.code, i.lossy, f"{i.message}: {i.fix}")
            for i in issues
        ]
        request = self._codec.decode_request(self.body)
        request.messages = repair_messages(request.messages, target).messages
        return self.wrap(self._codec.encode_request(request)), changes

    def _placed(self, change: Change) -> Change:
        """Return a change of the body as one of the document."""
        head = f"$.{self._key}"
        is_inside = change.path.startswith(head)
        rest = change.path[len(head) :] if is_inside else change.path[1:]
        path = (self.path if is_inside else self._place) + rest
        return msgspec.structs.replace(change, path=path)

    def edit(self, verb: Verb) -> Any:
        """Return the document's value with `verb` done to its messages."""
        request = self._codec.decode_request(self.body)
        request.messages = list(verb(list(request.messages)))
        return self.wrap(self._codec.encode_request(request))


History = Messages | Body


def open_history(value: Any, source: str | None = None) -> History:
    """Return the history in a JSON value.

    Args:
        value: A body, an envelope with one, or a list of messages of any form.
        source: The wire of a body; None to tell it from the shape.

    Raises:
        DecodeError: If there is none in it.

    >>> open_history([{"type": "human", "content": "hi"}]).check("anthropic")
    []
    """
    if isinstance(value, list):
        form = _form_of(value)
        if form is not None:
            return Messages(value, form, "$", lambda items: items)
        key = _key_of(value)

        # What does not fit into a bare list (a system prompt beside it) makes it a body.
        def bare(body: dict[str, Any]) -> Any:
            return body[key] if body.keys() == {key} else body

        return Body({key: value}, source, "$", bare, is_bare=True)
    if not isinstance(value, dict):
        message = f"a JSON {type(value).__name__} is no history"
        raise DecodeError(message, path="$", hint="give a request body or a list of messages")
    if not any(key in value for key in HISTORY_KEYS):
        for name in ENVELOPES:
            if isinstance(value.get(name), dict):
                return Body(value[name], source, f"$.{name}", _put(value, name))
        message = f"there is no history in it: none of {', '.join(HISTORY_KEYS)}"
        raise DecodeError(message, path="$", hint="give a request body or a list of messages")
    items = value.get("messages")
    if isinstance(items, list) and (form := _form_of(items)) is not None:
        return Messages(items, form, "$.messages", _put(value, "messages"))
    return Body(value, source, "$", lambda body: body)


def _put(value: dict[str, Any], key: str) -> Callable[[Any], dict[str, Any]]:
    """Return what gives `value` with another thing under `key`."""
    return lambda new: {**value, key: new}


def is_history(value: Any) -> bool:
    """Return whether `value` has the shape of a history, and not of a reply."""
    return not isinstance(value, dict) or any(
        isinstance(value.get(key), list | dict | str) for key in (*HISTORY_KEYS, *ENVELOPES)
    )


def _form_of(items: list[Any]) -> Form | None:
    """Return the form of a list of messages; None for one of roles, which is a provider's."""
    if not items:
        return NATIVE
    if not all(isinstance(item, dict) for item in items):
        return LOOSE
    if any("lc" in item for item in items):
        return OBJECTS
    if all(item.get("type") in CLASSES for item in items):
        return DICTS if "data" in items[0] and "content" not in items[0] else NATIVE
    return None


def _key_of(items: list[Any]) -> str:
    """Return the key under which a bare list of some provider's messages would stand."""
    if any("parts" in item for item in items):
        return "contents"
    if any(item.get("type") in RESPONSES_ITEMS for item in items):
        return "input"
    return "messages"
