"""Which methods of a chat model's class do its work.

A model may write a reply, a stream, or both, each in either colour, as `_generate` ... `_astream`
(users' models) or as `_reply` ... `_achunks` (ours, which pass messages without wrappers). Of two
that do the same, the one defined nearest to the class counts: a user's subclass of one of our
models that writes `_generate` gets its own called.
"""

import inspect
from typing import Any, NamedTuple

__all__ = ["Hook", "Hooks", "hooks_of", "takes_manager"]


class Hook(NamedTuple):
    """One method: its name, whether it is ours, and whether it takes a `run_manager`."""

    name: str
    is_ours: bool
    takes_manager: bool


class Hooks(NamedTuple):
    """The methods of one class; None where it has none."""

    reply: Hook | None
    areply: Hook | None
    chunks: Hook | None
    achunks: Hook | None


# What is looked for: ours first, as it wins when one class has both.
NAMES = (
    ("_reply", "_generate"),
    ("_areply", "_agenerate"),
    ("_chunks", "_stream"),
    ("_achunks", "_astream"),
)


def hooks_of(cls: type, base: type) -> Hooks:
    """Return the hooks of `cls`; what `base` itself defines does not count."""
    return Hooks(*(_nearest(cls, base, names) for names in NAMES))


def _nearest(cls: type, base: type, names: tuple[str, str]) -> Hook | None:
    for owner in cls.__mro__:
        if owner is base:
            return None
        for name in names:
            if name in vars(owner):
                is_ours = name == names[0]
                return Hook(name, is_ours, not is_ours and takes_manager(vars(owner)[name]))
    return None


def takes_manager(method: Any) -> bool:
    """Return whether a method has a parameter `run_manager`."""
    method = getattr(method, "__func__", method)
    try:
        return "run_manager" in inspect.signature(method).parameters
    except (TypeError, ValueError):
        return False
