"""Issues shown: for people with a caret, as JSON, and as notes of GitHub's checks."""

import json
import re
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from dragoman.cli.documents import Document
from dragoman.cli.output import clean
from dragoman.codecs.contract import Change
from dragoman.transcript.repair import Issue
from dragoman.transcript.rules import RULES, Rule

__all__ = [
    "Finding",
    "as_github",
    "as_json",
    "as_text",
    "line_of",
    "place_of",
    "print_changes",
    "says",
]

WIDTH = 96
LONG = 40
# Which of a rule's texts a wire's provider would use.
WORDS = {
    "anthropic": r"tool_use|tool_result|thinking|signature|text content|cache_control|pattern",
    "bedrock_converse": r"toolResult|toolUse|ContentBlock|content block|conversation|blank",
    "gemini": r"function (response|call)|Unable to submit|multiturn",
    "openai_responses": r"No tool|of type|without its required",
    "mistral": r"Not the same|Unexpected|Expected last|9",
    "openai_chat": r"tool_call|role 'tool'|image_url",
}
# What is underlined: the part of a message that a rule speaks of.
FOCUS = {
    "unanswered_call": r'"(?:id|call_id|toolUseId)": "[^"]*"|"(?:functionCall|tool_calls)"',
    "orphan_result": r'"(?:tool_call_id|tool_use_id|call_id|toolUseId)": "[^"]*"',
    "mismatched_result": r'"(?:tool_call_id|tool_use_id|call_id|toolUseId)": "[^"]*"',
    "late_result": r'"(?:tool_call_id|tool_use_id|call_id|toolUseId)": "[^"]*"',
    "duplicate_result": r'"(?:tool_call_id|tool_use_id|call_id|toolUseId)": "[^"]*"',
    "missing_call_id": r'"(?:name|tool_calls)": [^,}]*',
    "unsupported_media": r'"(?:image_url|image|input_audio|audio|video|file|document|inlineData)"',
    "empty_content": r'"(?:content|text)": (?:""|"\s*"|\[\])',
    "bad_call_id": r'"(?:id|tool_call_id|tool_use_id)": "[^"]*"',
    "duplicate_call_id": r'"(?:id|toolUseId)": "[^"]*"',
    "too_many_cache_marks": r'"(?:cache_control|cachePoint)"',
    "misplaced_system": r'"(?:role|type)": "[^"]*"',
    "role_order": r'"role": "[^"]*"',
    "last_role": r'"role": "[^"]*"',
}


class Finding(msgspec.Struct, kw_only=True):
    """One issue, and where it is.

    Attributes:
        file: The name of the file.
        line: The line of the message in it, from 1.
        path: The place in the document.
        issue: What is wrong.
        says: The provider's own words, or None.
        item: The message as it was read; None if it could not be.
    """

    file: str
    line: int
    path: str
    issue: Issue
    says: str | None
    item: Any


# A result out of its place leaves its call unanswered, and that is what providers speak of.
SAME_ERROR = {"late_result": "unanswered_call", "mismatched_result": "orphan_result"}


def says(rule: Rule, api: str | None) -> str | None:
    """Return what the provider of `api` answers when `rule` is broken, as plain words."""
    rule = RULES[SAME_ERROR.get(rule.code, rule.code)]
    if not rule.says:
        return None
    words = WORDS.get(api or "", "")
    fitting = [text for text in rule.says if words and re.search(words, text)]
    return _plain((fitting or rule.says)[0])


def _plain(pattern: str) -> str:
    r"""Return a regular expression of `RULES` as a text it matches, as near as words can.

    >>> _plain(r"`?tool_use`? ids were found .* (a|b)\.")
    '`tool_use` ids were found ... a.'
    """
    text = re.sub(r"\[(\w)\w*\]", r"\1", pattern)
    text = re.sub(r"\((?:\?:)?([^()|]*)(?:\|[^()]*)?\)", r"\1", text)
    text = text.replace(r"\d+", "0").replace(".*", "...")
    return re.sub(r"\\(.)", r"\1", re.sub(r"(?<!\\)\?", "", text))


def as_text(finding: Finding) -> str:
    """Return a finding for people: where, what, a caret under it, the provider's words, the fix."""
    issue = finding.issue
    lines = [f"{finding.file}:{finding.line}: {finding.path}: {issue.code}: {issue.message}"]
    if finding.item is not None:
        lines += [f"    {line}" for line in _caret(finding)]
    if finding.says:
        lines.append(f"  provider: {finding.says}")
    lines.append(f"  fix: {issue.fix} ({'loses it' if issue.lossy else 'loses nothing'})")
    return clean("\n".join(lines))


