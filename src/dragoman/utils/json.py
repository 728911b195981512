"""JSON in the text of a model: inside markdown fences, cut off, or slightly broken."""

import re
from collections.abc import Callable
from json import JSONDecodeError
from typing import Any, cast

from dragoman.errors import OutputParserException, short
from dragoman.messages.partial_json import parse_partial_json

__all__ = ["parse_and_check_json_markdown", "parse_json_markdown", "parse_partial_json"]

_AROUND = " \n\r\t`"
_FENCE = re.compile(r"```(?:json)?", re.IGNORECASE)
_INPUT_START = re.compile(r'"action_input"\s*:\s*"')
_INPUT_END = re.compile(r'(?<!\\)"(?=\s*(?:[,}]|\Z))')
_BROKEN = re.compile(r'[\n\r\t]|(?<!\\)"')
_REPAIRED = {"\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"'}


def _repair_action_input(text: str) -> str:
    """Return `text` with the string of `"action_input"` escaped as JSON wants it."""
    pieces: list[str] = []
    done = 0
    while start := _INPUT_START.search(text, done):
        end = _INPUT_END.search(text, start.end())
        if end is None:
            break
        inner = text[start.end() : end.start()]
        pieces += [
            text[done : start.end()],
            _BROKEN.sub(lambda match: _REPAIRED[match.group()], inner),
        ]
        done = end.start()
    return "".join(pieces) + text[done:]


def _parse(text: str, parser: Callable[[str], Any]) -> Any:
    return parser(_repair_action_input(text.strip(_AROUND)))


def parse_json_markdown(text: str, *, parser: Callable[[str], Any] = parse_partial_json) -> Any:
    r"""Return the JSON value of `text`, or of what stands behind its first fence.

    Args:
        text: A model's answer; it may be cut off.
        parser: What reads the JSON.

    Raises:
        json.JSONDecodeError: If there is no JSON.

    >>> parse_json_markdown('Sure:\n```json\n{"a": 1}\n```')
    {'a': 1}
    """
    try:
        return _parse(text, parser)
    except JSONDecodeError:
        fence = _FENCE.search(text)
        return _parse(text[fence.end() :] if fence else text, parser)


def parse_and_check_json_markdown(text: str, expected_keys: list[str]) -> dict[str, Any]:
    """Return the JSON object of `text`; it has all of `expected_keys`.

    Raises:
        OutputParserException: If there is no JSON, no object, or a key is missing.

    >>> parse_and_check_json_markdown('{"a": 1}', ["a"])
    {'a': 1}
    """
    try:
        value = parse_json_markdown(text)
    except JSONDecodeError as error:
        message = f"Got invalid JSON object. Error: {error}"
        raise OutputParserException(message, llm_output=text) from error
    if not isinstance(value, dict):
        message = f"Expected JSON object (dict), but got: {type(value).__name__}. "
        raise OutputParserException(message, llm_output=text)
    found = cast("dict[str, Any]", value)
    for key in expected_keys:
        if key not in found:
            message = (
                f"Got invalid return object. Expected key `{key}` to be present, "
                f"but got {short(found)}"
            )
            raise OutputParserException(message, llm_output=text)
    return found
