"""A structured answer inside a reply: found, parsed and checked.

Pure functions and one `feed/close` machine. A reply without a usable answer is always a typed
error: a refusal is a `ModelRefusalError`; a reply cut off, empty or wrong is an
`OutputParserException` that holds the text in `llm_output`.
"""

import dataclasses
import re
from collections.abc import Callable, Mapping
from typing import Any

from pydantic import ValidationError

from dragoman.errors import (
    DecodeError,
    ModelRefusalError,
    OutputParserException,
    short,
)
from dragoman.messages import AIMessage, BaseMessage, message_chunk_to_message
from dragoman.messages.partial_json import decode_json, parse_partial_json
from dragoman.utils.pydantic import faults_text
from dragoman.utils.typed_dicts import is_typed_dict

__all__ = ["AnswerReader", "Target", "read_answer", "target_of"]

FENCE = re.compile(r"\A```(?:json)?\s*\n?(.*?)\n?\s*```\Z", re.DOTALL)


@dataclasses.dataclass(frozen=True)
class Target:
    """What an answer is to become.

    Attributes:
        name: The name of the schema, which is the name of its tool.
        build: Makes the object from the parsed JSON.
        is_dict: Whether the answer is the JSON object itself, and may be shown while it grows.
        by_tool: Whether the answer stands in the arguments of a call, or in the text.
    """

    name: str
    build: Callable[[Any], Any]
    is_dict: bool
    by_tool: bool


def target_of(schema: Any, name: str, *, by_tool: bool) -> Target:
    """Return how answers of `schema` are built.

    Raises:
        ValueError: If it is no pydantic class, dataclass, TypedDict or JSON Schema.
    """
    if isinstance(schema, Mapping) or is_typed_dict(schema):
        return Target(name, _as_dict, is_dict=True, by_tool=by_tool)
    if isinstance(schema, type) and hasattr(schema, "model_validate"):
        return Target(name, schema.model_validate, is_dict=False, by_tool=by_tool)
    if isinstance(schema, type) and dataclasses.is_dataclass(schema):
        from pydantic import TypeAdapter

        build = TypeAdapter(schema).validate_python
        return Target(name, build, is_dict=False, by_tool=by_tool)
    if callable(schema) or hasattr(schema, "args_schema"):
        return Target(name, _as_dict, is_dict=True, by_tool=by_tool)
    raise ValueError(
        f"Cannot structure output by {short(schema)}: give a pydantic class, a dataclass, "
        "a TypedDict or a JSON Schema"
    )


def _as_dict(value: Any) -> Any:
    if not isinstance(value, dict):
        message = f"expected a JSON object, got {type(value).__name__}"
        raise ValueError(message)
    return value


def read_answer(reply: BaseMessage, target: Target) -> Any:
    """Return the answer in a complete reply.

    Raises:
        ModelRefusalError: If the model declined.
        OutputParserException: If the reply was cut off, holds no answer, or a wrong one.
    """
    _check_refusal(reply)
    value = _from_call(reply, target) if target.by_tool else _from_text(reply)
    try:
        return target.build(value)
    except ValueError as error:
        why = faults_text(error, "the answer") if isinstance(error, ValidationError) else str(error)
        message = f"The answer does not fit `{target.name}`: {why[:1000]}"
        raise OutputParserException(message, llm_output=reply.text) from error


def _check_refusal(reply: BaseMessage) -> None:
    content = reply.content
    if not isinstance(content, str):
        for block in content:
            if isinstance(block, dict) and block.get("type") == "refusal":
                raise ModelRefusalError.from_refusal(block, raw_message=reply)
    refusal = reply.additional_kwargs.get("refusal")
    if refusal:
        raise ModelRefusalError.from_refusal({"refusal": refusal}, raw_message=reply)
    if reply.response_metadata.get("finish_reason") in ("refusal", "content_filter"):
        raise ModelRefusalError(raw_message=reply)


def _cut_off(reply: BaseMessage, name: str) -> OutputParserException:
    message = (
        f"The answer for `{name}` was cut off at the token limit; allow more tokens "
        "(`max_tokens`) or ask for less"
    )
    return OutputParserException(message, llm_output=reply.text)


def _is_cut_off(reply: BaseMessage) -> bool:
    return reply.response_metadata.get("finish_reason") == "length"


def _from_call(reply: BaseMessage, target: Target) -> Any:
    calls: Any = reply.tool_calls if isinstance(reply, AIMessage) else []
    for call in calls:
        if call["name"] == target.name:
            return call["args"]
    if _is_cut_off(reply):
        raise _cut_off(reply, target.name)
    invalid: Any = reply.invalid_tool_calls if isinstance(reply, AIMessage) else []
    for call in invalid:
        if call["name"] == target.name:
            why = call.get("error") or "they are no JSON object"
            message = f"The arguments of `{target.name}` cannot be read: {short(why, 200)}"
            raise OutputParserException(message, llm_output=call.get("args") or "")
    other = ", ".join(sorted({f"`{call['name']}`" for call in calls}))
    what = f"called {other} instead" if other else "called no tool"
    message = f"The model gave no structured output: it was to call `{target.name}`, and {what}"
    raise OutputParserException(message, llm_output=reply.text)


def _from_text(reply: BaseMessage) -> Any:
    text = str(reply.text).strip()
    if not text:
        if _is_cut_off(reply):
            raise _cut_off(reply, "the schema")
        message = "The model gave no structured output: the reply has no text"
        raise OutputParserException(message, llm_output="")
    fenced = FENCE.match(text)
    try:
        return decode_json(fenced[1] if fenced else text)
    except DecodeError as error:
        if _is_cut_off(reply):
            raise _cut_off(reply, "the schema") from error
        message = f"The reply is not JSON: {error.message}"
        raise OutputParserException(message, llm_output=text) from error


class AnswerReader:
    """Reads an answer from a stream: dicts are shown as they grow, objects at the end.

    Args:
        target: What the answer is to become.
    """

    def __init__(self, target: Target) -> None:
        self.target = target
        self.total: Any = None
        self.shown: Any = None

    def feed(self, chunk: Any) -> list[Any]:
        """Return the answer so far, if it is a dict and has grown."""
        self.total = chunk if self.total is None else self.total + chunk
        if not self.target.is_dict:
            return []
        value = self._growing()
        if not isinstance(value, dict) or value == self.shown:
            return []
        self.shown = value
        return [value]

    def close(self) -> list[Any]:
        """Return the whole answer, unless it was shown already.

        Raises:
            ModelRefusalError: If the model declined.
            OutputParserException: If the reply was cut off, holds no answer, or a wrong one.
        """
        answer = read_answer(self.reply(), self.target)
        return [] if self.target.is_dict and answer == self.shown else [answer]

    def reply(self) -> BaseMessage:
        """Return the whole reply."""
        if self.total is None:
            message = "The model gave no structured output: the stream was empty"
            raise OutputParserException(message, llm_output="")
        return message_chunk_to_message(self.total)

    def _growing(self) -> Any:
        if self.target.by_tool:
            for call in getattr(self.total, "tool_calls", []):
                if call["name"] == self.target.name:
                    return call["args"]
            return None
        text = str(self.total.text).lstrip().removeprefix("```json").removeprefix("```")
        try:
            return parse_partial_json(text)
        except ValueError:
            return None
