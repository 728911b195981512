"""What the commands print with: rich on a terminal, plain text anywhere else."""

import re
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["clean", "console", "is_terminal", "print_error"]

# Control characters but newline and tab: a reply must not move the cursor or recolour the screen.
CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def is_terminal() -> bool:
    """Return whether standard output is a terminal."""
    return sys.stdout.isatty()


def console(*, stderr: bool = False) -> "Console":
    """Return a rich console that prints text as it is: no markup, no highlighting."""
    from rich.console import Console

    return Console(stderr=stderr, markup=False, highlight=False, emoji=False, soft_wrap=True)


def clean(text: str) -> str:
    r"""Return `text` without what a terminal would obey.

    >>> clean("a\x1b[31mb")
    'a[31mb'
    """
    return CONTROLS.sub("", text)


def print_error(text: str) -> None:
    """Print `text` as one line on stderr."""
    line = clean(" ".join(text.split()))
    sys.stdout.flush()
    sys.stderr.write(f"dragoman: {line}\n")
