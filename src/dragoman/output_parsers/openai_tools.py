"""Parsers of tool calls: as dicts, as the arguments of one tool, as instances of pydantic classes."""

import json
import logging
from json import JSONDecodeError
from typing import Any, ClassVar, cast

from pydantic import BaseModel, SkipValidation, ValidationError

from dragoman.errors import OutputParserException, short
from dragoman.messages.arguments import read_arguments
from dragoman.messages.base import BaseMessage
from dragoman.messages.partial_json import parse_partial_json
from dragoman.messages.tool import InvalidToolCall, invalid_tool_call, tool_call
from dragoman.output_parsers._refusal import raise_if_refused
from dragoman.output_parsers.transform import BaseCumulativeTransformOutputParser
from dragoman.outputs import ChatGeneration, Generation

__all__ = [
    "JsonOutputKeyToolsParser",
    "JsonOutputToolsParser",
    "PydanticToolsParser",
    "make_invalid_tool_call",
    "parse_tool_call",
    "parse_tool_calls",
]

_log = logging.getLogger(__name__)
_MAX_TOKENS = (
    "Output parser received a `max_tokens` stop reason. The output is likely incomplete: "
    "increase `max_tokens` or shorten your prompt."
)


def _not_json(name: Any, raw: Any, reason: str) -> OutputParserException:
    return OutputParserException(
        f"Function {name} arguments:\n\n{short(raw)}\n\nare not valid JSON. Received {reason}"
    )


def _read(name: Any, raw: Any, *, strict: bool) -> dict[str, Any]:
    if strict and isinstance(raw, str) and raw.strip():
        try:
            json.loads(raw)
        except JSONDecodeError as error:
            raise _not_json(name, raw, f"JSONDecodeError {error}") from error
    arguments, problem = read_arguments(raw)
    if arguments is None:
        raise _not_json(name, raw, f"JSONDecodeError {problem}")
    return arguments


def parse_tool_call(
    raw_tool_call: dict[str, Any],
    *,
    partial: bool = False,
    strict: bool = False,
    return_id: bool = True,
) -> dict[str, Any] | None:
    """Return a call in OpenAI's form as `{"name", "args", "id", "type"}`, or None if it is none.

    Args:
        raw_tool_call: `{"id", "function": {"name", "arguments": JSON text}}`.
        partial: Whether the arguments may be cut off; what cannot be read is None then.
        strict: Whether control characters inside strings are refused.
        return_id: Whether the result has `id` and `type`.

    Raises:
        OutputParserException: If the arguments are no JSON object; names the function.

    >>> parse_tool_call({"id": "1", "function": {"name": "f", "arguments": '{"a": 1}'}})
    {'name': 'f', 'args': {'a': 1}, 'id': '1', 'type': 'tool_call'}
    """
    # What stands in `additional_kwargs` is the user's, and may be anything.
    function = raw_tool_call.get("function") if isinstance(raw_tool_call, dict) else None
    if not isinstance(function, dict):
        return None
    name, raw = function.get("name"), function.get("arguments")
    if partial:
        try:
            value = parse_partial_json(raw, strict=strict) if isinstance(raw, str) else None
        except JSONDecodeError:
            return None
        if not isinstance(value, dict):
            return None
        arguments = cast("dict[str, Any]", value)
    else:
        arguments = _read(name, raw, strict=strict)
    if not return_id:
        return {"name": name or "", "args": arguments}
    call = tool_call(name=name or "", args=arguments, id=raw_tool_call.get("id"))
    return cast("dict[str, Any]", call)


def make_invalid_tool_call(raw_tool_call: dict[str, Any], error_msg: str | None) -> InvalidToolCall:
    """Return a call in OpenAI's form as an invalid call, with its raw arguments and the reason.

    >>> make_invalid_tool_call({"id": "1", "function": {"name": "f", "arguments": "{"}}, "cut off")
    {'name': 'f', 'args': '{', 'id': '1', 'error': 'cut off', 'type': 'invalid_tool_call'}
    """
    function = raw_tool_call.get("function") or {}
    return invalid_tool_call(
        name=function.get("name"),
        args=function.get("arguments"),
        id=raw_tool_call.get("id"),
        error=error_msg,
    )


def parse_tool_calls(
    raw_tool_calls: list[dict[str, Any]],
    *,
    partial: bool = False,
    strict: bool = False,
    return_id: bool = True,
) -> list[dict[str, Any]]:
    """Return all calls of a list in OpenAI's form; entries that are no calls are left out.

    Raises:
        OutputParserException: If arguments are no JSON objects; names every such function.
    """
    calls: list[dict[str, Any]] = []
    problems: list[str] = []
    for raw in raw_tool_calls:
        try:
            call = parse_tool_call(raw, partial=partial, strict=strict, return_id=return_id)
        except OutputParserException as error:
            problems.append(str(error))
            continue
        if call is not None:
            calls.append(call)
    if problems:
        raise OutputParserException("\n\n".join(problems))
    return calls


