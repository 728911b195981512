r"""Templates in f-string form, made safe: `{name}`, `{name!r}`, `{price:.2f}`, `{{` and `}}`.

A name is an identifier and nothing else. `str.format` would also follow attributes (`{a.b}`),
indices (`{a[0]}`) and positions (`{0}`), take the JSON `{"x": 1}` for a variable called `"x"`, and
blow up `{a:>50000000}` to 50 MB; each of these is refused here, when the template is read, with a
hint to double the braces. Values are put in as they are: braces in a value mean nothing.
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from string import Formatter
from typing import Any, NamedTuple

from dragoman.errors import short

__all__ = ["FString", "StrictFormatter", "compile_f_string", "formatter"]

MAX_WIDTH = 999
"""The largest width or precision a format specifier may ask for, in characters."""

_MAX_REMEMBERED = 8_000
_parse = Formatter().parse
_NUMBER = re.compile(r"\d+")


class FString(NamedTuple):
    """A template that was read and found safe."""

    template: str
    variables: tuple[str, ...]
    """Names in order of first use."""

    def render(self, values: dict[str, Any]) -> str:
        """Return the text with `values` put in.

        Raises:
            KeyError: If a variable is missing; the key is its name.
        """
        return self.template.format_map(values)


def _check_name(name: str) -> None:
    if name.isidentifier():
        return
    problem = f"Invalid variable name {short(name)} in f-string template."
    if any(sign in name for sign in ".[]") and re.fullmatch(r"[\w.\[\]]+", name):
        reason = "Variable names cannot contain attribute access (.) or indexing ([])."
    elif name.isdigit():
        reason = (
            "Variable names cannot be all digits as they are interpreted as positional arguments."
        )
    else:
        reason = "Variable names are identifiers; double braces that are text: {{ and }}."
    message = f"{problem} {reason}"
    raise ValueError(message)


def _check_spec(spec: str) -> None:
    if "{" in spec or "}" in spec:
        message = (
            "Invalid format specifier in f-string template. "
            "Nested replacement fields are not allowed."
        )
        raise ValueError(message)
    if any(len(digits) > 9 or int(digits) > MAX_WIDTH for digits in _NUMBER.findall(spec)):
        message = (
            f"Invalid format specifier {short(spec)} in f-string template. "
            f"Widths and precisions end at {MAX_WIDTH}."
        )
        raise ValueError(message)


def compile_f_string(template: str) -> FString:
    """Return `template` as read.

    Raises:
        ValueError: If it cannot be rendered safely, or its braces do not match.

    >>> compile_f_string("{a} and {b:>3}").variables
    ('a', 'b')
    """
    # Long texts are read each time: remembering documents pasted into templates would hoard them.
    return _remembered(template) if len(template) <= _MAX_REMEMBERED else _compile(template)


def _compile(template: str) -> FString:
    names: dict[str, None] = {}
    for _, name, spec, conversion in _parse(template):
        if name is None:
            continue
        _check_name(name)
        _check_spec(spec or "")
        if conversion and conversion not in "sra":
            message = (
                f"Unknown conversion specifier {conversion} in f-string template; use s, r or a"
            )
            raise ValueError(message)
        names[name] = None
    return FString(template, tuple(names))


_remembered = lru_cache(maxsize=1024)(_compile)


class StrictFormatter(Formatter):
    """A `string.Formatter` that takes keywords only, and safe templates only.

    >>> formatter.format("{greeting}, {name}!", greeting="Hi", name="Ayşe")
    'Hi, Ayşe!'
    """

    def vformat(  # pyright: ignore[reportIncompatibleMethodOverride] - typeshed asks for LiteralString
        self, format_string: str, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> str:
        """Return the filled template.

        Raises:
            ValueError: If positional values are given, or the template is not safe.
            KeyError: If a variable is missing.
        """
        if len(args) > 0:
            message = (
                "No arguments should be provided, everything should be passed as keyword arguments."
            )
            raise ValueError(message)
        return compile_f_string(format_string).render(dict(kwargs))

    def validate_input_variables(self, format_string: str, input_variables: list[str]) -> None:
        """Raise if the template needs a variable that is not listed.

        Raises:
            KeyError: Naming the variable.
        """
        self.format(format_string, **dict.fromkeys(input_variables, "foo"))


formatter: StrictFormatter = StrictFormatter()
