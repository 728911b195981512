"""Coloured text for terminals."""

import sys
from typing import TextIO

__all__ = ["get_bolded_text", "get_color_mapping", "get_colored_text", "print_text"]

_CODES = {
    "blue": "36;1",
    "yellow": "33;1",
    "pink": "38;5;200",
    "green": "32;1",
    "red": "31;1",
}


def get_color_mapping(items: list[str], excluded_colors: list[str] | None = None) -> dict[str, str]:
    """Return a colour for each item; colours repeat when there are more items.

    Raises:
        ValueError: If every colour is excluded.

    >>> get_color_mapping(["a", "b"], excluded_colors=["blue"])
    {'a': 'yellow', 'b': 'pink'}
    """
    colors = [color for color in _CODES if color not in (excluded_colors or ())]
    if not colors:
        message = "No colors available after applying exclusions."
        raise ValueError(message)
    return {item: colors[at % len(colors)] for at, item in enumerate(items)}


def get_colored_text(text: str, color: str) -> str:
    """Return `text` in `color`: blue, yellow, pink, green or red."""
    return f"\u001b[{_CODES[color]}m\033[1;3m{text}\u001b[0m"


def get_bolded_text(text: str) -> str:
    r"""Return `text` in bold.

    >>> get_bolded_text("a")
    '\x1b[1ma\x1b[0m'
    """
    return f"\033[1m{text}\033[0m"


def print_text(
    text: str, color: str | None = None, end: str = "", file: TextIO | None = None
) -> None:
    """Print `text`, coloured or not, and flush what it was written to."""
    shown = get_colored_text(text, color) if color else text
    (file or sys.stdout).write(shown + end)
    (file or sys.stdout).flush()
