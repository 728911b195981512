"""What a docstring says about a function and its arguments.

The Google style is read here, because the rules for it are part of the tools' behaviour. NumPy and
reST styles are read with the package `docstring-parser` (extra `tools`); without it such a
docstring is a description as a whole.
"""

import inspect
import re
from collections.abc import Collection
from importlib.util import find_spec

__all__ = ["parse_docstring"]

ARGS = re.compile(r"^(Args|Arguments|Parameters):\s*$")
SECTION = re.compile(
    r"^(Args|Arguments|Parameters|Returns?|Yields?|Raises|Examples?|Notes?|Attributes|Warnings?|See Also|References|Todo):"
)
ARGUMENT = re.compile(r"^\*{0,2}(\w+)\s*(?:\([^)]*\))?\s*:\s*(.*)$")
FOREIGN = re.compile(r"^\s*:(param|returns?|type)\b|^Parameters\s*\n-{3,}", re.MULTILINE)
INVALID = "Found invalid Google-Style docstring."
# Arguments that a tool gets from its caller, not from the model: they need no line in the docs.
EXEMPT = frozenset({"run_manager", "callbacks", "runtime", "return"})


def parse_docstring(
    docstring: str | None,
    names: Collection[str],
    *,
    strict: bool = False,
    allow_unknown: bool = True,
) -> tuple[str, dict[str, str]]:
    """Return the description and the text of each documented argument.

    The description is what stands before the first section, its paragraphs joined by a space.

    Args:
        docstring: The raw docstring, or None.
        names: The arguments that the function has.
        strict: Whether a docstring without a summary or a separate `Args:` block is an error.
        allow_unknown: Whether documented arguments that the function has not are left out;
            otherwise they are an error.

    Raises:
        ValueError: As `strict` and `allow_unknown` say.

    >>> parse_docstring(
    ...     '''Add.
    ...
    ... Args:
    ...     a: one
    ...       number
    ... ''',
    ...     ["a"],
    ... )
    ('Add.', {'a': 'one number'})
    """
    text = inspect.cleandoc(docstring) if docstring else ""
    if not text:
        if strict:
            raise ValueError(INVALID)
        return "", {}
    if FOREIGN.search(text) and find_spec("docstring_parser") is not None:
        description, arguments = _foreign(text)
    else:
        description, arguments = _google(text, strict=strict and bool(set(names) - EXEMPT))
    unknown = [n for n in arguments if n not in names and n not in EXEMPT]
    if unknown and not allow_unknown:
        raise ValueError(f"Arg {unknown[0]} in docstring not found in function signature.")
    return description, {n: t for n, t in arguments.items() if n in names}


def _google(text: str, *, strict: bool) -> tuple[str, dict[str, str]]:
    lines = text.split("\n")
    first = next((i for i, line in enumerate(lines) if SECTION.match(line)), len(lines))
    start = next((i for i, line in enumerate(lines) if ARGS.match(line)), None)
    paragraphs = re.split(r"\n\s*\n", "\n".join(lines[:first]).strip())
    description = " ".join(paragraph.strip() for paragraph in paragraphs if paragraph.strip())
    if strict and (start is None or not description or lines[start - 1].strip()):
        raise ValueError(INVALID)
    return description, {} if start is None else _arguments(lines[start + 1 :])


def _arguments(lines: list[str]) -> dict[str, str]:
    """Return the `name: text` lines; a deeper line continues the argument above it."""
    arguments: dict[str, str] = {}
    margin: int | None = None
    current: str | None = None
    for line in lines:
        if not line.strip():
            continue
        indent = len(line) - len(line.lstrip())
        if indent == 0 and SECTION.match(line):
            break
        margin = indent if margin is None else margin
        found = ARGUMENT.match(line.strip()) if indent <= margin else None
        if found:
            current = str(found[1])
            arguments[current] = found[2].strip()
        elif indent == 0:
            break
        elif current is not None:
            arguments[current] = f"{arguments[current]} {line.strip()}".strip()
    return arguments


def _foreign(text: str) -> tuple[str, dict[str, str]]:
    import docstring_parser

    parsed = docstring_parser.parse(text)
    parts = (parsed.short_description, parsed.long_description)
    description = " ".join(part.strip() for part in parts if part)
    arguments: dict[str, str] = {
        item.arg_name: " ".join((item.description or "").split()) for item in parsed.params
    }
    return description, arguments