class JsonOutputToolsParser(BaseCumulativeTransformOutputParser[Any]):
    """Gives the calls of a message as `{"type": name, "args": {...}}`.

    Attributes:
        strict: Whether control characters inside JSON strings are refused.
        return_id: Whether each has its `id`.
        first_tool_only: Whether to give the first call instead of a list; without calls still `[]`.
    """

    _waits: ClassVar[bool] = False  # pure: no threads in a batch

    strict: bool = False
    return_id: bool = False
    first_tool_only: bool = False

    def parse_result(self, result: list[Generation], *, partial: bool = False) -> Any:
        """Return the calls.

        Raises:
            OutputParserException: If there is no message, or its calls cannot be read.
            ModelRefusalError: If the model declined.
        """
        calls = self._calls(result, partial=partial)
        return calls[0] if self.first_tool_only and calls else calls

    def _calls(self, result: list[Generation], *, partial: bool) -> list[dict[str, Any]]:
        raise_if_refused(result)
        generation = result[0]
        if not isinstance(generation, ChatGeneration):
            message = "This output parser can only be used with a chat generation."
            raise OutputParserException(message)
        message: Any = generation.message
        calls = [dict(call) for call in getattr(message, "tool_calls", None) or ()]
        if not calls:
            if not partial:
                _refuse_invalid(message)
            raw = message.additional_kwargs.get("tool_calls")
            calls = (
                parse_tool_calls(raw, partial=partial, strict=self.strict)
                if isinstance(raw, list)
                else []
            )
        for call in calls:
            call.pop("type", None)
            if not self.return_id:
                call.pop("id", None)
            call["type"] = call.pop("name")
        return calls

    def parse(self, text: str) -> Any:
        """Raise NotImplementedError: text holds no calls."""
        raise NotImplementedError


def _refuse_invalid(message: BaseMessage) -> None:
    """Raise if all calls of a message are invalid.

    Raises:
        OutputParserException: Naming the functions.
    """
    invalid: list[Any] = getattr(message, "invalid_tool_calls", None) or []
    if invalid:
        reasons = [_not_json(c.get("name"), c.get("args"), str(c.get("error"))) for c in invalid]
        raise OutputParserException("\n\n".join(map(str, reasons)))


class JsonOutputKeyToolsParser(JsonOutputToolsParser):
    """Gives the arguments of the calls of one tool; whole calls if `return_id`.

    Attributes:
        key_name: The tool's name.
    """

    key_name: str

    def parse_result(self, result: list[Generation], *, partial: bool = False) -> Any:
        """Return the arguments of that tool's calls, or of the first, or None.

        Raises:
            OutputParserException: If there is no message, or its calls cannot be read.
            ModelRefusalError: If the model declined.
        """
        calls = [c for c in self._calls(result, partial=partial) if c["type"] == self.key_name]
        found: list[Any] = calls if self.return_id else [call["args"] for call in calls]
        if self.first_tool_only:
            return found[0] if found else None
        return found


class PydanticToolsParser(JsonOutputToolsParser):
    """Gives the calls as instances of pydantic classes.

    Attributes:
        tools: The classes; a call finds its own by title or class name.
    """

    tools: SkipValidation[list[type[BaseModel]]]

    def parse_result(self, result: list[Generation], *, partial: bool = False) -> Any:
        """Return the instances; calls that a partial message does not complete are left out.

        Raises:
            OutputParserException: If there is no message, or no class of a call's name.
            pydantic.ValidationError: If the arguments do not fit the class.
            ModelRefusalError: If the model declined.
        """
        classes: dict[str, Any] = {}
        for tool in self.tools:
            classes[tool.__name__] = tool
        for tool in self.tools:
            if title := getattr(tool, "model_config", {}).get("title"):
                classes[title] = tool
        instances: list[Any] = []
        for call in self._calls(result, partial=partial):
            try:
                instances.append(self._instance(call, classes))
            except (ValidationError, ValueError) as error:
                if partial and not isinstance(error, OutputParserException):
                    continue
                if _was_cut(result[0]):
                    _log.error(_MAX_TOKENS, exc_info=error)
                raise
        if self.first_tool_only:
            return instances[0] if instances else None
        return instances

    def _instance(self, call: dict[str, Any], classes: dict[str, Any]) -> Any:
        if not isinstance(call["args"], dict):
            message = f"Tool arguments must be specified as a dict, received: {short(call['args'])}"
            raise ValueError(message)
        if call["type"] not in classes:
            message = (
                f"Unknown tool type: {call['type']!r}. "
                f"Available tools: {', '.join(_names(self.tools))}"
            )
            raise OutputParserException(message)
        return classes[call["type"]](**call["args"])


def _names(tools: list[type[BaseModel]]) -> list[str]:
    return [getattr(tool, "model_config", {}).get("title") or tool.__name__ for tool in tools]


def _was_cut(generation: Generation) -> bool:
    """Return whether the provider stopped the reply at its token limit."""
    metadata: dict[str, Any] = (
        getattr(getattr(generation, "message", None), "response_metadata", None) or {}
    )
    return metadata.get("stop_reason") == "max_tokens" or metadata.get("finish_reason") == "length"