def _caret(finding: Finding) -> Iterator[str]:
    """Yield one line of the message, and one that points at what is meant."""
    text = json.dumps(_shortened(finding.item), ensure_ascii=False)
    start, end = _focus(finding.issue, text)
    left = max(0, min(start - WIDTH // 3, len(text) - WIDTH))
    right = min(len(text), left + WIDTH)
    before, after = ("..." if left else ""), ("..." if right < len(text) else "")
    yield before + text[left:right] + after
    width = max(1, min(end, right) - start)
    yield " " * (len(before) + start - left) + "^" * width


def _focus(issue: Issue, text: str) -> tuple[int, int]:
    named = re.search(r"\(call '([^']*)'\)", issue.message)
    if named is not None and issue.code == "unanswered_call":
        at = text.find(f'"{named[1]}"')
        if at >= 0:
            return at, at + len(named[1]) + 2
    pattern = FOCUS.get(issue.code)
    found = re.search(pattern, text) if pattern is not None else None
    return found.span() if found is not None else (0, min(len(text), WIDTH))


def _shortened(value: Any) -> Any:
    """Return `value` with long texts cut: a caret needs the shape, and no payload."""
    if isinstance(value, str):
        return value if len(value) <= LONG else value[: LONG - 3] + "..."
    if isinstance(value, dict):
        return {key: _shortened(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_shortened(item) for item in value]
    return value


def as_json(finding: Finding) -> str:
    """Return a finding as a JSON object on one line."""
    issue = finding.issue
    return json.dumps(
        {
            "file": finding.file,
            "line": finding.line,
            "path": finding.path,
            "index": issue.index,
            "code": issue.code,
            "message": issue.message,
            "provider": finding.says,
            "fix": issue.fix,
            "lossy": issue.lossy,
            "source": RULES[issue.code].source if issue.code in RULES else None,
        },
        ensure_ascii=False,
    )


def as_github(finding: Finding) -> str:
    """Return a finding as a command of GitHub Actions, which shows it beside the line.

    Escapes: GitHub docs, "Workflow commands", read 2026-11.
    """
    issue = finding.issue
    text = f"{finding.path}: {issue.message}; {issue.fix}"
    if issue.lossy:
        text += " (loses it)"
    text = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    name = finding.file
    for mark, escape in (("%", "%25"), ("\r", "%0D"), ("\n", "%0A"), (":", "%3A"), (",", "%2C")):
        name = name.replace(mark, escape)
    return f"::error file={name},line={finding.line},title={issue.code}::{text}"


def line_of(document: Document, path: str, index: int) -> int:
    """Return the line on which message `index` of the list at `path` starts."""
    if document.item_lines is not None:
        return document.item_lines[min(index, len(document.item_lines) - 1)]
    if document.text is None or not document.is_indented:
        return document.line
    keys = path.split(".")[1:]
    at = _place(document.text, keys, index)
    return document.text.count("\n", 0, at) + 1


def place_of(document: Document, path: str) -> str:
    """Return `file:line` of the message that a change's path names.

    >>> place_of(Document(name="x.jsonl", line=7), "$.messages[3].content")
    'x.jsonl:7'
    """
    found = re.match(r"([^\[]*)\[(\d+)\]", path)
    line = document.line if found is None else line_of(document, found[1], int(found[2]))
    return f"{document.name}:{line}"


def print_changes(document: Document, changes: Sequence[Change], note: str | None = None) -> None:
    """Print changes on stderr, one a line, with the place in the file."""
    for change in changes:
        text = f"{place_of(document, change.path)}: {change.path}: {change.code}: {change.message}"
        text += " (lossy)" if change.lossy else ""
        text = text if note is None else f"{text}; {note}"
        sys.stderr.write(clean(" ".join(text.split())) + "\n")


def _place(text: str, keys: list[str], index: int) -> int:
    """Return the offset of item `index` of the list under `keys`, by walking the JSON text."""
    at = _skip(text, 0)
    for key in keys:
        found = _value_of(text, at, key)
        if found is None:
            return at
        at = found
    if text[at : at + 1] != "[":
        return at
    position = _skip(text, at + 1)
    for _ in range(index):
        _, end = DECODER.raw_decode(text, position)
        end = _skip(text, end)
        if text[end : end + 1] != ",":
            break
        position = _skip(text, end + 1)
    return position


def _value_of(text: str, at: int, key: str) -> int | None:
    """Return the offset of the value of `key` in the object at `at`; the last one counts."""
    found = None
    position = _skip(text, at + 1)
    while text[position : position + 1] == '"':
        name, end = DECODER.raw_decode(text, position)
        start = _skip(text, _skip(text, end) + 1)
        if name == key:
            found = start
        _, end = DECODER.raw_decode(text, start)
        position = _skip(text, _skip(text, end) + 1)
    return found


DECODER = json.JSONDecoder()
SPACE = re.compile(r"[\ufeff \t\r\n]*")


def _skip(text: str, at: int) -> int:
    """Return the offset behind white space."""
    found = SPACE.match(text, at)
    return at if found is None else found.end()
