"""Mustache, without logic and without reach: chevron reads the tags, this file looks the names up.

A name is looked up in dicts (and other mappings) and, when it is a number, in lists: never as an
attribute of an object, and nothing found is ever called. Partials come from the caller only.
Values are escaped for HTML unless the tag says `{{{name}}}` or `{{&name}}`; a missing name is "".
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, cast

from dragoman._need import need

__all__ = ["ChevronError", "lookup", "render", "tokenize", "top_level_names"]

_tokenizer = need("chevron.tokenizer", "prompts")

ChevronError: type[SyntaxError] = _tokenizer.ChevronError
"""A template whose tags do not match; a SyntaxError."""

Token = tuple[str, str]
"""Kind (`literal variable no escape section inverted section end partial`) and text or name."""

_MISSING = object()
_MAX_PARTIALS = 50
_MAX_NESTED = 100
_HTML = str.maketrans({"&": "&amp;", '"': "&quot;", "<": "&lt;", ">": "&gt;"})


def tokenize(template: str, def_ldel: str = "{{", def_rdel: str = "}}") -> Iterator[Token]:
    """Yield the tokens of `template`.

    Raises:
        ChevronError: If a tag is empty, not closed, or closes another section.

    >>> list(tokenize("hi {{name}}"))
    [('literal', 'hi '), ('variable', 'name')]
    """
    try:
        yield from _tokenizer.tokenize(template, def_ldel, def_rdel)
    except IndexError:  # chevron 0.14 reads the first sign of an empty tag
        empty = re.search(re.escape(def_ldel) + r"\s*" + re.escape(def_rdel), template)
        line = template.count("\n", 0, empty.start() if empty else 0) + 1
        message = f"empty tag at line {line}; write a name between the braces"
        raise ChevronError(message) from None
    if template.endswith(def_ldel):  # chevron would drop it in silence
        message = "unclosed tag at the end"
        raise ChevronError(message)


def _step(value: Any, name: str) -> Any:
    if isinstance(value, Mapping):
        return cast("Mapping[Any, Any]", value).get(name, _MISSING)
    if isinstance(value, (list, tuple)) and name.isdigit():
        items = cast("Sequence[Any]", value)
        index = int(name[:9])
        return items[index] if index < len(items) else _MISSING
    return _MISSING


def lookup(name: str, scopes: Sequence[Any]) -> Any:
    """Return what `name` stands for in the innermost scope that has it; "" when none has.

    >>> lookup("a.b", [{"a": {"b": 1}}])
    1
    """
    if name == ".":
        return scopes[0]
    first, *rest = name.split(".")
    for scope in scopes:
        value = _step(scope, first)
        if value is _MISSING:
            continue
        for step in rest:
            value = _step(value, step)
        if value is _MISSING or value is None:
            return ""
        return value if value or isinstance(value, (int, float)) else ""
    return ""


class _Section:
    __slots__ = ("closed", "inverted", "name", "tokens")

    def __init__(self, name: str, *, inverted: bool) -> None:
        self.name = name
        self.inverted = inverted
        self.tokens: list[Token | _Section] = []


@lru_cache(maxsize=64)
def _tree(template: str, ldel: str, rdel: str) -> "list[Token | _Section]":
    """Return the tokens with each section holding its own."""
    root = _Section("", inverted=False)
    stack = [root]
    for kind, text in tokenize(template, ldel, rdel):
        if kind == "end":
            stack.pop()
        elif kind in ("section", "inverted section"):
            section = _Section(text, inverted=kind != "section")
            stack[-1].tokens.append(section)
            stack.append(section)
            if len(stack) > _MAX_NESTED:
                message = f"sections nested more than {_MAX_NESTED} levels"
                raise ChevronError(message)
        else:
            stack[-1].tokens.append((kind, text))
    return root.tokens


def top_level_names(template: str) -> list[str]:
    """Return the names a caller must supply, sorted: first parts of what stands outside sections.

    >>> top_level_names("{{a.b}} {{#rows}}{{x}}{{/rows}}")
    ['a', 'rows']
    """
    names: set[str] = set()
    for token in _tree(template, "{{", "}}"):
        if isinstance(token, _Section):
            names.add(token.name.split(".")[0])
        elif token[0] in ("variable", "no escape") and token[1] != ".":
            names.add(token[1].split(".")[0])
    return sorted(names - {""})


def render(
    template: str = "",
    data: Mapping[str, Any] | None = None,
    partials_dict: Mapping[str, str] | None = None,
    *,
    def_ldel: str = "{{",
    def_rdel: str = "}}",
) -> str:
    """Return `template` with `data` put in.

    Raises:
        ChevronError: If its tags do not match.
        ValueError: If partials include each other without end.

    >>> render("{{#rows}}<{{.}}>{{/rows}}", {"rows": [1, 2]})
    '<1><2>'
    """
    texts: list[str] = []
    tokens = _tree(template, def_ldel, def_rdel)
    _render(tokens, [data if data is not None else {}], partials_dict or {}, texts, 0)
    return "".join(texts)


def _render(
    tokens: "list[Token | _Section]",
    scopes: list[Any],
    partials: Mapping[str, str],
    texts: list[str],
    depth: int,
) -> None:
    for token in tokens:
        if isinstance(token, _Section):
            value = lookup(token.name, scopes)
            for scope in _scopes_of(value, inverted=token.inverted):
                inner = scopes if scope is _MISSING else [scope, *scopes]
                _render(token.tokens, inner, partials, texts, depth)
            continue
        kind, text = token
        if kind == "literal":
            texts.append(text)
        elif kind in ("variable", "no escape"):
            value = str(lookup(text, scopes))
            texts.append(value.translate(_HTML) if kind == "variable" else value)
        elif kind == "partial" and text in partials:
            if depth >= _MAX_PARTIALS:
                message = f"mustache partials nested more than {_MAX_PARTIALS} levels"
                raise ValueError(message)
            _render(_tree(partials[text], "{{", "}}"), scopes, partials, texts, depth + 1)


def _scopes_of(value: Any, *, inverted: bool) -> list[Any]:
    """Return one scope for each time a section is rendered; `_MISSING` for no scope of its own."""
    truth = bool(value) if not isinstance(value, (list, tuple)) else len(value) > 0
    if inverted:
        return [] if truth else [_MISSING]
    if not truth:
        return []
    if isinstance(value, (list, tuple)):
        return list(cast("Sequence[Any]", value))
    return [value]
