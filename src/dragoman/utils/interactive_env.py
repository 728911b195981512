"""Whether somebody types into this process."""

import sys

__all__ = ["is_interactive_env"]


def is_interactive_env() -> bool:
    """Return whether this is a notebook or a Python prompt.

    >>> is_interactive_env()
    False
    """
    return hasattr(sys, "ps2")
